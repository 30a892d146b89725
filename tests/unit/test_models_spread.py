"""Working on a few items at once: order, limit, first error, cancelling."""

import asyncio

import pytest

from remembrancer.models.spread import spread


def test_all_items_begin_in_order_and_few_at_once():
    begun, flight, peak = [], 0, 0

    async def work(item):
        nonlocal flight, peak
        begun.append(item)
        flight += 1
        peak = max(peak, flight)
        await asyncio.sleep(0)
        flight -= 1

    asyncio.run(spread(range(20), 3, work))
    assert begun == list(range(20))
    assert peak == 3


def test_first_error_is_raised_as_it_is_and_stops_the_rest():
    begun = []

    async def work(item):
        begun.append(item)
        if item == 1:
            raise KeyError(item)
        await asyncio.Event().wait()

    with pytest.raises(KeyError):
        asyncio.run(spread(range(100), 3, work))
    assert begun in ([0, 1], [0, 1, 2])


def test_cancelling_stops_the_workers():
    ended = []

    async def work(item):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(item)

    async def whole():
        task = asyncio.create_task(spread(range(9), 2, work))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(whole())
    assert ended == [0, 1]


def test_nothing_to_do():
    asyncio.run(spread([], 2, None))
