"""A clock that starts at a given time and runs on, and that can be put forward."""

from __future__ import annotations

import time
from datetime import datetime

from ....nouns.clock import to_us


class StartedClock:
    """Tells the time as if it had been `start` when it was made."""

    def __init__(self, start: datetime) -> None:
        self._start = to_us(start)
        self._began = time.monotonic_ns()

    def jump(self, to: datetime) -> None:
        """Go on from another time."""
        self._start = to_us(to)
        self._began = time.monotonic_ns()

    def now_us(self) -> int:
        """Return microseconds since 1970-01-01T00:00:00Z."""
        return self._start + (time.monotonic_ns() - self._began) // 1000
