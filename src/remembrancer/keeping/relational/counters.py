"""Access counters: added up in memory, written now and then."""

from __future__ import annotations

from collections.abc import Sequence

from ...nouns.memory import BankRef
from .db import Db

FLUSH_S = 0.1
"""Seconds between the first count in memory and its writing: what a kill may lose."""

MAX_HELD = 50_000
"""Units counted in memory at most; beyond that they are written at once."""

Count = tuple[int, bytes, int, int]
"""Bank key, unit id, accesses, time of the last one."""


class Counters:
    """The counts not written yet; used from the event loop only."""

    def __init__(self) -> None:
        self._held: dict[tuple[int, bytes], tuple[int, int]] = {}

    def __len__(self) -> int:
        return len(self._held)

    def add(self, ref: BankRef, unit_ids: Sequence[bytes], at: int) -> None:
        """Count an access of each unit."""
        key = ref.key
        for unit_id in unit_ids:
            count, last = self._held.get((key, unit_id), (0, at))
            self._held[key, unit_id] = (count + 1, max(last, at))

    def take(self) -> list[Count]:
        """Return what is held and start afresh."""
        held, self._held = self._held, {}
        return [(key, unit_id, *count) for (key, unit_id), count in held.items()]


def write(db: Db, counts: Sequence[Count]) -> None:
    """Add counts to their units; those of units that are gone are dropped."""
    for key in sorted({count[0] for count in counts}):
        db.lock_bank(key)
    db.many("access_add", counts)
