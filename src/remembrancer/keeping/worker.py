"""Runs jobs: claims them from the store, hands them to handlers, keeps their leases alive.

A worker that dies loses its leases, and another takes its jobs over; a handler must therefore
bear being run again. The handlers are passed in; this module knows no verb.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, NotFound, RemembrancerError
from ..nouns.memory import Job, JobState
from .store import Store

Handler = Callable[[Job], Awaitable[Mapping[str, Any]]]

LEASE_US = 60_000_000
MAX_ATTEMPTS = 5
_FIRST_RETRY_US = 2_000_000  # doubles with each attempt

log = logging.getLogger(__name__)


class Worker:
    """Runs up to `slots` jobs at once.

    Args:
        store: where the jobs are.
        handlers: what to do for each kind of job; the mapping returned becomes its result.
        clock: tells when jobs are due and leases end.
        poll_s: how often an idle worker looks for jobs of other processes.
        slots: jobs at once.
    """

    def __init__(
        self,
        store: Store,
        handlers: Mapping[str, Handler],
        *,
        clock: Clock,
        poll_s: float = 1.0,
        slots: int = 2,
    ) -> None:
        self._store = store
        self._handlers = handlers
        self._clock = clock
        self._poll_s = poll_s
        self._slots = slots
        self._woken = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin to look for jobs."""
        self._loop = asyncio.create_task(self._look())

    def wake(self) -> None:
        """Look now: a job was just enqueued here."""
        self._woken.set()

    async def stop(self) -> None:
        """Stop looking and let running jobs end."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
            self._loop = None
        await asyncio.gather(*self._running)

    async def drain(self) -> int:
        """Run every job that is due now, here; return how many ran."""
        done = 0
        while jobs := await self._claim():
            await asyncio.gather(*(self._run(job) for job in jobs))
            done += len(jobs)
        return done

    async def _look(self) -> None:
        while True:
            try:
                await self._start_jobs()
            except RemembrancerError:
                log.exception("looking for jobs failed; trying again")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), self._poll_s)
            self._woken.clear()

    async def _start_jobs(self) -> None:
        while len(self._running) < self._slots and (jobs := await self._claim()):
            for job in jobs:
                task = asyncio.create_task(self._run(job))
                self._running.add(task)
                task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._woken.set()

    async def _claim(self) -> list[Job]:
        free = max(1, self._slots - len(self._running))
        return await self._store.claim(
            list(self._handlers), self._clock.now_us(), LEASE_US, limit=free
        )

    async def _run(self, job: Job) -> None:
        beat = asyncio.create_task(self._heartbeat(job))
        try:
            result = await self._handlers[job.kind](job)
            await self._store.finish(job, JobState.COMPLETED, self._clock.now_us(), result=result)
        except (InvalidInput, NotFound) as error:  # trying again would end the same way
            await self._fail(job, error.message)
        except Exception as error:
            log.exception("job %s of kind %s failed", job.id.hex(), job.kind)
            text = f"{type(error).__name__}: {error}"
            if job.attempts >= MAX_ATTEMPTS:
                await self._fail(job, text)
            else:
                now = self._clock.now_us()
                wait = _FIRST_RETRY_US * 2 ** max(0, job.attempts - 1)
                await self._store.finish(
                    job, JobState.PENDING, now, error=text, run_after=now + wait
                )
        finally:
            beat.cancel()

    async def _fail(self, job: Job, text: str) -> None:
        await self._store.finish(job, JobState.FAILED, self._clock.now_us(), error=text)

    async def _heartbeat(self, job: Job) -> None:
        while True:
            await asyncio.sleep(LEASE_US / 3e6)
            await self._store.heartbeat(job, self._clock.now_us(), LEASE_US)
