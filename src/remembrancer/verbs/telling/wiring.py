"""Puts together what tells others: webhooks, what sends to them, and the watch over the clock."""

from __future__ import annotations

from collections.abc import Callable

from ...keeping.store import Store
from ...keeping.worker import Worker, without_context
from ...models.outbound import Outbound
from ...nouns.clock import Clock
from ...nouns.ids import IdMaker
from ..reminding.composites import Composites
from ..reminding.occurrences import Occurrences
from .deliveries import Deliveries
from .outbox import DELIVER
from .push import PUSH, Push
from .replay import Replay
from .watch import Watch
from .webhooks import Webhooks

_SENT_AT_ONCE = 32  # most of the time of each is the receiver's


class Telling:
    """The verbs over one store.

    `chance` gives numbers from 0 to 1; what a dead process was sending is taken over after
    `lease_s` seconds.
    """

    def __init__(
        self,
        store: Store,
        outbound: Outbound,
        occurrences: Occurrences,
        composites: Composites,
        *,
        ids: IdMaker,
        clock: Clock,
        chance: Callable[[], float],
        user_agent: str,
        lease_s: float,
    ) -> None:
        self.webhooks = Webhooks(store, outbound, ids=ids, clock=clock)
        self.replay = Replay(store, self.webhooks, clock=clock)
        deliveries = Deliveries(
            store, self.webhooks, outbound, ids=ids, clock=clock, user_agent=user_agent
        )
        push = Push(
            store,
            self.webhooks,
            outbound,
            occurrences,
            clock=clock,
            chance=chance,
            user_agent=user_agent,
        )
        # Of its own, so that slow receivers hold up nothing but each other.
        self.courier = Worker(
            store,
            {DELIVER: without_context(deliveries.run), PUSH: without_context(push.run)},
            clock=clock,
            slots=_SENT_AT_ONCE,
            lease_us=int(lease_s * 1_000_000),
        )
        self.watch = Watch(store, push, composites, ids=ids, clock=clock)
        self.watch.on_due.append(lambda _: self.courier.wake())
