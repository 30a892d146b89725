"""What a speaker wants to be reminded of or means to do later, found in a text."""

from __future__ import annotations

from .finder import find_intentions
from .types import FoundIntention

__all__ = ["FoundIntention", "find_intentions"]
