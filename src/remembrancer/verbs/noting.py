"""What verbs tell of the changes that they make, so that half a change is logged as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..nouns.memory import BankRef

_IDS = 100  # of memories named in one entry


class Note(Protocol):
    """Takes a change that was made: ids, counts and options, no texts."""

    def __call__(self, ref: BankRef, **metadata: Any) -> None:
        """Note that a bank was changed."""
        ...


def unnoted(ref: BankRef, **metadata: Any) -> None:
    """Note nothing."""


def some_ids(ids: Sequence[bytes]) -> dict[str, Any]:
    """Return what an entry tells of memories: how many, and the ids of the first hundred."""
    return {"count": len(ids), "memory_ids": [each.hex() for each in ids[:_IDS]]}
