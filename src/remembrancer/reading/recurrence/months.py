"""Monthly and yearly rules in which a day that a month lacks is its last one."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from datetime import datetime

from .days import counted, number, numbers, times_of_day, within

_ALWAYS = 28  # days that every month has
_OTHERWISE = ("BYDAY", "BYSETPOS", "BYYEARDAY", "BYWEEKNO")  # days that are chosen otherwise


def is_clamped(parts: dict[str, str], start: datetime) -> bool:
    """Tell whether a rule names a day that some month lacks.

    Raises:
        InvalidInput: its days cannot be read.
    """
    if parts["FREQ"] not in ("MONTHLY", "YEARLY") or any(name in parts for name in _OTHERWISE):
        return False
    return max(_days(parts, start)) > _ALWAYS


def clamped(
    parts: dict[str, str], start: datetime, after: datetime, end: datetime
) -> Iterator[datetime]:
    """Yield the naive local times of such a rule up to `end`; some may lie before `after`.

    Without a COUNT the look-out begins near `after`.
    """
    count = counted(parts)
    step = number(parts, "INTERVAL") * (12 if parts["FREQ"] == "YEARLY" else 1)
    skipped = 0 if count else max(0, (_month(after) - _month(start)) // step - 1)
    return within(_clamped(parts, start, step, skipped, end), start, end, count)


def _clamped(
    parts: dict[str, str], start: datetime, step: int, index: int, end: datetime
) -> Iterator[datetime]:
    clocks, days = times_of_day(parts, start), _days(parts, start)
    while True:
        for year, month in _period(parts, start, step * index):
            if (year, month) > (end.year, end.month):
                return
            for day in _in_month(days, year, month):
                for hour, minute in clocks:
                    yield start.replace(year=year, month=month, day=day, hour=hour, minute=minute)
        index += 1


def _period(parts: dict[str, str], start: datetime, ahead: int) -> Iterator[tuple[int, int]]:
    """Yield the months of one month or year of a rule, so many months after the start's."""
    named = numbers(parts, "BYMONTH", 1, 12)
    year, month = divmod(_month(start) + ahead, 12)
    if parts["FREQ"] == "MONTHLY":
        # One that is not named is told, too, with no days: `clamped` sees where the end is.
        yield (year, month + 1) if named is None or month + 1 in named else (year, 0)
        return
    whole = range(1, 13) if "BYMONTHDAY" in parts else (start.month,)
    yield from ((year, each) for each in sorted(named or whole))


def _in_month(days: set[int], year: int, month: int) -> list[int]:
    if month == 0:
        return []
    length = calendar.monthrange(year, month)[1]
    found = {min(day, length) if day > 0 else length + 1 + day for day in days}
    return sorted(day for day in found if day > 0)


def _days(parts: dict[str, str], start: datetime) -> set[int]:
    return numbers(parts, "BYMONTHDAY", -31, 31) or {start.day}


def _month(local: datetime) -> int:
    return local.year * 12 + local.month - 1
