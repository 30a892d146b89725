"""Local wall time to instants, where clocks are changed."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ...nouns.clock import from_us, to_us
from ...nouns.errors import InvalidInput
from ...nouns.recurrence import Gap


@lru_cache(maxsize=256)
def zone_of(name: str) -> ZoneInfo:
    """Return a zone by its IANA name.

    Raises:
        InvalidInput: there is no such zone.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput(
            f"zone {name[:60]!r} is not known: use an IANA name such as Europe/Berlin", field="zone"
        ) from None


def instants(local: datetime, zone: ZoneInfo, gap: Gap) -> list[int]:
    """Return the instant of a local time in microseconds; none when it is left out and skipped.

    The first one of a time that occurs twice.
    """
    us = to_us(local.replace(tzinfo=zone, fold=0))
    if gap is Gap.SKIP and not exists(local, us, zone):
        return []
    return [us]


def all_instants(local: datetime, zone: ZoneInfo) -> list[int]:
    """Return every instant at which clocks show a local time: none, one or two."""
    found = {to_us(local.replace(tzinfo=zone, fold=fold)) for fold in (0, 1)}
    return sorted(us for us in found if exists(local, us, zone))


def exists(local: datetime, us: int, zone: ZoneInfo) -> bool:
    """Tell whether clocks in a zone show `local` at the instant `us`."""
    return local_of(us, zone) == local


def local_of(us: int, zone: ZoneInfo) -> datetime:
    """Return the naive local time of an instant."""
    return from_us(us).astimezone(zone).replace(tzinfo=None, fold=0)


def utc_of(us: int) -> datetime:
    """Return the naive UTC time of an instant."""
    return from_us(us).astimezone(UTC).replace(tzinfo=None)
