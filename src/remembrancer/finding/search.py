"""One search over an index state: candidates from each arm, exact scores, min-max fusion.

The recipe was chosen by measurement on chats between people and with assistants: the union of the
best 50 of each arm, every candidate scored by every arm, each arm scaled to [0, 1] over the union,
then a weighted sum with bonuses for the speaker that the question names and for the role it is
about. Rank fusion over the same lists found less.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .keyword import best, bm25
from .part import BOTH, NO_TIME, SLOTS, Mask, Part, sign_bits
from .scan import RESCORED, Floats, Rows, cosines, joined, nearest
from .state import IndexState
from .tagging import TagNode, tag_mask
from .terms import words

TOP = 50  # of each arm


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each arm counts. Their sum bounds a score."""

    text: float = 0.2  # BM25 of the text
    window: float = 0.2  # BM25 of the text with its short predecessors
    vector: float = 0.3  # cosine of the text
    window_vector: float = 0.3  # cosine of the text after its predecessor
    speaker: float = 0.15  # the question names who said it
    role: float = 0.1  # said by the one the question is about: the user, or the assistant
    time: float = 0.2  # overlaps the time that the question names


@dataclass(frozen=True, slots=True)
class Query:
    """What to search for.

    `words` are the question's (`terms.words`), `terms` their hashes (`Analyzer.terms`). `vector` is
    float32 (dim,) of length 1 or None (keywords alone). `role` gets the role bonus. `since`/`until`
    is the half-open time the question is about, in microseconds: a preference, not a filter.
    `kinds` and `tags` are filters.
    """

    words: Sequence[str]
    terms: Sequence[int]
    vector: Floats | None = None
    role: int = 0
    since: int | None = None
    until: int | None = None
    kinds: Collection[int] | None = None
    tags: TagNode | None = None
    weights: Weights = field(default_factory=Weights)


class Arm(IntEnum):
    """The arms in the order of `Candidates.arms`; each has a weight of its name."""

    TEXT = 0  # BM25
    WINDOW = 1
    VECTOR = 2  # cosine, NaN when not embedded
    WINDOW_VECTOR = 3
    SPEAKER = 4  # these are 0 or 1
    ROLE = 5
    TIME = 6  # 0, .5 or 1


_SCALED = Arm.SPEAKER  # the arms before it are scaled over the candidates


@dataclass(frozen=True, slots=True)
class Candidates:
    """Units found, best first.

    `ids` is (n,) of S16, see `id_list`; `score` (n,) the fused score; `arms` (len(Arm), n) the raw
    value of each arm.
    """

    ids: NDArray[np.bytes_]
    score: NDArray[np.float64]
    arms: NDArray[np.float64]

    def id_list(self, start: int = 0, end: int | None = None) -> list[bytes]:
        """Return ids as bytes; made when asked for, since few of them are looked at."""
        raw = self.ids[start:end].tobytes()
        return [raw[i : i + 16] for i in range(0, len(raw), 16)]

    def only(self, kept: Mask) -> Candidates:
        """Return those that a mask keeps."""
        return Candidates(self.ids[kept], self.score[kept], self.arms[:, kept])


def search(
    state: IndexState, query: Query, top: int = TOP, extra: Sequence[bytes] = ()
) -> Candidates:
    """Search a state.

    Args:
        state: the index at one revision.
        query: see `Query`.
        top: how many each arm proposes.
        extra: units that are candidates as well, where the filters let them through.

    Returns:
        Every candidate of any arm, by score descending, then by id.
    """
    parts = state.parts
    if not parts:
        return Candidates(np.empty(0, dtype="S16"), np.empty(0), np.empty((len(Arm), 0)))
    allowed = [_allowed(p, d, query) for p, d in zip(parts, state.dead, strict=True)]
    text = bm25(parts, state.dead, state.live, query.terms, "text")
    window = bm25(parts, state.dead, state.live, query.terms, "window")
    proposals = [best(text, allowed, top), best(window, allowed, top)]
    vector = query.vector if query.vector is not None and state.dim == len(query.vector) else None
    if vector is not None:
        embedded = [_embedded(p, ok) for p, ok in zip(parts, allowed, strict=True)]
        proposals += _vector_tops(state, embedded, vector, top)
    overlap = _time_scores(parts, query)
    if overlap is not None:
        proposals.append(_time_top(parts, allowed, overlap, top))
    if extra:
        proposals.append(_among(parts, allowed, extra))
    union = [_union(part.n, [rows[i] for rows in proposals]) for i, part in enumerate(parts)]
    return _fuse(state, query, vector, union, (text, window), overlap)


def _union(n: int, proposals: Sequence[Rows]) -> Rows:
    """Return the rows that any arm proposes, of a part of `n`, rising."""
    mask = np.zeros(n, dtype=bool)
    for rows in proposals:
        mask[rows] = True
    return np.flatnonzero(mask)


def _allowed(part: Part, dead: Mask | None, query: Query) -> Mask | None:
    """Return the rows of a part that are alive and that the filters let through; None: all."""
    masks = []
    if dead is not None:
        masks.append(~dead)
    if query.kinds is not None:
        masks.append(np.isin(part.columns.kind, list(query.kinds)))
    if query.tags is not None:
        masks.append(tag_mask(part, query.tags))
    return np.logical_and.reduce(masks) if masks else None


def _among(
    parts: Sequence[Part], allowed: Sequence[Mask | None], ids: Sequence[bytes]
) -> list[Rows]:
    """Return the allowed rows of some units, a part each."""
    found = [part.locate(ids) for part in parts]
    return [r if ok is None else r[ok[r]] for r, ok in zip(found, allowed, strict=True)]


def _embedded(part: Part, allowed: Mask | None) -> Mask | None:
    """Return the allowed rows that have a vector; None: all."""
    has = part.columns.embedded
    if has.all():
        return allowed
    return has if allowed is None else has & allowed


def _vector_tops(
    state: IndexState, allowed: Sequence[Mask | None], vector: Floats, top: int
) -> list[list[Rows]]:
    """Return for each slot the rows with the highest cosine, a part each."""
    parts = state.parts
    bits = sign_bits(vector[None, :])[0]
    near = nearest(parts, allowed, BOTH, bits, count=max(RESCORED, top))
    cosine = cosines(parts, near, vector)
    if len(cosine) <= top:
        return [near]
    # Ties at the edge are all taken, so that the answer does not depend on how rows are spread.
    edges = np.partition(cosine, len(cosine) - top, axis=0)[-top]
    return [_split(near, cosine[:, slot] >= edges[slot]) for slot in range(SLOTS)]


def _time_scores(parts: Sequence[Part], query: Query) -> list[NDArray[np.float64]] | None:
    """Return how well each row's time fits the question's: 1 when it happened then, .5 when it
    was only said then; None when the question names no time.
    """
    if query.since is None or query.until is None:
        return None
    scores = []
    for part in parts:
        c = part.columns
        happened = (c.occurred_start != NO_TIME) & (c.occurred_start < query.until)
        happened &= c.occurred_end > query.since
        said = (c.mentioned >= query.since) & (c.mentioned < query.until)
        scores.append(np.where(happened, 1.0, np.where(said, 0.5, 0.0)))
    return scores


def _time_top(
    parts: Sequence[Part],
    allowed: Sequence[Mask | None],
    scores: Sequence[NDArray[np.float64]],
    top: int,
) -> list[Rows]:
    """Return the best-fitting rows in time, newest first among equals."""
    rows = [
        np.flatnonzero(s > 0 if ok is None else ok & (s > 0))
        for ok, s in zip(allowed, scores, strict=True)
    ]
    place = _id_order(parts, rows)
    fit = np.concatenate([s[r] for s, r in zip(scores, rows, strict=True)])[place]
    said = np.concatenate([p.columns.mentioned[r] for p, r in zip(parts, rows, strict=True)])[place]
    order = np.lexsort((np.arange(len(place)), -said, -fit))[:top]
    chosen = np.zeros(len(place), dtype=bool)
    chosen[place[order]] = True
    return _split(rows, chosen)


def _fuse(
    state: IndexState,
    query: Query,
    vector: Floats | None,
    union: Sequence[Rows],
    keyword: tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]],
    overlap: list[NDArray[np.float64]] | None,
) -> Candidates:
    """Score the union by every arm and add up.

    Rows are put in id order first, so that ties fall the same way however they are spread.
    """
    parts = state.parts
    place = _id_order(parts, union)
    arms = np.zeros((len(Arm), len(place)))

    def fill(arm: Arm, values: Sequence[NDArray[np.generic]]) -> None:
        arms[arm] = joined([v[r] for v, r in zip(values, union, strict=True)])[place]

    fill(Arm.TEXT, keyword[0])
    fill(Arm.WINDOW, keyword[1])
    if vector is None:
        arms[Arm.VECTOR : _SCALED] = np.nan
    else:
        arms[Arm.VECTOR : _SCALED] = cosines(parts, union, vector)[place].T
        has = joined([p.columns.embedded[r] for p, r in zip(parts, union, strict=True)])[place]
        if not has.all():
            arms[Arm.VECTOR : _SCALED, ~has] = np.nan
    named = named_speakers(set(query.words), _speakers(parts))
    if named:
        said = [_named(p, r, named) for p, r in zip(parts, union, strict=True)]
        arms[Arm.SPEAKER] = joined(said)[place]
    if query.role:
        fill(Arm.ROLE, [p.columns.role for p in parts])
        arms[Arm.ROLE] = arms[Arm.ROLE] == int(query.role)
    if overlap is not None:
        fill(Arm.TIME, overlap)
    score = shares(arms, query.weights).sum(0)
    order = np.argsort(-score, kind="stable")
    return Candidates(_ids(parts, union)[place[order]], score[order], arms[:, order])


def shares(arms: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    """Return what each arm adds to the scores of candidates, of the shape of their `arms`."""
    factors = np.array([getattr(weights, arm.name.lower()) for arm in Arm])
    result: NDArray[np.float64] = factors[:, None] * np.concatenate(
        [scaled(arms[:_SCALED]), arms[_SCALED:]]
    )
    return result


def scaled(arms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale each row to [0, 1] by its lowest and highest; all equal and missing (NaN) give 0."""
    if not arms.size:
        return arms
    low = np.fmin.reduce(arms, axis=1, keepdims=True)
    span = np.fmax.reduce(arms, axis=1, keepdims=True) - low
    span[~(span > 0)] = np.inf
    result: NDArray[np.float64] = (arms - low) / span
    result[np.isnan(result)] = 0.0
    return result


def named_speakers(asked: Collection[str], speakers: Collection[str]) -> frozenset[str]:
    """Return the speakers that words name, in full or by a part of 3 letters or more."""
    found = set()
    for speaker in speakers:
        parts = _words(speaker)
        if parts and (
            all(p in asked for p in parts) or any(p in asked for p in parts if len(p) > 2)
        ):
            found.add(speaker)
    return frozenset(found)


@lru_cache(maxsize=4_096)
def _words(name: str) -> tuple[str, ...]:
    return tuple(words(name))


def _speakers(parts: Sequence[Part]) -> Collection[str]:
    return parts[0].speakers if len(parts) == 1 else {n for p in parts for n in p.speakers}


def _named(part: Part, rows: Rows, named: frozenset[str]) -> NDArray[np.bool_]:
    """Return which rows were said by one of the named speakers."""
    hit = np.array([*(name in named for name in part.speakers), False], dtype=bool)
    said: NDArray[np.bool_] = hit[part.columns.speaker[rows]]
    return said


def _id_order(parts: Sequence[Part], rows: Sequence[Rows]) -> NDArray[np.int64]:
    """Return the permutation that puts rows of several parts, concatenated, in id order."""
    if len(parts) == 1:
        return np.arange(len(rows[0]))
    return np.argsort(_ids(parts, rows), kind="stable")


def _ids(parts: Sequence[Part], rows: Sequence[Rows]) -> NDArray[np.bytes_]:
    if not parts:
        return np.empty(0, dtype="S16")
    return np.concatenate([p.ids[r] for p, r in zip(parts, rows, strict=True)])


def _split(rows: Sequence[Rows], chosen: Mask) -> list[Rows]:
    """Cut a mask over concatenated rows back into parts."""
    pieces, start = [], 0
    for r in rows:
        pieces.append(r[chosen[start : start + len(r)]])
        start += len(r)
    return pieces
