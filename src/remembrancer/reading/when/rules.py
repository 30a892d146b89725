"""Resolves the parts of a repeat to a rule and its first occurrence, which lies ahead."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from ...nouns.clock import to_us
from ...nouns.errors import InvalidInput
from ...nouns.memory import Precision
from ...nouns.recurrence import Recurrence, ShortMonth
from ..dates.clock import DAY_S, settle
from ..dates.context import Context
from ..dates.counts import WORKDAY
from ..dates.intervals import midnight
from ..recurrence import check, first_after
from ..recurrence.zones import local_of
from .bounds import placed
from .days import ahead
from .resolve import DEFAULT_HOUR, PART_HOURS, instant_of, settled, zone_in
from .types import Pattern, Pieces

_CODES: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_DAY: Final = timedelta(days=1)
_CLOCKED: Final = frozenset({Precision.HOUR, Precision.MINUTE, Precision.SECOND})
_STEP_S: Final = {"minute": 60, "hour": 3600}


def resolve_repeat(
    c: Context, pieces: Pieces, hour: int = DEFAULT_HOUR
) -> tuple[int, Recurrence, Precision] | None:
    """Return the first occurrence and the rule of a repeat; None when it never comes again."""
    found = placed(c, pieces)
    if found is None:
        return None
    pattern, pieces = found
    try:
        rule = _short(c, pieces, pattern) if pattern.unit in _STEP_S else None
        rule = rule or _long(c, pieces, pattern, hour)
        if rule is None:
            return None
        check(rule)
        first = first_after(rule, to_us(c.reference))
    except (InvalidInput, OverflowError, ValueError):
        return None
    if first is None:
        return None
    timed = pieces.clocks[0].precision if pieces.clocks else None
    named = Precision.HOUR if pattern.part or pieces.part else Precision.DAY
    if rule.every_s is not None:
        named = Precision.MINUTE
    return first, rule, timed or named


def _short(c: Context, pieces: Pieces, pattern: Pattern) -> Recurrence | None:
    """Return a rule in real time: "every 2 hours"; within hours of the day it is a daily one."""
    step = pattern.interval * _STEP_S[pattern.unit]
    clock = settle(pieces.clocks[0]) if pieces.clocks else None
    if pattern.days or pieces.part:
        return None
    begin = _begin(c, pieces)
    if clock is not None and clock.end - clock.start > 3600:
        hours = range(clock.start // 3600, min(clock.end, 86_400) // 3600 + 1, max(step // 3600, 1))
        if step % 3600:
            return None
        listed = ",".join(str(h) for h in hours if h < 24)
        start = midnight(begin.date()) + timedelta(seconds=clock.start)
        return _limited(c, pieces, _rule(c, start, f"FREQ=DAILY;BYHOUR={listed};BYMINUTE=0"))
    if clock is not None:
        begin = midnight(begin.date()) + timedelta(seconds=clock.start)
    rule = Recurrence(zone=zone_in(c).key, start=begin, every_s=step)
    return _limited(c, pieces, rule)


def _begin(c: Context, pieces: Pieces) -> datetime:
    """Return where steps in real time begin: now, or with a day's first usual hour."""
    now, starting = c.now.replace(microsecond=0), pieces.starting
    if starting is None or starting.start.tzinfo is not None:
        return now
    if starting.part or starting.precision in _CLOCKED:
        return max(now, starting.start)
    return max(now, starting.start + timedelta(hours=DEFAULT_HOUR))


def _long(c: Context, pieces: Pieces, pattern: Pattern, hour: int) -> Recurrence | None:
    """Return a daily or longer rule in local time, begun at its first occurrence ahead."""
    times = _times(pieces, pattern, hour)
    if pattern.unit in _STEP_S or not times:
        return None
    late = _DAY * (min(times) >= DAY_S)
    begin = midnight(c.now.date())
    starting = pieces.starting
    if starting is not None and starting.start.tzinfo is None:
        begin = max(begin, midnight(starting.start.date()))
        begin += late
        if not pattern.days and pattern.unit == "week":
            pattern = replace(pattern, days=(midnight(starting.start.date()).weekday(),))
    pattern, times = _after_midnight(_with_day(pattern, begin), times)
    first_time = min(times)
    start = begin + timedelta(seconds=first_time)
    once = _rule(c, start, _spell(replace(pattern, interval=1), times))
    first = first_after(once, max(to_us(c.reference), instant_of(c, start) - 1))
    if first is None:
        return None
    local = local_of(first, zone_in(c))
    if len(times) > 1:
        local = midnight(local.date()) + timedelta(seconds=first_time)
    elif local - midnight(local.date()) != timedelta(seconds=first_time):
        local = midnight(local.date()) + timedelta(seconds=first_time)  # moved by a clock change
    return _limited(c, pieces, _rule(c, local, _spell(pattern, times)), late)


def _with_day(pattern: Pattern, begin: datetime) -> Pattern:
    """Take the day of the week, month or year from the day it begins when none was said."""
    if pattern.unit == "week" and not pattern.days:
        return replace(pattern, days=(begin.weekday(),))
    if pattern.unit in {"month", "year"} and not pattern.month_days and not pattern.days:
        month = begin.month if pattern.unit == "year" else None
        return replace(pattern, month_days=(begin.day,), month=month)
    return pattern


def _after_midnight(pattern: Pattern, times: list[int]) -> tuple[Pattern, list[int]]:
    """Let "every Friday night at 12" be on Saturdays: nights go on beyond the end of their day."""
    late = [time >= DAY_S for time in times]
    if not any(late):
        return pattern, times
    if pattern.unit == "week" and all(late) and pattern.nth is None:
        pattern = replace(pattern, days=tuple(sorted((day + 1) % 7 for day in pattern.days)))
    elif pattern.unit != "day" or (pattern.interval > 1 and not all(late)):
        raise ValueError("no rule spells these nights")
    return pattern, sorted({time % DAY_S for time in times})


def _times(pieces: Pieces, pattern: Pattern, hour: int) -> list[int]:
    """Return the seconds from midnight at which it comes, rising; a night ends beyond 24 hours."""
    part = pattern.part or pieces.part
    if not pieces.clocks:
        return [PART_HOURS[part] * 3600 if part else hour * 3600]
    starts = {settled(clock, part).start for clock in pieces.clocks}
    late = 5 * 3600 if part == "night" else 0  # "every night at 1" is the next day's
    return sorted({start + DAY_S if start < late else start for start in starts})


def _spell(pattern: Pattern, times: list[int]) -> str:
    """Spell a pattern as an RFC 5545 rule; one time of the day is left to its start."""
    several = len(times) > 1
    unit = pattern.unit
    parts: list[str] = []
    if several and unit == "week" and pattern.interval == 1:
        unit = "day"
    freq = {"day": "DAILY", "week": "WEEKLY", "month": "MONTHLY", "year": "YEARLY"}[unit]
    parts.append(f"FREQ={freq}")
    if pattern.interval > 1:
        parts.append(f"INTERVAL={pattern.interval}")
    parts += _spell_days(pattern, alone=not several)
    if pattern.month is not None:
        parts.append(f"BYMONTH={pattern.month}")
    if pattern.month_days:
        parts.append("BYMONTHDAY=" + ",".join(map(str, pattern.month_days)))
    if several:
        hours, minutes = {t // 3600 for t in times}, {t % 3600 // 60 for t in times}
        parts.append("BYHOUR=" + ",".join(map(str, sorted(hours))))
        parts.append("BYMINUTE=" + ",".join(map(str, sorted(minutes))))
        grid = [h * 3600 + m * 60 for h in sorted(hours) for m in sorted(minutes)]
        if len(grid) > len(times):
            if unit != "day":
                raise ValueError("no rule spells these times")
            places = [grid.index(t) + 1 for t in times]
            parts.append("BYSETPOS=" + ",".join(map(str, places)))
    return ";".join(parts)


def _spell_days(pattern: Pattern, *, alone: bool) -> list[str]:
    """Spell the days of the week; "the last working day" is the last of all five together."""
    if not pattern.days:
        return []
    if pattern.nth is None or len(pattern.days) == 1:
        nth = "" if pattern.nth is None else str(pattern.nth)
        return ["BYDAY=" + ",".join(nth + _CODES[day] for day in pattern.days)]
    if not alone:
        raise ValueError("no rule spells several times of such a day")
    return ["BYDAY=" + ",".join(_CODES[day] for day in pattern.days), f"BYSETPOS={pattern.nth}"]


def _rule(c: Context, start: datetime, rrule: str) -> Recurrence:
    # said by people, "the 31st of each month" means its end where there is none
    return Recurrence(
        zone=zone_in(c).key, start=start, rrule=rrule, short_month=ShortMonth.LAST_DAY
    )


def _limited(
    c: Context, pieces: Pieces, rule: Recurrence, late: timedelta = timedelta()
) -> Recurrence:
    """Add the end of a repeat: a last day, inclusive, a length, or a count.

    `late` is how much later than its day a night ends.
    """
    ends: list[int] = []
    if pieces.until is not None:
        end = pieces.until.end + late
        ends.append((to_us(end) if end.tzinfo else instant_of(c, end)) - 1)
    if pieces.lasting is not None:
        ends.append(instant_of(c, _lasting_to(rule.start, *pieces.lasting)) - 1)
    return replace(rule, until=min(ends, default=None), count=pieces.count)


def _lasting_to(start: datetime, count: int, unit: str) -> datetime:
    """Return when a length of time that begins with `start` is over."""
    if unit == WORKDAY:  # the day it begins on is the first where it is a working day
        return ahead(start - _DAY, count, unit) + _DAY
    return ahead(start, count, unit)
