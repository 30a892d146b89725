"""Finds what a mistyped word of a question was to be: a word of the bank that is one slip away.

Only words that neither the bank nor a list of English words has are looked at, so a rightly spelt
word never stands for another one. The index holds no words, only their hashes, so the neighbours of
the question's word are made and looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .part import Mask, Part

Neighbours = Callable[[str], NDArray[np.uint64]]

RESPELT = 0.8  # weight of a word that was found so
_MOST = 4  # words of a question


def respelt(
    parts: Sequence[Part],
    dead: Sequence[Mask | None],
    doubtful: Mapping[int, str],
    neighbours: Neighbours,
) -> dict[int, int]:
    """Return terms of a question that stand for terms that the bank has.

    Args:
        parts, dead: the index's parts and their dead rows.
        doubtful: the terms that may be mistyped, and their words.
        neighbours: returns the terms one slip away from a word, rising.

    Returns:
        for each term that no live row has the neighbour that most rows have, if any.
    """
    found: dict[int, int] = {}
    held = _frequencies(parts, dead, np.fromiter(doubtful, np.uint64, len(doubtful))).tolist()
    absent = [term for term, count in zip(doubtful, held, strict=True) if not count]
    for term in absent[:_MOST]:
        near = neighbours(doubtful[term])
        counts = _frequencies(parts, dead, near)
        if counts.any():
            found[term] = int(near[counts.argmax()])
    return found


def _frequencies(
    parts: Sequence[Part], dead: Sequence[Mask | None], terms: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return how many live rows have each term."""
    counts = np.zeros(len(terms), dtype=np.int64)
    for part, gone in zip(parts, dead, strict=True):
        for number, where in enumerate(part.text.find(terms)):
            if where.start == where.stop:
                continue
            docs = part.text.docs[where]
            counts[number] += len(docs) if gone is None else np.count_nonzero(~gone[docs])
    return counts
