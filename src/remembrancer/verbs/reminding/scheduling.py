"""Times and rules as callers tell them, in words or in plain values, to what can be kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ...nouns.clock import to_us
from ...nouns.errors import InvalidInput
from ...nouns.recurrence import Gap, Recurrence, ShortMonth
from ...reading.recurrence import check, first_after
from ...reading.recurrence.zones import local_of, zone_of
from ...reading.when import read_over, read_when
from .conditions import LEAST_MS, MOST_MS, MS

UTC = "UTC"
_FIRST_YEAR, _LAST_YEAR = 2, 9987


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something is due: at a time, or again and again."""

    trigger_at: int | None = None
    recurrence: Recurrence | None = None
    warnings: tuple[str, ...] = ()


def in_words(text: str, now: int, zone: str) -> Schedule:
    """Read a time or a repeat in words, such as "friday 9:00" or "every monday at 8".

    Raises:
        InvalidInput: it cannot be resolved, so that it would never fire.
    """
    when = read_when(text, now, zone)
    if when is None:
        over = read_over(text, now, zone)
        what = (
            "is no time to come that can be told for sure: say it"
            if over is None
            else f"lies in the past, {local_of(over, zone_of(zone)):%Y-%m-%d %H:%M} {zone}: say a "
            "time to come"
        )
        raise InvalidInput(
            f"at {text[:80]!r} {what} like 'friday 9:00', 'in 20 minutes', 'every monday at 8' or "
            "2026-05-08T09:00",
            field="at",
        )
    warnings = () if when.confident else (f"at {text[:80]!r} leaves open when exactly",)
    return Schedule(when.at // MS * MS, when.recurrence, warnings)


def rule_of(told: Mapping[str, Any], zone: str, first: int | None, now: int) -> Recurrence:
    """Read a rule from plain values.

    Args:
        told: one of `rrule`, `cron` and `every` (seconds), and `start`, `exdate`, `rdate`, `until`,
            `count`, `gap`, `short_month`. Times are ISO 8601, local where they have no offset;
            `until` may be a number, too: Unix milliseconds.
        zone: IANA name.
        first: when the rule begins where it has no `start`, in microseconds.
        now: when it begins where nothing else says.

    Raises:
        InvalidInput: names the field.
    """
    info = zone_of(zone)
    start = told.get("start")
    begins = local_time(start, zone, "start") if start is not None else None
    if begins is None and first is not None:
        begins = local_of(first, info)
    rule = Recurrence(
        zone=zone,
        start=begins or _from_now(local_of(now, info), told.get("rrule")),
        rrule=told.get("rrule"),
        cron=told.get("cron"),
        every_s=told.get("every"),
        rdates=_dates(told.get("rdate"), zone, "rdate"),
        exdates=_dates(told.get("exdate"), zone, "exdate"),
        until=_until(told.get("until"), zone),
        count=told.get("count"),
        gap=Gap(told.get("gap") or Gap.FORWARD),
        short_month=ShortMonth(told.get("short_month") or ShortMonth.SKIP),
    )
    return rule if begins is not None else _counted_from(rule, now)


def _counted_from(rule: Recurrence, now: int) -> Recurrence:
    """Let a rule that nobody gave a start count from its first time ahead.

    Raises:
        InvalidInput: the rule cannot be used; names the field.
    """
    endless = replace(rule, count=None, rrule=_without_count(rule.rrule), rdates=(), exdates=())
    if endless == replace(rule, rdates=(), exdates=()):
        return rule
    check(rule)
    first = first_after(endless, now - 1)
    return rule if first is None else replace(rule, start=local_of(first, zone_of(rule.zone)))


def _without_count(rrule: str | None) -> str | None:
    if rrule is None:
        return None
    pieces = rrule.split(";")
    return ";".join(p for p in pieces if not p.strip().upper().startswith("COUNT="))


def rule_told(rule: Recurrence) -> dict[str, Any]:
    """Spell a rule as the plain values of `rule_of`; what is at its default is left out."""
    told: dict[str, Any] = {"rrule": rule.rrule, "cron": rule.cron, "every": rule.every_s}
    told |= {"start": rule.start.isoformat(), "zone": rule.zone}
    told |= {"rdate": [d.isoformat() for d in rule.rdates] or None}
    told |= {"exdate": [d.isoformat() for d in rule.exdates] or None}
    told |= {"until": None if rule.until is None else rule.until // MS, "count": rule.count}
    told |= {"gap": None if rule.gap is Gap.FORWARD else str(rule.gap)}
    told |= {"short_month": None if rule.short_month is ShortMonth.SKIP else str(rule.short_month)}
    return {name: value for name, value in told.items() if value is not None}


def local_time(text: str, zone: str, name: str) -> datetime:
    """Read an ISO 8601 time as naive local time of a zone.

    Raises:
        InvalidInput: it is none; names `name`.
    """
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        read = None
    if read is None or not _FIRST_YEAR <= read.year <= _LAST_YEAR:
        raise InvalidInput(
            f"{name} {text[:40]!r} is no ISO 8601 time: write it like 2026-05-08T09:00 (local) or "
            "2026-05-08T09:00+02:00",
            field=name,
        )
    return read if read.tzinfo is None else local_of(to_us(read), zone_of(zone))


def _dates(told: Sequence[str] | None, zone: str, name: str) -> tuple[datetime, ...]:
    return tuple(local_time(each, zone, name) for each in told or ())


def _until(told: Any, zone: str) -> int | None:
    if told is None:
        return None
    if isinstance(told, str):
        return to_us(local_time(told, zone, "until").replace(tzinfo=zone_of(zone)))
    if not LEAST_MS <= told <= MOST_MS:
        raise InvalidInput("until lies outside the calendar", field="until")
    at: float = told * MS
    return round(at)


def _from_now(now: datetime, rrule: str | None) -> datetime:
    """Return where a rule without start begins; one that names hours alone means the full ones."""
    now = now.replace(second=0, microsecond=0)
    parts = re.split(r"[;=:]", (rrule or "").upper())
    return now.replace(minute=0) if "BYHOUR" in parts and "BYMINUTE" not in parts else now
