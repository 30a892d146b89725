"""What remind and check are made of: plans, contexts, events, occurrences."""
