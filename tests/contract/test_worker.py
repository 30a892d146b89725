"""The worker: results, progress, cancelling what runs, giving back, trying again, giving up."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from contract_kit import NOW

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.worker import MAX_ATTEMPTS, MAX_CLAIMS, Worker, without_context
from remembrancer.nouns.errors import Conflict, InvalidInput
from remembrancer.nouns.memory import BankRef, JobState

TICK_S = 0.01


def worker(store, clock, handle, **more):
    return Worker(store, {"read": handle}, clock=clock, tick_s=TICK_S, poll_s=TICK_S, **more)


async def until(check):
    """Wait until something holds; the test's own time limit bounds it."""
    while True:
        if await check():
            return
        await asyncio.sleep(TICK_S)


class Endless:
    """A handler that goes on until it is ended, and tells whether it was."""

    def __init__(self):
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()
        self.context = None

    async def __call__(self, job, context):
        self.context = context
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.ended.set()
            raise
        return {}


async def test_a_handler_s_result_is_the_job_s(store, ref, make, clock):
    async def handle(job):
        return {"doubled": job.payload["n"] * 2}

    job = make.job(ref, payload={"n": 4})
    await store.apply(ref, Batch(jobs=[job]))
    clock.advance(timedelta(seconds=1))
    assert await worker(store, clock, without_context(handle)).drain() == 1
    done = await store.job(ref, job.id)
    assert (done.state, done.result, done.payload) == (JobState.COMPLETED, {"doubled": 8}, {})


async def test_progress_is_seen_while_a_job_runs(store, ref, make, clock):
    seen = asyncio.Event()

    async def handle(job, context):
        await context.progress("early", 1, 10)
        await context.progress("late", 2, 10, {"skipped": 1})
        await seen.wait()
        return {}

    job = make.job(ref)
    await store.apply(ref, Batch(jobs=[job]))
    running = worker(store, clock, handle)
    running.start()

    async def shown():
        return (await store.job(ref, job.id)).progress is not None

    await until(shown)
    at = clock.now_us()
    assert (await store.job(ref, job.id)).progress == {
        "stage": "late",
        "at": at,
        "processed": 2,
        "total": 10,
        "detail": {"skipped": 1},
    }
    seen.set()

    async def completed():
        return (await store.job(ref, job.id)).state is JobState.COMPLETED

    await until(completed)
    await running.stop()


async def test_cancelling_ends_the_handler_in_any_process(make_store, store, ref, make, clock):
    endless = Endless()
    job = make.job(ref)
    await store.apply(ref, Batch(jobs=[job]))
    running = worker(store, clock, endless)
    running.start()
    await endless.begun.wait()
    elsewhere = make_store()
    await elsewhere.open()
    assert await elsewhere.job_cancel(ref, job.id, clock.now_us())
    await elsewhere.close()
    with pytest.raises(Conflict):
        await store.apply(ref, Batch(units=[make.row()], fence=endless.context.fence))
    await endless.ended.wait()
    assert endless.context.cancelled
    await running.stop()
    assert (await store.job(ref, job.id)).state is JobState.CANCELLED


async def test_stopping_gives_back_what_is_unfinished(store, ref, make, clock):
    endless = Endless()
    job = make.job(ref)
    await store.apply(ref, Batch(jobs=[job]))
    running = worker(store, clock, endless)
    running.start()
    await endless.begun.wait()
    await running.stop(grace_s=0)
    assert endless.ended.is_set()
    back = await store.job(ref, job.id)
    assert (back.state, back.attempts, back.error) == (JobState.PENDING, 0, None)
    [claimed] = await store.claim(["read"], clock.now_us(), 1_000)
    assert claimed.id == job.id


async def test_what_ends_in_time_is_not_given_back(store, ref, make, clock):
    begun, go = asyncio.Event(), asyncio.Event()

    async def handle(job):
        begun.set()
        await go.wait()
        return {}

    job = make.job(ref)
    await store.apply(ref, Batch(jobs=[job]))
    running = worker(store, clock, without_context(handle))
    running.start()
    await begun.wait()
    stopping = asyncio.create_task(running.stop(grace_s=60))
    go.set()
    await stopping
    assert (await store.job(ref, job.id)).state is JobState.COMPLETED


async def test_bad_input_fails_at_once(store, ref, make, clock):
    async def handle(job):
        raise InvalidInput("no words in it")

    job = make.job(ref)
    await store.apply(ref, Batch(jobs=[job]))
    await worker(store, clock, without_context(handle)).drain()
    failed = await store.job(ref, job.id)
    assert (failed.state, failed.error, failed.attempts) == (JobState.FAILED, "no words in it", 1)


async def test_other_errors_are_tried_again_later_and_later(store, ref, make, clock):
    async def handle(job):
        raise RuntimeError("boom")

    job = make.job(ref)
    await store.apply(ref, Batch(jobs=[job]))
    running = worker(store, clock, without_context(handle))
    waits = []
    for _ in range(MAX_ATTEMPTS - 1):
        assert await running.drain() == 1
        waiting = await store.job(ref, job.id)
        assert (waiting.state, waiting.error) == (JobState.PENDING, "RuntimeError: boom")
        waits.append((waiting.run_after - clock.now_us()) // 1_000_000)
        assert await running.drain() == 0
        clock.us = waiting.run_after
    assert waits == [2, 4, 8, 16]
    await running.drain()
    failed = await store.job(ref, job.id)
    assert (failed.state, failed.attempts) == (JobState.FAILED, MAX_ATTEMPTS)


async def test_a_job_that_ends_its_process_again_and_again_is_given_up(store, ref, make, clock):
    async def handle(job):
        raise AssertionError("it is not begun again")

    job = make.job(ref)
    await store.apply(ref, Batch(jobs=[job]))
    for n in range(MAX_CLAIMS):
        assert len(await store.claim(["read"], NOW + 1_000 * (n + 1), 1_000)) == 1
    clock.us = NOW + 1_000_000
    await worker(store, clock, without_context(handle)).drain()
    failed = await store.job(ref, job.id)
    assert failed.state is JobState.FAILED
    assert failed.error.startswith("given up")


async def test_a_job_taken_over_is_not_ended_by_its_first_worker(store, ref, make, clock):
    async def handle(job):
        clock.advance(timedelta(seconds=9))
        [taken] = await store.claim(["read"], clock.now_us(), 60_000_000)
        assert taken.fence == job.fence + 1
        raise RuntimeError("too late")

    job = make.job(ref)
    await store.apply(ref, Batch(jobs=[job]))
    running = worker(store, clock, without_context(handle), lease_us=1_000_000)
    await running.drain()
    taken = await store.job(ref, job.id)
    assert (taken.state, taken.fence, taken.error) == (JobState.PROCESSING, 2, None)


async def test_a_worker_that_is_woken_while_it_stops_stops(store, clock):
    async def handle(job):
        return {}

    for turns in range(12):
        running = worker(store, clock, without_context(handle))
        running.start()
        await store.bank_put(BankRef("any", "bank"), {})  # it has looked, and waits
        running.wake()
        for _ in range(turns % 4):
            await asyncio.sleep(0)
        await running.stop()
