"""The Store protocol's records and values over SQL."""

from __future__ import annotations

from collections.abc import Sequence

from ...nouns.memory import BankRef
from ..records import Record
from . import records
from .calls import Calls


class RecordCalls(Calls):
    """See `keeping.records.RecordStore`."""

    async def record(self, ref: BankRef, kind: str, key: str) -> Record | None:
        """Return a record, or None."""
        return await self._read(records.get, ref, kind, key)

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
        """Return a bank's records of a kind, newest first."""
        return await self._read(records.listing, ref, kind, since, until, limit, offset)

    async def record_count(
        self, ref: BankRef, kind: str, *, since: int | None = None, until: int | None = None
    ) -> int:
        """Count a bank's records of a kind."""
        return await self._read(records.count, ref, kind, since, until)

    async def records_of(self, kind: str, limit: int = 1_000) -> list[tuple[BankRef, Record]]:
        """Return records of a kind over all tenants and banks, oldest first."""
        return await self._read(records.everywhere, kind, limit)

    async def record_add(self, new: Sequence[tuple[BankRef, Record]]) -> int:
        """Put records of several banks outside revision and feed; return how many were put."""
        return await self._write(records.add, new)

    async def record_trim(self, ref: BankRef, kind: str, keep: int) -> int:
        """Drop all but the newest `keep` records of a kind; return how many went."""
        return await self._write(records.trim, ref, kind, keep)

    async def blob_put(
        self, ref: BankRef, key: str, value: bytes, expires_at: int | None = None
    ) -> bool:
        """Keep a value under a new key; False when the key is taken. Creates the bank."""
        return await self._write(
            records.blob_put, ref, key, value, expires_at, self._clock.now_us()
        )

    async def blob_get(self, ref: BankRef, key: str, now: int) -> bytes | None:
        """Return a kept value unless it has expired."""
        return await self._read(records.blob_get, ref, key, now)
