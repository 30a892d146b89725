"""Exports of other programs to what can be remembered: pure parsers, one a format."""
