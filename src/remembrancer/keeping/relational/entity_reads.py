"""Entities of one bank over a snapshot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from ...nouns.folding import fold_name
from ...nouns.memory import Entity
from ..entity_view import MAX_TOGETHER, CoMention
from . import rows
from .db import Db
from .lanes import Lane


class EntityCalls:
    """See `keeping.entity_view.EntityView`; `RowView` joins it."""

    _key: int
    _lane: Lane

    async def entity(self, entity_id: bytes) -> Entity | None:
        """Return an entity, or None."""
        return await self._lane.run(_entity, self._key, entity_id)

    async def entities(
        self, limit: int = 100, offset: int = 0, *, containing: str | None = None
    ) -> list[Entity]:
        """Return entities, most mentioned first (by name on ties)."""
        return await self._lane.run(_entities, self._key, limit, offset, containing)

    async def entity_count(self, *, containing: str | None = None) -> int:
        """Count what `entities` lists."""
        return await self._lane.run(_count, self._key, containing)

    async def entities_called(self, folds: Sequence[str]) -> Mapping[str, Entity]:
        """Return by fold the entities that have these names or aliases."""
        return await self._lane.run(_called, self._key, folds)

    async def entities_beginning(
        self, words: Sequence[str], limit: int = 20
    ) -> Mapping[str, list[tuple[str, Entity]]]:
        """Return for each word, a fold, the first `limit` longer names that begin with it."""
        return await self._lane.run(_beginning, self._key, words, limit)

    async def mentioning(self, entity_id: bytes, limit: int) -> list[bytes]:
        """Return the ids of the units that mention an entity, latest first."""
        return await self._lane.run(_mentioning, self._key, entity_id, limit)

    async def co_mentions(self, entity_ids: Sequence[bytes], latest: int) -> list[CoMention]:
        """Count the units that mention two of these entities, most first."""
        return await self._lane.run(_co_mentions, self._key, entity_ids, latest)


def _entity(db: Db, key: int, entity_id: bytes) -> Entity | None:
    row = db.one("entity_get", key, entity_id)
    return None if row is None else rows.entity(row)


def _entities(db: Db, key: int, limit: int, offset: int, containing: str | None) -> list[Entity]:
    if containing is None:
        found = db.all("entity_list", key, limit, offset)
    else:
        found = db.all("entity_search", key, limit, offset, fold_name(containing))
    return [rows.entity(row) for row in found]


def _count(db: Db, key: int, containing: str | None) -> int:
    if containing is None:
        row = db.one("entity_total", key)
        return 0 if row is None else row[0]
    count: int = db.value("entity_search_count", key, fold_name(containing))
    return count


def _called(db: Db, key: int, folds: Sequence[str]) -> dict[str, Entity]:
    found = db.all_in("entity_called", sorted(set(folds)), key)
    return {folded: rows.entity(tuple(row)) for folded, *row in found}


def _beginning(
    db: Db, key: int, words: Sequence[str], limit: int
) -> dict[str, list[tuple[str, Entity]]]:
    found = {word: db.all("entity_beginning", key, word, limit) for word in sorted(set(words))}
    return {
        word: [(folded, rows.entity(tuple(row))) for folded, *row in longer]
        for word, longer in found.items()
        if longer
    }


def _mentioning(db: Db, key: int, entity_id: bytes, limit: int) -> list[bytes]:
    return [row[0] for row in db.all("mention_units", key, entity_id, limit)]


def _co_mentions(db: Db, key: int, entity_ids: Sequence[bytes], latest: int) -> list[CoMention]:
    together: dict[bytes, list[bytes]] = {}
    for entity_id in dict.fromkeys(entity_ids):
        for (unit_id,) in db.all("mention_latest", key, entity_id, latest):
            together.setdefault(unit_id, []).append(entity_id)
    counts: Counter[tuple[bytes, bytes]] = Counter()
    for mentioned in together.values():
        if len(mentioned) > 1:
            counts.update(combinations(sorted(mentioned[:MAX_TOGETHER]), 2))
    pairs = [CoMention(one, other, count) for (one, other), count in counts.items()]
    return sorted(pairs, key=lambda pair: (-pair.units, pair.one, pair.other))
