"""What holds always, in one bank: found by its label in the index, whatever the question."""

from __future__ import annotations

import numpy as np

from .scan import Floats, cosines_of_own
from .state import IndexState
from .terms import STANDING


def standing_units(
    state: IndexState, vector: Floats | None, limit: int, until: int | None = None
) -> list[bytes]:
    """Return units that say how things are always to be done, or what somebody prefers.

    Args:
        state: the index at one revision.
        vector: what they should be about: the nearest come first; None: the newest do.
        limit: units at most.
        until: leave out what was said from here on, in microseconds.
    """
    parts, rows = state.parts, []
    for part, dead in zip(parts, state.dead, strict=True):
        mine = part.text.rows_with(STANDING)
        if dead is not None:
            mine = mine[~dead[mine]]
        if until is not None:
            mine = mine[part.columns.mentioned[mine] < until]
        rows.append(mine)
    if limit < 1 or not any(map(len, rows)):
        return []
    ids = np.concatenate([p.ids[r] for p, r in zip(parts, rows, strict=True)])
    by_id = np.argsort(ids, kind="stable")
    if vector is not None and len(vector) == state.dim:
        worth = cosines_of_own(parts, rows, vector).astype(np.float64)
        order = by_id[np.argsort(-worth[by_id], kind="stable")]
    else:
        said = np.concatenate([p.columns.mentioned[r] for p, r in zip(parts, rows, strict=True)])
        order = by_id[::-1][np.argsort(-said[by_id[::-1]], kind="stable")]
    raw = ids[order[:limit]].tobytes()
    return [raw[i : i + 16] for i in range(0, len(raw), 16)]
