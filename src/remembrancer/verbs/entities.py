"""What people do to entities: look at them, merge, split, rename, give aliases.

Every change is one transaction with an entry in the audit log, which names ids and counts and no
texts. The entry of a merge keeps the ids of the memories that moved (`KEPT_IDS` at most, latest
first; `truncated` says when there were more), so that a merge can be undone: split them off again
under the old name. What said both names before the merge then has the one that was split off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..keeping.batch import Batch, EntityChange, EntityEdit, EntityMerge, EntitySplit
from ..keeping.entity_view import CoMention
from ..keeping.store import Store
from ..keeping.view import View
from ..nouns.clock import Clock
from ..nouns.errors import Conflict, InvalidInput, NotFound, TooLarge
from ..nouns.folding import fold_name
from ..nouns.ids import IdMaker, parse_id, to_uuid
from ..nouns.memory import BankRef, Entity, Layer, Unit
from ..nouns.text import clean
from .audit import Audit

NAME_CHARS = 256
MAX_ALIASES = 100
"""Aliases that one change gives; merges may bring more."""
MAX_MERGED = 100
MAX_SPLIT = 10_000
KEPT_IDS = 5_000
MEMORIES = 20
"""Latest memories shown with an entity."""
MAX_GRAPH = 1_000
_GRAPH_MENTIONS = 100_000  # looked at for a graph, shared by its entities
_TRIES = 50  # when others write to the bank meanwhile


@dataclass(frozen=True, slots=True)
class EntityPage:
    """Entities, most mentioned first, and how many there are in all."""

    items: list[Entity]
    total: int


@dataclass(frozen=True, slots=True)
class EntityDetail:
    """An entity with its latest memories."""

    entity: Entity
    memories: list[Unit]


@dataclass(frozen=True, slots=True)
class EntityGraph:
    """Entities and who is mentioned with whom, most first; totals before the limit."""

    nodes: list[Entity]
    edges: list[CoMention]
    total_entities: int
    total_edges: int


class Entities:
    """The verbs; everything they need is passed in."""

    def __init__(self, store: Store, *, ids: IdMaker, clock: Clock) -> None:
        self._store = store
        self._ids = ids
        self._audit = Audit(ids=ids, clock=clock)

    async def listing(
        self, ref: BankRef, *, containing: str | None = None, limit: int = 100, offset: int = 0
    ) -> EntityPage:
        """Return entities, most mentioned first; `containing` looks into names and aliases."""
        async with self._store.snapshot(ref) as view:
            return EntityPage(
                await view.entities(limit, offset, containing=containing or None),
                await view.entity_count(containing=containing or None),
            )

    async def get(self, ref: BankRef, entity_id: bytes) -> EntityDetail:
        """Return an entity with its latest memories.

        Raises:
            NotFound: it is not in this bank.
        """
        async with self._store.snapshot(ref) as view:
            entity = await _existing(view, entity_id)
            memories = await view.newest(MEMORIES, layer=Layer.SOURCE, entity=entity.name)
        return EntityDetail(entity, memories)

    async def find(self, ref: BankRef, name: str) -> Entity:
        """Return the entity that has a name or alias.

        Raises:
            NotFound: none has it.
        """
        folded = fold_name(_name(name, "name"))
        async with self._store.snapshot(ref) as view:
            found = await view.entities_called([folded])
        if folded not in found:
            raise NotFound(f"there is no entity {name!r} in this bank", field="name")
        return found[folded]

    async def which(self, ref: BankRef, text: str) -> bytes:
        """Return the id of the entity that a text names: by its id, or by a name or alias.

        Raises:
            NotFound: there is none.
        """
        try:
            entity_id = parse_id(text)
        except InvalidInput:
            return (await self.find(ref, text)).id
        async with self._store.snapshot(ref) as view:
            if await view.entity(entity_id) is not None:
                return entity_id
        return (await self.find(ref, text)).id

    async def graph(self, ref: BankRef, *, limit: int = 1_000, min_count: int = 1) -> EntityGraph:
        """Return the most mentioned entities and how many memories mention two of them.

        `limit` bounds the entities and the edges, MAX_GRAPH at most. Of much mentioned entities the
        latest mentions count, so the work is bounded however large the bank.
        """
        limit = min(limit, MAX_GRAPH)
        async with self._store.snapshot(ref) as view:
            nodes = await view.entities(limit)
            latest = _GRAPH_MENTIONS // max(len(nodes), 1)
            pairs = await view.co_mentions([node.id for node in nodes], latest)
            total = await view.entity_count()
        edges = [pair for pair in pairs if pair.units >= min_count]
        return EntityGraph(nodes, edges[:limit], total, len(edges))

    async def merge(self, ref: BankRef, entity_id: bytes, merged: Sequence[bytes]) -> Entity:
        """Make other entities part of one; their names and aliases become aliases of it.

        Raises:
            NotFound: one of them is not in this bank.
            InvalidInput: none or too many are named, or the entity itself.
            Conflict: the bank changed all the time meanwhile; nothing was changed.
        """
        merged = list(dict.fromkeys(merged))
        if not 1 <= len(merged) <= MAX_MERGED:
            raise InvalidInput(
                f"name 1 to {MAX_MERGED} entities to merge", field="from", limit=MAX_MERGED
            )
        if entity_id in merged:
            raise InvalidInput("an entity cannot be merged into itself", field="from")

        async def told(view: View) -> Mapping[str, Any]:
            moved = [await _moving(view, other) for other in merged]
            return {"entity_id": to_uuid(entity_id), "merged": moved}

        edit = EntityMerge(entity_id, merged)
        await self._write(ref, "entity.merge", edit, told)
        async with self._store.snapshot(ref) as view:
            return await _existing(view, entity_id)

    async def split(
        self, ref: BankRef, entity_id: bytes, name: str, unit_ids: Sequence[bytes]
    ) -> Entity:
        """Move the mentions by some memories to the entity of another name; return that one.

        Facts go with their source. The entity of that name is made when there is none; when the
        name was an alias of the first one, it is so no more.

        Raises:
            NotFound: the entity is not in this bank, or none of the memories mentions it.
            InvalidInput: the name is its own, no name, or too many memories are named.
        """
        name = _name(name, "name")
        unit_ids = list(dict.fromkeys(unit_ids))
        if not 1 <= len(unit_ids) <= MAX_SPLIT:
            raise InvalidInput(
                f"name 1 to {MAX_SPLIT} memories", field="memory_ids", limit=MAX_SPLIT
            )
        new_id = self._ids.new()

        async def told(view: View) -> Mapping[str, Any]:
            found = await view.entities_called([fold_name(name)])
            other = found.get(fold_name(name))
            to = new_id if other is None or other.id == entity_id else other.id
            ids = [unit_id.hex() for unit_id in unit_ids]
            kept = {"unit_ids": ids[:KEPT_IDS], "truncated": len(ids) > KEPT_IDS}
            return {"entity_id": to_uuid(entity_id), "to": to_uuid(to), **kept}

        edit = EntitySplit(entity_id, Entity(new_id, name), unit_ids)
        await self._write(ref, "entity.split", edit, told)
        return await self.find(ref, name)

    async def change(
        self,
        ref: BankRef,
        entity_id: bytes,
        *,
        name: str | None = None,
        aliases: Sequence[str] | None = None,
        kind: str | None = None,
        add: Sequence[str] = (),
        drop: Sequence[str] = (),
    ) -> Entity | None:
        """Change what an entity is called; None leaves as it is.

        Args:
            ref: the bank.
            entity_id: which one.
            name: the new name; without `aliases` the older one becomes an alias.
            aliases: all aliases that it has from now on.
            kind: what it is, such as person.
            add: aliases to add.
            drop: aliases to take away.

        Returns:
            The entity; None when nobody mentions it and it has lost its last alias: it is gone.

        Raises:
            NotFound: it is not in this bank.
            Conflict: another entity has such a name; merge them instead.
            InvalidInput: nothing to change, or no name.
        """
        if name is None and aliases is None and kind is None and not add and not drop:
            raise InvalidInput("give a name, aliases or a kind", field="name")
        edit = EntityChange(
            entity_id,
            None if name is None else _name(name, "name"),
            None if aliases is None else _names(aliases),
            None if kind is None else _name(kind, "kind"),
            _names(add),
            _names(drop),
        )

        async def told(view: View) -> Mapping[str, Any]:
            await _existing(view, entity_id)
            counts = {"aliases": None if aliases is None else len(aliases)}
            counts |= {"added": len(add), "dropped": len(drop)}
            changed = {"name": name is not None, "kind": kind is not None}
            return {"entity_id": to_uuid(entity_id), **changed, **counts}

        await self._write(ref, "entity.update", edit, told)
        async with self._store.snapshot(ref) as view:
            return await view.entity(entity_id)

    async def _write(
        self,
        ref: BankRef,
        action: str,
        edit: EntityEdit,
        told: Callable[[View], Any],
    ) -> None:
        """Write a change with an audit entry that tells of the bank as it was just before."""
        for _ in range(_TRIES):
            async with self._store.snapshot(ref) as view:
                entry = self._audit.entry(action, await told(view))
                revision = view.revision
            batch = Batch(entity_edits=[edit], records=[entry], expect_revision=revision)
            try:
                await self._store.apply(ref, batch)
                return
            except Conflict as error:
                if error.field != "expect_revision":
                    raise
        raise Conflict("the bank is being written to all the time; try again", field="entity_id")


async def _existing(view: View, entity_id: bytes) -> Entity:
    entity = await view.entity(entity_id)
    if entity is None:
        raise NotFound(f"there is no entity {to_uuid(entity_id)} in this bank", field="entity_id")
    return entity


async def _moving(view: View, entity_id: bytes) -> Mapping[str, Any]:
    """Return what an audit entry keeps of an entity that is merged into another."""
    entity = await _existing(view, entity_id)
    found = await view.mentioning(entity_id, KEPT_IDS + 1)
    return {
        "entity_id": to_uuid(entity_id),
        "mentions": entity.mention_count,
        "unit_ids": [unit_id.hex() for unit_id in found[:KEPT_IDS]],
        "truncated": len(found) > KEPT_IDS,
    }


def _names(aliases: Sequence[str]) -> list[str]:
    if len(aliases) > MAX_ALIASES:
        raise TooLarge(
            f"aliases holds {len(aliases)} names; the limit is {MAX_ALIASES}",
            field="aliases",
            limit=MAX_ALIASES,
        )
    return [_name(alias, "aliases") for alias in aliases]


def _name(name: str, field: str) -> str:
    name = " ".join(clean(name).split())
    if not name or len(name) > NAME_CHARS:
        raise InvalidInput(
            f"{field} must hold 1 to {NAME_CHARS} characters", field=field, limit=NAME_CHARS
        )
    return name
