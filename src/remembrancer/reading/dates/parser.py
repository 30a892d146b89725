"""One date expression at a token: the longest reading, with its time of day and its range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Final

from ...nouns.memory import Precision
from . import (
    counts,
    deictic,
    distances,
    months,
    numeric,
    parts,
    periods,
    qualified,
    quarters,
    relative,
    weekdays,
    weeks,
)
from . import words as w
from .clock import AT, Clock, on_day, read_clock_range
from .context import Context, ReadDate
from .dayparts import PART_STARTS
from .extents import lasting, lasting_from
from .following import extend
from .holidays import HOLIDAY_STARTS
from .intervals import Found, Interval, choose
from .offsets import offset
from .partial import (
    ENDING,
    PARTS,
    REST,
    TO_DATE,
    UNIT_ENDS,
    ending,
    part_of_date,
    part_of_period,
    rest,
    to_date,
    unit_end,
)
from .ranges import QUALIFIERS, from_now, ranged, to_clock
from .relations import relation_before, relation_behind
from .relative import PRESENT_STARTS
from .written import written

MAX_DEPTH: Final = 3  # "a week before the day after the Friday before Christmas"
_COUNTERS: Final = frozenset(w.NUMBERS) | set(w.TENS) | set(w.VAGUE) | {"a", "an", "half"}
STARTS: Final = (
    frozenset(w.MONTHS)
    | set(w.WEEKDAYS)
    | set(w.UNITS)
    | set(w.SEASONS)
    | set(w.DAY_WORDS)
    | set(w.ORDINALS)
    | set(w.DECADES)
    | w.TONIGHT
    | HOLIDAY_STARTS
    | PART_STARTS
    | _COUNTERS
    | QUALIFIERS
    | PARTS
    | {"in", "within", "other", "q", "h", "noon", "midday", "noonish", "midnight", "quarter", "'"}
    | {"’", "‘", "dozen"}
    | w.REPEATS
    | PRESENT_STARTS
    | deictic.DEICTIC_STARTS
    | weeks.WEEK_STARTS
    | quarters.YEAR_NAMES
    | REST
    | set(ENDING)
    | set(TO_DATE)
    | {"penultimate", "latter", "final", "former", "ad", "midmorning", "midafternoon"}
)


def read_date(c: Context, i: int, depth: int = 0) -> Found | None:
    """Return the longest date (without a clock time) that begins at token `i`, and its end."""
    if depth > MAX_DEPTH or not c.word(i):
        return None

    def inner(ctx: Context, at: int) -> Found | None:
        return read_date(ctx, at, depth + 1)

    best: Found | None = None
    readings = _of_digits if c.digits(i) else _of_word
    for found in readings(c, i, inner):
        if found and (best is None or found[1] > best[1]):
            best = found
    return extend(c, i, *best) if best else None


def _of_digits(c: Context, i: int, inner: ReadDate) -> Iterator[Found | None]:
    """Yield what may be read at a number."""
    yield numeric.numeric(c, i)
    yield months.day_first(c, i)
    yield written(c, i)
    yield quarters.quarter(c, i)
    yield periods.decade(c, i)
    yield periods.year(c, i)
    yield distances.counted(c, i, inner)
    yield parts.nth_of(c, i, inner)
    yield qualified.numbered(c, i)
    yield periods.century(c, i)
    yield weeks.year_first(c, i)


def _of_word(c: Context, i: int, inner: ReadDate) -> Iterator[Found | None]:
    """Yield what may be read at a word."""
    word = c.word(i)
    if word in w.MONTHS:
        yield months.month_first(c, i)
        yield written(c, i)
    if word in _SPOKEN_YEARS:
        yield periods.year(c, i)
    if word in w.ORDINALS or word in w.TENS:
        yield months.day_first(c, i)
        yield written(c, i)
        yield quarters.quarter(c, i)
        yield parts.nth_of(c, i, inner)
        yield periods.century(c, i)
    if word in w.NUMBERS or word in w.TENS:
        yield qualified.numbered(c, i)
        yield months.day_first(c, i)
    for words, reading in _READINGS:
        if word in words:
            yield reading(c, i, inner)
    for words, plain in _PLAIN_READINGS:
        if word in words:
            yield plain(c, i)
    yield relative.named_day(c, i) or relative.present(c, i)


_SPOKEN_YEARS: Final = frozenset({"nineteen", "twenty", "two", "eighteen", "ad"})
_READINGS: Final = (
    ({"first"}, parts.some_of),
    ({"penultimate", "next", "latter", "final", "former", "early"}, parts.nth_of),
    (w.WEEKDAYS, weekdays.weekday),
    (QUALIFIERS, qualified.qualified),
    (_COUNTERS | {"dozen", "hundred"}, distances.counted),
    (w.UNITS, relative.unit_relation),
    (UNIT_ENDS, unit_end),
    ({"in", "within"}, distances.ahead),
    (PARTS, part_of_period),
    (REST, rest),
    (ENDING, ending),
    (TO_DATE, to_date),
    (PART_STARTS, part_of_date),
    (weeks.WEEK_STARTS, weeks.week),
)
_PLAIN_READINGS: Final = (
    (w.SEASONS, periods.season),
    (HOLIDAY_STARTS, periods.holiday),
    (deictic.DEICTIC_STARTS, deictic.pointed),
    (quarters.YEAR_NAMES, quarters.named_year),
    (frozenset(w.DECADES) | {"'", "’"} | _SPOKEN_YEARS, periods.decade),
    ({"q", "h"}, quarters.quarter),
    ({"other"}, counts.other_day),
)


def read(c: Context, i: int) -> Found | None:
    """Return the longest expression at token `i`: a date, a time, both, or a range of them."""
    found = lasting_from(c, i, _plain) or _plain(c, i)
    return lasting(c, i, *found) if found else None


def _plain(c: Context, i: int) -> Found | None:
    running = from_now(c, i, _timed_or_dated) or offset(c, i, _timed)
    if running:
        return running
    timed = _time_first(c, i)
    dated = read_date(c, i)
    if dated:
        dated = _with_clock(c, *dated)
        dated = to_clock(c, i, *dated, _timed)
        dated = ranged(c, i, *dated, read_date)
    if timed and (dated is None or timed[1] >= dated[1]):
        return to_clock(c, i, *timed, _timed)
    return dated


def _timed(c: Context, i: int) -> Found | None:
    """Read a clock time with or without its day, on either side of it."""
    day = read_date(c, i)
    dated = _with_clock(c, *day) if day else None
    if dated and dated[0].precision is not Precision.DAY and not dated[0].part:
        return dated
    bare = read_clock_range(c, i, bare=True)
    return _time_first(c, i, bare=bare is not None and _ends_hours(c, bare[1]))


def _timed_or_dated(c: Context, i: int) -> Found | None:
    """Read a date, a time or both."""
    return _timed(c, i) or read_date(c, i)


_TO_CLOCK: Final = AT | {"starting", "early", "morning", "sometime", "until", "till", "since"}


def _ends_hours(c: Context, j: int) -> bool:
    """Whether two bare hours may end before token `j`: nothing that they could count follows."""
    word = c.word(j)
    return word in w.DAY_WORDS or word in w.DATING or not word.isalnum() or word in {"am", "pm"}


def _with_clock(c: Context, found: Interval, j: int) -> Found:
    """Add the clock time that follows a day: "Friday at 9", "tomorrow, 8:00-9:30"."""
    if not found.is_day or found.end - found.start > timedelta(days=1):
        return found, j
    k = j + 1 if c.word(j) in {",", "(", "-"} else j
    while c.word(k) in _TO_CLOCK and k < j + 4:
        k += 1
    hours = k == j and c.digits(k) and c.word(k + 1) in {"-", "–", "to"} and c.digits(k + 2)
    hours = hours and _ends_hours(c, k + 3)
    clock = read_clock_range(c, k, bare=c.word(k - 1) in AT or bool(hours))
    if clock is None or (c.digits(k) == 4 and not clock[0].sure):
        return found, j
    timed = on_day(clock[0], found.start.date(), found.part)
    relation = relation_before(c, k) if k > j else None
    return (replace(timed, relation=relation) if relation else timed), clock[1]


def _time_first(c: Context, i: int, *, bare: bool = False) -> Found | None:
    """Read a clock time that comes first: "3 pm tomorrow", "at 6 on Friday", or one alone."""
    before = c.word(i - 1)
    clock = read_clock_range(c, i, bare=bare or before in AT)
    hours = all(c.digits(k) or c.word(k) in w.NUMBERS for k in (i, i + 2))
    if clock is None and hours and c.word(i + 1) in {"-", "–", "to"}:
        named = c.word(i + 3) in w.DAY_WORDS or c.word(i + 3) in w.FULL_WEEKDAYS
        clock = read_clock_range(c, i, bare=True) if named else None
    if clock is None:
        return None
    time, j = clock
    behind = relation_behind(c, j)
    k = j = behind[1] if behind else j
    while c.word(k) in {"on", ",", "the", "of", "in", "for"} and k < j + 2:
        k += 1
    day = read_date(c, k) if c.word(k) in STARTS or c.digits(k) else None
    if day and day[0].is_day and day[0].end - day[0].start <= timedelta(days=1):
        timed = on_day(time, day[0].start.date(), day[0].part)
        relation = relation_before(c, i) or (behind[0] if behind else None)
        return (replace(timed, relation=relation) if relation else timed), day[1]
    if not (time.sure or bare) or c.word(j) in w.REPEATS:
        return None
    if c.word(j - 1) == "p" and c.glued(j - 1) and not time.ranged:
        return None  # "7p" is a time only beside its day
    named = c.word(i) in {"noon", "midday", "noonish", "midnight"}
    if named and before not in AT and before not in {"until", "till", "since"}:
        return None
    return _today(c, i, time), j


def _today(c: Context, i: int, time: Clock) -> Interval:
    """Place a time without a day: today, or the day before or after where the tense says so."""
    bias = c.bias(i)
    now = c.now
    if bias is None or time.zone is not None:
        return on_day(time, now.date())
    options = [on_day(time, (now + timedelta(days=k)).date()) for k in (-1, 0, 1)]
    return choose(options, now, bias) or options[1]
