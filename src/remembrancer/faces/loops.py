"""An event loop in a thread of its own, for callers that are not async."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from ..nouns.errors import InvalidInput

T = TypeVar("T")


class Loop:
    """Runs coroutines; any thread may wait for one.

    Args:
        name: of the thread.
        of: what uses it, as errors call it.
    """

    def __init__(self, name: str, of: str = "memory") -> None:
        self._of = of
        self._pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it has not been stopped; in a forked process its thread never runs."""
        return self._pid == os.getpid() and not self._loop.is_closed()

    def check(self) -> None:
        """Refuse what would wait for ever.

        Raises:
            InvalidInput: it was stopped, or is of another process.
        """
        if self._pid != os.getpid():
            raise InvalidInput(
                f"this {self._of} was opened before a fork: open it in this process, which may be "
                "at the same time"
            )
        if not self.running:
            raise InvalidInput(f"this {self._of} is not open: use it in a `with` block")

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine; another loop may await `asyncio.wrap_future` of what is returned.

        Raises:
            InvalidInput: it was stopped, or is of another process.
        """
        try:
            self.check()
        except InvalidInput:
            work.close()  # else Python warns that nobody awaited it
            raise
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result.

        Raises:
            InvalidInput: as `start`, or what is called by the loop itself asks it to wait.
        """
        if threading.get_ident() == self._thread.ident:
            work.close()
            raise InvalidInput(
                f"this {self._of} is at work here and cannot be used by a function that it calls, "
                "such as `progress`: keep what you need, and use it after the call"
            )
        return self.start(work).result()

    def stop(self) -> None:
        """End the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
