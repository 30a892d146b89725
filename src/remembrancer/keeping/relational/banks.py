"""Banks: find, create, list, drop; and the trimming of their feeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...nouns.memory import Bank, BankRef, Job
from ...nouns.names import UNNAMED
from ..store import BankMark, BanksState
from . import job_put, rows
from .db import Db
from .view import check_owner, read_state

_EMPTIED = (
    "document chunk unit search vector pending access entity entity_alias mention link change"
    " job due blob record sameness curation claim intention occurrence event bank"
).split()


def ensure_bank(db: Db, ref: BankRef, now: int) -> None:
    """Create a bank unless it exists; refuse it when its key belongs to another one."""
    named = db.one("bank_named", ref.key)
    if named is None:
        db.run("bank_insert", ref.key, ref.tenant, ref.bank, now)
    else:
        check_owner(ref, *named)


def owned(db: Db, ref: BankRef) -> bool:
    """Tell whether a bank exists; refuse it when its key belongs to another one."""
    named = db.one("bank_named", ref.key)
    if named is not None:
        check_owner(ref, *named)
    return named is not None


def get(db: Db, ref: BankRef) -> Bank | None:
    """Return a bank, or None."""
    if not owned(db, ref):
        return None
    return rows.bank(db.all("bank_get", ref.key)[0])


def listing(db: Db, tenant: str, limit: int, offset: int, containing: str | None) -> list[Bank]:
    """Return a tenant's banks by name."""
    return [rows.bank(row) for row in db.all("bank_list", tenant, containing, limit, offset)]


def count(db: Db, tenant: str, containing: str | None) -> int:
    """Count a tenant's banks."""
    found: int = db.value("bank_count", tenant, containing)
    return found


def state(db: Db, tenant: str) -> BanksState:
    """Return what tells whether anything of a tenant's memories has changed."""
    return BanksState(*db.all("banks_state", tenant)[0])


def marks(db: Db, tenant: str, limit: int) -> list[BankMark]:
    """Return how a tenant's banks stand, by name."""
    found = db.all("bank_marks", tenant, UNNAMED, limit)
    return [BankMark(BankRef(tenant, name), *rest) for name, *rest in found]


def vectors(db: Db, generation: int, refs: Sequence[BankRef]) -> list[tuple[int, bytes, float]]:
    """Return all vectors of banks: the bank's key, codes, scale."""
    return [
        (ref.key, bytes(codes), scale)
        for ref in refs
        for codes, scale in db.all("bank_vectors", ref.key, generation)
    ]


def put(db: Db, ref: BankRef, profile: Mapping[str, Any], now: int) -> Bank:
    """Create a bank or replace its profile."""
    db.lock_bank(ref.key)
    ensure_bank(db, ref, now)
    db.run("bank_profile", ref.key, rows.dump(profile), now)
    return rows.bank(db.all("bank_get", ref.key)[0])


def change(
    db: Db, ref: BankRef, edit: Callable[[Mapping[str, Any]], Mapping[str, Any]], now: int
) -> Bank:
    """Create a bank or change its profile."""
    db.lock_bank(ref.key)
    old = get(db, ref)
    return put(db, ref, edit(old.profile if old else {}), now)


def drop(db: Db, ref: BankRef, then: Job | None, now: int) -> int:
    """Delete a bank with everything in it; return how many units went."""
    for key in sorted({ref.key, ref.key if then is None else then.ref.key}):
        db.lock_bank(key)
    if not owned(db, ref):
        return 0
    state = read_state(db, ref)
    db.run("floor_raise", state.revision + 1)
    for table in _EMPTIED:
        db.run(f"drop_{table}", ref.key)
    db.run("deletions_note")
    if then is not None:
        ensure_bank(db, then.ref, now)
        job_put.insert(db, then.ref, [then], now)
    return state.sources + state.facts + state.observations


def locate(db: Db, tenant: str, unit_ids: Sequence[bytes]) -> dict[bytes, BankRef]:
    """Find the banks of units by id alone, within one tenant."""
    found = db.all_in("unit_locate", unit_ids, tenant)
    return {unit_id: BankRef(tenant, name) for unit_id, name in found}


def trim_changes(db: Db, ref: BankRef, up_to: int) -> int:
    """Drop feed entries up to a revision; return how many went."""
    db.lock_bank(ref.key)
    if not owned(db, ref):
        return 0
    db.run("change_trimmed", ref.key, up_to)
    return db.run("change_trim", ref.key, up_to)
