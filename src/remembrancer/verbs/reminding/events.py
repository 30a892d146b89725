"""events: what has happened, told by callers; kept for a while, and at once what waits for it.

An event is kept once by its id, in one transaction with the occurrences that it makes: telling it
again changes nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...keeping.store import Store
from ...nouns.clock import DAY_US, Clock
from ...nouns.errors import Conflict, InvalidInput, TooLarge
from ...nouns.ids import IdMaker, to_uuid
from ...nouns.intention import OPEN, Event, Intention, IntentionState, Occurrence, TriggerType
from ...nouns.memory import BankRef, Job, JobState
from ...nouns.text import clean
from .composites import SECOND_US, Composites, Told, kept_events
from .conditions import NAME_CHARS, matches
from .occurrences import withheld
from .plan import Hit, Plan, Planner
from .reminders import of_item

TRIM = "trim_events"
"""Names the job that drops events that have been kept for long enough."""
MOST_EVENTS = 1_000
PAYLOAD_BYTES = 64 * 1024
COPIED_BYTES = 4 * 1024
"""A payload up to this is handed over with the occurrence; a larger one is looked up by its id."""
_EVER = -(1 << 62)
_MOST_OPEN = 100_000
_TRIES = 8


@dataclass(frozen=True, slots=True)
class NewEvent:
    """What happened. `id` is the caller's own; one is made when it is None. `at`: None is now."""

    name: str
    id: str | None = None
    at: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Happened:
    """The events as they are kept, in the order given, and what they made.

    `new` are the ids of those that were not known. `occurrences` leave out what is ranked above the
    caller's ceiling.
    """

    events: tuple[Event, ...]
    new: frozenset[str] = frozenset()
    occurrences: tuple[Occurrence, ...] = ()


class Events:
    """The verb; everything it needs is passed in. Events are kept for `days`."""

    def __init__(
        self, store: Store, composites: Composites, *, ids: IdMaker, clock: Clock, days: float
    ) -> None:
        self._store = store
        self._composites = composites
        self._ids = ids
        self._clock = clock
        self._kept_us = int(days * DAY_US)

    async def __call__(
        self, ref: BankRef, events: Sequence[NewEvent], ceiling: float | None = None
    ) -> Happened:
        """Keep events and make the occurrences of what waits for them.

        Raises:
            InvalidInput, TooLarge: names the event's field; nothing was kept.
            Conflict: others kept changing the same intentions.
        """
        if not 1 <= len(events) <= MOST_EVENTS:
            raise InvalidInput(
                f"give 1 to {MOST_EVENTS} events at once", field="items", limit=MOST_EVENTS
            )
        now = self._clock.now_us()
        given = []
        for number, event in enumerate(events):
            with of_item(number, len(events) > 1):
                given.append(self._event(event, now))
        wanted = {event.id: event for event in reversed(given)}  # the first of an id counts
        for _ in range(_TRIES):
            known = {e.id: e for e in await self._store.events_by_id(ref, list(wanted))}
            fresh = [e for e in wanted.values() if e.id not in known]
            kept = wanted | known
            if not fresh:
                return Happened(tuple(kept[e.id] for e in given))
            plan = await self._plan(ref, fresh, now)
            batch = replace(plan.batch(), events=fresh, jobs=[self._trimming(ref, now)])
            try:
                applied = await self._store.intend(ref, batch)
            except Conflict:
                continue
            seen = tuple(
                o for o in applied.created if not withheld(plan.changed[o.intention_id], ceiling)
            )
            return Happened(tuple(kept[e.id] for e in given), frozenset(applied.events), seen)
        raise Conflict("the intentions are changed by others all the time; try again")

    async def listing(
        self, ref: BankRef, names: Sequence[str] | None, since: int | None, limit: int
    ) -> list[Event]:
        """Return kept events from a time on, oldest first."""
        since = _EVER if since is None else since
        return await self._store.events(ref, names, since, limit)

    async def look_back(
        self, ref: BankRef, fresh: Sequence[Intention], now: int, seen: set[str]
    ) -> Plan:
        """Plan what new intentions would have been given for events kept before them.

        Those with a look-back take the latest event that matches; further ones are folded into it.
        Ids of events looked at are added to `seen`, and those in it are passed over.
        """
        spans = {i.id: now - int(i.options["look_back_s"] * SECOND_US) for i in looking_back(fresh)}
        wanted = [i for i in fresh if i.id in spans]
        if not wanted:
            return Plan()
        named: dict[str, list[Intention]] = {}
        for intention in wanted:
            named.setdefault(intention.trigger_event or "", []).append(intention)
        latest: dict[bytes, Hit] = {}
        counts: Counter[bytes] = Counter()
        async for event in kept_events(self._store, ref, list(named), min(spans.values())):
            if event.id in seen or event.at > now:
                continue
            seen.add(event.id)
            for intention in named[event.name]:
                where = intention.options.get("where")
                if event.at >= spans[intention.id] and matches(where, event.data):
                    latest[intention.id] = _hit(intention, event, now)
                    counts[intention.id] += intention.recurring or not counts[intention.id]
        planner = Planner(self._ids, now, await self._opened(ref, list(latest)))
        planner.hits(list(latest.values()))
        plan = planner.plan
        plan.occurrences = [
            replace(o, missed=o.missed + counts[o.intention_id] - 1) for o in plan.occurrences
        ]
        return plan

    async def trim(self, job: Job) -> Mapping[str, Any]:
        """Drop the events of a bank that have been kept for long enough."""
        before = self._clock.now_us() - self._kept_us
        return {"dropped": await self._store.events_trim(job.ref, before)}

    async def _plan(self, ref: BankRef, fresh: Sequence[Event], now: int) -> Plan:
        waiting: dict[str, list[Intention]] = {}
        for intention in await self._store.intentions_on(ref, [e.name for e in fresh], None):
            waiting.setdefault(intention.trigger_event or "", []).append(intention)
        hits = [
            _hit(intention, event, now)
            for event in sorted(fresh, key=lambda e: e.at)
            for intention in waiting.get(event.name, ())
            if intention.trigger_type is TriggerType.EVENT
            and matches(intention.options.get("where"), event.data)
        ]
        told = [Told(e.name, e.id, e.data) for e in fresh]
        composed = await self._composites.holding(
            ref, told, now, await self._store.intentions_unindexed(ref, None)
        )
        hits += composed.hits
        opened = await self._opened(ref, [h.intention.id for h in hits])
        planner = Planner(self._ids, now, opened)
        planner.hits(hits)
        planner.rearm(composed.ended)
        for hit in hits:  # so that of two that keep the same event one has to look again
            planner.plan.changed.setdefault(hit.intention.id, hit.intention)
        return planner.plan

    async def _opened(self, ref: BankRef, ids: Sequence[bytes]) -> dict[bytes, Occurrence]:
        if not ids:
            return {}
        found = await self._store.offers(
            ref, states=OPEN, intention_ids=list(dict.fromkeys(ids)), limit=_MOST_OPEN
        )
        return {o.intention.id: o.occurrence for o in found}

    def _event(self, event: NewEvent, now: int) -> Event:
        name = _text(event.name, "name")
        own = to_uuid(self._ids.new()) if event.id is None else event.id
        size = len(json.dumps(event.data).encode())
        if size > PAYLOAD_BYTES:
            raise TooLarge(
                f"payload has {size} bytes; the limit is {PAYLOAD_BYTES}",
                field="payload",
                limit=PAYLOAD_BYTES,
            )
        at = now if event.at is None else event.at
        return Event(_text(own, "id"), name, at, now, event.data)

    def _trimming(self, ref: BankRef, now: int) -> Job:
        """Return the job that drops the events received on a day, when their time has come."""
        day = now // DAY_US
        name = f"{TRIM}/{ref.key}/{day}/{self._kept_us}"
        return Job(
            id=hashlib.blake2b(name.encode(), digest_size=16).digest(),
            ref=ref,
            kind=TRIM,
            state=JobState.PENDING,
            created_at=now,
            updated_at=now,
            run_after=(day + 1) * DAY_US + self._kept_us,
            listed=False,
        )


def looking_back(fresh: Sequence[Intention]) -> list[Intention]:
    """Return those that ask for events from before they were registered."""
    return [
        i
        for i in fresh
        if i.trigger_type is TriggerType.EVENT
        and i.state is IntentionState.ACTIVE
        and i.options.get("look_back_s")
    ]


def _hit(intention: Intention, event: Event, now: int) -> Hit:
    data: dict[str, Any] = {"event": event.name, "event_id": event.id}
    if event.data and len(json.dumps(event.data)) <= COPIED_BYTES:
        data["payload"] = dict(event.data)
    return Hit(intention, f"event:{event.id}", min(event.at, now), data)


def _text(text: str, name: str) -> str:
    text = clean(text)
    if not text.strip() or len(text) > NAME_CHARS:
        raise InvalidInput(
            f"{name} must have 1 to {NAME_CHARS} characters", field=name, limit=NAME_CHARS
        )
    return text
