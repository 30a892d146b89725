"""The face shaped like mem0: its filters, its memories, its two classes."""
