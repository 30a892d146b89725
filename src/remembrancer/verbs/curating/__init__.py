"""What curate is made of: what a correction bears on, and what follows from it."""
