"""Resolves the parts of an expression without a repeat to an instant that lies ahead."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from ...nouns.clock import to_us
from ...nouns.memory import Precision
from ...nouns.recurrence import Gap
from ..dates import words as w
from ..dates.clock import Clock, in_half, in_part, settle
from ..dates.context import Context
from ..dates.intervals import Interval, midnight, shift
from ..recurrence.zones import instants
from .types import Pieces

# The hour that a part of the day stands for when none is said.
PART_HOURS: Final = {"morning": 9, "lunchtime": 12, "afternoon": 15, "evening": 18, "night": 20}
_DAY: Final = timedelta(days=1)
_LATE_TODAY: Final = (18, 21)  # hours that "today" may still mean once the default one is over
_SHORTEST: Final = timedelta(minutes=30)
DEFAULT_HOUR: Final = 9

# An instant, its precision, whether the day was said.
Once = tuple[int, Precision, bool]


def resolve_once(c: Context, pieces: Pieces, hour: int = DEFAULT_HOUR) -> Once | None:
    """Return the instant that an expression without a repeat means; None when it is over."""
    found = _once(c, pieces, hour)
    return found if found and found[0] > to_us(c.reference) else None


def resolve_over(c: Context, pieces: Pieces, hour: int = DEFAULT_HOUR) -> int | None:
    """Return the instant that an expression without a repeat means, if it is over."""
    found = _once(c, pieces, hour)
    return found[0] if found and found[0] <= to_us(c.reference) else None


def _once(c: Context, pieces: Pieces, hour: int) -> Once | None:
    precision = pieces.precision or Precision.DAY
    if pieces.instant is not None:
        return pieces.instant, precision, not pieces.vague
    if pieces.exact is not None:
        aware = pieces.exact.tzinfo is not None
        us = to_us(pieces.exact) if aware else instant_of(c, pieces.exact)
        return us, precision, True
    if pieces.day is not None:
        day = Interval(pieces.day, pieces.day + _DAY, Precision.DAY)
        return _on(c, day, pieces, hour, sure=not pieces.vague)
    if pieces.date is not None:
        if pieces.date.start.tzinfo is not None:
            return to_us(pieces.date.start), pieces.date.precision, True
        return _on(c, _rolled(c, pieces, hour), pieces, hour, sure=True)
    if pieces.starting is not None and pieces.starting.start.tzinfo is None:
        return _on(c, pieces.starting, pieces, hour, sure=True)
    return _next_clock(c, pieces)


def _next_clock(c: Context, pieces: Pieces) -> Once | None:
    """Place an hour or a part of the day without a day: today, or tomorrow when it is over."""
    if not pieces.clocks and not pieces.part:
        return None
    today = midnight(c.now.date())
    for step in (0, 1):
        us, precision = _at(c, today + step * _DAY, pieces, "")
        if us <= to_us(c.reference) and pieces.limit:
            us = _later_half(c, today, pieces, "") or us  # "by six", said at ten
        if us > to_us(c.reference):
            return us, precision, len(pieces.clocks) < 2
    return None


def _on(c: Context, days: Interval, pieces: Pieces, hour: int, *, sure: bool) -> Once | None:
    """Place the hour on the first day of an interval that is still ahead."""
    now = to_us(c.reference)
    sure = sure and len(pieces.clocks) < 2
    if pieces.clocks or pieces.part or days.part:
        day = midnight(days.start.date())
        us, precision = _at(c, day, pieces, days.part)
        if us <= now:
            us = _later_half(c, day, pieces, days.part) or us
        if us <= now and pieces.clocks and pieces.clocks[0].start == 0 and day <= c.now:
            us = instant_of(c, day + _DAY)  # "today at midnight"
        if us <= now and days.part and not pieces.clocks:
            soon = _soon(c)  # "this morning", said at ten
            if day <= c.now and soon < day + timedelta(hours=w.DAY_PARTS[days.part][1]):
                us, sure = instant_of(c, soon), False
        return us, precision, sure and (days.is_day or days.precision is Precision.DAY)
    day = days.start
    if pieces.before and day - _DAY >= midnight(c.now.date()):
        day -= _DAY
    wanted = day.replace(hour=hour, minute=0, second=0, microsecond=0)
    while instant_of(c, wanted) <= now and wanted + _DAY < days.end:
        wanted, sure = wanted + _DAY, False
    us = instant_of(c, wanted)
    if us <= now and wanted.date() == c.now.date():
        us, sure = _rest_of(c, midnight(wanted.date()) + _DAY, us), False
    return us, days.precision, sure and days.precision is Precision.DAY


def _at(c: Context, day: datetime, pieces: Pieces, part: str) -> tuple[int, Precision]:
    """Return the instant of the hour that was said, or that the part of the day stands for."""
    part = part or pieces.part
    if not pieces.clocks:
        return instant_of(c, day + timedelta(hours=PART_HOURS[part])), Precision.HOUR
    clock = settled(pieces.clocks[0], part)
    local = day + timedelta(seconds=clock.start)
    if part == "night" and clock.start < 5 * 3600:
        local += _DAY  # "tonight at 1"
    if clock.zone is not None:
        return to_us(local) - clock.zone * 60_000_000, clock.precision
    midnight_said = clock.start == 0 and not clock.loose and clock.precision is Precision.HOUR
    if midnight_said and part != "night" and pieces.date is None and pieces.day is None:
        local += _DAY if instant_of(c, local) <= to_us(c.reference) else timedelta()
    return instant_of(c, local), clock.precision


def _later_half(c: Context, day: datetime, pieces: Pieces, part: str) -> int | None:
    """Read "today at 6", said at noon, as 18:00."""
    if not pieces.clocks or not pieces.clocks[0].loose or part or pieces.part:
        return None
    late = in_half(pieces.clocks[0], "pm")
    us = instant_of(c, day + timedelta(seconds=late.start))
    return us if us > to_us(c.reference) else None


def _rest_of(c: Context, end: datetime, otherwise: int) -> int:
    """Return a later hour of a day whose usual one is over: early evening, late, or soon."""
    day = end - _DAY
    for hour in _LATE_TODAY:
        us = instant_of(c, day + timedelta(hours=hour))
        if us > to_us(c.reference):
            return us
    soon = _soon(c)
    return instant_of(c, soon) if soon < end and c.now >= day else otherwise


def _soon(c: Context) -> datetime:
    return c.now.replace(second=0, microsecond=0) + _SHORTEST


def _rolled(c: Context, pieces: Pieces, hour: int) -> Interval:
    """Move a day that is over to the next one of its name, unless it was said to be this one."""
    date = pieces.date
    assert date is not None
    low, high = pieces.date_tokens
    tokens = [c.word(n) for n in range(low, high)]
    named = [token for token in tokens if token in w.WEEKDAYS]
    if any(c.digits(n) == 4 for n in range(low, high)):
        return date
    if named and len(tokens) == 1 and date.start.date() - c.now.date() == timedelta(days=7):
        today = replace(date, start=date.start - 7 * _DAY, end=date.end - 7 * _DAY)
        timed = pieces.clocks or pieces.part
        if timed and _at(c, midnight(today.start.date()), pieces, "")[0] > to_us(c.reference):
            return today  # "Friday 18:00", said on a Friday morning
    if date.precision is not Precision.DAY:
        return date
    over = _on(c, date, pieces, hour, sure=True)
    if over is None or over[0] > to_us(c.reference):
        return date
    ends = "end" in tokens or not w.LAST.isdisjoint(tokens)
    if ends or not set(w.DAY_WORDS).isdisjoint(tokens):
        return date
    if named:
        return _moved(date, 1, "week")
    if any(token in w.MONTHS for token in tokens):
        return _moved(date, 1, "year")
    return _moved(date, 1, "month") if any(c.digits(n) for n in range(low, high)) else date


def _moved(date: Interval, count: int, unit: str) -> Interval:
    return replace(date, start=shift(date.start, count, unit), end=shift(date.end, count, unit))


def settled(clock: Clock, part: str) -> Clock:
    """Return a time as it is meant within a part of the day, or at its likelier half."""
    return settle(in_part(clock, part) if part else clock)


def zone_in(c: Context) -> ZoneInfo:
    """Return the zone that a text was said in."""
    zone = c.reference.tzinfo
    assert isinstance(zone, ZoneInfo)
    return zone


def instant_of(c: Context, local: datetime) -> int:
    """Return the instant of a local time; one that is left out moves by the clock change."""
    return instants(local, zone_in(c), Gap.FORWARD)[0]
