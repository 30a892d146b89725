"""Counts of units, and what lies so many of them away: "two weeks", "2h30m", "the other day"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from ...nouns.memory import Precision
from . import words as w
from .context import Context
from .intervals import (
    CLOCK_UNITS,
    Found,
    Interval,
    day_at,
    exact_shift,
    floor,
    midnight,
    precision_of,
    season_at,
    shift,
    unit_at,
    vague_precision,
)

_SUB: Final = {  # what a half or a tenth of a unit is counted in
    "century": ("year", 100),
    "decade": ("year", 10),
    "year": ("month", 12),
    "quarter": ("month", 3),
    "month": ("day", 30),
    "fortnight": ("day", 14),
    "week": ("day", 7),
    "day": ("hour", 24),
    "hour": ("minute", 60),
    "minute": ("second", 60),
}


WORKDAY: Final = "workday"
WORKING: Final = frozenset({"business", "working", "work"})
# Units that go together in one count, the smallest first.
_ORDER: Final = ("second", "minute", "hour", "day", "week", "month", "year")

_GROUP: Final = 3  # digits of a group: "1,500 days"
_GROUPED: Final = 100  # thousands
_LIKELY: Final = {"couple": 2, "few": 3}

BEFORE: Final = frozenset({"before", "preceding"})


# Words behind a count that make "5m" and "30s" lengths of time.
_TELLING: Final = frozenset({"ago", "from", "later", "hence"})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A count of units; `most` differs from `least` when it is vague.

    `unit` may also be a weekday ("d4") or a season ("s6").
    """

    least: int
    most: int
    unit: str
    article: bool = False  # "a week", not "one week"
    likely: int | None = None  # of a vague count, where one number is needed: "a few" is three


def quantity(c: Context, i: int) -> tuple[Quantity, int] | None:
    """Read a count and its unit: "two weeks", "a couple of days", "2.5 hours", "half a year"."""
    quarters = _quarters(c, i)
    if quarters:
        return quarters
    counted = _count(c, i)
    if counted is None:
        return None
    least, most, j = counted
    article = c.word(i) in {"a", "an"} and j == i + 1
    halved = (c.word(j), c.word(j + 1), c.word(j + 2)) == ("and", "a", "half")
    if halved and c.word(j + 3) in w.UNITS:
        least, most, j = least + 0.5, most + 0.5, j + 3
    if c.word(j) in {"more", "full", "whole", "short", "long"}:
        j += 1
    if c.word(j) in WORKING and c.word(j + 1) in {"day", "days"}:
        return Quantity(round(least), round(most), WORKDAY, article), j + 2
    if c.word(j) in {"workdays", "weekdays"}:
        return Quantity(round(least), round(most), WORKDAY, article), j + 1
    word = c.word(j)
    unit = w.UNITS.get(word)
    if unit is None and word in w.PLURAL_WEEKDAYS:
        unit = f"d{w.PLURAL_WEEKDAYS[word]}"
    elif unit is None and word in w.SEASON_PLURALS:
        unit = f"s{w.SEASON_PLURALS[word]}"
    elif word in w.SHORT_UNITS and c.glued(j) and c.digits(j - 1):
        sure = word not in {"s", "m"} or c.word(j + 1) in _TELLING or c.before(i) == "h"
        unit = w.SHORT_UNITS[word] if sure else None
    if unit is None:
        return None
    j += 1
    if c.word(j) == "or" and c.word(j + 1) in {"so", "two"}:
        most, j = max(most, 2) if c.word(j + 1) == "two" else most, j + 2  # "a day or two"
        article = False
    if (c.word(j), c.word(j + 1), c.word(j + 2)) == ("and", "a", "half"):
        least, most, j = least + 0.5, most + 0.5, j + 3
    if (least % 1 or most % 1) and unit in _SUB:
        unit, factor = _SUB[unit]
        least, most = least * factor, most * factor
    likely = next((_LIKELY[x] for x in c.words[i : i + 2] if x in _LIKELY), None)
    return Quantity(round(least), round(most), unit, article, likely), j


def _quarters(c: Context, i: int) -> tuple[Quantity, int] | None:
    """Read "a quarter of an hour", "three quarters of an hour"."""
    count = {"a": 1, "one": 1, "three": 3, "3": 3}.get(c.word(i))
    whole = (c.word(i + 2), c.word(i + 3), c.word(i + 4)) == ("of", "an", "hour")
    if count is None or c.word(i + 1) not in {"quarter", "quarters"} or not whole:
        return None
    return Quantity(15 * count, 15 * count, "minute"), i + 5


def quantities(c: Context, i: int) -> tuple[list[Quantity], int] | None:
    """Read counts of ever smaller units: "2 years, 1 month and 21 days"; at least one."""
    first = quantity(c, i)
    if first is None:
        return None
    parts, j = [first[0]], first[1]
    while parts[-1].unit in _ORDER:
        k = j
        while c.word(k) in {",", "and", "&"} and k < j + 2:
            k += 1
        more = quantity(c, k)
        if more is None or more[0].unit not in _ORDER or more[0].article:
            break
        if _ORDER.index(more[0].unit) >= _ORDER.index(parts[-1].unit):
            break
        parts.append(more[0])
        j = more[1]
    return parts, j


def shift_all(moment: datetime, parts: Sequence[Quantity], sign: int) -> datetime:
    """Move a moment by each of several counts, the largest unit first."""
    for part in parts:
        moment = shift(moment, sign * part.least, part.unit)
    return moment


def shift_workdays(day: datetime, count: int) -> datetime:
    """Return the day `count` working days (Monday to Friday) after a day; before it if < 0."""
    step = timedelta(days=1 if count > 0 else -1)
    weeks, left = divmod(abs(count), 5)
    day += 7 * weeks * step
    while left or day.weekday() > 4:
        day += step
        left -= day.weekday() < 5 and left > 0
    return day


def _count(c: Context, i: int) -> tuple[float, float, int] | None:
    """Read a number, as its least and most value and the token after it."""
    word, j = c.word(i), i + 1
    if c.digits(i):
        return _digits(c, i)
    if word == "half" and c.word(j) in {"a", "an"}:
        return 0.5, 0.5, j + 1
    if word == "half" and c.word(j) in w.UNITS and not c.word(j).endswith("s"):
        return 0.5, 0.5, j
    if word in {"a", "an"} and c.word(j) in {"couple", "few", "half", "dozen", "hundred"}:
        word, j = c.word(j), j + 1
        if word == "half":
            return 0.5, 0.5, j
    if word in w.VAGUE:
        low, high = w.VAGUE[word]
        return low, high, j + 1 if c.word(j) == "of" else j
    if word in {"a", "an"}:
        return 1, 1, j
    pair = w.NUMBERS.get(c.word(j + 1), 0) if c.word(j) in {"or", "to"} else 0
    if 0 < w.NUMBERS.get(word, 0) < pair:
        return w.NUMBERS[word], pair, j + 2  # "one or two days"
    value = {"dozen": 12, "hundred": 100}.get(word) or w.NUMBERS.get(word)
    if value is None and word in w.TENS:
        value = w.TENS[word]
        k = j + 1 if c.word(j) == "-" else j
        if 0 < w.NUMBERS.get(c.word(k), 99) < 10:
            value, j = value + w.NUMBERS[c.word(k)], k + 1
    if value is None:
        return None
    if c.word(j) == "hundred" or (word == "hundred" and c.word(j) == "and"):
        value, j = (value * 100, j + 1) if c.word(j) == "hundred" else (value, j)
        k = j + 1 if c.word(j) == "and" else j
        rest = _count(c, k) if c.word(k) in w.TENS or c.word(k) in w.NUMBERS else None
        value, j = (value + round(rest[0]), rest[2]) if rest else (value, j)
    return value, value, j


def _digits(c: Context, i: int) -> tuple[float, float, int] | None:
    value = c.number(i, 5)
    if value is None:
        return None
    j = i + 1
    if c.word(j) == "." and c.glued(j) and c.glued(j + 1) and c.digits(j + 1) == 1:
        tenths = value + (c.number(j + 1) or 0) / 10
        return tenths, tenths, j + 2
    if c.word(j) == "," and c.glued(j) and c.glued(j + 1) and c.digits(j + 1) == _GROUP:
        thousands = value * 1000 + (c.number(j + 1) or 0)
        return (thousands, thousands, j + 2) if value < _GROUPED else None
    if c.word(j) in {",", "."} and c.glued(j) and c.glued(j + 1) and c.digits(j + 1):
        return None
    if c.word(j) in {"-", "–", "to", "or"} and c.digits(j + 1) and (c.number(j + 1) or 0) > value:
        return value, c.number(j + 1, 4) or value, j + 2
    return value, value, j


def at_distances(c: Context, parts: Sequence[Quantity], sign: int) -> Interval:
    """Return what lies several counts before or after the reference, as exact as the smallest."""
    if len(parts) == 1:
        return at_distance(c, parts[0], sign)
    unit = parts[-1].unit
    if unit in CLOCK_UNITS:
        moment = shift_all(c.reference, parts, sign)
        return Interval(moment, shift(moment, 1, unit), precision_of(unit))
    day = shift_all(midnight(c.now.date()), parts, sign)
    return replace(unit_at(day, "week" if unit == "fortnight" else unit), nominal=day)


def beside(anchor: Interval, amount: Quantity, sign: int) -> Interval:
    """Return a count of units before or after a date: exact from a day, else to its precision."""
    order = list(Precision)
    base = anchor.start
    vague = amount.most != amount.least
    if amount.unit == WORKDAY:
        return day_at(shift_workdays(base, sign * amount.least).date())
    if amount.unit in CLOCK_UNITS:
        start = shift(base, sign * amount.least, amount.unit)
        return Interval(start, shift(start, 1, amount.unit), precision_of(amount.unit))
    unit = "week" if amount.unit == "weekend" else amount.unit
    near, far = shift(base, sign * amount.least, unit), shift(base, sign * amount.most, unit)
    size = anchor.end - base
    precision = max(
        anchor.precision, vague_precision(unit) if vague else anchor.precision, key=order.index
    )
    exact = not vague and anchor.precision is not Precision.DAY
    nominal = near if exact else None
    return Interval(min(near, far), max(near, far) + size, precision, nominal=nominal)


def at_distance(c: Context, amount: Quantity, sign: int) -> Interval:
    """Return what lies a count of units before (-1) or after (1) the reference.

    Clock units are exact; a day is a calendar day; weeks ago are a calendar week and weeks ahead
    the exact day; months and years are calendar ones. A vague count covers all it may mean.
    """
    unit = amount.unit
    if unit[1:].isdigit():
        return _nth_name(c, unit, amount.least * sign)
    if unit == WORKDAY:
        return day_at(shift_workdays(midnight(c.now.date()), sign * amount.least).date())
    if unit in CLOCK_UNITS:
        first = exact_shift(c.reference, sign * amount.least, unit)
        last = exact_shift(c.reference, sign * amount.most, unit)
        return Interval(min(first.start, last.start), max(first.end, last.end), first.precision)
    if sign > 0 and unit in {"week", "fortnight"} and amount.least == amount.most:
        return day_at(shift(c.now, amount.least, unit).date())
    near = unit_at(shift(floor(c.now, unit), sign * amount.least, unit), unit)
    far = unit_at(shift(floor(c.now, unit), sign * amount.most, unit), unit)
    vague = amount.least != amount.most
    precision = vague_precision(unit) if vague else near.precision
    nominal = None
    exact = amount.likely if vague else amount.least
    if exact and unit != "weekend" and (vague or unit != "day"):
        nominal = shift(midnight(c.now.date()), sign * exact, unit)
    ends = (min(near.start, far.start), max(near.end, far.end))
    return Interval(*ends, precision, nominal=nominal)


def _nth_name(c: Context, unit: str, count: int) -> Interval:
    """Return the weekday or season of that name `count` times away."""
    value = int(unit[1:])
    if unit[0] == "s" and count > 0:
        later = [season_at(c.now.year + k, value) for k in range(count + 1)]
        return [o for o in later if o.start > c.now][count - 1]
    if unit[0] == "s":
        options = sorted(
            (season_at(c.now.year + k, value) for k in range(count - 1, abs(count) + 1)),
            key=lambda o: o.start,
        )
        over = [o for o in options if o.end <= c.now]
        if len(over) < -count:
            raise ValueError("no such season")
        return over[count]
    ahead = (value - c.now.weekday()) % 7 or 7
    days = ahead + 7 * (count - 1) if count > 0 else (ahead - 7 or -7) + 7 * (count + 1)
    return day_at((c.now + timedelta(days=days)).date())


def other_day(c: Context, i: int) -> Found | None:
    """Read "the other day", "the other week": two to a few units ago."""
    unit = w.UNITS.get(c.word(i + 1))
    if c.word(i - 1) != "the" or unit not in {"day", "week", "month"}:
        return None
    return at_distance(c, Quantity(2, 4, unit), -1), i + 2
