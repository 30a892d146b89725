"""One file a verb: what each promise of the memory does, top to bottom."""
