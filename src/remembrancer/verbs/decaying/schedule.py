"""Queues the runs of tenants' policies, one an interval, for as long as the process lives."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from ...nouns.clock import Clock
from ...nouns.errors import RemembrancerError
from ..decay import Decay

_AFTER_S = 0.05  # the interval has begun by then
_LOOK_S = 60.0  # for clocks that are set

log = logging.getLogger(__name__)


async def keep_decaying(
    decay: Decay, interval_s: float, wake: Callable[[], None], *, clock: Clock
) -> None:
    """Queue a run whenever an interval begins; ends when it is cancelled.

    Args:
        decay: the verb.
        interval_s: between runs, in seconds.
        wake: told when something was queued.
        clock: the time.
    """
    interval_us = int(interval_s * 1_000_000)
    while True:
        try:
            if await decay.schedule(interval_us):
                wake()
        except RemembrancerError:
            log.warning("the runs of policies could not be queued", exc_info=True)
        left_us = interval_us - clock.now_us() % interval_us
        await asyncio.sleep(min(left_us / 1e6 + _AFTER_S, _LOOK_S))
