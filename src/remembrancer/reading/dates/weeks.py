"""Weeks by number or by a day of theirs: "week 7 of 2022", "2022-W07", "w/c 3 June"."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from ...nouns.memory import Precision
from . import words as w
from .context import Context, ReadDate
from .intervals import Found, unit_at
from .months import year_after
from .parts import nth_in

WEEK_STARTS: Final = frozenset({"week", "calendar", "cw", "kw", "w", "wc", "wk"})
_WITH: Final = frozenset({"commencing", "beginning", "starting", "ending", "commences", "from"})
_NUMBER: Final = frozenset({"number", "no", "nr", "#"})


def week(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "week 12", "week no. 12 of 2024", "calendar week 12", "week commencing 3 June"."""
    word, j = c.word(i), i + 1
    if word == "calendar":
        if c.word(j) != "week":
            return None
        j += 1
    if word == "w" and c.word(j) == "/" and c.word(j + 1) in {"c", "b", "e"}:
        return _holding(c, j + 2, read)
    if word == "wc":
        return _holding(c, j, read)
    if word in {"week", "wk"} and c.word(j) in _WITH:
        if c.word(i - 1) in {"a", "per", "each", "every"}:
            return None  # "30 hours a week starting 7 May"
        return _holding(c, j + 1, read)
    while c.word(j) in _NUMBER or (c.word(j) == "." and c.word(j - 1) in _NUMBER):
        j += 1
    if not c.digits(j) or (word == "w" and not c.glued(j)):
        return None
    return _numbered(c, i, j, read, alone=word in {"week", "calendar", "cw", "kw"})


def _holding(c: Context, k: int, read: ReadDate) -> Found | None:
    """Return the week that holds the day read at token `k`."""
    while c.word(k) in {"on", "the", "of", ":"}:
        k += 1
    day = read(c, k)
    if day is None or day[0].precision is not Precision.DAY or day[0].start.tzinfo is not None:
        return None
    return unit_at(day[0].start, "week"), day[1]


def _numbered(c: Context, i: int, j: int, read: ReadDate, *, alone: bool) -> Found | None:
    """Return a week of the year by ISO 8601; without a year only where a word dates it."""
    number = c.number(j, 2)
    if not number or number > 53:
        return None
    k = j + 2 if c.word(j + 1) in {"-", "/"} and c.glued(j + 2) else j + 1
    dated = year_after(c, k)
    said = c.before(i) in w.DAY_DATING | {"in", "during"} or c.word(i - 1) == ","
    said = said or c.word(j - 2) == "calendar" or c.word(i) in {"cw", "kw"}
    timed = c.digits(j + 1) > 0 and c.word(j + 2) == ":"
    said = said or (c.opens_sentence(i) and timed)
    if dated is None and c.word(j + 1) in {"of", "in"}:
        month = read(c, j + 2)
        fits = month is not None and month[0].precision is Precision.MONTH
        nth = nth_in(month[0], "week", number) if month and fits else None
        return (nth, month[1]) if month and nth else None
    if dated is None and (not said or not alone):
        return None
    year, end = dated or (c.now.year, j + 1)
    return unit_at(datetime.fromisocalendar(year, number, 1), "week"), end


def year_first(c: Context, i: int) -> Found | None:
    """Read "2024-W12", "2024W12", "2024 week 12"."""
    year = c.number(i, 4) or 0
    if c.digits(i) != 4 or not 1900 <= year < 2100:
        return None
    j = i + 2 if c.word(i + 1) in {"-", ","} else i + 1
    long = c.word(j) in {"week", "cw", "kw"}
    if not long and not (c.word(j) == "w" and c.glued(j) and c.glued(j + 1)):
        return None
    number = c.number(j + 1, 2)
    if not number or number > 53 or (not long and c.digits(j + 1) != 2):
        return None
    return unit_at(datetime.fromisocalendar(year, number, 1), "week"), j + 2
