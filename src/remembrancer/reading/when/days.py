"""Days that only a time to come is told by: the ends of periods, "the 20th"; and ISO times."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import datetime, timedelta
from typing import Final

from ...nouns.memory import Precision
from ..dates import words as w
from ..dates.context import Context
from ..dates.counts import WORKDAY, shift_workdays
from ..dates.intervals import Found, Interval, day_at, shift, unit_at
from ..dates.months import ordinal
from ..dates.parser import read_date
from .types import Pieces

_ISO: Final = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)(?:[T ]\s?(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?)"
    r"\s?(Z\b|UTC\b|[+-]\d\d(?::?\d\d)?(?!\d))?",
    re.IGNORECASE,
)
_FRIDAY: Final = 4


def ahead(day: datetime, count: int, unit: str) -> datetime:
    """Return the day `count` units after a day; a weekend counts as its week."""
    if unit == WORKDAY:
        return shift_workdays(day, count)
    return shift(day, count, "week" if unit == "weekend" else unit)


def read_iso(c: Context, k: int, _joiner: str, into: Pieces) -> int | None:
    """Read "2026-12-01T09:00:00+02:00" at token `k`, with or without its offset."""
    if not c.digits(k) or into.dated:
        return None
    match = _ISO.match(c.text, c.starts[k])
    if match is None:
        return None
    year, month, day, hour, minute, second, zone = match.groups()
    spelled = f"{year}-{month}-{day}T{hour}:{minute}:{second or '00'}"
    try:
        into.exact = datetime.fromisoformat(spelled + _offset(zone))
    except ValueError:
        return None
    into.precision = Precision.SECOND if second else Precision.MINUTE
    end = k
    while end < c.size and c.starts[end] < match.end():
        end += 1
    return end


def _offset(zone: str | None) -> str:
    if not zone:
        return ""
    if zone.upper() in {"Z", "UTC"}:
        return "+00:00"
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return f"{zone[0]}{digits[:2]}:{digits[2:]}"


def is_end(c: Context, j: int) -> bool:
    """Tell whether the end of a period is named at token `j`."""
    return c.word(j) == "end" and end_of(c, j) is not None


def end_of(c: Context, k: int) -> Found | None:
    """Read "end of the month", "EOM": the last day of it; a week ends on Friday."""
    short = {"eow": "week", "eom": "month"}.get(c.word(k))
    if short:
        return _last_day(unit_at(c.now, short)), k + 1
    if c.word(k) != "end" or c.word(k + 1) != "of":
        return None
    j = k + 3 if c.word(k + 2) in {"the", "this"} else k + 2
    unit = w.UNITS.get(c.word(j))
    if unit in {"week", "month", "quarter", "year"}:
        return _last_day(unit_at(c.now, unit)), j + 1
    inner = read_date(c, j)
    wide = {Precision.WEEK, Precision.MONTH, Precision.SEASON, Precision.YEAR}
    if inner is None or inner[0].precision not in wide or inner[0].start.tzinfo:
        return None
    return _last_day(inner[0]), inner[1]


def _last_day(period: Interval) -> Interval:
    last = period.end - timedelta(days=1)
    if period.precision is Precision.WEEK and period.end - period.start == timedelta(days=7):
        last = period.start + timedelta(days=_FRIDAY)
    return Interval(last, last + timedelta(days=1), Precision.DAY)


def day_in_month(c: Context, k: int, into: Pieces) -> int | None:
    """Read "on the 3rd" after "next month"."""
    spelled = ordinal(c, k)
    if spelled is None or not spelled[2] or into.date is None:
        return None
    into.date = day_at((into.date.start + timedelta(days=spelled[0] - 1)).date())
    return spelled[1]


def day_of_month(c: Context, k: int) -> Found | None:
    """Read "the 20th" as the next such day, where no noun follows."""
    spelled = ordinal(c, k)
    if spelled is None or not spelled[2] or not c.digits(k) or c.word(k - 1) != "the":
        return None
    if c.word(spelled[1]) not in w.AFTER_DAY | {".", ",", "!", "?", ";", ")"}:
        return None
    first = c.now.replace(day=1)
    for step in range(13):
        month = shift(first, step, "month")
        if spelled[0] <= monthrange(month.year, month.month)[1]:
            found = day_at(month.replace(day=spelled[0]).date())
            if found.end > c.now:
                return found, spelled[1]
    return None


def safe_date(c: Context, k: int, joiner: str) -> Found | None:
    """Read a date that the calendar has; "at 2026" is none."""
    try:
        found = read_date(c, k)
    except (OverflowError, ValueError):
        return None
    if found and found[0].precision in {Precision.YEAR, Precision.DECADE} and joiner == "at":
        return None
    return found
