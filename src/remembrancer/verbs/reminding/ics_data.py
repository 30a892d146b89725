"""What a calendar has no word for, as JSON beside an intention, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ...nouns.errors import InvalidInput
from ...nouns.intention import Intention, IntentionState, TriggerType
from ...nouns.recurrence import Gap, ShortMonth
from .reminders import KEPT_STATES

_OPTIONS = ("cooldown_s", "quiet", "condition", "where", "look_back_s", "misfire", "channel")
_MOST_US = 1 << 60  # a time or a number beyond fits no calendar


def data_of(i: Intention) -> dict[str, Any]:
    """Return what the other properties of a to-do do not tell."""
    told: dict[str, Any] = {
        "trigger_type": str(i.trigger_type),
        "trigger_event": i.trigger_event,
        "cue_text": i.cue_text,
        "similarity_threshold": i.similarity_threshold,
        "importance": i.importance,
        "recurring": i.recurring or None,
        "tier_rank": i.tier_rank,
        "expires_at": i.expires_at,
        "state": str(i.state) if i.state in KEPT_STATES else None,
        "options": {name: i.options[name] for name in _OPTIONS if name in i.options} or None,
    }
    rule: Mapping[str, Any] = i.options.get("recurrence", {})
    told["rule"] = {name: rule[name] for name in _RULE if name in rule} or None
    return {name: value for name, value in told.items() if value is not None}


def kept_data(text: str) -> dict[str, Any]:
    """Read such JSON as fields of a reminder; the rule is among its options.

    Raises:
        InvalidInput: it is none.
    """
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise InvalidInput("its X-REMEMBRANCER is no JSON object")
    found = _read_all(told, _READERS)
    options: dict[str, Any] = found.setdefault("options", {})
    if "rule" in told:
        options["rule"] = _read_all(told["rule"], _RULE)
    return found


def _read_all(told: Any, readers: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    if not isinstance(told, dict):
        raise InvalidInput("its X-REMEMBRANCER holds no object where one is wanted")
    try:
        return {name: read(told[name]) for name, read in readers.items() if name in told}
    except (TypeError, ValueError):
        raise InvalidInput("its X-REMEMBRANCER holds a value that cannot be read") from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return float(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _MOST_US:
        raise TypeError
    return value


def _options(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError
    return {name: each for name, each in value.items() if name in _OPTIONS}


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "trigger_type": TriggerType,
    "trigger_event": _text,
    "cue_text": _text,
    "similarity_threshold": _number,
    "importance": _number,
    "recurring": bool,
    "tier_rank": _number,
    "expires_at": _whole,
    "state": IntentionState,
    "options": _options,
}
_RULE: Mapping[str, Callable[[Any], Any]] = {
    "cron": _text,
    "every_s": _whole,
    "until": _whole,
    "count": _whole,
    "gap": Gap,
    "short_month": ShortMonth,
}
