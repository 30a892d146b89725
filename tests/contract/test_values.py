"""Values under a key: dropped by how their key begins, and with the memories they are copies of."""

from __future__ import annotations

from typing import Any

import pytest
from contract_kit import NOW

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.records import COPIES, Blob, of_job
from remembrancer.nouns.errors import Conflict
from remembrancer.nouns.memory import BankRef, Job, JobState


async def kept(store, ref, *keys: str) -> list[str]:
    return [key for key in keys if await store.blob_get(ref, key, NOW) is not None]


async def test_values_are_dropped_by_how_their_key_begins(store, ref):
    keys = ("up/1/0", "up/1/1", "up/10/0", "up/1", "up")
    for key in keys:
        await store.blob_put(ref, key, b"value")
    await store.apply(ref, Batch(erase_blobs=["up/1/"]))
    assert await kept(store, ref, *keys) == ["up/10/0", "up/1", "up"]


async def test_dropping_reaches_no_other_bank(store, ref):
    await store.blob_put(ref, "up/1", b"value")
    for stranger in (BankRef("elsewhere", ref.bank), BankRef(ref.tenant, "another")):
        await store.apply(stranger, Batch(erase_blobs=["up/"]))
    assert await kept(store, ref, "up/1") == ["up/1"]


async def test_erasing_a_unit_drops_the_copies_of_its_bank(store, ref, make):
    rows = make.rows(2)
    await store.apply(ref, Batch(units=rows))
    await store.blob_put(ref, f"{COPIES}a/0", b"texts")
    await store.blob_put(ref, "other", b"value")
    await store.apply(ref, Batch(units=make.rows(1)))
    assert await kept(store, ref, f"{COPIES}a/0") == [f"{COPIES}a/0"]
    await store.apply(ref, Batch(erase=[rows[0].unit.id]))
    assert await kept(store, ref, f"{COPIES}a/0", "other") == ["other"]


async def test_erasing_a_document_drops_the_copies_of_its_bank(store, ref, make):
    await store.apply(ref, make.document("letter", ["Dear all.", "It rains."]))
    await store.blob_put(ref, f"{COPIES}a/0", b"texts")
    await store.apply(ref, Batch(erase_documents=["letter"]))
    assert await kept(store, ref, f"{COPIES}a/0") == []


async def test_values_commit_with_their_batch_or_not_at_all(store, ref, make):
    job = make.job(ref)
    await store.apply(ref, Batch(jobs=[job], blobs=[Blob("up/0", b"old"), Blob("up/1", b"one")]))
    await store.apply(ref, Batch(blobs=[Blob("up/0", b"new", NOW + 5)]))
    assert await store.blob_get(ref, "up/0", NOW) == b"new"
    assert await store.blob_get(ref, "up/0", NOW + 5) is None
    with pytest.raises(Conflict):
        await store.apply(ref, Batch(blobs=[Blob("up/2", b"two")], fence=(job.id, 1)))
    assert await kept(store, ref, "up/0", "up/1", "up/2") == ["up/0", "up/1"]


async def test_a_batch_may_drop_values_and_put_others_of_the_same_beginning(store, ref):
    await store.apply(ref, Batch(blobs=[Blob("up/0", b"a"), Blob("up/1", b"b")]))
    await store.apply(ref, Batch(erase_blobs=["up/"], blobs=[Blob("up/0", b"c")]))
    assert await kept(store, ref, "up/0", "up/1") == ["up/0"]


async def with_values(store, ref, make, **more: Any) -> tuple[Job, str]:
    job = make.job(ref, payload={"what": "a file"}, **more)
    key = f"{of_job(job.id)}0"
    await store.apply(ref, Batch(jobs=[job], blobs=[Blob(key, b"words"), Blob("other", b"v")]))
    (claimed,) = await store.claim(["read"], NOW + 9, 1_000)
    return claimed, key


async def test_values_of_a_job_go_when_it_is_completed(store, ref, make):
    job, key = await with_values(store, ref, make)
    await store.finish(job, JobState.COMPLETED, NOW + 10)
    assert await kept(store, ref, key, "other") == ["other"]


async def test_values_of_a_job_stay_while_it_may_run_again(store, ref, make):
    job, key = await with_values(store, ref, make)
    await store.finish(job, JobState.PENDING, NOW + 10, error="again")
    (job,) = await store.claim(["read"], NOW + 11, 1_000)
    await store.finish(job, JobState.FAILED, NOW + 12, error="not again")
    assert await kept(store, ref, key) == [key]
    assert await store.job_delete(ref, job.id, NOW + 13)
    assert await kept(store, ref, key, "other") == ["other"]


async def test_values_of_a_job_go_when_its_document_is_forgotten(store, ref, make):
    job, key = await with_values(store, ref, make, document="letter")
    await store.finish(job, JobState.FAILED, NOW + 10, error="unread")
    await store.apply(ref, Batch(erase_documents=["letter"]))
    assert await kept(store, ref, key, "other") == ["other"]


async def test_values_put_before_their_job_stay_once_it_is_queued(store, ref, make):
    job, other = make.job(ref, payload={"what": "a file"}), make.job(ref)
    keys = [f"{of_job(each.id)}0" for each in (job, other)]
    await store.apply(ref, Batch(blobs=[Blob(key, b"words", NOW + 5) for key in keys]))
    await store.apply(ref, Batch(jobs=[job]))
    await store.sweep(NOW + 6)
    assert await kept(store, ref, *keys) == [keys[0]]


async def test_what_has_expired_is_deleted_without_a_sweep(store, ref, make):
    job = make.job(ref)
    due, waits = "once/a", f"{of_job(job.id)}0"
    await store.apply(ref, Batch(jobs=[job], blobs=[Blob(waits, b"value", NOW + 5)]))
    await store.blob_put(ref, due, b"value", NOW + 5)
    await store.blob_put(ref, "once/b", b"value", NOW + 9)
    await store.drop_expired(NOW + 6)
    # Asked about as of a time at which none had expired: what is there?
    assert await kept(store, ref, due, waits, "once/b") == [waits, "once/b"]
