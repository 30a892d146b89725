"""subscribe: follow what somebody says, and hand over each memory that it calls to mind.

A subscription lives in this process and ends with it. Text that is fed is matched at once; what is
written later is matched with the text that was fed last, as the bank's revision shows.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from ..finding.indexes import Indexes
from ..finding.similar import most_similar
from ..finding.state import IndexState
from ..keeping.store import Store
from ..keeping.view import Reader
from ..models.embedder import Embedder, Floats
from ..nouns.caller import Caller
from ..nouns.clock import Clock
from ..nouns.errors import Exhausted, InvalidInput, ModelUnavailable, NotFound, RemembrancerError
from ..nouns.memory import BankRef
from ..nouns.text import clean
from .lookup import Kept, kept_of
from .recalling.origins import Origin
from .recalling.snapshots import read_indexed
from .retaining.embedding import MOVED
from .tenant_banks import banks_of

MOST = 1_000
"""Subscriptions of one process."""

MAX_BUFFER = 1_000
"""Memories that wait for a slow reader; then the oldest are dropped."""

_WORDS = 32  # of what was fed last, matched together
_NEAREST = 5  # memories that one text calls to mind in a bank
_MOST_SEEN = 10_000  # memories of a stream that are not handed over again
_POLL_S = 0.25

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to hand over.

    `bank`: None for all that the caller reaches. `origins`: none given: all. `least`: lowest
    cosine. `within_us`: only what was told so long ago at most. `buffer`: see `MAX_BUFFER`.
    """

    bank: BankRef | None = None
    origins: frozenset[Origin] = frozenset()
    least: float = 0.0
    within_us: int | None = None
    buffer: int = 128


class Hit(NamedTuple):
    """A memory that was called to mind, by its id; what it says is read when it is handed over."""

    ref: BankRef
    id: bytes
    confidence: float


class _Waiting(NamedTuple):
    hit: Hit
    at: int
    number: int


@dataclass(frozen=True, slots=True)
class Push:
    """A memory that was called to mind, as it is when it is handed over.

    `confidence` is its cosine when it was matched, `at` that time, `number` counts from 1.
    """

    kept: Kept
    confidence: float
    at: int
    number: int


@dataclass(eq=False, slots=True)
class Subscription:
    """One stream; see `Subscriptions.next`."""

    id: int
    caller: Caller
    wanted: Wanted
    words: deque[str] = field(default_factory=lambda: deque(maxlen=_WORDS))
    vector: Floats | None = None
    revisions: dict[BankRef, int] = field(default_factory=dict)
    seen: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    waiting: deque[_Waiting] = field(default_factory=deque)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    matching: asyncio.Lock = field(default_factory=asyncio.Lock)
    sent: int = 0
    closed: bool = False

    async def take(self) -> _Waiting | None:
        """Wait for the next one that was queued; None when the subscription was closed."""
        while not self.waiting:
            if self.closed:
                return None
            self.ready.clear()
            await self.ready.wait()
        return self.waiting.popleft()

    def push(self, hit: Hit, at: int) -> None:
        """Queue a memory that was not queued before."""
        if hit.id in self.seen:
            return
        self.seen[hit.id] = None
        if len(self.seen) > _MOST_SEEN:
            self.seen.popitem(last=False)
        self.sent += 1
        if len(self.waiting) >= self.wanted.buffer:
            self.waiting.popleft()
        self.waiting.append(_Waiting(hit, at, self.sent))
        self.ready.set()

    def end(self) -> None:
        """Let the reader of the stream go."""
        self.closed = True
        self.ready.set()


class Subscriptions:
    """The verbs; everything they need is passed in."""

    def __init__(
        self,
        store: Store,
        indexes: Indexes,
        embedder: Embedder | None,
        *,
        clock: Clock,
        generation: int,
        random_bytes: Callable[[int], bytes],
    ) -> None:
        self._store = store
        self._indexes = indexes
        self._embedder = embedder
        self._clock = clock
        self._generation = generation
        self._random = random_bytes
        self._open: dict[int, Subscription] = {}
        self._polling: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._open)

    def open(self, caller: Caller, wanted: Wanted) -> Subscription:
        """Begin a subscription.

        Raises:
            InvalidInput: a bound makes no sense.
            Exhausted: there are `MOST` already.
        """
        if not math.isfinite(wanted.least) or not 0 <= wanted.least <= 1:
            raise InvalidInput(
                "confidence_threshold must be from 0 to 1", field="confidence_threshold", limit=1
            )
        if not 1 <= wanted.buffer <= MAX_BUFFER:
            raise InvalidInput(
                f"output_buffer_size must be from 1 to {MAX_BUFFER}",
                field="output_buffer_size",
                limit=MAX_BUFFER,
            )
        if len(self._open) >= MOST:
            raise Exhausted(f"there are {MOST} subscriptions already: close one", limit=MOST)
        number = 0
        while not number or number in self._open:
            number = int.from_bytes(self._random(8), "big") >> 1  # fits a signed 64-bit integer
        subscription = Subscription(number, caller, wanted)
        self._open[number] = subscription
        if self._polling is None:
            self._polling = asyncio.create_task(self._poll())
        return subscription

    async def feed(self, tenant: str, number: int, text: str) -> None:
        """Match a text; what it calls to mind is queued when this returns.

        Raises:
            NotFound: the tenant has no such subscription.
            ModelUnavailable: nothing can be embedded.
        """
        subscription = self._open.get(number)
        if subscription is None or subscription.caller.tenant != tenant:
            raise NotFound(
                f"subscription {number} not found: it has ended, or another process of this server "
                "holds it, and a subscription is fed where it was opened",
                field="subscription_id",
            )
        if self._embedder is None:
            raise ModelUnavailable("no embedder is configured")
        subscription.words.extend(clean(text).split())
        if not subscription.words:
            return
        async with subscription.matching:
            subscription.vector = await self._embedder.embed_query(" ".join(subscription.words))
            await self._match(subscription)

    async def next(self, subscription: Subscription) -> Push | None:
        """Wait for the next memory; None when the subscription was closed.

        Each is read by itself, at the last moment: what is forgotten meanwhile must be told to
        nobody, and a slow reader may come for the next one much later.
        """
        while (taken := await subscription.take()) is not None:
            kept = await self._kept(taken.hit, subscription.wanted)
            if kept is not None:
                return Push(kept, taken.hit.confidence, taken.at, taken.number)
        return None

    async def _kept(self, hit: Hit, wanted: Wanted) -> Kept | None:
        """Return a memory as it is now; None when it is gone, or is not wanted any more."""
        found = await self._store.read(
            hit.ref, lambda reader: kept_of(reader, hit.ref, reader.units([hit.id]))
        )
        return found[0] if found and _wanted(found[0], wanted) else None

    def close(self, tenant: str, number: int) -> None:
        """End a subscription; one that is not there is none of the caller's business."""
        subscription = self._open.get(number)
        if subscription is not None and subscription.caller.tenant == tenant:
            del self._open[number]
            subscription.end()

    async def stop(self) -> None:
        """End them all."""
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.gather(self._polling, return_exceptions=True)
            self._polling = None
        for subscription in self._open.values():
            subscription.end()
        self._open.clear()

    async def _match(self, subscription: Subscription) -> None:
        """Queue what the text fed last calls to mind, the best first."""
        vector, wanted = subscription.vector, subscription.wanted
        if vector is None:
            return
        now = self._clock.now_us()
        found: list[Hit] = []
        for ref in await self._refs(subscription):
            near = partial(self._near, ref=ref, vector=vector, wanted=wanted, now=now)
            hits, revision = await read_indexed(self._store, self._indexes, ref, near)
            found += hits
            subscription.revisions[ref] = revision
        for hit in sorted(found, key=lambda hit: (-hit.confidence, hit.id)):
            subscription.push(hit, now)

    def _near(
        self,
        reader: Reader,
        state: IndexState,
        ref: BankRef,
        vector: Floats,
        wanted: Wanted,
        now: int,
    ) -> tuple[list[Hit], int]:
        if reader.generation != self._generation:
            raise ModelUnavailable(MOVED)
        near = {i: c for i, c in most_similar(state, vector, _NEAREST) if c >= wanted.least}
        since = None if wanted.within_us is None else now - wanted.within_us
        ids = [
            each.unit.id
            for each in kept_of(reader, ref, reader.units(list(near)))
            if _wanted(each, wanted) and (since is None or each.unit.mentioned_at >= since)
        ]
        return [Hit(ref, each, max(0.0, near[each])) for each in ids], reader.revision

    async def _refs(self, subscription: Subscription) -> list[BankRef]:
        if subscription.wanted.bank is not None:
            return [subscription.wanted.bank]
        return (await banks_of(self._store, subscription.caller))[0]

    async def _poll(self) -> None:
        """Match what is written with what was fed last."""
        while True:
            await asyncio.sleep(_POLL_S)
            try:
                await self._look()
            except RemembrancerError:
                log.warning("subscriptions could not look for what is new", exc_info=True)

    async def _look(self) -> None:
        """Match again where a bank has changed; each bank is asked once, however many follow it."""
        fed = [s for s in self._open.values() if s.vector is not None]
        known: dict[BankRef, int] = {}
        places: dict[tuple[str, tuple[str, ...], BankRef | None], list[BankRef]] = {}
        for subscription in fed:
            caller, bank = subscription.caller, subscription.wanted.bank
            if (caller.tenant, caller.banks, bank) not in places:
                places[caller.tenant, caller.banks, bank] = await self._refs(subscription)
            refs = places[caller.tenant, caller.banks, bank]
            for ref in refs:
                if ref not in known:
                    found = await self._store.bank(ref)
                    known[ref] = found.revision if found else 0
            if any(subscription.revisions.get(ref) != known[ref] for ref in refs):
                async with subscription.matching:
                    await self._match(subscription)


def _wanted(kept: Kept, wanted: Wanted) -> bool:
    """Tell whether a memory is of a kind that is wanted, and not taken out."""
    return kept.holds and (not wanted.origins or kept.origin in wanted.origins)
