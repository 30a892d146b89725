"""What follows a date and belongs to it: its weekday, the same day in figures, a part of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from ...nouns.memory import Precision
from . import months, numeric, periods, weekdays
from . import words as w
from .context import Context, near_years
from .dayparts import part_at
from .edges import edge_of
from .intervals import Found, Interval, day_at, month_at, shift

_QUALIFIERS: Final = w.LAST | w.NEXT | w.THIS
_EDGES: Final = frozenset({"early", "late", "earlier", "later"})
_DAY: Final = timedelta(days=1)


def extend(c: Context, i: int, found: Interval, j: int) -> Found:
    """Add to the date at tokens `i` to `j` what may follow it."""
    if found.precision is Precision.WEEK:
        found, j = _day_of_week(c, found, j)
    if found.precision is Precision.DAY and found.end - found.start == _DAY and not found.edge:
        named = _same_day(c, i, found, j) or _named_after(c, i, found, j)
        found, j = named or (found, j)
        return _part(c, i, found, j) or (found, j)
    if found.precision in {Precision.YEAR, Precision.MONTH} and not found.edge:
        return _inside(c, found, j) or _so_far(c, i, found, j)
    return found, j


def _inside(c: Context, period: Interval, j: int) -> Found | None:
    """Read what of a year or a month is meant: "last year in May", "next month on the 5th"."""
    if period.last is not None:
        return None
    told = c.word(j - 1) == "year" and c.word(j - 2) in _QUALIFIERS
    if told and c.word(j) in w.MONTHS and (c.capital(j) or c.word(j) not in w.VERB_MONTHS):
        year = period.start.year  # "last year June"
        return month_at(year, w.MONTHS[c.word(j)]), j + 1
    if c.word(j) not in {"in", "on", "at", "during", "around"}:
        return None
    k = j + 2 if c.word(j + 1) == "the" else j + 1
    if period.precision is Precision.MONTH:
        numbered = months.ordinal(c, k) if c.word(j) == "on" else None
        if numbered is None or not numbered[2] or c.word(numbered[1]).isalpha():
            return None
        day = period.start.replace(day=numbered[0])
        return day_at(day.date()), numbered[1]
    if c.word(k) in w.MONTHS and (c.capital(k) or c.word(k) not in w.VERB_MONTHS):
        inner = months.month_first(c, k)
    elif c.digits(k) or c.word(k) in w.ORDINALS:
        inner = months.day_first(c, k)
    else:
        inner = periods.season(c, k) or periods.holiday(c, k)
    if inner is None or any(c.digits(t) == 4 for t in range(k, inner[1])):
        return None
    moved = period.start.year - inner[0].start.year
    start, end = (shift(side, moved, "year") for side in (inner[0].start, inner[0].end))
    return replace(inner[0], start=start, end=end), inner[1]


def _so_far(c: Context, i: int, period: Interval, j: int) -> Found:
    """Read "this year so far", "so far this month": from its start to today."""
    behind = (c.word(j), c.word(j + 1)) == ("so", "far")
    before = (c.word(i - 2), c.word(i - 1)) == ("so", "far")
    today = day_at(c.now.date())
    if not (behind or before) or not period.start < today.start < period.end:
        return period, j
    cut = replace(period, end=today.end, last=today.start)
    return cut, j + 2 if behind else j


def _day_of_week(c: Context, week: Interval, j: int) -> Found:
    """Read "next week, on Friday", "next week Monday"."""
    k = j + 1 if c.word(j) in {"on", ",", "from"} else j
    k = k + 1 if c.word(k) in {"on", "from"} else k
    day = w.WEEKDAYS.get(c.word(k))
    if day is None or c.word(k) in {"sun", "sat"}:
        return week, j
    return weekdays.in_week(week, day), k + 1


def _same_day(c: Context, i: int, found: Interval, j: int) -> Found | None:
    """Read "Friday (7 June)", "tomorrow, 7/6/2024", "next Friday 7 June": the day by its date."""
    by_week = c.word(j - 1) in w.WEEKDAYS
    if not by_week and c.word(j - 1) not in w.DAY_WORDS:
        return None
    k = j + 1 if c.word(j) in {",", "("} else j
    if not by_week and k == j:
        return None
    k = k + 1 if c.word(k) == "the" else k
    if c.word(k) not in w.MONTHS and not c.digits(k) and c.word(k) not in w.ORDINALS:
        return None
    tries = (months.month_first(c, k), months.day_first(c, k), numeric.numeric(c, k))
    exact = next((t for t in tries if t and t[0].precision is Precision.DAY), None)
    exact = exact or (_dotted(c, k) if by_week else None)
    if exact is None or exact[0].end - exact[0].start > _DAY:
        return None
    day, end = exact
    dated = any(c.digits(t) == 4 for t in range(k, end)) or end - k > 4
    if not dated:
        day = _nearest_year(c, day, found, told=c.word(i) in _QUALIFIERS or not by_week)
    return day, end + (c.word(k - 1) == "(" and c.word(end) == ")")


def _nearest_year(c: Context, day: Interval, named: Interval, *, told: bool) -> Interval:
    """Return a date without a year in the year in which it falls on the weekday named before it.

    Where there is none near: in that of the day named, if that is told from now.
    """
    for year in sorted(near_years(c), key=lambda year: abs(year - c.now.year)):
        moved = shift(day.start, year - day.start.year, "year")
        if moved.weekday() == named.start.weekday() and abs(moved - c.now) < timedelta(days=200):
            return day_at(moved.date())
    if not told:
        return day
    return day_at(shift(day.start, named.start.year - day.start.year, "year").date())


def _dotted(c: Context, k: int) -> Found | None:
    """Read "7.6" behind a weekday; a time of day ("7.30") has two digits."""
    whole = c.word(k + 1) == "." and c.glued(k + 1) and c.glued(k + 2) and c.digits(k + 2) == 1
    if not whole or c.digits(k) > 2 or months.is_counted(c, k + 3):
        return None
    first, second = c.number(k) or 0, c.number(k + 2) or 0
    if c.day_first or first > 12:
        first, second = second, first
    if not 1 <= first <= 12 or not second or c.word(k + 3) in w.UNITS:
        return None
    return day_at(date(c.now.year, first, second)), k + 3


def _named_after(c: Context, i: int, found: Interval, j: int) -> Found | None:
    """Read "7 June (Friday)", "7 June, Friday": a date and its weekday."""
    numbered = any(c.digits(t) for t in range(i, j)) or c.word(j - 1) in w.MONTHS
    k = j + 1 if c.word(j) in {",", "("} else j
    day = w.WEEKDAYS.get(c.word(k)) if numbered and k > j else None
    if day is None or (c.word(k) not in w.FULL_WEEKDAYS and c.word(k - 1) != "("):
        return None
    closed = c.word(k - 1) == "(" and c.word(k + 1) == ")"
    ends = closed or not c.word(k + 1).isalpha()
    dated = any(c.digits(t) == 4 for t in range(i, j))
    years = () if dated else sorted(near_years(c), key=lambda y: abs(y - found.start.year))
    for year in years:
        moved = shift(found.start, year - found.start.year, "year")
        if moved.weekday() == day:
            return day_at(moved.date()), k + 1 + closed
    return (found, k + 1 + closed) if ends else None  # another weekday than the date has


def _part(c: Context, i: int, found: Interval, j: int) -> Found | None:
    """Read the part of a day: "tomorrow morning", "May 7, in the late afternoon"."""
    k = j
    if c.word(k) in {"in", "at", ",", "during", "over", "around"}:
        k += 2 if c.word(k + 1) == "the" else 1
    if c.word(k) in {"'", "’"} and c.word(k + 1) == "s":
        k += 2  # "tomorrow's afternoon"
    word = c.word(k) if c.word(k) in _EDGES else c.word(i - 1)
    k = k + 1 if c.word(k) in _EDGES | {"-"} else k
    while c.word(k) in {"in", "the", "-"} and c.word(k - 1) in _EDGES | {"in"}:
        k += 1
    part = part_at(c, k, found.start)
    if part is None:
        return None
    if c.word(part[1]) in {"early", "late"} and word not in _EDGES and _ends(c, part[1] + 1):
        return edge_of(part[0], c.word(part[1])), part[1] + 1
    return edge_of(part[0], word), part[1]


def _ends(c: Context, k: int) -> bool:
    return not c.word(k).isalnum() or c.word(k) in {"at", "and", "or"}
