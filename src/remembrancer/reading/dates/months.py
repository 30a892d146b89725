"""Days and months by name: "7 May 2023", "May 3-5", "the 7th", "in July"."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import date

from ...nouns.memory import Precision
from . import words as w
from .context import Context, near_years
from .intervals import (
    Found,
    Interval,
    choose,
    day_at,
    month_at,
    shift,
)
from .moving import is_moved_to
from .numeric import two_digit_year

_SUFFIXES = frozenset({"st", "nd", "rd", "th"})
JOINERS = frozenset({"-", "–", "to", "through", "thru", "until", "till", "and"})


def ordinal(c: Context, i: int, *, most: int = 31) -> tuple[int, int, bool] | None:
    """Read a day of the month at token `i`: the day, the token after it, whether it is ordinal.

    `most` is the largest number read in figures.
    """
    day = c.number(i, 3 if most > 99 else 2)
    if day is not None:
        suffix = c.word(i + 1) in _SUFFIXES and (c.glued(i + 1) or _apart(c, i))
        return (day, i + 2 if suffix else i + 1, suffix) if 1 <= day <= most else None
    word = c.word(i)
    if word in w.ORDINALS:
        thing = word == "first" and c.word(i + 1) == "thing"  # "Monday first thing"
        return None if thing else (w.ORDINALS[word], i + 1, True)
    spoken = _below_hundred(c, i)
    if spoken and spoken[0] <= 31 and c.word(spoken[1]) in w.MONTHS:
        return *spoken, False
    if word in {"twenty", "thirty"}:
        j = i + 2 if c.word(i + 1) == "-" else i + 1
        unit = w.ORDINALS.get(c.word(j), 99)
        if unit < 10:
            return w.TENS[word] + unit, j + 1, True
    return None


def _apart(c: Context, i: int) -> bool:
    """Whether the ending of an ordinal stands apart from its number: "the 4 th of May"."""
    beside = c.word(i + 2) in w.MONTHS or c.word(i + 2) == "of" or c.word(i - 1) in w.MONTHS
    return c.raw(i + 1).islower() and beside


def year_after(c: Context, i: int) -> tuple[int, int] | None:
    """Read a year that follows a month or day at token `i`, after a comma or "of" or none."""
    j = i + 1 if c.word(i) in {",", "of", "in", "."} else i
    j = j + 1 if c.word(j) == "of" and c.word(j + 1) in {"the", "year"} else j
    j = j + 1 if (c.word(j), c.word(j + 1)) == ("the", "year") else j
    j = j + 1 if c.word(j) == "year" and c.digits(j + 1) == 4 else j
    year = c.number(j, 4)
    if (
        year is not None
        and c.digits(j) == 4
        and 1000 <= year <= 2999
        and not is_counted(c, j + 1, plurals=False)
    ):
        return year, j + 1
    if c.word(i) == "of" and c.digits(j) == 2 and not is_counted(c, j + 1):
        return two_digit_year(c, c.number(j) or 0), j + 1
    short = c.number(j + 1, 2)
    if c.word(j) in {"'", "’", "‘"} and c.glued(j + 1) and c.digits(j + 1) == 2:
        return two_digit_year(c, short or 0), j + 2
    return _told_year(c, i) or spoken_year(c, i) or (spoken_year(c, j) if j > i else None)


def _told_year(c: Context, i: int) -> tuple[int, int] | None:
    """Read "(of) last year", "of the year before last": a year told from now."""
    j = i + 1 if c.word(i) in {"of", "in"} else i
    if j > i and (c.word(j), c.word(j + 1), c.word(j + 3)) == ("the", "year", "last"):
        return (c.now.year - 2, j + 4) if c.word(j + 2) == "before" else None
    ago = c.number(i, 2) or w.NUMBERS.get(c.word(i)) or (c.word(i) in {"a", "one"} and 1)
    if ago and c.word(i + 1) in {"year", "years"} and c.word(i + 2) == "ago":
        return c.now.year - ago, i + 3
    step = _STEPS.get(c.word(j))
    if step is None or c.word(j + 1) != "year" or c.word(j + 2) in {"'", "’"}:
        return None
    return c.now.year + step, j + 2


_AFTER_MODAL = frozenset("be have not also still well only never need get go".split())
_STEPS = {
    **dict.fromkeys(("this", "current"), 0),
    **dict.fromkeys(("last", "previous"), -1),
    **dict.fromkeys(("next", "following", "coming"), 1),
}


def spoken_year(c: Context, i: int) -> tuple[int, int] | None:
    """Read "nineteen ninety six", "twenty fifteen", "two thousand and eight"."""
    if (c.word(i), c.word(i + 1)) == ("two", "thousand"):
        rest = _below_hundred(c, i + 3 if c.word(i + 2) == "and" else i + 2)
        return (2000 + rest[0], rest[1]) if rest else (2000, i + 2)
    century = {"eighteen": 1800, "nineteen": 1900, "twenty": 2000}.get(c.word(i))
    if century and century < 2000 and c.word(i + 1) == "hundred":
        rest = _below_hundred(c, i + 3 if c.word(i + 2) == "and" else i + 2)
        return (century + rest[0], rest[1]) if rest else (century, i + 2)
    if century and c.word(i + 1) in {"oh", "o"} and w.NUMBERS.get(c.word(i + 2), 99) < 10:
        return century + w.NUMBERS[c.word(i + 2)], i + 3
    apart = i + 2 if c.word(i + 1) == "-" else i + 1
    rest = _below_hundred(c, apart) if century else None
    if century is None or rest is None or rest[0] < 10:
        return None
    return century + rest[0], rest[1]


def _below_hundred(c: Context, i: int) -> tuple[int, int] | None:
    word = c.word(i)
    if word in w.NUMBERS:
        return w.NUMBERS[word], i + 1
    if word not in w.TENS:
        return None
    j = i + 2 if c.word(i + 1) == "-" else i + 1
    unit = w.NUMBERS.get(c.word(j), 99)
    return (w.TENS[word] + unit, j + 1) if unit < 10 else (w.TENS[word], i + 1)


def is_counted(c: Context, j: int, *, plurals: bool = True) -> bool:
    """Return whether token `j` makes the number before it a count or a part of a longer one.

    `plurals` lets any word in -s do so ("2000 visitors").
    """
    word = c.word(j)
    if word == "-" and c.digits(j + 1) in {1, 2} and c.word(j + 2) in w.MONTHS:
        return False  # "3 May 2024-9 May 2024"
    if word in {":", ".", ",", "-", "/"} and c.glued(j) and c.glued(j + 1) and c.digits(j + 1):
        return True
    if word in {"%", "°", "$", "€"} or word in w.MEASURES:
        return True
    return (
        plurals
        and len(word) > 2
        and word.endswith("s")
        and word.isalpha()
        and word not in w.NOT_PLURAL
    )


def _is_month(c: Context, i: int) -> int | None:
    """Return the month that token `i` may name; a verb in lower case is none."""
    month = w.MONTHS.get(c.word(i))
    if month is None or (c.glued(i) and (c.word(i - 1).isalnum() and not c.digits(i - 1))):
        return None
    return month


def month_first(c: Context, i: int) -> Found | None:
    """Read "May 7th, 2023", "May the 7th", "May 3-5", "Nov/2", "May 2023", "in May"."""
    month = _is_month(c, i)
    if month is None or (c.number(i - 1, 2) or 0) > 28:
        return None  # a day that the month has not: "30 February"
    j = i + 1
    if c.word(j) == "." and c.glued(j):
        j += 1
    with_year = year_after(c, j + 1 if c.word(j) in {"-", "/"} and c.glued(j + 1) else j)
    if with_year and not (c.word(j) == "/" and c.word(with_year[1]) == "/"):
        return month_at(with_year[0], month), with_year[1]
    if c.word(j) in {"the", "/", "-"} or (c.word(j) == "," and c.word(j + 2) in _SUFFIXES):
        j += 1
    day = ordinal(c, j)
    timed = day is not None and c.word(day[1]) == ":" and c.digits(day[1] + 1) == 2
    if day and not timed and (day[2] or not is_counted(c, day[1]) or c.word(day[1]) == "-"):
        verb = c.word(i) in w.VERB_MONTHS and not c.capital(i)
        if not verb or day[2] or c.before(i) in w.DATING:
            return _month_days(c, month, day[0], day[1], i)
    return _bare_month(c, i, month)


def _month_days(c: Context, month: int, day: int, j: int, i: int) -> Found | None:
    last = day
    marked = c.word(i + 1) == "-" and c.glued(i + 1) and c.word(j) == "-"  # "Jun-03-21"
    if c.word(j) in {"-", "–", "to", "through", "thru", "till", "until", "and"} and not marked:
        joiner = c.word(j)
        k = j + 2 if c.word(j + 1) == "the" else j + 1
        end = ordinal(c, k)
        closes = end is not None and not is_counted(c, end[1]) and c.word(end[1]) not in w.MONTHS
        if end and closes and end[0] > day and (joiner != "and" or c.before(i) == "between"):
            last, j = end[0], end[1]
    dated = year_after(c, j + 1 if c.word(j) == "-" and c.glued(j + 1) else j)
    dated = dated or _short_year(c, j)
    if dated:
        return _days(dated[0], month, day, last), dated[1]
    best = choose(each_year(c, month, day, last), c.now, c.bias(i))
    return (best, j) if best else None


def _short_year(c: Context, k: int) -> tuple[int, int] | None:
    """Read the two digits of a year behind a mark: "19-Nov-16"."""
    glued = c.word(k) in {"-", "/"} and c.glued(k) and c.glued(k + 1)
    if not glued or c.digits(k + 1) != 2 or c.word(k + 2) in {"-", "/", ":"}:
        return None
    return two_digit_year(c, c.number(k + 1) or 0), k + 2


def _days(year: int, month: int, day: int, last: int) -> Interval:
    start, end = day_at(date(year, month, day)), day_at(date(year, month, last))
    ranged = end.start if last != day else None
    return Interval(start.start, end.end, Precision.DAY, last=ranged)


def each_year(c: Context, month: int, day: int, last: int) -> Iterator[Interval]:
    """Yield the days from one to another of a month in each year in which they may lie."""
    for year in near_years(c, leap_day=(month, day) == (2, 29)):
        try:
            yield _days(year, month, day, last)
        except ValueError:
            continue


def _bare_month(c: Context, i: int, month: int) -> Found | None:
    word = c.word(i)
    alone = word in w.PLAIN_MONTHS or c.before(i) in w.DATING - {"by", "for", "to", "and", "or"}
    if word in w.VERB_MONTHS:
        alone = c.before(i) in {"in", "since", "during", "until", "till", "early", "late", "mid"}
        alone = alone or (c.before(i) in w.DATING and c.capital(i) and c.before(i) != "for")
        alone = alone and not (word == "mar" and not c.capital(i))
    alone = alone or (c.capital(i) and is_moved_to(c.words, i))
    third = c.word(i - 1) == "-" and c.glued(i) and c.word(i - 2) in w.MIDDLE | w.EARLY | w.LATE
    alone = alone or third
    ends = c.word(i - 1) in JOINERS and (
        c.word(i - 2) in w.MONTHS or (c.digits(i - 2) == 4 and c.word(i - 3) in w.MONTHS)
    )
    if c.word(i - 1) == "and" and c.word(i - 2) in w.VERB_MONTHS | w.NAME_MONTHS:
        ends = ends and c.before(i - 2) in w.DATING  # "ask May and June"
    behind = i + 2 if c.word(i + 1) == "." and c.glued(i + 1) else i + 1
    begins = c.word(behind) in JOINERS and c.word(behind + 1) in w.MONTHS
    begins = begins and (c.word(i + 1) != "and" or c.before(i) == "between")
    shared = _shared_year(c, i + 1)
    if shared and (alone or c.capital(i)):
        return month_at(shared, month), i + 1
    if not (alone or ends or begins):
        return None
    options = [month_at(year, month) for year in near_years(c)]
    best = choose(options, c.now, c.bias(i))
    j = i + 2 if len(word) <= 4 and word != "may" and c.word(i + 1) == "." else i + 1
    if j == i + 2 and not c.glued(i + 2):
        j = i + 1  # the full stop of the sentence
    return (best, j) if best else None


_MOST_LISTED = 36  # tokens of a list of months


def _shared_year(c: Context, k: int) -> int | None:
    """Read the year that the last of several months has: "May, June and July 2024"."""
    many, first = False, k
    while c.word(k) in {",", "and", "or", "&"} and k < first + _MOST_LISTED:
        k = k + 2 if c.word(k) == "," and c.word(k + 1) in {"and", "or"} else k + 1
        if c.word(k) not in w.MONTHS:
            return None
        many, k = True, k + 1
    dated = c.number(k, 4) or 0
    return dated if many and c.digits(k) == 4 and 1900 <= dated < 2100 else None


def _is_dated(c: Context, i: int, month: int) -> bool:
    """Tell "on 27 may" from "those on 27 may be late"."""
    return c.before(i) in w.DAY_DATING - {"for", "due", "around"} and (
        c.word(month + 1) not in _AFTER_MODAL
    )


def day_first(c: Context, i: int) -> Found | None:
    """Read "7 May 2023", "the 7th of May", "3 to 5 May", "the 7th" (after a preposition)."""
    day = ordinal(c, i)
    if day is None:
        return None
    number, j, is_ordinal = day
    last = number
    if c.word(j) in {"-", "–", "to", "and", "through", "thru", "till", "until"}:
        joiner = c.word(j)
        end = ordinal(c, j + 2 if c.word(j + 1) == "the" else j + 1)
        if end and end[0] > number and (joiner != "and" or c.before(i) == "between"):
            last, j = end[0], end[1]
    k = j + 1 if c.word(j) in {"of", "-", "/", "day"} else j
    k = j + 1 if c.word(j) == "." and c.glued(j) and c.glued(j + 1) else k
    k = k + 1 if c.word(k) == "in" and last > number else k
    if last > number and c.word(k) in w.LAST | w.NEXT | w.THIS and c.word(k + 1) == "month":
        step = -1 if c.word(k) in w.LAST else c.word(k) in w.NEXT
        there = shift(c.now.replace(day=1), step, "month")
        return _days(there.year, there.month, number, last), k + 2
    month = _is_month(c, k) or (w.MONTHS.get(c.word(k)) if c.glued(k) else None)
    verb = c.word(k) in w.VERB_MONTHS and not c.capital(k) if month else False
    if month and (not verb or c.word(j) == "of" or is_ordinal or _is_dated(c, i, k)):
        k += 1
        if c.word(k) == "." and c.glued(k) and c.digits(k + 1):
            k += 1
        dated = year_after(c, k + 1 if c.word(k) in {"-", "/", "."} and c.glued(k + 1) else k)
        dated = dated or _short_year(c, k)
        if dated:
            return _days(dated[0], month, number, last), dated[1]
        best = choose(each_year(c, month, number, last), c.now, c.bias(i))
        return (best, k) if best else None
    if is_ordinal and last > number and c.before(i) in {"from", "between"}:
        return _days_of_month(c, i, (number, last), j)
    plain = c.digits(i) > 0 or number > _SPELLED
    if is_ordinal and last == number and plain and c.word(i - 1) in {"the", "on"}:
        return _day_of_month(c, i, number, j)
    return None


_SPELLED = 12  # up to here a spelled ordinal counts other things: "on the second attempt"


def _days_of_month(c: Context, i: int, days: tuple[int, int], j: int) -> Found | None:
    """Read "from the 7th to the 9th": those days of the nearest month that has them."""
    if c.word(j) not in w.AFTER_DAY and c.word(j).isalnum():
        return None
    options = []
    for step in (-1, 0, 1):
        month = shift(c.now.replace(day=1), step, "month")
        with suppress(ValueError):
            options.append(_days(month.year, month.month, *days))
    best = choose(options, c.now, c.bias(i))
    return (best, j) if best else None


def _day_of_month(c: Context, i: int, number: int, j: int) -> Found | None:
    """Read "on the 7th": that day of the nearest month that has it."""
    timed = c.word(j) in {"at", "from", "between"} and c.digits(j + 1) > 0
    if c.before(i) not in w.DAY_DATING and not timed and not is_moved_to(c.words, i):
        return None
    if c.word(j) not in w.AFTER_DAY and c.word(j).isalnum():
        return None
    options = []
    for step in (-2, -1, 0, 1, 2):
        try:
            month = shift(c.now.replace(day=1), step, "month")
            options.append(day_at(date(month.year, month.month, number)))
        except (OverflowError, ValueError):
            continue
    best = choose(options, c.now, c.bias(i))
    return (best, j) if best else None
