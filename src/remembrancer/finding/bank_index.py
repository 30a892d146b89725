"""The index of one bank, kept in step with its rows.

`state_for` brings the index to the revision of a snapshot and returns the immutable state to
search. Rows are the truth: whenever the feed or the files do not fit, the index is built afresh.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from contextlib import suppress
from pathlib import Path

from ..keeping.sealing import FileKey
from ..keeping.view import IndexRow, View
from ..nouns.errors import Corrupt
from ..nouns.memory import Op
from ..nouns.turns import Turns
from . import compaction
from .index_files import make_folder
from .part import Part, build_part, merge_parts
from .segment import open_part, write_part
from .state import IndexState, advance

_BLOCK_ROWS = 25_000  # rows held as Python objects while an index is built
_MERGED_ROWS = 100_000
_FETCH = 5_000

log = logging.getLogger(__name__)


class BankIndex:
    """See the module.

    Args:
        folder: where segments go; None keeps everything in memory.
        dim: components of a vector, 0 for a store without an embedder.
        turns: at compacting behind, shared by all banks; None: as many at once as come.
        seals: whether files are sealed, by the key that views know.
    """

    def __init__(
        self, folder: Path | None, dim: int, turns: Turns | None = None, *, seals: bool = False
    ) -> None:
        self._seals = seals
        self._key: FileKey | None = None
        self._folder = folder
        self._dim = dim
        self._turns = turns or Turns(1)
        self._state: IndexState | None = None
        self._refreshing = asyncio.Lock()
        self._compacting: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether a compaction is under way."""
        return self._compacting is not None

    @property
    def current(self) -> IndexState | None:
        """The state in memory, whatever its revision."""
        return self._state

    @property
    def memory_bytes(self) -> int:
        """Bytes held in memory, without mapped files."""
        return self._state.memory_bytes if self._state else 0

    async def state_for(self, view: View) -> IndexState | None:
        """Return the state at the view's revision.

        Returns:
            None when the index is already past that revision: open a new snapshot and ask again.
        """
        state = self._state
        if not self._fits(state, view):
            async with self._refreshing:
                state = await self._refresh(view)
        if state is None or state.revision > view.revision:
            return None
        if self._folder is not None and compaction.due(state):
            self._start_compaction(state)
        return state

    async def compact(self, view: View, purge: bool = False) -> bool:
        """Write the index at the view's revision to disk, merged.

        Args:
            view: a snapshot of the bank.
            purge: leave nothing of dead rows in the files.

        Returns:
            False when it could not be done for this snapshot: open a new one and try again.
        """
        while self._compacting is not None:
            await self._compacting
        async with self._refreshing:
            state = await self._refresh(view)
        if state is None or state.revision > view.revision:
            return False
        if self._folder is None or (not self._folder.exists() and not compaction.due(state)):
            return True  # nothing of this bank is on disk
        return await self._compact(state, self._folder, purge)

    async def close(self) -> None:
        """Wait for a compaction that is under way."""
        if self._compacting is not None:
            await self._compacting

    def _fits(self, state: IndexState | None, view: View) -> bool:
        if state is None or state.generation != view.generation:
            return False
        # Without the bank (it was dropped, or is younger than the snapshot) nothing is found.
        return state.revision == 0 if view.revision == 0 else state.revision >= view.revision

    async def _refresh(self, view: View) -> IndexState | None:
        state = self._state
        if self._fits(state, view):
            return state
        if self._seals:
            self._key = await view.file_key()
        if state is None or state.generation != view.generation:
            state = await self._load(view.generation)
        if state is None or state.revision > view.revision:
            state = await self._rebuild(view)
        if state.revision < view.revision:
            state = await self._catch_up(state, view)
        self._state = state
        return state

    async def _load(self, generation: int) -> IndexState | None:
        if self._folder is None:
            return None
        return await asyncio.to_thread(
            compaction.load, self._folder, generation, self._dim, self._key
        )

    async def _catch_up(self, state: IndexState, view: View) -> IndexState:
        """Apply the feed from the state's revision to the view's."""
        while state.revision < view.revision:
            page = await view.changes(state.revision, _FETCH)
            if page is None:
                return await self._rebuild(view)
            last = {change.unit_id: change.op for change in page.changes}
            put = [unit_id for unit_id, op in last.items() if op is Op.PUT]
            rows = await view.index_rows(put)
            revision = view.revision if page.complete else page.changes[-1].revision
            state = await asyncio.to_thread(advance, state, revision, list(last), rows)
        return state

    async def _rebuild(self, view: View) -> IndexState:
        """Build the index from all rows of a snapshot."""
        builder = _Builder(None if self._seals else self._folder, self._dim)
        rows = await view.scan(b"", _FETCH)
        while rows:
            await asyncio.to_thread(builder.add, rows)
            full = len(rows) == _FETCH  # a short page was the last: one round trip less
            rows = await view.scan(rows[-1].unit_id, _FETCH) if full else []
        state = await asyncio.to_thread(builder.finish, view.revision, view.generation)
        if self._folder is None or not builder.on_disk:
            return state
        try:
            return await asyncio.to_thread(compaction.compact, state, self._folder) or state
        except (OSError, Corrupt) as error:
            log.warning("an index could not be written; it goes on as it is: %s", error)
            return state

    def _start_compaction(self, state: IndexState) -> None:
        if self._compacting is None and self._folder is not None:
            self._compacting = asyncio.create_task(self._compact_behind(state, self._folder))

    async def _compact_behind(self, state: IndexState, folder: Path) -> None:
        try:
            async with self._turns:
                await self._compact(self._state or state, folder)
        except (OSError, Corrupt):
            log.exception("index compaction failed; the index goes on from memory")
        finally:
            self._compacting = None

    async def _compact(self, state: IndexState, folder: Path, purge: bool = False) -> bool:
        """Replace the state by its compacted form; changes since then come from the feed again.

        Returns False when another process was faster.
        """
        if self._seals and self._key is None:
            return True  # nothing of the tenant is kept yet, so nothing is put on disk
        done = await asyncio.to_thread(compaction.compact, state, folder, purge, self._key)
        mine = done is not None
        if done is None:
            done = await self._load(state.generation)
        if done is not None:
            self._state = done
        return mine


class _Builder:
    """Turns a stream of rows into parts; full blocks go to disk, so memory stays bounded."""

    def __init__(self, folder: Path | None, dim: int) -> None:
        self._folder = folder
        self._dim = dim
        self._rows: list[IndexRow] = []
        self._blocks: list[Part] = []
        self._done: list[Part] = []
        self.on_disk = False

    def add(self, rows: list[IndexRow]) -> None:
        """Take the next rows in id order."""
        self._rows += rows
        if len(self._rows) >= _BLOCK_ROWS:
            self._spill()

    def finish(self, revision: int, generation: int) -> IndexState:
        """Return the state over everything added."""
        if self._rows:
            self._blocks.append(build_part(self._rows, self._dim))
            self._rows = []
        self._merge()
        parts = tuple(self._done)
        return IndexState(revision, generation, self._dim, parts, (None,) * len(parts))

    def _spill(self) -> None:
        self._blocks.append(build_part(self._rows, self._dim))
        self._rows = []
        if sum(p.n for p in self._blocks) >= _MERGED_ROWS:
            self._merge()

    def _merge(self) -> None:
        if not self._blocks:
            return
        part = self._blocks[0]
        if len(self._blocks) > 1:
            part = merge_parts(self._blocks, [None] * len(self._blocks))
        self._blocks = []
        if self._folder is not None and part.n >= _BLOCK_ROWS:
            try:
                part = _mapped(part, self._folder)
                self.on_disk = True
            except (OSError, Corrupt) as error:  # a full disk, or another process tidied it away
                log.warning("a part of an index stays in memory: %s", error)
        self._done.append(part)


def _mapped(part: Part, folder: Path) -> Part:
    """Move a part's arrays out of memory into a file that is gone once nobody maps it."""
    make_folder(folder)
    path = folder / f"{uuid.uuid4().hex}.seg"
    try:
        write_part(path, part)
        return open_part(path)
    finally:
        with suppress(OSError):
            path.unlink()
