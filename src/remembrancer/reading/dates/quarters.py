"""Parts of a year by number: "Q1 2017", "4Q17", "the second half of 2020"; years by a label."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from ...nouns.memory import Precision
from . import words as w
from .context import Context, near_years
from .intervals import Found, Interval, choose, shift, year_at
from .months import JOINERS, ordinal, year_after
from .numeric import two_digit_year

YEAR_NAMES: Final = frozenset({"cy", "calendar"})
_MARKS: Final = frozenset({"-", "/"})


def quarter(c: Context, i: int) -> Found | None:
    """Read "Q1 2017", "2017 q1", "4Q17", "first quarter of 2013", "2019-H2", "Q1 to Q3 2020"."""
    first = quarter_word(c, i)
    if first:
        return _dated(c, i, *first)
    value = c.number(i, 4)
    if value is not None and c.digits(i) == 4 and 1800 <= value < 2200:
        j = i + 2 if c.word(i + 1) in _MARKS else i + 1
        after = quarter_word(c, j)
        if after and c.word(j) in {"q", "h"} | set(w.ORDINALS) | {"1", "2", "3", "4"}:
            return part_of_year(value, after[0], after[1]), after[2]
    return None


def _dated(c: Context, i: int, size: int, number: int, j: int) -> Found | None:
    k = j + 1 if c.word(j) in _MARKS and c.glued(j + 1) else j
    dated = year_after(c, k) or (_short_year(c, k) if c.word(i) in {"q", "h"} or k > j else None)
    if dated is None and c.digits(i) and c.word(i + 1) in {"q", "h"}:
        dated = _short_year(c, j)
    if dated is None:
        of = j + 1 if c.word(j) == "of" else j
        whole = of > j and (c.word(of), c.word(of + 1)) == ("the", "year")
        dated = (c.now.year, of + 2) if whole else None
    if dated:
        return part_of_year(dated[0], size, number), dated[1]
    other = quarter_word(c, j + 2 if c.word(j + 1) == "the" else j + 1)
    joined = c.word(j) in JOINERS and other is not None
    if joined and c.word(i) not in {"q", "h"}:
        return part_of_year(c.now.year, size, number), j
    ends = c.word(i - 1) in JOINERS and c.word(i - 3) in {"q", "h"}
    if c.word(i) in {"q", "h"} and (joined or ends or (c.word(i) == "q" and _said(c, i))):
        options = [part_of_year(year, size, number) for year in near_years(c)]
        best = choose(options, c.now, c.bias(i))
        return (best, j) if best else None
    return None


def _said(c: Context, i: int) -> bool:
    return c.before(i) in w.DATING


def _short_year(c: Context, k: int) -> tuple[int, int] | None:
    """Read the two digits of a year right behind its quarter: "4Q17"."""
    if not c.glued(k) or c.digits(k) != 2:
        return None
    return two_digit_year(c, c.number(k) or 0), k + 1


def quarter_word(c: Context, i: int) -> tuple[int, int, int] | None:
    """Read "Q3", "H2", "3Q", "third quarter": months in the part, its number, the token after."""
    size = {"q": 3, "h": 6}.get(c.word(i))
    number = c.number(i + 1, 1)
    if size and number and c.glued(i + 1) and number <= 12 // size:
        return size, number, i + 2
    before = c.number(i, 1)
    turned = {"q": 3, "h": 6}.get(c.word(i + 1))
    if before and turned and c.glued(i + 1) and before <= 12 // turned and c.capital(i + 1):
        return turned, before, i + 2
    spelled = ordinal(c, i)
    if spelled and spelled[2]:
        size = {"quarter": 3, "half": 6}.get(c.word(spelled[1]))
        if size and spelled[0] <= 12 // size:
            return size, spelled[0], spelled[1] + 1
    return None


def part_of_year(year: int, months: int, number: int) -> Interval:
    """Return the part of a year by its length in months and its number from 1."""
    start = datetime(year, months * (number - 1) + 1, 1)
    return Interval(start, shift(start, months, "month"), Precision.SEASON)


def named_year(c: Context, i: int) -> Found | None:
    """Read "CY 2018", "CY18", "calendar 2018": a year from January on."""
    year = c.number(i + 1, 4)
    if year is None:
        return None
    if c.digits(i + 1) == 4 and 1900 <= year < 2100:
        return year_at(year), i + 2
    if c.word(i) == "cy" and c.digits(i + 1) == 2 and (c.glued(i + 1) or c.raw(i).isupper()):
        return year_at(two_digit_year(c, year)), i + 2
    return None
