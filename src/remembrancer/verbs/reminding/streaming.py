"""What falls due in a bank, as a stream that each face shows in its own way.

A cursor is where an occurrence stands in the order of `ready_at` and id; a client that comes back
with one goes on from there. A write may commit a little after a later one: so the last two seconds
are looked at again, and what was sent of them is remembered. What is made still later with a time
that lies further back (an event told late, a server that stood still) is found whenever the bank
has changed, among all that is open. At least once: after a break an occurrence may come again, with
the same id.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ...keeping.intentions import Offer
from ...keeping.store import Store
from ...nouns.clock import Clock
from ...nouns.errors import Exhausted, InvalidInput
from ...nouns.ids import parse_id, to_uuid
from ...nouns.memory import BankRef
from ..telling.watch import Watch
from .occurrences import withheld

MOST_STREAMS = 100  # of one face
KEEP_ALIVE_S = 15.0
POLL_S = 1.0  # between looks for what other processes have made
AGAIN_US = 2_000_000  # how far back is looked again
MOST_OLD = 10_000  # open occurrences further back that are told apart
_PAGE = 500
_CURSOR = re.compile(r"(-?\d{1,18})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")

Place = tuple[int, bytes]
BEFORE_ALL: Place = (-(2**62), b"")


class Sent(NamedTuple):
    """An occurrence that is to be offered, and when that was found, in microseconds."""

    offer: Offer
    now: int


@dataclass(eq=False, slots=True)
class _Stream:
    """One client.

    `seen`: what was sent to it of the last two seconds; `old`: what is open further back and was
    sent or passed over. `revision`: the bank's, when it was last looked for what came late.
    """

    ref: BankRef
    place: Place
    ceiling: float | None
    seen: set[Place] = field(default_factory=set)
    old: set[Place] = field(default_factory=set)
    revision: int | None = None
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class Streams:
    """The streams of a face: so many at most, woken when something is due, ended together."""

    def __init__(
        self, store: Store, watch: Watch, *, clock: Clock, most: int = MOST_STREAMS
    ) -> None:
        self._store = store
        self._clock = clock
        self._most = most
        self._open: set[_Stream] = set()
        self._closing = False
        watch.on_due.append(self.wake)

    def wake(self, ref: BankRef) -> None:
        """Look now: a bank has something new to offer."""
        for stream in self._open:
            if stream.ref == ref:
                stream.woken.set()

    def close(self) -> None:
        """End all streams."""
        self._closing = True
        for stream in self._open:
            stream.woken.set()

    def check_room(self) -> None:
        """Make sure that one more stream can be opened.

        Raises:
            Exhausted: there are as many as there may be.
        """
        if self._closing or len(self._open) >= self._most:
            raise Exhausted(
                f"{self._most} streams are open, more than this server takes; try later",
                limit=self._most,
            )

    async def run(
        self, ref: BankRef, place: Place, ceiling: float | None
    ) -> AsyncGenerator[Sent | None, None]:
        """Yield what is due beyond a place, until `close`; None at first and after quiet whiles."""
        with self._kept(_Stream(ref, place, ceiling)) as stream:
            yield None
            quiet = 0.0
            while not self._closing:
                stream.woken.clear()
                more = False
                async for sent in self._look(stream):
                    yield sent
                    more = True
                if more:
                    quiet = 0.0
                    continue
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(POLL_S):
                        await stream.woken.wait()
                quiet += POLL_S
                if quiet >= KEEP_ALIVE_S:
                    quiet = 0.0
                    yield None

    @contextlib.contextmanager
    def _kept(self, stream: _Stream) -> Iterator[_Stream]:
        self._open.add(stream)
        try:
            yield stream
        finally:
            self._open.discard(stream)

    async def _look(self, stream: _Stream) -> AsyncIterator[Sent]:
        """Yield what has come since: first what came late, then in order, a page at a time."""
        now = self._clock.now_us()
        again = now - AGAIN_US
        stream.old |= {place for place in stream.seen if place[0] < again}
        stream.seen = {place for place in stream.seen if place[0] >= again}
        for offer in await self._late(stream, again):
            yield Sent(offer, now)
        after = min(stream.place, (again, b""))
        while not self._closing:
            found = await self._store.offers_since(stream.ref, after, now, stream.ceiling, _PAGE)
            for offer in found:
                after = _place(offer)
                if after in stream.seen:
                    continue
                (stream.seen if after[0] >= again else stream.old).add(after)
                stream.place = max(stream.place, after)
                yield Sent(offer, now)
            if len(found) < _PAGE:
                return

    async def _late(self, stream: _Stream, again: int) -> list[Offer]:
        """Return what has been made since with a place that was passed, unless nothing changed."""
        bank = await self._store.bank(stream.ref)
        revision = 0 if bank is None else bank.revision
        first = stream.revision is None
        if revision == stream.revision:
            return []
        stream.revision = revision
        end = min(stream.place, (again, b""))
        places = await self._store.offer_places(stream.ref, end[0], MOST_OLD + 1)
        if len(places) > MOST_OLD:
            stream.revision = None
            stream.old.clear()
            return []
        passed = {place for place in places if place <= end}
        late = set() if first else passed - stream.old - stream.seen
        stream.old = passed
        found = await self._store.offers_by_id(stream.ref, [i for _, i in sorted(late)])
        return [
            offer
            for offer in found
            if offer.occurrence.ready_at is not None
            and _place(offer) in late  # else it has been moved meanwhile
            and not withheld(offer.intention, stream.ceiling)
        ]


def cursor_of(offer: Offer) -> str:
    """Spell where an occurrence stands in the stream."""
    ready_at, occurrence_id = _place(offer)
    return f"{ready_at}-{to_uuid(occurrence_id)}"


def place_of(cursor: str, name: str) -> Place:
    """Read a cursor; `name` is what the wire calls it.

    Raises:
        InvalidInput: it is none of ours.
    """
    match = _CURSOR.fullmatch(cursor.strip())
    if match is None:
        raise InvalidInput(f"{name} must be the id of an event of this stream", field=name)
    return int(match[1]), parse_id(match[2])


def _place(offer: Offer) -> Place:
    ready_at = offer.occurrence.ready_at
    assert ready_at is not None  # only what is to be offered is streamed
    return ready_at, offer.occurrence.id
