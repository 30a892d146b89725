"""policy: what holds for all memories of a tenant: how they decay, how much history is kept."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..finding.decay import HALF_LIFE_DAYS
from ..keeping.batch import Batch
from ..keeping.records import Record
from ..keeping.store import Store
from ..nouns.clock import DAY_US, Clock
from ..nouns.errors import Conflict, InvalidInput
from ..nouns.memory import BankRef
from ..nouns.names import OF_TENANT

POLICY = "policy"
"""Kind and key of the record."""

MAX_SNAPSHOTS = 10_000
MAX_MEMORIES = (1 << 32) - 1
_FRESH_US = 1_000_000  # another process may change a policy
_TENANTS = 10_000  # policies kept in memory
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Policy:
    """A tenant's policy.

    `max_snapshots` earlier states of a memory are kept. With `auto_forget`, memories that have
    decayed below `auto_forget_threshold` are forgotten: from when somebody has set that threshold,
    for its default must not cost anybody a memory. So are those kept longer than `max_age_days`
    ago, and the least worthy of a bank with more than `max_memories`; 0: no such bound.
    """

    max_snapshots: int = 100
    auto_forget_threshold: float = 0.01
    decay_half_life_days: float = HALF_LIFE_DAYS
    max_age_days: float = 0.0
    max_memories: int = 0
    auto_forget: bool = False

    @staticmethod
    def read(record: Record | None) -> Policy:
        """Return the policy of a record; the default one when there is none."""
        return Policy(**record.data) if record is not None else Policy()

    @property
    def acts(self) -> bool:
        """Whether memories are forgotten by it."""
        return self.auto_forget or self.max_age_days > 0 or self.max_memories > 0

    @property
    def half_life_us(self) -> float:
        """Microseconds in which an unused memory loses half its worth."""
        return self.decay_half_life_days * DAY_US


class Policies:
    """The verbs; everything they need is passed in."""

    def __init__(self, store: Store, *, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: OrderedDict[str, tuple[int, Policy]] = OrderedDict()

    async def of(self, tenant: str) -> Policy:
        """Return what holds for a tenant, at most a second old."""
        now = self._clock.now_us()
        known = self._known.get(tenant)
        if known is not None and 0 <= now - known[0] < _FRESH_US:
            return known[1]
        return self._keep(tenant, Policy.read(await self._record(tenant)))

    async def change(
        self,
        tenant: str,
        *,
        max_snapshots: int | None = None,
        auto_forget_threshold: float | None = None,
        decay_half_life_days: float | None = None,
        max_age_days: float | None = None,
        max_memories: int | None = None,
    ) -> Policy:
        """Change what is given and return what holds from now on.

        Raises:
            InvalidInput: a value is out of bounds; nothing was changed.
            Conflict: it was changed by others all the time.
        """
        new: dict[str, Any] = {
            "max_snapshots": max_snapshots,
            "auto_forget_threshold": auto_forget_threshold,
            "decay_half_life_days": decay_half_life_days,
            "max_age_days": max_age_days,
            "max_memories": max_memories,
        }
        new = {name: value for name, value in new.items() if value is not None}
        _check(new)
        if "auto_forget_threshold" in new:
            new["auto_forget"] = new["auto_forget_threshold"] > 0
        ref = BankRef(tenant, OF_TENANT)
        for _ in range(_TRIES):
            async with self._store.snapshot(ref) as view:
                revision = view.revision
                old = await self._record(tenant)
            policy = replace(Policy.read(old), **new)
            now = self._clock.now_us()
            record = Record(POLICY, POLICY, old.created_at if old else now, now, asdict(policy))
            try:
                await self._store.apply(ref, Batch(records=[record], expect_revision=revision))
            except Conflict:
                continue
            return self._keep(tenant, policy)
        raise Conflict("the policy is being changed all the time; try again")

    async def _record(self, tenant: str) -> Record | None:
        return await self._store.record(BankRef(tenant, OF_TENANT), POLICY, POLICY)

    def _keep(self, tenant: str, policy: Policy) -> Policy:
        self._known[tenant] = self._clock.now_us(), policy
        self._known.move_to_end(tenant)
        while len(self._known) > _TENANTS:
            self._known.popitem(last=False)
        return policy


def _check(new: Mapping[str, Any]) -> None:
    bounds = {
        "max_snapshots": (0, MAX_SNAPSHOTS),
        "auto_forget_threshold": (0, 2),
        "decay_half_life_days": (0.001, 100_000),
        "max_age_days": (0, 100_000),
        "max_memories": (0, MAX_MEMORIES),
    }
    for name, value in new.items():
        least, most = bounds[name]
        if not math.isfinite(value) or not least <= value <= most:
            raise InvalidInput(f"{name} must be from {least} to {most}", field=name, limit=most)
