"""Holidays that follow another calendar than ours: the Hebrew, the Islamic, the lunar new year.

Each is the day of ours on whose eve it begins, as almanacs give it.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

_HALAKIM_DAY: Final = 25_920  # parts of a day; a month has 29 d 12 h 793 p
_MONTH_PARTS: Final = 29 * _HALAKIM_DAY + 12 * 1_080 + 793
_HEBREW_EPOCH: Final = -1_373_427  # what the days from `_elapsed` count from, as an ordinal
_HEBREW_YEARS: Final = 3_761  # the Hebrew year that begins in the autumn of year 0 of ours
_ISLAMIC_EPOCH: Final = 227_015  # the ordinal of 1 Muharram of the year 1, civil


def _elapsed(year: int) -> int:
    """Return the days from the epoch to 1 Tishri of a Hebrew year (Dershowitz and Reingold)."""
    months = (235 * year - 234) // 19
    parts = 12_084 + 13_753 * months
    day = 29 * months + parts // _HALAKIM_DAY
    return day + 1 if (3 * (day + 1)) % 7 < 3 else day


def _new_year(year: int) -> int:
    """Return the ordinal of 1 Tishri of a Hebrew year."""
    before, here, after = _elapsed(year - 1), _elapsed(year), _elapsed(year + 1)
    delay = 2 if after - here == 356 else 1 if here - before == 382 else 0
    return _HEBREW_EPOCH + here + delay


def rosh_hashanah(year: int) -> date:
    """Return 1 Tishri in the autumn of a year."""
    return date.fromordinal(_new_year(year + _HEBREW_YEARS))


def yom_kippur(year: int) -> date:
    """Return 10 Tishri."""
    return rosh_hashanah(year) + timedelta(days=9)


def sukkot(year: int) -> date:
    """Return 15 Tishri."""
    return rosh_hashanah(year) + timedelta(days=14)


def passover(year: int) -> date:
    """Return 15 Nisan: 163 days before the next 1 Tishri."""
    return rosh_hashanah(year) - timedelta(days=163)


def purim(year: int) -> date:
    """Return 14 Adar, of a leap year the second: 30 days before 15 Nisan."""
    return passover(year) - timedelta(days=30)


def shavuot(year: int) -> date:
    """Return 6 Sivan."""
    return passover(year) + timedelta(days=50)


def hanukkah(year: int) -> date:
    """Return 25 Kislev: 83 days after 1 Tishri, 84 where Marheshvan has 30 days."""
    long = _new_year(year + _HEBREW_YEARS + 1) - _new_year(year + _HEBREW_YEARS)
    return rosh_hashanah(year) + timedelta(days=84 if long % 10 == 5 else 83)


def _islamic(year: int, month: int, day: int) -> int:
    """Return the ordinal of a day of the civil (tabular) Islamic calendar."""
    before = (year - 1) * 354 + (3 + 11 * year) // 30
    return _ISLAMIC_EPOCH + before + 29 * (month - 1) + month // 2 + day - 1


def _in_year(year: int, month: int, day: int) -> date:
    """Return the first such Islamic day of a year of ours.

    Raises:
        ValueError: the year of ours has none, or lies before the calendar.
    """
    guess = max(int((year - 622) * 1.0307) - 1, 1)
    for islamic in range(guess, guess + 4):
        found = date.fromordinal(_islamic(islamic, month, day))
        if found.year == year:
            return found
    raise ValueError("no such day in that year")


def eid_al_fitr(year: int) -> date:
    """Return 1 Shawwal by the tables: the moon may make it a day more or less."""
    return _in_year(year, 10, 1)


def eid_al_adha(year: int) -> date:
    """Return 10 Dhu al-Hijja."""
    return _in_year(year, 12, 10)


# Month and day of the lunar new year from 2000 on.
_LUNAR_FROM: Final = 2000
_LUNAR: Final = (
    "0205 0124 0212 0201 0122 0209 0129 0218 0207 0126 0214 0203 0123 0210 0131 0219 0208 0128 "
    "0216 0205 0125 0212 0201 0122 0210 0129 0217 0206 0126 0213 0203 0123 0211 0131 0219 0208"
).split()


def lunar_new_year(year: int) -> date:
    """Return the Chinese new year of a year from 2000 to 2035.

    Raises:
        ValueError: the year is not in the table.
    """
    if not 0 <= year - _LUNAR_FROM < len(_LUNAR):
        raise ValueError("not in the table of lunar years")
    found = _LUNAR[year - _LUNAR_FROM]
    return date(year, int(found[:2]), int(found[2:]))
