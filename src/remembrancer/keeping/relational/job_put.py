"""The parts of `apply` about jobs: queueing them, and forgetting what they hold."""

from __future__ import annotations

from collections.abc import Sequence

from ...nouns.errors import Conflict
from ...nouns.memory import BankRef, Job, JobState
from . import job_rows
from .db import Db
from .work import Work

KEPT = 10_000
"""Jobs that have ended and are kept in each bank; older ones are dropped."""
_TRIM_EVERY = 100  # queued jobs of a bank
_TRIM_MOST = 500  # at a time

FORGOTTEN = "what it was about was forgotten"


def put(work: Work, ref: BankRef, new: Sequence[Job]) -> None:
    """Queue jobs of a bank; see `insert`."""
    inserted = insert(work.db, ref, new, work.now) if new else 0
    work.changed = work.changed or inserted > 0


def insert(db: Db, ref: BankRef, new: Sequence[Job], now: int) -> int:
    """Queue jobs of a bank; return how many are new.

    One whose id is known is left as it is, and its children in `new` are left out with it.

    Raises:
        Conflict: another bank of the tenant has a job of that id.
    """
    ids = [job.id for job in new]
    if db.all_in("job_elsewhere", ids, ref.tenant, ref.key):
        raise Conflict(
            "this id belongs to an operation of another bank; choose another one",
            field="operation_id",
        )
    known = {row[0] for row in db.all_in("job_known", ids, ref.key)}
    fresh = [job for job in new if job.id not in known and job.parent not in known]
    first: int = db.value("job_last", ref.key)
    db.many("job_insert", (job_rows.write(job, _ready_at(job, now)) for job in fresh))
    for name in dict.fromkeys(job.document for job in fresh if job.document is not None):
        db.run("job_next", ref.key, name, now)
    if (first + len(fresh)) // _TRIM_EVERY != first // _TRIM_EVERY:
        _trim(db, ref.key)
    return len(fresh)


def forget(work: Work, names: Sequence[str], fence: tuple[bytes, int] | None) -> None:
    """Take what was erased out of jobs, too.

    Open jobs of an erased document are cancelled, a running one loses its lease; only the job
    that does the erasing (`fence`) goes on. Payloads of ended ones go. Where single units of a
    document were erased, payloads of its ended jobs go, and those of open ones when they end.
    """
    db, key = work.db, work.key
    own = fence[0] if fence is not None else b""
    count = 0
    for name in names:
        count += db.run("job_forget_open", key, name, work.now, FORGOTTEN, own)
        count += db.run("job_forget_ended", key, name, FORGOTTEN)
    for document_id in work.touched:
        for (name,) in db.all("job_document_name", key, document_id):
            count += db.run("job_forget_ended", key, name, FORGOTTEN)
            count += db.run("job_forget_later", key, name)
    work.changed = work.changed or count > 0
    work.deleted = work.deleted or count > 0


def _ready_at(job: Job, now: int) -> int | None:
    if job.batch:
        return None
    if job.state is JobState.PROCESSING:
        return job.lease_until
    if job.state is not JobState.PENDING or job.document is not None:
        return None  # one of a document waits for its turn: see `job_next`
    return job.run_after if job.run_after > now else 0


def _trim(db: Db, key: int) -> None:
    """Drop jobs that ended long ago."""
    cutoff = db.one("job_cutoff", key, KEPT)
    if cutoff is None:
        return
    for (job_id,) in db.all("job_old", key, cutoff[0], _TRIM_MOST):
        db.run("job_delete_children", key, job_id)
        db.run("job_delete", key, job_id)
    db.run("deletions_note")
