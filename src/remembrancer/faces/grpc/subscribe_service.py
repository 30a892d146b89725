"""SubscribeService: a stream of memories that what is fed calls to mind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from ...app import App
from ...nouns.caller import Caller, Permission
from ...verbs.subscriptions import MAX_BUFFER, Wanted
from .calls import Calls
from .shapes import answer, fill_memory
from .values import bank_of, optional, origin_of, plain, time_of

_BUFFER = 128


class SubscribeService:
    """The calls of the service; see `hebbs.proto`."""

    def __init__(self, app: App) -> None:
        self._memories = app.memories

    def handlers(self, calls: Calls) -> dict[str, Any]:
        """Return the handlers by method."""
        read = Permission.READ
        return {
            "Subscribe": calls.stream("subscribe", "SubscribeRequest", read, self._subscribe),
            "Feed": calls.unary("feed", "FeedRequest", read, self._feed),
            "CloseSubscription": calls.unary(
                "close_subscription", "CloseSubscriptionRequest", read, self._close
            ),
        }

    async def _subscribe(self, caller: Caller, request: Any) -> AsyncIterator[Any]:
        buffer = optional(request, "output_buffer_size") or _BUFFER
        kinds = [origin_of(number) for number in request.kind_filter]
        wanted = Wanted(
            bank=bank_of(caller, optional(request, "entity_id")),
            origins=frozenset(kind for kind in kinds if kind is not None),
            least=plain(request.confidence_threshold),
            within_us=time_of(optional(request, "time_scope_us"), "time_scope_us"),
            buffer=min(buffer, MAX_BUFFER),
        )
        subscriptions = self._memories.subscriptions
        subscription = subscriptions.open(caller, wanted)
        try:
            yield self._message(subscription.id)
            while (push := await subscriptions.next(subscription)) is not None:
                told = self._message(subscription.id)
                worth = await self._memories.lookup.worth([push.kept])
                fill_memory(told.memory, push.kept, worth[0])
                told.confidence = push.confidence
                told.push_timestamp_us = push.at
                told.sequence_number = push.number
                yield told
        finally:
            subscriptions.close(caller.tenant, subscription.id)

    async def _feed(self, caller: Caller, request: Any) -> Any:
        await self._memories.subscriptions.feed(
            caller.tenant, request.subscription_id, request.text
        )
        return answer("FeedResponse")

    async def _close(self, caller: Caller, request: Any) -> Any:
        self._memories.subscriptions.close(caller.tenant, request.subscription_id)
        return answer("CloseSubscriptionResponse")

    def _message(self, number: int) -> Any:
        told = answer("SubscribePushMessage")
        told.subscription_id = number
        return told
