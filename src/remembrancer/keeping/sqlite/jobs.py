"""Jobs and triggers: the rows that background work runs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...nouns.memory import BankRef, Job, JobState
from ..batch import Trigger
from . import rows
from .banks import owned
from .connection import Db

Place = tuple[int, bytes]
"""Where a job stands: bank key and job id."""


def poll(db: Db, kinds: Sequence[str], now: int, limit: int) -> list[Place]:
    """Find jobs that may be claimed, oldest first; a read, so that idle workers lock nothing."""
    found = db.all_in("job_poll", sorted(set(kinds)), now, limit)
    return [(key, job_id) for key, job_id in found[:limit]]


def claim(db: Db, places: Sequence[Place], now: int, lease_us: int) -> list[Job]:
    """Lease those of some jobs that are still to be had, each by a change of its bank alone."""
    claimed: list[Job] = []
    for key, job_id in places:
        row = db.one("job_claim", key, job_id, now, now + lease_us)
        if row is not None:
            claimed.append(rows.job(BankRef(*db.all("bank_named", key)[0]), row))
    return claimed


def heartbeat(db: Db, job: Job, now: int, lease_us: int) -> bool:
    """Prolong a lease; False when it was lost."""
    return db.run("job_heartbeat", job.ref.key, job.id, job.fence, now + lease_us, now) > 0


def finish(
    db: Db,
    job: Job,
    state: JobState,
    now: int,
    result: Mapping[str, Any] | None,
    error: str | None,
    run_after: int,
) -> bool:
    """End a lease; False when it was lost."""
    ready_at = run_after if state is JobState.PENDING else None
    return (
        db.run(
            "job_finish",
            job.ref.key,
            job.id,
            job.fence,
            str(state),
            now,
            rows.dump_some(result),
            error,
            run_after,
            ready_at,
        )
        > 0
    )


def get(db: Db, ref: BankRef, job_id: bytes) -> Job | None:
    """Return a job of a bank, or None."""
    row = db.one("job_get", ref.key, job_id) if owned(db, ref) else None
    return None if row is None else rows.job(ref, row)


def listing(db: Db, ref: BankRef, state: JobState | None, limit: int, offset: int) -> list[Job]:
    """Return a bank's jobs, newest first."""
    if not owned(db, ref):
        return []
    wanted = None if state is None else str(state)
    return [rows.job(ref, row) for row in db.all("job_list", ref.key, wanted, limit, offset)]


def count(db: Db, ref: BankRef, state: JobState | None) -> int:
    """Count a bank's jobs."""
    if not owned(db, ref):
        return 0
    found: int = db.value("job_count", ref.key, None if state is None else str(state))
    return found


def cancel(db: Db, ref: BankRef, job_id: bytes, now: int) -> bool:
    """Cancel a pending job; False when there is none."""
    return owned(db, ref) and db.run("job_cancel", ref.key, job_id, now) > 0


def due(db: Db, before: int, limit: int) -> list[Trigger]:
    """Return triggers due at or before a time, soonest first."""
    return [rows.trigger(row) for row in db.all("due_list", before, limit)]


def trigger_drop(db: Db, ref: BankRef, trigger_id: bytes) -> bool:
    """Remove a trigger; False when it is gone already."""
    return owned(db, ref) and db.run("due_delete", ref.key, trigger_id) > 0
