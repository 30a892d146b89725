"""The desk: nobody that has a place waits on, whatever comes, goes, gives way or is cancelled."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.nouns.errors import Overloaded, RateLimited
from remembrancer.verbs.admission import desk as desks
from remembrancer.verbs.admission.desk import Desk, Work
from remembrancer.verbs.admission.policy import RECENT_S, Bounds, Ticket
from remembrancer.verbs.meters import Meters


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def desk(clock: Clock, **bounds: float) -> Desk:
    given: dict[str, Any] = {"running": 2, "tenant_running": 2, "queue": 100, "tenant_queue": 50}
    each = Bounds(**{**given, "wait_s": 60.0, **bounds})
    return Desk({Work.READ: each}, {}, Meters(), monotonic=clock)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def running(of: Desk) -> tuple[int, int]:
    [(_, runs, waits)] = of.figures()
    return runs, waits


async def enter(of: Desk, tenant: str) -> asyncio.Task[Ticket]:
    task = asyncio.create_task(of.enter(Work.READ, tenant))
    await settle()
    return task


def test_who_begins_when_another_one_comes_is_told() -> None:
    async def run() -> None:
        clock = Clock()
        of = desk(clock)
        of.leave(Work.READ, await of.enter(Work.READ, "small"))
        first, second = [await enter(of, "flood") for _ in range(2)]
        assert (first.done(), second.done()) == (True, False)  # a place is kept for the small one
        clock.now += 2 * RECENT_S
        third = await enter(of, "flood")
        assert running(of) == (2, 1)
        assert (second.done(), third.done()) == (True, False)
        third.cancel()

    asyncio.run(run())


def test_a_kept_place_is_given_out_when_nothing_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desks, "_LOOK_S", 0.001)

    async def run() -> None:
        clock = Clock()
        of = desk(clock)
        of.leave(Work.READ, await of.enter(Work.READ, "small"))
        _, second = [await enter(of, "flood") for _ in range(2)]
        assert not second.done()
        clock.now += 2 * RECENT_S
        await asyncio.wait_for(second, 20)
        assert running(of) == (2, 0)

    asyncio.run(run())


def test_long_work_of_a_flood_ends_before_more_of_it_begins() -> None:
    async def run() -> None:
        clock = Clock()
        of = desk(clock, running=1)
        told: list[tuple[str, int]] = []

        async def work(number: int) -> None:
            ticket = await of.enter(Work.READ, "small" if number == 99 else "flood")
            told.append(("begun", number))
            for _ in range(3):
                await asyncio.sleep(0)
                clock.now += 1.0
                await of.pause(Work.READ, ticket)
            told.append(("ended", number))
            of.leave(Work.READ, ticket)

        tasks = [asyncio.create_task(work(n)) for n in (0, 1, 2, 99)]
        await asyncio.wait_for(asyncio.gather(*tasks), 20)
        for number in (0, 1):
            assert told.index(("ended", number)) < told.index(("begun", number + 1))
        assert told.index(("begun", 99)) < told.index(("ended", 0))  # which lets others go first

    asyncio.run(run())


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 3), st.sampled_from([0.0, 0.05]))
def test_every_place_comes_back_and_nobody_is_forgotten(
    seed: int, places: int, yield_s: float
) -> None:
    chance = random.Random(seed)

    async def run() -> None:
        clock = Clock()
        of = desk(
            clock, running=places, tenant_running=places, queue=12, tenant_queue=6, yield_s=yield_s
        )

        async def client(tenant: str) -> None:
            for _ in range(4):
                for _ in range(chance.randrange(12)):
                    await asyncio.sleep(0)
                try:
                    ticket = await of.enter(Work.READ, tenant)
                except (Overloaded, RateLimited):
                    await asyncio.sleep(0)
                    continue
                assert ticket.began_at is not None
                try:
                    for _ in range(chance.randrange(4)):
                        await asyncio.sleep(0)
                        clock.now += chance.choice((0.0, 0.01, 0.3, 1.5))
                        await of.pause(Work.READ, ticket)
                finally:
                    of.leave(Work.READ, ticket)

        tasks = [asyncio.create_task(client(chance.choice("aaab"))) for _ in range(25)]
        for _ in range(30):
            await asyncio.sleep(0)
            clock.now += 0.1
            runs, waits = running(of)
            assert 0 <= runs <= places
            if not runs:
                assert not waits
            if chance.random() < 0.2:
                chance.choice(tasks).cancel()
        while pending := [task for task in tasks if not task.done()]:
            clock.now += 2 * RECENT_S
            done, _ = await asyncio.wait(pending, timeout=20, return_when=asyncio.FIRST_COMPLETED)
            assert done, "somebody waits for ever"
        assert running(of) == (0, 0)
        for task in tasks:
            assert task.cancelled() or task.exception() is None

    asyncio.run(run())
