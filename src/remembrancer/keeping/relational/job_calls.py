"""The Store protocol's jobs and triggers over SQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from ...nouns.memory import BankRef, Job, JobState
from ..batch import Trigger
from . import job_reads, jobs
from .calls import Calls
from .job_turns import Turns


class JobCalls(Calls):
    """See `keeping.jobs.JobStore`."""

    @cached_property
    def _turns(self) -> defaultdict[frozenset[str], Turns]:
        return defaultdict(Turns)  # each set of kinds has its own, so that none upsets another

    async def claim(
        self, kinds: Sequence[str], now: int, lease_us: int, limit: int = 1
    ) -> list[Job]:
        """Lease pending jobs that are due, and processing ones whose lease ran out."""
        turns = self._turns[frozenset(kinds)]
        due, places = await self._read(jobs.poll, turns, kinds, now, limit)
        while due:
            await self._write(jobs.make_ready, due, now)
            due, places = await self._read(jobs.poll, turns, kinds, now, limit)
        if not places:
            return []
        return await self._write(jobs.claim, turns, places, now, lease_us, limit)

    async def heartbeat(
        self, job: Job, now: int, lease_us: int, progress: Mapping[str, Any] | None = None
    ) -> bool:
        """Prolong a lease; False when it was lost (its fence is no longer the row's)."""
        return await self._write(jobs.heartbeat, job, now, lease_us, progress)

    async def held(self, job: Job) -> bool:
        """Tell whether a job still holds its lease."""
        return await self._read(jobs.held, job)

    async def finish(
        self,
        job: Job,
        state: JobState,
        now: int,
        *,
        result: Mapping[str, Any] | None = None,
        error: str | None = None,
        run_after: int = 0,
    ) -> bool:
        """End a lease with `state` (`PENDING`: try again at `run_after`); False when lost."""
        return await self._write(jobs.finish, job, state, now, result, error, run_after)

    async def release(self, job: Job, now: int) -> bool:
        """Give a job back unfinished; False when its lease was lost."""
        return await self._write(jobs.release, job, now)

    async def job(self, ref: BankRef, job_id: bytes, *, payload: bool = True) -> Job | None:
        """Return a job of this bank, or None."""
        return await self._read(job_reads.get, ref, job_id, payload)

    async def job_children(self, ref: BankRef, job_id: bytes) -> list[Job]:
        """Return the children of a job in order, without their payloads."""
        return await self._read(job_reads.children, ref, job_id)

    async def jobs(
        self,
        ref: BankRef,
        *,
        state: JobState | None = None,
        kind: str | None = None,
        parents: bool = True,
        limit: int = 20,
        offset: int = 0,
    ) -> list[Job]:
        """Return a bank's jobs, the last queued first, without their payloads."""
        return await self._read(job_reads.listing, ref, state, kind, parents, limit, offset)

    async def job_count(
        self,
        ref: BankRef,
        *,
        state: JobState | None = None,
        kind: str | None = None,
        parents: bool = True,
    ) -> int:
        """Count the jobs that `jobs` would return."""
        return await self._read(job_reads.count, ref, state, kind, parents)

    async def job_cancel(self, ref: BankRef, job_id: bytes, now: int) -> bool:
        """Cancel an open job, or a parent's open children; False when there is none."""
        return await self._write(jobs.cancel, ref, job_id, now)

    async def job_retry(self, ref: BankRef, job_id: bytes, now: int) -> bool:
        """Queue an ended job again, or a parent's ended children; False when none can be."""
        return await self._write(jobs.retry, ref, job_id, now)

    async def job_delete(self, ref: BankRef, job_id: bytes, now: int) -> bool:
        """Delete an ended job with its children; False when it has not ended."""
        return await self._write(jobs.delete, ref, job_id, now)

    async def job_documents(self, ref: BankRef, documents: Sequence[str]) -> list[str]:
        """Return those of some documents' names whose contents a job still holds."""
        return await self._read(job_reads.holding, ref, documents)

    async def due(self, before: int, limit: int = 100) -> list[Trigger]:
        """Return triggers due at or before a time, over all banks, soonest first."""
        return await self._read(job_reads.due, before, limit)

    async def trigger_drop(self, ref: BankRef, trigger_id: bytes) -> bool:
        """Remove a trigger; False when it is gone already."""
        return await self._write(job_reads.trigger_drop, ref, trigger_id)
