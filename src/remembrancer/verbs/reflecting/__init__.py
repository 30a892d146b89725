"""What reflect is made of: statements, and answers put together from them."""
