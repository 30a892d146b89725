"""The candidates of one strategy in one bank, read in the thread of a snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...finding.similar import most_similar
from ...finding.state import IndexState
from ...keeping.view import Reader
from ...models.embedder import Floats
from ...nouns.errors import NotFound
from ...nouns.memory import BankRef, Layer, LinkType
from ..lookup import Kept, kept_of
from .analogy import Shape, structural
from .searches import Asked, Detail, Search, Way, within
from .walk import walk

MOST = 1_000
"""Answers, and candidates of a strategy, at most; more is clamped."""

MAX_DEPTH = 10

_FILTERED = 4  # times as many candidates when a period leaves some out
_ANALOGOUS = 30  # candidates at least
_STEP = 256  # memories read at once, for their texts may be long


class Hit(NamedTuple):
    """A candidate of one strategy in one bank; the highest `key` is the best."""

    kept: Kept
    key: float
    detail: Detail


def newest(reader: Reader, ref: BankRef, search: Search, limit: int, asked: Asked) -> list[Hit]:
    """Return the newest memories; their ranks come with `placed`."""
    units = [
        unit
        for layer in (Layer.SOURCE, Layer.OBSERVATION)
        for unit in reader.newest(limit, layer=layer, until=search.until)
        if within(unit, search)
    ]
    units = sorted(units, key=lambda u: (-u.mentioned_at, u.id))[:limit]
    return [
        Hit(
            kept,
            kept.unit.mentioned_at,
            Detail(Way.TEMPORAL, 1.0, timestamp=kept.unit.mentioned_at, rank=0),
        )
        for kept in kept_of(reader, ref, units, vectors=asked.vectors)
    ]


def placed(hits: Sequence[Hit]) -> list[Hit]:
    """Give the newest ones their ranks; relevance is 1 for the newest and falls by 1/n."""
    return [
        hit._replace(detail=replace(hit.detail, rank=rank, relevance=1 - rank / len(hits)))
        for rank, hit in enumerate(hits)
    ]


def alike(
    reader: Reader,
    state: IndexState,
    ref: BankRef,
    vector: Floats,
    search: Search,
    limit: int,
    asked: Asked,
) -> list[Hit]:
    """Return the memories most like a vector, or most like it and in shape."""
    analogous = search.way is Way.ANALOGICAL
    pool = max(_ANALOGOUS, 3 * limit) if analogous else limit
    if search.since is not None or search.until is not None:
        pool *= _FILTERED
    cosines = dict(most_similar(state, vector, min(pool, _FILTERED * MOST)))
    wanted = Shape(asked.attributes, asked.origin, search.bank.bank if search.bank else None)
    make = _analogous if analogous else _similar
    ids = list(cosines)
    hits: list[Hit] = []
    for start in range(0, len(ids), _STEP):
        units = [u for u in reader.units(ids[start : start + _STEP]) if within(u, search)]
        found = kept_of(reader, ref, units, vectors=asked.vectors)
        new = [make(kept, max(0.0, cosines[kept.unit.id]), search, wanted) for kept in found]
        hits = best([*hits, *new], limit)
        if not analogous and len(hits) == limit:
            break
    return hits


def best(hits: Sequence[Hit], limit: int) -> list[Hit]:
    """Return the best candidates, ties by id."""
    return sorted(hits, key=lambda hit: (-hit.key, hit.kept.unit.id))[:limit]


def _similar(kept: Kept, cosine: float, search: Search, wanted: Shape) -> Hit:  # noqa: ARG001
    return Hit(kept, cosine, Detail(Way.SIMILARITY, cosine, distance=1 - cosine))


def _analogous(kept: Kept, cosine: float, search: Search, wanted: Shape) -> Hit:
    shape = Shape(kept.unit.attributes or {}, kept.origin, kept.ref.bank)
    alike = structural(wanted, shape)
    relevance = search.alpha * cosine + (1 - search.alpha) * alike
    detail = Detail(
        Way.ANALOGICAL,
        relevance,
        distance=1 - cosine,
        embedding_similarity=cosine,
        structural_similarity=alike,
    )
    return Hit(kept, relevance, detail)


def linked(
    reader: Reader, ref: BankRef, seed: bytes, search: Search, limit: int, asked: Asked
) -> list[Hit]:
    """Return what links lead to from a memory.

    Raises:
        NotFound: it is not there.
    """
    start = reader.units([seed])
    if not start:
        raise NotFound(f"there is no memory {seed.hex()} to begin with")
    types = search.types or tuple(LinkType)
    steps = walk(reader, start[0], types, min(max(search.max_depth, 0), MAX_DEPTH))
    found = {u.id: u for u in reader.units([step.unit_id for step in steps])}
    steps = [s for s in steps if s.unit_id in found and within(found[s.unit_id], search)]
    steps = steps[:limit]
    kept = kept_of(reader, ref, [found[s.unit_id] for s in steps], vectors=asked.vectors)
    return [
        Hit(
            each,
            step.relevance,
            Detail(Way.CAUSAL, step.relevance, depth=step.depth, link_type=step.type, seed=seed),
        )
        for step, each in zip(steps, kept, strict=True)
    ]
