"""Tidying an index: memory parts become segment files, segments merge, dead rows go."""

from __future__ import annotations

import fcntl
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from ..keeping.sealing import FileKey
from ..nouns.errors import Corrupt
from . import index_files
from .part import Mask, Part, merge_parts
from .segment import (
    Manifest,
    open_part,
    read_dead,
    read_manifest,
    tidy,
    write_manifest,
    write_part,
)
from .state import IndexState

TAIL_ROWS = 2_000  # a tail adds about .15 ms a search at this size
TAIL_SHARE = 0.05
MAX_SEGMENT_ROWS = 250_000  # bounds the memory that a merge needs


def due(state: IndexState) -> bool:
    """Return whether a state is worth compacting."""
    return state.tail_rows > max(TAIL_ROWS, TAIL_SHARE * state.live)


def compact(
    state: IndexState, folder: Path, purge: bool = False, key: FileKey | None = None
) -> IndexState | None:
    """Write a state's parts to disk, merging, and return the state over the new files.

    Args:
        state: any state; it stays usable.
        folder: the bank's index folder, made when missing.
        purge: rewrite every segment that holds dead rows, so that nothing of them is left.
        key: seals the files.

    Returns:
        The same rows at the same revision, or None when another process is at it or ahead.
    """
    index_files.make_folder(folder)
    with locked(folder) as mine:
        if not mine:
            return None
        known = read_manifest(folder)
        if known and known.generation == state.generation and known.revision > state.revision:
            return None
        try:
            done = _rewritten(state, folder, purge, key)
        except BaseException:
            with suppress(OSError):  # what was written already: on a full disk it is in the way
                tidy(folder)
            raise
        return replace(done, in_memory=key is not None)


def _rewritten(state: IndexState, folder: Path, purge: bool, key: FileKey | None) -> IndexState:
    parts: list[Part] = []
    dead: list[Mask | None] = []
    files: list[str] = []
    for group in plan(state):
        first = group[0]
        if len(group) == 1 and first < state.segments and not _rewrite(state, first, purge):
            parts.append(state.parts[first])
            dead.append(state.dead[first])
            files.append(state.files[first])
            continue
        merged = merge_parts([state.parts[i] for i in group], [state.dead[i] for i in group])
        if not merged.n:
            continue
        name = f"{state.revision:016x}-{uuid.uuid4().hex}.seg"
        write_part(folder / name, merged, key)
        parts.append(open_part(folder / name, key))
        dead.append(None)
        files.append(name)
    return _publish(state, folder, parts, dead, files)


def plan(state: IndexState) -> list[list[int]]:
    """Group part numbers: each group becomes one segment.

    Memory parts go together with the trailing segments that are at most twice as large as what is
    gathered so far: every row is rewritten a logarithmic number of times.
    """
    sizes = [
        p.n - (int(d.sum()) if d is not None else 0)
        for p, d in zip(state.parts, state.dead, strict=True)
    ]
    gathered = list(range(state.segments, len(state.parts)))
    total = sum(sizes[i] for i in gathered)
    left = list(range(state.segments))
    while left and sizes[left[-1]] <= 2 * total and total + sizes[left[-1]] <= MAX_SEGMENT_ROWS:
        total += sizes[left[-1]]
        gathered.insert(0, left.pop())
    groups = [[i] for i in left]
    if gathered:
        groups.append(gathered)
    return groups


def load(folder: Path, generation: int, dim: int, key: FileKey | None = None) -> IndexState | None:
    """Open what a bank's index folder holds, or None when it is missing, old or broken."""
    manifest = read_manifest(folder)
    if manifest is None or manifest.generation != generation or manifest.dim != dim:
        return None
    try:
        parts = [open_part(folder / name, key) for name in manifest.files]
        dead = read_dead(folder, manifest, parts)
    except Corrupt:
        return None
    return IndexState(
        revision=manifest.revision,
        generation=generation,
        dim=dim,
        parts=tuple(parts),
        dead=tuple(dead),
        segments=len(parts),
        files=manifest.files,
        in_memory=key is not None,
    )


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Hold the folder's lock between processes; yields False at once when it is taken."""
    with index_files.opened(folder / "lock", "a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


def _rewrite(state: IndexState, number: int, purge: bool) -> bool:
    """Return whether a segment's dead rows are worth (or, purging, in need of) a rewrite."""
    gone = state.dead[number]
    if gone is None:
        return False
    return purge or int(gone.sum()) > 0.2 * len(gone)


def _publish(
    state: IndexState,
    folder: Path,
    parts: list[Part],
    dead: list[Mask | None],
    files: list[str],
) -> IndexState:
    manifest = Manifest(
        revision=state.revision,
        generation=state.generation,
        dim=state.dim,
        files=tuple(files),
        dead_file=f"{state.revision:016x}-{uuid.uuid4().hex}.npz",
    )
    write_manifest(folder, manifest, dead)
    return replace(
        state,
        parts=tuple(parts),
        dead=tuple(dead),
        segments=len(parts),
        files=tuple(files),
        fresh_rows=(),
    )
