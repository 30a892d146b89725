"""Common date phrases in other languages: one small grammar over a table of words each."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import timedelta

from ...nouns.memory import Precision
from . import counts, weekdays
from .clock import Clock, clock_of, on_day
from .context import Context, near_years
from .foreign_words import LANGUAGES, Lexicon
from .intervals import Found, Interval, choose, day_at, floor, month_at, shift, unit_at, year_at
from .months import is_counted
from .numeric import numeric

_LONGEST = 4  # tokens in the longest phrase of the tables


def read_foreign(c: Context, lexicon: Lexicon, i: int) -> Found | None:
    """Return the longest date in one language that begins at token `i`, and its end."""
    best: Found | None = None
    for found in _readings(c, lexicon, i):
        if found and (best is None or found[1] > best[1]):
            best = found
    if best and best[0].precision is Precision.DAY:
        return _with_clock(c, lexicon, *best)
    return best


def has_foreign_cue(c: Context, lexicon: Lexicon) -> bool:
    """Return whether a text holds a digit or a word that a date in this language needs."""
    return any(word in lexicon.cues or "0" <= word[0] <= "9" for word in c.words)


def _readings(c: Context, lex: Lexicon, i: int) -> Iterator[Found | None]:
    word = c.word(i)
    if c.digits(i):
        yield numeric(c, i)
        yield _day_month(c, lex, i)
    if c.digits(i) or word in lex.numbers:
        yield _counted(c, lex, i)
    if word in lex.months:
        yield _month(c, lex, i)
    if word in lex.inside:
        yield _in_year(c, i)
    yield _phrase_day(c, lex, i)
    yield _qualified(c, lex, i)
    for phrases, sign in ((lex.ago_before, -1), (lex.ahead, 1)):
        j = _phrase(c, phrases, i)
        if j:
            yield _distance(c, lex, j, sign)


def _phrase(c: Context, phrases: Collection[tuple[str, ...]], i: int) -> int | None:
    """Return the token after the longest of `phrases` at token `i`, if one stands there."""
    for size in range(_LONGEST, 0, -1):
        if tuple(c.word(i + k) for k in range(size)) in phrases:
            return i + size
    return None


def _phrase_day(c: Context, lex: Lexicon, i: int) -> Found | None:
    j = _phrase(c, lex.days.keys(), i)
    if j is None or c.word(i - 1) in lex.no_day_after:
        return None
    offset = lex.days[tuple(c.words[i:j])]
    return day_at((c.now + timedelta(days=offset)).date()), j


def _number(c: Context, lex: Lexicon, i: int) -> int | None:
    value = c.number(i, 5)
    return value if value is not None else lex.numbers.get(c.word(i))


def _distance(c: Context, lex: Lexicon, i: int, sign: int) -> Found | None:
    """Read the count and unit of "hace dos semanas", "in drei Tagen" after its first words."""
    count, unit = _number(c, lex, i), lex.units.get(c.word(i + 1))
    if count is None or unit is None:
        return None
    return counts.at_distance(c, counts.Quantity(count, count, unit), sign), i + 2


def _counted(c: Context, lex: Lexicon, i: int) -> Found | None:
    found = _distance(c, lex, i, -1) if c.word(i + 2) in lex.ago_after else None
    return (found[0], i + 3) if found else None


def _day_month(c: Context, lex: Lexicon, i: int) -> Found | None:
    """Read "7 de mayo de 2023", "7. Mai 2023", "1er mars"."""
    day = c.number(i, 2)
    j = i + 1
    while (
        c.word(j) in lex.fillers or c.word(j) in lex.suffixes or (j == i + 1 and c.word(j) == ".")
    ):
        j += 1
        if j > i + 3:
            return None
    month = lex.months.get(c.word(j))
    if day is None or month is None or not 1 <= day <= 31:
        return None
    year = _year(c, j + 2 if c.word(j + 1) in lex.fillers else j + 1)
    if year:
        return _day(year, month, day), j + 2 + (c.word(j + 1) in lex.fillers)
    best = choose(_each_year(c, month, day), c.now, c.bias(i))
    return (best, j + 1) if best else None


def _day(year: int, month: int, day: int) -> Interval:
    return day_at(month_at(year, month).start.replace(day=day).date())


def _each_year(c: Context, month: int, day: int) -> Iterator[Interval]:
    for year in near_years(c, leap_day=(month, day) == (2, 29)):
        try:
            yield _day(year, month, day)
        except ValueError:
            continue


def _year(c: Context, i: int) -> int | None:
    year = c.number(i, 4)
    return year if year is not None and c.digits(i) == 4 and 1200 <= year < 2200 else None


def _month(c: Context, lex: Lexicon, i: int) -> Found | None:
    month = lex.months[c.word(i)]
    j = i + 2 if c.word(i + 1) in lex.fillers else i + 1
    year = _year(c, j)
    if year:
        return month_at(year, month), j + 1
    if c.word(i - 1) not in lex.inside:
        return None
    best = choose([month_at(y, month) for y in near_years(c)], c.now, c.bias(i))
    return (best, i + 1) if best else None


def _in_year(c: Context, i: int) -> Found | None:
    year = _year(c, i + 1)
    if year is None or not 1900 <= year < 2100 or is_counted(c, i + 2):
        return None
    follows = c.word(i + 2)
    if follows.isalpha() and len(follows) > 2 and c.word(i) in {"a", "de", "di", "da"}:
        return None
    return (year_at(year), i + 2) if c.word(i) not in {"a", "de", "di"} else None


def _qualified(c: Context, lex: Lexicon, i: int) -> Found | None:
    """Read a weekday or a unit with "last", "next" or "this" before or after it."""
    sign = _sign(lex, c.word(i))
    j = i if sign is None else i + 1
    name, j = c.word(j), j + 1
    feira = name in lex.shy and c.word(j) == "-" and c.word(j + 1) == "feira"
    j = j + 2 if feira else j
    if sign is None and c.word(j) in lex.last | lex.next:
        sign, j = _sign(lex, c.word(j)), j + 1
    if name in lex.shy and not feira and sign is None:
        return None
    if name in lex.weekdays:
        return _weekday(c, i, lex.weekdays[name], sign), j
    unit = lex.units.get(name)
    if unit is None or sign is None or unit in {"minute", "hour", "day"}:
        return None
    return unit_at(shift(floor(c.now, unit), sign, unit), unit), j


def _sign(lex: Lexicon, word: str) -> int | None:
    return -1 if word in lex.last else 1 if word in lex.next else 0 if word in lex.this else None


def _weekday(c: Context, i: int, day: int, sign: int | None) -> Interval:
    if sign is None:
        return weekdays.nearest_weekday(c, i, day)
    ahead = (day - c.now.weekday()) % 7 or 7
    days = ahead if sign > 0 else (ahead - 7 or -7)
    return day_at((c.now + timedelta(days=days if sign else day - c.now.weekday())).date())


def _with_clock(c: Context, lex: Lexicon, found: Interval, j: int) -> Found:
    """Add the time of day: "a las 18:30", "um 9 Uhr", "à 9h30"."""
    k = _phrase(c, lex.at, j + 1 if c.word(j) == "," else j)
    start = k or j
    hour = c.number(start, 2)
    if hour is None:
        return found, j
    end, minute, unit = start + 1, 0, Precision.HOUR
    marked = c.word(end) in lex.hours
    split = c.word(end) in {":", "."} | lex.hours and c.glued(end) and c.glued(end + 1)
    if split and c.digits(end + 1) == 2:
        minute, unit, end, marked = c.number(end + 1) or 0, Precision.MINUTE, end + 2, True
    if c.word(end) in lex.hours:
        end += 1
    clock: Clock | None = clock_of(hour, minute, unit=unit)
    if clock is None or (k is None and not marked):
        return found, j
    return on_day(clock, found.start.date()), end


def find_lexicons(languages: Collection[str]) -> list[Lexicon]:
    """Return the tables of those languages that have one, in the order given."""
    return [LANGUAGES[code] for code in languages if code in LANGUAGES]
