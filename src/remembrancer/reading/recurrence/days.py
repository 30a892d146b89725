"""The limits of a rule on days and hours, and daily rules, stepped day by day.

dateutil steps a daily rule that can never occur through to the year 9999; here the caller decides
how far to look.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from ...nouns.errors import InvalidInput

_DAYS = {"MO": 0, "TU": 1, "WE": 2, "TH": 3, "FR": 4, "SA": 5, "SU": 6}
_MOST_VALUES = 400


class Limits:
    """Which local days and hours a rule allows.

    Raises:
        InvalidInput: a limit cannot be read.
    """

    def __init__(self, parts: dict[str, str]) -> None:
        self._hours = numbers(parts, "BYHOUR", 0, 23)
        self._months = numbers(parts, "BYMONTH", 1, 12)
        self._month_days = numbers(parts, "BYMONTHDAY", -31, 31)
        self._year_days = numbers(parts, "BYYEARDAY", -366, 366)
        self._weeks = numbers(parts, "BYWEEKNO", -53, 53)
        self._weekdays = _weekdays(parts)

    def take(self, local: datetime) -> bool:
        """Tell whether a local time is allowed."""
        if self._hours is not None and local.hour not in self._hours:
            return False
        return self.take_day(local)

    def take_day(self, day: datetime) -> bool:
        """Tell whether a local day is allowed."""
        if self._months is not None and day.month not in self._months:
            return False
        if self._weekdays is not None and day.weekday() not in self._weekdays:
            return False
        if self._month_days is not None:
            length = calendar.monthrange(day.year, day.month)[1]
            if not {day.day, day.day - length - 1} & self._month_days:
                return False
        if self._year_days is not None:
            number, length = day.timetuple().tm_yday, 366 if calendar.isleap(day.year) else 365
            if not {number, number - length - 1} & self._year_days:
                return False
        return self._weeks is None or _week(day) in self._weeks


def daily(
    parts: dict[str, str], start: datetime, after: datetime, end: datetime
) -> Iterator[datetime]:
    """Yield the naive local times of a daily rule up to `end`; some may lie before `after`.

    Without a COUNT the look-out begins near `after`.
    """
    count = counted(parts)
    step = number(parts, "INTERVAL")
    skipped = 0 if count else max(0, (after - start).days // step - 1)
    return within(
        _daily(parts, start, start + timedelta(days=step * skipped), end), start, end, count
    )


def within(
    times: Iterable[datetime], start: datetime, end: datetime, count: int | None
) -> Iterator[datetime]:
    """Yield the rising times of a rule from its start to an end, so many at most (None: all)."""
    if count == 0:
        return
    for local in times:
        if local < start:
            continue
        if local > end:
            return
        yield local
        count = None if count is None else count - 1
        if count == 0:
            return


def counted(parts: dict[str, str]) -> int | None:
    """Return how many times a rule has; None: no end is told so."""
    return number(parts, "COUNT") if "COUNT" in parts else None


def times_of_day(parts: dict[str, str], start: datetime) -> list[tuple[int, int]]:
    """Return the hours and minutes of a rule, rising; its start's where it names none."""
    hours = sorted(numbers(parts, "BYHOUR", 0, 23) or {start.hour})
    minutes = sorted(numbers(parts, "BYMINUTE", 0, 59) or {start.minute})
    return [(hour, minute) for hour in hours for minute in minutes]


def _daily(
    parts: dict[str, str], start: datetime, day: datetime, end: datetime
) -> Iterator[datetime]:
    limits, step = Limits(parts), timedelta(days=number(parts, "INTERVAL"))
    clocks = times_of_day(parts, start)
    chosen = numbers(parts, "BYSETPOS", -1_440, 1_440)
    while day.date() <= end.date():
        if limits.take_day(day):
            for place, (hour, minute) in enumerate(clocks):
                if chosen is None or {place + 1, place - len(clocks)} & chosen:
                    yield day.replace(hour=hour, minute=minute)
        day += step


def number(parts: dict[str, str], name: str) -> int:
    """Return a part that is a number from 1; 1 when it is missing."""
    found = numbers(parts, name, 1, 1_000_000)
    if found is not None and len(found) != 1:
        raise InvalidInput(f"rrule: {name} must be one number", field="rrule")
    return 1 if found is None else found.pop()


def numbers(parts: dict[str, str], name: str, least: int, most: int) -> set[int] | None:
    """Return a part that is a list of numbers; None when it is missing.

    Raises:
        InvalidInput: it is none, or a number is out of range.
    """
    if name not in parts:
        return None
    pieces = parts[name].split(",")
    try:
        found = {int(piece) for piece in pieces[:_MOST_VALUES]}
    except ValueError:
        found = set()
    if (
        not found
        or not all(least <= value <= most for value in found)
        or (least < 0 and 0 in found)
    ):
        raise InvalidInput(
            f"rrule: {name} must be numbers from {least} to {most}", field="rrule", limit=most
        )
    return found


def _weekdays(parts: dict[str, str]) -> set[int] | None:
    if "BYDAY" not in parts:
        return None
    found = {_DAYS.get(piece) for piece in parts["BYDAY"].split(",")}
    if None in found:
        raise InvalidInput(
            "rrule: BYDAY must be of MO, TU, WE, TH, FR, SA and SU (with a number only in monthly "
            "and yearly rules)",
            field="rrule",
        )
    return {day for day in found if day is not None}


def _week(day: datetime) -> int:
    return day.isocalendar().week
