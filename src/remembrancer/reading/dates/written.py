"""Whole dates with the month by name, in any order, with any marks: "3.Jun.2021", "2021, June 3".

What the readers of days and months leave out; the longest reading of a date wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Final

from . import words as w
from .context import Context
from .intervals import Found, Interval, choose, day_at, month_at
from .months import each_year, is_counted, ordinal, spoken_year
from .numeric import two_digit_year

_MARKS: Final = frozenset({",", "-", "/", "."})
_LINKS: Final = frozenset({"of", "in"})
_CLOSING: Final = frozenset({"", ".", "!", "?", ")", ";"})
_MOST_DAYS: Final = 31


def written(c: Context, i: int) -> Found | None:
    """Read a day, a month by its name and a year that begin at token `i`, in any order."""
    if c.digits(i) == 4:
        return _year_first(c, i)
    if c.word(i) in w.MONTHS:
        return _month_first(c, i)
    return _day_first(c, i)


def _day_first(c: Context, i: int) -> Found | None:
    """Read "3/Jun./2021", "third of June, 2021"."""
    day = ordinal(c, i)
    for k in _apart(c, day[1]) if day else ():
        if day and c.word(k - 1) == "in" and not (day[2] or c.word(i - 1) == "the"):
            continue  # "she turns 6 in May"
        month = _month(c, k)
        for j in _apart(c, month[1]) if month else ():
            year = _year(c, j, i)
            if day and month and year:
                return _day(year[0], month[0], day[0]), year[1]
        if day and month and k > day[1] and _closes(c, month[1]) and not c.digits(i - 2):
            return _nearest(c, i, month[0], day[0], month[1])
    return None


def _closes(c: Context, k: int) -> bool:
    """Whether nothing that a day could count follows at token `k`."""
    return c.word(k) in _CLOSING or c.word(k) in {"at", "from", "until", "for", ","}


def _nearest(c: Context, i: int, month: int, day: int, end: int) -> Found | None:
    """Return a day without a year: "June, 3rd" as the sentence's tense asks for it."""
    best = choose(each_year(c, month, day, day), c.now, c.bias(i))
    return (best, end) if best else None


def _month_first(c: Context, i: int) -> Found | None:
    """Read "Jun/03/2021", "June, the 3rd, 2021", "Jun.2021"."""
    month = _month(c, i)
    if month is None:
        return None
    for k in _apart(c, month[1]):
        day = ordinal(c, k + 1 if c.word(k) == "the" else k)
        for j in _apart(c, day[1]) if day else ():
            year = _year(c, j, i)
            if day and year:
                return _day(year[0], month[0], day[0]), year[1]
        told = day is not None and (day[2] or _closes(c, day[1]))
        if day and told and k > month[1] and not c.word(month[1] - 1).startswith("may"):
            return _nearest(c, i, month[0], day[0], day[1])
    return None if c.digits(i - 1) in {1, 2} else _month_and_year(c, month)


def _month_and_year(c: Context, month: tuple[int, int]) -> Found | None:
    for j in _apart(c, month[1]):
        year = c.number(j, 4) or 0
        if c.digits(j) == 4 and 1900 <= year < 2100 and not is_counted(c, j + 1, plurals=False):
            return month_at(year, month[0]), j + 1
    return None


def _year_first(c: Context, i: int) -> Found | None:
    """Read "2021, June 3rd", "2021/Jun/third", "2021 3 June"."""
    year = c.number(i, 4) or 0
    if not 1900 <= year < 2100:
        return None
    for k in _apart(c, i + 1):
        month = _month(c, k)
        for j in _apart(c, month[1]) if month else ():
            day = ordinal(c, j + 1 if c.word(j) == "the" else j)
            if day and month and not is_counted(c, day[1]) and c.word(day[1]) not in w.UNITS:
                return _day(year, month[0], day[0]), day[1]
    return None


def _apart(c: Context, i: int) -> Iterator[int]:
    """Yield where the next part of a date may begin: at once, behind a mark, behind "of"."""
    yield i
    k = i
    while c.word(k) in _MARKS and k < i + 2:
        k += 1
    if k > i:
        yield k
    if c.word(k) in _LINKS:
        yield k + 1


def _month(c: Context, i: int) -> tuple[int, int] | None:
    """Read the name of a month: the month, the token after it."""
    k = i + 1 if c.word(i) == "the" else i
    month = w.MONTHS.get(c.word(k))
    return (month, k + 1) if month else None


def _year(c: Context, j: int, first: int) -> tuple[int, int] | None:
    """Read the year of a date that begins at token `first`: four digits, two, or words."""
    year = c.number(j, 4) or 0
    if c.digits(j) == 4:
        fits = 1000 <= year < 3000 and not is_counted(c, j + 1, plurals=False)
        return (year, j + 1) if fits else None
    short = j + 1 if c.word(j) in {"'", "’", "‘"} and c.glued(j + 1) else j
    if c.digits(short) != 2:
        return spoken_year(c, j)
    value = c.number(short) or 0
    if c.word(short + 1) in {"am", "pm", ":", "-", "–", "/", "to"} or is_counted(c, short + 1):
        return None
    marked = short > j or (c.word(j - 1) in _MARKS - {","} and c.glued(j))
    closes = c.word(short + 1) in _CLOSING and c.word(j - 1) not in _LINKS
    alone = c.word(first - 1) not in {"from", "between", "to", "and"}
    if marked or value > _MOST_DAYS or (closes and alone):
        return two_digit_year(c, value), short + 1
    return None


def _day(year: int, month: int, day: int) -> Interval:
    return day_at(date(year, month, day))
