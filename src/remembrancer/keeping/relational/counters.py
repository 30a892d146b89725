"""Access counters: added up in memory, written now and then."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from ...nouns.memory import BankRef
from .db import Db

FLUSH_S = 0.1
"""Seconds between the first count in memory and its writing: what a kill may lose."""

MAX_HELD = 50_000
"""Units counted in memory at most; beyond that they are written at once."""

Count = tuple[int, bytes, int, int]
"""Bank key, unit id, accesses, time of the last one."""


class Counters:
    """The counts not written yet; used from the event loop only.

    Args:
        flush: writes counts; it gets those of all banks at once.
    """

    def __init__(self, flush: Callable[[Sequence[Count]], Awaitable[None]]) -> None:
        self._flush_counts = flush
        self._held: dict[tuple[int, bytes], tuple[int, int]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._flushes: set[asyncio.Task[None]] = set()

    async def add(self, ref: BankRef, unit_ids: Sequence[bytes], at: int) -> None:
        """Count an access of each unit; it is written soon, or now where many wait."""
        key = ref.key
        for unit_id in unit_ids:
            count, last = self._held.get((key, unit_id), (0, at))
            self._held[key, unit_id] = (count + 1, max(last, at))
        if len(self._held) >= MAX_HELD:
            await self._flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_S, self._flush_soon)

    async def settle(self) -> None:
        """Write what is held now, and wait for what is being written."""
        await asyncio.gather(*self._flushes, return_exceptions=True)
        await self._flush()

    async def close(self) -> None:
        """Write what is held and wait until all is written."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None  # a store may be opened again
        await self._flush()
        await asyncio.gather(*self._flushes)

    def _flush_soon(self) -> None:
        self._timer = None
        task = asyncio.get_running_loop().create_task(self._flush())
        self._flushes.add(task)
        task.add_done_callback(self._flushes.discard)

    async def _flush(self) -> None:
        held, self._held = self._held, {}
        if held:
            await self._flush_counts([(*key, *count) for key, count in held.items()])


def write(db: Db, counts: Sequence[Count]) -> None:
    """Add counts to their units; those of units that are gone are dropped."""
    for key in sorted({count[0] for count in counts}):
        db.lock_bank(key)
    db.many("access_add", counts)
