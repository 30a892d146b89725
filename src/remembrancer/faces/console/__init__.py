"""The web console: static pages that talk to the HTTP face with the visitor's own key."""
