"""The Python library: `remembrancer.open(folder)` and the verbs as methods."""
