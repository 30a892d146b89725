"""What the words of a question tell of each candidate: which it has, and which others have too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .part import Mask, Part

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Wording:
    """What words tell; a word's worth is how telling it is times how rare in the bank, 0 to 1.

    `rare` is the worth of the most telling word that any candidate has, `missing` how telling the
    most telling one is that none has.

    Of each candidate (n,): `behind` is how far the worth of its words falls behind the best one's,
    as a share of the question's (0 or below), `novel` the worth of the best word that none before
    it has, `exclusive` the sum of how telling its words are, each shared among all rows of the bank
    that have it.
    """

    rare: float
    missing: float
    behind: Values
    novel: Values
    exclusive: Values


def wording(
    parts: Sequence[Part],
    dead: Sequence[Mask | None],
    live: int,
    telling: Mapping[int, float],
    candidates: Sequence[NDArray[np.int64]],
    order: NDArray[np.int64],
) -> Wording:
    """Return what a question's words tell.

    Args:
        parts, dead, live: the index, see `keyword.bm25`.
        telling: how telling each term of the question is.
        candidates: rows of each part, rising.
        order: places among these, parts concatenated, best first.
    """
    n = len(order)
    none = np.zeros(n)
    if not n or not telling:
        return Wording(0.0, 0.0, none, none, none)
    has, frequency = _matches(parts, dead, list(telling), candidates)
    has = has[:, order]
    weight = np.array(list(telling.values()))
    held = has.any(axis=1)
    missing = float(weight[~held].max(initial=0.0))
    worth = weight * _rarity(frequency, live)
    said = _sum(worth, has)
    # What a word is worth is counted for the first that has it, the best candidate.
    novel = np.zeros(n)
    np.maximum.at(novel, has.argmax(axis=1)[held], worth[held])
    return Wording(
        float(worth[held].max(initial=0.0)),
        missing,
        (said - said.max()) / float(worth.sum()),
        novel,
        _sum(weight / np.maximum(frequency, 1), has),
    )


def _matches(
    parts: Sequence[Part],
    dead: Sequence[Mask | None],
    terms: Sequence[int],
    candidates: Sequence[NDArray[np.int64]],
) -> tuple[Mask, NDArray[np.int64]]:
    """Return which candidates (terms, n) have which terms, and how many live rows have each."""
    wanted = np.array(terms, dtype=np.uint64)
    frequency = np.zeros(len(terms), dtype=np.int64)
    found = []
    for part, gone, rows in zip(parts, dead, candidates, strict=True):
        has = np.zeros((len(terms), len(rows)), dtype=bool)
        wanted_rows = rows.astype(np.int32)  # as postings have them
        for number, where in enumerate(part.text.find(wanted)):
            docs = part.text.docs[where]
            if not len(docs):
                continue
            frequency[number] += len(docs) if gone is None else np.count_nonzero(~gone[docs])
            at = np.searchsorted(docs, wanted_rows)
            has[number] = docs.take(at, mode="clip") == wanted_rows
        found.append(has)
    return np.concatenate(found, axis=1), frequency


def _rarity(frequency: NDArray[np.int64], live: int) -> Values:
    """Return the inverse document frequency as a share of that of a word in one row."""
    seen = np.maximum(frequency, 1)
    most = math.log(1 + (live - 0.5) / 1.5)
    if most <= 0:
        return np.ones(len(seen))
    rarity: Values = np.log(1 + (np.maximum(live - seen, 0) + 0.5) / (seen + 0.5)) / most
    return rarity


def _sum(weights: Values, has: Mask) -> Values:
    """Return the sum of the weights of each column's terms, term by term.

    A product of matrices may give other last bits for other widths.
    """
    total = np.zeros(has.shape[1])
    for weight, row in zip(weights.tolist(), has, strict=True):
        total += weight * row
    return total
