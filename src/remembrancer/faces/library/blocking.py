"""`Memory`: `AsyncMemory` for code that is not async; its event loop runs in a thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from ...nouns.clock import Clock
from ...settings import Settings
from ..loops import Loop
from .memory import AsyncMemory

if TYPE_CHECKING:
    from .prospective import ProspectiveMemoryManager

T = TypeVar("T")
P = ParamSpec("P")


def _blocking(
    method: Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Memory, P], T]:
    """Turn a method of `AsyncMemory` into one that waits."""

    def waiting(self: Memory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.wait(method(self._memory, *args, **kwargs))

    return update_wrapper(waiting, method)


class Memory:
    """An open memory. Use it as `with remembrancer.open(folder) as memory:`.

    The verbs are those of `AsyncMemory`. It may be used from several threads, but not after a fork:
    a process opens its own.
    """

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        self._memory = AsyncMemory(settings, clock)
        self._loop = Loop("remembrancer")
        try:
            self.wait(self._memory.open())
        except BaseException:
            self._loop.stop()
            raise

    def close(self) -> None:
        """Close the memory; safe to call twice, and after a fork, where it is not this one's."""
        if self._loop.running:
            self.wait(self._memory.close())
            self._loop.stop()

    def __enter__(self) -> Self:
        self._loop.check()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    retain = _blocking(AsyncMemory.retain)
    retain_many = _blocking(AsyncMemory.retain_many)
    recall = _blocking(AsyncMemory.recall)
    history = _blocking(AsyncMemory.history)
    reflect = _blocking(AsyncMemory.reflect)
    prime = _blocking(AsyncMemory.prime)
    forget = _blocking(AsyncMemory.forget)
    entities = _blocking(AsyncMemory.entities)
    merge_entities = _blocking(AsyncMemory.merge_entities)
    split_entity = _blocking(AsyncMemory.split_entity)
    rename_entity = _blocking(AsyncMemory.rename_entity)
    alias_entity = _blocking(AsyncMemory.alias_entity)
    status = _blocking(AsyncMemory.status)

    def prospective(self, bank: str = "default", **options: Any) -> ProspectiveMemoryManager:
        """Return what the agent means to do later, of one bank; see `AsyncMemory.prospective`."""
        from .prospective import ProspectiveMemoryManager  # noqa: PLC0415

        return ProspectiveMemoryManager(bank=bank, memory=self, **options)

    @property
    def inner(self) -> AsyncMemory:
        """The async memory that does the work, in the loop that `wait` waits for."""
        return self._memory

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine in the memory's own event loop; see `Loop.start`."""
        return self._loop.start(work)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the memory's own event loop, and return its result."""
        return self._loop.wait(work)
