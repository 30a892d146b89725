"""Holidays by name: a data table and the rules that place one in a year (those kept in the US)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

Rule = Callable[[int], date]


def _fixed(month: int, day: int) -> Rule:
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


def _nth(month: int, weekday: int, nth: int, plus: int = 0) -> Rule:
    return lambda year: nth_weekday(year, month, weekday, nth) + timedelta(days=plus)


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


def _easter(plus: int) -> Rule:
    return lambda year: easter(year) + timedelta(days=plus)


# Names as tokens in lower case, apostrophes left out; the longest that fits is taken.
HOLIDAYS: Final[dict[tuple[str, ...], Rule]] = {
    ("christmas",): _fixed(12, 25),
    ("xmas",): _fixed(12, 25),
    ("christmas", "day"): _fixed(12, 25),
    ("christmas", "eve"): _fixed(12, 24),
    ("boxing", "day"): _fixed(12, 26),
    ("new", "year", "s"): _fixed(1, 1),
    ("new", "years"): _fixed(1, 1),
    ("new", "year", "s", "day"): _fixed(1, 1),
    ("new", "years", "day"): _fixed(1, 1),
    ("new", "year", "s", "eve"): _fixed(12, 31),
    ("new", "years", "eve"): _fixed(12, 31),
    ("new", "year", "eve"): _fixed(12, 31),
    ("new", "year"): _fixed(1, 1),
    ("nye",): _fixed(12, 31),
    ("valentine", "s", "day"): _fixed(2, 14),
    ("valentines", "day"): _fixed(2, 14),
    ("valentine", "s"): _fixed(2, 14),
    ("st", "patrick", "s", "day"): _fixed(3, 17),
    ("st", "patricks", "day"): _fixed(3, 17),
    ("april", "fools", "day"): _fixed(4, 1),
    ("april", "fool", "s", "day"): _fixed(4, 1),
    ("april", "fools"): _fixed(4, 1),
    ("earth", "day"): _fixed(4, 22),
    ("cinco", "de", "mayo"): _fixed(5, 5),
    ("juneteenth",): _fixed(6, 19),
    ("independence", "day"): _fixed(7, 4),
    ("halloween",): _fixed(10, 31),
    ("veterans", "day"): _fixed(11, 11),
    ("good", "friday"): _easter(-2),
    ("easter",): _easter(0),
    ("easter", "sunday"): _easter(0),
    ("easter", "monday"): _easter(1),
    ("ash", "wednesday"): _easter(-46),
    ("mother", "s", "day"): _nth(5, 6, 2),
    ("mothers", "day"): _nth(5, 6, 2),
    ("father", "s", "day"): _nth(6, 6, 3),
    ("fathers", "day"): _nth(6, 6, 3),
    ("memorial", "day"): _nth(5, 0, -1),
    ("labor", "day"): _nth(9, 0, 1),
    ("labour", "day"): _nth(9, 0, 1),
    ("columbus", "day"): _nth(10, 0, 2),
    ("thanksgiving",): _nth(11, 3, 4),
    ("thanksgiving", "day"): _nth(11, 3, 4),
    ("black", "friday"): _nth(11, 3, 4, 1),
    ("cyber", "monday"): _nth(11, 3, 4, 4),
}
HOLIDAY_STARTS: Final = frozenset(name[0] for name in HOLIDAYS)
LONGEST_HOLIDAY: Final = max(len(name) for name in HOLIDAYS)
