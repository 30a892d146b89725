"""The keyword arm: BM25 over one bank, with that bank's own document frequencies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .part import Mask, Part, Postings

_GROUP = 64
_TINY = float(np.finfo(np.float32).tiny)
Field = Literal["text", "window"]
Scores = NDArray[np.float32]


class Matched(NamedTuple):
    """How rows match a question's words.

    `scores` are those of every row, an array a part. `whole` is the score of a row of pivot length
    that says every term once: terms that no row has count as the rarest do, so a share of it tells
    how much of a question stands in a text.
    """

    scores: list[Scores]
    whole: float


def bm25(
    parts: Sequence[Part],
    dead: Sequence[Mask | None],
    live: int,
    terms: Sequence[int],
    field: Field,
    weights: Mapping[int, float] | None = None,
) -> Matched:
    """Score every row of every part; rows without any of the terms score 0.

    Args:
        parts, dead: the index's parts and their dead rows, which count for nothing.
        live: number of rows alive, for the inverse document frequency
            ln(1 + (N - df + .5) / (df + .5)) (as in Lucene: never negative).
        terms: hashed query terms; repeats count once.
        field: the text alone, or the text with its short predecessors.
        weights: how much each term counts; 1 when it is not named.
    """
    distinct = list(dict.fromkeys(terms))
    postings = _postings(parts, field)
    ranges = _ranges(postings, distinct)
    scores = [np.zeros(part.n, dtype=np.float32) for part in parts]
    whole = 0.0
    first = True
    for number, term in enumerate(distinct):
        # Indices of numpy's own width: others are widened anew at each use.
        found = [
            (p.docs[r[number]].astype(np.intp), p.weights[r[number]])
            for p, r in zip(postings, ranges, strict=True)
        ]
        frequency = _frequency([docs for docs, _ in found], dead)
        worth = _idf(live, frequency) * (weights.get(term, 1.0) if weights else 1.0)
        whole += worth
        if frequency == 0:
            continue
        idf = np.float32(worth)
        for score, (docs, impacts) in zip(scores, found, strict=True):
            if first:  # nothing to add to yet, which halves the work of a common word
                score[docs] = impacts * idf
            else:
                np.add.at(score, docs, impacts * idf)  # a third of the time of score[docs] +=
        first = False
    return Matched(scores, whole)


def _postings(parts: Sequence[Part], field: Field) -> list[Postings]:
    return [part.text if field == "text" else part.window for part in parts]


def _ranges(postings: Sequence[Postings], terms: Sequence[int]) -> list[list[slice]]:
    wanted = np.array(terms, dtype=np.uint64)
    return [p.find(wanted) for p in postings]


def _frequency(docs: Sequence[NDArray[np.signedinteger]], dead: Sequence[Mask | None]) -> int:
    """Return how many live rows have a term, by its rows in each part."""
    return sum(
        len(mine) - (int(np.count_nonzero(gone[mine])) if gone is not None else 0)
        for mine, gone in zip(docs, dead, strict=True)
    )


def _idf(live: int, frequency: int) -> float:
    return math.log(1 + (live - frequency + 0.5) / (frequency + 0.5))


def best(
    scores: Sequence[Scores], allowed: Sequence[Mask | None], count: int
) -> list[NDArray[np.int64]]:
    """Return, a part each, the allowed rows whose score is among the `count` best and above 0.

    `allowed` holds a mask a part, None for all. Ties at the edge are all taken, so the answer does
    not depend on how rows are spread.
    """
    masked = [s if ok is None else s * ok for s, ok in zip(scores, allowed, strict=True)]
    floor = _floor(masked, count)
    rows = [np.flatnonzero(m >= floor) for m in masked]
    high = np.concatenate([m[r] for m, r in zip(masked, rows, strict=True)])
    if len(high) <= count:
        return rows
    edge = np.partition(high, len(high) - count)[-count]
    return [r[m[r] >= edge] for m, r in zip(masked, rows, strict=True)]


def _floor(scores: Sequence[Scores], count: int) -> float:
    """Return a positive bound that at least `count` scores reach, when that many are above 0.

    It is the `count`-th largest maximum of groups of 64: cheaper than selecting among all scores.
    """
    maxima = []
    for s in scores:
        whole = len(s) // _GROUP * _GROUP
        maxima += [s[:whole].reshape(_GROUP, -1).max(axis=0), s[whole:]]
    tops = np.concatenate(maxima)
    if len(tops) <= count:
        return _TINY
    return max(_TINY, float(np.partition(tops, len(tops) - count)[-count]))
