"""One search over an index state: candidates from each arm, exact scores, min-max fusion.

The recipe was chosen by measurement on chats between people and with assistants: the union of the
best 50 of each arm, every candidate scored by every arm, each arm scaled to [0, 1] over the union,
then a weighted sum with bonuses for the speaker that the question names, for the role it is about,
for how much a text says, and for what is said to hold always. Rank fusion over the same lists found
less. Two guards follow: what an arm is sure of stays among the first, and near-duplicates do not
crowd them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .calibration import Calibration, Features, features
from .diversity import LOOKED_AT, own_codes, spread
from .fusion import FULL, SCALED, Arm, Weights, guarded, scaled, shares, summed
from .keyword import best, bm25, whole
from .part import BOTH, NO_TIME, Mask, Part, sign_bits
from .scan import RESCORED, Floats, Rows, cosines, joined, nearest
from .spelling import RESPELT, Neighbours, respelt
from .state import IndexState
from .tagging import TagNode, tag_mask
from .terms import STANDING, words
from .wording import wording

__all__ = [
    "TOP",
    "Arm",
    "Candidates",
    "Query",
    "Weights",
    "named_speakers",
    "scaled",
    "search",
    "shares",
]

TOP = 50  # of each arm
STANDING_TOP = 10  # of what holds always


@dataclass(frozen=True, slots=True)
class Query:
    """What to search for.

    `words` are the question's (`terms.words`), `terms` their hashes (`Analyzer.terms`). `vector` is
    float32 (dim,) of length 1 or None (keywords alone). `role` gets the role bonus. `since`/`until`
    is the half-open time the question is about, in microseconds: a preference, not a filter.
    `kinds` and `tags` are filters. `term_weights` says how much each term counts in the keyword
    arms, 1 where it is silent (`Analyzer.weights`). The terms that are `doubtful` may be mistyped,
    and stand for what the bank has of their `neighbours` (see `spelling`). With a `calibration` the
    candidates get their relevance; `telling` says how telling each term is for it
    (`Analyzer.telling`).
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
    term_weights: Mapping[int, float] | None = None
    calibration: Calibration | None = None
    telling: Mapping[int, float] = field(default_factory=dict)
    doubtful: Mapping[int, str] = field(default_factory=dict)
    neighbours: Neighbours | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """Units found, best first.

    `ids` is (n,) of S16, see `id_list`; `score` (n,) the fused score; `arms` (len(Arm), n) the raw
    value of each arm. `known` is the probability that any of them answers, `relevance` (n,) that
    each of them does; None without a calibration. `features` is what these were made from. `size`
    is the number of rows searched.
    """

    ids: NDArray[np.bytes_]
    score: NDArray[np.float64]
    arms: NDArray[np.float64]
    known: float | None = None
    relevance: NDArray[np.float64] | None = None
    features: Features | None = None
    size: int = 0

    def id_list(self, start: int = 0, end: int | None = None) -> list[bytes]:
        """Return ids as bytes; made when asked for, since few of them are looked at."""
        raw = self.ids[start:end].tobytes()
        return [raw[i : i + 16] for i in range(0, len(raw), 16)]

    def only(self, kept: Mask) -> Candidates:
        """Return those that a mask keeps."""
        return self.taken(np.flatnonzero(kept))

    def taken(self, places: NDArray[np.int64]) -> Candidates:
        """Return those at some places, in that order."""
        return replace(
            self,
            ids=self.ids[places],
            score=self.score[places],
            arms=self.arms[:, places],
            relevance=None if self.relevance is None else self.relevance[places],
            features=None,
        )


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
        Every candidate of any arm, by score descending, then by id; what a guard holds back or
        brings forward stands elsewhere.
    """
    parts = state.parts
    if not parts:
        return Candidates(np.empty(0, dtype="S16"), np.empty(0), np.empty((len(Arm), 0)))
    query = _respelt(state, query)
    allowed = [_allowed(p, d, query) for p, d in zip(parts, state.dead, strict=True)]
    asked = (parts, state.dead, state.live, query.terms)
    text = bm25(*asked, "text", query.term_weights)
    window = bm25(*asked, "window", query.term_weights)
    proposals = [best(text, allowed, top), best(window, allowed, top)]
    vector = query.vector if query.vector is not None and state.dim == len(query.vector) else None
    overlap = _time_scores(parts, query)
    if overlap is not None:
        proposals.append(_time_top(parts, allowed, overlap, top))
    standing = [part.text.rows_with(STANDING) for part in parts]
    if any(map(len, standing)):
        proposals.append(_standing_top(state, allowed, standing, vector))
    if extra:
        proposals.append(_among(parts, allowed, extra))
    if vector is None:
        union, cosine = _union(parts, proposals), None
    else:
        embedded = [_embedded(p, ok) for p, ok in zip(parts, allowed, strict=True)]
        union, cosine = _with_vector_tops(parts, embedded, proposals, vector, top)
    found, order = _fuse(state, query, cosine, union, (text, window), overlap, standing)
    searched = [
        p.n if ok is None else int(np.count_nonzero(ok))
        for p, ok in zip(parts, allowed, strict=True)
    ]
    found = replace(found, size=sum(searched))
    return _calibrated(state, query, found, union, order, vector is not None)


def _respelt(state: IndexState, query: Query) -> Query:
    """Return a query with what its mistyped words were to be."""
    if query.neighbours is None or not query.doubtful:
        return query
    meant = respelt(state.parts, state.dead, query.doubtful, query.neighbours)
    if not meant:
        return query
    weights = dict(query.term_weights or {}) | dict.fromkeys(meant.values(), RESPELT)
    told = [(meant.get(term, term), worth) for term, worth in query.telling.items()]
    terms = [meant.get(term, term) for term in query.terms]
    return replace(query, terms=terms, term_weights=weights, telling=dict(told))


def _calibrated(
    state: IndexState,
    query: Query,
    found: Candidates,
    union: Sequence[Rows],
    order: NDArray[np.int64],
    embedded: bool,
) -> Candidates:
    """Add how likely it is that the candidates answer: rows of `union` in some `order`."""
    calibration = query.calibration
    if calibration is None:
        return found
    arms = found.arms
    seen = features(
        cosine=np.fmax(arms[Arm.VECTOR], arms[Arm.WINDOW_VECTOR]) if embedded else None,
        window=arms[Arm.WINDOW],
        speaker=arms[Arm.SPEAKER],
        role=arms[Arm.ROLE],
        time=arms[Arm.TIME],
        length=arms[Arm.LENGTH],
        words=wording(state.parts, state.dead, state.live, query.telling, union, order),
        whole=whole(state.parts, state.dead, state.live, query.terms, "window", query.term_weights),
        size=found.size,
    )
    known = calibration.knows(seen, found.size) if len(found.ids) else 0.0
    return replace(
        found, known=known, relevance=known * calibration.relevant(seen.relevant), features=seen
    )


def _standing_top(
    state: IndexState,
    allowed: Sequence[Mask | None],
    standing: Sequence[Rows],
    vector: Floats | None,
) -> list[Rows]:
    """Return what holds always, a part each: the nearest to the question, else the newest."""
    parts = state.parts
    rows = [r if ok is None else r[ok[r]] for r, ok in zip(standing, allowed, strict=True)]
    if sum(map(len, rows)) <= STANDING_TOP:
        return rows
    if vector is not None:
        worth = cosines(parts, rows, vector).max(axis=1).astype(np.float64)
    else:
        worth = joined([p.columns.mentioned[r] for p, r in zip(parts, rows, strict=True)])
    place = _id_order(parts, rows)
    chosen = np.zeros(len(place), dtype=bool)
    chosen[place[np.argsort(-worth[place], kind="stable")[:STANDING_TOP]]] = True
    return _split(rows, chosen)


def _union(parts: Sequence[Part], proposals: Sequence[Sequence[Rows]]) -> list[Rows]:
    """Return the rows that any arm proposes, a part each, rising."""
    return [
        np.flatnonzero(_marked(part.n, rows)) for part, *rows in zip(parts, *proposals, strict=True)
    ]


def _marked(n: int, proposals: Sequence[Rows]) -> Mask:
    mask = np.zeros(n, dtype=bool)
    for rows in proposals:
        mask[rows] = True
    return mask


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


def _with_vector_tops(
    parts: Sequence[Part],
    embedded: Sequence[Mask | None],
    proposals: Sequence[Sequence[Rows]],
    vector: Floats,
    top: int,
) -> tuple[list[Rows], Floats]:
    """Return the rows that any arm proposes, with those of the highest cosines of each slot.

    Everything that another arm proposes is compared exactly too, at the same time. Returns the rows
    a part each, rising, and their cosines (n, SLOTS), parts concatenated.
    """
    bits = sign_bits(vector[None, :])[0]
    near = nearest(parts, embedded, BOTH, bits, count=max(RESCORED, top))
    compared = _union(parts, [*proposals, near])
    cosine = cosines(parts, compared, vector)
    has = joined([p.columns.embedded[r] for p, r in zip(parts, compared, strict=True)])
    if not has.all():
        cosine[~has] = np.nan
    chosen = _chosen(parts, compared, proposals)
    if np.count_nonzero(has) <= top:
        chosen |= has
    else:
        # Ties at the edge are all taken, so that the answer does not depend on how rows are spread.
        place = np.count_nonzero(has) - top
        edges = np.partition(cosine[has], place, axis=0)[place]
        chosen |= (cosine >= edges).any(axis=1)
    return _split(compared, chosen), cosine[chosen]


def _chosen(
    parts: Sequence[Part], rows: Sequence[Rows], proposals: Sequence[Sequence[Rows]]
) -> Mask:
    """Return which of some rows, parts concatenated, are proposed."""
    return joined(
        [_marked(part.n, mine)[r] for part, r, *mine in zip(parts, rows, *proposals, strict=True)]
    )


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
    cosine: Floats | None,
    union: Sequence[Rows],
    keyword: tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]],
    overlap: list[NDArray[np.float64]] | None,
    standing: Sequence[Rows],
) -> tuple[Candidates, NDArray[np.int64]]:
    """Score the union by every arm and add up; return it, and its places best first.

    `cosine` holds the union's cosines, parts concatenated; None without a vector.
    Rows are put in id order first, so that ties fall the same way however they are spread.
    """
    parts = state.parts
    place = _id_order(parts, union)
    arms = np.zeros((len(Arm), len(place)))

    def fill(arm: Arm, values: Sequence[NDArray[np.generic]]) -> None:
        arms[arm] = joined([v[r] for v, r in zip(values, union, strict=True)])[place]

    fill(Arm.TEXT, keyword[0])
    fill(Arm.WINDOW, keyword[1])
    arms[Arm.VECTOR : SCALED] = np.nan if cosine is None else cosine[place].T
    named = named_speakers(set(query.words), _speakers(parts))
    if named:
        said = [_named(p, r, named) for p, r in zip(parts, union, strict=True)]
        arms[Arm.SPEAKER] = joined(said)[place]
    if query.role:
        fill(Arm.ROLE, [p.columns.role for p in parts])
        arms[Arm.ROLE] = arms[Arm.ROLE] == int(query.role)
    if overlap is not None:
        fill(Arm.TIME, overlap)
    if any(map(len, standing)):
        always = [np.isin(r, s) for r, s in zip(union, standing, strict=True)]
        arms[Arm.STANDING] = joined(always)[place]
    fill(Arm.LENGTH, [p.columns.length for p in parts])
    said = np.log1p(arms[Arm.LENGTH]) / math.log1p(FULL)
    # What holds always is short by its nature.
    arms[Arm.LENGTH] = np.where(arms[Arm.STANDING] > 0, 1.0, np.minimum(said, 1.0))
    parts_of_score = shares(arms, query.weights)
    score = summed(parts_of_score)
    order = np.argsort(-score, kind="stable")
    if cosine is not None:
        order = _spread_out(parts, union, place, order)
    order = guarded(order, parts_of_score)
    places = place[order]
    return Candidates(_ids(parts, union)[places], score[order], arms[:, order]), places


def _spread_out(
    parts: Sequence[Part],
    union: Sequence[Rows],
    place: NDArray[np.int64],
    order: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Put near-duplicates that crowd the best candidates behind these."""
    head = order[:LOOKED_AT]
    if len(head) < 3:
        return order
    chosen = place[head]  # places among the union's rows, parts concatenated
    if len(parts) == 1:
        return np.concatenate(
            [head[spread(own_codes(parts, [union[0][chosen]]))], order[LOOKED_AT:]]
        )
    starts = np.cumsum([0, *(len(r) for r in union)])
    part_of = np.searchsorted(starts, chosen, side="right") - 1
    codes = np.zeros((len(head), max(p.dim for p in parts)), dtype=np.int8)
    for number, part in enumerate(parts):
        mine = part_of == number
        if mine.any():
            codes[mine] = own_codes([part], [union[number][chosen[mine] - starts[number]]])
    return np.concatenate([head[spread(codes)], order[LOOKED_AT:]])


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
