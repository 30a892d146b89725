"""Documents in and out: files, archives, exports and imports."""
