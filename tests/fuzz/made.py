"""Inputs that Hypothesis makes, until time is up or for so many."""

from __future__ import annotations

import time
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, seed, settings
from seeds import INPUTS

_ROUND = 200
_NAME = "hypothesis"


def name() -> str:
    """Return what the inputs are made by."""
    return _NAME


def feed_until(feed: Callable[[bytes], None], seconds: float, number: int) -> None:
    """Feed rounds of inputs, each from a seed of its own, until time is up."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        feed_many(feed, _ROUND, number, until)
        number += 1


def feed_many(
    feed: Callable[[bytes], None], inputs: int, number: int, until: float = float("inf")
) -> None:
    """Feed that many inputs, the same for the same number, or fewer when time is up."""

    @seed(number)
    @settings(
        max_examples=inputs,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(INPUTS)
    def each(data: bytes) -> None:
        if time.monotonic() < until:
            feed(data)

    each()
