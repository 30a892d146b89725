"""Chains audit entries as they are written, in the transaction and under the lock of their bank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..chain import AUDIT, BEGIN, CHAIN, HEAD_KEY, HEAD_KIND, linked
from ..records import Record
from . import rows
from .db import Db

_ALWAYS = -(1 << 63), (1 << 63) - 1


def chained(db: Db, bank_key: int, new: Sequence[Record]) -> list[Record]:
    """Return records as they are to be put: audit entries linked, and the head that they make.

    An entry that stands there already keeps its place.
    """
    if not any(record.kind == AUDIT for record in new):
        return list(new)
    head = _head(db, bank_key)
    state = dict(head.data) if head is not None else _begun(db, bank_key)
    done: list[Record] = []
    latest = 0
    for record in new:
        if record.kind == AUDIT:
            there = _get(db, bank_key, AUDIT, record.key)
            if there is not None and CHAIN in there.data:
                continue
            entry = linked(record, state["n"] + 1, state["hash"])
            state |= {"n": entry.data[CHAIN]["n"], "hash": entry.data[CHAIN]["hash"]}
            latest = max(latest, entry.created_at)
            done.append(entry)
        else:
            done.append(record)
    made = head.created_at if head is not None else latest
    return [*done, Record(HEAD_KIND, HEAD_KEY, made, latest, state)]


def trimmed(db: Db, bank_key: int, gone: int) -> None:
    """Count entries that were dropped for age."""
    head = _head(db, bank_key)
    if head is None or not gone:
        return
    older = min(head.data["older"], gone)
    state = {
        **head.data,
        "older": head.data["older"] - older,
        "trimmed": head.data["trimmed"] + gone - older,
    }
    values = HEAD_KIND, HEAD_KEY, head.created_at, head.updated_at, rows.dump(state)
    db.run("record_put", bank_key, *values)


def _begun(db: Db, bank_key: int) -> dict[str, Any]:
    older = db.value("record_count", bank_key, AUDIT, *_ALWAYS)
    return {"n": 0, "hash": BEGIN, "trimmed": 0, "older": older}


def _head(db: Db, bank_key: int) -> Record | None:
    return _get(db, bank_key, HEAD_KIND, HEAD_KEY)


def _get(db: Db, bank_key: int, kind: str, key: str) -> Record | None:
    row = db.one("record_get", bank_key, kind, key)
    return None if row is None else rows.record(row)
