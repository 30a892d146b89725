"""Dates in figures: 2023-05-07, 5/7/2023, 23.04.2022, 22/04, ISO 8601 time stamps."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta, timezone

from ...nouns.memory import Precision
from . import words as w
from .context import Context, near_years
from .intervals import (
    Found,
    Interval,
    choose,
    day_at,
    month_at,
)


def numeric(c: Context, i: int) -> Found | None:
    """Read 2023-05-07, 2023-05-07T10:30Z, 5/7/2023, 23.04.2022, 22/04, 2023-05."""
    mark = c.word(i + 1)
    if c.digits(i) == 4 and (mark in w.MONTHS or c.word(i + 2) in w.MONTHS):
        return _year_first(c, i)
    if c.digits(i) == 4 and c.digits(i + 1) == 2 and c.digits(i + 2) == 2:
        return _spaced(c, i)
    if c.digits(i) == len("20240531"):
        return _packed(c, i)
    if mark not in {"-", "/", "."}:
        return None
    if not (c.glued(i + 1) and c.glued(i + 2)):
        return _wide(c, i, mark)
    dotted = c.before(i) in {"in", "since", "until", "by"}
    if (mark != "." or dotted) and c.digits(i) <= 2 and c.digits(i + 2) == 4:
        return _month_year(c, i)
    if c.digits(i) > 4 or not 1 <= c.digits(i + 2) <= 2:
        return None
    first, second = c.number(i) or 0, c.number(i + 2) or 0
    three = c.word(i + 3) == mark and c.glued(i + 3) and c.glued(i + 4) and c.digits(i + 4) > 0
    if not three:
        return _two_parts(c, i, first, second, mark)
    more = c.word(i + 5) in {mark, "."} and c.glued(i + 5) and c.glued(i + 6) and c.digits(i + 6)
    ends = c.digits(i + 4) == 4 and c.digits(i + 10) == 4
    ends = ends or (c.digits(i) == 4 and c.digits(i + 6) == 4 and c.digits(i + 10) == 2)
    if more and not (mark == "-" and ends):
        return None  # "5-1-2024-5-9-2024" is a range
    third = c.number(i + 4) or 0
    if c.digits(i) == 4:
        if c.digits(i + 4) > 2:
            return None
        return _stamp(c, day_at(date(first, second, third)), i + 5)
    said = mark == "/" or c.before(i) in w.DAY_DATING or c.before(i) in w.WEEKDAYS
    if c.digits(i + 4) == 2 and said and not c.glued(i):
        third = two_digit_year(c, third)
    elif c.digits(i + 4) != 4:
        return None
    found = _day_month(third, first, second, day_first=c.day_first or mark == ".")
    return (day_at(found), i + 5) if found else None


def _packed(c: Context, i: int) -> Found | None:
    """Read "on 20240531"."""
    value = c.word(i)
    year, month, day = int(value[:4]), int(value[4:6]), int(value[6:])
    said = c.before(i) in w.DAY_DATING - {"for", "by", "around"} or c.before(i) == "dated"
    if not said or c.glued(i) or not 1900 <= year < 2100 or not 1 <= month <= 12:
        return None
    return day_at(date(year, month, day)), i + 1


def _wide(c: Context, i: int, mark: str) -> Found | None:
    """Read "29 - 06 - 2017"."""
    parted = c.word(i + 3) == mark and c.digits(i + 4) == 4 and c.digits(i) in {1, 2}
    if not parted or mark == "." or c.digits(i + 2) not in {1, 2} or c.word(i + 5) == mark:
        return None
    year = c.number(i + 4) or 0
    found = _day_month(year, c.number(i) or 0, c.number(i + 2) or 0, day_first=c.day_first)
    return (day_at(found), i + 5) if found and 1900 <= year < 2100 else None


def _spaced(c: Context, i: int) -> Found | None:
    """Read "2016 10 16"."""
    year, month, day = (c.number(k) or 0 for k in (i, i + 1, i + 2))
    apart = not c.glued(i + 1) and not c.glued(i + 2)
    if not apart or not 1900 <= year < 2100 or c.digits(i + 3) or c.digits(i - 1):
        return None
    if not 1 <= month <= 12 or c.word(i + 3) in w.MEASURES or c.word(i + 3) in w.UNITS:
        return None
    return day_at(date(year, month, day)), i + 3


def _year_first(c: Context, i: int) -> Found | None:
    """Read "2018 May 5", "2018-May-05", "2018/Aug/1"."""
    mark = "" if c.word(i + 1) in w.MONTHS else c.word(i + 1)
    j = i + 1 + len(mark)
    k = j + 1 + (bool(mark) and c.word(j + 1) == mark)
    year, day = c.number(i) or 0, c.number(k, 2)
    if mark not in {"", "-", "/", "."} or not 1900 <= year < 2100:
        return None
    if not day or c.word(k + 1) in {":", *w.MEASURES, *w.UNITS}:
        alone = mark == "" and (c.before(i) == "in" or c.capital(j)) and not c.digits(k)
        return (month_at(year, w.MONTHS[c.word(j)]), j + 1) if alone else None
    if c.word(j) in w.VERB_MONTHS and not c.capital(j) and not mark:
        return None
    end = k + 2 if c.word(k + 1) in {"st", "nd", "rd", "th"} and c.glued(k + 1) else k + 1
    if c.word(end) == ":" or c.digits(k) > 2:
        return None
    return day_at(date(year, w.MONTHS[c.word(j)], day)), end


def _month_year(c: Context, i: int) -> Found | None:
    """Read "12-2015", "3/2021"."""
    month, year = c.number(i) or 0, c.number(i + 2) or 0
    if not 1 <= month <= 12 or not 1900 <= year < 2100 or c.word(i + 3) in w.MEASURES:
        return None
    ranged = c.word(i + 3) == "-" and c.word(i + 5) == "/" and c.digits(i + 6) == 4
    marked = c.word(i + 3) in {"-", "/", ".", ":", "%"} and c.glued(i + 3) and c.glued(i + 4)
    if marked and not ranged:
        return None
    return month_at(year, month), i + 3


def two_digit_year(c: Context, value: int) -> int:
    """Return the year meant by two digits: at most twenty years ahead."""
    return 2000 + value if 2000 + value <= c.now.year + 20 else 1900 + value


def _two_parts(c: Context, i: int, first: int, second: int, mark: str) -> Found | None:
    if c.glued(i + 3) and c.word(i + 3) in {mark, "/", ".", "%"} and c.glued(i + 4):
        return None
    dashed = mark == "-" and c.digits(i + 2) == 2
    if (dashed or mark == "/") and c.digits(i) == 4 and 1900 <= first < 2100:
        return (month_at(first, second), i + 3) if 1 <= second <= 12 else None
    if mark != "/" or c.digits(i) > 2 or c.digits(i + 2) > 2 or (first, second) == (24, 7):
        return None
    dated = (c.word(i + 3) == "," and c.digits(i + 4) == 4 and c.number(i + 4)) or 0
    if 1900 <= dated < 2100:
        found = _day_month(dated, first, second, day_first=c.day_first)
        return (day_at(found), i + 5) if found else None
    padded = "0" in {c.word(i)[0], c.word(i + 2)[0]}
    ranged = c.word(i - 1) in {"to", "-", "–", "until"} and c.word(i - 3) == "/"
    ranged = ranged or (
        c.word(i + 3) in {"-", "–"}
        and c.word(i + 5) == "/"
        and (c.word(i + 7) == "/" or (c.word(i + 7) == "," and c.digits(i + 8) == 4))
    )
    ranged = ranged or c.word(i - 1 - (c.word(i - 1) in {",", "("})) in w.WEEKDAYS
    ranged = ranged or _two_days(c, i, first, second)
    if second in _FRACTIONS and c.number(i - 2, 2) == second and c.word(i - 3) == "/":
        return None  # "5/16 - 7/16 of an inch"
    ranged = ranged or (c.word(i + 3) == "at" and c.digits(i + 4) > 0 and not c.digits(i - 1))
    if not (padded or ranged) and c.before(i) not in w.DAY_DATING - {"for", "by"}:
        return None
    if c.word(i + 3) in w.MEASURES or c.word(i + 3) in w.UNITS:
        return None
    if not _day_month(2000, first, second, day_first=c.day_first):
        return None

    def options() -> Iterator[Interval]:
        for year in near_years(c, leap_day=29 in {first, second}):
            try:
                found = _day_month(year, first, second, day_first=c.day_first)
            except ValueError:
                continue
            if found:
                yield day_at(found)

    best = choose(options(), c.now, c.bias(i))
    return (best, i + 3) if best else None


_FRACTIONS = frozenset({2, 4, 8, 16})


def _two_days(c: Context, i: int, first: int, second: int) -> bool:
    """Whether "6/15 - 6/18" at token `i` are days: both could be, and no fraction of an inch."""
    pair = c.word(i + 3) in {"-", "–", "to"} and c.word(i + 5) == "/"
    third, fourth = c.number(i + 4, 2) or 0, c.number(i + 6, 2) or 0
    if not pair or c.digits(i - 1) or {second, fourth} & _FRACTIONS:
        return False
    return max(first, second) > 12 and max(first, second, third, fourth) <= 31 and third > 0


def _day_month(year: int, first: int, second: int, *, day_first: bool) -> date | None:
    """Return the date of two numbers in the likelier order, None when neither can be a month."""
    day, month = (first, second) if day_first else (second, first)
    if month > 12:
        day, month = month, day
    return date(year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


_MOST_OFFSET = 14  # hours


def _is_offset(c: Context, j: int) -> bool:
    """Whether the offset of a time stamp stands at token `j`, not the end of a range."""
    marked = c.word(j) in {"+", "-"} and c.glued(j) and c.glued(j + 1)
    return marked and c.digits(j + 1) in {2, 4} and int(c.word(j + 1)[:2]) <= _MOST_OFFSET


def _stamp(c: Context, day: Interval, i: int) -> Found:
    """Read the rest of an ISO 8601 time stamp after its date; nothing read leaves the day."""
    j = i + 1 if c.word(i) == "t" and c.glued(i) else i
    if j == i and any(c.word(k) in {"am", "pm", "a", "p"} for k in (j + 3, j + 5)):
        return day, i  # "10:15 PM"
    if c.digits(j) != 2 or c.word(j + 1) != ":" or c.digits(j + 2) != 2 or not c.glued(j + 2):
        return day, i
    start = day.start.replace(hour=c.number(j) or 0, minute=c.number(j + 2) or 0)
    unit, j = Precision.MINUTE, j + 3
    if c.word(j) == ":" and c.glued(j) and c.digits(j + 1) == 2:
        start, unit, j = start.replace(second=c.number(j + 1) or 0), Precision.SECOND, j + 2
        if c.word(j) in {".", ","} and c.glued(j) and c.glued(j + 1) and c.digits(j + 1):
            j += 2
    size = timedelta(seconds=1 if unit is Precision.SECOND else 60)
    if c.word(j) == "z" and c.glued(j):
        start, j = start.replace(tzinfo=timezone.utc), j + 1  # noqa: UP017
    elif _is_offset(c, j):
        value, minus = c.word(j + 1), c.word(j) == "-"
        minutes = int(value[:2]) * 60 + int(value[2:] or 0)
        j += 2
        if len(value) == 2 and c.word(j) == ":" and c.glued(j + 1) and c.digits(j + 1) == 2:
            minutes, j = minutes + (c.number(j + 1) or 0), j + 2
        offset = timedelta(minutes=-minutes if minus else minutes)
        start = start.replace(tzinfo=timezone(offset))
    return Interval(start, start + size, unit), j
