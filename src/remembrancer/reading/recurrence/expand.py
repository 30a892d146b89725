"""Occurrences of a rule: expanded in local time, the zone attached afterwards.

A zone-aware expansion would move 02:30 to an hour before the change in spring.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from ...nouns.clock import to_us
from ...nouns.errors import InvalidInput
from ...nouns.recurrence import Recurrence
from . import crons, rrules, short
from .zones import instants, local_of, zone_of

MOST_COUNT = 10_000
MOST_EVERY_S = 10 * 366 * 86_400  # ten years
MOST_DATES = 1_000  # of rdates or of exdates
LAST_START = 9_986  # years: from there a rule is looked for as far as the calendar goes
_SECOND_US = 1_000_000
_CHANGE_US = 26 * 3600 * _SECOND_US  # more than any change of clocks (Samoa left out a day)


def occurrences(rule: Recurrence, after: int, limit: int = 5) -> list[int]:
    """Return the next instants of a rule, in microseconds, beyond `after`, rising.

    Fewer than `limit` when the rule ends, or has none within about 12 years.

    Raises:
        InvalidInput: the rule cannot be used; names its field.
    """
    zone = zone_of(rule.zone)
    left_out = {us for local in rule.exdates for us in instants(local, zone, rule.gap)}
    found: list[int] = []
    # A count is counted from the start, whatever is asked for.
    since = -(1 << 62) if rule.count is not None else after
    last: int | None = None
    given = 0
    for us in heapq.merge(_ruled(rule, zone, since), _added(rule, zone, since)):
        if us == last:
            continue
        last = us
        if rule.until is not None and us > rule.until:
            break
        given += 1
        if rule.count is not None and given > rule.count:
            break
        if us > after and us not in left_out:
            found.append(us)
            if len(found) == limit:
                break
    return found


def first_after(rule: Recurrence, after: int) -> int | None:
    """Return the next instant beyond `after`, or None."""
    found = occurrences(rule, after, 1)
    return found[0] if found else None


def check(rule: Recurrence) -> None:
    """Refuse a rule that cannot be used or that never occurs.

    Raises:
        InvalidInput: names the field.
    """
    if sum(each is not None for each in (rule.rrule, rule.cron, rule.every_s)) > 1:
        raise InvalidInput("give one of rrule, cron and every, not several", field="recurrence")
    if rule.every_s is not None and not 60 <= rule.every_s <= MOST_EVERY_S:
        raise InvalidInput(
            f"every must be 60 to {MOST_EVERY_S} seconds", field="every", limit=MOST_EVERY_S
        )
    if rule.count is not None and not 1 <= rule.count <= MOST_COUNT:
        raise InvalidInput(
            f"count must be 1 to {MOST_COUNT}; without one it goes on",
            field="count",
            limit=MOST_COUNT,
        )
    if rule.start.year > LAST_START:
        raise InvalidInput(
            f"start lies too far ahead: {LAST_START} is the last year",
            field="start",
            limit=LAST_START,
        )
    for name, dates in (("rdate", rule.rdates), ("exdate", rule.exdates)):
        if len(dates) > MOST_DATES:
            raise InvalidInput(
                f"{name} holds {len(dates)} dates; the limit is {MOST_DATES}",
                field=name,
                limit=MOST_DATES,
            )
    before = to_us(rule.start.replace(tzinfo=zone_of(rule.zone))) - 1
    if not occurrences(replace(rule, exdates=()), before, 1):
        raise InvalidInput("the recurrence never occurs after its start", field="recurrence")


def _ruled(rule: Recurrence, zone: ZoneInfo, after: int) -> Iterator[int]:
    """Yield the instants of the rule itself, rising; some may lie before `after`."""
    start = to_us(rule.start.replace(tzinfo=zone))
    if rule.every_s is not None:
        return _every(start, rule.every_s * _SECOND_US, after)
    from_here = max(after, start - 1)
    if rule.cron is not None:
        found = crons.cron_times(rule, zone, local_of(from_here, zone))
        return (us for us in _rising(found) if us >= start)
    if rule.rrule is None:
        return iter(())
    parts = rrules.parts_of(rule.rrule)
    if rrules.is_short(parts):
        return short.real_times(rule, parts, zone, from_here)
    return _rising(_daily(rule, parts, zone, local_of(from_here, zone)))


def _daily(
    rule: Recurrence, parts: dict[str, str], zone: ZoneInfo, local_after: datetime
) -> Iterator[int]:
    for local in rrules.local_times(rule, parts, local_after):
        yield from instants(local, zone, rule.gap)


def _rising(found: Iterator[int]) -> Iterator[int]:
    """Put instants in order that are out of order around clock changes."""
    held: list[int] = []
    high = -(1 << 62)
    for us in found:
        heapq.heappush(held, us)
        high = max(high, us)
        while held and held[0] <= high - _CHANGE_US:
            yield heapq.heappop(held)
    while held:
        yield heapq.heappop(held)


def _every(start: int, step: int, after: int) -> Iterator[int]:
    us = start if after < start else start + ((after - start) // step + 1) * step
    while True:
        yield us
        us += step


def _added(rule: Recurrence, zone: ZoneInfo, after: int) -> Iterator[int]:
    found = (us for local in rule.rdates for us in instants(local, zone, rule.gap))
    return iter(sorted(us for us in found if us > after))
