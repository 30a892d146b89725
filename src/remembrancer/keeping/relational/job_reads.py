"""Jobs as they are shown, parents with the state of their children; and triggers."""

from __future__ import annotations

from collections.abc import Sequence

from ...nouns.memory import BankRef, Job, JobState
from ..batch import Trigger
from . import job_rows, rows
from .banks import owned
from .db import Db


def get(db: Db, ref: BankRef, job_id: bytes, payload: bool) -> Job | None:
    """Return a job of a bank, or None."""
    row = db.one("job_get", ref.key, job_id, int(payload)) if owned(db, ref) else None
    return None if row is None else job_rows.read(ref, row)


def children(db: Db, ref: BankRef, job_id: bytes) -> list[Job]:
    """Return the children of a job, in order."""
    if not owned(db, ref):
        return []
    return [job_rows.read(ref, row) for row in db.all("job_children", ref.key, job_id, 0)]


def listing(
    db: Db,
    ref: BankRef,
    state: JobState | None,
    kind: str | None,
    parents: bool,
    limit: int,
    offset: int,
) -> list[Job]:
    """Return a bank's jobs, the last queued first."""
    if not owned(db, ref):
        return []
    found = db.all("job_list", ref.key, _text(state), 0, kind, int(parents), limit, offset)
    return [job_rows.read(ref, row) for row in found]


def count(db: Db, ref: BankRef, state: JobState | None, kind: str | None, parents: bool) -> int:
    """Count a bank's jobs."""
    if not owned(db, ref):
        return 0
    found: int = db.value("job_count", ref.key, _text(state), 0, kind, int(parents))
    return found


def holding(db: Db, ref: BankRef, documents: Sequence[str]) -> list[str]:
    """Return those of some documents' names whose contents a job still holds."""
    if not owned(db, ref):
        return []
    names = {row[0] for row in db.all_in("job_holding", documents, ref.key)}
    return [name for name in documents if name in names]


def due(db: Db, before: int, limit: int) -> list[Trigger]:
    """Return triggers due at or before a time, soonest first."""
    return [rows.trigger(row) for row in db.all("due_list", before, limit)]


def trigger_drop(db: Db, ref: BankRef, trigger_id: bytes) -> bool:
    """Remove a trigger; False when it is gone already."""
    return owned(db, ref) and db.run("due_delete", ref.key, trigger_id) > 0


def _text(state: JobState | None) -> str | None:
    return None if state is None else str(state)
