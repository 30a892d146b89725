"""What language models may use, and have used: tokens and calls by bank, tenant and day (UTC).

Before a question is sent its most is set aside, and afterwards what it used is put in its place,
so that a cap is never passed, whoever asks at the same time. A process that dies in between leaves
what was set aside counted: the caps hold all the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...keeping.batch import Batch
from ...keeping.records import Record
from ...keeping.store import Store
from ...models.llm.types import Usage
from ...nouns.clock import Clock, from_us
from ...nouns.errors import BudgetSpent, Conflict
from ...nouns.memory import BankRef
from ...nouns.names import OF_TENANT

DAY_US = 86_400_000_000
SPENT = "llm_day"
"""The kind of the records: key is `DAY/BANK`, and `DAY/` for all banks of the tenant."""

_TRIES = 50
_KEPT = 20_000  # records of a tenant


@dataclass(frozen=True, slots=True)
class Caps:
    """Most that may be used; None: as much as there is. Those of banks and tenants are a day's."""

    operation_tokens: int | None = None
    operation_calls: int | None = None
    bank_tokens: int | None = None
    bank_calls: int | None = None
    tenant_tokens: int | None = None
    tenant_calls: int | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used in a day, what is set aside for questions under way among it."""

    tokens: int = 0
    calls: int = 0
    failed: int = 0


class Ledger:
    """Counts, and says no; everything it needs is passed in."""

    def __init__(self, store: Store, caps: Caps, *, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.caps = caps

    async def set_aside(self, ref: BankRef, tokens: int) -> str:
        """Set tokens and one call aside; return the day that they count to.

        Raises:
            BudgetSpent: a cap of the bank's or the tenant's day would be passed.
        """
        now = self._clock.now_us()
        day = _day(now)
        await self._add(ref, day, Spent(tokens, 1), self.caps, now)
        return day

    async def settle(self, ref: BankRef, day: str, tokens: int, usage: Usage) -> None:
        """Put what was used in the place of what was set aside."""
        more = Spent(usage.total - tokens, usage.calls - 1, usage.failed)
        await self._add(ref, day, more, Caps(), self._clock.now_us())

    async def spent(self, ref: BankRef) -> tuple[Spent, Spent]:
        """Return what a bank and its tenant have used today."""
        day = _day(self._clock.now_us())
        house = BankRef(ref.tenant, OF_TENANT)
        bank = await self._store.record(house, SPENT, f"{day}/{ref.bank}")
        tenant = await self._store.record(house, SPENT, f"{day}/")
        return _spent(bank), _spent(tenant)

    async def spent_by(self, tenant: str) -> Spent:
        """Return what a tenant has used today."""
        return (await self.spent(BankRef(tenant, OF_TENANT)))[1]

    async def _add(self, ref: BankRef, day: str, more: Spent, caps: Caps, now: int) -> None:
        house = BankRef(ref.tenant, OF_TENANT)
        keys = (f"{day}/{ref.bank}", f"{day}/")
        for _ in range(_TRIES):
            async with self._store.snapshot(house) as view:
                revision = view.revision
            old = [await self._store.record(house, SPENT, key) for key in keys]
            sums = [_sum(_spent(each), more) for each in old]
            _check("bank", sums[0], caps.bank_tokens, caps.bank_calls, now)
            _check("tenant", sums[1], caps.tenant_tokens, caps.tenant_calls, now)
            records = [
                Record(
                    SPENT,
                    key,
                    before.created_at if before else now,
                    now,
                    {"tokens": s.tokens, "calls": s.calls, "failed": s.failed},
                )
                for key, before, s in zip(keys, old, sums, strict=True)
            ]
            try:
                await self._store.apply(house, Batch(records=records, expect_revision=revision))
            except Conflict:
                continue
            if old[1] is None:
                await self._store.record_trim(house, SPENT, _KEPT)
            return
        raise Conflict("what language models use could not be counted: too many do at once")


def _check(whose: str, new: Spent, tokens: int | None, calls: int | None, now: int) -> None:
    for name, used, cap in (("tokens", new.tokens, tokens), ("calls", new.calls, calls)):
        if cap is not None and used > cap:
            raise BudgetSpent(
                f"the {whose}'s {cap} {name} of language models for today are used up; "
                "it goes on tomorrow (UTC)",
                resumes_at=(now // DAY_US + 1) * DAY_US,
            )


def _sum(one: Spent, more: Spent) -> Spent:
    return Spent(
        max(0, one.tokens + more.tokens), max(0, one.calls + more.calls), one.failed + more.failed
    )


def _spent(record: Record | None) -> Spent:
    if record is None:
        return Spent()
    return Spent(record.data["tokens"], record.data["calls"], record.data["failed"])


def _day(now: int) -> str:
    return from_us(now).date().isoformat()
