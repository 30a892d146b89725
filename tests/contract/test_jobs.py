"""Jobs with leases and fences, triggers, kept values."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from contract_kit import NOW

from remembrancer.keeping.batch import Batch, Trigger
from remembrancer.nouns.errors import Conflict
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


async def test_claims_are_by_kind_and_due_in_the_order_of_queueing(store, ref, make):
    wait = make.job(ref, run_after=LATER + 5)
    first, tea, last = make.job(ref), make.job(ref, "tea"), make.job(ref)
    await store.apply(ref, Batch(jobs=[wait, tea, first]))
    await store.apply(ref, Batch(jobs=[last]))
    assert await store.claim([], LATER, LEASE) == []
    claimed = await store.claim(["read"], LATER, LEASE, 1)
    assert [(job.id, job.ref) for job in claimed] == [(first.id, ref)]
    claimed = await store.claim(["read", "tea"], LATER, LEASE, 1)
    assert [job.id for job in claimed] == [tea.id]
    claimed = await store.claim(["read", "tea"], LATER + 5, 10 * LEASE, 9)
    assert [job.id for job in claimed] == [wait.id, last.id]


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
    assert not await store.job_cancel(ref, make.ids.new(), LATER)
    assert (await store.job(ref, waiting.id)).state is JobState.CANCELLED
    assert await store.claim(["read"], LATER, LEASE) == []


async def test_a_cancelled_job_that_runs_writes_nothing_more(store, ref, make):
    await store.apply(ref, Batch(jobs=[make.job(ref, payload={"n": 1})]))
    [held] = await store.claim(["read"], LATER, LEASE)
    fenced = Batch(units=[make.row()], fence=(held.id, held.fence))
    await store.apply(ref, fenced)
    assert await store.held(held)
    assert await store.job_cancel(ref, held.id, LATER + 1)
    with pytest.raises(Conflict):
        await store.apply(ref, replace(fenced, units=[make.row()]))
    assert not await store.held(held)
    assert not await store.heartbeat(held, LATER + 1, LEASE)
    assert not await store.finish(held, JobState.COMPLETED, LATER + 1)
    assert not await store.release(held, LATER + 1)
    assert await store.claim(["read"], LATER + 2 * LEASE, LEASE) == []
    cancelled = await store.job(ref, held.id)
    assert (cancelled.state, cancelled.payload) == (JobState.CANCELLED, {"n": 1})


async def test_a_retried_job_begins_anew(store, ref, make):
    job = make.job(ref, payload={"n": 1})
    await store.apply(ref, Batch(jobs=[job]))
    assert not await store.job_retry(ref, job.id, LATER)
    [held] = await store.claim(["read"], LATER, LEASE)
    assert not await store.job_retry(ref, job.id, LATER)
    await store.finish(held, JobState.FAILED, LATER, error="no")
    assert await store.job_retry(ref, job.id, LATER + 1)
    [again] = await store.claim(["read"], LATER + 1, LEASE)
    assert (again.attempts, again.error, again.payload) == (1, None, {"n": 1})
    assert again.fence > held.fence
    await store.finish(again, JobState.COMPLETED, LATER + 2)
    assert not await store.job_retry(ref, job.id, LATER + 3)
    assert not await store.job_retry(ref, make.ids.new(), LATER + 3)


async def test_a_released_job_is_to_be_had_at_once(store, ref, make):
    await store.apply(ref, Batch(jobs=[make.job(ref, document="d")]))
    [held] = await store.claim(["read"], LATER, LEASE)
    assert await store.release(held, LATER)
    assert not await store.heartbeat(held, LATER, LEASE)
    [again] = await store.claim(["read"], LATER, LEASE)
    assert (again.id, again.attempts, again.fence) == (held.id, 1, held.fence + 1)


async def test_progress_is_kept_until_the_job_ends(store, ref, make):
    told = {"stage": "reading", "at": LATER, "processed": 3, "total": 9, "detail": None}
    await store.apply(ref, Batch(jobs=[make.job(ref)]))
    [held] = await store.claim(["read"], LATER, LEASE)
    assert await store.heartbeat(held, LATER, LEASE, told)
    assert await store.heartbeat(held, LATER, LEASE)
    assert (await store.job(ref, held.id)).progress == told
    await store.finish(held, JobState.COMPLETED, LATER)
    assert (await store.job(ref, held.id)).progress is None


async def test_only_jobs_that_have_ended_are_deleted(store, ref, make):
    await store.apply(ref, Batch(jobs=[make.job(ref)]))
    [held] = await store.claim(["read"], LATER, LEASE)
    assert not await store.job_delete(ref, held.id, LATER)
    await store.finish(held, JobState.FAILED, LATER)
    assert await store.job_delete(ref, held.id, LATER)
    assert not await store.job_delete(ref, held.id, LATER)
    assert await store.job(ref, held.id) is None


async def test_jobs_are_listed_newest_first(store, ref, make):
    jobs = [make.job(ref, str(n), payload={"n": n}) for n in range(4)]
    await store.apply(ref, Batch(jobs=jobs))
    await store.claim(["2"], LATER, LEASE)
    assert [job.kind for job in await store.jobs(ref)] == ["3", "2", "1", "0"]
    assert [job.kind for job in await store.jobs(ref, limit=2, offset=1)] == ["2", "1"]
    pending = await store.jobs(ref, state=JobState.PENDING)
    assert [job.kind for job in pending] == ["3", "1", "0"]
    assert await store.job_count(ref, state=JobState.PENDING) == 3
    assert [job.payload for job in await store.jobs(ref, kind="1")] == [{}]
    assert (await store.job(ref, jobs[1].id, payload=False)).payload == {}
    assert await store.job(ref, make.ids.new()) is None


async def test_upkeep_is_listed_by_its_kind_alone(store, ref, make):
    upkeep = make.job(ref, "sweep", listed=False)
    await store.apply(ref, Batch(jobs=[make.job(ref), upkeep]))
    assert [job.kind for job in await store.jobs(ref)] == ["read"]
    assert await store.job_count(ref) == 1
    assert await store.jobs(ref, kind="sweep") == [upkeep]
    assert await store.job_count(ref, kind="sweep") == 1


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
