"""The vector arm: Hamming scan over sign bits, then exact int8 re-scoring of the nearest.

Measured on bge-small vectors (18,000 texts, 400 questions): re-scoring the 1,000 nearest by sign
bits keeps 99 % of the exact top 50. It needs no training, and a filter is a mask.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .part import Mask, Part

RESCORED = 1_000
# Large banks are scanned by the first half of the bits; this many times RESCORED go on to the rest.
_FIRST_PASS = 8
_FIRST_PASS_ROWS = 20_000
_BLOCK = 65_536  # rows a pass: the working set stays in cache
_SAMPLE = 64  # every which row the first guess at a limit looks at
_GROUP = 3  # words whose ones fit in a byte: 3 * 64 < 256

Floats = NDArray[np.float32]
Distances = NDArray[np.uint16]
Rows = NDArray[np.int64]
Bits = NDArray[np.uint64]


def hamming(bits: Bits, query: Bits) -> Distances:
    """Return the Hamming distance of each column of (words, n) `bits` to `query` (words,)."""
    words, n = bits.shape
    out = np.zeros(n, dtype=np.uint16)
    size = min(n, _BLOCK)
    mixed = np.empty(size, dtype=np.uint64)
    ones = np.empty(size, dtype=np.uint8)
    group = np.empty(size, dtype=np.uint8)
    for start in range(0, n, _BLOCK):
        end = min(n, start + _BLOCK)
        m = end - start
        for word in range(words):
            np.bitwise_xor(bits[word, start:end], query[word], out=mixed[:m])
            if word % _GROUP == 0:
                np.bitwise_count(mixed[:m], out=group[:m])
            else:
                np.bitwise_count(mixed[:m], out=ones[:m])
                np.add(group[:m], ones[:m], out=group[:m])
            if word % _GROUP == _GROUP - 1 or word == words - 1:
                np.add(out[start:end], group[:m], out=out[start:end])
    return out


def nearest(
    parts: Sequence[Part],
    allowed: Sequence[Mask | None],
    slot: int,
    query: Bits,
    live: int,
    *,
    count: int = RESCORED,
) -> list[Rows]:
    """Return, a part each, the allowed rows nearest to a query by sign bits.

    `allowed` holds a mask a part, None for all. All rows at the distance of the `count`-th are
    taken, and the number of passes depends on `live` (rows alive in all parts) alone, so the
    answer does not depend on how rows are spread.
    """
    bits = [part.bits[slot] for part in parts]
    if live <= max(count, _FIRST_PASS_ROWS):
        rows = [
            np.arange(part.n) if ok is None else np.flatnonzero(ok)
            for part, ok in zip(parts, allowed, strict=True)
        ]
        return _within(bits, rows, query, count)
    half = len(query) // 2 or 1
    far = np.uint16(half * 64 + 1)
    first = [hamming(b[:half], query[:half]) for b in bits]
    for d, ok in zip(first, allowed, strict=True):
        if ok is not None:
            d[~ok] = far
    limit = _limit(first, int(far) - 1, count * _FIRST_PASS)
    rows = [np.flatnonzero(d <= limit) for d in first]
    rest = [
        d[r] + hamming(b[half:].take(r, axis=1), query[half:])
        for b, d, r in zip(bits, first, rows, strict=True)
    ]
    limit = _limit(rest, query.size * 64, count)
    return [r[d <= limit] for r, d in zip(rows, rest, strict=True)]


def cosines(
    parts: Sequence[Part], rows: Sequence[Rows], order: Rows, slot: int, vector: Floats
) -> Floats:
    """Return the dot products of rows' vectors with a vector (dim,).

    `order` permutes the rows of all parts, concatenated, before the product: the same rows in the
    same order give the same last bits, however they are spread over parts.
    """
    codes = [part.codes[slot].take(r, axis=0) for part, r in zip(parts, rows, strict=True)]
    scales = [part.scales[slot, r] for part, r in zip(parts, rows, strict=True)]
    products = np.concatenate(codes)[order].astype(np.float32) @ vector
    result: Floats = products * np.concatenate(scales)[order]
    return result


def _within(bits: Sequence[Bits], rows: Sequence[Rows], query: Bits, count: int) -> list[Rows]:
    """Return those of `rows` within the distance of the `count`-th nearest."""
    if sum(len(r) for r in rows) <= count:
        return list(rows)
    distances = [
        hamming(b if len(r) == b.shape[1] else b.take(r, axis=1), query)
        for b, r in zip(bits, rows, strict=True)
    ]
    limit = _limit(distances, query.size * 64, count)
    return [r[d <= limit] for r, d in zip(rows, distances, strict=True)]


def _limit(distances: Sequence[Distances], highest: int, count: int) -> int:
    """Return the smallest distance that `count` rows are within (or `highest`).

    A sample tells where to look first; counting decides.
    """

    def within(limit: int) -> bool:
        return sum(int(np.count_nonzero(d <= limit)) for d in distances) >= count

    total = sum(len(d) for d in distances)
    if total <= count:
        return highest
    sample = np.sort(np.concatenate([d[::_SAMPLE] for d in distances]))
    guess = min(highest, int(sample[len(sample) * count // total]))
    if within(guess):
        while guess > 0 and within(guess - 1):
            guess -= 1
        return guess
    while guess < highest and not within(guess):
        guess += 1
    return guess
