"""Records of a bank, and values kept under a key."""

from __future__ import annotations

from collections.abc import Sequence

from ...nouns.memory import BankRef
from ..chain import AUDIT
from ..records import Blob, Record, job_of
from . import rows
from .banks import ensure_bank, owned
from .chaining import chained, trimmed
from .db import Db
from .work import Work

_FIRST, _LAST = -(1 << 63), (1 << 63) - 1
_AFTER = "\U0010ffff"  # no key holds it, so it comes after every key with the same beginning


def put(work: Work, new: Sequence[Record]) -> None:
    """Put records; one of the same kind and key keeps when it was made."""
    kept = chained(work.db, work.key, new)
    written = work.db.many(
        "record_put",
        ((work.key, r.kind, r.key, r.created_at, r.updated_at, rows.dump(r.data)) for r in kept),
    )
    work.changed = work.changed or written > 0


def erase(work: Work, names: Sequence[tuple[str, str]]) -> None:
    """Delete records by kind and key."""
    gone = work.db.many("record_delete", ((work.key, kind, key) for kind, key in names))
    work.changed = work.changed or gone > 0
    work.deleted = work.deleted or gone > 0


def erase_blobs(work: Work, prefixes: Sequence[str]) -> None:
    """Delete kept values whose keys begin with one of some texts."""
    spans = ((work.key, prefix, f"{prefix}{_AFTER}") for prefix in prefixes)
    gone = work.db.many("blob_erase", spans)
    work.changed = work.changed or gone > 0
    work.deleted = work.deleted or gone > 0


def put_blobs(work: Work, new: Sequence[Blob]) -> None:
    """Keep values under their keys."""
    written = work.db.many("blob_put", ((work.key, b.key, b.expires_at, b.value) for b in new))
    work.changed = work.changed or written > 0


def get(db: Db, ref: BankRef, kind: str, key: str) -> Record | None:
    """Return a record, or None."""
    row = db.one("record_get", ref.key, kind, key) if owned(db, ref) else None
    return None if row is None else rows.record(row)


def listing(
    db: Db, ref: BankRef, kind: str, since: int | None, until: int | None, limit: int, offset: int
) -> list[Record]:
    """Return a bank's records of a kind, newest first."""
    if not owned(db, ref):
        return []
    found = db.all("record_list", ref.key, kind, *_span(since, until), limit, offset)
    return [rows.record(row) for row in found]


def count(db: Db, ref: BankRef, kind: str, since: int | None, until: int | None) -> int:
    """Count a bank's records of a kind."""
    if not owned(db, ref):
        return 0
    found: int = db.value("record_count", ref.key, kind, *_span(since, until))
    return found


def everywhere(db: Db, kind: str, limit: int) -> list[tuple[BankRef, Record]]:
    """Return records of a kind over all tenants and banks, oldest first."""
    return [
        (BankRef(tenant, name), rows.record(row))
        for tenant, name, *row in db.all("record_everywhere", kind, limit)
    ]


def add(db: Db, new: Sequence[tuple[BankRef, Record]]) -> int:
    """Put records of the banks that exist; return how many were put."""
    for key in sorted({ref.key for ref, _ in new}):
        db.lock_bank(key)
    there = {ref: owned(db, ref) for ref, _ in new}
    kept: dict[int, list[Record]] = {}
    for ref, record in new:
        if there[ref]:
            kept.setdefault(ref.key, []).append(record)
    db.many(
        "record_put",
        (
            (key, r.kind, r.key, r.created_at, r.updated_at, rows.dump(r.data))
            for key, found in kept.items()
            for r in chained(db, key, found)
        ),
    )
    return sum(map(len, kept.values()))


def trim(db: Db, ref: BankRef, kind: str, keep: int) -> int:
    """Drop all but the newest records of a kind; return how many went."""
    db.lock_bank(ref.key)
    gone = db.run("record_trim", ref.key, kind, keep) if owned(db, ref) else 0
    if gone:
        db.run("deletions_note")
    if kind == AUDIT:
        trimmed(db, ref.key, gone)
    return gone


def blob_put(
    db: Db, ref: BankRef, key: str, value: bytes, expires_at: int | None, now: int
) -> bool:
    """Keep a value under a new key; a key that has expired counts as new."""
    db.lock_bank(ref.key)
    ensure_bank(db, ref, now)
    db.run("blob_expire", ref.key, key, now)
    return db.run("blob_insert", ref.key, key, expires_at, value) > 0


def sweep_blobs(db: Db, now: int) -> None:
    """Delete values that have expired, but for those of a job that is there."""
    for key, names in expired(db, now).items():
        drop_expired(db, key, names, now)


def expired(db: Db, now: int) -> dict[int, list[str]]:
    """Return the keys of values that have expired, by the key of their bank."""
    found: dict[int, list[str]] = {}
    for key, name in db.all("blob_expired", now):
        found.setdefault(key, []).append(name)
    return found


def drop_expired(db: Db, key: int, names: Sequence[str], now: int) -> None:
    """Delete values of a bank that have expired, but for those of a job that is there."""
    db.lock_bank(key)
    going = [
        name
        for name in names
        if (job := job_of(name)) is None or not db.all_in("job_known", [job], key)
    ]
    if db.many("blob_expire", ((key, name, now) for name in going)):
        db.run("deletions_note")


def blob_get(db: Db, ref: BankRef, key: str, now: int) -> bytes | None:
    """Return a kept value unless it has expired."""
    row = db.one("blob_get", ref.key, key, now) if owned(db, ref) else None
    return None if row is None else row[0]


def _span(since: int | None, until: int | None) -> tuple[int, int]:
    return (_FIRST if since is None else since, _LAST if until is None else until)
