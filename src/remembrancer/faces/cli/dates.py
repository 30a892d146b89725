"""Spells times for people."""

from __future__ import annotations

from datetime import datetime, timedelta

_DAY = timedelta(days=1)


def day(moment: datetime) -> str:
    """Spell a day: `Fri 8 May 2026`."""
    return f"{moment:%a} {moment.day} {moment:%b %Y}"


def day_and_time(moment: datetime) -> str:
    """Spell a time to the minute."""
    return f"{day(moment)} {moment:%H:%M}"


def period(span: tuple[datetime, datetime] | None) -> str:
    """Spell a half-open interval as shortly as it can be; None as nothing."""
    if span is None:
        return ""
    start, end = span
    if not (_midnight(start) and _midnight(end)):
        return day_and_time(start) if end - start < _DAY else f"{day(start)} to {day(end)}"
    last = end - _DAY
    if last <= start:
        return day(start)
    if (start.day, start.month, end.day, end.month) == (1, 1, 1, 1):
        return f"{start.year}" if last.year == start.year else f"{start.year} to {last.year}"
    if start.day == 1 and end.day == 1:
        alone = (last.year, last.month) == (start.year, start.month)
        return f"{start:%b %Y}" if alone else f"{start:%b %Y} to {last:%b %Y}"
    if (start.year, start.month) == (last.year, last.month):
        return f"{start.day} to {last.day} {last:%b %Y}"
    return f"{start.day} {start:%b} to {last.day} {last:%b %Y}"


def _midnight(moment: datetime) -> bool:
    return (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0)
