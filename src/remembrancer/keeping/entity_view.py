"""The part of a view that shows entities: by id, by name, and with whom they are mentioned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from ..nouns.memory import Entity


class CoMention(NamedTuple):
    """How many units mention both of two entities; the id of `one` is the smaller."""

    one: bytes
    other: bytes
    units: int


class EntityView(Protocol):
    """Entities of one bank in one snapshot. Names are looked up by `nouns.folding.fold_name`."""

    async def entity(self, entity_id: bytes) -> Entity | None:
        """Return an entity, or None."""
        ...

    async def entities(
        self, limit: int = 100, offset: int = 0, *, containing: str | None = None
    ) -> list[Entity]:
        """Return entities, most mentioned first (by name on ties).

        `containing`: only those with a name or alias that holds this text, compared by folds.
        """
        ...

    async def entity_count(self, *, containing: str | None = None) -> int:
        """Count what `entities` lists."""
        ...

    async def entities_called(self, folds: Sequence[str]) -> Mapping[str, Entity]:
        """Return by fold the entities that have these names or aliases."""
        ...

    async def entities_beginning(
        self, words: Sequence[str], limit: int = 20
    ) -> Mapping[str, list[tuple[str, Entity]]]:
        """Return for each word, a fold, the first `limit` longer names that begin with it.

        Each comes as its fold with its entity, in the order of folds; words without are left out.
        """
        ...

    async def mentioning(self, entity_id: bytes, limit: int) -> list[bytes]:
        """Return the ids of the units that mention an entity, latest first.

        Facts are left out, for their source mentions it, too; invalid units are not.
        """
        ...

    async def co_mentions(self, entity_ids: Sequence[bytes], latest: int) -> list[CoMention]:
        """Count the units that mention two of these entities, most first.

        Of each entity the `latest` mentions count. Facts do not: their source is counted. Of a
        unit that mentions more than `MAX_TOGETHER` of them, the first ones in `entity_ids` count.
        """
        ...


MAX_TOGETHER = 30
"""Entities of one unit whose pairs are counted, at most."""
