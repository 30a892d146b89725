"""Dates by a weekday: "Friday", "Friday next week", "Friday the 13th"."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from ...nouns.memory import Precision
from . import words as w
from .context import Context, ReadDate
from .counts import BEFORE, quantities
from .intervals import Bias, Found, Interval, choose, day_at, floor, shift, unit_at
from .months import ordinal
from .qualified import qualified
from .relative import unit_relation
from .scheduled import is_scheduled


def weekday_at(c: Context, i: int) -> int | None:
    """Return the weekday that token `i` names where nothing else vouches for it."""
    word = c.word(i)
    day = w.WEEKDAYS.get(word)
    if day is None or word in w.FULL_WEEKDAYS | w.CLEAR_WEEKDAYS:
        return day
    before = c.word(i - 1)
    if before in {"on", "next", "last", "this", "by", "until", "coming", "or"}:
        return day
    apart = i + 2 if c.word(i + 1) == "," else i + 1
    dated = c.word(apart) in w.MONTHS or (c.digits(apart) > 0 and c.word(apart + 1) in w.MONTHS)
    dated = (
        dated or c.digits(i + 1) > 0 or c.word(i + 1) in w.MONTHS or c.word(i + 1) in w.DAY_PARTS
    )
    joined = c.word(i + 1) in {"-", "–", "to"} and c.word(i + 2) in w.WEEKDAYS and c.capital(i + 2)
    joined = joined or (c.word(i - 1) in {"-", "–", "to"} and c.word(i - 2) in w.WEEKDAYS)
    if joined and c.capital(i):
        return day  # "Mon-Fri"
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
    if (c.word(j), c.word(j + 1)) == ("before", "last") and c.word(i - 1) == "the":
        last = nearest_weekday(c, i, day, "past")
        return day_at((last.start - timedelta(days=7)).date()), j + 2
    if c.word(j) in BEFORE | {"after"}:
        anchor = read(c, j + 1)
        if anchor and anchor[0].start.tzinfo is None:
            return _weekday_beside(anchor[0], day, c.word(j) in BEFORE), anchor[1]
    if (c.word(j), c.word(j + 1)) == ("after", "next"):
        return day_at(in_week(unit_at(c.now, "week"), day + 14).start.date()), j + 2
    if c.word(j) == "week" and not c.digits(j + 1):
        near = nearest_weekday(c, i, day, "future")
        return day_at((near.start + timedelta(days=7)).date()), j + 1
    away = _weekday_away(c, i, j, day, read)
    if away:
        return away
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
    return None if _is_name(c, i, j) else (nearest_weekday(c, i, day), j)


def _weekday_away(c: Context, i: int, j: int, day: int, read: ReadDate) -> Found | None:
    """Read "Friday two weeks from now", "Sunday 3 weeks after May 7": that day of the week."""
    counted = quantities(c, j)
    if counted is None or counted[0][0].unit not in {"week", "day", "fortnight"}:
        return None
    behind = (c.word(counted[1]), c.word(counted[1] + 1))
    if behind == ("from", "now") and counted[0][0].unit == "week":
        near = nearest_weekday(c, i, day, "future")
        away = timedelta(weeks=counted[0][0].least)
        return day_at((near.start + away).date()), counted[1] + 2
    full = read(c, j) if behind[0] in {"after", "before", "from", "ago"} else None
    if full is None or full[1] <= counted[1] or full[0].start.tzinfo is not None:
        return None
    return in_week(replace(full[0], start=full[0].nominal or full[0].start), day), full[1]


def _is_name(c: Context, i: int, j: int) -> bool:
    """Whether a weekday before token `j` begins the name of somebody: "Wednesday Addams"."""
    word = c.word(j)
    if not word.isalpha() or len(word) < 2 or word in w.MONTHS or word in w.WEEKDAYS:
        return False
    defined = word in {"is", "was"} and c.word(j + 1) in {"a", "an", "the", "my", "our", "his"}
    if defined and i > 0 and c.capital(i - 1) and c.opens_sentence(i - 1) and c.capital(i):
        return c.word(i - 1) not in w.LAST | w.NEXT | w.THIS | w.DAY_DATING  # "Blue Monday is a"
    capitals = c.capital(j) and not c.raw(j).isupper() and c.capital(i) and not c.raw(i).isupper()
    return capitals and c.before(i) not in w.DAY_DATING


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


def nearest_weekday(c: Context, i: int, day: int, bias: Bias | None = None) -> Interval:
    """Return the weekday within seven days that the sentence's tense asks for, else the last."""
    ahead = (day - c.now.weekday()) % 7 or 7
    planned = c.tense and c.prefer == "nearest" and is_scheduled(c.words, i)
    told = bias or ("future" if planned else c.bias(i))
    days = ahead if told == "future" else (ahead - 7 or -7)
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
