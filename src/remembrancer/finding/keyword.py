"""The keyword arm: BM25 over one bank, with that bank's own document frequencies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .part import Mask, Part

_GROUP = 64
Field = Literal["text", "window"]
Scores = NDArray[np.float32]


def bm25(
    parts: Sequence[Part],
    dead: Sequence[Mask | None],
    live: int,
    terms: Sequence[int],
    field: Field,
) -> list[Scores]:
    """Score every row of every part; rows without any of the terms score 0.

    Args:
        parts, dead: the index's parts and their dead rows, which count for nothing.
        live: number of rows alive, for the inverse document frequency
            ln(1 + (N - df + .5) / (df + .5)) (as in Lucene: never negative).
        terms: hashed query terms; repeats count once.
        field: the text alone, or the text with its short predecessors.

    Returns:
        float32 scores, one array a part.
    """
    wanted = np.array(list(dict.fromkeys(terms)), dtype=np.uint64)
    postings = [part.text if field == "text" else part.window for part in parts]
    ranges = [p.find(wanted) for p in postings]
    scores = [np.zeros(part.n, dtype=np.float32) for part in parts]
    for number in range(len(wanted)):
        found = [
            (p.docs[r[number]], p.weights[r[number]]) for p, r in zip(postings, ranges, strict=True)
        ]
        frequency = sum(
            len(docs) - (int(gone[docs].sum()) if gone is not None else 0)
            for (docs, _), gone in zip(found, dead, strict=True)
        )
        if frequency == 0:
            continue
        idf = np.float32(math.log(1 + (live - frequency + 0.5) / (frequency + 0.5)))
        for score, (docs, weights) in zip(scores, found, strict=True):
            score[docs] += weights * idf  # a term's docs are distinct
    return scores


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
    tiny = float(np.finfo(np.float32).tiny)
    if len(tops) <= count:
        return tiny
    return max(tiny, float(np.partition(tops, len(tops) - count)[-count]))
