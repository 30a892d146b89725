"""What a check reads of a bank's future in one snapshot, in the thread that holds it."""

from __future__ import annotations

from collections.abc import Sequence

from ...nouns.intention import OPEN, Intention
from ..intentions import Checkable, Cue, Offer
from .db import Db
from .intention_rows import intention, offer, spelled

MOST_WAITING = 10_000
"""Looked at in one check."""
_MOST_OPEN = 100_000
_OPEN = spelled(sorted(OPEN))


class IntentionReads:
    """See `keeping.intentions.IntentionReader`."""

    _db: Db
    _key: int

    def intentions_checked(
        self, before: int, events: Sequence[str], ceiling: float | None, most: int
    ) -> Checkable:
        """Return what a check at a time looks at: `most` that are due at most."""
        return Checkable(
            due(self._db, self._key, before, ceiling, most),
            waiting(self._db, self._key, events, ceiling, MOST_WAITING) if events else [],
            unindexed(self._db, self._key, ceiling, MOST_WAITING),
        )

    def intentions_by_id(self, ids: Sequence[bytes]) -> list[Intention]:
        """Return intentions in the order of `ids`; missing ones are left out."""
        return some(self._db, self._key, ids)

    def cues(self, after: int, limit: int = 10_000) -> list[Cue]:
        """Return the vectors of context triggers changed after a place, in order of place."""
        return cues(self._db, self._key, after, limit)

    def opened(self, ids: Sequence[bytes]) -> list[Offer]:
        """Return the open occurrences of some intentions, newest first."""
        rows = self._db.all_in("occurrence_of_intentions", ids, self._key, _OPEN, None, _MOST_OPEN)
        return sorted(map(offer, rows), key=lambda o: o.occurrence.id, reverse=True)

    def offered(self, before: int, ceiling: float | None, limit: int) -> tuple[list[Offer], int]:
        """Return the occurrences to be offered by a time, best first, and how many there are."""
        rows = self._db.all("occurrence_offered", self._key, before, None, ceiling, limit, 0)
        count = len(rows)
        if count == limit:
            count = self._db.value("occurrence_count", self._key, before, ceiling)
        return list(map(offer, rows)), count


def due(db: Db, key: int, before: int, ceiling: float | None, limit: int) -> list[Intention]:
    """Return active intentions that are due, soonest first."""
    return [intention(row) for row in db.all("intention_is_due", key, before, ceiling, limit)]


def waiting(
    db: Db, key: int, events: Sequence[str], ceiling: float | None, limit: int
) -> list[Intention]:
    """Return active intentions that wait for one of these events."""
    rows = db.all_in("intention_waits", sorted(set(events)), key, ceiling, limit)
    return sorted((intention(row) for row in rows), key=lambda i: i.id)[:limit]


def unindexed(db: Db, key: int, ceiling: float | None, limit: int) -> list[Intention]:
    """Return active composite intentions, and contexts without a vector."""
    return [intention(row) for row in db.all("intention_unindexed", key, ceiling, limit)]


def some(db: Db, key: int, ids: Sequence[bytes]) -> list[Intention]:
    """Return intentions in the order of `ids`."""
    found = {row[0]: intention(row) for row in db.all_in("intention_some", ids, key)}
    return [found[i] for i in ids if i in found]


def cues(db: Db, key: int, after: int, limit: int) -> list[Cue]:
    """Return the vectors of context triggers changed after a place, whole places at a time."""
    rows = db.all("intention_cues", key, after, limit)
    if len(rows) == limit:  # the last place may be cut in two
        last = rows[-1][0]
        whole = [row for row in rows if row[0] != last]
        rows = whole or db.all("intention_cues_at", key, last)
    return [
        Cue(place, i, bool(live), cue, generation, threshold, bool(armed))
        for place, i, live, cue, generation, threshold, armed in rows
    ]
