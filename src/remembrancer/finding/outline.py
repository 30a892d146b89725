"""The outline of many small banks: their vectors side by side, to tell which banks to ask.

It is a hint, never an answer: banks that it puts first are searched by their own indexes. As in
`scan`, sign bits say which vectors are near, and the int8 codes of these how near.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .part import sign_bits
from .scan import Bits, Floats, hamming

RESCORED = 4_000
"""Vectors whose codes are compared."""

_MOST_PARTS = 8  # made by changes, then merged into one
_BANK_BYTES = 200  # of a bank beside its vectors: entries of two tables
_FAR = np.uint16(60_000)  # of rows that do not count; more than there are bits


class BankVector(NamedTuple):
    """A vector of a bank: the bank's key, int8 components, and what these are multiplied by."""

    key: int
    codes: bytes
    scale: float


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows of some banks; those of banks that were told anew since are dead."""

    keys: NDArray[np.int64]
    codes: NDArray[np.int8]
    scales: Floats
    bits: Bits  # (words, n)
    alive: NDArray[np.bool_]


class Outline:
    """Vectors of `dim` components by bank; used by one thread at a time."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._revisions: dict[int, int] = {}
        self._parts: list[_Part] = []

    @property
    def memory_bytes(self) -> int:
        """Bytes held."""
        rows = sum(len(part.keys) for part in self._parts)
        return rows * bytes_of(self._dim) + len(self._revisions) * _BANK_BYTES

    def stale(self, revisions: Mapping[int, int]) -> list[int]:
        """Return which banks are not told of as of these revisions; forget all others."""
        told = self._revisions
        self._bury(told.keys() - revisions.keys())
        return [key for key, revision in revisions.items() if told.get(key) != revision]

    def put(self, revisions: Mapping[int, int], vectors: Iterable[BankVector]) -> None:
        """Tell of banks as of a revision; a vector of another dimension is left out."""
        self._bury(revisions.keys() & self._revisions.keys())
        self._revisions.update(revisions)
        rows = [each for each in vectors if len(each.codes) == self._dim]
        if rows:
            self._parts.append(_part(rows, self._dim))
        if len(self._parts) > _MOST_PARTS:
            self._parts = [_merged(self._parts)]

    def nearest(self, vector: Floats, only: Collection[int] | None = None) -> dict[int, float]:
        """Return the banks of the `RESCORED` nearest vectors, each with its highest cosine.

        Args:
            vector: of unit length.
            only: keys of the banks that count; None: all.
        """
        bits = sign_bits(vector[None, :])[0]
        wanted = None if only is None else np.fromiter(only, np.int64)
        far = [_distances(part, bits, wanted) for part in self._parts]
        if not far:
            return {}
        every = np.concatenate(far)
        limit = _FAR - 1
        if len(every) > RESCORED:
            limit = min(limit, np.partition(every, RESCORED - 1)[RESCORED - 1])
        best: dict[int, float] = {}
        for part, distances in zip(self._parts, far, strict=True):
            rows = np.flatnonzero(distances <= limit)
            cosines = np.vecdot(part.codes[rows].astype(np.float32), vector) * part.scales[rows]
            for key, cosine in zip(part.keys[rows].tolist(), cosines.tolist(), strict=True):
                if cosine > best.get(key, -2.0):
                    best[key] = cosine
        return best

    def _bury(self, keys: Collection[int]) -> None:
        """Take banks out; their rows go when half of a part is dead, or with the next merge."""
        if not keys:
            return
        for key in keys:
            del self._revisions[key]
        gone = np.fromiter(keys, np.int64)
        for part in self._parts:
            part.alive[np.isin(part.keys, gone)] = False
            # What was forgotten leaves nothing.
            part.codes[~part.alive] = 0
            part.bits[:, ~part.alive] = 0
        if any(2 * int(part.alive.sum()) <= len(part.alive) for part in self._parts):
            self._parts = [_merged(self._parts)] if self._revisions else []


def bytes_of(dim: int) -> int:
    """Return the bytes that a vector takes: codes, sign bits, key, scale, a flag."""
    return dim + -(-dim // 64) * 8 + 13


def _part(rows: Sequence[BankVector], dim: int) -> _Part:
    codes = np.frombuffer(b"".join(row.codes for row in rows), np.int8).reshape(-1, dim).copy()
    return _Part(
        np.array([row.key for row in rows], np.int64),
        codes,
        np.array([row.scale for row in rows], np.float32),
        np.ascontiguousarray(sign_bits(codes).T),
        np.ones(len(rows), dtype=bool),
    )


def _merged(parts: Sequence[_Part]) -> _Part:
    return _Part(
        np.concatenate([p.keys[p.alive] for p in parts]),
        np.concatenate([p.codes[p.alive] for p in parts]),
        np.concatenate([p.scales[p.alive] for p in parts]),
        np.ascontiguousarray(np.concatenate([p.bits[:, p.alive] for p in parts], axis=1)),
        np.ones(sum(int(p.alive.sum()) for p in parts), dtype=bool),
    )


def _distances(part: _Part, bits: Bits, wanted: NDArray[np.int64] | None) -> NDArray[np.uint16]:
    far = hamming(part.bits, bits).astype(np.uint16)
    counts = part.alive if wanted is None else part.alive & np.isin(part.keys, wanted)
    far[~counts] = _FAR
    return far
