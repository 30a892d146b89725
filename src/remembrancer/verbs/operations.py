"""Operations: how queued work stands, and cancelling, retrying and deleting it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..keeping.store import Store
from ..nouns.clock import Clock
from ..nouns.errors import Conflict, NotFound
from ..nouns.memory import BankRef, Job, JobState

OPEN = (JobState.PENDING, JobState.PROCESSING)


@dataclass(frozen=True, slots=True)
class Operation:
    """One piece of queued work; a parent with its children, in order."""

    job: Job
    children: Sequence[Job] = ()

    @property
    def result(self) -> Mapping[str, Any] | None:
        """What came of it; of a parent: its children's results added up."""
        if not self.job.batch:
            return self.job.result
        results = [child.result for child in self.children if child.result is not None]
        return _added(results) if results else self.job.result

    @property
    def progress(self) -> Mapping[str, Any] | None:
        """How far it is; of a parent: how many of its children have ended."""
        if not self.job.batch or self.job.state is not JobState.PROCESSING:
            return self.job.progress
        ended = [child for child in self.children if child.state not in OPEN]
        return {
            "stage": "documents",
            "at": self.job.updated_at,
            "processed": len(ended),
            "total": len(self.children),
            "detail": None,
        }

    @property
    def attempts(self) -> int:
        """Attempts so far; of a parent: the most of any child."""
        return max((job.attempts for job in (self.job, *self.children)), default=0)

    @property
    def next_attempt(self) -> int | None:
        """When it is tried again, in microseconds; None when it does not wait for that."""
        waiting = [
            job.run_after
            for job in (self.children if self.job.batch else (self.job,))
            if job.state is JobState.PENDING and job.attempts > 0
        ]
        return min(waiting, default=None)


class Operations:
    """The verbs about a bank's operations; everything they need is passed in."""

    def __init__(self, store: Store, *, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def get(
        self, ref: BankRef, operation_id: bytes, *, payload: bool = False
    ) -> Operation | None:
        """Return an operation of this bank, or None."""
        job = await self._store.job(ref, operation_id, payload=payload)
        if job is None:
            return None
        return Operation(job, await self._store.job_children(ref, job.id) if job.batch else ())

    async def cancel(self, ref: BankRef, operation_id: bytes) -> None:
        """Cancel what has not ended, children included.

        What runs may write nothing more once this has returned, and is stopped within seconds in
        whichever process it runs. A document that was being replaced is whole, the old or the new.

        Raises:
            NotFound: there is no such operation.
            Conflict: it has ended.
        """
        if not await self._store.job_cancel(ref, operation_id, self._clock.now_us()):
            raise await self._refused(ref, operation_id, "cancelled", "pending or processing")

    async def retry(self, ref: BankRef, operation_id: bytes) -> None:
        """Queue what failed or was cancelled again; of a parent, such children.

        Raises:
            NotFound: there is no such operation.
            Conflict: it is in another state, or its contents were forgotten meanwhile.
        """
        if not await self._store.job_retry(ref, operation_id, self._clock.now_us()):
            raise await self._refused(ref, operation_id, "retried", "failed or cancelled")

    async def delete(self, ref: BankRef, operation_id: bytes) -> None:
        """Delete an operation that has ended, with its children.

        Raises:
            NotFound: there is no such operation.
            Conflict: it has not ended.
        """
        if not await self._store.job_delete(ref, operation_id, self._clock.now_us()):
            raise await self._refused(
                ref, operation_id, "deleted", "completed, failed or cancelled"
            )

    async def _refused(
        self, ref: BankRef, operation_id: bytes, what: str, states: str
    ) -> NotFound | Conflict:
        operation = await self.get(ref, operation_id)
        if operation is None:
            return NotFound("there is no such operation in this bank", field="operation_id")
        job = operation.job
        if what == "retried" and job.state in (JobState.FAILED, JobState.CANCELLED):
            return Conflict(
                f"the operation is {job.state} and cannot be retried: its contents were forgotten",
                field="operation_id",
            )
        return Conflict(
            f"the operation is {job.state}; only one that is {states} can be {what}",
            field="operation_id",
        )


def _added(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up counts and join lists; of anything else the first is kept."""
    total: dict[str, Any] = {}
    for result in results:
        for key, value in result.items():
            if isinstance(value, list) or (
                isinstance(value, int | float) and not isinstance(value, bool)
            ):
                total[key] = total[key] + value if key in total else value
            else:
                total.setdefault(key, value)
    return total
