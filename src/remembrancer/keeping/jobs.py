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
        """Lease jobs that are due, and those whose lease ran out.

        Of the highest priority first; of one priority tenants come in turn, within a tenant its
        banks, and within a bank the job that was queued first. A job of a document waits until no
        other one of that document runs and none that was queued before it is pending.
        """
        ...

    async def heartbeat(
        self, job: Job, now: int, lease_us: int, progress: Mapping[str, Any] | None = None
    ) -> bool:
        """Prolong a lease, and keep the progress when it is given; False when it was lost."""
        ...

    async def held(self, job: Job) -> bool:
        """Tell whether a job still holds its lease: its fence is the row's and it is running."""
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

    async def release(self, job: Job, now: int) -> bool:
        """Give a job back unfinished, as if this claim had not been; False when it was lost."""
        ...

    async def job(self, ref: BankRef, job_id: bytes, *, payload: bool = True) -> Job | None:
        """Return a job of this bank, or None; without `payload` that is left empty."""
        ...

    async def job_children(self, ref: BankRef, job_id: bytes) -> list[Job]:
        """Return the children of a job in order, their payloads left empty."""
        ...

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
        """Return a bank's jobs, the last queued first, their payloads left empty.

        Without a `kind` those that are not `listed` are left out; without `parents`, parents.
        """
        ...

    async def job_count(
        self,
        ref: BankRef,
        *,
        state: JobState | None = None,
        kind: str | None = None,
        parents: bool = True,
    ) -> int:
        """Count the jobs that `jobs` would return."""
        ...

    async def job_cancel(self, ref: BankRef, job_id: bytes, now: int) -> bool:
        """Cancel a pending or running job, or those of a parent's children.

        A running one loses its lease in the same transaction, so that its later writes under
        `Batch.fence` are refused. False when nothing could be cancelled.
        """
        ...

    async def job_retry(self, ref: BankRef, job_id: bytes, now: int) -> bool:
        """Queue a failed or cancelled job again, or those of such a parent's children.

        False when nothing could be: it does not exist, is in another state, or its payload was
        forgotten.
        """
        ...

    async def job_delete(self, ref: BankRef, job_id: bytes, now: int) -> bool:
        """Delete a job that has ended, with its children; False when it has not."""
        ...

    async def job_documents(self, ref: BankRef, documents: Sequence[str]) -> list[str]:
        """Return those of some documents' names whose contents a job still holds."""
        ...

    async def due(self, before: int, limit: int = 100) -> list[Trigger]:
        """Return triggers due before a time, over all banks, soonest first."""
        ...

    async def trigger_drop(self, ref: BankRef, trigger_id: bytes) -> bool:
        """Remove a trigger; False when it is gone already."""
        ...
