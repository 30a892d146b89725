"""Reads from when and until when a repeat goes on, for how long and how often."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final

from ..dates import words as w
from ..dates.clock import AT, Clock, in_half, read_clock_range, settle
from ..dates.context import Context
from ..dates.counts import quantity
from ..dates.intervals import Interval, day_at, midnight
from ..dates.parser import read_date
from .days import end_of, is_end
from .repeats import read_repeat
from .types import Pieces

_UNTIL: Final = frozenset({"until", "till", "til", "through", "ending"})
_STARTING: Final = frozenset({"starting", "beginning", "from", "effective"})
_MARKS: Final = frozenset({"", ",", ".", "!", "?", ";", ":", ")"})
_DAY: Final = timedelta(days=1)


def read_limit(c: Context, k: int, _joiner: str, into: Pieces) -> int | None:
    """Read "until 1 June", "starting Monday", "for the next ten days", "five times"."""
    word = c.word(k)
    ends = word in _UNTIL or (word == "to" and into.starting is not None)
    if ends and into.pattern and not into.until:
        return _until(c, k, into)
    if word in _STARTING and not into.starting:
        return _starting(c, k, into)
    return _lasting(c, k, into) if into.pattern else None


def _until(c: Context, k: int, into: Pieces) -> int | None:
    j = k + 1
    while c.word(j) in {"the", "on", "end", "of"} and not is_end(c, j):
        j += 1
    found = end_of(c, j) or read_date(c, j)
    if into.pattern is not None and into.pattern.unit in {"minute", "hour"}:
        found = _until_hour(c, j, found) or found
    if found is None:
        return None
    into.until = found[0]
    return found[1]


def _until_hour(
    c: Context, j: int, day: tuple[Interval, int] | None
) -> tuple[Interval, int] | None:
    """Read the hour that steps of hours go on to: "until 6pm", "until Friday at six"."""
    k = day[1] if day else j
    k += c.word(k) in AT
    clock = read_clock_range(c, k, bare=True)
    if clock is None or clock[0].ranged or clock[0].zone is not None:
        return None
    end = clock[1]
    if day is None:
        k = end + (c.word(end) == "on")
        day = read_date(c, k)
        end = day[1] if day else end
    if day is not None and not day[0].is_day:
        return None
    last = _next(c, clock[0], midnight(day[0].start.date()) if day else None)
    return Interval(last, last + timedelta(microseconds=1), clock[0].precision), end


def _next(c: Context, clock: Clock, day: datetime | None) -> datetime:
    """Return a clock time on a day, or the next one ahead: "until 6", said at ten, is 18:00."""
    first = day or midnight(c.now.date())
    times = [settle(clock).start, *([in_half(clock, "pm").start] if clock.loose else [])]
    for time in times:
        if first + timedelta(seconds=time) > c.now:
            return first + timedelta(seconds=time)
    return first + timedelta(seconds=times[0]) + (timedelta() if day else _DAY)


def _starting(c: Context, k: int, into: Pieces) -> int | None:
    j = k + 1
    while c.word(j) in {"from", "on", "the", "at"} and j < k + 3:
        j += 1
    hourly = _starting_hour(c, j, into) if into.pattern else None
    if hourly is not None:
        return hourly
    found = read_date(c, j)
    if found is None or (c.word(k) == "from" and not (into.pattern or _repeats(c, found[1]))):
        return None
    into.starting = found[0]
    return onward(c, found[1])


def onward(c: Context, j: int) -> int:
    """Return the token after "from June 1 on", "from Monday onwards"."""
    word = c.word(j)
    ends = word == "on" and (c.word(j + 1) in _MARKS or read_repeat(c, j + 1) is not None)
    return j + 1 if ends or word in {"onward", "onwards"} else j


def _starting_hour(c: Context, j: int, into: Pieces) -> int | None:
    """Read "starting at 8 tomorrow", "starting at noon"."""
    if into.clocks or c.word(j - 1) != "at":
        return None
    clock = read_clock_range(c, j, bare=True)
    if clock is None or clock[0].ranged:
        return None
    end = clock[1] + (c.word(clock[1]) == "on")
    found = read_date(c, end)
    if found is not None and not found[0].is_day:
        return None
    into.starting, end = found or (day_at(_next_day(c, clock[0])), clock[1])
    into.clocks.append(clock[0])
    return end


def _next_day(c: Context, clock: Clock) -> date:
    today = midnight(c.now.date())
    over = today + timedelta(seconds=settle(clock).start) <= c.now
    return (today + _DAY * over).date()


def _repeats(c: Context, j: int) -> bool:
    """Whether a repeat follows: "from 1 June (on,) every Monday"."""
    j = onward(c, j)
    return read_repeat(c, j + (c.word(j) == ",")) is not None


def _lasting(c: Context, k: int, into: Pieces) -> int | None:
    j = k
    while c.word(j) in {"for", "the", "next", "only"} and j < k + 3:
        j += 1
    counted = c.number(j, 3) or w.NUMBERS.get(c.word(j))
    if counted and c.word(j + 1) == "times":
        into.count = counted
        return j + 2
    if c.word(k) != "for":
        return None
    spelled = quantity(c, j)
    if spelled is None or spelled[0].unit[1:].isdigit():
        return None
    into.lasting = (spelled[0].most, spelled[0].unit)
    return spelled[1]
