"""Many writers at once: in one loop, over two stores, in several processes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from contract_kit import ids_of

from remembrancer.keeping.batch import Batch
from remembrancer.nouns.errors import Conflict
from remembrancer.nouns.memory import BankRef

CHILD = Path(__file__).with_name("writer_process.py")


async def test_one_failing_write_among_many_fails_alone(store, ref, make, check):
    good = [Batch(units=make.rows(2)) for _ in range(100)]
    bad = [Batch(units=make.rows(2), expect_revision=10_000) for _ in range(20)]
    mixed = [*good, *bad]
    make.random.shuffle(mixed)
    writes = (store.apply(ref, batch) for batch in mixed)
    results = await asyncio.gather(*writes, return_exceptions=True)
    by_batch = dict(zip(map(id, mixed), results, strict=True))
    assert all(isinstance(by_batch[id(batch)], Conflict) for batch in bad)
    revisions = sorted(by_batch[id(batch)].revision for batch in good)
    assert revisions == list(range(1, 101))
    async with store.snapshot(ref) as view:
        found = {row.unit_id for row in await view.scan()}
    assert found == {i for batch in good for i in ids_of(batch.units)}
    await check(store, ref)


async def test_writers_of_one_expected_revision_have_one_winner(store, ref, make):
    batches = [Batch(units=make.rows(1), expect_revision=0) for _ in range(8)]
    writes = (store.apply(ref, batch) for batch in batches)
    results = await asyncio.gather(*writes, return_exceptions=True)
    assert sum(isinstance(result, Conflict) for result in results) == 7
    assert (await store.bank(ref)).unit_count == 1


async def test_a_write_given_up_by_its_caller_is_whole_or_not_there(store, ref, make, check):
    tasks = [asyncio.create_task(store.apply(ref, Batch(units=make.rows(3)))) for _ in range(20)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await store.apply(ref, Batch(units=make.rows(3)))
    units = (await store.bank(ref)).unit_count
    assert units % 3 == 0
    assert units >= 33
    await check(store, ref)


async def test_closing_finishes_what_is_queued(make_store, ref, make):
    store = make_store()
    await store.open()
    tasks = [asyncio.create_task(store.apply(ref, Batch(units=make.rows(2)))) for _ in range(150)]
    await asyncio.sleep(0)
    await store.close()
    assert len({(await task).revision for task in tasks}) == 150
    await store.open()
    assert (await store.bank(ref)).unit_count == 300
    await store.close()


async def test_two_stores_on_one_place(make_store, ref, make, check):
    first, second = make_store(), make_store()
    await first.open()
    await second.open()
    batches = [Batch(units=make.rows(2)) for _ in range(60)]
    writes = ((first if n % 2 else second).apply(ref, batch) for n, batch in enumerate(batches))
    applied = await asyncio.gather(*writes)
    assert sorted(a.revision for a in applied) == list(range(1, 61))
    async with first.snapshot(ref) as one, second.snapshot(ref) as two:
        assert await one.scan() == await two.scan()
        assert len(await one.scan()) == 120
    await first.close()
    await check(second, ref)
    await second.close()


@pytest.mark.parametrize("processes", [3])
def test_several_processes_lose_nothing(place, make_store, processes, check):
    children = [
        subprocess.Popen(
            [sys.executable, str(CHILD), *place, str(n), "25"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(processes)
    ]
    lines = [child.communicate(timeout=60)[0].split() for child in children]
    assert [child.returncode for child in children] == [0] * processes
    acknowledged = [line.split(":") for part in lines for line in part]
    revisions = sorted(int(revision) for revision, _ in acknowledged)
    assert revisions == list(range(1, processes * 25 + 1))

    async def look() -> None:
        store = make_store()
        await store.open()
        ref = BankRef("acme", "ada")
        async with store.snapshot(ref) as view:
            found = {row.unit_id.hex() for row in await view.scan()}
        assert found == {i for _, ids in acknowledged for i in ids.split(",")}
        await check(store, ref)
        await store.close()

    asyncio.run(look())
