"""Which contexts a vector brings up: the cues of one bank in memory.

Sign bits tell which may reach their threshold (`cue_bits`). Those are compared by their components,
first as float32, and exactly where that is near the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..keeping.intentions import Cue
from ..models.embedder import Floats
from .cue_bits import CentredBits

THRESHOLD = 0.7
"""The least cosine of a cue that names none."""
REARM = 0.1
"""How far below its threshold a context has to fall before it may come up again."""
ROUNDING = 1e-6
"""What components kept as float32 may take off a cosine."""
EXACT = 512
"""Up to so many cues, all are compared exactly."""
_ROUGH = 1e-4  # float32 sums of up to 8,192 products are closer than that
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
        self._floors: Floats = np.empty(0, dtype=np.float32)  # infinite for a dropped row
        self._armed: NDArray[np.bool_] = np.empty(0, dtype=bool)
        self._centre: CentredBits | None = None
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
        joined = np.frombuffer(b"".join(cue.cue for cue in cues), dtype="<f4")
        vectors = joined.reshape(len(cues), self._dim)
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
        rows = self._near(vector)
        rows = rows[self._armed[rows]]
        floors = self._floors[rows]
        close = self._rough(rows, vector) >= floors - _ROUGH
        rows, floors = rows[close], floors[close]
        cosines = self._exact(rows, vector)
        hit = cosines >= floors.astype(np.float64) - ROUNDING
        matches = [
            Match(self._ids[row], float(cosine))
            for row, cosine in zip(rows[hit].tolist(), cosines[hit].tolist(), strict=True)
        ]
        return matches, self._ended(vector)

    def _near(self, vector: Floats) -> NDArray[np.int64]:
        """Return the rows that may reach their thresholds."""
        n = self._count
        if n <= EXACT:
            return np.flatnonzero(self._floors[:n] < np.inf)
        if self._centre is None or self._centre.outgrown(n):
            self._centre = CentredBits(self._vectors[:n])
        return self._centre.near(vector, self._floors[:n])

    def _ended(self, vector: Floats) -> list[bytes]:
        if self._armed[: self._count].all():
            return []
        rows = np.flatnonzero(~self._armed[: self._count] & (self._floors[: self._count] < np.inf))
        rows = rows[self._rough(rows, vector) < self._floors[rows] - REARM + _ROUGH]
        below = self._exact(rows, vector) < self._floors[rows] - REARM
        return [self._ids[row] for row in rows[below].tolist()]

    def _rough(self, rows: NDArray[np.int64], vector: Floats) -> Floats:
        """Return cosines, off by less than `_ROUGH`."""
        found = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), _BLOCK):
            block = self._vectors.take(rows[start : start + _BLOCK], axis=0)
            # Not as one product, which may be split over threads that wait for each other.
            found[start : start + _BLOCK] = np.vecdot(block, vector)
        return found

    def _exact(self, rows: NDArray[np.int64], vector: Floats) -> NDArray[np.float64]:
        wanted = vector.astype(np.float64)
        found = np.empty(len(rows))
        for start in range(0, len(rows), _BLOCK):
            block = self._vectors.take(rows[start : start + _BLOCK], axis=0)
            found[start : start + _BLOCK] = np.vecdot(block.astype(np.float64), wanted)
        return found

    def _reserve(self, size: int) -> None:
        if size <= len(self._floors):
            return
        room = max(size, len(self._floors) * 5 // 4, 64)
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


def _grown(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    larger = np.empty(shape, dtype=array.dtype)
    larger[: len(array)] = array
    return larger
