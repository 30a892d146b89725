"""Tells the audit log which banks a call has changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from ...nouns.caller import Caller
from ...nouns.memory import BankRef
from ...verbs.audit import AuditLog
from ...verbs.noting import Note

TRANSPORT = "grpc"


@dataclass(frozen=True, slots=True)
class _Change:
    ref: BankRef
    action: str
    metadata: dict[str, Any]


_CHANGES: ContextVar[list[_Change]] = ContextVar("changes")


def changed(ref: BankRef, action: str, **metadata: Any) -> None:
    """Note that the call under way has changed a bank; ids, counts and options, no texts.

    Args:
        ref: the bank.
        action: noun and verb, as HTTP names it.
        metadata: of the entry.
    """
    _CHANGES.get().append(_Change(ref, action, metadata))


def noter(action: str) -> Note:
    """Return what notes changes of the call under way, as verbs tell them, under one action."""

    def note(ref: BankRef, **metadata: Any) -> None:
        changed(ref, action, **metadata)

    return note


@contextmanager
def noting() -> Iterator[list[_Change]]:
    """Collect what is noted in the block."""
    changes: list[_Change] = []
    token = _CHANGES.set(changes)
    try:
        yield changes
    finally:
        _CHANGES.reset(token)


def tell(
    log: AuditLog, caller: Caller, method: str, started_at: int, changes: Sequence[_Change]
) -> None:
    """Give the audit log an entry of each change of a call, be it answered or not.

    Args:
        log: of the open memory.
        caller: who called.
        method: the call's full name.
        started_at: when it came, in microseconds.
        changes: see `noting`.
    """
    asked = {"method": method}
    if caller.key_id is not None:
        asked["key_id"] = caller.key_id
    for change in changes:
        entry = log.audit.entry(
            change.action,
            change.metadata,
            transport=TRANSPORT,
            started_at=started_at,
            request=asked,
        )
        log.add(change.ref, entry)
