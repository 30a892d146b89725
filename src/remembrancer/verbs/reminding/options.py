"""What an intention keeps among its options, as typed values and back to plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import Any

from ...nouns.clock import to_us
from ...nouns.intention import Intention
from ...nouns.recurrence import Gap, Recurrence, ShortMonth
from ...reading.recurrence.zones import local_of, zone_of

URGENT = 0.9
"""An importance from which quiet hours are passed over."""


class Misfire(StrEnum):
    """What becomes of instances of a recurring intention that nobody could be offered in time."""

    LATEST = "latest"  # one for all, with their number
    ALL = "all"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Quiet:
    """Hours of a day in which nothing is offered: from `start` to `end`, over midnight or not."""

    start: time
    end: time
    zone: str


def recurrence_of(intention: Intention) -> Recurrence | None:
    """Return the rule by which an intention comes back, or None."""
    kept = intention.options.get("recurrence")
    if kept is None:
        return None
    return Recurrence(
        zone=kept["zone"],
        start=datetime.fromisoformat(kept["start"]),
        rrule=kept.get("rrule"),
        cron=kept.get("cron"),
        every_s=kept.get("every_s"),
        rdates=tuple(map(datetime.fromisoformat, kept.get("rdates", ()))),
        exdates=tuple(map(datetime.fromisoformat, kept.get("exdates", ()))),
        until=kept.get("until"),
        count=kept.get("count"),
        gap=Gap(kept.get("gap", Gap.FORWARD)),
        short_month=ShortMonth(kept.get("short_month", ShortMonth.SKIP)),
    )


def keep_recurrence(rule: Recurrence) -> dict[str, Any]:
    """Spell a rule as plain JSON; what is at its default is left out."""
    kept: dict[str, Any] = {"zone": rule.zone, "start": rule.start.isoformat()}
    for name in ("rrule", "cron", "every_s", "until", "count"):
        if (value := getattr(rule, name)) is not None:
            kept[name] = value
    for name in ("rdates", "exdates"):
        if dates := getattr(rule, name):
            kept[name] = [date.isoformat() for date in dates]
    if rule.gap is not Gap.FORWARD:
        kept["gap"] = str(rule.gap)
    if rule.short_month is not ShortMonth.SKIP:
        kept["short_month"] = str(rule.short_month)
    return kept


def misfire_of(intention: Intention) -> Misfire:
    """Return what becomes of missed instances; the latest stands for all by default."""
    return Misfire(intention.options.get("misfire", Misfire.LATEST))


def cooldown_us(intention: Intention) -> int:
    """Return how long an intention rests after it fired, in microseconds."""
    return int(float(intention.options.get("cooldown_s", 0)) * 1_000_000)


def ready_from(intention: Intention, now: int) -> int:
    """Return from when an intention that fires now may be offered: after its quiet hours."""
    kept: Mapping[str, str] | None = intention.options.get("quiet")
    if kept is None or intention.importance >= URGENT:
        return now
    quiet = Quiet(time.fromisoformat(kept["start"]), time.fromisoformat(kept["end"]), kept["zone"])
    zone = zone_of(quiet.zone)
    local = local_of(now, zone)
    over_midnight = quiet.start > quiet.end
    within = (
        local.time() >= quiet.start or local.time() < quiet.end
        if over_midnight
        else quiet.start <= local.time() < quiet.end
    )
    if not within:
        return now
    day = local.date()
    if over_midnight and local.time() >= quiet.start:
        day += timedelta(days=1)
    return to_us(datetime.combine(day, quiet.end).replace(tzinfo=zone))
