"""A part of a date: "early May", "the end of the year", "later today", "the rest of the week"."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Literal, cast

from ...nouns.memory import Precision
from . import words as w
from .context import Context, ReadDate
from .dayparts import part_at
from .edges import cut_at, edge, edge_of, half, third, tip
from .intervals import CLOCK_UNITS, Found, Interval, midnight, unit_at
from .relative import named_day

PARTS: Final = w.EARLY | w.MIDDLE | w.LATE | {"earlier", "later"}
UNIT_ENDS: Final = frozenset({"week", "month", "quarter", "year"})
REST: Final = frozenset({"rest", "remainder", "remaining", "balance"})
ENDING: Final = {"eod": "day", "eow": "week", "eom": "month", "eoq": "quarter", "eoy": "year"}
_BY: Final = frozenset({"by", "before", "until", "till", "the", "at", "end"})
_RELATIVE: Final = w.LAST | w.NEXT | w.THIS


def part_of_period(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "early May", "mid-2019", "end of the year", "earlier this month", "late last night"."""
    word, j = c.word(i), i + 1
    if word == "first":
        return None
    late_part = part_at(c, j + 1, c.now) if c.word(j) in w.THIS else None
    if late_part:
        return edge_of(late_part[0], word), late_part[1]
    inside = _inside(c, i, read)
    if inside:
        return inside
    month = c.word(j) in w.MONTHS and c.capital(j)
    if word in w.EDGES and word != "middle" and c.word(j) != "of" and not month:
        return None
    if c.word(j) == "on" and word not in w.EDGES:
        j += 1  # "later on this week"
    if c.word(j) in {"of", "in", "-"}:
        j += 1
    if c.word(j) == "the":
        j += 1
    unit = w.UNITS.get(c.word(j))
    plain = unit and unit not in CLOCK_UNITS and c.word(j - 1) in {"the", "of"}
    if plain and c.word(j) == "night":
        return None  # "the middle of the night"
    if plain and unit:
        inner = (_of_day(c, j + 1, read) if unit == "day" else None) or (
            unit_at(c.now, unit),
            j + 1,
        )
    else:
        found = read(c, j)
        if found is None or found[0].start.tzinfo is not None:
            return None
        inner = found
    return _cut(c, inner[0], word, told=bool(plain) or c.word(j) in _RELATIVE), inner[1]


def _cut(c: Context, period: Interval, word: str, *, told: bool) -> Interval:
    """Return the part of a period that a word means; `told` where the period is told from now."""
    if period.part:
        return edge_of(period, word)
    today = midnight(c.now.date())
    if word in {"earlier", "later"}:
        if not period.start <= today < period.end:
            return tip(period, "early" if word == "earlier" else "late")
        moment = c.now if period.precision is Precision.DAY else today
        return cut_at(period, moment, word)
    if word in w.EDGES:
        return edge(period, cast(Literal["start", "mid", "end"], w.EDGES[word]))
    if word in w.MIDDLE:
        return period if period.precision is Precision.DAY else third(period, "mid")
    which: Final = "early" if word in w.EARLY else "late"
    return half(period, which) if told else tip(period, which)


def _inside(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "early in the morning tomorrow", "mid-morning on Friday": the edge of a day's part."""
    j = i + 1
    while c.word(j) in {"in", "the", "-", "at"} and j < i + 3:
        j += 1
    part = part_at(c, j, c.now)
    if part is None:
        return None
    k = part[1]
    while c.word(k) in {"on", "of", ",", "the"} and k < part[1] + 2:
        k += 1
    day = read(c, k)
    if day is None or day[0].precision is not Precision.DAY or day[0].start.tzinfo is not None:
        return None
    placed = part_at(c, j, day[0].start)
    return (edge_of(placed[0], c.word(i)), day[1]) if placed else None


def _of_day(c: Context, j: int, read: ReadDate) -> Found | None:
    """Read the day after "the end of the day", "early in the day": "on Friday", "tomorrow"."""
    k = j + 1 if c.word(j) in {"on", ","} else j
    day = read(c, k)
    return day if day and day[0].precision is Precision.DAY and not day[0].edge else None


def rest(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "the rest of the week": from today, or of today from now, to its end."""
    if c.word(i + 1) != "of":
        return None
    k = i + 3 if c.word(i + 2) in {"the", "my", "our", "your"} else i + 2
    unit = w.UNITS.get(c.word(k))
    plain = unit and unit not in CLOCK_UNITS and not c.word(k).endswith("s")
    inner = (unit_at(c.now, unit), k + 1) if plain and unit else read(c, k)
    if inner is None or inner[0].start.tzinfo is not None:
        return None
    if not inner[0].start <= c.now < inner[0].end:
        return inner
    whole = inner[0]
    if whole.end - whole.start <= timedelta(days=1):
        return replace(whole, start=c.now), inner[1]
    today = datetime(c.now.year, c.now.month, c.now.day)
    final = whole.end - timedelta(days=1)
    return replace(whole, start=today, last=final if final > today else None), inner[1]


def ending(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "EOD", "eom", "EOD Friday": the end of the day, the month."""
    if not (c.raw(i).isupper() or c.word(i - 1) in _BY):
        return None
    unit = ENDING[c.word(i)]
    whole, j = unit_at(c.now, unit), i + 1
    named = _of_day(c, j, read) if unit == "day" else read(c, j)
    if named and named[0].precision is whole.precision:
        whole, j = named
    return edge(whole, "end"), j


TO_DATE: Final = {"ytd": "year", "qtd": "quarter", "mtd": "month", "wtd": "week"}


def to_date(c: Context, i: int, _read: ReadDate) -> Found | None:
    """Read "YTD", "MTD": from the start of the year, the month, to today."""
    if not c.raw(i).isupper():
        return None
    whole, today = unit_at(c.now, TO_DATE[c.word(i)]), unit_at(c.now, "day")
    return replace(whole, end=today.end, last=today.start), i + 1


def _beside_day(c: Context, i: int, k: int, read: ReadDate) -> Found | None:
    """Read "the evening before 3 June", "the morning after" of what was told before."""
    step = timedelta(days=-1 if c.word(k) == "before" else 1)
    if not c.word(k + 1).isalnum():
        base, end = c.antecedent, k + 1
        if base is None or c.word(i - 1) != "the":
            return None
    else:
        day = read(c, k + 2 if c.word(k + 1) == "the" else k + 1)
        if day is None or day[0].precision is not Precision.DAY or c.word(i - 1) != "the":
            return None
        base, end = day[0].start, day[1]
    placed = part_at(c, i, base + step)
    return (placed[0], end) if placed else None


def _names_day(c: Context, k: int) -> bool:
    """Whether a day may begin at token `k`: "in the morning next Sunday", "at night May 7"."""
    return c.word(k) in _RELATIVE or c.word(k) in w.MONTHS or c.word(k) in w.FULL_WEEKDAYS


def unit_end(c: Context, i: int, _read: ReadDate) -> Found | None:
    """Read "year end", "month-end", "the year's end": the end of the running one, or of a year."""
    j = i + 1
    if c.word(j) in {"'", "’"} and c.word(j + 1) == "s":
        j += 2
    elif c.word(j) == "-":
        j += 1
    if c.word(j) != "end" or c.word(i) not in UNIT_ENDS or c.word(j + 1) in {"of", "up", "user"}:
        return None
    if c.before(i) not in {"by", "before", "until", "till", "at", "after", "since", "to", "this"}:
        return None
    year = c.number(j + 1, 4) if c.word(i) == "year" and c.digits(j + 1) == 4 else None
    base = c.now.replace(year=year, day=1) if year else c.now
    return edge(unit_at(base, c.word(i)), "end"), j + 1 + bool(year)


def part_of_date(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "the morning of May 7", "the night before Christmas", "lunch time tomorrow"."""
    part = part_at(c, i, c.now)
    if part is None:
        return None
    k = part[1]
    if c.word(k) in {"before", "after"}:
        return _beside_day(c, i, k, read)
    joined = c.word(k) in {"of", "on"}
    if joined or (c.before(i) in {"in", "on", "at", "during"} and _names_day(c, k)):
        k = k + 1 if joined else k
        day = read(c, k + 1 if c.word(k) == "the" else k)
    else:
        day = named_day(c, k)
        if day is None or day[0].part:
            return None
    if day is None or day[0].precision is not Precision.DAY:
        return None
    placed = part_at(c, i, day[0].start)
    return (placed[0], day[1]) if placed else None
