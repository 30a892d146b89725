"""Time as the rest of the house sees it: microseconds since 1970, UTC, from a clock passed in."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Protocol

_NAIVE_EPOCH = datetime(1970, 1, 1)
_EPOCH = _NAIVE_EPOCH.replace(tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
DAY_US = 86_400_000_000


class Clock(Protocol):
    """Anything that tells the time."""

    def now_us(self) -> int:
        """Return microseconds since 1970-01-01T00:00:00Z."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_us(self) -> int:
        """Return microseconds since 1970-01-01T00:00:00Z."""
        return time.time_ns() // 1000


@dataclass
class FixedClock:
    """A clock that moves only when told to; for tests."""

    us: int

    def now_us(self) -> int:
        """Return the time it was set to."""
        return self.us

    def advance(self, delta: timedelta) -> None:
        """Move by `delta`, forwards or back."""
        self.us += delta // MICROSECOND


def to_us(moment: datetime) -> int:
    """Turn an aware datetime into microseconds since 1970; a naive one is read as UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // MICROSECOND


def from_us(us: int) -> datetime:
    """Turn microseconds since 1970 into an aware UTC datetime."""
    return _EPOCH + timedelta(0, 0, us)


def iso(us: int | None, offset_min: int | None = None) -> str | None:
    """Spell a time as ISO 8601, in UTC (`Z`) or at the given offset in minutes; None stays None."""
    return None if us is None else _iso(us, offset_min)


@lru_cache(maxsize=4_096)  # the memories of one conversation share most of their times
def _iso(us: int, offset_min: int | None) -> str:
    # Without a zone, which would be asked about each; positional, for it is called for each time.
    moment = _NAIVE_EPOCH + timedelta(0, 0, us)
    if not offset_min:
        return f"{moment.isoformat()}Z"
    shift = timedelta(minutes=offset_min)
    sign = "+" if offset_min > 0 else "-"
    hours, minutes = divmod(abs(offset_min), 60)
    return f"{(moment + shift).isoformat()}{sign}{hours:02d}:{minutes:02d}"
