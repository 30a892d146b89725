"""Turns at what tenants share: a queue, a semaphore, threads, and the intake of requests."""

from __future__ import annotations

import asyncio
import threading

import pytest

from remembrancer.faces.fair_threads import FairThreads
from remembrancer.faces.http.intake import Intake
from remembrancer.nouns.turns import (
    RoundRobin,
    Turns,
    acting_for,
    let_others,
    pausing,
    tenant_at_work,
)


def test_a_queue_serves_tenants_in_turn():
    queue = RoundRobin()
    for number, tenant in enumerate("aaabbc"):
        queue.push(tenant, f"{tenant}{number}")
    assert (len(queue), queue.tenants, queue.waiting("a")) == (6, 3, 3)
    assert queue.fullest() == ("a", "a2")
    assert queue.remove("b", "b4")
    assert not queue.remove("b", "b4")
    assert not queue.remove("nobody", "b4")
    assert [queue.pop() for _ in range(6)] == ["a0", "b3", "c5", "a1", "a2", None]
    assert queue.fullest() is None


def test_who_may_not_have_a_turn_keeps_it():
    queue = RoundRobin()
    queue.push("a", 1)
    queue.push("b", 2)
    assert queue.pop(lambda tenant: tenant == "b") == 2
    assert queue.pop(lambda tenant: tenant == "b") is None
    assert queue.pop() == 1


async def test_a_semaphore_gives_places_round_robin():
    turns, order = Turns(1), []

    async def work(tenant):
        with acting_for(tenant):
            async with turns:
                order.append(tenant_at_work())
                await asyncio.sleep(0)

    await asyncio.gather(*(work(tenant) for tenant in "xaaab"))
    assert order == ["x", "a", "b", "a", "a"]
    assert len(turns) == 0
    await asyncio.wait_for(turns.take(), 1)  # the place came back


async def test_a_place_given_to_who_was_cancelled_goes_on():
    turns = Turns(1)
    await turns.take()
    first, second = (asyncio.create_task(turns.take()) for _ in range(2))
    await asyncio.sleep(0)
    turns.give()
    first.cancel()  # in the same moment as its turn
    await asyncio.wait_for(second, 1)
    assert first.cancelled()
    third = asyncio.create_task(turns.take())
    await asyncio.sleep(0)
    third.cancel()
    await asyncio.gather(third, return_exceptions=True)
    turns.give()
    await asyncio.wait_for(turns.take(), 1)


async def test_work_pauses_as_it_was_told():
    paused = []

    async def pause():
        paused.append(tenant_at_work())

    await let_others()
    with acting_for("a"), pausing(pause):
        await let_others()
    assert paused == ["a"]
    assert tenant_at_work() == ""


async def test_no_tenant_has_all_threads():
    threads, gate, done = FairThreads(2), threading.Event(), []
    asyncio.get_running_loop().set_default_executor(threads)

    def work(name):
        assert name[0] == "b" or gate.wait(10)
        done.append(name)

    async def run(name):
        with acting_for(name[0]):
            await asyncio.to_thread(work, name)

    flood = [asyncio.create_task(run(f"a{n}")) for n in range(4)]
    await asyncio.sleep(0)
    await asyncio.wait_for(asyncio.gather(run("b0"), run("b1")), 10)  # beside the flood
    assert done == ["b0", "b1"]
    gate.set()
    await asyncio.wait_for(asyncio.gather(*flood), 10)
    assert done[2:] == ["a0", "a1", "a2", "a3"]
    with pytest.raises(ZeroDivisionError):
        await asyncio.to_thread(lambda: 1 / 0)


async def test_threads_that_were_shut_down_take_no_work():
    threads = FairThreads(1)
    assert threads.submit(lambda: 3).result(10) == 3
    threads.shutdown()
    with pytest.raises(RuntimeError):
        threads.submit(lambda: 3)


async def test_a_burst_is_taken_in_turn_by_sender():
    order = []

    async def app(scope, receive, send):
        order.append(scope["headers"][0][1])

    intake = Intake(app)

    async def ask(key):
        scope = {"type": "http", "headers": [(b"authorization", key)]}
        await intake(scope, None, None)

    await asyncio.gather(*(ask(key) for key in (b"a", b"a", b"a", b"a", b"b")))
    assert order == [b"a", b"a", b"b", b"a", b"a"]
    await ask(b"c")  # and nobody waits for ever
    assert order[-1] == b"c"
