"""Counts of what this process has done since it began, for monitoring."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

RETAINED_ITEMS, RETAINED_FACTS = "retained_items_total", "retained_facts_total"
SLOW_RECALLS = "slow_recalls_total"
RECALL_STAGES = "recall_stage_duration_seconds"
"""Names the histogram of where the time of recalls goes, by stage."""
GRPC_REQUESTS = "grpc_request_duration_seconds"
"""Names the histogram of gRPC calls with one answer, by service, method and status."""

ADMISSION_WAITS = "admission_wait_seconds"
"""Names the histogram of how long requests waited that had to, by class of work."""
ADMISSION_SHED = "admission_shed_total"
"""Names the counter of requests refused under load, by class of work and reason."""
DEADLINES = "deadlines_exceeded_total"
"""Names the counter of requests whose time was over, by wire and class of work."""

Labels = tuple[tuple[str, str], ...]

BOUNDS_S = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1),
    *(0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0),
)
"""Upper bounds of a histogram's buckets, in seconds, each inclusive."""


class Histogram:
    """How many values fell into each bucket; the last one has no bound."""

    __slots__ = ("counts", "sum")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_S) + 1)
        self.sum = 0.0

    def add(self, seconds: float) -> None:
        """Count a value."""
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.sum += seconds

    def merge(self, other: Histogram) -> None:
        """Count all values of another one."""
        self.counts = [a + b for a, b in zip(self.counts, other.counts, strict=True)]
        self.sum += other.sum


class Meters:
    """Counters and histograms by name and labels. Labels must come from small, closed sets.

    They are told of by one thread, that of the event loop, so nothing is locked.
    """

    def __init__(self) -> None:
        self._counters: dict[str, Counter[Labels]] = defaultdict(Counter)
        self._times: dict[str, defaultdict[Labels, Histogram]] = {}

    def add(self, name: str, n: int = 1, **labels: str) -> None:
        """Count something."""
        self._counters[name][tuple(labels.items())] += n

    def time(self, name: str, seconds: float, **labels: str) -> None:
        """Count how long something took."""
        self.timer(name, **labels).add(seconds)

    def timer(self, name: str, **labels: str) -> Histogram:
        """Return the histogram of these labels, for those who add to it often."""
        times = self._times.get(name)
        if times is None:
            times = self._times[name] = defaultdict(Histogram)
        return times[tuple(labels.items())]

    def counter(self, name: str) -> Mapping[Labels, int]:
        """Return a counter's values by labels."""
        return dict(self._counters.get(name, {}))

    def times(self, name: str) -> Iterator[tuple[Labels, Histogram]]:
        """Yield a histogram by labels."""
        yield from sorted(self._times.get(name, {}).items(), key=lambda each: each[0])
