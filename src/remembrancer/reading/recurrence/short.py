"""Rules that come more often than daily: counted in real time, limited in local time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from ...nouns.clock import MICROSECOND, to_us
from ...nouns.recurrence import Recurrence
from .days import Limits, number, numbers
from .rrules import HORIZON, until_local
from .zones import local_of, utc_of

_MOST_STEPS = 250_000  # looked at in one call


def real_times(
    rule: Recurrence, parts: dict[str, str], zone: ZoneInfo, after: int
) -> Iterator[int]:
    """Yield the instants of an hourly or minutely rule that lie beyond `after`.

    Steps are of real time from the start; BYHOUR, BYDAY and the other limits are of local time,
    BYMINUTE of the minutes that clocks show at the start.
    """
    minutes = 60 if parts["FREQ"] == "HOURLY" else 1
    step = timedelta(minutes=minutes * number(parts, "INTERVAL"))
    start = to_us(rule.start.replace(tzinfo=zone))
    # The offset of the start, which clocks do not change.
    shift = local_of(start, zone) - utc_of(start)
    until = None
    if "UNTIL" in parts:
        until = to_us(until_local(parts["UNTIL"], rule.zone).replace(tzinfo=zone))
    count = number(parts, "COUNT") if "COUNT" in parts else None
    allowed = Limits(parts)
    places = numbers(parts, "BYSETPOS", -60, 60)
    if places and min(map(abs, places)) > len(_within(rule.start, parts)):
        return  # no step has as many times
    first = 0 if count else max(0, (after - start) // (step // MICROSECOND) - 1)
    given = 0
    index = first
    horizon = utc_of(max(after, start)) + shift + HORIZON
    for _ in range(_MOST_STEPS):
        base = rule.start + step * index
        if base > horizon:
            return
        instants = [to_us(fixed - shift) for fixed in _within(base, parts)]
        taken = [us for us in instants if allowed.take(local_of(us, zone))]
        for us in _chosen(taken, places):
            if us < start:
                continue
            if (until is not None and us > until) or (count is not None and given >= count):
                return
            given += 1
            if us > after:
                yield us
        index += _to_next(to_us(base - shift), zone, allowed, step)


def _to_next(us: int, zone: ZoneInfo, allowed: Limits, step: timedelta) -> int:
    """Return how many steps to go on: past the rest of a local day that is not allowed."""
    local = local_of(us, zone)
    if allowed.take_day(local):
        return 1
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    rest = midnight - local
    # Clocks that are changed in between show later than midnight after that long.
    rest -= max(timedelta(0), local_of(us + rest // MICROSECOND, zone) - midnight)
    return max(1, rest // step)


def _chosen(found: list[int], places: set[int] | None) -> list[int]:
    """Return those of one step that stand at the places of BYSETPOS."""
    if places is None:
        return found
    return [us for n, us in enumerate(found) if {n + 1, n - len(found)} & places]


def _within(base: datetime, parts: dict[str, str]) -> list[datetime]:
    """Return the times of one step."""
    wanted = numbers(parts, "BYMINUTE", 0, 59)
    if wanted is None:
        return [base]
    if parts["FREQ"] == "MINUTELY":
        return [base] if base.minute in wanted else []
    return [base.replace(minute=minute) for minute in sorted(wanted)]
