"""Whose job comes next: fairness between tenants and banks, priority, one at a time a document."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from contract_kit import NOW

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.relational import job_put
from remembrancer.nouns.errors import Conflict
from remembrancer.nouns.memory import BankRef, JobState

LATER = NOW + 1_000_000
LEASE = 1_000


async def flood(store, make, ref, number, **more):
    jobs = [make.job(ref, **more) for _ in range(number)]
    await store.apply(ref, Batch(jobs=jobs))
    return jobs


async def take(store, number=1, at=LATER, kinds=("read",)):
    return [job for _ in range(number) for job in await store.claim(kinds, at, LEASE)]


async def test_one_job_of_another_tenant_does_not_wait_for_a_flood(store, make):
    await flood(store, make, BankRef("big", "b"), 10_000)
    await take(store, 3)
    small = BankRef("small", "b")
    await flood(store, make, small, 1)
    assert small in [job.ref for job in await take(store, 2)]


async def test_tenants_then_banks_come_in_turn(store, make):
    refs = [BankRef("a", "1"), BankRef("a", "2"), BankRef("b", "1")]
    for ref in refs:
        await flood(store, make, ref, 20)
    served = Counter(job.ref for job in await take(store, 16))
    assert served == {refs[0]: 4, refs[1]: 4, refs[2]: 8}


async def test_jobs_claimed_together_are_of_many(store, make):
    refs = [BankRef(tenant, bank) for tenant in "abc" for bank in "12"]
    for ref in refs:
        await flood(store, make, ref, 3)
    claimed = await store.claim(["read"], LATER, LEASE, 3)
    assert {job.ref.tenant for job in claimed} == {"a", "b", "c"}
    claimed += await store.claim(["read"], LATER, LEASE, 3)
    assert {job.ref for job in claimed} == set(refs)
    rest = await store.claim(["read"], LATER, LEASE, 99)
    assert len(rest) == 12
    assert len({job.id for job in (*claimed, *rest)}) == 18


async def test_the_tenant_without_a_name_has_its_turn(store, make):
    refs = [BankRef("", "own"), BankRef("a", "1")]
    for ref in refs:
        await flood(store, make, ref, 5)
    assert Counter(job.ref for job in await take(store, 4)) == dict.fromkeys(refs, 2)


async def test_a_bank_whose_jobs_are_of_other_kinds_is_passed_over(store, make):
    await flood(store, make, BankRef("a", "1"), 3, kind="other")
    [wanted] = await flood(store, make, BankRef("a", "2"), 1)
    assert [job.id for job in await take(store, 2)] == [wanted.id]


async def test_higher_priority_goes_first_whoever_waits(store, ref, make):
    await flood(store, make, BankRef("other", "b"), 5)
    await flood(store, make, ref, 5)
    [urgent] = await flood(store, make, ref, 1, priority=1)
    assert [job.id for job in await take(store)] == [urgent.id]
    assert len(await take(store, 11)) == 10


async def test_jobs_of_a_document_run_one_at_a_time_in_order(store, ref, make):
    a = await flood(store, make, ref, 3, document="a")
    b = await flood(store, make, ref, 1, document="b")
    claimed = await store.claim(["read"], LATER, LEASE, 9)
    assert [job.id for job in claimed] == [a[0].id, b[0].id]
    assert await store.claim(["read"], LATER, LEASE, 9) == []
    # Tried again later: what came after it goes on waiting.
    await store.finish(claimed[0], JobState.PENDING, LATER, run_after=LATER + 9)
    assert await store.claim(["read"], LATER, LEASE, 9) == []
    [first] = await store.claim(["read"], LATER + 9, LEASE, 9)
    assert first.id == a[0].id
    await store.finish(first, JobState.FAILED, LATER + 9)
    [second] = await store.claim(["read"], LATER + 9, LEASE, 9)
    assert second.id == a[1].id
    await store.finish(second, JobState.COMPLETED, LATER + 9)
    assert [job.id for job in await store.claim(["read"], LATER + 9, LEASE, 9)] == [a[2].id]


async def test_documents_of_two_banks_have_nothing_to_do_with_each_other(store, ref, make):
    other = BankRef(ref.tenant, "other")
    await flood(store, make, ref, 1, document="a")
    await flood(store, make, other, 1, document="a")
    assert len(await store.claim(["read"], LATER, LEASE, 9)) == 2


async def test_cancelling_lets_the_next_of_the_document_go(store, ref, make):
    a = await flood(store, make, ref, 3, document="a")
    [held] = await store.claim(["read"], LATER, LEASE, 9)
    assert await store.job_cancel(ref, a[1].id, LATER)
    assert await store.claim(["read"], LATER, LEASE, 9) == []
    assert await store.job_cancel(ref, held.id, LATER)
    assert [job.id for job in await store.claim(["read"], LATER, LEASE, 9)] == [a[2].id]


async def test_a_retried_job_takes_its_old_place(store, ref, make):
    a = await flood(store, make, ref, 3, document="a")
    [first] = await store.claim(["read"], LATER, LEASE, 9)
    await store.finish(first, JobState.FAILED, LATER)
    # Before those that wait: they are newer.
    assert await store.job_retry(ref, first.id, LATER)
    [first] = await store.claim(["read"], LATER, LEASE, 9)
    assert first.id == a[0].id
    await store.finish(first, JobState.FAILED, LATER)
    # Not beside one that runs.
    [second] = await store.claim(["read"], LATER, LEASE, 9)
    assert second.id == a[1].id
    assert await store.job_retry(ref, first.id, LATER)
    assert await store.claim(["read"], LATER, LEASE, 9) == []
    await store.release(second, LATER)
    assert [job.id for job in await store.claim(["read"], LATER, LEASE, 9)] == [a[0].id]


async def test_a_lease_that_ran_out_still_keeps_the_document(store, ref, make):
    a = await flood(store, make, ref, 2, document="a")
    [first] = await store.claim(["read"], LATER, LEASE, 9)
    [again] = await store.claim(["read"], LATER + LEASE, LEASE, 9)
    assert (first.id, again.id, again.fence) == (a[0].id, a[0].id, 2)
    assert await store.finish(again, JobState.COMPLETED, LATER + LEASE)
    assert [job.id for job in await store.claim(["read"], LATER + LEASE, LEASE)] == [a[1].id]


@pytest.fixture
def family(ref, make):
    """A parent with three children."""
    parent = make.job(ref, "batch", batch=True, items=3)
    children = [
        make.job(ref, parent=parent.id, part=n, document=f"d{n}", payload={"n": n})
        for n in range(3)
    ]
    return [parent, *children]


async def end(store, *states):
    for state in states:
        [job] = await store.claim(["read"], LATER, LEASE)
        await store.finish(job, state, LATER, error="no" if state is JobState.FAILED else None)


@pytest.mark.parametrize(
    ("states", "derived"),
    [
        ([], "pending"),
        (["completed"], "processing"),
        (["failed"], "processing"),
        (["completed"] * 3, "completed"),
        (["completed", "failed", "completed"], "failed"),
        (["failed", "cancelled", "completed"], "failed"),
        (["completed", "cancelled", "completed"], "cancelled"),
    ],
)
async def test_a_parent_is_what_its_children_are(store, ref, family, states, derived):
    await store.apply(ref, Batch(jobs=family))
    await end(store, *map(JobState, states))
    parent = await store.job(ref, family[0].id)
    assert parent.state == derived
    assert await store.job_count(ref, kind="batch", state=JobState(derived)) == 1
    assert [job.id for job in await store.jobs(ref, kind="batch", state=JobState(derived))] == [
        parent.id
    ]
    others = sum([await store.job_count(ref, kind="batch", state=state) for state in JobState])
    assert others == 1
    assert parent.error == ("no" if "failed" in states else None)
    assert parent.updated_at == (LATER if states else max(job.updated_at for job in family))
    children = await store.job_children(ref, parent.id)
    assert [(c.part, c.document, c.payload) for c in children] == [
        (n, f"d{n}", {}) for n in range(3)
    ]


async def test_a_parent_is_processing_while_a_child_is(store, ref, family):
    await store.apply(ref, Batch(jobs=family))
    await store.claim(["read", "batch"], LATER, LEASE)
    assert (await store.job(ref, family[0].id)).state is JobState.PROCESSING


async def test_nobody_takes_a_parent(store, ref, family):
    await store.apply(ref, Batch(jobs=family))
    claimed = await store.claim(["read", "batch"], LATER, LEASE, 9)
    assert [job.id for job in claimed] == [job.id for job in family[1:]]


async def test_parents_are_left_out_when_wanted(store, ref, family):
    await store.apply(ref, Batch(jobs=family))
    assert await store.job_count(ref) == 4
    assert await store.job_count(ref, parents=False) == 3
    assert {job.kind for job in await store.jobs(ref, parents=False)} == {"read"}


async def test_cancelling_a_parent_cancels_its_children(store, ref, family, make):
    await store.apply(ref, Batch(jobs=family))
    await end(store, JobState.COMPLETED)
    [held] = await store.claim(["read"], LATER, LEASE)
    assert await store.job_cancel(ref, family[0].id, LATER)
    states = [child.state for child in await store.job_children(ref, family[0].id)]
    assert states == ["completed", "cancelled", "cancelled"]
    assert not await store.held(held)
    assert (await store.job(ref, family[0].id)).state is JobState.CANCELLED
    assert not await store.job_cancel(ref, family[0].id, LATER)


async def test_retrying_a_parent_retries_what_did_not_succeed(store, ref, family):
    await store.apply(ref, Batch(jobs=family))
    await end(store, JobState.COMPLETED, JobState.FAILED)
    assert not await store.job_retry(ref, family[0].id, LATER)
    await end(store, JobState.CANCELLED)
    assert await store.job_retry(ref, family[0].id, LATER)
    claimed = await store.claim(["read"], LATER, LEASE, 9)
    assert [job.id for job in claimed] == [family[2].id, family[3].id]


async def test_a_family_is_deleted_with_its_parent(store, ref, family):
    await store.apply(ref, Batch(jobs=family))
    assert not await store.job_delete(ref, family[0].id, LATER)
    await end(store, *[JobState.COMPLETED] * 3)
    assert await store.job_delete(ref, family[0].id, LATER)
    assert await store.job_count(ref) == 0


async def test_a_parent_whose_children_were_deleted_is_what_they_were(store, ref, family):
    await store.apply(ref, Batch(jobs=family))
    await end(store, JobState.COMPLETED, JobState.COMPLETED, JobState.FAILED)
    for child in family[1:]:
        assert await store.job_delete(ref, child.id, LATER)
    assert (await store.job(ref, family[0].id)).state is JobState.FAILED
    assert await store.job_delete(ref, family[0].id, LATER)


async def test_an_id_is_queued_once(store, ref, make, family):
    await store.apply(ref, Batch(jobs=family))
    stray = make.job(ref, parent=family[0].id, part=3)
    again = replace(family[0], items=9)
    assert (await store.apply(ref, Batch(jobs=[again, stray]))).revision == 1
    assert await store.job(ref, family[0].id) == replace(
        family[0], updated_at=max(job.updated_at for job in family)
    )
    assert len(await store.job_children(ref, family[0].id)) == 3


async def test_an_id_of_another_bank_is_refused_within_the_tenant(store, ref, make):
    job = make.job(ref)
    await store.apply(ref, Batch(jobs=[job]))
    sister = BankRef(ref.tenant, "sister")
    with pytest.raises(Conflict) as caught:
        await store.apply(sister, Batch(units=[make.row()], jobs=[replace(job, ref=sister)]))
    assert caught.value.field == "operation_id"
    assert await store.bank(sister) is None
    # Another tenant learns nothing of it.
    stranger = BankRef("stranger", ref.bank)
    await store.apply(stranger, Batch(jobs=[replace(job, ref=stranger)]))
    assert await store.job_cancel(stranger, job.id, LATER)
    assert (await store.job(ref, job.id)).state is JobState.PENDING


async def test_another_tenant_reaches_no_job(store, ref, family):
    await store.apply(ref, Batch(jobs=family))
    for stranger in (BankRef("stranger", ref.bank), BankRef(ref.tenant, "other")):
        await store.bank_put(stranger, {})
        assert await store.job_children(stranger, family[0].id) == []
        assert not await store.job_cancel(stranger, family[0].id, LATER)
        assert not await store.job_retry(stranger, family[1].id, LATER)
        assert not await store.job_delete(stranger, family[1].id, LATER)
        assert await store.job_documents(stranger, ["d0"]) == []
        assert await store.job_count(stranger) == 0
    assert await store.job_documents(ref, ["x", "d1", "d0"]) == ["d1", "d0"]


async def test_forgetting_a_document_forgets_what_jobs_hold_of_it(store, ref, make):
    done, failed, held, waiting = await flood(
        store, make, ref, 4, document="d", payload={"text": "secret"}
    )
    other = await flood(store, make, ref, 1, document="e", payload={"text": "kept"})
    await end(store, JobState.COMPLETED, JobState.FAILED)
    [running] = await store.claim(["read"], LATER, LEASE)
    assert running.id == held.id
    assert await store.job_documents(ref, ["d", "e"]) == ["d", "e"]
    await store.apply(ref, Batch(erase_documents=["d"]))
    states = []
    for each in (done, failed, held, waiting):
        job = await store.job(ref, each.id)
        assert job.payload == {}
        assert not await store.job_retry(ref, each.id, LATER)
        states.append(job.state)
    assert states == ["completed", "failed", "cancelled", "cancelled"]
    assert not await store.held(running)
    assert (await store.job(ref, other[0].id)).payload == {"text": "kept"}
    assert await store.job_documents(ref, ["d", "e"]) == ["e"]


async def test_a_job_may_forget_the_document_it_is_about(store, ref, make):
    await flood(store, make, ref, 1, document="d")
    [held] = await store.claim(["read"], LATER, LEASE)
    await store.apply(ref, Batch(erase_documents=["d"], fence=(held.id, held.fence)))
    assert await store.finish(held, JobState.COMPLETED, LATER)


async def test_forgetting_one_memory_forgets_what_ended_jobs_hold(store, ref, make):
    batch = make.document("d", ["one", "two"])
    await store.apply(ref, batch)
    failed, running, waiting = await flood(
        store, make, ref, 3, document="d", payload={"text": "one"}
    )
    await end(store, JobState.FAILED)
    [held] = await store.claim(["read"], LATER, LEASE)
    await store.apply(ref, Batch(erase=[batch.units[0].unit.id]))
    assert (await store.job(ref, failed.id)).payload == {}
    # What goes on keeps its contents as long as it needs them.
    assert (await store.job(ref, running.id)).payload == {"text": "one"}
    await store.finish(held, JobState.FAILED, LATER)
    await store.job_cancel(ref, waiting.id, LATER)
    for each in (running, waiting):
        assert (await store.job(ref, each.id)).payload == {}
        assert not await store.job_retry(ref, each.id, LATER)


async def test_old_jobs_that_have_ended_are_dropped(store, ref, make, monkeypatch):
    monkeypatch.setattr(job_put, "KEPT", 20)
    await flood(store, make, ref, 1, kind="waits")
    await flood(store, make, ref, 60)
    [last, *_] = await store.jobs(ref, limit=1)
    await end(store, *[JobState.COMPLETED] * 60)
    await flood(store, make, ref, 50, kind="waits")
    assert await store.job_count(ref, state=JobState.COMPLETED) == 20
    assert await store.job_count(ref, state=JobState.PENDING) == 51
    assert await store.job(ref, last.id) is not None
