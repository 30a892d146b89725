"""`GET …/intentions/stream`: what falls due, as server-sent events, until it is acknowledged.

An event's id is where it stands in the order of `ready_at` and occurrence; a client that comes back
with `Last-Event-ID` goes on from there. A write may commit a little after a later one: so the last
two seconds are looked at again, and what was sent of them is remembered. At least once: after a
break an occurrence may come again, with the same id.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Header, Request
from fastapi.responses import StreamingResponse

from ...app import App
from ...keeping.intentions import Offer
from ...nouns.errors import InvalidInput
from ...nouns.ids import parse_id, to_uuid
from ...nouns.memory import BankRef
from ...verbs.push import told_of
from ...verbs.webhooks import INTENTION_DUE
from .answers import OpenApp
from .banks import NamedBank
from .ceiling import MaxTierRank, ceiling_of
from .errors import BANK_ERRORS, Fault, Refused

PATH = "/v1/default/banks/{bank_id}/intentions/stream"
MOST_STREAMS = 100  # of one server
KEEP_ALIVE_S = 15.0
POLL_S = 1.0  # between looks for what other processes have made
AGAIN_US = 2_000_000  # how far back is looked again
_PAGE = 500
_RETRY_MS = 2_000  # for clients that lose the connection
_ID = re.compile(r"(-?\d{1,18})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")

Place = tuple[int, bytes]
_BEFORE_ALL: Place = (-(2**62), b"")

router = APIRouter(tags=["Intentions"])


@dataclass(eq=False, slots=True)
class _Stream:
    """One client. `seen`: what was sent to it of the last two seconds."""

    ref: BankRef
    place: Place
    ceiling: float | None
    seen: set[Place] = field(default_factory=set)
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class Streams:
    """The streams of a server: so many at most, woken when something is due, ended with it."""

    def __init__(self, app: App, most: int = MOST_STREAMS) -> None:
        self._app = app
        self._most = most
        self._open: set[_Stream] = set()
        self._closing = False
        app.watch.on_due.append(self.wake)

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
            Refused: there are as many as there may be.
        """
        if self._closing or len(self._open) >= self._most:
            fault = Fault(f"{self._most} streams are open, more than this server takes; try later")
            raise Refused(503, fault)

    async def run(self, ref: BankRef, place: Place, ceiling: float | None) -> AsyncIterator[bytes]:
        """Yield events, and a comment now and then, until the server stops."""
        with self._kept(_Stream(ref, place, ceiling)) as stream:
            yield f"retry: {_RETRY_MS}\n\n".encode()
            quiet = 0.0
            while not self._closing:
                stream.woken.clear()
                more = False
                async for event in self._look(stream):
                    yield event
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
                    yield b": keep-alive\n\n"

    @contextlib.contextmanager
    def _kept(self, stream: _Stream) -> Iterator[_Stream]:
        self._open.add(stream)
        try:
            yield stream
        finally:
            self._open.discard(stream)

    async def _look(self, stream: _Stream) -> AsyncIterator[bytes]:
        """Yield what has come since, a page at a time."""
        now = self._app.clock.now_us()
        again = now - AGAIN_US
        stream.seen = {place for place in stream.seen if place[0] >= again}
        after = min(stream.place, (again, b""))
        while not self._closing:
            found = await self._app.store.offers_since(
                stream.ref, after, now, stream.ceiling, _PAGE
            )
            for offer in found:
                after = _place(offer)
                if after in stream.seen:
                    continue
                if after[0] >= again:
                    stream.seen.add(after)
                stream.place = max(stream.place, after)
                yield _event(stream.ref, offer, now)
            if len(found) < _PAGE:
                return


@router.get(
    PATH,
    operation_id="stream_intentions",
    summary="Stream what falls due",
    response_class=StreamingResponse,
    responses={**BANK_ERRORS, 200: {"content": {"text/event-stream": {}}}},
)
async def stream_intentions(
    request: Request,
    app: OpenApp,  # noqa: ARG001
    bank: NamedBank,
    last_event_id: Annotated[str | None, Header(description="Where to go on.")] = None,
    max_tier_rank: MaxTierRank = None,
) -> StreamingResponse:
    """Send each occurrence when it falls due, as an event `intention.due`.

    First come those that are open already. Answer each with `…/occurrences/{id}/ack`; a lease that
    ends unanswered, or a snooze, is sent again when its time has come.
    """
    streams: Streams = request.app.state.streams
    ceiling = ceiling_of(request, max_tier_rank)
    place = _BEFORE_ALL if last_event_id is None else _place_of(last_event_id)
    streams.check_room()
    return StreamingResponse(
        streams.run(bank, place, ceiling),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


def _place(offer: Offer) -> Place:
    ready_at = offer.occurrence.ready_at
    assert ready_at is not None  # only what is to be offered is streamed
    return ready_at, offer.occurrence.id


def _place_of(text: str) -> Place:
    match = _ID.fullmatch(text.strip())
    if match is None:
        raise InvalidInput(
            "Last-Event-ID must be the id of an event of this stream", field="Last-Event-ID"
        )
    return int(match[1]), parse_id(match[2])


def _event(ref: BankRef, offer: Offer, now: int) -> bytes:
    ready_at, occurrence_id = _place(offer)
    told = json.dumps(told_of(ref, offer, now), ensure_ascii=False, separators=(",", ":"))
    name = f"{ready_at}-{to_uuid(occurrence_id)}"
    return f"id: {name}\nevent: {INTENTION_DUE}\ndata: {told}\n\n".encode()
