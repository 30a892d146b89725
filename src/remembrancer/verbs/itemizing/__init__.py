"""The parts of `items`."""
