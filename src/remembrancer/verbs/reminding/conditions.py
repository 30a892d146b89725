"""Conditions: what a composite intention waits for, and which payloads of events match."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...nouns.errors import InvalidInput
from ...nouns.text import clean

MOST_PARTS = 16
MOST_WHERE = 32
NAME_CHARS = 512
CUE_CHARS = 8_000
MS = 1_000  # microseconds
MOST_MS = 253_000_000_000_000  # the year 9987; a zone must not lead out of the calendar
LEAST_MS = -62_000_000_000_000
_EXAMPLE = (
    '{"all": [{"event": "pricing.changed"}, {"time": {"before": 1767225600000}}, '
    '{"context": "the price list"}]}'
)


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """From `after` to `before`, both included, in microseconds; None is open."""

    after: int | None = None
    before: int | None = None

    def holds(self, now: int) -> bool:
        """Tell whether a time lies in it."""
        return (self.after is None or self.after <= now) and (
            self.before is None or now <= self.before
        )


@dataclass(frozen=True, slots=True)
class EventSeen:
    """An event of this name, with these values at the top of its payload."""

    name: str
    where: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ContextSeen:
    """Something like `text` is talked about; `threshold` None is the usual one."""

    text: str
    threshold: float | None = None


Part = TimeWindow | EventSeen | ContextSeen


@dataclass(frozen=True, slots=True)
class Condition:
    """All of its parts, or any."""

    every: bool
    parts: tuple[Part, ...]

    @property
    def contexts(self) -> bool:
        """Whether it asks what is talked about."""
        return any(isinstance(part, ContextSeen) for part in self.parts)

    @property
    def unprompted(self) -> bool:
        """Whether it can hold without anything being talked about."""
        prompted = [isinstance(part, ContextSeen) for part in self.parts]
        return not (any(prompted) if self.every else all(prompted))

    def turn(self, after: int) -> int | None:
        """Return the soonest time beyond `after` at which a window opens or has closed."""
        windows = [part for part in self.parts if isinstance(part, TimeWindow)]
        opens = [w.after for w in windows if w.after is not None]
        closed = [w.before + 1 for w in windows if w.before is not None]
        return min((at for at in (*opens, *closed) if at > after), default=None)

    def possible(self, now: int) -> bool:
        """Tell whether it can hold now or later, as far as its times say."""
        left = [
            not isinstance(p, TimeWindow) or p.before is None or p.before >= now for p in self.parts
        ]
        return all(left) if self.every else any(left)


def matches(where: Mapping[str, Any] | None, payload: Mapping[str, Any]) -> bool:
    """Tell whether a payload has these values under its top keys, as JSON tells them apart."""
    return all(
        key in payload and _same(payload[key], value) for key, value in (where or {}).items()
    )


def read_condition(kept: Any) -> Condition:
    """Read a condition as it came and is kept: plain JSON, times in Unix milliseconds.

    Raises:
        InvalidInput: names the part.
    """
    if not isinstance(kept, Mapping) or len(kept) != 1 or next(iter(kept)) not in ("all", "any"):
        raise _refused("", f"must hold `all` or `any`, as in {_EXAMPLE}")
    (kind, parts), *_ = kept.items()
    if not isinstance(parts, list) or not 1 <= len(parts) <= MOST_PARTS:
        raise InvalidInput(
            f"condition.{kind} must list 1 to {MOST_PARTS} conditions",
            field=f"condition.{kind}",
            limit=MOST_PARTS,
        )
    read = (_part(part, f".{kind}[{number}]") for number, part in enumerate(parts))
    return Condition(kind == "all", tuple(read))


def check_where(where: Any, name: str = "where") -> None:
    """Refuse what is no set of values to look for in a payload.

    Raises:
        InvalidInput: names the field.
    """
    if not isinstance(where, Mapping) or len(where) > MOST_WHERE:
        raise InvalidInput(
            f"{name} must be an object of at most {MOST_WHERE} keys with the values that an "
            "event's payload must have",
            field=name,
            limit=MOST_WHERE,
        )


def _part(part: Any, at: str) -> Part:
    if isinstance(part, Mapping):
        match set(part):
            case names if names == {"time"}:
                return _window(part["time"], f"{at}.time")
            case names if names in ({"event"}, {"event", "where"}):
                check_where(part.get("where", {}), f"condition{at}.where")
                name = _text(part["event"], f"{at}.event", NAME_CHARS)
                return EventSeen(name, part.get("where", {}))
            case names if names in ({"context"}, {"context", "threshold"}):
                text = _text(part["context"], f"{at}.context", CUE_CHARS)
                return ContextSeen(text, _threshold(part.get("threshold"), f"{at}.threshold"))
    raise _refused(at, "must be one of time, event (with where) and context (with threshold)")


def _window(window: Any, at: str) -> TimeWindow:
    if not isinstance(window, Mapping) or not window or not set(window) <= {"after", "before"}:
        raise _refused(at, "must hold after, before or both, in Unix milliseconds")
    after, before = (_instant(window.get(name), f"{at}.{name}") for name in ("after", "before"))
    if after is not None and before is not None and after > before:
        raise _refused(at, "ends before it begins")
    return TimeWindow(after, before)


def _instant(value: Any, at: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _refused(at, "must be a number, in Unix milliseconds")
    if not LEAST_MS <= value <= MOST_MS:  # not so for NaN
        raise _refused(at, "lies outside the calendar")
    return round(value * MS)


def _threshold(value: Any, at: str) -> float | None:
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not -1 <= value <= 1:
        raise _refused(at, "must be a number from -1 to 1")
    return float(value)


def _text(value: Any, at: str, most: int) -> str:
    text = clean(value) if isinstance(value, str) else ""
    if not text.strip() or len(text) > most:
        raise InvalidInput(
            f"condition{at} must be a text of 1 to {most} characters",
            field=f"condition{at}",
            limit=most,
        )
    return text


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def _refused(at: str, why: str) -> InvalidInput:
    return InvalidInput(f"condition{at} {why}", field=f"condition{at}")
