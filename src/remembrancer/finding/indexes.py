"""The indexes of the banks that were used last, within a bound of memory."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from pathlib import Path

from ..keeping.view import View
from ..nouns.memory import BankRef
from ..nouns.turns import Turns
from .bank_index import BankIndex
from .state import IndexState

_COMPACTING = 2  # banks at once, behind requests: more would take the threads that those need


class Indexes:
    """Hands out the index of a bank; drops the least recently used beyond the memory bound.

    Args:
        folder: where the banks' index folders go, or None for memory alone.
        dim: components of a vector, 0 without an embedder.
        memory_bytes: bound on what indexes hold in memory (mapped files are page cache).
        seals: whether files are sealed, by the keys of their banks.
    """

    def __init__(
        self, folder: Path | None, dim: int, memory_bytes: int, *, seals: bool = False
    ) -> None:
        self._seals = seals
        self._folder = folder
        self._dim = dim
        self._limit = memory_bytes
        self._compacting = Turns(_COMPACTING)
        self._banks: dict[BankRef, BankIndex] = {}  # least recently used first
        self._held: dict[BankRef, int] = {}
        self.memory_bytes = 0  # held by all indexes, without mapped files

    async def state_for(self, ref: BankRef, view: View) -> IndexState | None:
        """Return the bank's index at the view's revision; None: reopen the snapshot, ask again."""
        index = self._use(ref)
        state = await index.state_for(view)
        self._measure(ref, index)
        if self.memory_bytes > self._limit:
            self._shrink(ref)
        return state

    def current(self, ref: BankRef) -> IndexState | None:
        """Return the bank's index as it stands in memory, at whatever revision; None: not yet."""
        index = self._banks.pop(ref, None)
        if index is None:
            return None
        self._banks[ref] = index
        return index.current

    async def compact(self, ref: BankRef, view: View, purge: bool = False) -> bool:
        """Write the bank's index to disk; `purge` leaves nothing of dead rows in its files.

        Returns False when it could not be done for this snapshot: open a new one, try again.
        """
        return await self._use(ref).compact(view, purge)

    async def drop(self, ref: BankRef) -> None:
        """Take a bank's index out of memory and off the disk; it can be built from rows again."""
        index = self._banks.pop(ref, None)
        self.memory_bytes -= self._held.pop(ref, 0)
        if index is not None:
            await index.close()
        folder = self.folder_of(ref)
        if folder is not None:
            await asyncio.to_thread(_remove, folder)

    async def close(self) -> None:
        """Wait for background work."""
        for index in self._banks.values():
            await index.close()
        self._banks.clear()
        self._held.clear()
        self.memory_bytes = 0

    def folder_of(self, ref: BankRef) -> Path | None:
        """Return where a bank's segments are."""
        return self._folder / f"{ref.key & (2**64 - 1):016x}" if self._folder else None

    def _use(self, ref: BankRef) -> BankIndex:
        index = self._banks.pop(ref, None) or BankIndex(
            self.folder_of(ref), self._dim, self._compacting, seals=self._seals
        )
        self._banks[ref] = index
        return index

    def _measure(self, ref: BankRef, index: BankIndex) -> None:
        held = index.memory_bytes
        self.memory_bytes += held - self._held.get(ref, 0)
        self._held[ref] = held

    def _shrink(self, keep: BankRef) -> None:
        for ref, index in list(self._banks.items()):
            if self.memory_bytes <= self._limit:
                break
            if ref != keep and not index.busy:
                self.memory_bytes -= self._held.pop(ref, 0)
                del self._banks[ref]


def _remove(folder: Path) -> None:
    """Remove a folder whole, even when others remove files in it meanwhile."""
    while folder.exists():
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)
