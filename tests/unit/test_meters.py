"""Counters, histograms, and the buckets of time series."""

from __future__ import annotations

import pytest

from remembrancer.nouns.clock import DAY_US
from remembrancer.verbs.meters import BOUNDS_S, Histogram, Meters
from remembrancer.verbs.stats import Period, span_of

NOW = 1_700_000_000_123_456


def test_a_bound_belongs_to_its_bucket() -> None:
    histogram = Histogram()
    for value in (0.0, 0.0001, 0.00011, 300.0, 300.1):
        histogram.add(value)
    assert (histogram.counts[0], histogram.counts[1]) == (2, 1)
    assert histogram.counts[-2:] == [1, 1]
    assert (sum(histogram.counts), histogram.sum) == (5, pytest.approx(600.10021))
    assert (BOUNDS_S[0], BOUNDS_S[-1]) == (0.0001, 300.0)


def test_histograms_add_up() -> None:
    one, other = Histogram(), Histogram()
    one.add(0.001)
    other.add(0.001)
    other.add(5)
    one.merge(other)
    at = BOUNDS_S.index(0.001)
    assert (sum(one.counts), one.counts[at], one.sum) == (3, 2, pytest.approx(5.002))


def test_labels_are_told_apart() -> None:
    meters = Meters()
    assert meters.counter("x") == {}
    meters.add("x", 2, kind="a")
    meters.add("x", kind="a")
    meters.add("x", kind="b")
    meters.time("t", 1.0, route="b")
    meters.time("t", 2.0, route="a")
    assert meters.counter("x") == {(("kind", "a"),): 3, (("kind", "b"),): 1}
    assert [(labels, h.sum) for labels, h in meters.times("t")] == [
        ((("route", "a"),), 2.0),
        ((("route", "b"),), 1.0),
    ]


@pytest.mark.parametrize(
    ("period", "unit", "buckets", "length"),
    [
        (Period.HOUR, "minute", 61, DAY_US // 24),
        (Period.HOURS_12, "hour", 13, DAY_US // 2),
        (Period.DAY, "hour", 25, DAY_US),
        (Period.WEEK, "day", 8, 7 * DAY_US),
        (Period.MONTH, "day", 31, 30 * DAY_US),
        (Period.QUARTER, "day", 91, 90 * DAY_US),
    ],
)
def test_spans_hold_the_whole_period(period: Period, unit: str, buckets: int, length: int) -> None:
    for now in (NOW, NOW - NOW % DAY_US, NOW - NOW % DAY_US - 1):
        span = span_of(period, now)
        assert (span.unit, span.buckets) == (unit, buckets)
        assert span.start % span.step == 0
        assert span.start <= now - length < span.start + span.step
        assert span.end - span.step <= now < span.end
