"""Resolves the parts of an expression to an instant or a rule, always one that lies ahead."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from ...nouns.clock import to_us
from ...nouns.errors import InvalidInput
from ...nouns.memory import Precision
from ...nouns.recurrence import Gap, Recurrence, ShortMonth
from ..dates import words as w
from ..dates.clock import Clock, in_half, in_part, settle
from ..dates.context import Context
from ..dates.counts import WORKDAY
from ..dates.intervals import Interval, midnight, shift
from ..recurrence import check, first_after
from ..recurrence.zones import instants, local_of
from .days import ahead
from .repeats import WORKDAYS
from .types import Pattern, Pieces

# The hour that a part of the day stands for when none is said.
PART_HOURS: Final = {"morning": 9, "lunchtime": 12, "afternoon": 15, "evening": 18, "night": 20}
_CODES: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_DAY: Final = timedelta(days=1)
_STEP_S: Final = {"minute": 60, "hour": 3600}
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
        us = to_us(pieces.exact) if aware else _instant(c, pieces.exact)
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
            us = _instant(c, day + _DAY)  # "today at midnight"
        if us <= now and days.part and not pieces.clocks:
            soon = _soon(c)  # "this morning", said at ten
            if day <= c.now and soon < day + timedelta(hours=w.DAY_PARTS[days.part][1]):
                us, sure = _instant(c, soon), False
        return us, precision, sure and (days.is_day or days.precision is Precision.DAY)
    day = days.start
    if pieces.before and day - _DAY >= midnight(c.now.date()):
        day -= _DAY
    wanted = day.replace(hour=hour, minute=0, second=0, microsecond=0)
    while _instant(c, wanted) <= now and wanted + _DAY < days.end:
        wanted, sure = wanted + _DAY, False
    us = _instant(c, wanted)
    if us <= now and wanted.date() == c.now.date():
        us, sure = _rest_of(c, midnight(wanted.date()) + _DAY, us), False
    return us, days.precision, sure and days.precision is Precision.DAY


def _at(c: Context, day: datetime, pieces: Pieces, part: str) -> tuple[int, Precision]:
    """Return the instant of the hour that was said, or that the part of the day stands for."""
    part = part or pieces.part
    if not pieces.clocks:
        return _instant(c, day + timedelta(hours=PART_HOURS[part])), Precision.HOUR
    clock = _settled(pieces.clocks[0], part)
    local = day + timedelta(seconds=clock.start)
    if part == "night" and clock.start < 5 * 3600:
        local += _DAY  # "tonight at 1"
    if clock.zone is not None:
        return to_us(local) - clock.zone * 60_000_000, clock.precision
    midnight_said = clock.start == 0 and not clock.loose and clock.precision is Precision.HOUR
    if midnight_said and part != "night" and pieces.date is None and pieces.day is None:
        local += _DAY if _instant(c, local) <= to_us(c.reference) else timedelta()
    return _instant(c, local), clock.precision


def _later_half(c: Context, day: datetime, pieces: Pieces, part: str) -> int | None:
    """Read "today at 6", said at noon, as 18:00."""
    if not pieces.clocks or not pieces.clocks[0].loose or part or pieces.part:
        return None
    late = in_half(pieces.clocks[0], "pm")
    us = _instant(c, day + timedelta(seconds=late.start))
    return us if us > to_us(c.reference) else None


def _rest_of(c: Context, end: datetime, otherwise: int) -> int:
    """Return a later hour of a day whose usual one is over: early evening, late, or soon."""
    day = end - _DAY
    for hour in _LATE_TODAY:
        us = _instant(c, day + timedelta(hours=hour))
        if us > to_us(c.reference):
            return us
    soon = _soon(c)
    return _instant(c, soon) if soon < end and c.now >= day else otherwise


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


def _settled(clock: Clock, part: str) -> Clock:
    return settle(in_part(clock, part) if part else clock)


def _zone(c: Context) -> ZoneInfo:
    zone = c.reference.tzinfo
    assert isinstance(zone, ZoneInfo)
    return zone


def _instant(c: Context, local: datetime) -> int:
    return instants(local, _zone(c), Gap.FORWARD)[0]


def resolve_repeat(
    c: Context, pieces: Pieces, hour: int = DEFAULT_HOUR
) -> tuple[int, Recurrence, Precision] | None:
    """Return the first occurrence and the rule of a repeat; None when it never comes again."""
    pattern = _anchored(c, pieces)
    if pattern is None:
        return None
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


def _anchored(c: Context, pieces: Pieces) -> Pattern | None:
    """Let a date beside a repeat say which day of the week, month or year it is."""
    pattern, date = pieces.pattern, pieces.date
    if pattern is None or pieces.instant is not None or pieces.exact:
        return None
    daily = pattern.unit == "day" and pattern.interval == 1
    if daily and pieces.lasting and pieces.lasting[1] == WORKDAY:
        pattern = replace(pattern, unit="week", days=WORKDAYS)
    if date is None or date.start.tzinfo is not None:
        return pattern
    if date.part and not pattern.part:
        pattern = replace(pattern, part=date.part)
    plain = not (pattern.days or pattern.month_days) and date.end - date.start <= _DAY
    low, high = pieces.date_tokens
    relative = any(c.word(n) in w.DAY_WORDS for n in range(low, high))
    if plain and not relative:
        if pattern.unit == "week":
            return replace(pattern, days=(date.start.weekday(),))
        if pattern.unit == "month":
            return replace(pattern, month_days=(date.start.day,))
        if pattern.unit == "year":
            return replace(pattern, month=date.start.month, month_days=(date.start.day,))
    return pattern


def _short(c: Context, pieces: Pieces, pattern: Pattern) -> Recurrence | None:
    """Return a rule in real time: "every 2 hours"; within hours of the day it is a daily one."""
    step = pattern.interval * _STEP_S[pattern.unit]
    clock = settle(pieces.clocks[0]) if pieces.clocks else None
    if pattern.days or pieces.part:
        return None
    begin = c.now.replace(microsecond=0)
    if pieces.starting is not None and pieces.starting.start.tzinfo is None:
        begin = pieces.starting.start + timedelta(hours=DEFAULT_HOUR)
    if clock is not None and clock.end - clock.start > 3600:
        hours = range(clock.start // 3600, min(clock.end, 86_400) // 3600 + 1, max(step // 3600, 1))
        if step % 3600:
            return None
        listed = ",".join(str(h) for h in hours if h < 24)
        start = midnight(begin.date()) + timedelta(seconds=clock.start)
        return _limited(c, pieces, _rule(c, start, f"FREQ=DAILY;BYHOUR={listed};BYMINUTE=0"))
    if clock is not None:
        begin = midnight(begin.date()) + timedelta(seconds=clock.start)
    rule = Recurrence(zone=_zone(c).key, start=begin, every_s=step)
    return _limited(c, pieces, rule)


def _long(c: Context, pieces: Pieces, pattern: Pattern, hour: int) -> Recurrence | None:
    """Return a daily or longer rule in local time, begun at its first occurrence ahead."""
    times = _times(pieces, pattern, hour)
    if pattern.unit in _STEP_S or not times:
        return None
    begin = midnight(c.now.date())
    starting = pieces.starting
    if starting is None and pattern.unit in {"day", "month", "week"} and pieces.date is not None:
        ahead = pattern.unit == "day" or pieces.date.end - pieces.date.start > _DAY
        starting = pieces.date if ahead else None
    if starting is not None and starting.start.tzinfo is None:
        begin = max(begin, midnight(starting.start.date()))
        if not pattern.days and pattern.unit == "week":
            pattern = replace(pattern, days=(begin.weekday(),))
    pattern = _with_day(pattern, begin)
    first_time = min(times)
    start = begin + timedelta(seconds=first_time)
    once = _rule(c, start, _spell(replace(pattern, interval=1), times))
    first = first_after(once, max(to_us(c.reference), _instant(c, start) - 1))
    if first is None:
        return None
    local = local_of(first, _zone(c))
    if len(times) > 1:
        local = midnight(local.date()) + timedelta(seconds=first_time)
    elif local - midnight(local.date()) != timedelta(seconds=first_time):
        local = midnight(local.date()) + timedelta(seconds=first_time)  # moved by a clock change
    return _limited(c, pieces, _rule(c, local, _spell(pattern, times)))


def _with_day(pattern: Pattern, begin: datetime) -> Pattern:
    """Take the day of the week, month or year from the day it begins when none was said."""
    if pattern.unit == "week" and not pattern.days:
        return replace(pattern, days=(begin.weekday(),))
    if pattern.unit in {"month", "year"} and not pattern.month_days and not pattern.days:
        month = begin.month if pattern.unit == "year" else None
        return replace(pattern, month_days=(begin.day,), month=month)
    return pattern


def _times(pieces: Pieces, pattern: Pattern, hour: int) -> list[int]:
    """Return the seconds from midnight at which it comes, rising."""
    part = pattern.part or pieces.part
    if not pieces.clocks:
        return [PART_HOURS[part] * 3600 if part else hour * 3600]
    return sorted({_settled(clock, part).start for clock in pieces.clocks})


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
    if pattern.days:
        nth = "" if pattern.nth is None else str(pattern.nth)
        parts.append("BYDAY=" + ",".join(nth + _CODES[day] for day in pattern.days))
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


def _rule(c: Context, start: datetime, rrule: str) -> Recurrence:
    # said by people, "the 31st of each month" means its end where there is none
    return Recurrence(zone=_zone(c).key, start=start, rrule=rrule, short_month=ShortMonth.LAST_DAY)


def _limited(c: Context, pieces: Pieces, rule: Recurrence) -> Recurrence:
    """Add the end of a repeat: a last day, inclusive, a length, or a count."""
    until: int | None = None
    if pieces.until is not None:
        end = pieces.until.end
        until = (to_us(end) if end.tzinfo else _instant(c, end)) - 1
    elif pieces.lasting is not None:
        until = _instant(c, _lasting_to(rule.start, *pieces.lasting)) - 1
    return replace(rule, until=until, count=pieces.count)


def _lasting_to(start: datetime, count: int, unit: str) -> datetime:
    """Return when a length of time that begins with `start` is over."""
    if unit == WORKDAY:  # the day it begins on is the first where it is a working day
        return ahead(start - _DAY, count, unit) + _DAY
    return ahead(start, count, unit)
