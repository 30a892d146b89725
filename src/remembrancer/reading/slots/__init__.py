"""What statements say of attributes: which slot of whom has which value, from words alone."""

from __future__ import annotations

from .correcting import correct
from .english import Context, read_english
from .foreign import find_foreign
from .intake import without_exceptions
from .predicates import Said
from .table import CustomSlot, Table, custom_slots, standard

__all__ = [
    "Context",
    "CustomSlot",
    "Said",
    "Table",
    "correct",
    "custom_slots",
    "find_foreign",
    "read_english",
    "standard",
    "without_exceptions",
]
