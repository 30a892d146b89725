"""The library's verbs about entities: who and what the memories of a bank mention."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from ...app import App
from ...nouns import memory as nouns
from ...nouns.clock import from_us
from ...nouns.ids import parse_id, to_uuid
from ...nouns.names import bank_ref


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, place or thing. `mentions` counts memories and facts that mention it."""

    id: str
    name: str
    kind: str
    aliases: tuple[str, ...]
    mentions: int
    first_seen: datetime | None
    last_seen: datetime | None


class EntityVerbs(ABC):
    """See `AsyncMemory`, which joins it. Entities are named by a name, an alias, or their id."""

    @property
    @abstractmethod
    def _open(self) -> App:
        """The memory that is open."""

    async def entities(
        self,
        *,
        bank: str = "default",
        containing: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Entity]:
        """Return the entities that memories mention, most mentioned first.

        Args:
            bank: whose memory.
            containing: only those with a name or alias that holds this text, however spelled.
            limit: entities at most.
            offset: leave out so many.
        """
        page = await self._open.entities.listing(
            bank_ref(bank), containing=containing, limit=limit, offset=offset
        )
        return [entity_of(entity) for entity in page.items]

    async def merge_entities(
        self, entity: str, others: Iterable[str], *, bank: str = "default"
    ) -> Entity:
        """Make other entities part of one; their names become its aliases.

        Args:
            entity: what they become.
            others: what is merged into it.
            bank: whose memory.

        Raises:
            NotFound: one of them is not in this bank.
            InvalidInput: none are named, or the entity itself.
        """
        ref, verbs = bank_ref(bank), self._open.entities
        merged = [await verbs.which(ref, other) for other in _several(others)]
        return entity_of(await verbs.merge(ref, await verbs.which(ref, entity), merged))

    async def split_entity(
        self, entity: str, name: str, ids: Iterable[str], *, bank: str = "default"
    ) -> Entity:
        """Let some memories mention the entity of another name instead, and return that one.

        Args:
            entity: which one they mention now.
            name: of the other one, which is made when it is new. An alias of the first one is so
                no more.
            ids: of the memories; their facts go with them.
            bank: whose memory.

        Raises:
            NotFound: the entity is not in this bank, or none of the memories mentions it.
        """
        ref, verbs = bank_ref(bank), self._open.entities
        unit_ids = [parse_id(each) for each in _several(ids)]
        return entity_of(await verbs.split(ref, await verbs.which(ref, entity), name, unit_ids))

    async def rename_entity(self, entity: str, name: str, *, bank: str = "default") -> Entity:
        """Give an entity another name; the older one becomes an alias.

        Raises:
            NotFound: it is not in this bank.
            Conflict: another entity has this name; merge them instead.
        """
        ref, verbs = bank_ref(bank), self._open.entities
        entity_id = await verbs.which(ref, entity)
        await verbs.change(ref, entity_id, name=name)
        return entity_of((await verbs.get(ref, entity_id)).entity)

    async def alias_entity(
        self,
        entity: str,
        aliases: Iterable[str] = (),
        *,
        remove: Iterable[str] = (),
        bank: str = "default",
    ) -> Entity | None:
        """Add aliases to an entity, and remove some; what is retained later finds it by them.

        Args:
            entity: which one.
            aliases: to add.
            remove: to take away.
            bank: whose memory.

        Returns:
            The entity; None when no memory mentions it and it has lost its last alias: it is gone.

        Raises:
            NotFound: it is not in this bank.
            Conflict: another entity has such a name; merge them instead.
        """
        ref, verbs = bank_ref(bank), self._open.entities
        entity_id = await verbs.which(ref, entity)
        add, drop = _several(aliases), _several(remove)
        found = await verbs.change(ref, entity_id, add=add, drop=drop)
        return None if found is None else entity_of(found)


def entity_of(entity: nouns.Entity) -> Entity:
    """Shape an entity."""
    return Entity(
        to_uuid(entity.id),
        entity.name,
        entity.kind,
        entity.aliases,
        entity.mention_count,
        None if entity.first_seen is None else from_us(entity.first_seen),
        None if entity.last_seen is None else from_us(entity.last_seen),
    )


def _several(names: Iterable[str]) -> list[str]:
    """Return names as a list; one string is one name."""
    return [names] if isinstance(names, str) else list(names)
