"""Work on numbered items a few at a time, so that a long list does not pile up in queues."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable


async def spread(items: Iterable[int], limit: int, work: Callable[[int], Awaitable[None]]) -> None:
    """Await `work(item)` for each item, at most `limit` at once, begun in order.

    The first error stops the rest and is raised as it is; so does being cancelled.
    """
    left = iter(items)

    async def worker() -> None:
        for item in left:
            await work(item)

    workers = [asyncio.create_task(worker()) for _ in range(limit)]
    try:
        await asyncio.gather(*workers)
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
