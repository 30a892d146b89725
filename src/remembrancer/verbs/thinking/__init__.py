"""Work with a language model: what it may use, what it used, and asking on behalf of a verb."""
