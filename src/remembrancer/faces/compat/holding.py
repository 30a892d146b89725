"""Holds a memory for objects of other libraries, which may be called from any thread or loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from ...app import App
from ..library.blocking import Memory
from ..library.memory import AsyncMemory, make_settings

T = TypeVar("T")


class Host(Protocol):
    """A memory whose event loop runs in a thread of its own."""

    @property
    def inner(self) -> AsyncMemory:
        """The memory itself."""
        ...

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine in its loop."""
        ...


class Held:
    """A memory that is used from elsewhere.

    Args:
        memory: an open one, or a folder to open, or None for the folder of the settings. An open
            one stays its owner's to close.
        settings: of the memory that is opened here.
    """

    def __init__(self, memory: Host | str | Path | None, settings: dict[str, Any]) -> None:
        self._own: Memory | None = None
        if memory is None or isinstance(memory, str | Path):
            self._own = Memory(make_settings(memory, settings))
            self._host: Host = self._own
        else:
            self._host = memory

    @property
    def app(self) -> App:
        """The verbs."""
        return self.memory.app

    @property
    def memory(self) -> AsyncMemory:
        """The verbs with plain arguments, to be run by `wait` and `until`."""
        return self._host.inner

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result, blocking this thread."""
        return self._host.start(work).result()

    async def until(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the memory's loop and return its result."""
        return await asyncio.wrap_future(self._host.start(work))

    def close(self) -> None:
        """Close what was opened here; safe to call twice."""
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
