"""The Store protocol's jobs and triggers over SQLite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...nouns.memory import BankRef, Job, JobState
from ..batch import Trigger
from . import jobs
from .calls import Calls


class JobCalls(Calls):
    """See `keeping.jobs.JobStore`."""

    async def claim(
        self, kinds: Sequence[str], now: int, lease_us: int, limit: int = 1
    ) -> list[Job]:
        """Lease pending jobs that are due, and processing ones whose lease ran out."""
        places = await self._read(jobs.poll, kinds, now, limit)
        if not places:
            return []
        return await self._write(jobs.claim, places, now, lease_us)

    async def heartbeat(self, job: Job, now: int, lease_us: int) -> bool:
        """Prolong a lease; False when it was lost (its fence is no longer the row's)."""
        return await self._write(jobs.heartbeat, job, now, lease_us)

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

    async def job(self, ref: BankRef, job_id: bytes) -> Job | None:
        """Return a job of this bank, or None."""
        return await self._read(jobs.get, ref, job_id)

    async def jobs(
        self, ref: BankRef, *, state: JobState | None = None, limit: int = 20, offset: int = 0
    ) -> list[Job]:
        """Return a bank's jobs, newest first."""
        return await self._read(jobs.listing, ref, state, limit, offset)

    async def job_count(self, ref: BankRef, *, state: JobState | None = None) -> int:
        """Count a bank's jobs."""
        return await self._read(jobs.count, ref, state)

    async def job_cancel(self, ref: BankRef, job_id: bytes, now: int) -> bool:
        """Cancel a pending job; False when it is in another state or does not exist."""
        return await self._write(jobs.cancel, ref, job_id, now)

    async def due(self, before: int, limit: int = 100) -> list[Trigger]:
        """Return triggers due at or before a time, over all banks, soonest first."""
        return await self._read(jobs.due, before, limit)

    async def trigger_drop(self, ref: BankRef, trigger_id: bytes) -> bool:
        """Remove a trigger; False when it is gone already."""
        return await self._write(jobs.trigger_drop, ref, trigger_id)
