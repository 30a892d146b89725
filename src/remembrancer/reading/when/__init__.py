"""Times and repeats to come, told in words, resolved against a moment and a zone."""

from __future__ import annotations

from .reader import find_whens, read_over, read_when
from .types import When

__all__ = ["When", "find_whens", "read_over", "read_when"]
