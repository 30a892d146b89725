"""What prime reads: the newest units, the pinned ones, the access counters."""

from __future__ import annotations

from collections.abc import Sequence

from ...nouns.memory import Unit
from ..priming_view import Access
from . import browse
from .db import Db

_LAST = (1 << 63) - 1


class Priming:
    """See `keeping.priming_view.PrimingReader`."""

    _db: Db
    _key: int

    @property
    def moment(self) -> tuple[int, int]:
        """A token of what the whole store holds in this snapshot."""
        return self._db.serial, self._db.commits()

    @property
    def intends(self) -> bool:
        """Whether the bank has any intention at all, in whatever state."""
        return bool(self._db.value("priming_intends", self._key))

    def latest(self, limit: int, *, until: int | None = None) -> list[Unit]:
        """Return sources and observations by `mentioned_at` descending (id on ties)."""
        end = _LAST if until is None else until
        found = self._db.all("priming_newest", self._key, end, limit)
        return browse.units(self._db, self._key, [row[0] for row in found])

    def pinned(self, limit: int) -> list[Unit]:
        """Return the pinned sources and observations, in the order of `latest`."""
        found = self._db.all("priming_pinned", self._key, limit)
        return browse.units(self._db, self._key, [row[0] for row in found])

    def accesses(self, ids: Sequence[bytes]) -> dict[bytes, Access]:
        """Return how often units were used; those never used are left out."""
        found = self._db.all_in("priming_accesses", ids, self._key)
        return {unit_id: Access(count, last_at) for unit_id, count, last_at in found}
