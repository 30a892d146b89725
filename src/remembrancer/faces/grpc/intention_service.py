"""IntentionService: what to do later: registered, changed, checked, acknowledged, watched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any

from ...app import App
from ...keeping.intentions import Offer
from ...nouns.caller import Caller, Permission
from ...nouns.errors import InvalidInput, NotFound, TooLarge
from ...nouns.ids import parse_id, to_uuid
from ...nouns.intention import IntentionState
from ...nouns.memory import BankRef
from ...verbs.check import CheckOptions, Mode
from ...verbs.remind import MOST_AT_ONCE, MOST_PREVIEWED
from ...verbs.reminding.conditions import LEAST_MS, MOST_MS
from ...verbs.reminding.events import MOST_EVENTS, NewEvent
from ...verbs.reminding.reminders import Reminder, of_item
from ...verbs.reminding.streaming import BEFORE_ALL, Streams, cursor_of, place_of
from ..http import intentions as routes
from ..http.events import EventFields
from ..http.intention_shapes import (
    CUE,
    IntentionRequest,
    changes_of,
    ms,
    reminder_of,
    shown,
    shown_due,
    shown_occurrence,
    shown_offer,
    us,
    vector_of,
)
from ..http.occurrences import ExtendRequest, NackRequest, SnoozeRequest, until_of
from .auditing import changed
from .calls import Calls
from .intention_values import (
    as_body,
    ceiling_of,
    changed_body,
    fill,
    fill_event,
    limit_of,
    own,
)
from .values import optional

MAX_PAGE = 1_000

Move = Callable[[BankRef, bytes, Any, int | None, float | None], Awaitable[Offer]]


class IntentionService:
    """The calls of the service; see `remembrancer.proto`."""

    def __init__(self, app: App, streams: Streams) -> None:
        self._app = app
        self._streams = streams

    def handlers(self, calls: Calls) -> dict[str, Any]:
        """Return the handlers by method."""
        read, write = Permission.READ, Permission.WRITE
        return {
            "Register": calls.unary("register", "RegisterRequest", write, self._register),
            "Get": calls.unary("get", "GetRequest", read, self._get),
            "List": calls.unary("list", "ListRequest", read, self._list),
            "Update": calls.unary("update", "UpdateRequest", write, self._update),
            "Remove": calls.unary("remove", "RemoveRequest", write, self._remove),
            "Preview": calls.unary("preview", "PreviewRequest", read, self._preview),
            # The modes that change something need more.
            "Check": calls.unary("check", "CheckRequest", read, self._check),
            "Ack": calls.unary("ack", "AckRequest", write, self._moving("ack", self._ack)),
            "Nack": calls.unary("nack", "NackRequest", write, self._moving("nack", self._nack)),
            "Snooze": calls.unary(
                "snooze", "SnoozeRequest", write, self._moving("snooze", self._snooze)
            ),
            "Dismiss": calls.unary(
                "dismiss", "DismissRequest", write, self._moving("dismiss", self._dismiss)
            ),
            "Extend": calls.unary(
                "extend", "ExtendRequest", write, self._moving("extend", self._extend)
            ),
            "PostEvents": calls.unary("post_events", "PostEventsRequest", write, self._post_events),
            "ListEvents": calls.unary("list_events", "ListEventsRequest", read, self._list_events),
            "Watch": calls.stream("watch", "WatchRequest", read, self._watch),
        }

    async def _register(self, caller: Caller, request: Any) -> Any:
        app, bank = self._app, caller.bank(request.bank)
        count = len(request.intentions)
        if not count:
            raise InvalidInput("give at least one intention", field="intentions", limit=1)
        if count > MOST_AT_ONCE:
            raise TooLarge(
                f"{count} intentions at once; the limit is {MOST_AT_ONCE}",
                field="intentions",
                limit=MOST_AT_ONCE,
            )
        key, now = optional(request, "idempotency_key"), app.clock.now_us()
        ids = [None] * count if key is None else await app.once(bank, key, count)
        if count > routes.FEW:
            reminders, warnings = await asyncio.to_thread(_read, request.intentions, ids, now)
        else:
            reminders, warnings = _read(request.intentions, ids, now)
        made = await app.remind(bank, reminders, ceiling=caller.max_tier_rank)
        app.watch.wake()
        changed(bank, "intentions.create", intentions=len(made.intentions))
        told = own("RegisterResponse")
        _fill_intentions(told.intentions, made.intentions, request)
        told.warnings.extend([*warnings, *made.warnings])
        return told

    async def _get(self, caller: Caller, request: Any) -> Any:
        found = await self._found(caller, request)
        told = own("GetResponse")
        fill(told.intention, shown(found, _wanted(request)))
        return told

    async def _list(self, caller: Caller, request: Any) -> Any:
        states = [_state(name) for name in request.states] or None
        found, total = await self._app.remind.listing(
            caller.bank(request.bank),
            states,
            limit_of(request, 100, MAX_PAGE),
            request.offset,
            ceiling_of(caller, request),
        )
        told = own("ListResponse")
        _fill_intentions(told.intentions, found, request)
        told.total = total
        return told

    async def _update(self, caller: Caller, request: Any) -> Any:
        stored = await self._found(caller, request)
        changes = changes_of(changed_body(request), stored, self._app.clock.now_us())
        made = await self._app.remind.revise(
            caller.bank(request.bank), stored.id, changes, ceiling_of(caller, request)
        )
        self._app.watch.wake()
        changed(caller.bank(request.bank), "intention.update", intention_id=to_uuid(made.id))
        told = own("UpdateResponse")
        fill(told.intention, shown(made))
        return told

    async def _remove(self, caller: Caller, request: Any) -> Any:
        wanted = _intention_id(request)
        bank = caller.bank(request.bank)
        removed = await self._app.remind.remove(bank, [wanted], ceiling_of(caller, request))
        if not removed:
            raise NotFound(
                f"there is no intention {to_uuid(wanted)} in this bank", field="intention_id"
            )
        changed(bank, "intention.delete", intention_id=to_uuid(wanted))
        told = own("RemoveResponse")
        told.removed = removed
        return told

    async def _preview(self, caller: Caller, request: Any) -> Any:
        limit = limit_of(request, 5, MOST_PREVIEWED)
        found = await self._found(caller, request)
        told = own("PreviewResponse")
        told.next_ms.extend(ms(at) or 0 for at in self._app.remind.preview(found, limit))
        return told

    async def _check(self, caller: Caller, request: Any) -> Any:
        asked = as_body(routes.CheckRequest, request)
        mode = Mode(asked.mode)
        if mode is not Mode.PEEK:
            caller.needs(Permission.WRITE)
        most = self._app.settings.max_query_chars
        if asked.query_text is not None and len(asked.query_text) > most:
            raise InvalidInput(
                f"query_text has {len(asked.query_text)} characters; the limit is {most}",
                field="query_text",
                limit=most,
            )
        found = await self._app.check(
            caller.bank(request.bank),
            CheckOptions(
                now=us(asked.now),
                events=asked.events,
                text=asked.query_text,
                vector=vector_of(asked.query_embedding),
                ceiling=ceiling_of(caller, request),
                mode=mode,
                lease_s=asked.lease_seconds,
                limit=asked.limit,
            ),
        )
        if mode is not Mode.PEEK:
            bank = caller.bank(request.bank)
            changed(bank, "intentions.check", mode=str(mode), occurrences=len(found.due))
        told = own("CheckResponse")
        for due in found.due:
            shape, added = shown_due(due, _wanted(request)), told.due.add()
            fill(added.intention, shape)
            fill(added.occurrence, shape.occurrence)
        told.remaining = found.remaining
        told.now_ms = ms(found.now) or 0
        told.mode = str(mode)
        told.warnings.extend(found.warnings)
        return told

    def _moving(self, verb: str, move: Move) -> Callable[[Caller, Any], Awaitable[Any]]:
        """Return a call that answers an occurrence by `move` and tells how it stands then."""

        async def work(caller: Caller, request: Any) -> Any:
            wanted = parse_id(request.occurrence_id, "occurrence_id")
            offer = await move(
                caller.bank(request.bank),
                wanted,
                request,
                optional(request, "token"),
                ceiling_of(caller, request),
            )
            self._app.watch.wake()
            state = str(offer.occurrence.state)
            what = {"occurrence_id": to_uuid(wanted), "state": state}
            changed(caller.bank(request.bank), f"occurrence.{verb}", **what)
            return self._filled(own("OccurrenceResponse"), offer, self._app.clock.now_us())

        return work

    async def _ack(
        self, bank: BankRef, wanted: bytes, _: Any, token: int | None, ceiling: float | None
    ) -> Offer:
        return await self._app.occurrences.ack(bank, wanted, token, ceiling)

    async def _dismiss(
        self, bank: BankRef, wanted: bytes, _: Any, token: int | None, ceiling: float | None
    ) -> Offer:
        return await self._app.occurrences.dismiss(bank, wanted, token, ceiling)

    async def _nack(
        self, bank: BankRef, wanted: bytes, request: Any, token: int | None, ceiling: float | None
    ) -> Offer:
        delay = as_body(NackRequest, request).delay_seconds
        return await self._app.occurrences.nack(bank, wanted, token, ceiling, delay)

    async def _snooze(
        self, bank: BankRef, wanted: bytes, request: Any, token: int | None, ceiling: float | None
    ) -> Offer:
        asked = as_body(SnoozeRequest, request)
        until = await until_of(self._app, bank, wanted, asked, ceiling)
        return await self._app.occurrences.snooze(bank, wanted, token, ceiling, until)

    async def _extend(
        self, bank: BankRef, wanted: bytes, request: Any, token: int | None, ceiling: float | None
    ) -> Offer:
        lease_s = as_body(ExtendRequest, request).lease_seconds
        return await self._app.occurrences.extend(bank, wanted, token, ceiling, lease_s)

    async def _post_events(self, caller: Caller, request: Any) -> Any:
        if not 1 <= len(request.events) <= MOST_EVENTS:
            raise InvalidInput(
                f"give 1 to {MOST_EVENTS} events at once", field="events", limit=MOST_EVENTS
            )
        events = []
        for number, each in enumerate(request.events):
            with of_item(number, len(request.events) > 1):
                events.append(_event(each))
        done = await self._app.events(caller.bank(request.bank), events, caller.max_tier_rank)
        self._app.watch.wake()
        told = own("PostEventsResponse")
        counts = {"events": len(done.new), "occurrences": len(done.occurrences)}
        changed(caller.bank(request.bank), "events.create", **counts)
        for event in done.events:
            fill_event(told.events.add(), event)
        told.new_ids.extend(e.id for e in done.events if e.id in done.new)
        for occurrence in done.occurrences:
            fill(told.occurrences.add(), shown_occurrence(occurrence))
        return told

    async def _list_events(self, caller: Caller, request: Any) -> Any:
        since = optional(request, "since_ms")
        if since is not None and not LEAST_MS <= since <= MOST_MS:
            raise InvalidInput("since_ms lies outside the calendar", field="since_ms")
        if len(request.names) > MOST_EVENTS:
            raise InvalidInput(
                f"give {MOST_EVENTS} names at most", field="names", limit=MOST_EVENTS
            )
        limit = limit_of(request, 100, MAX_PAGE)
        bank, names = caller.bank(request.bank), list(request.names) or None
        told = own("ListEventsResponse")
        for event in await self._app.events.listing(bank, names, us(since), limit):
            fill_event(told.events.add(), event)
        return told

    async def _watch(self, caller: Caller, request: Any) -> AsyncIterator[Any]:
        bank, ceiling = caller.bank(request.bank), ceiling_of(caller, request)
        cursor = optional(request, "cursor")
        place = BEFORE_ALL if cursor is None else place_of(cursor, "cursor")
        self._streams.check_room()
        async with aclosing(self._streams.run(bank, place, ceiling)) as source:
            async for sent in source:
                if sent is None:
                    continue
                told = self._filled(own("WatchMessage"), sent.offer, sent.now)
                told.cursor = cursor_of(sent.offer)
                told.found_at_ms = ms(sent.now) or 0
                yield told

    async def _found(self, caller: Caller, request: Any) -> Any:
        wanted, ceiling = _intention_id(request), ceiling_of(caller, request)
        return await self._app.remind.get(caller.bank(request.bank), wanted, ceiling)

    def _filled(self, told: Any, offer: Offer, now: int) -> Any:
        shape = shown_offer(offer.occurrence, offer.intention, now)
        fill(told.intention, shape.intention)
        fill(told.occurrence, shape)
        return told


def _read(
    asked: Sequence[Any], own_ids: Sequence[bytes | None], now: int
) -> tuple[list[Reminder], list[str]]:
    """Return what to register, and what is doubtful of it."""
    reminders: list[Reminder] = []
    warnings: list[str] = []
    for number, each in enumerate(asked):
        with of_item(number, len(asked) > 1):
            body = as_body(IntentionRequest, each)
            reminder, doubts = reminder_of(body, now, own_ids[number])
        reminders.append(reminder)
        warnings += doubts
    return reminders, warnings


def _event(told: Any) -> NewEvent:
    asked = as_body(EventFields, told)
    at = optional(told, "time_ms")
    return NewEvent(asked.name or "", asked.id, us(at), asked.payload or {})


def _fill_intentions(target: Any, found: Sequence[Any], request: Any) -> None:
    for intention in found:
        fill(target.add(), shown(intention, _wanted(request)))


def _wanted(request: Any) -> frozenset[str]:
    return frozenset({CUE} if request.embeddings else ())


def _intention_id(request: Any) -> bytes:
    return parse_id(request.intention_id, "intention_id")


def _state(name: str) -> IntentionState:
    try:
        return IntentionState(name)
    except ValueError:
        known = ", ".join(IntentionState)
        raise InvalidInput(
            f"there is no state {name[:40]!r}: use {known}", field="states"
        ) from None
