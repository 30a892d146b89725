"""Records: small JSON rows of a bank beside its memories, and values kept under a key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..nouns.memory import BankRef


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
