"""What a language model is asked about texts, and what of its answers stands in them."""
