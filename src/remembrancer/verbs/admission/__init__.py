"""What is taken in under load: how much runs and waits at once, of whom, and for how long."""
