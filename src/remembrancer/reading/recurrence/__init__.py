"""When a rule's occurrences are, as instants."""

from .expand import check, first_after, occurrences

__all__ = ["check", "first_after", "occurrences"]
