"""Which contexts a vector brings up: the cues of one bank in memory, scanned by sign bits.

The bits are those of vectors with their mean taken off, since embeddings of texts lie in a narrow
cone where signs alone tell little. With h of d bits different, the cosine of two centred vectors is
about cos(pi h / d) (Goemans and Williamson 1995), and its error has a deviation below
pi / (2 sqrt(d)). What may reach its threshold within four deviations is compared exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..keeping.intentions import Cue
from ..models.embedder import Floats
from .scan import hamming

THRESHOLD = 0.7
"""The least cosine of a cue that names none."""
REARM = 0.1
"""How far below its threshold a context has to fall before it may come up again."""
ROUNDING = 1e-6
"""What components kept as float32 may take off a cosine."""
EXACT = 4_096
"""Up to so many cues, all are compared exactly."""
_DEVIATIONS = 4.0
_BLOCK = 4_096


class Match(NamedTuple):
    """A cue that is similar enough."""

    intention_id: bytes
    similarity: float


class Matched(NamedTuple):
    """What a vector brings up, and what it tells of contexts that have come up before."""

    matches: list[Match]
    ended: list[bytes]  # not armed, and fallen below
    mismatched: int  # cues of another dimension, which cannot be compared


class Cues:
    """The cues of one bank, by dimension."""

    def __init__(self) -> None:
        self.place = 0  # of the last change taken in
        self._groups: dict[int, _Group] = {}
        self._dims: dict[bytes, int] = {}

    def __len__(self) -> int:
        return sum(len(group) for group in self._groups.values())

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(group.nbytes for group in self._groups.values())

    def ids(self, limit: int) -> list[bytes]:
        """Return up to so many ids of intentions held."""
        return list(islice(self._dims, limit))

    def take(self, changed: Sequence[Cue]) -> None:
        """Take in changes, in the order of their places."""
        latest = {cue.intention_id: cue for cue in changed}
        fresh: dict[int, list[Cue]] = {}
        for cue in latest.values():
            known = self._dims.pop(cue.intention_id, None)
            if known is not None:
                self._groups[known].drop(cue.intention_id)
            dim = len(cue.cue) // 4
            if cue.active and dim:
                fresh.setdefault(dim, []).append(cue)
                self._dims[cue.intention_id] = dim
        for dim, cues in fresh.items():
            self._groups.setdefault(dim, _Group(dim)).add(cues)
        if changed:
            self.place = max(cue.place for cue in changed)

    def match(self, vector: Floats) -> Matched:
        """Compare a vector (dim,) with every cue of its dimension."""
        group = self._groups.get(len(vector))
        mismatched = len(self) - (len(group) if group is not None else 0)
        norm = float(np.linalg.norm(vector.astype(np.float64)))
        if group is None or norm == 0:
            return Matched([], [], mismatched)
        matches, ended = group.match((vector / norm).astype(np.float32))
        return Matched(matches, ended, mismatched)


class _Group:
    """Cues of one dimension, one a row; dropped rows are left behind until half are."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._rows: dict[bytes, int] = {}
        self._ids: list[bytes] = []
        self._vectors: Floats = np.empty((0, dim), dtype=np.float32)
        self._floors: NDArray[np.float64] = np.empty(
            0, dtype=np.float64
        )  # infinite for a dropped row
        self._armed: NDArray[np.bool_] = np.empty(0, dtype=bool)
        self._centre: _Centre | None = None
        self._count = 0

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        centre = self._centre.nbytes if self._centre is not None else 0
        return self._vectors.nbytes + self._floors.nbytes + self._armed.nbytes + centre

    def drop(self, intention_id: bytes) -> None:
        self._floors[self._rows.pop(intention_id)] = np.inf

    def add(self, cues: Sequence[Cue]) -> None:
        vectors = np.stack([np.frombuffer(cue.cue, dtype="<f4") for cue in cues])
        norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
        norms[norms == 0] = np.inf
        vectors = (vectors / norms[:, None]).astype(np.float32)
        floors = [THRESHOLD if c.threshold is None else c.threshold for c in cues]
        armed = [cue.armed for cue in cues]
        if self._count - len(self._rows) > len(self._rows):
            self._compact()
        start, end = self._count, self._count + len(cues)
        self._reserve(end)
        self._vectors[start:end] = vectors
        self._floors[start:end] = floors
        self._armed[start:end] = armed
        self._count = end
        for row, cue in enumerate(cues, start):
            self._ids.append(cue.intention_id)
            self._rows[cue.intention_id] = row
        if self._centre is not None:
            self._centre.add(self._vectors, start, end)

    def match(self, vector: Floats) -> tuple[list[Match], list[bytes]]:
        n = self._count
        floors = self._floors[:n]
        if n <= EXACT:
            rows = np.flatnonzero(floors < np.inf)
        else:
            if self._centre is None or self._centre.outgrown(n):
                self._centre = _Centre(self._vectors[:n])
            rows = np.flatnonzero(self._centre.bound(vector, n) >= floors)
        cosines = self._exact(rows, vector)
        hit = cosines >= floors[rows] - ROUNDING
        hit &= self._armed[rows]
        matches = [
            Match(self._ids[row], float(cosine))
            for row, cosine in zip(rows[hit].tolist(), cosines[hit].tolist(), strict=True)
        ]
        return matches, self._ended(vector)

    def _ended(self, vector: Floats) -> list[bytes]:
        rows = np.flatnonzero(~self._armed[: self._count] & (self._floors[: self._count] < np.inf))
        below = self._exact(rows, vector) < self._floors[rows] - REARM
        return [self._ids[row] for row in rows[below].tolist()]

    def _exact(self, rows: NDArray[np.int64], vector: Floats) -> NDArray[np.float64]:
        wanted = vector.astype(np.float64)
        found = np.empty(len(rows))
        for start in range(0, len(rows), _BLOCK):
            block = self._vectors[rows[start : start + _BLOCK]].astype(np.float64)
            found[start : start + _BLOCK] = block @ wanted
        return found

    def _reserve(self, size: int) -> None:
        if size <= len(self._floors):
            return
        room = max(size, 2 * len(self._floors), 64)
        self._vectors = _grown(self._vectors, (room, self._dim))
        self._floors = _grown(self._floors, (room,))
        self._armed = _grown(self._armed, (room,))

    def _compact(self) -> None:
        rows = np.array(sorted(self._rows.values()), dtype=np.int64)
        self._ids = [self._ids[row] for row in rows.tolist()]
        self._rows = {i: row for row, i in enumerate(self._ids)}
        self._vectors = self._vectors[rows]
        self._floors = self._floors[rows]
        self._armed = self._armed[rows]
        self._count = len(rows)
        self._centre = None


class _Centre:
    """Sign bits of centred vectors, and what turns their distance into a bound of the cosine."""

    def __init__(self, vectors: Floats) -> None:
        self._size = len(vectors)
        self._dim = vectors.shape[1]
        self._mean = vectors.mean(axis=0, dtype=np.float64)
        words = -(-self._dim // 64)
        self._bits: NDArray[np.uint64] = np.empty((words, 0), dtype=np.uint64)
        self._norms: Floats = np.empty(0, dtype=np.float32)
        self._along: Floats = np.empty(0, dtype=np.float32)  # dot product with the mean
        self.add(vectors, 0, len(vectors))

    @property
    def nbytes(self) -> int:
        return self._bits.nbytes + self._norms.nbytes + self._along.nbytes

    def outgrown(self, n: int) -> bool:
        return n > 2 * self._size

    def add(self, vectors: Floats, start: int, end: int) -> None:
        room = len(self._norms)
        if end > room:
            room = max(end, 2 * room)
            self._bits = _grown(self._bits.T, (room, len(self._bits))).T.copy()
            self._norms = _grown(self._norms, (room,))
            self._along = _grown(self._along, (room,))
        for first in range(start, end, _BLOCK):
            last = min(first + _BLOCK, end)
            block = vectors[first:last].astype(np.float64)
            self._along[first:last] = block @ self._mean
            block -= self._mean
            self._norms[first:last] = np.linalg.norm(block, axis=1)
            self._bits[:, first:last] = _signs(block).T

    def bound(self, vector: Floats, n: int) -> NDArray[np.float32]:
        """Return what the cosine of each row with a vector is at most, all but surely."""
        centred = vector.astype(np.float64) - self._mean
        norm = float(np.linalg.norm(centred))
        distance = hamming(self._bits[:, :n], _signs(centred[None, :])[0])
        table = np.cos(np.pi * np.arange(self._dim + 1) / self._dim)
        table = np.minimum(1.0, table + _DEVIATIONS * math.pi / (2 * math.sqrt(self._dim)))
        shift = float(vector.astype(np.float64) @ self._mean - self._mean @ self._mean)
        bound = table.astype(np.float32)[distance]
        bound *= self._norms[:n]
        bound *= norm
        bound += self._along[:n]
        bound += shift
        result: NDArray[np.float32] = bound
        return result


def _signs(rows: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return the sign bits of rows, 64 a word, the last word filled up with zeros."""
    packed = np.packbits(rows > 0, axis=1, bitorder="little")
    words = -(-rows.shape[1] // 64)
    padded = np.zeros((len(rows), words * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def _grown(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    larger = np.empty(shape, dtype=array.dtype)
    larger[: len(array)] = array
    return larger
