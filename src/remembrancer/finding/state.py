"""The state of a bank's index at one revision: immutable, so searches need no lock.

A state is a list of parts with masks of dead rows. `advance` makes the next state from changed
rows: small changes go to a `fresh` part that is rebuilt each time, which spills into a `warm` part
in memory, which `bank_index` writes to disk as a segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..keeping.view import IndexRow as Row
from .part import Mask, Part, build_part, merge_parts

FRESH_ROWS = 64  # rebuilt on every change: about 1 ms


@dataclass(frozen=True, slots=True)
class IndexState:
    """Parts and dead masks at a revision.

    `segments` leads; then at most one warm and one fresh part in memory. `fresh_rows` are the rows
    of the fresh part.
    """

    revision: int
    generation: int
    dim: int
    parts: tuple[Part, ...] = ()
    dead: tuple[Mask | None, ...] = ()
    segments: int = 0  # how many of `parts` are files
    files: tuple[str, ...] = ()  # their names
    fresh_rows: tuple[Row, ...] = ()
    in_memory: bool = False  # whether files are read into memory rather than mapped

    @property
    def live(self) -> int:
        """Number of rows that can be found."""
        return sum(
            p.n - (int(np.count_nonzero(d)) if d is not None else 0)
            for p, d in zip(self.parts, self.dead, strict=True)
        )

    @property
    def tail_rows(self) -> int:
        """Rows in memory parts plus dead rows of segments: what compaction would tidy."""
        memory = sum(p.n for p in self.parts[self.segments :])
        gone = sum(int(np.count_nonzero(d)) for d in self.dead[: self.segments] if d is not None)
        return memory + gone

    @property
    def memory_bytes(self) -> int:
        """Bytes held in memory; of segments that is their sign bits, the rest is page cache."""
        if self.in_memory:
            return sum(p.nbytes for p in self.parts)
        files = sum(p.bits.nbytes + p.more_bits.nbytes for p in self.parts[: self.segments])
        return files + sum(p.nbytes for p in self.parts[self.segments :])


def advance(
    state: IndexState, revision: int, gone: Sequence[bytes], rows: Sequence[Row]
) -> IndexState:
    """Return the state after a set of changes.

    Args:
        state: the state before them.
        revision: the revision after them.
        gone: ids of every unit that changed, deleted ones and those in `rows`.
        rows: the rows of those that exist now.
    """
    state = _bury(state, gone)
    changed = set(gone)
    fresh = [r for r in state.fresh_rows if r.unit_id not in changed]
    if len(fresh) + len(rows) <= FRESH_ROWS:
        return _with_fresh(state, revision, [*fresh, *rows])
    memory = list(state.parts[state.segments :])
    masks = list(state.dead[state.segments :])
    if state.fresh_rows:
        memory.pop()
        masks.pop()
    memory.append(build_part([*fresh, *rows], state.dim))
    masks.append(None)
    warm = merge_parts(memory, masks) if len(memory) > 1 else memory[0]
    return replace(
        state,
        revision=revision,
        parts=(*state.parts[: state.segments], warm),
        dead=(*state.dead[: state.segments], None),
        fresh_rows=(),
    )


def _with_fresh(state: IndexState, revision: int, fresh: list[Row]) -> IndexState:
    """Replace the fresh part."""
    parts, dead = list(state.parts), list(state.dead)
    if state.fresh_rows:
        parts.pop()
        dead.pop()
    if fresh:
        parts.append(build_part(fresh, state.dim))
        dead.append(None)
    return replace(
        state, revision=revision, parts=tuple(parts), dead=tuple(dead), fresh_rows=tuple(fresh)
    )


def _bury(state: IndexState, ids: Sequence[bytes]) -> IndexState:
    """Mark rows dead, copying only the masks that change."""
    dead = list(state.dead)
    for i, part in enumerate(state.parts):
        rows = part.locate(ids)
        if len(rows):
            mask = dead[i]
            mask = mask.copy() if mask is not None else np.zeros(part.n, dtype=bool)
            mask[rows] = True
            dead[i] = mask
    return replace(state, dead=tuple(dead))
