"""How a recall came to its answers: what each arm found, and how the scores add up.

Made only when asked for, in the snapshot of the recall, from the arms that the search kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...finding.search import Arm, Candidates, Query, shares
from ...keeping.view import Reader
from ...models.embedder import Floats
from ...nouns.memory import Unit

TOP = 50  # results shown of a method
_SHOWN = 200  # fused candidates shown

SEMANTIC, BM25, GRAPH, TEMPORAL = "semantic", "bm25", "graph", "temporal"
METHODS = (SEMANTIC, BM25, GRAPH, TEMPORAL)
_SHARES = tuple(arm.name.lower() for arm in Arm)


class Hit(NamedTuple):
    """A unit that a method found, with that method's own score."""

    unit: Unit
    score: float


class Fused(NamedTuple):
    """A candidate in the order of the fused score.

    `ranks` are its places, from 1, in the methods that found it. `shares` are what each arm adds
    to the score, by the arm's name.
    """

    unit: Unit
    score: float
    ranks: dict[str, int]
    shares: dict[str, float]


@dataclass(frozen=True, slots=True)
class Trace:
    """See the module. Times in microseconds, durations in seconds."""

    vector: Floats | None
    since: int | None  # the time that was preferred
    until: int | None
    found: dict[str, tuple[Hit, ...]]  # by method, best first
    fused: tuple[Fused, ...]  # best first, before any filter by score
    candidates: int
    graph_ranked: bool  # whether what the graph arm found was considered
    search_s: float  # all arms but the graph's: one pass scores every candidate by each of them
    graph_s: float


def trace(
    reader: Reader,
    query: Query,
    found: Candidates,
    graph: Sequence[tuple[bytes, float]],
    *,
    graph_ranked: bool,
    search_s: float,
    graph_s: float,
) -> Trace:
    """Tell how a search came to its candidates.

    Args:
        reader: the snapshot.
        query: what was searched for.
        found: what was found, before any filter by score.
        graph: what the graph arm found, see `related`.
        graph_ranked: whether that was considered.
        search_s: seconds of the search.
        graph_s: seconds of the graph arm.
    """
    ids = found.id_list()
    lists = {
        SEMANTIC: _ranked(ids, found.arms[Arm.VECTOR]),
        BM25: _ranked(ids, found.arms[Arm.TEXT]),
        GRAPH: list(graph[:TOP]),
        TEMPORAL: _ranked(ids, found.arms[Arm.TIME]),
    }
    wanted = {unit_id for each in lists.values() for unit_id, _ in each} | set(ids[:_SHOWN])
    units = {unit.id: unit for unit in reader.units(sorted(wanted))}
    ranks: dict[bytes, dict[str, int]] = {}
    for method, each in lists.items():
        for rank, (unit_id, _) in enumerate(each, 1):
            ranks.setdefault(unit_id, {})[method] = rank
    parts = shares(found.arms, query.weights)
    return Trace(
        vector=query.vector,
        since=query.since,
        until=query.until,
        found={
            method: tuple(Hit(units[i], score) for i, score in each if i in units)
            for method, each in lists.items()
        },
        fused=tuple(
            Fused(
                units[unit_id],
                float(found.score[n]),
                ranks.get(unit_id, {}),
                dict(zip(_SHARES, parts[:, n].tolist(), strict=True)),
            )
            for n, unit_id in enumerate(ids[:_SHOWN])
            if unit_id in units
        ),
        candidates=len(ids),
        graph_ranked=graph_ranked,
        search_s=search_s,
        graph_s=graph_s,
    )


def _ranked(ids: Sequence[bytes], values: NDArray[np.float64]) -> list[tuple[bytes, float]]:
    """Return those with a value above 0, highest first, in fused order among equals."""
    order = np.argsort(-np.nan_to_num(values, nan=0.0), kind="stable")
    return [(ids[i], float(values[i])) for i in order[:TOP] if values[i] > 0]
