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
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .calibration import features
from .diversity import LOOKED_AT, own_codes, spread
from .fusion import FULL, SCALED, Arm, Weights, guarded, scaled, shares, summed
from .keyword import Matched, best, bm25
from .part import BOTH, Mask, Part, sign_bits
from .proposals import (
    absent,
    among,
    chosen,
    id_order,
    ids,
    let_through,
    rows_of,
    split,
    standing_top,
    time_scores,
    time_top,
    united,
    with_vector,
)
from .query import Candidates, Query
from .scan import RESCORED, Floats, Rows, cosines, joined, nearest
from .speakers import named_speakers, said_by, speakers_of
from .spelling import RESPELT, respelt
from .state import IndexState
from .synonyms import TOLD, told_with
from .terms import STANDING
from .wording import wording

__all__ = [
    "TOP",
    "Arm",
    "Candidates",
    "Query",
    "Search",
    "Weights",
    "named_speakers",
    "scaled",
    "search",
    "shares",
]

TOP = 50  # of each arm


def search(
    state: IndexState, query: Query, top: int = TOP, extra: Sequence[bytes] = ()
) -> Candidates:
    """Search a state once, see `Search`."""
    return Search(state, query).found(top, extra)


class _Top(NamedTuple):
    """What the arms propose, a part each, with the cosines, and what becomes of it.

    `places` are those of the candidates among the rows, parts concatenated.
    """

    rows: list[Rows]
    cosine: Floats | None
    found: Candidates
    places: NDArray[np.int64]


class Search:
    """One question to one state.

    What the arms have found is kept, so that asking again with further candidates costs little.

    Args:
        state: the index at one revision.
        query: see `Query`.
    """

    def __init__(self, state: IndexState, query: Query) -> None:
        self._state = state
        self._parts = parts = state.parts
        asked = query
        self._query = query = _respelt(state, asked)
        fits = query.vector is not None and state.dim == len(query.vector)
        self._vector = query.vector if fits else None
        self._allowed = [let_through(p, d, query) for p, d in zip(parts, state.dead, strict=True)]
        self._size = sum(
            p.n if ok is None else int(np.count_nonzero(ok))
            for p, ok in zip(parts, self._allowed, strict=True)
        )
        words = self._words("window")
        self._text, self._window = self._words("text").scores, words.scores
        self._whole = words.whole * _stretch(asked, query)
        self._overlap = time_scores(parts, query)
        self._standing = [part.text.rows_with(STANDING) for part in parts]
        self._tops: dict[int, _Top] = {}

    def found(self, top: int = TOP, extra: Sequence[bytes] = ()) -> Candidates:
        """Return what is found.

        Args:
            top: how many each arm proposes.
            extra: units that are candidates as well, where the filters let them through.

        Returns:
            Every candidate of any arm, by score descending, then by id; what a guard holds back or
            brings forward stands elsewhere.
        """
        if not self._parts:
            return _NONE
        known = self._top(top)
        more = self._missing(known, extra) if extra else []
        if not any(map(len, more)):
            return known.found
        return self._fused(*self._with(known, more)).found

    def scored(self, wanted: Sequence[bytes], top: int = TOP) -> Candidates:
        """Return some units as candidates, scored among all that is found, best first.

        As `found` with these as `extra` scores them, without doing its work again; those that it
        would not have found come last where order counts.
        """
        if not self._parts or not wanted:
            return _NONE
        known = self._top(top)
        more = self._missing(known, wanted)
        by_id = id_order(self._parts, more)
        cosine = None
        if known.cosine is not None and self._vector is not None:
            cosine, _ = self._cosines(more, self._vector)
        every = Candidates(
            np.concatenate([known.found.ids, ids(self._parts, more)[by_id]]),
            np.empty(0),
            np.concatenate([known.found.arms, self._arms(more, cosine, by_id)], axis=1),
            size=self._size,
        )
        every = replace(every, score=summed(shares(every.arms, self._query.weights)))
        if self._query.calibration is not None:
            every = self._calibrated(every, *_appended(known, more, by_id))
        asked = dict.fromkeys(wanted)
        places = joined([np.flatnonzero(every.ids == unit_id) for unit_id in asked])
        order = np.lexsort((every.ids[places], -every.score[places]))
        return every.taken(places[order])

    def _top(self, top: int) -> _Top:
        known = self._tops.get(top)
        if known is None:
            known = self._tops[top] = self._fused(*self._proposed(top))
        return known

    def _missing(self, known: _Top, wanted: Sequence[bytes]) -> list[Rows]:
        """Return the rows of units that are no candidates yet, a part each, rising."""
        rows = rows_of(self._parts, self._allowed, wanted)
        return [absent(mine, there) for mine, there in zip(rows, known.rows, strict=True)]

    def _words(self, field: Literal["text", "window"]) -> Matched:
        state, query = self._state, self._query
        return bm25(self._parts, state.dead, state.live, query.terms, field, query.term_weights)

    def _proposed(self, top: int) -> tuple[list[Rows], Floats | None]:
        """Return the rows that any arm proposes, a part each, rising, and their cosines.

        The cosines are (n, SLOTS), parts concatenated; None without a vector.
        """
        parts, allowed = self._parts, self._allowed
        proposals = [best(self._text, allowed, top), best(self._window, allowed, top)]
        if self._overlap is not None:
            proposals.append(time_top(parts, allowed, self._overlap, top))
        if any(map(len, self._standing)):
            proposals.append(standing_top(self._state, allowed, self._standing, self._vector))
        if self._vector is None:
            return united(parts, proposals), None
        return self._with_vector_tops(proposals, self._vector, top)

    def _with_vector_tops(
        self, proposals: Sequence[Sequence[Rows]], vector: Floats, top: int
    ) -> tuple[list[Rows], Floats]:
        """Add the rows of the highest cosines of each slot.

        Everything that another arm proposes is compared exactly too, at the same time.
        """
        parts = self._parts
        embedded = [with_vector(p, ok) for p, ok in zip(parts, self._allowed, strict=True)]
        bits = sign_bits(vector[None, :])[0]
        near = nearest(parts, embedded, BOTH, bits, count=max(RESCORED, top))
        compared = united(parts, [*proposals, near])
        cosine, has = self._cosines(compared, vector)
        taken = chosen(parts, compared, proposals)
        place = int(np.count_nonzero(has)) - top
        if place <= 0:
            taken |= has
        else:
            # Ties at the edge are all taken, so that the answer does not depend on how rows are
            # spread. Slot by slot: numpy is slow along so short an axis.
            for mine in cosine.T:
                taken |= mine >= np.partition(mine[has], place)[place]
        return split(compared, taken), cosine[taken]

    def _cosines(self, rows: Sequence[Rows], vector: Floats) -> tuple[Floats, Mask]:
        """Return the cosines of rows, NaN where there is no vector, and which have one."""
        cosine = cosines(self._parts, rows, vector)
        has = joined([p.columns.embedded[r] for p, r in zip(self._parts, rows, strict=True)])
        if not has.all():
            cosine[~has] = np.nan
        return cosine, has

    def _with(self, known: _Top, more: Sequence[Rows]) -> tuple[list[Rows], Floats | None]:
        """Return the rows that are known, and their cosines, with more rows among them."""
        rows, at = _inserted(known, more)
        if known.cosine is None or self._vector is None:
            return rows, None
        cosine, _ = self._cosines(more, self._vector)
        return rows, np.insert(known.cosine, at, cosine, axis=0)

    def _fused(self, union: list[Rows], cosine: Floats | None) -> _Top:
        """Score the union by every arm and add up.

        Rows are put in id order first, so that ties fall the same way however they are spread.
        """
        parts, place = self._parts, id_order(self._parts, union)
        arms = self._arms(union, cosine, place)
        parts_of_score = shares(arms, self._query.weights)
        score = summed(parts_of_score)
        order = np.argsort(-score, kind="stable")
        if cosine is not None:
            order = _spread_out(parts, union, place, order)
        order = guarded(order, parts_of_score)
        places = place[order]
        found = Candidates(ids(parts, union)[places], score[order], arms[:, order], size=self._size)
        return _Top(union, cosine, self._calibrated(found, union, places), places)

    def _arms(
        self, union: Sequence[Rows], cosine: Floats | None, place: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return what each arm says of rows, in the order of their places."""
        parts, query = self._parts, self._query
        arms = np.zeros((len(Arm), len(place)))

        def fill(arm: Arm, values: Sequence[NDArray[np.generic]]) -> None:
            arms[arm] = joined([v[r] for v, r in zip(values, union, strict=True)])[place]

        fill(Arm.TEXT, self._text)
        fill(Arm.WINDOW, self._window)
        arms[Arm.VECTOR : SCALED] = np.nan if cosine is None else cosine[place].T
        named = named_speakers(set(query.words), speakers_of(parts))
        if named:
            said = [said_by(p, r, named) for p, r in zip(parts, union, strict=True)]
            arms[Arm.SPEAKER] = joined(said)[place]
        if query.role:
            fill(Arm.ROLE, [p.columns.role for p in parts])
            arms[Arm.ROLE] = arms[Arm.ROLE] == int(query.role)
        if self._overlap is not None:
            fill(Arm.TIME, self._overlap)
        if any(map(len, self._standing)):
            always = [among(r, s) for r, s in zip(union, self._standing, strict=True)]
            arms[Arm.STANDING] = joined(always)[place]
        fill(Arm.LENGTH, [p.columns.length for p in parts])
        said = np.log1p(arms[Arm.LENGTH]) / math.log1p(FULL)
        # What holds always is short by its nature.
        arms[Arm.LENGTH] = np.where(arms[Arm.STANDING] > 0, 1.0, np.minimum(said, 1.0))
        return arms

    def _calibrated(
        self, found: Candidates, union: Sequence[Rows], order: NDArray[np.int64]
    ) -> Candidates:
        """Add how likely it is that the candidates answer: rows of `union` in some `order`."""
        state, query, arms = self._state, self._query, found.arms
        calibration = query.calibration
        if calibration is None:
            return found
        embedded = self._vector is not None
        seen = features(
            cosine=np.fmax(arms[Arm.VECTOR], arms[Arm.WINDOW_VECTOR]) if embedded else None,
            window=arms[Arm.WINDOW],
            speaker=arms[Arm.SPEAKER],
            role=arms[Arm.ROLE],
            time=arms[Arm.TIME],
            length=arms[Arm.LENGTH],
            words=wording(state.parts, state.dead, state.live, query.telling, union, order),
            whole=self._whole,
            size=found.size,
        )
        known = calibration.knows(seen, found.size) if len(found.ids) else 0.0
        return replace(
            found, known=known, relevance=known * calibration.relevant(seen.relevant), features=seen
        )


_NONE = Candidates(np.empty(0, dtype="S16"), np.empty(0), np.empty((len(Arm), 0)))


def _inserted(known: _Top, more: Sequence[Rows]) -> tuple[list[Rows], NDArray[np.int64]]:
    """Return known rows with more among them, and before which old place each of these stands."""
    places = [np.searchsorted(old, new) for old, new in zip(known.rows, more, strict=True)]
    rows = [np.insert(*each) for each in zip(known.rows, places, more, strict=True)]
    starts = np.cumsum([0, *map(len, known.rows)])
    return rows, joined([start + at for start, at in zip(starts, places, strict=False)])


def _appended(
    known: _Top, more: Sequence[Rows], by_id: NDArray[np.int64]
) -> tuple[list[Rows], NDArray[np.int64]]:
    """Return known rows with more among them, and the places of all, the new ones last."""
    rows, at = _inserted(known, more)
    old = known.places + np.searchsorted(at, known.places, side="right")
    new = at + np.arange(len(at))
    return rows, np.concatenate([old, new[by_id]])


def _stretch(asked: Query, meant: Query) -> float:
    """Return how many times as much a question's words count as they are asked."""
    if asked.terms == meant.terms:
        return 1.0
    return _weight(asked) / _weight(meant)


def _weight(query: Query) -> float:
    weights = query.term_weights or {}
    return sum(weights.get(term, 1.0) for term in dict.fromkeys(query.terms))


def _respelt(state: IndexState, query: Query) -> Query:
    """Return a query with what its mistyped words were to be."""
    if query.neighbours is None or not query.doubtful:
        return query
    meant = respelt(state.parts, state.dead, query.doubtful, query.neighbours)
    if not meant:
        return query
    told = told_with()
    counts = {t: TOLD if query.doubtful[t] in told else RESPELT for t in meant}
    weights = dict(query.term_weights or {}) | {meant[t]: count for t, count in counts.items()}
    telling = {
        meant.get(t, t): worth * (TOLD if counts.get(t) == TOLD else 1.0)
        for t, worth in query.telling.items()
    }
    terms = [meant.get(term, term) for term in query.terms]
    return replace(query, terms=terms, term_weights=weights, telling=telling)


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
