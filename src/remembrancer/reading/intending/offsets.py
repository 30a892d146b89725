"""Reads for a speaker of whom only the offset of his clock is known."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Final

from ...nouns.clock import from_us
from ...nouns.recurrence import Recurrence
from ..dates.words import ZONES
from ..recurrence.zones import zone_of
from ..when import When
from .types import UNSURE, FoundIntention

# Places of the offsets that no "Etc/GMT" has; one serves where its clocks show that offset.
_PLACES: Final[dict[int, tuple[str, ...]]] = {
    -570: ("Pacific/Marquesas",),
    -270: ("America/Caracas",),
    -210: ("America/St_Johns",),
    -150: ("America/St_Johns",),
    210: ("Asia/Tehran",),
    270: ("Asia/Kabul", "Asia/Tehran"),
    330: ("Asia/Kolkata",),
    345: ("Asia/Kathmandu",),
    390: ("Asia/Yangon",),
    510: ("Asia/Pyongyang",),
    525: ("Australia/Eucla",),
    570: ("Australia/Darwin",),
    630: ("Australia/Adelaide", "Australia/Lord_Howe"),
    765: ("Pacific/Chatham",),
    825: ("Pacific/Chatham",),
}
_MINUTE_US: Final = 60_000_000
_ZONE_SAID: Final = re.compile(
    rf"\d(?:z|[+-]\d\d(?::?\d\d)?)$|\b(?:{'|'.join(map(re.escape, ZONES))})\b"
)


def zone_of_offset(minutes: int, at: int) -> tuple[str, int]:
    """Return a zone whose clocks show an offset at an instant, and the minutes it lacks.

    Those are none but where no place has the offset; then it is the zone of the nearest hour.
    """
    for name in _PLACES.get(minutes, ()):
        if from_us(at).astimezone(zone_of(name)).utcoffset() == timedelta(minutes=minutes):
            return name, 0
    hours = max(-12, min(14, round(minutes / 60)))
    return f"Etc/GMT{-hours:+d}" if hours else "UTC", minutes - 60 * hours


def set_back(found: FoundIntention, words: str, lacking: int) -> FoundIntention:
    """Return what was read `lacking` minutes late with its time as it was meant.

    A rule that so many minutes take to other hours or days than it spells is left, and unsure.
    """
    when = found.when
    if when is None or not lacking or _ZONE_SAID.search(words.lower()):
        return found
    moved = _moved(when, lacking)
    if moved is None:
        return replace(found, confidence=min(found.confidence, UNSURE))
    return replace(found, when=moved)


def _moved(when: When, lacking: int) -> When | None:
    rule = when.recurrence
    at = when.at - lacking * _MINUTE_US
    if rule is None:
        return replace(when, at=at)
    start = rule.start - timedelta(minutes=lacking)
    if rule.every_s is None and (start.date() != rule.start.date() or _spells_hours(rule)):
        return None
    until = None if rule.until is None else rule.until - lacking * _MINUTE_US
    return replace(when, at=at, recurrence=replace(rule, start=start, until=until))


def _spells_hours(rule: Recurrence) -> bool:
    return "BYHOUR" in (rule.rrule or "")
