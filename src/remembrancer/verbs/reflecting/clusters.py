"""Clusters: memories that are about one thing, by their vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...models.embedder import Floats

FLOOR = 0.7  # cosine to the middle of a cluster; as for semantic links
LEAST = 3  # memories in a cluster


def clusters(vectors: Floats, *, floor: float = FLOOR, least: int = LEAST) -> list[list[int]]:
    """Group rows, each with the cluster whose mean it is nearest to, if it is near enough.

    One pass in the order of the rows, so the same rows give the same clusters.

    Args:
        vectors: (n, dim) of length 1.
        floor: lowest cosine to the mean of a cluster.
        least: rows in a cluster; smaller ones are left out.

    Returns:
        Row numbers by cluster, largest first. O(n * clusters * dim).
    """
    sums: list[Floats] = []
    members: list[list[int]] = []
    for row, vector in enumerate(vectors):
        best, cosine = _nearest(sums, vector)
        if best is not None and cosine >= floor:
            sums[best] = sums[best] + vector
            members[best].append(row)
        else:
            sums.append(vector)
            members.append([row])
    kept = [rows for rows in members if len(rows) >= least]
    return sorted(kept, key=lambda rows: (-len(rows), rows[0]))


def _nearest(sums: Sequence[Floats], vector: Floats) -> tuple[int | None, float]:
    if not sums:
        return None, 0.0
    middles = np.stack(sums)
    cosines = middles @ vector / np.linalg.norm(middles, axis=1)
    best = int(np.argmax(cosines))
    return best, float(cosines[best])
