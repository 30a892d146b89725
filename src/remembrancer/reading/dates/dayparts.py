"""Parts of a day by name: "morning", "dinner time", "business hours"."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from ...nouns.memory import Precision
from . import words as w
from .context import Context
from .intervals import Interval, midnight

_HOURS: Final = {
    "daytime": w.WORKING_HOURS,
    "day time": w.WORKING_HOURS,
    "business hours": w.WORKING_HOURS,
    "business hour": w.WORKING_HOURS,
    "working hours": w.WORKING_HOURS,
    "office hours": w.WORKING_HOURS,
    "work hours": w.WORKING_HOURS,
}
_MEALS: Final = {
    **dict.fromkeys(("breakfast", "brunch"), "morning"),
    **dict.fromkeys(("dinner", "supper"), "evening"),
    "lunch": "lunchtime",
}
_AT: Final = frozenset({"at", "during", "over"})
_NAMES: Final = {**{name: name for name in w.DAY_PARTS}, **w.PART_NAMES}
PART_STARTS: Final = frozenset(name.split()[0] for name in (*_NAMES, *_HOURS, *_MEALS)) - {
    "day",
    "office",
}
_FIRSTS: Final = frozenset(name.split()[0] for name in (*_NAMES, *_HOURS))


def part_of(day: datetime, part: str) -> Interval:
    """Return a part of a day by one of the names of `words.DAY_PARTS`."""
    low, high = w.DAY_PARTS[part]
    start = midnight(day.date())
    return Interval(
        start + timedelta(hours=low), start + timedelta(hours=high), Precision.HOUR, part
    )


def part_at(c: Context, i: int, day: datetime) -> tuple[Interval, int] | None:
    """Read the name of a part of a day at token `i`: that part of `day`, the token after it."""
    word = c.word(i)
    if word in _MEALS and c.before(i) in _AT and c.word(i + 1) != "time":
        return part_of(day, _MEALS[word]), i + 1
    if word not in _FIRSTS:
        return None
    two = f"{word} {c.word(i + 1)}"
    for name, j in ((two, i + 2), (word, i + 1)):
        if name in _NAMES:
            return part_of(day, _NAMES[name]), j
        if name in _HOURS:
            low, high = _HOURS[name]
            start = midnight(day.date())
            hours = (start + timedelta(hours=low), start + timedelta(hours=high))
            return Interval(*hours, Precision.HOUR), j
    return None
