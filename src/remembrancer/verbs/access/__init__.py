"""Who may do what: keys, and the gate that all faces ask."""
