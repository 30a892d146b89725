"""Which banks of a tenant a question that names none is put to, and in which order.

All of them where they are few. Of more, those that were written last for what is recent; for what
is like a cue, those whose memories are nearest to it by vectors that are kept in memory
(`finding.outline`). Banks of many memories are not outlined: some of them come before.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

from ...finding.outline import BankVector, Outline, bytes_of
from ...keeping.store import BankMark, BanksState, Store
from ...models.embedder import Floats
from ...nouns.caller import Caller
from ...nouns.memory import BankRef
from ...nouns.names import UNNAMED
from ..tenant_banks import MOST_BANKS

MOST_MARKS = 50_000
"""Banks of a tenant that are looked at, by name."""

SMALL = 1_000
"""Memories of a bank that is outlined, at most."""

MOST_BYTES = 64 * 1024 * 1024
"""What all outlines of a process hold; of a tenant that has more, banks written last are told."""

KEPT_S = 30.0
"""Seconds that an outline that is not used is kept; looked after as often, so that vectors of what
was forgotten last at most twice as long."""

_LARGE = MOST_BANKS // 4  # large banks that are asked before others
_PAGE = 500  # banks whose vectors are read at once
_NO_BOUND = math.inf


@dataclass(frozen=True, slots=True)
class Chosen:
    """Banks in the order of asking; `total` is how many the caller reaches.

    `bounds` are the highest keys that candidates of each bank can have; none where all are asked.
    """

    refs: Sequence[BankRef]
    total: int
    bounds: Sequence[float] = ()
    why: str = ""

    def told(self, asked: int) -> str:
        """Say that not all banks were asked, and which."""
        return f"searched {asked} of {self.total} entities, {self.why}: name one to search it"


@dataclass
class _Held:
    """What is known of a tenant's banks, as of a state of theirs; `by_update`: newest first."""

    outline: Outline
    used: float = 0.0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    state: BanksState | None = None
    by_update: list[BankMark] = field(default_factory=list)
    small: dict[int, BankRef] = field(default_factory=dict)  # those that are outlined
    told: BanksState | None = None  # as of which the outline is


class Likely:
    """Chooses banks. `generation` is that whose vectors questions have, of `dim` components."""

    def __init__(self, store: Store, *, generation: int, dim: int) -> None:
        self._store = store
        self._generation = generation
        self._dim = dim
        self._held: OrderedDict[str, _Held] = OrderedDict()  # least recently used first
        self._expiry: asyncio.TimerHandle | None = None

    async def newest(self, caller: Caller) -> Chosen:
        """Return the banks that were written last, of all that the caller reaches."""
        held = self._hold(caller.tenant)
        async with held.turn:
            marks = _reached(await self._marks(caller.tenant, held), caller)
        if len(marks) <= MOST_BANKS:
            return _all(marks)
        most = marks[:MOST_BANKS]
        bounds = [float(mark.updated_at) for mark in most]
        return Chosen([m.ref for m in most], len(marks), bounds, "those written last")

    async def nearest(self, caller: Caller, vector: Floats) -> Chosen:
        """Return the banks whose memories seem nearest to a vector; bounds are cosines."""
        held = self._hold(caller.tenant)
        async with held.turn:
            every = await self._marks(caller.tenant, held)
            marks = _reached(every, caller)
            if len(marks) <= MOST_BANKS:
                return _all(marks)
            await self._tell(caller.tenant, held, every)
            small, only = held.small, None
            if marks is not every:
                small = {m.key: m.ref for m in marks if m.key in small}
                only = small.keys()
            near = await asyncio.to_thread(held.outline.nearest, vector, only)
        first = [mark.ref for mark in marks if mark.ref.bank == UNNAMED]
        first += [m.ref for m in marks if m.memories > SMALL and m.ref.bank != UNNAMED][:_LARGE]
        order = sorted((key for key in near if key in small), key=lambda key: (-near[key], key))
        order = order[: MOST_BANKS - len(first)]
        return Chosen(
            [*first, *(small[key] for key in order)],
            len(marks),
            [*[_NO_BOUND] * len(first), *(near[key] for key in order)],
            "those nearest to the cue",
        )

    def close(self) -> None:
        """Forget what is known."""
        self._held.clear()
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None

    async def _marks(self, tenant: str, held: _Held) -> list[BankMark]:
        """Return a tenant's banks, those written last first; read when any has changed."""
        state = await self._store.banks_state(tenant)
        if held.state != state:
            marks = await self._store.bank_marks(tenant, MOST_MARKS)
            held.by_update = sorted(marks, key=lambda m: (-m.updated_at, m.ref.bank))
            held.small = {mark.key: mark.ref for mark in marks if _outlined(mark)}
            held.state = state
        return held.by_update

    async def _tell(self, tenant: str, held: _Held, marks: Sequence[BankMark]) -> None:
        """Bring the outline up to what the marks say."""
        if held.told == held.state:
            return
        left, revisions = MOST_BYTES // bytes_of(self._dim), {}
        for mark in marks:
            if mark.key in held.small:
                left -= mark.memories
                if left < 0:
                    break
                revisions[mark.key] = mark.revision
        outline = held.outline
        stale = await asyncio.to_thread(outline.stale, revisions)
        read: list[BankVector] = []
        for start in range(0, len(stale), _PAGE):
            refs = [held.small[key] for key in stale[start : start + _PAGE]]
            found = await self._store.bank_vectors(self._generation, refs)
            read += map(BankVector._make, found)
        if stale:
            await asyncio.to_thread(outline.put, {key: revisions[key] for key in stale}, read)
        held.told = held.state
        self._shrink(tenant)

    def _hold(self, tenant: str) -> _Held:
        held = self._held.pop(tenant, None) or _Held(Outline(self._dim))
        held.used = monotonic()
        self._held[tenant] = held
        if self._expiry is None:
            self._expiry = asyncio.get_running_loop().call_later(KEPT_S, self._expire)
        return held

    def _shrink(self, keep: str) -> None:
        for tenant in [t for t in self._held if t != keep]:
            if sum(h.outline.memory_bytes for h in self._held.values()) <= MOST_BYTES:
                return
            del self._held[tenant]

    def _expire(self) -> None:
        before = monotonic() - KEPT_S
        for tenant in [t for t, held in self._held.items() if held.used < before]:
            del self._held[tenant]
        loop = asyncio.get_running_loop()
        self._expiry = loop.call_later(KEPT_S, self._expire) if self._held else None


def _all(marks: Sequence[BankMark]) -> Chosen:
    """Return all banks, that of memories that belong to none first, the others by name."""
    return Chosen(sorted((mark.ref for mark in marks), key=lambda ref: ref.bank), len(marks))


def _reached(marks: list[BankMark], caller: Caller) -> list[BankMark]:
    """Return those that a caller reaches: the same list, if it is not held to some."""
    return [m for m in marks if caller.reaches(m.ref.bank)] if caller.banks else marks


def _outlined(mark: BankMark) -> bool:
    return 0 < mark.memories <= SMALL and mark.ref.bank != UNNAMED
