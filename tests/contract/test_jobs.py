"""Jobs with leases and fences, triggers, kept values."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from contract_kit import NOW

from remembrancer.keeping.batch import Batch, Trigger
from remembrancer.nouns.memory import BankRef, JobState

LATER = NOW + 1_000_000
LEASE = 1_000


async def test_a_job_from_queue_to_end(store, ref, make):
    job = make.job(ref, payload={"document": "ü", "n": [1]})
    applied = await store.apply(ref, Batch(jobs=[job]))
    assert applied.revision == 1
    assert await store.job(ref, job.id) == job
    [claimed] = await store.claim(["read"], LATER, LEASE)
    assert claimed == replace(
        job,
        state=JobState.PROCESSING,
        updated_at=LATER,
        attempts=1,
        lease_until=LATER + LEASE,
        fence=1,
    )
    assert await store.claim(["read"], LATER + 1, LEASE) == []
    assert await store.heartbeat(claimed, LATER + 5, LEASE)
    assert (await store.job(ref, job.id)).lease_until == LATER + 5 + LEASE
    done = {"facts": 3}
    assert await store.finish(claimed, JobState.COMPLETED, LATER + 9, result=done)
    ended = await store.job(ref, job.id)
    assert (ended.state, ended.result, ended.error) == (JobState.COMPLETED, done, None)
    assert (ended.updated_at, ended.lease_until) == (LATER + 9, None)
    assert await store.claim(["read"], LATER * 2, LEASE) == []
    assert not await store.finish(claimed, JobState.FAILED, LATER)
    assert not await store.heartbeat(claimed, LATER, LEASE)


async def test_an_expired_lease_is_taken_over_and_its_holder_shut_out(store, ref, make):
    await store.apply(ref, Batch(jobs=[make.job(ref)]))
    [first] = await store.claim(["read"], LATER, LEASE)
    assert await store.claim(["read"], LATER + LEASE - 1, LEASE) == []
    [second] = await store.claim(["read"], LATER + LEASE, LEASE)
    assert (second.fence, second.attempts) == (2, 2)
    assert not await store.heartbeat(first, LATER, LEASE)
    assert not await store.finish(first, JobState.COMPLETED, LATER)
    assert await store.job(ref, first.id) == second
    assert await store.finish(second, JobState.FAILED, LATER, error="no")
    assert (await store.job(ref, first.id)).error == "no"


async def test_a_job_tried_again(store, ref, make):
    await store.apply(ref, Batch(jobs=[make.job(ref)]))
    [job] = await store.claim(["read"], LATER, LEASE)
    again = LATER + 500
    assert await store.finish(job, JobState.PENDING, LATER, error="busy", run_after=again)
    assert await store.claim(["read"], again - 1, LEASE) == []
    [job] = await store.claim(["read"], again, LEASE)
    assert (job.attempts, job.fence, job.error) == (2, 2, "busy")


async def test_claims_are_by_kind_due_and_oldest_first(store, ref, make):
    other = BankRef("other", "bank")
    wait = make.job(ref, run_after=LATER + 5)
    first, tea, last = make.job(ref), make.job(ref, "tea"), make.job(other)
    await store.apply(other, Batch(jobs=[last]))
    await store.apply(ref, Batch(jobs=[tea, wait, first]))
    assert await store.claim([], LATER, LEASE) == []
    claimed = await store.claim(["read", "tea"], LATER, LEASE, 2)
    assert [(job.id, job.ref) for job in claimed] == [(first.id, ref), (tea.id, ref)]
    claimed = await store.claim(["read", "tea"], LATER + 5, LEASE, 9)
    assert [(job.id, job.ref) for job in claimed] == [(wait.id, ref), (last.id, other)]


async def test_no_job_is_claimed_twice(make_store, ref, make):
    stores = [make_store(), make_store()]
    for store in stores:
        await store.open()
    jobs = [make.job(ref) for _ in range(30)]
    await stores[0].apply(ref, Batch(jobs=jobs))

    async def work(store):
        claimed = []
        for _ in range(10):
            claimed += await store.claim(["read"], LATER, LEASE, 3)
        return claimed

    parts = await asyncio.gather(*(work(s) for s in stores * 3))
    claimed = [job for part in parts for job in part]
    assert sorted(job.id for job in claimed) == sorted(job.id for job in jobs)
    for store in stores:
        await store.close()


async def test_cancelling(store, ref, make):
    waiting, held = make.job(ref), make.job(ref, "held")
    await store.apply(ref, Batch(jobs=[waiting, held]))
    await store.claim(["held"], LATER, LEASE)
    assert await store.job_cancel(ref, waiting.id, LATER)
    assert not await store.job_cancel(ref, waiting.id, LATER)
    assert not await store.job_cancel(ref, held.id, LATER)
    assert not await store.job_cancel(ref, make.ids.new(), LATER)
    assert (await store.job(ref, waiting.id)).state is JobState.CANCELLED
    assert await store.claim(["read"], LATER, LEASE) == []


async def test_jobs_are_listed_newest_first(store, ref, make):
    jobs = [make.job(ref, str(n)) for n in range(4)]
    await store.apply(ref, Batch(jobs=jobs))
    await store.claim(["2"], LATER, LEASE)
    assert [job.kind for job in await store.jobs(ref)] == ["3", "2", "1", "0"]
    assert [job.kind for job in await store.jobs(ref, limit=2, offset=1)] == ["2", "1"]
    pending = await store.jobs(ref, state=JobState.PENDING)
    assert [job.kind for job in pending] == ["3", "1", "0"]
    assert await store.job(ref, make.ids.new()) is None


async def test_a_job_queued_again_stays_as_it_is(store, ref, make):
    job = make.job(ref)
    await store.apply(ref, Batch(jobs=[job]))
    [held] = await store.claim(["read"], LATER, LEASE)
    assert (await store.apply(ref, Batch(jobs=[job]))).revision == 1
    assert await store.job(ref, job.id) == held


async def test_triggers(store, ref, make):
    other = BankRef("other", "bank")
    late, soon = (Trigger(make.ids.new(), ref, NOW + n, {"n": n}) for n in (9, 2))
    far = Trigger(make.ids.new(), other, NOW + 5)
    await store.apply(ref, Batch(triggers=[late, soon]))
    await store.apply(other, Batch(triggers=[far]))
    assert await store.due(NOW + 1) == []
    assert await store.due(NOW + 9) == [soon, far, late]
    assert await store.due(NOW + 8, limit=1) == [soon]
    moved = replace(soon, due_at=NOW + 20)
    await store.apply(ref, Batch(triggers=[moved]))
    assert await store.due(NOW + 99) == [far, late, moved]
    assert await store.trigger_drop(ref, late.id)
    assert not await store.trigger_drop(ref, late.id)
    assert await store.due(NOW + 99) == [far, moved]


async def test_kept_values(store, ref, clock):
    assert await store.blob_put(ref, "key", b"one", NOW + 10)
    assert not await store.blob_put(ref, "key", b"two")
    assert await store.blob_get(ref, "key", NOW) == b"one"
    assert await store.blob_get(ref, "none", NOW) is None
    assert await store.blob_get(ref, "key", NOW + 10) is None
    clock.us = NOW + 10
    assert await store.blob_put(ref, "key", b"three")
    assert await store.blob_get(ref, "key", NOW * 2) == b"three"
    await store.blob_put(ref, "short", b"x", NOW + 20)
    await store.sweep(NOW + 20)
    assert await store.blob_get(ref, "short", NOW) is None
    assert await store.blob_get(ref, "key", NOW) == b"three"
