"""Recurrence: when something comes back, as local wall time in a zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Gap(StrEnum):
    """What becomes of a local time that a clock change leaves out."""

    FORWARD = "forward"  # 02:30 becomes 03:30, as RFC 5545 section 3.3.5 reads it
    SKIP = "skip"


class ShortMonth(StrEnum):
    """What becomes of a 31st in a month that has none."""

    SKIP = "skip"  # as RFC 5545 has it
    LAST_DAY = "last_day"


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A rule in local time: one of `rrule`, `cron` and `every_s`, or dates alone.

    A local time that occurs twice counts once, the first time. What comes more often than daily
    is counted in real time, so that a clock change neither drops nor doubles an hour.
    """

    zone: str  # IANA name
    start: datetime  # naive, local: where the rule begins
    rrule: str | None = None  # RFC 5545, without DTSTART
    cron: str | None = None  # five fields, or @daily and the like
    every_s: int | None = None  # seconds of real time from start
    rdates: tuple[datetime, ...] = ()  # naive, local: added
    exdates: tuple[datetime, ...] = ()  # naive, local: left out
    until: int | None = None  # microseconds, inclusive
    count: int | None = None  # at most so many, from the start
    gap: Gap = Gap.FORWARD
    short_month: ShortMonth = ShortMonth.SKIP
