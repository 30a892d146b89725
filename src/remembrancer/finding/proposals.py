"""Which rows of an index each arm proposes as candidates, a part each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .part import NO_TIME, Mask, Part
from .query import Query
from .scan import Floats, Rows, cosines, joined
from .state import IndexState
from .tagging import tag_mask

STANDING_TOP = 10  # of what holds always


def standing_top(
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
    place = id_order(parts, rows)
    chosen = np.zeros(len(place), dtype=bool)
    chosen[place[np.argsort(-worth[place], kind="stable")[:STANDING_TOP]]] = True
    return split(rows, chosen)


def united(parts: Sequence[Part], proposals: Sequence[Sequence[Rows]]) -> list[Rows]:
    """Return the rows that any arm proposes, a part each, rising."""
    return [_merged(rows) for _, *rows in zip(parts, *proposals, strict=True)]


def _merged(proposals: Sequence[Rows]) -> Rows:
    """Return rows once each, rising. They are few: quicker sorted than marked among all."""
    rows = np.sort(np.concatenate(proposals))
    first = np.ones(len(rows), dtype=bool)
    np.not_equal(rows[1:], rows[:-1], out=first[1:])
    return rows[first]


def marked(n: int, proposals: Sequence[Rows]) -> Mask:
    """Return a mask of `n` rows with those that are proposed."""
    mask = np.zeros(n, dtype=bool)
    for rows in proposals:
        mask[rows] = True
    return mask


def let_through(part: Part, dead: Mask | None, query: Query) -> Mask | None:
    """Return the rows of a part that are alive and that the filters let through; None: all."""
    masks = []
    if dead is not None:
        masks.append(~dead)
    if query.kinds is not None:
        masks.append(np.isin(part.columns.kind, list(query.kinds)))
    if query.tags is not None:
        masks.append(tag_mask(part, query.tags))
    if query.said_by is not None:
        c = part.columns
        happened = (c.occurred_start != NO_TIME) & (c.occurred_start <= query.said_by)
        masks.append((c.mentioned <= query.said_by) | happened)
    return np.logical_and.reduce(masks) if masks else None


def rows_of(
    parts: Sequence[Part], allowed: Sequence[Mask | None], ids: Sequence[bytes]
) -> list[Rows]:
    """Return the allowed rows of some units, a part each."""
    found = [part.locate(ids) for part in parts]
    return [r if ok is None else r[ok[r]] for r, ok in zip(found, allowed, strict=True)]


def absent(rows: Rows, known: Rows) -> Rows:
    """Return those of some rows, rising, that are not among known ones, which are rising."""
    rows = np.unique(rows)
    found: Rows = rows[~among(rows, known)]
    return found


def among(rows: Rows, known: Rows) -> Mask:
    """Return which of some rows are among known ones, which are rising."""
    if not len(known):
        return np.zeros(len(rows), dtype=bool)
    found: Mask = known.take(np.searchsorted(known, rows), mode="clip") == rows
    return found


def with_vector(part: Part, allowed: Mask | None) -> Mask | None:
    """Return the allowed rows that have a vector; None: all."""
    has = part.columns.embedded
    if has.all():
        return allowed
    return has if allowed is None else has & allowed


def chosen(
    parts: Sequence[Part], rows: Sequence[Rows], proposals: Sequence[Sequence[Rows]]
) -> Mask:
    """Return which of some rows, parts concatenated, are proposed."""
    return joined(
        [marked(part.n, mine)[r] for part, r, *mine in zip(parts, rows, *proposals, strict=True)]
    )


def time_scores(parts: Sequence[Part], query: Query) -> list[NDArray[np.float64]] | None:
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
        score = np.zeros(part.n)
        score[said] = 0.5
        score[happened] = 1.0
        scores.append(score)
    return scores


def time_top(
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
    place = id_order(parts, rows)
    fit = np.concatenate([s[r] for s, r in zip(scores, rows, strict=True)])[place]
    said = np.concatenate([p.columns.mentioned[r] for p, r in zip(parts, rows, strict=True)])[place]
    order = np.lexsort((np.arange(len(place)), -said, -fit))[:top]
    chosen = np.zeros(len(place), dtype=bool)
    chosen[place[order]] = True
    return split(rows, chosen)


def id_order(parts: Sequence[Part], rows: Sequence[Rows]) -> NDArray[np.int64]:
    """Return the permutation that puts rows of several parts, concatenated, in id order."""
    if len(parts) == 1:
        return np.arange(len(rows[0]))
    return np.argsort(ids(parts, rows), kind="stable")


def ids(parts: Sequence[Part], rows: Sequence[Rows]) -> NDArray[np.bytes_]:
    """Return the ids of rows, parts concatenated."""
    if not parts:
        return np.empty(0, dtype="S16")
    return np.concatenate([p.ids[r] for p, r in zip(parts, rows, strict=True)])


def split(rows: Sequence[Rows], chosen: Mask) -> list[Rows]:
    """Cut a mask over concatenated rows back into parts."""
    pieces, start = [], 0
    for r in rows:
        pieces.append(r[chosen[start : start + len(r)]])
        start += len(r)
    return pieces
