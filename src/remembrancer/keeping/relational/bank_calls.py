"""The Store protocol's banks, tenants and batches over SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...nouns.memory import Bank, BankRef, Job
from ..batch import Applied, Batch
from ..store import BankMark, BanksState, Tenant, Totals
from . import banks, stats
from .apply import apply
from .calls import Calls


class BankCalls(Calls):
    """See `keeping.store.Store`."""

    async def apply(self, ref: BankRef, batch: Batch) -> Applied:
        """Write one batch durably; creates the bank when it is new."""
        return await self._write(apply, ref, batch, self._clock.now_us())

    async def bank(self, ref: BankRef) -> Bank | None:
        """Return a bank, or None."""
        return await self._read(banks.get, ref)

    async def banks(
        self, tenant: str, limit: int = 100, offset: int = 0, *, containing: str | None = None
    ) -> list[Bank]:
        """Return a tenant's banks by name."""
        return await self._read(banks.listing, tenant, limit, offset, containing)

    async def bank_count(self, tenant: str, *, containing: str | None = None) -> int:
        """Count a tenant's banks."""
        return await self._read(banks.count, tenant, containing)

    async def banks_state(self, tenant: str) -> BanksState:
        """Return what tells whether anything of a tenant's memories has changed."""
        return await self._read(banks.state, tenant)

    async def bank_marks(self, tenant: str, limit: int) -> list[BankMark]:
        """Return how a tenant's banks stand, by name."""
        return await self._read(banks.marks, tenant, limit)

    async def bank_vectors(
        self, generation: int, refs: Sequence[BankRef]
    ) -> list[tuple[int, bytes, float]]:
        """Return all vectors of banks: the bank's key, codes, scale."""
        return await self._read(banks.vectors, generation, refs)

    async def bank_put(self, ref: BankRef, profile: Mapping[str, Any]) -> Bank:
        """Create a bank or replace its profile; its revision stays."""
        return await self._write(banks.put, ref, profile, self._clock.now_us())

    async def bank_change(
        self, ref: BankRef, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    ) -> Bank:
        """Create a bank or change its profile in one transaction; its revision stays."""
        return await self._write(banks.change, ref, change, self._clock.now_us())

    async def bank_drop(self, ref: BankRef, then: Job | None = None) -> int:
        """Delete a bank with everything in it; return how many units went."""
        return await self._write(banks.drop, ref, then, self._clock.now_us())

    async def totals(self) -> Totals:
        """Count over all tenants and banks."""
        return await self._read(stats.totals)

    async def memory_count(self, tenant: str | None = None) -> int:
        """Count sources and observations of a tenant, or of all."""
        return await self._read(stats.memory_count, tenant)

    async def tenants(self, after: str = "", limit: int = 1_000) -> list[Tenant]:
        """Return the next tenants by name, with what they hold."""
        return await self._read(stats.tenants, after, limit)

    async def tenant(self, name: str) -> Tenant:
        """Return what a tenant holds."""
        return await self._read(stats.tenant, name)

    async def locate(self, tenant: str, unit_ids: Sequence[bytes]) -> dict[bytes, BankRef]:
        """Find the banks of units by id alone, within one tenant."""
        return await self._read(banks.locate, tenant, unit_ids)

    async def trim_changes(self, ref: BankRef, up_to: int) -> int:
        """Drop feed entries up to a revision; return how many went."""
        return await self._write(banks.trim_changes, ref, up_to)
