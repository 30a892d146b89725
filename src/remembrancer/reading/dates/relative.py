"""Dates told from the reference: "yesterday", "last Friday", "next week", "the week of May 7"."""

from __future__ import annotations

from datetime import datetime, timedelta

from ...nouns.memory import Precision
from . import words as w
from .context import Context, ReadDate
from .counts import BEFORE, quantity
from .holidays import HOLIDAYS, nth_weekday
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
from .months import ordinal
from .periods import holiday_name


def named_day(c: Context, i: int) -> Found | None:
    """Read today, yesterday, tomorrow, tonight."""
    word = c.word(i)
    if word in w.TONIGHT:
        return part_of(c.now, "night"), i + 1
    days = w.DAY_WORDS.get(word)
    return (day_at((c.now + timedelta(days=days)).date()), i + 1) if days is not None else None


def part_of(day: datetime, part: str) -> Interval:
    """Return a part of a day."""
    low, high = w.DAY_PARTS[part]
    start = midnight(day.date())
    low_end = (start + timedelta(hours=low), start + timedelta(hours=high))
    return Interval(*low_end, Precision.HOUR, part)


def weekday_at(c: Context, i: int) -> int | None:
    """Return the weekday that token `i` names where nothing else vouches for it."""
    word = c.word(i)
    day = w.WEEKDAYS.get(word)
    if day is None or word in w.FULL_WEEKDAYS:
        return day
    before = c.word(i - 1)
    if before in {"on", "next", "last", "this", "by", "until", "coming", "or"}:
        return day
    dated = c.digits(i + 1) > 0 or c.word(i + 1) in w.MONTHS or c.word(i + 1) in w.DAY_PARTS
    if word in w.WORD_WEEKDAYS:
        plain = c.capital(i) and not c.opens_sentence(i) and before != "the"
        return day if plain or (dated and before != "the") else None
    return day if c.capital(i) or dated else None


def weekday(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "Friday", "Friday next week", "the Friday before Christmas", "Tuesday, March 7"."""
    day = weekday_at(c, i)
    if day is None:
        return None
    j = i + 1
    if c.word(j) == "." and c.glued(j) and c.word(i) not in w.FULL_WEEKDAYS and c.word(j + 1):
        j += 1
    if c.word(j) in BEFORE | {"after"}:
        anchor = read(c, j + 1)
        if anchor and anchor[0].start.tzinfo is None:
            return _weekday_beside(anchor[0], day, c.word(j) in BEFORE), anchor[1]
    numbered = _weekday_of_month(c, i, j, day)
    if numbered:
        return numbered
    inner = j + 1 if c.word(j) in {",", "the", "of", "(", "in"} else j
    inner = inner + 1 if c.word(inner) == "the" else inner
    if c.word(inner) in w.LAST | w.NEXT | w.THIS | {"week"}:
        week = qualified(c, inner, read) or unit_relation(c, inner, read)
        if week and week[0].precision is Precision.WEEK:
            return in_week(week[0], day), week[1]
    elif c.word(inner) in w.MONTHS or c.digits(inner) or c.word(inner) in w.ORDINALS:
        full = read(c, inner)
        exact = full is not None and full[0].precision is Precision.DAY
        if full and exact and c.word(full[1] - 1) not in {"ago", "now"}:
            return full[0], full[1] + (c.word(inner - 1) == "(" and c.word(full[1]) == ")")
    return nearest_weekday(c, i, day), j


def _weekday_of_month(c: Context, i: int, j: int, day: int) -> Found | None:
    """Read "Friday the 26th", "Tue 13th", "Sunday 31": the nearest such date there is."""
    k = j + 1 if c.word(j) in {"the", ","} else j
    k = k + 1 if c.word(k) == "the" else k
    numbered = ordinal(c, k)
    if numbered is None or c.word(numbered[1]) in set(w.MONTHS) | {"of", "-", "/", ":", "day"}:
        return None
    number, end, is_ordinal = numbered
    plain = number > 12 and c.word(end) not in w.MEASURES and c.word(end) not in w.UNITS
    plain = plain and k == j and not c.word(end).endswith("s")
    if not is_ordinal and not plain:
        return None
    first = c.now.replace(day=1)
    options = []
    for step in range(-12, 13):
        month = shift(first, step, "month")
        if number <= shift(month, 1, "month").toordinal() - month.toordinal():
            found = day_at(month.replace(day=number).date())
            if found.start.weekday() == day:
                options.append(found)
    best = choose(options, c.now, c.bias(i))
    return (best, end) if best else None


def nearest_weekday(c: Context, i: int, day: int) -> Interval:
    """Return the weekday within seven days that the sentence's tense asks for, else the last."""
    ahead = (day - c.now.weekday()) % 7 or 7
    days = ahead if c.bias(i) == "future" else (ahead - 7 or -7)
    return day_at((c.now + timedelta(days=days)).date())


def _weekday_beside(anchor: Interval, day: int, before: bool) -> Interval:
    if before:
        back = (anchor.start.weekday() - day) % 7 or 7
        return day_at((anchor.start - timedelta(days=back)).date())
    last = anchor.end - timedelta(microseconds=1)
    return day_at((last + timedelta(days=(day - last.weekday()) % 7 or 7)).date())


def in_week(week: Interval, day: int) -> Interval:
    """Return a weekday of the calendar week in which `week` starts."""
    return day_at((floor(week.start, "week") + timedelta(days=day)).date())


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
    if word == "last" and _is_verb(c, i):
        return None
    nth = nth_of(c, i, read) if word == "last" else None
    if nth:
        return nth
    j = j + 1 if c.word(j) in {"early", "late"} else j
    target = c.word(j)
    if target in w.DAY_PARTS:
        if sign > 0 or (sign < 0 and target not in {"night", "evening"}):
            return None
        return part_of(c.now + timedelta(days=sign), target), j + 1
    if target in w.WEEKDAYS:
        return _qualified_weekday(c, j, word, sign), j + 1
    if target in w.UNITS:
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
        rule = HOLIDAYS[named[0]]
        found = _pick(c, [day_at(rule(c.now.year + k)) for k in (-1, 0, 1)], sign)
        return (found, named[1]) if found else None
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
    if sign < 0:
        days = ahead - 7 or -7
    elif word == "next":  # that day of the next calendar week, as most speakers mean it
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
    return unit_at(shift(floor(c.now, unit), sign, unit), unit), j + 1


def _rolling(c: Context, j: int, sign: int) -> Found | None:
    """Read "last two weeks", "next few days": that long up to, or from, today or now."""
    counted = quantity(c, j)
    if counted is None or (counted[0].unit[0] in "ds" and counted[0].unit[1:].isdigit()):
        return None
    amount, end = counted
    count, unit = amount.most * sign, amount.unit
    if unit in CLOCK_UNITS:
        edge = exact_shift(c.reference, 0, unit).start
        far = exact_shift(c.reference, count, unit).start
        return Interval(min(edge, far), max(edge, far), precision_of(unit)), end
    whole = unit in {"quarter", "weekend", "century", "decade"}
    today = floor(c.now, unit) if whole else midnight(c.now.date())
    if sign > 0:
        today = shift(today, 1, unit if whole else "day")
    far = shift(today, count, unit)
    precision = precision_of(unit)
    return Interval(min(today, far), max(today, far), precision), end


def unit_relation(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "(the) week before last", "day after tomorrow", "week of May 7", "the weekend"."""
    unit = w.UNITS.get(c.word(i))
    if unit is None or unit in CLOCK_UNITS:
        return None
    side, j = c.word(i + 1), i + 2
    night = c.word(i) == "night"
    if (side, c.word(j)) in {("before", "last"), ("after", "next")}:
        found = unit_at(shift(floor(c.now, unit), -2 if side == "before" else 2, unit), unit)
        return (part_of(found.start, "night") if night else found), j + 1
    if side in {"before", "after", "of", "following"}:
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


def nth_of(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "first weekend of August", "last Monday in May", "third week of June 2022"."""
    if c.word(i) == "last":
        nth, j = -1, i + 1
    else:
        spelled = ordinal(c, i)
        if spelled is None or not spelled[2]:
            return None
        nth, j = spelled[0], spelled[1]
    target = c.word(j)
    if nth > 5 and target != "day":
        return None
    if c.word(j + 1) not in {"of", "in"}:
        return None
    k = j + 3 if c.word(j + 2) == "the" else j + 2
    period = unit_at(c.now, "month") if c.word(k) == "month" else None
    end = k + 1
    if period is None:
        inner = read(c, k)
        if inner is None:
            return None
        period, end = inner
    yearly = period.precision is Precision.YEAR and target in {"week", "weekend"}
    if period.precision is not Precision.MONTH and not yearly:
        return None
    year, month = period.start.year, period.start.month
    if target in w.WEEKDAYS:
        return day_at(nth_weekday(year, month, w.WEEKDAYS[target], nth)), end
    if target == "weekend" and not (yearly and nth < 0):
        return unit_at(midnight(nth_weekday(year, month, 5, nth)), "weekend"), end
    if target == "week":
        start = period.start if nth > 0 else shift(period.end, -7, "day")
        start = shift(start, 7 * max(nth - 1, 0), "day")
        return Interval(start, min(shift(start, 7, "day"), period.end), Precision.WEEK), end
    if target == "day":
        whole = period.end if nth < 0 else period.start
        return day_at(shift(whole, nth if nth < 0 else nth - 1, "day").date()), end
    return None
