"""`GET …/intentions/stream`: what falls due, as server-sent events, until it is acknowledged.

An event's id is the cursor of `verbs.reminding.streaming`; it comes back as `Last-Event-ID`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Header, Request
from fastapi.responses import StreamingResponse

from ...app import App
from ...nouns.errors import Exhausted
from ...nouns.memory import BankRef
from ...verbs.access.lasting import until_refused
from ...verbs.reminding import streaming
from ...verbs.reminding.streaming import (
    AGAIN_US,
    BEFORE_ALL,
    MOST_STREAMS,
    Place,
    Sent,
    cursor_of,
    place_of,
)
from ...verbs.telling.push import told_of
from ...verbs.telling.webhooks import INTENTION_DUE
from .access import caller_of
from .answers import OpenApp
from .banks import NamedBank
from .ceiling import MaxTierRank, ceiling_of
from .errors import BANK_ERRORS, Fault, Refused

__all__ = ["AGAIN_US", "PATH", "Streams", "router"]

PATH = "/v1/default/banks/{bank_id}/intentions/stream"
_RETRY_MS = 2_000  # for clients that lose the connection

router = APIRouter(tags=["Intentions"])


class Streams:
    """The streams of a server, spelled as server-sent events."""

    def __init__(self, app: App, most: int = MOST_STREAMS) -> None:
        self._source = streaming.Streams(app.store, app.watch, clock=app.clock, most=most)

    def close(self) -> None:
        """End all streams."""
        self._source.close()

    def check_room(self) -> None:
        """Make sure that one more stream can be opened.

        Raises:
            Refused: there are as many as there may be.
        """
        try:
            self._source.check_room()
        except Exhausted as error:
            raise Refused(503, Fault(error.message)) from None

    async def run(self, ref: BankRef, place: Place, ceiling: float | None) -> AsyncIterator[bytes]:
        """Yield events, and a comment now and then, until the server stops."""
        async with aclosing(self._source.run(ref, place, ceiling)) as source:
            await anext(source)  # it has begun
            yield f"retry: {_RETRY_MS}\n\n".encode()
            async for sent in source:
                yield b": keep-alive\n\n" if sent is None else _event(ref, sent)


@router.get(
    PATH,
    operation_id="stream_intentions",
    summary="Stream what falls due",
    response_class=StreamingResponse,
    responses={**BANK_ERRORS, 200: {"content": {"text/event-stream": {}}}},
)
async def stream_intentions(
    request: Request,
    app: OpenApp,
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
    place = BEFORE_ALL if last_event_id is None else place_of(last_event_id, "Last-Event-ID")
    streams.check_room()
    return StreamingResponse(
        until_refused(app.gate, caller_of(request), streams.run(bank, place, ceiling)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


def _event(ref: BankRef, sent: Sent) -> bytes:
    told = told_of(ref, sent.offer, sent.now)
    data = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return f"id: {cursor_of(sent.offer)}\nevent: {INTENTION_DUE}\ndata: {data}\n\n".encode()
