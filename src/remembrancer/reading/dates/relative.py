"""Dates told from the reference: "yesterday", "last Friday", "next week", "the week of May 7"."""

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
from .months import year_after
from .parts import nth_of, some_of
from .periods import holiday_name


def named_day(c: Context, i: int) -> Found | None:
    """Read today, yesterday, tomorrow, tonight."""
    word = c.word(i)
    if word in w.TONIGHT:
        return part_of(c.now, "night"), i + 1
    if word == "current" and c.word(i + 1) in {"date", "day"}:
        return day_at(c.now.date()), i + 2
    days = w.DAY_WORDS.get(word)
    return (day_at((c.now + timedelta(days=days)).date()), i + 1) if days is not None else None


PRESENT_STARTS: Final = frozenset({"right", "at", "as", "now"})
_PRESENT: Final = (
    ("right", "now"),
    ("at", "present"),
    ("at", "the", "moment"),
    ("at", "this", "time"),
    ("at", "this", "moment"),
    ("as", "of", "now"),
    ("now",),
)
_CLOSING: Final = frozenset({"", ".", "!", "?", ",", ";"})


def present(c: Context, i: int) -> Found | None:
    """Read "right now", "at present", and "now" where it ends a clause; only when asked for."""
    if not c.present or c.word(i) not in PRESENT_STARTS:
        return None
    for phrase in _PRESENT:
        j = i + len(phrase)
        if tuple(c.words[i:j]) == phrase and (c.word(j) in _CLOSING or len(phrase) > 1):
            if phrase == ("now",) and c.opens_sentence(i):
                return None  # "Now, let us see"
            start = c.reference.replace(microsecond=0)
            return Interval(start, start + timedelta(seconds=1), Precision.SECOND), j
    return None


def part_of(day: datetime, part: str) -> Interval:
    """Return a part of a day."""
    low, high = w.DAY_PARTS[part]
    start = midnight(day.date())
    low_end = (start + timedelta(hours=low), start + timedelta(hours=high))
    return Interval(*low_end, Precision.HOUR, part)


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
    if c.word(j) == "calendar" and c.word(j + 1) in w.UNITS:
        j += 1
    if c.word(j) in WORKING and c.word(j + 1) == "week":
        week = unit_at(shift(floor(c.now, "week"), sign, "week"), "week")
        return Interval(week.start, shift(week.start, 5, "day"), Precision.WEEK), j + 2
    target = c.word(j)
    if target in w.DAY_PARTS:
        if sign > 0 or (sign < 0 and target not in {"night", "evening"}):
            return None
        return part_of(c.now + timedelta(days=sign), target), j + 1
    if target in w.WEEKDAYS:
        return _qualified_weekday(c, j, word, sign), j + 1
    if target in w.UNITS and target != "day":
        if target.endswith("s") or target == "centuries":
            return None
        return _qualified_unit(c, w.UNITS[target], word, sign, j)
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
        return _day_beside(c, j)
    return _rolling(c, j, sign) if sign else None


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
        "following",
    }:  # that day of the next calendar week, as most speakers mean it
        days = day - c.now.weekday() + 7
    elif sign > 0:
        days = ahead
    else:
        days = day - c.now.weekday()
    return day_at((c.now + timedelta(days=days)).date())


def _qualified_unit(c: Context, unit: str, word: str, sign: int, j: int) -> Found | None:
    if unit in {"second", "minute"} or (unit == "day"):
        return None
    if unit == "hour":
        if sign == 0:
            return None
        span = exact_shift(c.reference, min(sign, 0), unit)
        return span, j + 1
    if unit in {"weekend", "week", "fortnight"} and word in {"this", "current"}:
        return unit_at(c.now, unit), j + 1
    if word == "past" and unit != "weekend":
        today = midnight(c.now.date())
        return Interval(shift(today, -1, unit), today, precision_of(unit)), j + 1
    if unit == "fortnight":
        start = shift(floor(c.now, "week"), sign, "fortnight")
        return Interval(start, shift(start, 2, "week"), Precision.WEEK), j + 1
    return unit_at(shift(floor(c.now, unit), sign, unit), unit), j + 1


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
    """Read the first count alone: "the last 3 months and 2 weeks ago ..."."""
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


def unit_relation(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "(the) week before last", "day after tomorrow", "week of May 7", "the weekend"."""
    unit = w.UNITS.get(c.word(i))
    if unit is None or unit in CLOCK_UNITS:
        return None
    if unit in {"week", "month", "quarter", "year"} and c.word(i + 1) == "to":
        if c.word(i + 2) == "date":
            begun, today = floor(c.now, unit), day_at(c.now.date())
            return Interval(begun, today.end, precision_of(unit), last=today.start), i + 3
        return None
    if c.word(i - 1) == "fiscal":
        return None
    if unit == "week" and c.digits(i + 1):
        return _week_number(c, i)
    beside = _day_beside(c, i)
    if beside:
        return beside
    side, j = c.word(i + 1), i + 2
    night = c.word(i) == "night"
    if (side, c.word(j)) in {("before", "last"), ("after", "next")}:
        found = unit_at(shift(floor(c.now, unit), -2 if side == "before" else 2, unit), unit)
        return (part_of(found.start, "night") if night else found), j + 1
    several = side == "of" and c.word(i).endswith("s")
    if side in {"before", "after", "of", "following"} and not several:
        anchor = read(c, j + 1 if c.word(j) == "the" else j)
        if anchor and anchor[0].start.tzinfo is None:
            near = _unit_beside(anchor[0], unit, side)
            return (part_of(near.start, "night") if night else near), anchor[1]
    if unit == "weekend" and c.word(i - 1) == "the":
        if c.word(i - 2) not in {"over", "at", "on", "for", "during", "this", "through"}:
            return None
        step = -1 if c.bias(i) == "past" and c.now.weekday() < 5 else 0
        return unit_at(shift(floor(c.now, unit), step, unit), unit), i + 1
    return None


def _day_beside(c: Context, i: int) -> Found | None:
    """Read "the day before", "the next day" of what was told last, else of the reference.

    Of the reference only where the sentence does not tell of the past: there it is another day.
    """
    if c.word(i) != "day":
        return None
    step = {"next": 1, "following": 1, "previous": -1}.get(c.word(i - 1), 0)
    j = i + 1
    if not step and c.word(j) in {"before", "after"} and c.word(j + 1) in _CLOSING:
        step, j = (-1 if c.word(j) == "before" else 1), j + 1
    if not step or "the" not in {c.word(i - 1), c.word(i - 2)}:
        return None
    told = c.antecedent
    if told is None and (step > 0) and c.bias(i) == "past":
        return None
    base = told if told is not None else c.now
    return day_at((base + timedelta(days=step)).date()), j


def _week_number(c: Context, i: int) -> Found | None:
    """Read "week 3 of 2027", "in week 40": a week of the year by ISO 8601."""
    number = c.number(i + 1, 2)
    if not number or number > 53:
        return None
    dated = year_after(c, i + 2)
    if dated is None and not (
        c.before(i) in w.DAY_DATING | {"in", "during"} or c.word(i - 1) == ","
    ):
        return None
    if dated is None and c.word(i + 2) == "of":
        return None
    year, end = dated or (c.now.year, i + 2)
    return unit_at(datetime.fromisocalendar(year, number, 1), "week"), end


def _unit_beside(anchor: Interval, unit: str, side: str) -> Interval:
    if side == "of":
        return unit_at(anchor.start, unit)
    back = side == "before"
    edge = anchor.start if back else anchor.end
    if unit in {"week", "fortnight"}:
        other = shift(edge, -1 if back else 1, unit)
        return Interval(min(edge, other), max(edge, other), Precision.WEEK)
    inside = edge - timedelta(microseconds=1) if back else edge
    found = unit_at(shift(inside, 0, unit), unit)
    if back and found.end > anchor.start:
        found = unit_at(shift(found.start, -1, unit), unit)
    elif not back and found.start < anchor.end:
        found = unit_at(shift(found.start, 1, unit), unit)
    return found
