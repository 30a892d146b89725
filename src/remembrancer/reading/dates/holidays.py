"""Holidays by name: a data table and the rules that place one in a year, by country."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import lru_cache
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


def _monday_by(month: int, day: int) -> Rule:
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
    ("international", "workers", "day"): _fixed(5, 1),
    ("may", "day"): _fixed(5, 1),
    ("women", "s", "day"): _fixed(3, 8),
    ("international", "women", "s", "day"): _fixed(3, 8),
    ("all", "saints", "day"): _fixed(11, 1),
    ("palm", "sunday"): _easter(-7),
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


def _named(rules: dict[str, Rule]) -> dict[tuple[str, ...], Rule]:
    """Key rules by the words of their names, once with "'s" and once without the apostrophe."""
    found = {}
    for name, rule in rules.items():
        found[tuple(name.replace("'", " ").split())] = rule
        found[tuple(name.replace("'", "").split())] = rule
    return found


# What is kept in one country alone, or on another day there than in `HOLIDAYS` (the US's, and what
# many keep). Countries by ISO 3166-1 code.
_US = _named(
    {
        "martin luther king day": _nth(1, 0, 3),
        "mlk day": _nth(1, 0, 3),
        "presidents' day": _nth(2, 0, 3),
        "groundhog day": _fixed(2, 2),
    }
)
_GB = _named(
    {
        "mother's day": _easter(-21),
        "mothering sunday": _easter(-21),
        "shrove tuesday": _easter(-47),
        "pancake day": _easter(-47),
        "bonfire night": _fixed(11, 5),
        "guy fawkes night": _fixed(11, 5),
        "guy fawkes day": _fixed(11, 5),
        "burns night": _fixed(1, 25),
        "st andrew's day": _fixed(11, 30),
        "st george's day": _fixed(4, 23),
        "remembrance sunday": _nth(11, 6, 2),
        "remembrance day": _fixed(11, 11),
        "labour day": _fixed(5, 1),
        "labor day": _fixed(5, 1),
    }
)
_CA = _named(
    {
        "thanksgiving": _nth(10, 0, 2),
        "thanksgiving day": _nth(10, 0, 2),
        "canada day": _fixed(7, 1),
        "family day": _nth(2, 0, 3),
        "victoria day": _monday_by(5, 24),
        "remembrance day": _fixed(11, 11),
    }
)
_AU = _named(
    {
        "australia day": _fixed(1, 26),
        "anzac day": _fixed(4, 25),
        "father's day": _nth(9, 6, 1),
        "remembrance day": _fixed(11, 11),
    }
)
_IE = _named({"mother's day": _easter(-21), "st brigid's day": _fixed(2, 1)})
_DE = _named(
    {
        "father's day": _easter(39),
        "labour day": _fixed(5, 1),
        "labor day": _fixed(5, 1),
        "german unity day": _fixed(10, 3),
        "ascension day": _easter(39),
        "whit sunday": _easter(49),
        "whit monday": _easter(50),
        "corpus christi": _easter(60),
        "epiphany": _fixed(1, 6),
        "st nicholas day": _fixed(12, 6),
    }
)


def _french_mothers_day(year: int) -> date:
    """Return the last Sunday of May, or the Sunday after where that is Whit Sunday."""
    last = nth_weekday(year, 5, 6, -1)
    return last + timedelta(days=7) if last == easter(year) + timedelta(days=49) else last


_FR = _named(
    {
        "mother's day": _french_mothers_day,
        "labour day": _fixed(5, 1),
        "labor day": _fixed(5, 1),
        "bastille day": _fixed(7, 14),
        "ascension day": _easter(39),
        "whit monday": _easter(50),
        "assumption day": _fixed(8, 15),
        "armistice day": _fixed(11, 11),
    }
)
_IN = _named(
    {
        "independence day": _fixed(8, 15),
        "republic day": _fixed(1, 26),
        "gandhi jayanti": _fixed(10, 2),
        "labour day": _fixed(5, 1),
    }
)


_OF: Final = {
    "US": _US,
    "GB": _GB,
    "CA": _CA,
    "AU": _AU,
    "NZ": _AU,
    "IE": _IE,
    "DE": _DE,
    "AT": _DE,
    "CH": _DE,
    "FR": _FR,
    "IN": _IN,
}
DEFAULT_COUNTRY: Final = "US"
COUNTRIES: Final = frozenset(_OF)


@lru_cache(maxsize=64)
def holidays_of(country: str) -> Mapping[tuple[str, ...], Rule]:
    """Return the holidays of a country by the words of their names; an unknown one has the US's."""
    return {**HOLIDAYS, **_OF.get(country.upper(), _US)}


_EVERY: Final = {name for rules in (HOLIDAYS, *_OF.values()) for name in rules}
HOLIDAY_STARTS: Final = frozenset(name[0] for name in _EVERY)
LONGEST_HOLIDAY: Final = max(len(name) for name in _EVERY)
