"""Watches the clock: makes the occurrences of what falls due as time passes, and sends them.

Any number of processes may watch one store. Each sleeps until something is due, or for a moment at
most, since another process may have registered something in between. An occurrence is made once,
by its slot; what is sent is written as jobs in the same transaction that marks it as sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from ...keeping.intentions import IntentionBatch, Offer
from ...keeping.store import Store
from ...nouns.clock import Clock
from ...nouns.errors import Conflict
from ...nouns.ids import IdMaker
from ...nouns.intention import OPEN
from ...nouns.memory import BankRef
from ..reminding.composites import Composites
from ..reminding.plan import Planner
from .outbox import Mail

TICK_S = 0.5
"""How long a watcher sleeps at most."""
_BATCH = 500  # intentions planned, and occurrences sent, in one transaction
_MOST_OPEN = 100_000
_LEAST_S = 0.02  # of sleep, also where something is due that cannot be seen to
_TRIES = 8

log = logging.getLogger(__name__)


class Sender(Protocol):
    """Makes what is to be written for occurrences to be sent."""

    async def __call__(self, ref: BankRef, offers: Sequence[Offer]) -> Mail:
        """Return records and jobs; none when nobody is to be told."""
        ...


class Watch:
    """The watcher; everything it needs is passed in."""

    def __init__(
        self,
        store: Store,
        sender: Sender,
        composites: Composites,
        *,
        ids: IdMaker,
        clock: Clock,
        tick_s: float = TICK_S,
    ) -> None:
        self._store = store
        self._sender = sender
        self._composites = composites
        self._ids = ids
        self._clock = clock
        self._tick_s = tick_s
        self._woken = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self.on_due: list[Callable[[BankRef], None]] = []
        """Called when a bank has something new to offer: by streams, and by the worker."""

    def start(self) -> None:
        """Begin to watch."""
        self._loop = asyncio.create_task(self._watch())

    def wake(self) -> None:
        """Look now: something was just registered or put off here."""
        self._woken.set()

    async def stop(self) -> None:
        """Stop watching; what is due meanwhile is made when somebody watches or checks again."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
            self._loop = None

    async def look(self) -> int:
        """Make and send all that is due now; return how many banks were seen to.

        What goes wrong in one bank holds up no other.
        """
        done = 0
        for ref in await self._store.banks_due(self._clock.now_us()):
            try:
                await self._bank(ref)
                done += 1
            except Exception:
                log.exception("what is due in bank %s could not be seen to", ref.bank)
        return done

    async def _watch(self) -> None:
        while True:
            wait = self._tick_s
            try:
                wait = 0 if await self.look() else await self._wait()
            except Exception:  # whatever it was, the watch goes on
                log.exception("looking for what is due failed; trying again")
            # Not `wait_for`: before 3.12 it swallows a cancel that comes together with its end.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._woken.wait()
            self._woken.clear()

    async def _wait(self) -> float:
        due = await self._store.next_due()
        if due is None:
            return self._tick_s
        return min(self._tick_s, max(_LEAST_S, (due - self._clock.now_us()) / 1e6))

    async def _bank(self, ref: BankRef) -> None:
        # With a time of its own each: streams look no further back than a moment.
        while await self._fire(ref, self._clock.now_us()) == _BATCH:
            pass
        while await self._send(ref, self._clock.now_us()) == _BATCH:
            pass
        for told in self.on_due:
            told(ref)

    async def _fire(self, ref: BankRef, now: int) -> int:
        """Make the occurrences of what is due; return how many intentions that were."""
        for _ in range(_TRIES):
            due = await self._store.intentions_due(ref, now, None, _BATCH)
            if not due:
                return 0
            ids = [i.id for i in due]
            opened = await self._store.offers(ref, states=OPEN, intention_ids=ids, limit=_MOST_OPEN)
            open_ones = {o.intention.id: o.occurrence for o in opened}
            planner = Planner(self._ids, now, open_ones, [o.occurrence for o in opened])
            planner.due(due)
            held = await self._composites.holding(ref, (), now, due)
            planner.hits(held.hits)
            planner.rearm(held.ended)
            try:
                await self._store.intend(ref, planner.plan.batch())
            except Conflict:  # another process, or a check, was there first
                continue
            return len(due)
        return 0

    async def _send(self, ref: BankRef, now: int) -> int:
        """Hand over what is to be sent; return how many occurrences that were."""
        offers = await self._store.to_send(ref, now, _BATCH)
        if not offers:
            return 0
        mail = await self._sender(ref, offers)
        sent = [o.occurrence.id for o in offers]
        batch = IntentionBatch(sent=sent, jobs=mail.jobs, records=mail.records)
        await self._store.intend(ref, batch)
        return len(offers)
