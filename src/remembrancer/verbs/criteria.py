"""forget by criteria: erase the memories that meet all of several conditions.

It is done in transactions of a thousand memories, so that nobody else waits long: what was kept
before the call and meets the criteria is gone when it returns, unless it says `truncated`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from ..keeping.store import Store
from ..keeping.view import Reader
from ..nouns.caller import Caller
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput
from ..nouns.memory import BankRef
from ..nouns.spans import traced
from .forget import Forget
from .lookup import Kept, kept_of
from .noting import Note, some_ids, unnoted
from .policy import Policies, Policy
from .recalling.origins import Origin
from .tenant_banks import all_banks_of, reached

MOST = 100_000
"""Memories that one call forgets."""

_STEP = 1_000


@dataclass(frozen=True, slots=True)
class Criteria:
    """Which memories; all of what is given must hold.

    `unused_since`: last used before this time (microseconds). `used_below`: used less often.
    `worth_below`: decayed to less (see `finding.decay`).
    """

    ids: tuple[bytes, ...] | None = None
    bank: BankRef | None = None
    unused_since: int | None = None
    used_below: int | None = None
    origin: Origin | None = None
    worth_below: float | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing narrows."""
        given = (self.ids, self.bank, self.unused_since, self.used_below, self.origin)
        return all(each is None for each in (*given, self.worth_below))

    @property
    def by_use(self) -> bool:
        """Whether it matters when and how often a memory was used."""
        given = (self.unused_since, self.used_below, self.worth_below)
        return any(each is not None for each in given)

    def met_by(self, kept: Kept, policy: Policy, now: int) -> bool:
        """Tell whether a memory of the bank meets what does not name it."""
        return (
            (self.unused_since is None or kept.used_at < self.unused_since)
            and (self.used_below is None or kept.unit.access_count < self.used_below)
            and (self.origin is None or kept.origin is self.origin)
            and (self.worth_below is None or kept.worth(policy, now) < self.worth_below)
        )


@dataclass(slots=True)
class Forgotten:
    """The receipt: `erased` names every unit that went, `asked` counts those that met the criteria.

    `earlier`: states before corrections that went with them. `truncated`: there may be more.
    """

    asked: int = 0
    earlier: int = 0
    erased: list[bytes] = field(default_factory=list)
    truncated: bool = False
    banks: dict[BankRef, list[bytes]] = field(default_factory=dict)  # what of it stood where


class ForgetMatching:
    """The verb; everything it needs is passed in."""

    def __init__(self, store: Store, forget: Forget, policies: Policies, *, clock: Clock) -> None:
        self._store = store
        self._forget = forget
        self._policies = policies
        self._clock = clock

    @traced("forget by criteria")
    async def __call__(self, caller: Caller, criteria: Criteria, note: Note = unnoted) -> Forgotten:
        """Erase what meets the criteria; ids that are not there are passed over.

        `note` is told what went, also when it fails half-way.

        Raises:
            InvalidInput: no criterion is given, or more ids than are forgotten at once.
        """
        if criteria.empty:
            raise InvalidInput("at least one criterion must be given", field="memory_ids", limit=1)
        if criteria.ids is not None and len(criteria.ids) > MOST:
            raise InvalidInput(
                f"memory_ids has {len(criteria.ids)} ids; the limit is {MOST}",
                field="memory_ids",
                limit=MOST,
            )
        policy = await self._policies.of(caller.tenant)
        if criteria.by_use:
            await self._store.settle_uses()
        now = self._clock.now_us()
        done = Forgotten()
        try:
            async for ref, ids in self._candidates(caller, criteria):
                if done.asked >= MOST:
                    done.truncated = True
                    break
                await self._forget_some(ref, ids, criteria, policy, now, done)
        finally:
            for ref, erased in done.banks.items():
                note(ref, **some_ids(erased))
        return done

    async def _forget_some(
        self,
        ref: BankRef,
        ids: Sequence[bytes],
        criteria: Criteria,
        policy: Policy,
        now: int,
        done: Forgotten,
    ) -> None:
        def work(reader: Reader) -> list[Kept]:
            units = reader.units(ids)
            if criteria.origin is Origin.READ and criteria.ids is None:
                units = reader.read_from([unit.id for unit in units])
            found = kept_of(reader, ref, units)
            return [each for each in found if criteria.met_by(each, policy, now)]

        found = await self._store.read(ref, work)
        for start in range(0, len(found), _STEP):
            part = found[start : start + _STEP]
            receipt = await self._forget(ref, unit_ids=[each.unit.id for each in part])
            gone = set(receipt.erased)
            done.asked += sum(each.unit.id in gone for each in part)
            done.earlier += sum(len(each.earlier) for each in part if each.unit.id in gone)
            done.erased += receipt.erased
            if receipt.erased:
                done.banks.setdefault(ref, []).extend(receipt.erased)

    async def _candidates(
        self, caller: Caller, criteria: Criteria
    ) -> AsyncIterator[tuple[BankRef, Sequence[bytes]]]:
        """Yield ids by bank, up to a thousand at a time."""
        if criteria.ids is not None:
            ids = list(dict.fromkeys(criteria.ids))
            for start in range(0, len(ids), _STEP):
                places = await reached(self._store, caller, ids[start : start + _STEP])
                by_ref: dict[BankRef, list[bytes]] = {}
                for unit_id, ref in places.items():
                    if criteria.bank is None or ref == criteria.bank:
                        by_ref.setdefault(ref, []).append(unit_id)
                for ref, mine in by_ref.items():
                    yield ref, mine
            return
        if criteria.bank is not None:
            async for page in self._pages(criteria.bank):
                yield criteria.bank, page
            return
        async for ref in all_banks_of(self._store, caller):
            async for page in self._pages(ref):
                yield ref, page

    async def _pages(self, ref: BankRef) -> AsyncIterator[list[bytes]]:
        after = b""
        while True:
            async with self._store.snapshot(ref) as view:
                page = await view.unit_ids(None, after, _STEP)
            if not page:
                return
            after = page[-1]
            yield page
