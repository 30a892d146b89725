"""Opens a memory when it is first used, for objects that are made before any event loop runs."""

from __future__ import annotations

import asyncio

from ...app import App
from ..library.memory import AsyncMemory


class Lazily:
    """A memory that is opened once, by the first who asks.

    Args:
        memory: opened here, and closed by `close`, unless it is open already.
    """

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory
        self._lock: asyncio.Lock | None = None
        self._opened = False

    async def app(self) -> App:
        """Return the open memory."""
        if not self._memory.opened:
            self._lock = self._lock or asyncio.Lock()
            async with self._lock:
                if not self._memory.opened:
                    await self._memory.open()
                    self._opened = True
        return self._memory.app

    async def close(self) -> None:
        """Close what was opened here."""
        if self._opened:
            self._opened = False
            await self._memory.close()
