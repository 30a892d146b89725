"""What retain is made of: drafts, plans, readers, and the queue before it."""
