"""Records: rows of a kind beside memories."""

from __future__ import annotations

import pytest
from contract_kit import NOW

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.records import Record
from remembrancer.nouns.errors import Conflict
from remembrancer.nouns.memory import BankRef


def records(*keys: str, kind: str = "note") -> list[Record]:
    return [Record(kind, k, NOW + n, NOW + n, {"said": k}) for n, k in enumerate(keys)]


async def test_records_come_newest_first_and_are_counted(store, ref):
    await store.apply(ref, Batch(records=[*records("a", "b", "c"), *records("x", kind="other")]))
    assert [r.key for r in await store.records(ref, "note")] == ["c", "b", "a"]
    assert [r.key for r in await store.records(ref, "note", limit=1, offset=1)] == ["b"]
    assert [r.key for r in await store.records(ref, "note", since=NOW + 1, until=NOW + 2)] == ["b"]
    assert await store.record_count(ref, "note") == 3
    assert await store.record_count(ref, "note", since=NOW + 1) == 2
    assert await store.record(ref, "note", "b") == records("a", "b")[1]
    assert await store.record(ref, "other", "b") is None


async def test_a_record_put_again_keeps_when_it_was_made(store, ref):
    await store.apply(ref, Batch(records=records("a")))
    await store.apply(ref, Batch(records=[Record("note", "a", NOW + 9, NOW + 9, {"said": "new"})]))
    assert await store.record(ref, "note", "a") == Record(
        "note", "a", NOW, NOW + 9, {"said": "new"}
    )


async def test_records_are_erased_trimmed_and_dropped_with_their_bank(store, ref):
    await store.apply(ref, Batch(records=records(*"abcde")))
    await store.apply(ref, Batch(erase_records=[("note", "c"), ("note", "none")]))
    assert [r.key for r in await store.records(ref, "note")] == ["e", "d", "b", "a"]
    assert await store.record_trim(ref, "note", 2) == 2
    assert [r.key for r in await store.records(ref, "note")] == ["e", "d"]
    await store.bank_drop(ref)
    assert await store.records(ref, "note") == []


async def test_records_are_added_to_several_banks_outside_the_feed(store, ref, make):
    other, missing = BankRef(ref.tenant, "other"), BankRef(ref.tenant, "missing")
    await store.apply(ref, Batch(units=make.rows(1)))
    await store.bank_put(other, {})
    one, two, three = records("a", "b", "c")
    assert await store.record_add([(ref, one), (missing, two), (other, three)]) == 2
    assert await store.records(ref, "note") == [one]
    assert await store.records(other, "note") == [three]
    assert await store.bank(missing) is None
    async with store.snapshot(ref) as view:
        assert view.revision == 1


async def test_records_of_other_banks_are_out_of_reach(store, ref):
    await store.apply(ref, Batch(records=records("a")))
    for stranger in (BankRef("elsewhere", ref.bank), BankRef(ref.tenant, "another")):
        assert await store.records(stranger, "note") == []
        assert await store.record(stranger, "note", "a") is None
        assert await store.record_count(stranger, "note") == 0
        assert await store.record_trim(stranger, "note", 0) == 0
        await store.apply(stranger, Batch(erase_records=[("note", "a")]))
    assert await store.record_count(ref, "note") == 1
    assert await store.records_of("note") == [(ref, records("a")[0])]


async def test_a_record_commits_with_its_batch_or_not_at_all(store, ref, make):
    await store.apply(ref, Batch(units=make.rows(1)))
    with pytest.raises(Conflict):
        await store.apply(ref, Batch(records=records("a"), expect_revision=7))
    assert await store.records(ref, "note") == []
