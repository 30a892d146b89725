"""Cases that a language model is tried on by `remembrancer eval`."""
