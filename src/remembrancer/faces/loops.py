"""An event loop in a thread of its own, for callers that are not async."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Loop:
    """Runs coroutines; any thread may wait for one."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it has not been stopped."""
        return not self._loop.is_closed()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine; another loop may await `asyncio.wrap_future` of what is returned."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result."""
        return self.start(work).result()

    def stop(self) -> None:
        """End the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
