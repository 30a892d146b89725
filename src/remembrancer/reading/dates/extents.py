"""How long something lasts from a date on: "from 9:30 for 7 hours", "for a week from tomorrow"."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from ...nouns.memory import Precision
from .context import Context, ReadDate
from .counts import WORKDAY, Quantity, quantities, shift_all
from .intervals import CLOCK_UNITS, Found, Interval, precision_of


def lasting(c: Context, i: int, found: Interval, j: int) -> Found:
    """Add how long a date that begins something lasts: "from 8 am for 2 hours 15 minutes"."""
    if c.word(j) != "for" or not _begins(c, i, found):
        return found, j
    counted = quantities(c, j + 1)
    if counted is None or counted[0][0].article or c.word(counted[1]) in {"ago", "from", "before"}:
        return found, j
    longer = _longer(found, counted[0])
    return (longer, counted[1]) if longer else (found, j)


def lasting_from(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "for 3 days, from today", "2 hours from 2 pm" after "for": that long from there on."""
    if c.word(i - 1) != "for":
        return None
    counted = quantities(c, i)
    if counted is None:
        return None
    j = counted[1] + 1 if c.word(counted[1]) == "," else counted[1]
    if c.word(j) not in {"from", "starting", "beginning"}:
        return None
    k = j + 2 if c.word(j + 1) in {"on", "at", "from"} else j + 1
    begin = read(c, k)
    if begin is None:
        return None
    longer = _longer(begin[0], counted[0])
    return (longer, begin[1]) if longer else None


def _begins(c: Context, i: int, found: Interval) -> bool:
    clock = found.precision in {Precision.HOUR, Precision.MINUTE, Precision.SECOND}
    return (clock and not found.part) or c.word(i - 1) in {"from", "starting", "beginning"}


def _longer(begin: Interval, parts: list[Quantity]) -> Interval | None:
    """Return an interval of that length from the start of another; None where units do not fit."""
    if any(p.unit == WORKDAY or p.unit[1:].isdigit() for p in parts):
        return None
    clock = parts[-1].unit in CLOCK_UNITS
    if begin.precision not in _BEGINNINGS or (clock and begin.end - begin.start >= _DAY):
        return None
    end = shift_all(begin.start, parts, 1)
    precision = begin.precision if clock else precision_of(parts[-1].unit)
    return replace(begin, end=end, precision=precision, last=None)


_BEGINNINGS = {Precision.SECOND, Precision.MINUTE, Precision.HOUR, Precision.DAY}
_DAY = timedelta(days=1)
