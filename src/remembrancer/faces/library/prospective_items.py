"""Intentions as the library's callers see them, and what they give to make one.

Times are Unix milliseconds. Keys may be camelCase or snake_case.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import numpy as np

from ...models.embedder import Floats
from ...nouns.clock import to_us
from ...nouns.errors import InvalidInput
from ...nouns.ids import parse_id, to_uuid
from ...nouns.intention import Intention, IntentionState, TriggerType
from ...verbs.check import Due
from ...verbs.reminding.conditions import LEAST_MS, MOST_MS
from ...verbs.reminding.reminders import Reminder
from ...verbs.reminding.scheduling import UTC, in_words, rule_of

_MS = 1_000  # microseconds
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")
_OPTIONS = {
    "zone": "zone",
    "cooldown_seconds": "cooldown_s",
    "look_back_seconds": "look_back_s",
    "quiet_hours": "quiet",
    "condition": "condition",
    "where": "where",
    "misfire": "misfire",
    "channel": "channel",
}
_MADE_HERE = ("triggered", "created_at")  # what an item tells, and nobody sets


@dataclass(slots=True)
class ProspectiveItem:
    """An intention: AgentOS's fourteen fields, by their names in snake_case.

    `trigger_at` and `created_at` are Unix milliseconds. `triggered`: it was handed over and
    acknowledged, or consumed.
    """

    id: str
    content: str
    trigger_type: str
    importance: float | None
    triggered: bool
    recurring: bool
    created_at: int
    trigger_at: float | None = None
    trigger_event: str | None = None
    cue_embedding: list[float] | None = None
    cue_text: str | None = None
    similarity_threshold: float | None = None
    source_trace_id: str | None = None
    tier_rank: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by their names in camelCase; what it does not have is left out."""
        found = {_camel(name): getattr(self, name) for name in _FIELDS}
        return {name: value for name, value in found.items() if value is not None}


@dataclass(slots=True)
class DueItem(ProspectiveItem):
    """An item that is due, with the occurrence that it is due by.

    `token` is the lease's; `late_ms` how long after `due_at` it is handed over; `missed` how many
    earlier instances it stands for, too.
    """

    occurrence_id: str = ""
    token: int = 0
    due_at: float = 0
    late: bool = False
    late_ms: float = 0
    missed: int = 0


class DueItems(list[DueItem]):
    """What is due, the most important first.

    `remaining` tells how much more is due and did not fit; `warnings` are for people.
    """

    def __init__(
        self, items: Sequence[DueItem], remaining: int = 0, warnings: Sequence[str] = ()
    ) -> None:
        super().__init__(items)
        self.remaining = remaining
        self.warnings = tuple(warnings)


_FIELDS = tuple(f.name for f in fields(ProspectiveItem))


def snake(name: str) -> str:
    """Spell a camelCase name in snake_case."""
    return _HUMP.sub(lambda found: "_" + found[1].lower(), name)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def shown(intention: Intention) -> ProspectiveItem:
    """Return an intention as an item."""
    return ProspectiveItem(**_told(intention))


def shown_due(due: Due) -> DueItem:
    """Return what is due as an item."""
    found = due.occurrence
    return DueItem(
        **_told(due.intention),
        occurrence_id=to_uuid(found.id),
        token=found.token,
        due_at=_millis(found.due_at),
        late=due.late,
        late_ms=_millis(max(0, due.late_us)),
        missed=found.missed,
    )


def reminder_of(given: Mapping[str, Any], now: int) -> tuple[Reminder, tuple[str, ...]]:
    """Return what to register, and what is doubtful about it.

    Args:
        given: an item's fields; beside AgentOS's `at` (a time in words), `zone`, `recurrence`,
            `expires_at`, `state`, `cooldown_seconds`, `look_back_seconds`, `quiet_hours`,
            `condition`, `where`, `misfire`, `channel`.
        now: microseconds.

    Raises:
        InvalidInput: it could never fire, or a field is none; names it in camelCase.
    """
    told = {snake(name): value for name, value in given.items() if value is not None}
    for name in _MADE_HERE:
        told.pop(name, None)
    content = _text(told, "content") or ""
    zone = _text(told, "zone") or UTC
    at, trigger_at = told.pop("at", None), millis(told.pop("trigger_at", None), "triggerAt")
    rule, doubts = None, tuple[str, ...]()
    if at is not None:
        schedule = in_words(str(at), now, zone)
        trigger_at, rule, doubts = schedule.trigger_at, schedule.recurrence, schedule.warnings
    repeat = told.pop("recurrence", None)
    if repeat is not None:
        repeat = {snake(name): value for name, value in dict(repeat).items()}
        rule = rule_of(repeat, repeat.pop("zone", zone), trigger_at, now)
    quiet = told.get("quiet_hours")
    if isinstance(quiet, Mapping):
        told["quiet_hours"] = {"zone": zone, **quiet}
    source, own = told.pop("source_trace_id", None), told.pop("id", None)
    reminder = Reminder(
        content=content,
        trigger_type=_kind(told.pop("trigger_type", None)),
        id=None if own is None else parse_id(str(own), "id"),
        trigger_at=trigger_at,
        trigger_event=_text(told, "trigger_event"),
        cue_text=_text(told, "cue_text"),
        vector=vector_of(told.pop("cue_embedding", None), "cueEmbedding"),
        similarity_threshold=_number(told, "similarity_threshold"),
        importance=_number(told, "importance", 0.5) or 0.0,
        recurring=_flag(told.pop("recurring", False)),
        recurrence=rule,
        tier_rank=_number(told, "tier_rank"),
        source_id=None if source is None else parse_id(str(source), "sourceTraceId"),
        expires_at=millis(told.pop("expires_at", None), "expiresAt"),
        state=_state(told.pop("state", IntentionState.ACTIVE)),
        options={kept: told.pop(name) for name, kept in _OPTIONS.items() if name in told}
        | ({"zone": zone} if zone != UTC else {}),
    )
    if told:
        raise InvalidInput(f"an item has no field {_camel(min(told))!r}", field=_camel(min(told)))
    return reminder, doubts


def millis(value: Any, name: str) -> int | None:
    """Read Unix milliseconds, or a time with a zone, as microseconds.

    Raises:
        InvalidInput: it is neither, or outside the calendar.
    """
    if value is None:
        return None
    if isinstance(value, datetime) and value.tzinfo is not None:
        return to_us(value)
    # A comparison with NaN is never true.
    if not is_number(value) or not LEAST_MS <= value <= MOST_MS:
        raise InvalidInput(
            f"{name} must be Unix milliseconds or a datetime with a zone, and not {value!r:.60}",
            field=name,
        )
    return round(float(value) * _MS)


def vector_of(value: Any, name: str) -> Floats | None:
    """Read a vector.

    Raises:
        InvalidInput: it is none.
    """
    if value is None:
        return None
    try:
        vector = np.asarray(value, dtype=np.float32)
    except (TypeError, ValueError):
        vector = np.empty(0, dtype=np.float32)
    if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
        raise InvalidInput(f"{name} must be a list of finite numbers", field=name)
    return vector


def is_number(value: Any) -> bool:
    """Tell whether a value is a number; true and false are none."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _told(i: Intention) -> dict[str, Any]:
    cue = None if i.cue is None else np.frombuffer(i.cue, dtype="<f4").tolist()
    return {
        "id": to_uuid(i.id),
        "content": i.content,
        "trigger_type": str(i.trigger_type),
        "importance": i.importance,
        "triggered": i.fired_count > 0,
        "recurring": i.recurring,
        "created_at": i.created_at // _MS,
        "trigger_at": None if i.trigger_at is None else _millis(i.trigger_at),
        "trigger_event": i.trigger_event,
        "cue_embedding": cue,
        "cue_text": i.cue_text,
        "similarity_threshold": i.similarity_threshold,
        "source_trace_id": None if i.source_id is None else to_uuid(i.source_id),
        "tier_rank": i.tier_rank,
    }


def _millis(us: int) -> float:
    whole, rest = divmod(us, _MS)
    return us / _MS if rest else whole


def _text(told: dict[str, Any], name: str) -> str | None:
    value = told.pop(name, None)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"{_camel(name)} must be text", field=_camel(name))
    return value


def _number(told: dict[str, Any], name: str, default: float | None = None) -> float | None:
    value = told.pop(name, default)
    if value is not None and (not is_number(value) or not math.isfinite(value)):
        raise InvalidInput(f"{_camel(name)} must be a finite number", field=_camel(name))
    return None if value is None else float(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput("recurring must be true or false", field="recurring")
    return value


def _kind(value: Any) -> TriggerType:
    try:
        return TriggerType(value)
    except ValueError:
        raise InvalidInput(
            f"triggerType must be one of {', '.join(TriggerType)}", field="triggerType"
        ) from None


def _state(value: Any) -> IntentionState:
    try:
        return IntentionState(value)
    except ValueError:
        raise InvalidInput("state must be proposed, active or paused", field="state") from None
