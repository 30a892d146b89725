"""Times pointed at: "that week", "the same evening", "this day last year", "the month"."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from ...nouns.memory import Precision
from . import words as w
from .context import Context
from .dayparts import part_at
from .intervals import CLOCK_UNITS, Found, Interval, day_at, season_at, shift, unit_at

DEICTIC_STARTS: Final = frozenset({"that", "same", "this", "day", "week", "fortnight"}) | {
    *("month", "quarter", "year", "weekend")
}
_POINTERS: Final = frozenset({"that", "same"})
_BACK: Final = {"last": -1, "previous": -1, "next": 1, "this": 0, "following": 1}
# Seasons that are verbs or other things behind "that".
_NO_SEASON: Final = frozenset({"fall", "spring"})
_INSIDE: Final = frozenset({"for", "of", "in", "during", "within", "over", "throughout", "on"})
# Words behind "the day" that say which, or another thing: "the day we met", "the day shift".
_LED_ON: Final = frozenset(
    {"of", "before", "after", "that", "when", "where", "i", "we", "he", "she", "they", "you", "to"}
    | {"shift", "trip", "spa", "care", "job", "one", "'", "’", "-", "ahead"}
)
_CLOSING: Final = frozenset({"", ".", "!", "?", ",", ";", ")"})


def pointed(c: Context, i: int) -> Found | None:
    """Read a time that points at one told before, or at the day of telling."""
    word = c.word(i)
    if word in w.UNITS:
        return _running(c, i)
    j = i + 2 if c.word(i + 1) == "same" and word in {"that", "this"} else i + 1
    again = _last_year(c, j)
    if again:
        return again
    if word not in _POINTERS:
        return None
    base = c.antecedent or (
        datetime.combine(c.now.date(), datetime.min.time()) if c.present else None
    )
    return _at(c, j, base) if base else None


def _last_year(c: Context, j: int) -> Found | None:
    """Read "(this) day last year", "(the same) time next week": as far from today."""
    if c.word(j) == "time" and c.word(j + 1) in {"tomorrow", "yesterday"}:
        start = c.now.replace(second=0, microsecond=0) + timedelta(days=w.DAY_WORDS[c.word(j + 1)])
        return Interval(start, start + timedelta(minutes=1), Precision.MINUTE), j + 2
    dated = c.number(j + 2, 4) if c.digits(j + 2) == 4 and c.word(j + 1) == "in" else None
    if c.word(j) in {"day", "date"} and dated:
        return day_at(shift(c.now, dated - c.now.year, "year").date()), j + 3
    longer = c.word(j) in {"week", "month", "quarter"} and c.word(j - 1) in {"same", "this"}
    if c.word(j + 1) not in _BACK or not (longer or c.word(j) in {"day", "time", "date"}):
        return None
    unit = w.UNITS.get(c.word(j + 2))
    if unit not in {"week", "month", "year"} or c.word(j + 1) == "this":
        return None
    moved = shift(c.now, _BACK[c.word(j + 1)], unit)
    return (unit_at(moved, w.UNITS[c.word(j)]) if longer else day_at(moved.date())), j + 3


def _at(c: Context, j: int, base: datetime) -> Found | None:
    """Return the unit, part of the day or season at token `j` that holds a day."""
    part = part_at(c, j, base)
    if part:
        return part
    unit, word = w.UNITS.get(c.word(j)), c.word(j)
    if unit and unit not in CLOCK_UNITS and not word.endswith("s") and c.word(j + 1) != "of":
        if unit == "day" and c.antecedent is None and c.word(j - 1) == "that":
            return None  # "that day": one of which nothing was told
        return unit_at(base, unit), j + 1
    if word in w.SEASONS and word not in _NO_SEASON:
        return _season(base, w.SEASONS[word]), j + 1
    return None


def _season(base: datetime, first: int) -> Interval:
    """Return the season of a name that holds a day, or that of its year."""
    options = [season_at(base.year + k, first) for k in (-1, 0) if base.year + k > 0]
    holding = (option for option in options if option.start <= base < option.end)
    return next(holding, season_at(base.year, first))


def _bare_weekend(c: Context, i: int) -> bool:
    """Whether "weekend" stands with no article and nothing said of its kind."""
    near = {c.word(k) for k in range(i - 3, i)}
    return near.isdisjoint({"a", "an", "any", "each", "every", "one", "long", "all", "another"})


def _running(c: Context, i: int) -> Found | None:
    """Read "the day", "the month" where it closes a clause, as the running one; if asked for."""
    unit = w.UNITS[c.word(i)]
    named = c.word(i - 1) == "the" or (c.word(i - 1), unit) == ("this", "day")
    named = named or (unit == "weekend" and _bare_weekend(c, i))
    inside = c.word(i - 2) in _INSIDE and c.word(i + 1) not in _LED_ON
    alone = c.present and named and (c.word(i + 1) in _CLOSING or inside)
    whole = unit_at(c.now, unit) if alone else None
    if whole is None:
        return None
    if unit == "fortnight":
        whole = Interval(whole.start, whole.start + timedelta(weeks=2), whole.precision)
    return whole, i + 1
