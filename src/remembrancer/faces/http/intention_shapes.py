"""Intentions and occurrences on the wire: AgentOS's fourteen names, and ours beside them.

Times are Unix milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from ...finding.cues import THRESHOLD
from ...nouns.errors import InvalidInput
from ...nouns.ids import parse_id, to_uuid
from ...nouns.intention import Intention, IntentionState, Occurrence, OccurrenceState, TriggerType
from ...reading.recurrence.zones import local_of, zone_of
from ...verbs.check import Due
from ...verbs.reminding.conditions import LEAST_MS, MOST_MS
from ...verbs.reminding.options import recurrence_of
from ...verbs.reminding.plan import GRACE_US
from ...verbs.reminding.reminders import MOST_DIMENSIONS, WAITS, Reminder
from ...verbs.reminding.scheduling import UTC, Schedule, in_words, rule_of, rule_told
from .body import Wire

MOST_ITEMS = 5_000
MOST_DATES = 1_000
CUE = "cueEmbedding"
"""What a caller asks to have included."""
_MS = 1_000  # microseconds


def _no_words(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError("takes Unix milliseconds; words and ISO 8601 go into at")
    return value


Millis = Annotated[float, Field(ge=LEAST_MS, le=MOST_MS, allow_inf_nan=False)]
Moment = Annotated[Millis, BeforeValidator(_no_words)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Vector = Annotated[list[Number], Field(min_length=1, max_length=MOST_DIMENSIONS)]
Dates = Annotated[list[str], Field(max_length=MOST_DATES)]
Kind = Literal["time_based", "event_based", "context_based", "composite"]


class RecurrenceFields(Wire):
    """When it comes back: one of rrule, cron and every, in local time of the zone."""

    rrule: str | None = Field(None, description="RFC 5545, such as FREQ=WEEKLY;BYDAY=MO.")
    cron: str | None = Field(None, description="Five fields, or @daily and the like.")
    every: int | None = Field(None, description="Seconds of real time, 60 or more.")
    start: str | None = Field(None, description="ISO 8601, local; where the rule begins.")
    zone: str | None = Field(None, description="IANA name; that of the intention by default.")
    exdate: Dates | None = Field(None, description="Local times left out.")
    rdate: Dates | None = Field(None, description="Local times added.")
    until: Millis | str | None = Field(None, description="The last time at most.")
    count: int | None = Field(None, description="Times at most, from the start.")
    gap: Literal["forward", "skip"] | None = Field(
        None, description="What becomes of a local time that a clock change leaves out."
    )
    short_month: Literal["skip", "last_day"] | None = Field(
        None, alias="shortMonth", description="What becomes of a 31st where there is none."
    )


class QuietHours(Wire):
    """Hours in which nothing is offered, unless the importance is .9 or more."""

    start: str = Field(description="Such as 22:00.")
    end: str
    zone: str | None = Field(None, description="IANA name; that of the intention by default.")


class IntentionFields(Wire):
    """What to do later, and what it waits for. Keys may be camelCase or snake_case."""

    content: str | None = Field(None, description="What to do.")
    trigger_type: Kind | None = Field(
        None, alias="triggerType", description="Follows from the other keys where it is left out."
    )
    trigger_at: Moment | None = Field(None, alias="triggerAt", description="Unix milliseconds.")
    at: str | None = Field(
        None, description="The time in words, resolved against now: 'friday 9:00'."
    )
    zone: str | None = Field(None, description="IANA name; UTC by default.")
    recurrence: RecurrenceFields | None = None
    trigger_event: str | None = Field(None, alias="triggerEvent")
    where: dict[str, Any] | None = Field(
        None, description="Values that the event's payload must have under its top keys."
    )
    look_back_seconds: Number | None = Field(
        None, alias="lookBackSeconds", description="How far back kept events count."
    )
    cue_text: str | None = Field(None, alias="cueText")
    cue_embedding: Vector | None = Field(None, alias="cueEmbedding")
    similarity_threshold: Number | None = Field(
        None, alias="similarityThreshold", description="-1 to 1; .7 by default."
    )
    condition: dict[str, Any] | None = Field(None, description="Of a composite intention.")
    importance: Number | None = Field(None, description=".5 by default.")
    recurring: bool | None = None
    source_trace_id: str | None = Field(
        None, alias="sourceTraceId", description="The memory it comes from; it goes with it."
    )
    tier_rank: Number | None = Field(None, alias="tierRank")
    expires_at: Millis | None = Field(None, alias="expiresAt")
    quiet_hours: QuietHours | None = Field(None, alias="quietHours")
    cooldown_seconds: Number | None = Field(None, alias="cooldownSeconds")
    misfire: Literal["latest", "all", "skip"] | None = None
    channel: str | None = None


class IntentionRequest(IntentionFields):
    """One intention to register."""

    id: str | None = Field(None, description="An id of the caller's; known ones are left alone.")
    state: Literal["proposed", "active", "paused"] | None = None


class RegisterRequest(IntentionRequest):
    """One intention, or several as `items`, of which all are registered or none."""

    items: Annotated[list[IntentionRequest], Field(min_length=1, max_length=MOST_ITEMS)] | None = (
        None
    )


class UpdateIntentionRequest(IntentionFields):
    """What to change. What is left out stays; null takes away."""

    state: Literal["proposed", "active", "paused", "cancelled"] | None = None


class _Shown(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class IntentionItem(_Shown):
    """An intention. What it does not have is left out."""

    id: str
    content: str
    trigger_type: str
    trigger_at: int | float | None
    trigger_event: str | None
    cue_embedding: list[float] | None
    cue_text: str | None
    similarity_threshold: float
    importance: float
    triggered: bool = Field(description="Whether one was acknowledged or consumed.")
    recurring: bool
    created_at: int
    source_trace_id: str | None
    tier_rank: float | None
    state: str
    next_due: int | None = Field(description="When it is looked at next.")
    zone: str | None
    recurrence: dict[str, Any] | None
    expires_at: int | float | None
    quiet_hours: dict[str, Any] | None
    cooldown_seconds: float | None
    condition: dict[str, Any] | None
    where: dict[str, Any] | None
    look_back_seconds: float | None
    misfire: str | None
    channel: str | None
    cue_pending: bool | None = Field(description="True while its cue waits for the embedder.")
    fired_count: int
    last_fired_at: int | None
    updated_at: int
    version: int


class OccurrenceItem(BaseModel):
    """One due instance of an intention."""

    id: str
    intention_id: str
    state: str
    token: int = Field(description="Of the lease; rises with each.")
    due_at: int
    ready_at: int | None = Field(description="When it is offered again.")
    lease_until: int | None
    late: bool | None
    lateness_ms: int | None
    missed_count: int = Field(description="Earlier instances that it stands for, too.")
    attempts: int = Field(description="How often it was leased.")
    created_at: int
    updated_at: int
    data: dict[str, Any] | None = Field(description="The event, the similarity.")


class DueItem(IntentionItem):
    """An intention that is due, with the occurrence to acknowledge."""

    occurrence: OccurrenceItem


class OccurrenceWithIntention(OccurrenceItem):
    """An occurrence and what it is of."""

    intention: IntentionItem


def reminder_of(
    body: IntentionRequest, now: int, own: bytes | None = None
) -> tuple[Reminder, tuple[str, ...]]:
    """Return what to register, and what is doubtful; `own` is the id of one that names none.

    Raises:
        InvalidInput: it cannot be resolved to something that fires.
    """
    if body.content is None:
        raise InvalidInput("content is missing: say what is to be done", field="content")
    schedule = schedule_of(body, now)
    reminder = Reminder(
        content=body.content,
        trigger_type=_kind(body),
        id=parse_id(body.id, "id") if body.id is not None else own,
        trigger_at=schedule.trigger_at,
        trigger_event=body.trigger_event,
        cue_text=body.cue_text,
        vector=vector_of(body.cue_embedding),
        similarity_threshold=body.similarity_threshold,
        importance=0.5 if body.importance is None else body.importance,
        recurring=bool(body.recurring),
        recurrence=schedule.recurrence,
        tier_rank=body.tier_rank,
        source_id=_source(body.source_trace_id),
        expires_at=us(body.expires_at),
        state=IntentionState(body.state or IntentionState.ACTIVE),
        options=options_of(body, {}),
    )
    return reminder, schedule.warnings


def changes_of(body: UpdateIntentionRequest, stored: Intention, now: int) -> dict[str, Any]:
    """Return the changes that a request asks for, by the names of `Reminder`.

    Raises:
        InvalidInput: it cannot be resolved to something that fires.
    """
    given = body.model_fields_set
    plain = ("content", "trigger_event", "cue_text", "similarity_threshold", "tier_rank")
    changes: dict[str, Any] = {name: getattr(body, name) for name in plain if name in given}
    for name in ("importance", "recurring"):
        if getattr(body, name) is not None:
            changes[name] = getattr(body, name)
    if body.trigger_type is not None:
        changes["trigger_type"] = TriggerType(body.trigger_type)
    if body.state is not None:
        changes["state"] = IntentionState(body.state)
    if "expires_at" in given:
        changes["expires_at"] = us(body.expires_at)
    if "source_trace_id" in given:
        changes["source_id"] = _source(body.source_trace_id)
    if "cue_embedding" in given or changes.get("cue_text", stored.cue_text) != stored.cue_text:
        changes["vector"] = vector_of(body.cue_embedding)
    if given & {"trigger_at", "at", "recurrence"}:
        zone = body.zone or stored.options.get("zone")
        schedule = schedule_of(body, now, zone)
        if given & {"trigger_at", "at"}:
            changes["trigger_at"] = schedule.trigger_at
        if schedule.recurrence is not None or "recurrence" in given or body.at is not None:
            changes["recurrence"] = schedule.recurrence
            changes.setdefault("trigger_at", None if schedule.recurrence else stored.trigger_at)
    if "recurrence" not in changes:
        changes |= _rule_anew(body, stored, changes)
    changes["options"] = options_of(body, stored.options)
    if changes.get("content", "") is None:
        raise InvalidInput("content cannot be taken away", field="content")
    return changes


def _rule_anew(
    body: UpdateIntentionRequest, stored: Intention, changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a new zone or triggerAt makes of the stored rule: its local times, or its start.

    Empty where there is none, or both are as they were.
    """
    rule, first = recurrence_of(stored), changes.get("trigger_at")
    if rule is None:
        return {}
    zone = body.zone or rule.zone
    first = None if first == stored.trigger_at else first
    if first is None and zone == rule.zone:
        return {}
    start = rule.start if first is None else local_of(first, zone_of(zone))
    return {"recurrence": replace(rule, zone=zone, start=start), "trigger_at": first}


def schedule_of(body: IntentionFields, now: int, zone: str | None = None) -> Schedule:
    """Return when it is due, as far as times say."""
    zone = body.zone or zone or UTC
    if body.at is not None and (body.trigger_at is not None or body.recurrence is not None):
        raise InvalidInput("give the time in words or as triggerAt and recurrence", field="at")
    if body.at is not None:
        return in_words(body.at, now, zone)
    at = us(body.trigger_at)
    if body.recurrence is None:
        return Schedule(at)
    told = body.recurrence.model_dump(exclude_none=True)
    return Schedule(at, rule_of(told, told.pop("zone", zone), at, now))


def options_of(body: IntentionFields, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options as they are to be kept: the stored ones, changed by those given."""
    quiet = body.quiet_hours
    zone = body.zone or stored.get("zone") or UTC
    told: dict[str, tuple[str, Any]] = {
        "zone": ("zone", body.zone),
        "quiet_hours": (
            "quiet",
            None
            if quiet is None
            else {"start": quiet.start, "end": quiet.end, "zone": quiet.zone or zone},
        ),
        "cooldown_seconds": ("cooldown_s", body.cooldown_seconds),
        "condition": ("condition", body.condition),
        "where": ("where", body.where),
        "look_back_seconds": ("look_back_s", body.look_back_seconds),
        "misfire": ("misfire", body.misfire),
        "channel": ("channel", body.channel),
    }
    options = {name: value for name, value in stored.items() if name != "recurrence"}
    for name, (kept, value) in told.items():
        if name in body.model_fields_set:
            options.pop(kept, None)
            if value is not None:
                options[kept] = value
    return options


def shown(i: Intention, include: frozenset[str] = frozenset()) -> IntentionItem:
    """Shape an intention."""
    return IntentionItem(**_fields(i, include))


def shown_due(due: Due, include: frozenset[str] = frozenset()) -> DueItem:
    """Shape what is due."""
    occurrence = shown_occurrence(due.occurrence, due.late, due.late_us)
    return DueItem(**_fields(due.intention, include), occurrence=occurrence)


def shown_occurrence(
    o: Occurrence, late: bool | None = None, late_us: int | None = None
) -> OccurrenceItem:
    """Shape an occurrence."""
    return OccurrenceItem(**_occurrence(o, late, late_us))


def shown_offer(o: Occurrence, i: Intention, now: int) -> OccurrenceWithIntention:
    """Shape an occurrence with its intention; how late it is counts while it is open."""
    late_us = now - o.due_at if o.ready_at is not None else None
    late = None if late_us is None else late_us > GRACE_US
    return OccurrenceWithIntention(**_occurrence(o, late, late_us), intention=shown(i))


def us(ms: float | None) -> int | None:
    """Turn milliseconds of the wire into microseconds."""
    return None if ms is None else round(ms * _MS)


def ms(micros: int | None) -> int | None:
    """Turn microseconds into whole milliseconds of the wire."""
    return None if micros is None else micros // _MS


def exact_ms(micros: int | None) -> int | float | None:
    """Turn a time that a caller gave into milliseconds again, with a fraction where it had one."""
    return micros / _MS if micros is not None and micros % _MS else ms(micros)


def vector_of(numbers: list[float] | None) -> Any:
    """Return a vector of the wire as an array, float32; None stays None."""
    if numbers is None:
        return None
    with np.errstate(over="ignore"):  # what float32 cannot hold is refused as not finite
        return np.asarray(numbers, dtype=np.float32)


def _kind(body: IntentionFields) -> TriggerType:
    if body.trigger_type is not None:
        return TriggerType(body.trigger_type)
    timed = body.trigger_at is not None or body.at is not None or body.recurrence is not None
    found = [
        kind
        for kind, told in (
            (TriggerType.TIME, timed),
            (TriggerType.EVENT, body.trigger_event is not None),
            (TriggerType.CONTEXT, body.cue_text is not None or body.cue_embedding is not None),
            (TriggerType.COMPOSITE, body.condition is not None),
        )
        if told
    ]
    if len(found) != 1:
        raise InvalidInput(
            "triggerType is missing: say when by one of at (such as 'friday 9:00'), triggerAt, "
            "triggerEvent, cueText and condition, or name one of time_based, event_based, "
            "context_based and composite",
            field="triggerType",
        )
    return found[0]


def _source(text: str | None) -> bytes | None:
    return None if text is None else parse_id(text, "sourceTraceId")


def _fields(i: Intention, include: frozenset[str]) -> dict[str, Any]:
    rule = recurrence_of(i)
    options = i.options
    threshold = THRESHOLD if i.similarity_threshold is None else i.similarity_threshold
    return {
        "id": to_uuid(i.id),
        "content": i.content,
        "trigger_type": str(i.trigger_type),
        "trigger_at": exact_ms(i.trigger_at),
        "trigger_event": i.trigger_event,
        "cue_embedding": _cue(i) if CUE in include else None,
        "cue_text": i.cue_text,
        "similarity_threshold": threshold,
        "importance": i.importance,
        "triggered": i.fired_count > 0,
        "recurring": i.recurring,
        "created_at": i.created_at // _MS,
        "source_trace_id": None if i.source_id is None else to_uuid(i.source_id),
        "tier_rank": i.tier_rank,
        "state": str(i.state),
        "next_due": ms(i.next_due),
        "zone": options.get("zone"),
        "recurrence": None if rule is None else rule_told(rule),
        "expires_at": exact_ms(i.expires_at),
        "quiet_hours": options.get("quiet"),
        "cooldown_seconds": options.get("cooldown_s"),
        "condition": options.get("condition"),
        "where": options.get("where"),
        "look_back_seconds": options.get("look_back_s"),
        "misfire": options.get("misfire"),
        "channel": options.get("channel"),
        "cue_pending": True if i.cue_generation == WAITS else None,
        "fired_count": i.fired_count,
        "last_fired_at": ms(i.last_fired_at),
        "updated_at": i.updated_at // _MS,
        "version": i.version,
    }


def _cue(i: Intention) -> list[float] | None:
    return None if i.cue is None else np.frombuffer(i.cue, dtype="<f4").tolist()


def _occurrence(o: Occurrence, late: bool | None, late_us: int | None) -> dict[str, Any]:
    leased = o.state is OccurrenceState.LEASED
    return {
        "id": to_uuid(o.id),
        "intention_id": to_uuid(o.intention_id),
        "state": str(o.state),
        "token": o.token,
        "due_at": ms(o.due_at),
        "ready_at": ms(o.ready_at),
        "lease_until": ms(o.ready_at) if leased else None,
        "late": late,
        "lateness_ms": None if late_us is None else max(0, late_us // _MS),
        "missed_count": o.missed,
        "attempts": o.attempts,
        "created_at": o.created_at // _MS,
        "updated_at": o.updated_at // _MS,
        "data": dict(o.data) or None,
    }
