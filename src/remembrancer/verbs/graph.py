"""graph: memories as nodes, and the links between them, stored and derived.

Causal and other explicit links are stored. The rest are derived from the rows as they are: near in
time, alike, about the same entity (`finding.links`).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..finding.links import Edges, entity_links, semantic_links, temporal_links
from ..keeping.store import Store
from ..keeping.view import Reader
from ..models.vectors import dequantise, normalise
from ..nouns.memory import BankRef, Link, LinkType, UnitRow
from .browse import Query, Shown, shelf

EDGES = 10_000
"""Links of one answer: stored ones first, then the strongest derived ones."""

ENTITY = "entity"
"""The type of links between memories that share an entity; it is never stored."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A link between two of the nodes. `entity` names what they share, for links of that type."""

    source: bytes
    target: bytes
    type: str
    weight: float
    entity: str | None = None


@dataclass(frozen=True, slots=True)
class Drawing:
    """Nodes, newest first, the edges between them, and how many memories there are in all."""

    nodes: list[Shown]
    edges: list[Edge]
    total: int


class Graph:
    """The verb; everything it needs is passed in."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def __call__(self, ref: BankRef, query: Query, *, limit: int = 1_000) -> Drawing:
        """Draw the newest memories of a query, and what links them.

        Args:
            ref: the bank.
            query: which memories.
            limit: nodes at most; the links take time with its square.
        """

        def work(reader: Reader) -> tuple[list[Shown], int, list[UnitRow], list[Link]]:
            found = shelf(reader, query, limit)
            ids = [shown.unit.id for shown in found.items]
            facts = [fact.unit.id for shown in found.items for fact in shown.facts]
            return found.items, found.total, reader.rows(ids), reader.links_of([*ids, *facts])

        nodes, total, rows, links = await self._store.read(ref, work)
        edges = await asyncio.to_thread(_edges, nodes, rows, links)
        return Drawing(nodes, edges, total)


def _edges(nodes: list[Shown], rows: list[UnitRow], links: list[Link]) -> list[Edge]:
    """Return the links between nodes, each pair once a type; the strongest `EDGES` at most."""
    ids = [shown.unit.id for shown in nodes]
    stored = _stored(nodes, links)
    told = {(e.source, e.target, e.type) for e in stored}
    told |= {(e.target, e.source, e.type) for e in stored}
    units = [shown.unit for shown in nodes]
    times = [u.mentioned_at if u.occurred_start is None else u.occurred_start for u in units]
    near = temporal_links(ids, [int(u.kind) for u in units], times).pairs()
    alike = semantic_links(ids, _vectors(rows)).pairs()
    shared, names = entity_links(ids, [shown.entities for shown in nodes])
    derived = [
        *_plain(near, ids, LinkType.TEMPORAL),
        *_plain(alike, ids, LinkType.SEMANTIC),
        *_named(shared, names, ids),
    ]
    derived = [e for e in derived if (e.source, e.target, e.type) not in told]
    derived.sort(key=lambda e: (-e.weight, e.type, e.source, e.target, e.entity or ""))
    return [*stored, *derived][:EDGES]


def _stored(nodes: list[Shown], links: list[Link]) -> list[Edge]:
    """Return the stored links between nodes; those of a fact are its source's."""
    stands = {fact.unit.id: shown.unit.id for shown in nodes for fact in shown.facts}
    stands |= {shown.unit.id: shown.unit.id for shown in nodes}
    found: dict[tuple[bytes, bytes, LinkType], Edge] = {}
    for link in sorted(links, key=lambda k: -k.weight):
        source, target = stands.get(link.source), stands.get(link.target)
        if source is not None and target is not None and source != target:
            edge = Edge(source, target, link.type.value, link.weight)
            found.setdefault((source, target, link.type), edge)
    return list(found.values())


def _plain(edges: Edges, ids: list[bytes], link_type: LinkType) -> list[Edge]:
    return [
        Edge(k.source, k.target, link_type.value, k.weight) for k in edges.links(ids, link_type)
    ]


def _named(edges: Edges, names: list[str], ids: list[bytes]) -> list[Edge]:
    """Return the links through entities, each pair once an entity."""
    ends = zip(
        edges.source.tolist(), edges.target.tolist(), edges.weight.tolist(), names, strict=True
    )
    found: dict[tuple[int, int, str], Edge] = {}
    for i, j, weight, name in ends:
        low, high = min(i, j), max(i, j)
        found.setdefault((low, high, name), Edge(ids[low], ids[high], ENTITY, weight, name))
    return list(found.values())


def _vectors(rows: list[UnitRow]) -> NDArray[np.float32]:
    """Return the rows' own vectors at length 1; zeros for those that have none yet."""
    there = [(n, row.vector) for n, row in enumerate(rows) if row.vector is not None]
    if not there:
        return np.zeros((len(rows), 1), dtype=np.float32)
    found = normalise(dequantise([vector for _, vector in there]))
    vectors = np.zeros((len(rows), found.shape[1]), dtype=np.float32)
    vectors[[n for n, _ in there]] = found
    return vectors
