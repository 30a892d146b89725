"""Links that follow from rows: near in time, alike in meaning, about the same entity.

They are derived when read, never stored, so they are always those of the rows as they are. Links
that nobody can derive (causal and explicit ones) are stored. The defaults are those of Hindsight:
24 hours, cosine .7, 20 links a unit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..nouns.memory import Link, LinkType
from .part import NO_TIME, OWN
from .scan import Floats
from .state import IndexState

DAY_US = 86_400_000_000
FAN = 20  # links of one type that a unit begins
FLOOR = 0.7  # lowest cosine of two units that are alike
EXACT_ROWS = 3_000  # semantic links are counted exactly up to here

_LEAST_WEIGHT = 0.3  # of two units at the edge of the window
_TILE_ROWS, _TILE_COLUMNS = 256, 2_048  # cosines in memory at once: 2 MiB
_SAMPLE = 256  # rows that an estimate counts the links of
_GOLDEN = (math.sqrt(5) - 1) / 2
_DIGITS = 5  # of a cosine

I64 = NDArray[np.int64]


class Edges(NamedTuple):
    """Directed links as arrays of one length: row numbers, and weights in (0, 1].

    Each row begins at most `fan` links, to those nearest to it, strongest first; the other end may
    begin none back when others are nearer to it. `pairs` makes them undirected.
    """

    source: I64
    target: I64
    weight: Floats

    def pairs(self) -> Edges:
        """Return each linked pair once, the lower row first, in order of rows."""
        low, high = np.minimum(self.source, self.target), np.maximum(self.source, self.target)
        order = np.lexsort((-self.weight, high, low))
        low, high = low[order], high[order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
        return Edges(low[first], high[first], self.weight[order][first])

    def links(self, ids: Sequence[bytes], link_type: LinkType) -> list[Link]:
        """Return them as links between the rows' units."""
        ends = zip(self.source.tolist(), self.target.tolist(), self.weight.tolist(), strict=True)
        return [Link(ids[i], ids[j], link_type, w) for i, j, w in ends]


class VectorRows(Protocol):
    """Vectors of length 1 (or 0: not embedded) that are fetched by row; an array is one."""

    def __len__(self) -> int:
        """Return the number of rows."""
        ...

    def __getitem__(self, rows: I64, /) -> Floats:
        """Return float32 of shape (len(rows), dim)."""
        ...


class Indexed(NamedTuple):
    """The live units of an index in id order: what links are derived from. `n` rows each."""

    ids: list[bytes]
    kinds: NDArray[np.uint8]
    times: I64  # when it happened, or else was said; microseconds
    vectors: VectorRows


class LinkCounts(NamedTuple):
    """How many links begin at the units of each kind, by type; `entity` over all kinds.

    `estimated` says that the semantic ones were counted on a sample of the rows.
    """

    temporal: Mapping[int, int]
    semantic: Mapping[int, int]
    entity: int
    estimated: bool


def temporal_links(
    ids: Sequence[bytes],
    kinds: ArrayLike,
    times: ArrayLike,
    *,
    window_us: int = DAY_US,
    fan: int = FAN,
) -> Edges:
    """Link units of one kind that are near in time.

    Args:
        ids: (n,) unit ids; among equally near ones those next in order of time and id are linked.
        kinds: (n,) numbers.
        times: (n,) microseconds.
        window_us: farthest apart, inclusive.
        fan: links that a unit begins at most.

    Returns:
        Links of weight max(.3, 1 - distance / window). O(n log n + n fan).
    """
    kinds, times = np.asarray(kinds), np.asarray(times, dtype=np.int64)
    rank = _ranks(ids)
    found = [_none()]
    for kind in np.unique(kinds):
        mine = np.flatnonzero(kinds == kind)
        mine = mine[np.lexsort((rank[mine], times[mine]))]
        for start in range(0, len(mine), _TILE_COLUMNS):
            found.append(_near_in_time(mine, times, start, window_us, fan))
    return _joined(found)


def semantic_links(
    ids: Sequence[bytes], vectors: VectorRows, *, floor: float = FLOOR, fan: int = FAN
) -> Edges:
    """Link units that are alike.

    Args:
        ids: (n,) unit ids; among equally alike ones the lower id is linked.
        vectors: (n, dim) of length 1; rows of zeros have no links.
        floor: lowest cosine, inclusive.
        fan: links that a unit begins at most.

    Returns:
        Links weighted by cosine. O(n^2 dim) time, and memory for the answer and one tile.
    """
    order = np.argsort(_ranks(ids), kind="stable")
    return _joined(
        [
            _alike(order[start : start + _TILE_ROWS], order, vectors, floor, fan)
            for start in range(0, len(order), _TILE_ROWS)
        ]
    )


def entity_links(
    ids: Sequence[bytes], entities: Sequence[Collection[str]], *, fan: int = FAN
) -> tuple[Edges, list[str]]:
    """Link units that mention the same entity.

    Args:
        ids: (n,) unit ids.
        entities: (n,) canonical names that each mentions.
        fan: links that a unit begins at most through one entity, to those nearest in id order.

    Returns:
        Links, one an entity, of weight tanh(shared / 2) for the number of entities that link the
        two (as Hindsight's graph arm scores them); and the name of each link's entity.
    """
    order = np.argsort(_ranks(ids), kind="stable").tolist()
    mentions: dict[str, list[int]] = {}
    for row in order:
        for name in dict.fromkeys(entities[row]):
            mentions.setdefault(name, []).append(row)
    sources, targets, names = [], [], []
    for name in sorted(mentions):
        rows = np.array(mentions[name], dtype=np.int64)
        near = _neighbours(len(rows), fan)
        sources.append(np.repeat(rows, near.shape[1]))
        targets.append(rows[near].ravel())
        names += [name] * near.size
    if not names:
        return _none(), []
    source, target = np.concatenate(sources), np.concatenate(targets)
    _, pair, shared = np.unique(source * len(ids) + target, return_inverse=True, return_counts=True)
    return Edges(source, target, np.tanh(shared[pair] / 2).astype(np.float32)), names


def count_links(
    kinds: ArrayLike,
    times: ArrayLike,
    vectors: VectorRows,
    mentions: ArrayLike,
    *,
    exact_rows: int = EXACT_ROWS,
) -> LinkCounts:
    """Count the links that the functions above would find with their defaults.

    Args:
        kinds: (n,) numbers.
        times: (n,) microseconds.
        vectors: (n, dim), see `semantic_links`.
        mentions: for each entity how many units mention it.
        exact_rows: beyond so many rows the semantic links are counted on evenly spread ones.
    """
    kinds, times = np.asarray(kinds), np.asarray(times, dtype=np.int64)
    counts = np.asarray(mentions, dtype=np.int64)
    n = len(vectors)
    rows = np.arange(n) if n <= exact_rows else _spread(n, min(_SAMPLE, exact_rows))
    begun = np.concatenate(
        [np.empty(0, dtype=np.int64)]
        + [_count_alike(rows[i : i + _TILE_ROWS], vectors) for i in range(0, len(rows), _TILE_ROWS)]
    )
    scale = n / len(rows) if len(rows) else 1.0
    semantic = {
        int(kind): round(float(begun[kinds[rows] == kind].sum()) * scale)
        for kind in np.unique(kinds)
    }
    return LinkCounts(
        temporal=_count_in_time(kinds, times),
        semantic=semantic,
        entity=int((counts * np.clip(counts - 1, 0, FAN)).sum()),
        estimated=n > exact_rows,
    )


def indexed(state: IndexState) -> Indexed:
    """Return the live units of an index, with vectors that are read when fetched."""
    parts, rows = [], []
    for number, (part, dead) in enumerate(zip(state.parts, state.dead, strict=True)):
        alive = np.arange(part.n) if dead is None else np.flatnonzero(~dead)
        parts.append(np.full(len(alive), number, dtype=np.int64))
        rows.append(alive)
    ids = [i for p, r in zip(state.parts, rows, strict=True) for i in _id_list(p.ids[r])]
    order = np.argsort(np.array(ids, dtype="S16"), kind="stable")
    kinds, times = [np.empty(0, dtype=np.uint8)], [np.empty(0, dtype=np.int64)]
    for part, r in zip(state.parts, rows, strict=True):
        c = part.columns
        kinds.append(c.kind[r])
        times.append(np.where(c.occurred_start == NO_TIME, c.mentioned, c.occurred_start)[r])
    none = np.empty(0, dtype=np.int64)
    place = np.stack([np.concatenate([none, *parts]), np.concatenate([none, *rows])])[:, order]
    return Indexed(
        [ids[i] for i in order],
        np.concatenate(kinds)[order],
        np.concatenate(times)[order],
        _IndexVectors(state, place),
    )


@dataclass(frozen=True, slots=True)
class _IndexVectors:
    """The own vectors of an index's rows; `place` is (2, n): number of the part, row in it."""

    state: IndexState
    place: I64

    def __len__(self) -> int:
        return int(self.place.shape[1])

    def __getitem__(self, rows: I64, /) -> Floats:
        numbers, inner = self.place[:, rows]
        found = np.zeros((len(rows), self.state.dim), dtype=np.float32)
        for number, part in enumerate(self.state.parts):
            mine = numbers == number
            if part.dim and mine.any():
                codes = part.codes[inner[mine], OWN].astype(np.float32)
                found[mine] = codes * part.scales[inner[mine], OWN, None]
        return found


def _near_in_time(mine: I64, times: I64, start: int, window_us: int, fan: int) -> Edges:
    """Link some rows, from place `start` on, of those of one kind in order of time."""
    at = np.arange(start, min(start + _TILE_COLUMNS, len(mine)))
    # The nearest `fan` are among the `fan` before and the `fan` after; the next ones come first.
    steps = np.arange(1, fan + 1).repeat(2) * np.tile([-1, 1], fan)
    place = at[:, None] + steps
    inside = (place >= 0) & (place < len(mine))
    other = mine[np.where(inside, place, 0)]
    apart = np.abs(times[other] - times[mine[at], None])
    inside &= apart <= window_us
    far = np.where(inside, apart, np.iinfo(np.int64).max)
    best = np.argsort(far, axis=1, kind="stable")[:, :fan]
    kept = np.take_along_axis(inside, best, axis=1)
    near = np.take_along_axis(apart, best, axis=1)[kept]
    weight = np.maximum(_LEAST_WEIGHT, 1 - near / window_us).astype(np.float32)
    source = np.broadcast_to(mine[at, None], kept.shape)[kept]
    return Edges(source, np.take_along_axis(other, best, axis=1)[kept], weight)


def _alike(rows: I64, order: I64, vectors: VectorRows, floor: float, fan: int) -> Edges:
    """Link some rows to those most like them, a tile of all at a time."""
    mine = vectors[rows]
    found = _none()
    for start in range(0, len(order), _TILE_COLUMNS):
        others = order[start : start + _TILE_COLUMNS]
        # Rounded, for the last bits of a product depend on where in the tile a row stands.
        cosine = np.round(mine @ vectors[others].T, _DIGITS)
        cosine[rows[:, None] == others] = -1  # not to itself
        lowest = np.full(len(rows), floor, dtype=np.float32)
        if len(others) > fan:
            edge = np.partition(cosine, len(others) - fan, axis=1)[:, len(others) - fan]
            lowest = np.maximum(lowest, edge)  # the others are no match for those of this tile
        i, j = np.nonzero(cosine >= lowest[:, None])
        weight = np.minimum(cosine[i, j], np.float32(1))
        found = _strongest(_joined([found, Edges(i, others[j], weight)]), fan)
    return Edges(rows[found.source], found.target, found.weight)


def _strongest(edges: Edges, fan: int) -> Edges:
    """Keep the strongest of each source; the earlier ones among equals."""
    order = np.lexsort((-edges.weight, edges.source))
    source = edges.source[order]
    place = np.arange(len(order)) - np.searchsorted(source, source)
    order = order[place < fan]
    return Edges(edges.source[order], edges.target[order], edges.weight[order])


def _count_alike(rows: I64, vectors: VectorRows) -> I64:
    """Return how many semantic links each of some rows begins."""
    mine = vectors[rows]
    total = np.zeros(len(rows), dtype=np.int64)
    for start in range(0, len(vectors), _TILE_COLUMNS):
        others = np.arange(start, min(start + _TILE_COLUMNS, len(vectors)))
        cosine = np.round(mine @ vectors[others].T, _DIGITS)
        total += ((cosine >= FLOOR) & (rows[:, None] != others)).sum(axis=1)
    return np.minimum(total, FAN)


def _spread(n: int, count: int) -> I64:
    """Return about `count` of n rows, evenly spread and in step with no period of theirs."""
    return np.unique((np.arange(1, count + 1) * _GOLDEN % 1 * n).astype(np.int64))


def _count_in_time(kinds: NDArray[np.generic], times: I64) -> dict[int, int]:
    """Return how many temporal links begin at the units of each kind: O(n log n)."""
    counts: Counter[int] = Counter()
    for kind in np.unique(kinds):
        mine = np.sort(times[kinds == kind])
        first = np.searchsorted(mine, mine - DAY_US, "left")
        last = np.searchsorted(mine, mine + DAY_US, "right")
        counts[int(kind)] = int(np.minimum(last - first - 1, FAN).sum())
    return dict(counts)


def _neighbours(n: int, fan: int) -> I64:
    """Return for each of n places the min(fan, n - 1) nearest others: (n, that many)."""
    width = min(fan, n - 1)
    first = np.clip(np.arange(n) - math.ceil(width / 2), 0, n - 1 - width)
    near = first[:, None] + np.arange(width)
    return near + (near >= np.arange(n)[:, None])


def _ranks(ids: Sequence[bytes]) -> I64:
    """Return each id's place in id order."""
    # Ids may end in zero bytes, which numpy's text takes off; their order stays the same.
    ranks = np.empty(len(ids), dtype=np.int64)
    ranks[np.argsort(np.array(ids, dtype="S16"), kind="stable")] = np.arange(len(ids))
    return ranks


def _id_list(ids: NDArray[np.bytes_]) -> list[bytes]:
    raw = ids.tobytes()
    return [raw[i : i + 16] for i in range(0, len(raw), 16)]


def _joined(pieces: Sequence[Edges]) -> Edges:
    whole = [_none(), *pieces]
    return Edges(*(np.concatenate(column) for column in zip(*whole, strict=True)))


def _none() -> Edges:
    return Edges(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
