"""Deletes what is kept for a time alone: keys of requests, archives, what waits to be committed.

A sweep does so, too, but comes only when something is forgotten.
"""

from __future__ import annotations

import asyncio
import logging

from ..keeping.store import Store
from ..nouns.clock import Clock
from ..nouns.errors import RemembrancerError

EVERY_S = 3_600.0

log = logging.getLogger(__name__)


async def keep_expiring(store: Store, *, clock: Clock) -> None:
    """Delete what has expired, now and each hour; ends when it is cancelled."""
    while True:
        try:
            await store.drop_expired(clock.now_us())
        except RemembrancerError:
            log.warning("what has expired could not be deleted", exc_info=True)
        await asyncio.sleep(EVERY_S)
