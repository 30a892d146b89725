"""Parts of periods by number: "the third week of May", "last Monday in May", "the 15th of June"."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from ...nouns.memory import Precision
from . import words as w
from .context import Context, ReadDate
from .counts import WORKDAY, WORKING, quantity
from .edges import half, tip
from .intervals import (
    CLOCK_UNITS,
    Found,
    Interval,
    day_at,
    floor,
    precision_of,
    shift,
    unit_at,
)
from .months import ordinal


def nth_of(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "first weekend of August", "last Monday in May", "third week of June 2022"."""
    placed = _place(c, i)
    if placed is None:
        return None
    nth, j = placed
    if c.word(j) == "of" and nth > 0:
        return _day_of_period(c, nth, j, read)
    work = c.word(j) in WORKING and c.word(j + 1) == "day"
    target = WORKDAY if work else c.word(j)
    j += work
    if target in w.WEEKDAYS and nth > 0 and c.word(j + 1) in {"after", "before"}:
        return _nth_beside(c, j, nth, read)
    told = c.word(j + 1) in w.LAST | w.NEXT | w.THIS and c.word(j + 2) in _PERIOD_UNITS
    if target not in _TARGETS or not (told or c.word(j + 1) in {"of", "in"}):
        return None
    period = _period(c, j + 1 if told else j + 2, read)
    if period is None:
        return None
    found = nth_in(period[0], target, nth)
    return (found, period[1]) if found else None


def _nth_beside(c: Context, j: int, nth: int, read: ReadDate) -> Found | None:
    """Read "second Monday after Easter", "the first Friday before 7 May"."""
    beside = read(c, j)
    if beside is None or beside[1] <= j + 2 or nth > _MOST_BESIDE:
        return None
    step = 1 if c.word(j + 1) == "after" else -1
    return day_at(shift(beside[0].start, step * (nth - 1), "week").date()), beside[1]


def _place(c: Context, i: int) -> tuple[int, int] | None:
    """Read "first", "3rd", "last", "second to last": a number from the start or, < 0, the end."""
    if c.word(i) == "penultimate":
        return -2, i + 1
    for between in (("to", "last"), ("last",), ("-", "to", "-", "last")):
        j = i + 1 + len(between)
        if c.word(i) in _FROM_END and tuple(c.words[i + 1 : j]) == between:
            return -_FROM_END[c.word(i)], j
    if c.word(i) in {"last", "latter", "final"}:
        return -1, i + 1
    if c.word(i) in {"early", "former"}:
        return 1, i + 1
    spelled = ordinal(c, i, most=_MOST_DAYS)
    return (spelled[0], spelled[1]) if spelled and spelled[2] else None


def _period(c: Context, k: int, read: ReadDate) -> Found | None:
    """Read what something is the nth of: "May", "the month" (the running one), "next year"."""
    if c.word(k) == "the":
        k += 1
        unit = w.UNITS.get(c.word(k))
        if unit in {"week", "month", "quarter", "year", "decade", "century"}:
            inner = read(c, k)
            return inner or (unit_at(c.now, unit), k + 1)
    found = read(c, k)
    return found if found and found[0].start.tzinfo is None else None


def nth_in(period: Interval, target: str, nth: int) -> Interval | None:
    """Return the nth day, weekday, week and so on of a period; None where it has none such."""
    if target == "half":
        if nth not in {1, 2, -1} or period.precision not in _HALVED:
            return None
        return half(period, "early" if nth == 1 else "late")
    if target == "part":
        return tip(period, "early" if nth == 1 else "late") if nth in {1, -1} else None
    if period.precision not in _PERIODS | {Precision.DECADE} or period.part or period.edge:
        return None
    if period.precision is Precision.DECADE and target not in {"year", "decade"}:
        return None
    inside = _of(period, target)
    if not inside or not -len(inside) <= nth <= len(inside):
        return None
    return inside[nth - 1 if nth > 0 else nth]


def _of(period: Interval, target: str) -> list[Interval]:
    """Return all days, weekdays, weeks and so on of a period, in order."""
    unit = w.UNITS.get(target, target)
    if unit == "week":
        first, last = _weeks_of(period)
        return [unit_at(day, "week") for day in _steps(first, last + _DAY, "week")]
    if unit in _BIGGER:
        if list(Precision).index(period.precision) <= list(Precision).index(_BIGGER[unit]):
            return []
        return [unit_at(day, unit) for day in _steps(period.start, period.end, unit)]
    days = _steps(period.start, period.end, "day")
    if unit == "weekend":
        return [unit_at(day, unit) for day in days if day.weekday() == _SATURDAY]
    if unit in {WORKDAY, "weekday"}:
        return [day_at(day.date()) for day in days if day.weekday() < _SATURDAY]
    if target in w.WEEKDAYS:
        return [day_at(day.date()) for day in days if day.weekday() == w.WEEKDAYS[target]]
    return [day_at(day.date()) for day in days]


def _steps(start: datetime, end: datetime, unit: str) -> list[datetime]:
    found = []
    while start < end:
        found.append(start)
        start = shift(start, 1, unit)
    return found


_DAY: Final = timedelta(days=1)
_SATURDAY: Final = 5
_MOST_DAYS: Final = 366
_PERIOD_UNITS: Final = frozenset({"week", "month", "quarter", "year"})
_MOST_BESIDE: Final = 53
_FROM_END: Final = {"second": 2, "next": 2, "third": 3, "fourth": 4}
_HALVED: Final = frozenset({Precision.MONTH, Precision.WEEK, Precision.YEAR, Precision.DECADE})
_PERIODS: Final = frozenset({Precision.WEEK, Precision.MONTH, Precision.SEASON, Precision.YEAR})
_BIGGER: Final = {
    "month": Precision.MONTH,
    "quarter": Precision.SEASON,
    "year": Precision.YEAR,
    "decade": Precision.YEAR,  # of a century, which is as exact as a decade
}
_TARGETS: Final = (
    {"day", "week", "weekend", "month", "quarter", "half", WORKDAY, "weekday", "part", "year"}
    | {"decade"}
    | (set(w.WEEKDAYS) - w.WORD_WEEKDAYS)
)


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
    """Read "the first ten days of May", "last five days of June"."""
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
