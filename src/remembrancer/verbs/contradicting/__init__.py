"""Parts of the verb `contradictions`."""
