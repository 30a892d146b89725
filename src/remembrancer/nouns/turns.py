"""Turns at what several tenants share: round robin, so that one's flood delays no other's work.

Faces and workers say whose work it is (`acting_for`); whoever guards something shared gives it out
by `Turns`. Work of nobody in particular (upkeep) is a tenant of its own, the empty name.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from itertools import takewhile
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")

Pause = Callable[[], Awaitable[None]]

_LOOK_S = 0.005  # between two looks at a lock that is held

_TENANT: ContextVar[str] = ContextVar("tenant", default="")
_PAUSE: ContextVar[Pause | None] = ContextVar("pause", default=None)


@contextmanager
def acting_for(tenant: str) -> Iterator[None]:
    """Say whose work is done in the block, and in tasks that are begun there."""
    before = _TENANT.set(tenant)
    try:
        yield
    finally:
        _TENANT.reset(before)


@contextmanager
def pausing(pause: Pause) -> Iterator[None]:
    """Say how long work in the block lets others have their turn."""
    before = _PAUSE.set(pause)
    try:
        yield
    finally:
        _PAUSE.reset(before)


def act_for(tenant: str, pause: Pause | None = None) -> None:
    """Say whose work the rest of this task does; as `acting_for` and `pausing`, without an end."""
    _TENANT.set(tenant)
    _PAUSE.set(pause)


async def let_others() -> None:
    """Let others have their turn: for work that takes long, between two parts of it."""
    pause = _PAUSE.get()
    if pause is not None:
        await pause()


@asynccontextmanager
async def alone(lock: asyncio.Lock) -> AsyncIterator[None]:
    """Hold a lock; whoever waits for it lets others have their turn meanwhile.

    Else those that wait could have all the places there are, and the one that holds the lock, which
    let them have its turn, would wait for them. So a lock must be held in no other way where work
    lets others have their turn.
    """
    while lock.locked():
        await let_others()
        await asyncio.sleep(_LOOK_S)
    async with lock:
        yield


def tenant_at_work() -> str:
    """Return whose work this task does; empty: nobody's in particular."""
    return _TENANT.get()


class RoundRobin(Generic[T]):
    """A queue that serves tenants in turn, and what each of them waits for in its order.

    Every call but `pop` with a condition takes constant time.
    """

    def __init__(self) -> None:
        self._queues: OrderedDict[str, OrderedDict[T, None]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def tenants(self) -> int:
        """How many tenants wait."""
        return len(self._queues)

    def waiting(self, tenant: str) -> int:
        """Return how much of a tenant waits."""
        return len(self._queues.get(tenant, ()))

    def push(self, tenant: str, item: T) -> None:
        """Add an item at the end of its tenant's queue."""
        self._queues.setdefault(tenant, OrderedDict())[item] = None
        self._size += 1

    def push_back(self, tenant: str, item: T, before: Callable[[T], bool]) -> None:
        """Put an item back, before those of its tenant that `before` tells, and their turn off.

        It comes after what was put back already, and its tenant after all others.
        """
        queue = self._queues.pop(tenant, None) or OrderedDict()
        first = list(takewhile(lambda each: not before(each), queue))
        queue[item] = None
        for each in (item, *reversed(first)):
            queue.move_to_end(each, last=False)
        self._queues[tenant] = queue
        self._size += 1

    def pop(self, may: Callable[[str], bool] | None = None) -> T | None:
        """Take the first item of the tenant whose turn it is; None: there is none.

        Args:
            may: which tenants may have their turn now; the others keep their place.
        """
        tenant = next((t for t in self._queues if may is None or may(t)), None)
        if tenant is None:
            return None
        queue = self._queues.pop(tenant)
        item, _ = queue.popitem(last=False)
        if queue:
            self._queues[tenant] = queue  # behind the others
        self._size -= 1
        return item

    def remove(self, tenant: str, item: T) -> bool:
        """Take an item out; False when it does not wait."""
        queue = self._queues.get(tenant)
        if queue is None or item not in queue:
            return False
        del queue[item]
        if not queue:
            del self._queues[tenant]
        self._size -= 1
        return True

    def fullest(self) -> tuple[str, T] | None:
        """Return the tenant of which most waits, and the last of that; None: nothing waits."""
        if not self._queues:
            return None
        tenant = max(self._queues, key=lambda each: len(self._queues[each]))
        return tenant, next(reversed(self._queues[tenant]))


class Turns:
    """A semaphore whose waiters are served round robin by tenant.

    Use it as `async with turns:`, or by `take` and `give`. For one event loop.

    Args:
        places: how many may be inside at once.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: RoundRobin[asyncio.Future[None]] = RoundRobin()

    def __len__(self) -> int:
        """Return how many wait."""
        return len(self._waiting)

    async def take(self) -> None:
        """Wait for a place; the caller gives it back."""
        if self._free > 0:  # then nobody waits, for a place that is given goes to who does
            self._free -= 1
            return
        tenant, future = tenant_at_work(), asyncio.get_running_loop().create_future()
        self._waiting.push(tenant, future)
        try:
            await future
        except asyncio.CancelledError:
            if not self._waiting.remove(tenant, future) and not future.cancelled():
                self.give()  # it had just come
            raise

    def give(self) -> None:
        """Give a place back."""
        while (future := self._waiting.pop()) is not None:
            if not future.done():
                future.set_result(None)
                return
        self._free += 1

    async def __aenter__(self) -> None:
        await self.take()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.give()
