"""Rows of the table `job` to jobs and back."""

from __future__ import annotations

import json

from ...nouns.memory import BankRef, Job, JobState
from .rows import Row, dump, dump_some, load


def read(ref: BankRef, row: Row) -> Job:
    """Read a row of `job_columns`."""
    job_id, kind, state, created_at, updated_at, payload, result, error, *more = row
    attempts, run_after, lease_until, fence, parent, part, batch, document, *more = more
    items, priority, listed, kept, progress = more
    return Job(
        id=job_id,
        ref=ref,
        kind=kind,
        state=JobState(state),
        created_at=created_at,
        updated_at=updated_at,
        payload=json.loads(payload),
        result=load(result),
        error=error,
        attempts=attempts,
        run_after=run_after,
        lease_until=lease_until,
        fence=fence,
        parent=parent,
        part=part,
        batch=bool(batch),
        document=document,
        items=items,
        priority=priority,
        listed=bool(listed),
        kept=bool(kept),
        progress=load(progress),
    )


def write(job: Job, ready_at: int | None) -> Row:
    """Write a job as the values of `job_insert`."""
    return (
        job.ref.key,
        job.ref.tenant,
        ready_at,
        job.id,
        job.kind,
        str(job.state),
        job.created_at,
        job.updated_at,
        dump(job.payload),
        dump_some(job.result),
        job.error,
        job.attempts,
        job.run_after,
        job.lease_until,
        job.fence,
        job.parent,
        job.part,
        int(job.batch),
        job.document,
        job.items,
        job.priority,
        int(job.listed),
        int(job.kept),
        dump_some(job.progress),
    )
