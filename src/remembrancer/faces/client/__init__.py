"""A client for a running server: typed, async and blocking, over the HTTP face."""
