"""surroundings: what is linked to a memory: its own links, and the memories some steps around it.

Links of what was read from a memory are links of that memory: they are one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..keeping.store import Store
from ..keeping.view import Reader
from ..nouns.caller import Caller
from ..nouns.errors import InvalidInput
from ..nouns.memory import Link, LinkType
from .lookup import Kept, Lookup, kept_of
from .recalling.walk import FAN, owners
from .tenant_banks import no_memory

MAX_DEPTH = 5
MAX_NODES = 500
MOST_LINKS = 10_000
"""Links of one answer."""


class Edges(NamedTuple):
    """The stored links of a memory, the strongest first."""

    outgoing: list[Link]
    incoming: list[Link]


@dataclass(frozen=True, slots=True)
class Around:
    """Memories around one, nearest first and itself at the head, and the links between them.

    `truncated`: there are more memories or links than were asked for.
    """

    nodes: list[Kept]
    edges: list[Link]
    truncated: bool


class Surroundings:
    """The verbs; everything they need is passed in."""

    def __init__(self, store: Store, lookup: Lookup) -> None:
        self._store = store
        self._lookup = lookup

    async def edges(self, caller: Caller, unit_id: bytes) -> Edges:
        """Return the links that lead from a memory, and those that lead to it.

        Raises:
            NotFound: the caller reaches none of that id.
        """
        ref = await self._lookup.find(caller, unit_id)

        def work(reader: Reader) -> tuple[bytes, list[Link]]:
            root = _root(reader, unit_id)
            mine = [root, *(fact.id for fact in reader.read_from([root]))]
            links = reader.links_of(mine)
            return root, list(_joined(links, owners(reader, _ends(links))).values())

        root, links = await self._store.read(ref, work)
        return Edges(
            [link for link in links if link.source == root][:MOST_LINKS],
            [link for link in links if link.target == root][:MOST_LINKS],
        )

    async def __call__(
        self,
        caller: Caller,
        center: bytes,
        *,
        depth: int = 2,
        types: Sequence[LinkType] = (),
        limit: int = 100,
    ) -> Around:
        """Return the memories up to `depth` steps around one, breadth first.

        Of each memory, and of each fact read from it, the `walk.FAN` strongest links are followed.

        Args:
            caller: who asks.
            center: the memory to begin with.
            depth: steps, up to `MAX_DEPTH`.
            types: links to follow, in either direction; none given: all.
            limit: memories at most, up to `MAX_NODES`.

        Raises:
            NotFound: the caller reaches none of that id.
            InvalidInput: a bound is broken.
        """
        _check(depth, 0, MAX_DEPTH, "depth")
        _check(limit, 1, MAX_NODES, "max_nodes")
        ref = await self._lookup.find(caller, center)

        def work(reader: Reader) -> Around:
            root = _root(reader, center)
            ids, links, truncated = _walked(reader, root, types or tuple(LinkType), depth, limit)
            nodes = kept_of(reader, ref, reader.units(ids))
            ordered = sorted(links, key=lambda k: (-k.weight, k.type, k.source, k.target))
            return Around(nodes, ordered[:MOST_LINKS], truncated or len(links) > MOST_LINKS)

        return await self._store.read(ref, work)


def _walked(
    reader: Reader, root: bytes, types: Sequence[LinkType], depth: int, limit: int
) -> tuple[list[bytes], list[Link], bool]:
    """Return ids by nearness, links between them, and whether some did not fit."""
    ids = {root: None}
    links: dict[tuple[bytes, bytes, LinkType], Link] = {}
    truncated = False
    edge = [root]
    for step in range(depth + 1):  # the last one finds links between what is there
        mine = [*edge, *(fact.id for fact in reader.read_from(edge))]
        near = reader.neighbours(mine, types, 1, FAN)
        edge = []
        for key, link in _joined(near, owners(reader, _ends(near))).items():
            new = [end for end in (link.source, link.target) if end not in ids]
            if new and step == depth:
                continue
            if len(ids) + len(new) > limit:
                truncated = True
                continue
            ids |= dict.fromkeys(new)
            edge += new
            links.setdefault(key, link)
        if not edge:
            break
    return list(ids), list(links.values()), truncated


def _root(reader: Reader, unit_id: bytes) -> bytes:
    """Return the memory that a unit is, or was read from."""
    found = reader.units([unit_id])
    if not found:
        raise no_memory(unit_id)
    return found[0].source_id or unit_id


def _ends(links: Sequence[Link]) -> list[bytes]:
    return sorted({end for link in links for end in (link.source, link.target)})


def _joined(
    links: Sequence[Link], owner: Mapping[bytes, bytes]
) -> dict[tuple[bytes, bytes, LinkType], Link]:
    """Return links between memories, the strongest first, each pair once a type."""
    found: dict[tuple[bytes, bytes, LinkType], Link] = {}
    for link in sorted(links, key=lambda k: (-k.weight, k.type, k.source, k.target)):
        source, target = owner.get(link.source), owner.get(link.target)
        if source is not None and target is not None and source != target:
            key = (source, target, link.type)
            found.setdefault(key, Link(source, target, link.type, link.weight))
    return found


def _check(value: int, least: int, most: int, name: str) -> None:
    if not least <= value <= most:
        raise InvalidInput(f"{name} must be from {least} to {most}", field=name, limit=most)
