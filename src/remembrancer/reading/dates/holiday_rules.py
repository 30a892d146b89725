"""Rules that place a holiday in a year."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

Rule = Callable[[int], date]


def fixed(month: int, day: int) -> Rule:
    """Place a holiday on one day of each year."""
    return lambda year: date(year, month, day)


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    """Return the nth (1 to 5; -1 the last) `weekday` (0 Monday) of a month.

    Raises:
        ValueError: the month has no such day.
    """
    if nth < 0:
        last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
        return last - timedelta(days=(last.weekday() - weekday) % 7)
    first = date(year, month, 1)
    found = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))
    if found.month != month:
        raise ValueError("the month has no such weekday")
    return found


def nth(month: int, weekday: int, nth: int, plus: int = 0) -> Rule:
    """Place a holiday on the nth weekday of a month, or some days after it."""
    return lambda year: nth_weekday(year, month, weekday, nth) + timedelta(days=plus)


def monday_by(month: int, day: int) -> Rule:
    """Place a holiday on the last Monday that is not after a day."""
    return lambda year: date(year, month, day) - timedelta(days=date(year, month, day).weekday())


def easter(year: int) -> date:
    """Return Western Easter Sunday (the anonymous Gregorian computus, Meeus 1991, ch. 8)."""
    golden = year % 19
    century, rest = divmod(year, 100)
    skipped, century_rest = divmod(century, 4)
    moon = (century - (century + 8) // 25 + 1) // 3
    epact = (19 * golden + century - skipped - moon + 15) % 30
    leap, plain = divmod(rest, 4)
    to_sunday = (32 + 2 * century_rest + 2 * leap - epact - plain) % 7
    late = (golden + 11 * epact + 22 * to_sunday) // 451
    month, day = divmod(epact + to_sunday - 7 * late + 114, 31)
    return date(year, month, day + 1)


def after_easter(plus: int) -> Rule:
    """Place a holiday some days after Easter Sunday."""
    return lambda year: easter(year) + timedelta(days=plus)


def election_day(year: int) -> date:
    """Return the Tuesday after the first Monday of November."""
    return nth_weekday(year, 11, 0, 1) + timedelta(days=1)


def french_mothers_day(year: int) -> date:
    """Return the last Sunday of May, or the Sunday after where that is Whit Sunday."""
    last = nth_weekday(year, 5, 6, -1)
    return last + timedelta(days=7) if last == easter(year) + timedelta(days=49) else last
