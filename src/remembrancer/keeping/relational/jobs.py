"""What happens to jobs: claimed, kept alive, ended, cancelled, queued again, deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...nouns.memory import BankRef, Job, JobState
from ..sealing import KeyErased
from . import job_reads, job_rows, rows
from .banks import owned
from .db import Db
from .job_turns import Place, Turns

_DUE = 256  # jobs made ready at a time
_MORE = 4  # times the wanted jobs are looked at, for others may be quicker

_ENDED = (JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED)

Due = tuple[int, bytes]
"""Bank key and id of a job whose time has come."""


def poll(
    db: Db, turns: Turns, kinds: Sequence[str], now: int, limit: int
) -> tuple[list[Due], list[Place]]:
    """Find jobs whose time has come, and those that may be taken, in the order of their turns.

    A read, so that idle workers lock nothing.
    """
    due = [(key, job_id) for key, job_id in db.all("job_due", now, _DUE)]
    return due, [] if due else turns.poll(db, kinds, limit * _MORE)


def make_ready(db: Db, due: Sequence[Due], now: int) -> None:
    """Let jobs be taken whose time to be tried again has come, or whose lease ran out."""
    db.many("job_make_ready", ((key, job_id, now) for key, job_id in due))


def claim(
    db: Db, turns: Turns, places: Sequence[Place], now: int, lease_us: int, limit: int
) -> list[Job]:
    """Lease those of some jobs that are still to be had, each by a change of its bank alone."""
    claimed: list[Job] = []
    for place in places:
        if len(claimed) == limit:
            break
        try:
            row = db.one("job_claim", place.key, place.id, now, now + lease_us)
        except KeyErased:
            continue  # its tenant is just being erased, and the job goes with the bank
        if row is not None:
            ref = BankRef(*db.all("bank_named", place.key)[0])
            claimed.append(job_rows.read(ref, row))
            turns.served(place)
    return claimed


def heartbeat(
    db: Db, job: Job, now: int, lease_us: int, progress: Mapping[str, Any] | None
) -> bool:
    """Prolong a lease; False when it was lost."""
    told = rows.dump_some(progress)
    return db.run("job_heartbeat", job.ref.key, job.id, job.fence, now + lease_us, now, told) > 0


def held(db: Db, job: Job) -> bool:
    """Tell whether a job still holds its lease."""
    return bool(db.value("job_held", job.ref.key, job.id, job.fence))


def finish(
    db: Db,
    job: Job,
    state: JobState,
    now: int,
    result: Mapping[str, Any] | None,
    error: str | None,
    run_after: int,
    given_back: int = 0,
) -> bool:
    """End a lease; False when it was lost. `given_back`: attempts that do not count."""
    ready_at: int | None = None
    if state is JobState.PENDING and job.document is None:
        ready_at = run_after if run_after > now else 0
    db.lock_bank(job.ref.key)
    ended = db.all(
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
        given_back,
    )
    _let_next(db, job.ref.key, (document for (document,) in ended), now)
    return bool(ended)


def release(db: Db, job: Job, now: int) -> bool:
    """Give a job back unfinished; False when its lease was lost."""
    return finish(db, job, JobState.PENDING, now, job.result, job.error, 0, given_back=1)


def cancel(db: Db, ref: BankRef, job_id: bytes, now: int) -> bool:
    """Cancel an open job, or the open ones of a parent's children; False when there is none."""
    db.lock_bank(ref.key)
    if not owned(db, ref):
        return False
    ended = db.all("job_cancel_children", ref.key, job_id, now)
    if not ended and not job_reads.children(db, ref, job_id):
        ended = db.all("job_cancel", ref.key, job_id, now)
    _let_next(db, ref.key, (document for (document,) in ended), now)
    return bool(ended)


def retry(db: Db, ref: BankRef, job_id: bytes, now: int) -> bool:
    """Queue an ended job again, or those of an ended parent's children; False when none can be."""
    db.lock_bank(ref.key)
    job = job_reads.get(db, ref, job_id, payload=False)
    if job is None or job.state not in (JobState.FAILED, JobState.CANCELLED):
        return False
    renewed = db.all("job_retry_children" if job.batch else "job_retry", ref.key, job_id, now)
    for document, seq in renewed:
        if document is not None:
            db.run("job_hold_back", ref.key, document, seq)
    _let_next(db, ref.key, (document for document, _ in renewed), now)
    return bool(renewed)


def delete(db: Db, ref: BankRef, job_id: bytes, now: int) -> bool:
    """Delete an ended job with its children; False when it has not ended, or is not there."""
    db.lock_bank(ref.key)
    job = job_reads.get(db, ref, job_id, payload=False)
    if job is None or job.state not in _ENDED:
        return False
    parent = None if job.parent is None else job_reads.get(db, ref, job.parent, payload=False)
    if parent is not None:
        db.run("job_settle", ref.key, parent.id, str(parent.state), now)
    db.run("job_delete_children", ref.key, job_id)
    db.run("job_delete", ref.key, job_id)
    db.run("deletions_note")
    return True


def _let_next(db: Db, key: int, documents: Iterable[str | None], now: int) -> None:
    """Let the next job of each document be taken."""
    for name in dict.fromkeys(documents):
        if name is not None:
            db.run("job_next", key, name, now)
