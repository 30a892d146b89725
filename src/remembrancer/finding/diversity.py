"""Keeps near-duplicates from crowding an answer: two of those that are all but the same stay ahead.

As maximal marginal relevance does it (Carbonell and Goldstein 1998), but with a threshold instead
of a trade-off: what is only alike keeps its place. On chats, a threshold on the cosine below .96
lost more answers than it made room for; from .97 on it loses none. Two may stay, so that a value
and what it was changed to are seen together; texts that are equal are left to the fold of those
that say the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .part import OWN, Part
from .scan import Rows, joined

LOOKED_AT = 40  # candidates, best first
NEAR = 0.97  # cosine from which on texts are all but the same
EQUAL = 0.9995
STAY = 2
_ALONE = 1 << 18  # multiplications up to which OpenBLAS keeps to one thread


def spread(codes: NDArray[np.int8]) -> list[int]:
    """Return the places of candidates with the crowding ones last, else in order.

    Args:
        codes: (n, dim) int8 vectors of the candidates, best first; rows of zeros crowd nobody.
    """
    n = len(codes)
    values = codes.astype(np.float32)
    products = np.round(_products(values))
    lengths = np.sqrt(np.diagonal(products))
    lengths[lengths == 0] = np.inf
    cosine = products / lengths[:, None] / lengths
    alike = (cosine >= NEAR) & (cosine < EQUAL)
    if not alike.any() or np.count_nonzero(alike, axis=1).max() < STAY:
        return list(range(n))  # as most often
    kept: list[int] = []
    late: list[int] = []
    for place in range(n):
        crowded = int(alike[place, kept].sum()) >= STAY if kept else False
        (late if crowded else kept).append(place)
    return kept + late


def _products(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the dot products (n, n) of vectors of whole numbers from -127 to 127.

    Their sums stay below 2^24 up to 1,040 components, so they are exact, and beyond that as good as
    exact, in whatever order they are added. In pieces that one thread multiplies alone: where a
    product is shared, threads wait for each other longer than it takes.
    """
    size = max(1, _ALONE // max(1, values.size))
    pieces = [values[at : at + size] @ values.T for at in range(0, len(values), size)]
    return np.concatenate(pieces) if pieces else np.zeros((0, 0), np.float32)


def own_codes(parts: Sequence[Part], rows: Sequence[Rows]) -> NDArray[np.int8]:
    """Return the own vectors (n, dim) of rows, parts concatenated."""
    found: NDArray[np.int8] = joined([p.codes[r, OWN] for p, r in zip(parts, rows, strict=True)])
    return found
