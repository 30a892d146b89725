"""`/v1/subscribe`: memories that a text calls to mind, as server-sent events while it is fed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from ...app import App
from ...nouns.caller import Caller
from ...verbs.access.lasting import until_refused
from ...verbs.subscriptions import MAX_BUFFER, Push, Subscription, Wanted
from .access import Calling
from .answers import OpenApp, answer
from .body import Wire, body_of
from .errors import ENTITY_ERRORS, Fault, Refused
from .hebbs_shapes import bank_of, memory_of, origin_named
from .prime import Int64
from .schema import reads

MOST_STREAMS = 100  # of one server
KEEP_ALIVE_S = 15.0
HANDSHAKE = "handshake"
"""The first event's name; those that carry memories have none."""

_BUFFER = 128

router = APIRouter(tags=["Memory"])

SubscriptionId = Annotated[int, Path(ge=0, le=(1 << 63) - 1)]


class SubscribeRequest(Wire):
    """What to hand over."""

    entity_id: str | None = Field(None, description="Entity (bank); all by default.")
    kind_filter: list[str] = Field(
        default_factory=list, description="episode, revision, and so on; none given: all."
    )
    confidence_threshold: float = Field(0.5, description="Lowest cosine, 0 to 1.")
    time_scope_us: Int64 | None = Field(None, description="Only what was told so long ago at most.")
    output_buffer_size: Annotated[int, Field(ge=1)] = Field(
        _BUFFER, description="Memories that wait for a slow reader; then the oldest are dropped."
    )


class FeedRequest(Wire):
    """What is being said."""

    text: str


class Nothing(BaseModel):
    """It was done."""


class Pushes:
    """The streams of a server: so many at most, ended with it."""

    def __init__(self, app: App) -> None:
        self._memories = app.memories
        self._gate = app.gate
        self._open: set[Subscription] = set()
        self._closing = False

    def close(self) -> None:
        """End all streams."""
        self._closing = True
        for subscription in self._open:
            subscription.end()

    def open(self, caller: Caller, wanted: Wanted) -> Subscription:
        """Begin a subscription; `end` must follow.

        Raises:
            Refused: there are as many streams as there may be.
            InvalidInput: a bound makes no sense.
        """
        if self._closing or len(self._open) >= MOST_STREAMS:
            fault = Fault(
                f"{MOST_STREAMS} streams are open, more than this server takes; try later"
            )
            raise Refused(503, fault)
        subscription = self._memories.subscriptions.open(caller, wanted)
        self._open.add(subscription)
        return subscription

    def end(self, subscription: Subscription) -> None:
        """End a subscription, if it has not ended."""
        self._open.discard(subscription)
        self._memories.subscriptions.close(subscription.caller.tenant, subscription.id)

    def run(self, subscription: Subscription) -> AsyncIterator[bytes]:
        """Yield events, and a comment now and then.

        It ends when the subscription is closed, or its caller may not call any more.
        """
        return until_refused(self._gate, subscription.caller, self._events(subscription))

    async def _events(self, subscription: Subscription) -> AsyncIterator[bytes]:
        subscriptions = self._memories.subscriptions
        waiting: asyncio.Task[Push | None] | None = None
        try:
            yield _event(_message(subscription.id), HANDSHAKE)
            while True:
                waiting = waiting or asyncio.create_task(subscriptions.next(subscription))
                done, _ = await asyncio.wait({waiting}, timeout=KEEP_ALIVE_S)
                if not done:
                    yield b": keep-alive\n\n"
                    continue
                push, waiting = waiting.result(), None
                if push is None:
                    return
                memory = await memory_of(self._memories.lookup, push.kept)
                yield _event(_message(subscription.id, push, memory))
        finally:
            if waiting is not None:
                waiting.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await waiting


class _Stream(StreamingResponse):
    """The answer; its subscription ends with it, even if nothing was sent."""

    def __init__(self, pushes: Pushes, subscription: Subscription) -> None:
        super().__init__(
            pushes.run(subscription),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
        self._end = partial(pushes.end, subscription)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._end()


@router.post(
    "/v1/subscribe",
    operation_id="subscribe",
    summary="Subscribe",
    response_class=StreamingResponse,
    responses={**ENTITY_ERRORS, 200: {"content": {"text/event-stream": {}}}},
    openapi_extra=reads(SubscribeRequest),
)
async def subscribe(
    request: Request,
    caller: Calling,
    body: Annotated[SubscribeRequest, Depends(body_of(SubscribeRequest))],
) -> StreamingResponse:
    """Open a stream. Its first event, `handshake`, has the `subscription_id` to feed.

    Each event after it is a memory that what was fed calls to mind, once a stream; also one that
    is written later.
    """
    kinds = [origin_named(name, "kind_filter") for name in body.kind_filter]
    wanted = Wanted(
        bank=bank_of(caller, body.entity_id),
        origins=frozenset(kind for kind in kinds if kind is not None),
        least=body.confidence_threshold,
        within_us=body.time_scope_us,
        buffer=min(body.output_buffer_size, MAX_BUFFER),
    )
    pushes: Pushes = request.app.state.pushes
    return _Stream(pushes, pushes.open(caller, wanted))


@router.post(
    "/v1/subscribe/{subscription_id}/feed",
    operation_id="feed_subscription",
    summary="Feed a subscription",
    response_model=Nothing,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(FeedRequest),
)
async def feed_subscription(
    request: Request,
    app: OpenApp,
    caller: Calling,
    subscription_id: SubscriptionId,
    body: Annotated[FeedRequest, Depends(body_of(FeedRequest))],
) -> Response:
    """Say what is being said; what it calls to mind is on the stream when this returns."""
    await app.memories.subscriptions.feed(caller.tenant, subscription_id, body.text)
    return answer(request, Nothing())


@router.delete(
    "/v1/subscribe/{subscription_id}",
    operation_id="close_subscription",
    summary="Close a subscription",
    response_model=Nothing,
    responses=ENTITY_ERRORS,
)
async def close_subscription(
    request: Request, app: OpenApp, caller: Calling, subscription_id: SubscriptionId
) -> Response:
    """End a stream; one that is not there is none of the caller's."""
    app.memories.subscriptions.close(caller.tenant, subscription_id)
    return answer(request, Nothing())


def _message(
    number: int, push: Push | None = None, memory: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "subscription_id": number,
        "memory": memory,
        "confidence": push.confidence if push else 0.0,
        "push_timestamp_us": push.at if push else 0,
        "sequence_number": push.number if push else 0,
    }


def _event(message: dict[str, Any], name: str | None = None) -> bytes:
    head = b"" if name is None else f"event: {name}\n".encode()
    return head + b"data: " + to_json(message) + b"\n\n"
