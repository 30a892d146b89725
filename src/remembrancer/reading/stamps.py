"""Reads the times that chat exports put before a speaker's name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

from ..nouns.clock import to_us

CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2}(?:[.,]\d{1,6})?)?(?:[ \u202f]?[ap]\.?m\.?)?"
DATE = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[/.-]\d{1,2}[/.-](?:\d{4}|\d{2})"
MARKS = r"[\u200e\u200f\u202a-\u202e\u2066-\u2069]*"  # of direction: nobody sees them
STAMP = re.compile(
    rf"{MARKS}[\[(<]?\s?(?:(?P<date>{DATE})(?:,?[ \u202fT]+|T)?)?(?P<clock>{CLOCK})?"
    rf"(?P<zone>Z|[+-]\d{{2}}:?\d{{2}})?\s?[\])>]?\s*(?:[-–—|:]\s*)?{MARKS}",
    re.IGNORECASE,
)
_UNLIKE = re.compile(r"[\s\u200e\u200f\u202a-\u202e\u2066-\u2069]+")  # from one to the next
_HALF = re.compile(r"[ap]\.?m\.?")
_NUMBERS = re.compile(r"\d+")


def form_of(stamp: str) -> str:
    """Return how a stamp is written, which all stamps of one export share."""
    return _HALF.sub("m", _NUMBERS.sub("0", _UNLIKE.sub("", stamp).lower()))


def read_stamps(stamps: Sequence[tuple[str | None, str | None, str | None]]) -> list[int | None]:
    """Return the times of one export's (date, clock, zone) stamps, in µs; None without full date.

    A stamp without zone is read as UTC. Whether 01/03/24 is in January or March is settled for the
    whole export: the order in which every date exists and time does not run back; where both do,
    month first with a.m. and p.m., else day first.
    """
    orders = [_all(stamps, month_first) for month_first in (False, True)]
    day_first, month_first = (_faults(times, stamps) for times in orders)
    twelve_hours = any(clock and "m" in clock.lower() for _, clock, _ in stamps)
    if day_first != month_first:
        return orders[month_first < day_first]
    return orders[twelve_hours]


def _all(
    stamps: Sequence[tuple[str | None, str | None, str | None]], month_first: bool
) -> list[int | None]:
    return [_one(date, clock, zone, month_first) for date, clock, zone in stamps]


def _faults(
    times: Sequence[int | None], stamps: Sequence[tuple[str | None, str | None, str | None]]
) -> int:
    """Count dates that do not exist and steps back in time."""
    faults = sum(1 for at, stamp in zip(times, stamps, strict=True) if at is None and stamp[0])
    known = [at for at in times if at is not None]
    return faults + sum(1 for before, after in pairwise(known) if after < before)


def _one(date: str | None, clock: str | None, zone: str | None, month_first: bool) -> int | None:
    if not date:
        return None
    first, second, third = (int(part) for part in _NUMBERS.findall(date))
    if len(_NUMBERS.findall(date)[0]) == 4:
        year, month, day = first, second, third
    else:
        year = third + 2000 if third < 100 else third
        day, month = (second, first) if month_first else (first, second)
    hour, minute, second = 0, 0, 0
    if clock:
        parts = [int(part) for part in _NUMBERS.findall(clock)] + [0]
        hour, minute, second = parts[0], parts[1], parts[2]
        if "m" in clock.lower():
            hour = hour % 12 + (12 if "p" in clock.lower() else 0)
    try:
        at = to_us(datetime(year, month, day, hour, minute, second, tzinfo=UTC))
    except (ValueError, OverflowError):
        return None
    return at - zone_minutes(zone) * 60_000_000


def zone_minutes(zone: str | None) -> int:
    """Return the UTC offset that "Z", "+02:00" or "-0330" names, in minutes."""
    if not zone or zone in "Zz":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return -minutes if zone[0] == "-" else minutes
