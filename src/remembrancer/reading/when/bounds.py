"""Says what a date beside a repeat means: its day, where it begins, how long it goes on."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from ...nouns.memory import Precision
from ..dates import words as w
from ..dates.context import Context
from ..dates.counts import WORKDAY
from ..dates.intervals import Interval, day_at
from .repeats import WORKDAYS
from .types import Pattern, Pieces

_DAY: Final = timedelta(days=1)
_STEPS: Final = frozenset({"minute", "hour"})
_POINTING: Final = w.LAST | w.THIS | w.NEXT

# A repeat, and the parts of its expression with where it begins and ends.
Placed = tuple[Pattern, Pieces]


def placed(c: Context, pieces: Pieces) -> Placed | None:
    """Return a repeat as the date beside it has it; None where the two do not go together."""
    pattern, date = pieces.pattern, pieces.date
    if pattern is None or pieces.instant is not None or pieces.exact:
        return None
    daily = pattern.unit == "day" and pattern.interval == 1
    if daily and pieces.lasting and pieces.lasting[1] == WORKDAY:
        pattern = replace(pattern, unit="week", days=WORKDAYS)
    if pieces.day is not None:
        date = day_at(pieces.day.date())
        return pattern, replace(pieces, starting=pieces.starting or date)
    if date is None:
        return pattern, pieces
    if date.start.tzinfo is not None or date.end <= c.now:
        return None
    if date.part and not pattern.part:
        pattern = replace(pattern, part=date.part)
    if pattern.unit in _STEPS or date.end - date.start > _DAY:
        return _within(pattern, date, pieces)
    return _on_day(c, pattern, date, pieces)


def _within(pattern: Pattern, date: Interval, pieces: Pieces) -> Placed | None:
    """Keep a repeat within what was named: "every hour tomorrow", "every day in June"."""
    if pattern.unit == "year":
        if date.precision is not Precision.MONTH or pattern.month_days:
            return None
        return replace(pattern, month=date.start.month, month_days=(1,)), pieces
    until = pieces.until
    if until is None or until.end.tzinfo is not None or until.end > date.end:
        until = date
    return pattern, replace(pieces, starting=pieces.starting or date, until=until)


def _on_day(c: Context, pattern: Pattern, date: Interval, pieces: Pieces) -> Placed | None:
    """Let one day say which day of the week, month or year it is, or where a repeat begins."""
    low, high = pieces.date_tokens
    tokens = [c.word(n) for n in range(low, high)]
    begun = replace(pieces, starting=pieces.starting or date)
    if pattern.unit == "day":
        return pattern, begun
    if pattern.days or pattern.month_days:
        return None  # "every Monday at 9 and Friday at 10"
    if not w.DAY_WORDS.keys().isdisjoint(tokens):
        return pattern, begun
    if not _POINTING.isdisjoint(tokens):
        return None  # "the last Sunday of every quarter" is not the one that was
    plain = w.WEEKDAYS.keys() >= set(tokens)
    if pattern.unit == "week":
        return replace(pattern, days=(date.start.weekday(),)), pieces if plain else begun
    if plain:
        return None  # which Friday of the month
    if pattern.unit == "month":
        return replace(pattern, month_days=(date.start.day,)), begun
    return replace(pattern, month=date.start.month, month_days=(date.start.day,)), pieces
