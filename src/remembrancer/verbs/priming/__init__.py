"""What prime is made of: the blend, the rows it is taken from, its text."""
