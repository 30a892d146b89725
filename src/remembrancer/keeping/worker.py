"""Runs jobs: claims them from the store, hands them to handlers, keeps their leases alive.

To have something done in the background:

1. Put a `Job` with a `kind` of your own into `Batch.jobs` of the write that calls for it, so that
   both commit together. Give it `document=` when it writes that document: such jobs run one at a
   time, in order. Upkeep that users need not see is `listed=False`; `priority=1` goes before all
   work of users.
2. Register a handler under that kind in `app.py`: `async def handle(job, context)`, which returns
   the job's result as JSON. (`without_context(handle)` makes one of a function of the job alone.)
   It must bear being run again: a worker that dies loses its leases, and another takes its jobs
   over. It puts `context.fence`, which is `(job.id, job.fence)`, into each `Batch` it writes, so
   that nothing is written by two, or after a cancel.
3. An `InvalidInput` or `NotFound` fails the job at once, a `BudgetSpent` lets it wait until there
   is budget again, any other error tries it again later.

The handlers are passed in; this module knows no verb.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ..nouns.clock import Clock
from ..nouns.errors import BudgetSpent, InvalidInput, NotFound, RemembrancerError
from ..nouns.memory import Job, JobState
from ..nouns.spans import NAME, span
from ..nouns.turns import acting_for
from .store import Store

LEASE_US = 60_000_000
MAX_ATTEMPTS = 5
"""After so many an error is the last one."""
MAX_CLAIMS = 25
"""A process that ends says little about the job it worked on: only so many ends point to it."""
TICK_S = 1.0  # between looks at a running job: is it cancelled, has it got further
GRACE_S = 2.0  # for running jobs when the worker stops
_FIRST_RETRY_US = 2_000_000  # doubles with each attempt

log = logging.getLogger(__name__)


class JobContext:
    """What a handler is given beside its job."""

    def __init__(self, job: Job, clock: Clock) -> None:
        self._job = job
        self._clock = clock
        self._told: dict[str, Any] | None = None
        self.cancelled = False
        """Whether the lease is lost: cancelled, or taken over. The handler is ended, too."""

    @property
    def fence(self) -> tuple[bytes, int]:
        """What `Batch.fence` takes: writes under it are refused once the lease is lost."""
        return self._job.id, self._job.fence

    async def progress(
        self,
        stage: str,
        processed: int | None = None,
        total: int | None = None,
        detail: Mapping[str, int] | None = None,
    ) -> None:
        """Tell how far the job is; kept with it, at most one write a second."""
        self.note(stage, processed, total, detail)
        await asyncio.sleep(0)  # where a cancelled handler ends

    def note(
        self,
        stage: str,
        processed: int | None = None,
        total: int | None = None,
        detail: Mapping[str, int] | None = None,
    ) -> None:
        """As `progress`, from code that cannot wait."""
        self._told = {
            "stage": stage,
            "at": self._clock.now_us(),
            "processed": processed,
            "total": total,
            "detail": None if detail is None else dict(detail),
        }

    def take(self) -> Mapping[str, Any] | None:
        """Return what was told since the last time."""
        told, self._told = self._told, None
        return told


Handler = Callable[[Job, JobContext], Awaitable[Mapping[str, Any]]]


def without_context(handle: Callable[[Job], Awaitable[Mapping[str, Any]]]) -> Handler:
    """Make a handler of a function that needs the job alone."""

    def handler(job: Job, _: JobContext) -> Awaitable[Mapping[str, Any]]:
        return handle(job)

    return handler


class Worker:
    """Runs up to `slots` jobs at once.

    Args:
        store: where the jobs are.
        handlers: what to do for each kind of job; the mapping returned becomes its result.
        clock: tells when jobs are due and leases end.
        poll_s: how often an idle worker looks for jobs of other processes, on the mean.
        slots: jobs at once.
        lease_us: how long a job stays a dead worker's, in microseconds.
        chance: a number from 0 to 1, so that idle workers do not all look at the same time.
    """

    def __init__(
        self,
        store: Store,
        handlers: Mapping[str, Handler],
        *,
        clock: Clock,
        poll_s: float = 1.0,
        slots: int = 2,
        lease_us: int = LEASE_US,
        tick_s: float = TICK_S,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._store = store
        self._handlers = handlers
        self._clock = clock
        self._poll_s = poll_s
        self._slots = slots
        self._lease_us = lease_us
        self._tick_s = min(tick_s, lease_us / 3e6)
        self._chance = chance
        self._woken = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._at_work: set[asyncio.Future[Mapping[str, Any]]] = set()

    def start(self) -> None:
        """Begin to look for jobs."""
        self._loop = asyncio.create_task(self._look())

    def wake(self) -> None:
        """Look now: a job was just enqueued here."""
        self._woken.set()

    async def stop(self, grace_s: float = GRACE_S) -> None:
        """Stop looking, let running jobs end for a while, and give back those that do not."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
            self._loop = None
        if self._running:
            await asyncio.wait(self._running, timeout=grace_s)
        for task in self._at_work:
            task.cancel()
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
            except Exception:  # whatever it was, work goes on
                log.exception("looking for jobs failed; trying again")
            # Not `wait_for`: before 3.12 it swallows a cancel that comes together with its end.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._poll_s * (0.5 + self._chance())):
                    await self._woken.wait()
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
        # Shielded, for a claim that is on its way would else leave jobs that nobody runs.
        claiming = asyncio.ensure_future(
            self._store.claim(
                list(self._handlers), self._clock.now_us(), self._lease_us, limit=free
            )
        )
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            await self._give_back(await claiming)
            raise

    async def _give_back(self, jobs: list[Job]) -> None:
        for job in jobs:
            await self._store.release(job, self._clock.now_us())

    async def _run(self, job: Job) -> None:
        try:
            if job.attempts > MAX_CLAIMS:
                await self._fail(
                    job, f"given up: the process that worked on it has ended {MAX_CLAIMS} times"
                )
            else:
                await self._handle(job)
        except RemembrancerError:
            # Its lease runs out, and somebody takes it up again.
            log.exception("job %s of kind %s could not be ended", job.id.hex(), job.kind)

    async def _handle(self, job: Job) -> None:
        context = JobContext(job, self._clock)
        work = asyncio.ensure_future(self._handled(job, context))
        self._at_work.add(work)
        watch = asyncio.create_task(self._watch(job, context, work))
        try:
            await asyncio.wait({work})
        finally:
            watch.cancel()
            work.cancel()
            self._at_work.discard(work)
        now = self._clock.now_us()
        if work.cancelled():
            if not context.cancelled:  # the worker stops
                await self._store.release(job, now)
        elif (error := work.exception()) is None:
            await self._store.finish(job, JobState.COMPLETED, now, result=work.result())
        else:
            await self._failed(job, context, error)

    async def _handled(self, job: Job, context: JobContext) -> Mapping[str, Any]:
        about: dict[str, str | int] = {
            f"{NAME}.job": job.id.hex(),
            f"{NAME}.attempt": job.attempts,
        }
        with span(f"job {job.kind}", about), acting_for(job.ref.tenant):
            return await self._handlers[job.kind](job, context)

    async def _failed(self, job: Job, context: JobContext, error: BaseException) -> None:
        if context.cancelled or not await self._store.held(job):
            log.info("job %s of kind %s was cancelled or taken over", job.id.hex(), job.kind)
            return
        if isinstance(error, InvalidInput | NotFound):  # trying again would end the same way
            await self._fail(job, error.message)
            return
        if isinstance(error, BudgetSpent):
            if error.resumes_at is None:
                await self._fail(job, error.message)
            else:
                now, later = self._clock.now_us(), error.resumes_at
                await self._store.finish(
                    job, JobState.PENDING, now, error=error.message, run_after=later
                )
            return
        log.error("job %s of kind %s failed", job.id.hex(), job.kind, exc_info=error)
        text = f"{type(error).__name__}: {error}"
        if job.attempts >= MAX_ATTEMPTS:
            await self._fail(job, text)
            return
        now = self._clock.now_us()
        wait = _FIRST_RETRY_US * 2 ** max(0, job.attempts - 1)
        await self._store.finish(job, JobState.PENDING, now, error=text, run_after=now + wait)

    async def _fail(self, job: Job, text: str) -> None:
        await self._store.finish(job, JobState.FAILED, self._clock.now_us(), error=text)

    async def _watch(
        self, job: Job, context: JobContext, work: asyncio.Future[Mapping[str, Any]]
    ) -> None:
        """Prolong the lease, keep the progress, and end the work once the lease is lost."""
        beat = self._clock.now_us()
        while True:
            await asyncio.sleep(self._tick_s)
            now = self._clock.now_us()
            told = context.take()
            try:
                if told is not None or now - beat >= self._lease_us // 3:
                    held = await self._store.heartbeat(job, now, self._lease_us, told)
                    beat = now
                else:
                    held = await self._store.held(job)
            except RemembrancerError:
                log.warning("looking after job %s failed", job.id.hex(), exc_info=True)
                continue
            if not held:
                context.cancelled = True
                work.cancel()
                return
