"""Records: small JSON rows of a bank beside its memories, and values kept under a key."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..nouns.memory import BankRef

COPIES = "copy/"
"""How keys of values begin that hold copies of memories; erasing a memory drops them all."""

FORGOTTEN = "forgotten"
"""The kind of the records that tell which documents were forgotten, by `forgotten_key`."""

_JOB = "job/"


def forgotten_key(name: str) -> str:
    """Return the key of the record of a document that was forgotten: a hash, not its name."""
    return hashlib.blake2b(name.encode(), digest_size=16).hexdigest()


def of_job(job_id: bytes) -> str:
    """Return how keys of values begin that a job works on: a part of its payload.

    They may be put before the job, to expire if it never comes: a sweep leaves those of a job that
    is there. A store drops them when it takes the payload out: the job has completed, or was
    deleted or forgotten.
    """
    return f"{_JOB}{job_id.hex()}/"


def job_of(key: str) -> bytes | None:
    """Return the id of the job that works on a value, or None."""
    name = key.removeprefix(_JOB).partition("/")[0]
    if not key.startswith(_JOB) or len(name) != 32:
        return None
    try:
        return bytes.fromhex(name)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Record:
    """One row of a kind that its owner names (`webhook`, `audit`, ...).

    Unique by bank, kind and key. Putting one that exists replaces its data and `updated_at`.
    """

    kind: str
    key: str
    created_at: int
    updated_at: int
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Blob:
    """A value under a key of a bank; gone from `expires_at` on. Putting it again replaces it."""

    key: str
    value: bytes
    expires_at: int | None = None


class RecordStore(Protocol):
    """The part of a store that keeps records and values. Batches put and erase records."""

    async def record(self, ref: BankRef, kind: str, key: str) -> Record | None:
        """Return a record, or None."""
        ...

    async def records(
        self,
        ref: BankRef,
        kind: str,
        *,
        since: int | None = None,
        until: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Record]:
        """Return a bank's records of a kind, newest first (key descending on ties).

        `since` (inclusive) and `until` (exclusive) bound `created_at`.
        """
        ...

    async def record_count(
        self, ref: BankRef, kind: str, *, since: int | None = None, until: int | None = None
    ) -> int:
        """Count a bank's records of a kind."""
        ...

    async def records_of(self, kind: str, limit: int = 1_000) -> list[tuple[BankRef, Record]]:
        """Return records of a kind over all tenants and banks, oldest first: for upkeep alone."""
        ...

    async def record_add(self, new: Sequence[tuple[BankRef, Record]]) -> int:
        """Put records of several banks outside revision and feed; return how many were put.

        Those of banks that do not exist are left out.
        """
        ...

    async def record_trim(self, ref: BankRef, kind: str, keep: int) -> int:
        """Drop all but the newest `keep` records of a kind; return how many went."""
        ...

    async def blob_put(
        self, ref: BankRef, key: str, value: bytes, expires_at: int | None = None
    ) -> bool:
        """Keep a value under a new key (idempotency keys, files); False when the key is taken."""
        ...

    async def blob_get(self, ref: BankRef, key: str, now: int) -> bytes | None:
        """Return a kept value unless it has expired."""
        ...
