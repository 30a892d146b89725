"""What recall is made of: options and answers, what may come with them, and why."""
