"""Similarity alone: the nearest units of a bank to a vector, and the cosines of given units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .part import OWN, Mask, Part, sign_bits
from .scan import RESCORED, Floats, Rows, cosines_of_own, joined, nearest
from .state import IndexState


def most_similar(
    state: IndexState, vector: Floats, limit: int, until: int | None = None
) -> list[tuple[bytes, float]]:
    """Return the `limit` units with the highest cosine to a vector, best first, ties by id.

    Those said from `until` on (microseconds) are left out.

    Over all units of the bank: exactly for small banks, by sign bits first for large ones.
    """
    if not state.parts or state.dim != len(vector) or limit < 1:
        return []
    parts = state.parts
    allowed = [_findable(p, d, until) for p, d in zip(parts, state.dead, strict=True)]
    bits = sign_bits(vector[None, :])[0]
    rows = nearest(parts, allowed, OWN, bits, count=max(RESCORED, limit))
    return _ranked(parts, rows, vector, limit)


def cosines_of(state: IndexState, vector: Floats, ids: Sequence[bytes]) -> dict[bytes, float]:
    """Return the cosines of those of `ids` that are embedded and alive."""
    if state.dim != len(vector):
        return {}
    rows = []
    for part, dead in zip(state.parts, state.dead, strict=True):
        mine = part.locate(ids)
        keep = part.columns.embedded[mine]
        if dead is not None:
            keep &= ~dead[mine]
        rows.append(np.sort(mine[keep]))
    return dict(_ranked(state.parts, rows, vector, len(ids))) if rows else {}


def said_at(state: IndexState, ids: Sequence[bytes]) -> dict[bytes, int]:
    """Return when those of `ids` that are in the index were said, in microseconds."""
    found: dict[bytes, int] = {}
    for part in state.parts:
        rows = part.locate(ids)
        raw = part.ids[rows].tobytes()
        for i, at in enumerate(part.columns.mentioned[rows].tolist()):
            found[raw[16 * i : 16 * i + 16]] = at
    return found


def _findable(part: Part, dead: Mask | None, until: int | None) -> Mask | None:
    masks = [] if part.columns.embedded.all() else [part.columns.embedded]
    if dead is not None:
        masks.append(~dead)
    if until is not None:
        masks.append(part.columns.mentioned < until)
    return np.logical_and.reduce(masks) if masks else None


def _ranked(
    parts: Sequence[Part], rows: Sequence[Rows], vector: Floats, most: int
) -> list[tuple[bytes, float]]:
    """Return the ids and cosines of rows, the `most` best ones, ties by id."""
    values = cosines_of_own(parts, rows, vector)
    ids = joined([p.ids[r] for p, r in zip(parts, rows, strict=True)])
    if len(values) > most:  # many more are compared than are wanted: order these alone
        edge = np.partition(values, len(values) - most)[-most]
        high = values >= edge
        ids, values = ids[high], values[high]
    by_id = np.argsort(ids, kind="stable")
    best = by_id[np.argsort(-values[by_id], kind="stable")][:most]
    raw = ids[best].tobytes()
    found = values[best].tolist()
    return [(raw[16 * i : 16 * i + 16], value) for i, value in enumerate(found)]
