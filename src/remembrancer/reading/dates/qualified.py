"""Dates by "last", "next", "this" and their like: "last Friday", "next week", "the past 3 days"."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from ...nouns.memory import Precision
from . import words as w
from .context import Context, ReadDate
from .counts import (
    WORKDAY,
    WORKING,
    Quantity,
    quantities,
    quantity,
    shift_all,
    shift_workdays,
)
from .dayparts import part_at
from .intervals import (
    CLOCK_UNITS,
    Found,
    Interval,
    choose,
    day_at,
    exact_shift,
    floor,
    midnight,
    month_at,
    precision_of,
    season_at,
    shift,
    unit_at,
)
from .parts import nth_of, some_of
from .periods import holiday_name
from .quarters import part_of_year, quarter_word
from .relative import day_beside

_SATURDAY: Final = 5
_ONE_UNIT = frozenset({"week", "weekend", "month", "year"})


def _is_verb(c: Context, i: int) -> bool:
    """Return whether "last" at `i` is the verb: "it did last", but not "what we did last month"."""
    before, after = c.word(i - 1), c.word(i + 1)
    if before in {"do", "does", "did"}:
        return not (after in w.WEEKDAYS or after in w.DAY_PARTS or after in _ONE_UNIT)
    return before in w.VERB_BEFORE


def qualified(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "last", "next", "this" and their like with a unit, weekday, month, season, holiday."""
    word = c.word(i)
    j = i + 1
    if word == "this" and c.word(j) in {"past", "coming", "upcoming"}:
        word, j = c.word(j), j + 1
    sign = -1 if word in w.LAST else 1 if word in w.NEXT else 0
    if word not in w.LAST | w.NEXT | w.THIS:
        return None
    if word == "following" and c.bias(i) == "past":
        return None  # it follows what is told, not the day of telling
    if word == "last" and _is_verb(c, i):
        return None
    nth = (nth_of(c, i, read) or some_of(c, i, read)) if word == "last" else None
    if nth:
        return nth
    j = j + 1 if c.word(j) in {"early", "late"} else j
    if c.word(j) in {"calendar", "entire", "whole", "full"} and c.word(j + 1) in w.UNITS:
        j += 1
    if c.word(j) in WORKING and c.word(j + 1) == "week":
        week = unit_at(shift(floor(c.now, "week"), sign, "week"), "week")
        return Interval(week.start, shift(week.start, 5, "day"), Precision.WEEK), j + 2
    if c.word(j) in WORKING | {"workday", "weekday"} and sign:
        beside = j + 2 if c.word(j) in WORKING else j + 1
        if beside == j + 1 or c.word(j + 1) == "day":
            return day_at(shift_workdays(midnight(c.now.date()), sign).date()), beside
    target = c.word(j)
    part = part_at(c, j, c.now)
    if part:
        return _qualified_part(c, i, j, word, sign)
    if target in w.WEEKDAYS:
        return _qualified_weekday(c, j, word, sign), j + 1
    if target in w.UNITS and target != "day":
        if target.endswith("s") or target == "centuries":
            return None
        return _of_unit(c, j, _qualified_unit(c, w.UNITS[target], word, sign, j))
    if target in w.VERB_MONTHS and not c.capital(j):
        return None  # "this may be"
    if target in w.MONTHS:
        options = [month_at(c.now.year + k, w.MONTHS[target]) for k in (-1, 0, 1)]
        found = _pick(c, options, sign)
        dotted = c.word(j + 1) == "." and c.glued(j + 1) and c.word(j + 2).islower()
        return (found, j + 1) if found and not dotted else None
    if target in w.SEASONS:
        options = [season_at(c.now.year + k, w.SEASONS[target]) for k in (-2, -1, 0, 1)]
        found = _pick(c, options, sign)
        return (found, j + 1) if found else None
    named = holiday_name(c, j)
    if named:
        rule = c.holidays[named[0]]
        found = _pick(c, [day_at(rule(c.now.year + k)) for k in (-1, 0, 1)], sign)
        return (found, named[1]) if found else None
    if target == "day" and sign:
        if word in {"past", "last"} and _within(c, j):
            found = rolling(c, [Quantity(1, 1, "day")], -1)
            return (found, j + 1) if found else None
        return day_beside(c, j)
    dated = _qualified_date(c, j, sign)
    if dated:
        return dated
    return _rolling(c, j, sign) if sign else None


def _qualified_date(c: Context, j: int, sign: int) -> Found | None:
    """Read "next 5/12", "this May 7": that day of this year, or the next, or the last such."""
    slashed = c.digits(j) and c.word(j + 1) == "/" and c.glued(j + 2) and c.word(j + 3) != "/"
    first, second = c.number(j, 2) or 0, c.number(j + 2, 2) or 0
    if not slashed or c.word(j + 3) in w.MEASURES or c.word(j + 3) in w.UNITS:
        return None
    day, month = (first, second) if c.day_first or first > MONTHS_A_YEAR else (second, first)
    if not 1 <= month <= MONTHS_A_YEAR or not day:
        return None
    options = [day_at(datetime(c.now.year + k, month, day).date()) for k in (-1, 0, 1)]
    found = _pick(c, options, sign)
    return (found, j + 3) if found else None


MONTHS_A_YEAR: Final = 12


def _qualified_part(c: Context, i: int, j: int, word: str, sign: int) -> Found | None:
    """Read "this morning", "last night", "the next evening"."""
    if sign == 0:
        return part_at(c, j, c.now)
    if c.antecedent is not None and (sign > 0 or word == "previous"):
        return part_at(c, j, c.antecedent + timedelta(days=sign))
    if sign > 0 and c.bias(i) == "past":
        return None  # of a day that was not told
    if sign < 0 and word != "previous" and c.word(j) not in {"night", "evening"}:
        return None
    return part_at(c, j, c.now + timedelta(days=sign))


def _of_unit(c: Context, j: int, whole: Found | None) -> Found | None:
    """Read what a year or week told from now is followed by: "last year's summer"."""
    if whole is None or c.word(j + 1) not in {"'", "’"} or c.word(j + 2) != "s":
        return whole
    period, k = whole[0], j + 3
    if period.precision is Precision.WEEK and c.word(k) in w.FULL_WEEKDAYS:
        days = timedelta(days=w.WEEKDAYS[c.word(k)])
        return day_at((floor(period.start, "week") + days).date()), k + 1
    if period.precision is not Precision.YEAR:
        return whole
    year = period.start.year
    if c.word(k) in w.SEASONS:
        return season_at(year, w.SEASONS[c.word(k)]), k + 1
    if c.word(k) in w.MONTHS:
        return month_at(year, w.MONTHS[c.word(k)]), k + 1
    named = holiday_name(c, k)
    if named:
        return day_at(c.holidays[named[0]](year)), named[1]
    size = quarter_word(c, k)
    return (part_of_year(year, size[0], size[1]), size[2]) if size else whole


def _pick(c: Context, options: list[Interval], sign: int) -> Interval | None:
    """Return the last option that is over, the next to begin, or the one of this year."""
    if sign < 0:
        return max((o for o in options if o.end <= c.now), key=lambda o: o.start, default=None)
    if sign > 0:
        return min((o for o in options if o.start > c.now), key=lambda o: o.start, default=None)
    holding = [o for o in options if o.start <= c.now < o.end]
    return choose(holding or [o for o in options if o.start.year == c.now.year], c.now, None)


def _qualified_weekday(c: Context, j: int, word: str, sign: int) -> Interval:
    day = w.WEEKDAYS[c.word(j)]
    ahead = (day - c.now.weekday()) % 7 or 7
    if word == "previous":
        days = day - c.now.weekday() - 7
    elif sign < 0:
        days = ahead - 7 or -7
    elif word in {
        "next",
        "nxt",
        "following",
    }:  # that day of the next calendar week, as most speakers mean it
        days = day - c.now.weekday() + 7
    elif sign > 0:
        days = ahead
    else:
        days = day - c.now.weekday()
    return day_at((c.now + timedelta(days=days)).date())


def _qualified_unit(c: Context, unit: str, word: str, sign: int, j: int) -> Found | None:
    if unit in {"second", "minute"} and not _within(c, j):
        return None
    if unit == "hour" and sign == 0:
        begun = c.now.replace(minute=0, second=0, microsecond=0)
        return Interval(begun, shift(begun, 1, unit), precision_of(unit)), j + 1
    if unit in CLOCK_UNITS:
        if sign == 0:
            return None
        span = exact_shift(c.reference, min(sign, 0), unit)
        return span, j + 1
    if unit == "weekend" and word in {"coming", "upcoming"} and c.now.weekday() < _SATURDAY:
        sign = 0
    if unit in {"weekend", "week", "fortnight"} and word in {"this", "current"}:
        return unit_at(c.now, unit), j + 1
    if word == "past" and unit != "weekend":
        today = midnight(c.now.date())
        return Interval(shift(today, -1, unit), today, precision_of(unit)), j + 1
    if unit == "fortnight":
        start = shift(floor(c.now, "week"), sign, "fortnight")
        return Interval(start, shift(start, 2, "week"), Precision.WEEK), j + 1
    return unit_at(shift(floor(c.now, unit), sign, unit), unit), j + 1


def _within(c: Context, j: int) -> bool:
    """Whether "the last minute" is a length of time: "in the last minute"."""
    k = j - 2
    k = k - 1 if c.word(k) == "the" else k
    return c.word(k) in {"in", "within", "during", "over", "for"}


def numbered(c: Context, i: int) -> Found | None:
    """Read "5 upcoming years", "the two past weeks": a count that stands before its qualifier."""
    number = c.number(i, 3) if c.digits(i) else w.NUMBERS.get(c.word(i))
    sign = -1 if c.word(i + 1) in w.LAST else 1 if c.word(i + 1) in w.NEXT else 0
    unit = w.UNITS.get(c.word(i + 2))
    if not number or not sign or unit is None or not c.word(i + 2).endswith("s"):
        return None
    found = rolling(c, [Quantity(number, number, unit)], sign)
    return (found, i + 3) if found else None


def _rolling(c: Context, j: int, sign: int) -> Found | None:
    """Read "last two weeks", "next few days": that long up to, or from, today or now."""
    counted = quantities(c, j)
    if counted is None:
        return None
    parts, end = counted
    if len(parts) > 1 and c.word(end) in {"ago", "later", "before", "after"}:
        shorter = quantities_of_one(c, j)
        parts, end = shorter if shorter else counted
    found = rolling(c, parts, sign)
    return (found, end) if found else None


def quantities_of_one(c: Context, j: int) -> tuple[list[Quantity], int] | None:
    """Read the first count alone: "the last 4 weeks and 5 days ago …"."""
    one = quantity(c, j)
    return ([one[0]], one[1]) if one else None


def rolling(c: Context, parts: list[Quantity], sign: int) -> Interval | None:
    """Return that long up to today or now (-1), or from it on (1)."""
    amount = parts[0]
    unit = amount.unit
    if unit[1:].isdigit():
        return None
    count = sign * (amount.likely or amount.most)
    if unit == WORKDAY:
        today = midnight(c.now.date())
        if sign < 0:
            return Interval(shift_workdays(today, count), today, Precision.DAY)
        first, last = shift_workdays(today, 1), shift_workdays(today, count)
        return Interval(first, shift(last, 1, "day"), Precision.DAY)
    if unit in CLOCK_UNITS:
        edge = exact_shift(c.reference, 0, unit).start
        far = exact_shift(c.reference, count, unit).start
        return Interval(min(edge, far), max(edge, far), precision_of(unit))
    whole = unit in {"quarter", "weekend", "century", "decade"}
    today = floor(c.now, unit) if whole else midnight(c.now.date())
    if sign > 0:
        today = shift(today, 1, unit if whole else "day")
    far = shift_all(shift(today, count, unit), parts[1:], sign)
    return Interval(min(today, far), max(today, far), precision_of(parts[-1].unit))
