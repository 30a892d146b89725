"""The demo: a made-up conversation, kept, asked, primed and partly forgotten."""
