"""What tells others: webhooks, the outbox, and the watch over the clock."""
