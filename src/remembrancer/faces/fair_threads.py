"""Threads for `asyncio.to_thread`, given out round robin by tenant.

What takes long there (reading facts from texts, building and compacting indexes, packing files)
holds Python's lock most of the time: more threads end no sooner, and make answers wait. So they are
few, and no tenant has all of them.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from ..nouns.turns import RoundRobin, tenant_at_work

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Work:
    tenant: str
    future: Future[Any]
    call: Callable[[], Any]

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self.call()
        except BaseException as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class FairThreads(ThreadPoolExecutor):
    """An executor whose queue is fair between tenants; the work knows whose it is by its context.

    Args:
        threads: at once; default: one more than there are processors.
    """

    def __init__(self, threads: int | None = None) -> None:
        threads = threads or (os.cpu_count() or 1) + 1
        super().__init__(threads, thread_name_prefix="work")
        self._free = threads
        self._most = max(1, threads - 1)  # of one tenant
        self._of: Counter[str] = Counter()
        self._waiting: RoundRobin[_Work] = RoundRobin()
        self._guard = threading.Lock()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a function in its tenant's turn."""
        work = _Work(tenant_at_work(), Future(), lambda: fn(*args, **kwargs))
        with self._guard:
            self._waiting.push(work.tenant, work)
            begun = self._next()
        if begun is not None:
            try:
                super().submit(self._serve, begun)
            except RuntimeError:  # it was shut down
                with self._guard:
                    self._ended(begun)
                raise
        return work.future

    def _next(self) -> _Work | None:
        """Take the work whose turn it is; None: no thread is free, or nobody may use it."""
        if not self._free:
            return None
        work = self._waiting.pop(lambda tenant: self._of[tenant] < self._most)
        if work is not None:
            self._free -= 1
            self._of[work.tenant] += 1
        return work

    def _ended(self, work: _Work) -> None:
        self._free += 1
        self._of[work.tenant] -= 1
        if not self._of[work.tenant]:
            del self._of[work.tenant]

    def _serve(self, work: _Work) -> None:
        """Do work and what comes after it, in a thread of the pool."""
        following: _Work | None = work
        while following is not None:
            work = following
            work.run()
            with self._guard:
                self._ended(work)
                following = self._next()
