"""Text to memory, without a model: turns, passages, sentences, dates, names, facts."""
