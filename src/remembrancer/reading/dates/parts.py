"""Parts of periods by number: "the third week of May", "last Monday in May", "the 15th of June"."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from ...nouns.memory import Precision
from . import words as w
from .context import Context, ReadDate
from .counts import WORKDAY, quantity
from .holidays import nth_weekday
from .intervals import (
    CLOCK_UNITS,
    Found,
    Interval,
    day_at,
    floor,
    half,
    midnight,
    precision_of,
    shift,
    unit_at,
)
from .months import ordinal


def nth_of(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "first weekend of August", "last Monday in May", "third week of June 2022"."""
    if c.word(i) == "last":
        nth, j = -1, i + 1
    else:
        spelled = ordinal(c, i)
        if spelled is None or not spelled[2]:
            return None
        nth, j = spelled[0], spelled[1]
    if c.word(j) == "of" and c.word(i) != "last":
        return _day_of_period(c, nth, j, read)
    target = c.word(j)
    if nth > 5 and target != "day":
        return None
    if c.word(j + 1) not in {"of", "in"}:
        return None
    k = j + 3 if c.word(j + 2) == "the" else j + 2
    plain = {"month", "week"} if target == "half" else {"month"}
    period = unit_at(c.now, w.UNITS[c.word(k)]) if c.word(k) in plain and k == j + 3 else None
    end = k + 1
    if period is None:
        inner = read(c, k)
        if inner is None:
            return None
        period, end = inner
    if target == "half" and nth in {1, 2, -1} and period.precision in _HALVED:
        return half(period, "early" if nth == 1 else "late"), end
    yearly = period.precision is Precision.YEAR and target in {"week", "weekend", "day"}
    if period.precision is not Precision.MONTH and not yearly:
        return None
    year, month = period.start.year, period.start.month
    if target in w.WEEKDAYS:
        return day_at(nth_weekday(year, month, w.WEEKDAYS[target], nth)), end
    if target == "weekend" and not (yearly and nth < 0):
        return unit_at(midnight(nth_weekday(year, month, 5, nth)), "weekend"), end
    if target == "week":
        first, last = _weeks_of(period)
        return unit_at(shift(first, nth - 1, "week") if nth > 0 else last, "week"), end
    if target == "day":
        whole = period.end if nth < 0 else period.start
        return day_at(shift(whole, nth if nth < 0 else nth - 1, "day").date()), end
    return None


_HALVED: Final = frozenset({Precision.MONTH, Precision.WEEK})


def _day_of_period(c: Context, number: int, j: int, read: ReadDate) -> Found | None:
    """Read "the 15th of next month", "31st of the month"."""
    k = j + 2 if c.word(j + 1) == "the" else j + 1
    if c.word(k) == "month" and k == j + 2:
        month, end = unit_at(c.now, "month"), k + 1
    elif c.word(k) in w.LAST | w.NEXT | w.THIS:
        inner = read(c, k)
        if inner is None or inner[0].precision is not Precision.MONTH:
            return None
        month, end = inner
    else:
        return None
    return day_at(month.start.replace(day=number).date()), end


def some_of(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "the first ten days of May", "last 3 weeks of this year"."""
    counted = quantity(c, i + 1)
    if counted is None or c.word(counted[1]) not in {"of", "in"}:
        return None
    amount, j = counted
    unit = amount.unit
    if unit in CLOCK_UNITS or unit == WORKDAY or unit[1:].isdigit() or unit == "weekend":
        return None
    k = j + 2 if c.word(j + 1) == "the" else j + 1
    plain = w.UNITS.get(c.word(k))
    if plain and k == j + 2:
        whole, end = unit_at(c.now, plain), k + 1
    else:
        inner = read(c, k)
        if inner is None or inner[0].start.tzinfo is not None:
            return None
        whole, end = inner
    if unit in {"week", "fortnight"}:
        first, last = _weeks_of(whole)
        whole = Interval(first, shift(last, 1, "week"), Precision.WEEK)
    if c.word(i) == "last":
        edge = shift(whole.end, -amount.least, unit)
        found = Interval(edge, whole.end, precision_of(unit))
    else:
        found = Interval(whole.start, shift(whole.start, amount.least, unit), precision_of(unit))
    return (found, end) if whole.start <= found.start < found.end <= whole.end else None


def _weeks_of(period: Interval) -> tuple[datetime, datetime]:
    """Return where the first and the last week of a period begin.

    A week belongs to the period that holds its Thursday, as weeks belong to years in ISO 8601.
    """
    first = floor(period.start + timedelta(days=3), "week")
    last = floor(period.end - timedelta(days=4), "week")
    return first, last
