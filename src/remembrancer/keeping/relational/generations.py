"""Embedding generations: whose vectors the store keeps, which are missing, which are in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...nouns.errors import NotFound
from ...nouns.memory import BankRef
from ..batch import VectorPatch
from ..generations import Generation, PendingUnit
from . import put, rows
from .apply import advance
from .banks import owned
from .db import Db
from .work import Unchanged, Work

_FIRST_KEY = -(1 << 63)


def listing(db: Db) -> list[Generation]:
    """Return the generations, oldest first."""
    return [rows.generation(row) for row in db.all("generation_list")]


def begin(db: Db, fingerprint: Mapping[str, Any]) -> Generation:
    """Return the generation of a fingerprint, made when new; the first one is active."""
    text = rows.fingerprint(fingerprint)
    db.lock_generations()
    known = listing(db)
    for generation in known:
        if rows.fingerprint(generation.fingerprint) == text:
            raise Unchanged(generation)
    number = db.value("generation_next")
    db.run("generation_insert", number, text, int(not known))
    db.run("generation_fill", number)
    return Generation(number, rows.parsed(text), not known)


def pending(db: Db, number: int, limit: int, after: PendingUnit | None) -> list[PendingUnit]:
    """Return units without a vector of a generation, in the order of bank key and unit id."""
    key, unit_id = (_FIRST_KEY, b"") if after is None else (after.ref.key, after.unit_id)
    found = db.all("pending_page", number, key, unit_id, limit)
    return [PendingUnit(BankRef(tenant, name), unit_id) for tenant, name, unit_id in found]


def pending_count(db: Db, number: int) -> int:
    """Count the units without a vector of a generation."""
    count: int = db.value("pending_count", number)
    return count


def write(db: Db, ref: BankRef, number: int, patches: Sequence[VectorPatch], now: int) -> None:
    """Write vectors of one generation; those of the active one raise the revision."""
    db.lock_bank(ref.key)
    generation = _get(db, number)
    if not owned(db, ref):
        return
    work = Work(db, ref.key, now, number, (number,))
    put.vectors(work, patches)
    if generation.active and work.changed:
        advance(work, ref)


def activate(db: Db, number: int) -> bool:
    """Make a generation the active one and forget the others, unless units still wait for it."""
    db.lock_generations()
    _get(db, number)
    if db.value("pending_any", number):
        return False
    db.run("generation_switch", number)
    for name in ("generation_forget_vectors", "generation_forget_pending", "generation_forget"):
        db.run(name, number)
    db.run("deletions_note")
    return True


def _get(db: Db, number: int) -> Generation:
    row = db.one("generation_get", number)
    if row is None:
        raise NotFound(f"there is no embedding generation {number}", field="number")
    return rows.generation(row)
