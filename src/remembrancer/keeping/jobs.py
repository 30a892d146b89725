"""Jobs and triggers: the rows that background work runs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..nouns.memory import BankRef, Job, JobState
from .batch import Trigger


class JobStore(Protocol):
    """The part of a store that keeps background work. Batches enqueue it."""

    async def claim(
        self, kinds: Sequence[str], now: int, lease_us: int, limit: int = 1
    ) -> list[Job]:
        """Lease due pending jobs and processing ones whose lease ran out; oldest first."""
        ...

    async def heartbeat(self, job: Job, now: int, lease_us: int) -> bool:
        """Prolong a lease; False when it was lost (its fence is no longer the row's)."""
        ...

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
        """End a lease with `state` (`PENDING`: again at `run_after`); False when it was lost."""
        ...

    async def job(self, ref: BankRef, job_id: bytes) -> Job | None:
        """Return a job of this bank, or None."""
        ...

    async def jobs(
        self, ref: BankRef, *, state: JobState | None = None, limit: int = 20, offset: int = 0
    ) -> list[Job]:
        """Return a bank's jobs, newest first."""
        ...

    async def job_count(self, ref: BankRef, *, state: JobState | None = None) -> int:
        """Count a bank's jobs."""
        ...

    async def job_cancel(self, ref: BankRef, job_id: bytes, now: int) -> bool:
        """Cancel a pending job; False when it is in another state or does not exist."""
        ...

    async def due(self, before: int, limit: int = 100) -> list[Trigger]:
        """Return triggers due before a time, over all banks, soonest first."""
        ...

    async def trigger_drop(self, ref: BankRef, trigger_id: bytes) -> bool:
        """Remove a trigger; False when it is gone already."""
        ...
