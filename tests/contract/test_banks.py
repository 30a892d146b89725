"""Banks: listing, dropping, coming back; ids without a bank; access counters; isolation."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from contract_kit import NOW, ids_of

from remembrancer.keeping.batch import Batch, Trigger, VectorPatch
from remembrancer.nouns import memory
from remembrancer.nouns.errors import InvalidInput, StoreError
from remembrancer.nouns.memory import BankRef, JobState, Layer, Link, LinkType
from remembrancer.nouns.names import OF_TENANT, UNNAMED


async def test_profiles_and_sizes(store, ref, make, clock):
    made = await store.bank_put(ref, {"tone": "dry"})
    assert (made.ref, made.revision, made.profile, made.created_at) == (
        ref, 0, {"tone": "dry"}, NOW,
    )  # fmt: skip
    clock.us += 5
    await store.apply(ref, make.document("chat", ["one", "two"]))
    await store.apply(ref, Batch(units=[make.row()]))
    await store.bank_put(ref, {})
    bank = await store.bank(ref)
    assert bank == memory.Bank(
        ref,
        2,
        NOW,
        NOW + 5,
        {},
        unit_count=3,
        document_count=1,
        document_at=NOW,
        written_at=NOW + 3,
    )
    [listed] = await store.banks(ref.tenant)
    assert listed == bank


async def test_banks_are_listed_by_name_within_a_tenant(store):
    for tenant, name in [("t", "b"), ("t", "a"), ("u", "c"), ("t", "c")]:
        await store.bank_put(BankRef(tenant, name), {})
    assert [b.ref.bank for b in await store.banks("t")] == ["a", "b", "c"]
    assert [b.ref.bank for b in await store.banks("t", 1, 1)] == ["b"]
    assert await store.banks("none") == []


async def test_how_banks_stand_and_their_vectors(store, make):
    told = {name: BankRef("acme", name) for name in ("ada", "zoe", UNNAMED, OF_TENANT)}
    other = BankRef("other", "ada")
    rows = {ref: make.rows(2, embedded=True) for ref in (*told.values(), other)}
    for ref, mine in rows.items():
        await store.apply(ref, Batch(units=mine))
    await store.apply(told["zoe"], Batch(units=[make.row(source_id=rows[told["zoe"]][0].unit.id,
        layer=Layer.FACT)]))  # fmt: skip
    marks = await store.bank_marks("acme", 10)
    assert [mark.ref for mark in marks] == [told[UNNAMED], told["ada"], told["zoe"]]
    assert [mark.key for mark in marks] == [mark.ref.key for mark in marks]
    assert [(mark.revision, mark.updated_at, mark.memories) for mark in marks] == [
        (1, NOW, 2), (1, NOW, 2), (2, NOW, 2),
    ]  # fmt: skip
    assert await store.bank_marks("acme", 2) == marks[:2]
    refs = [told["ada"], told["zoe"], BankRef("acme", "nobody")]
    found = await store.bank_vectors(1, refs)
    assert sorted(found) == sorted(
        (ref.key, row.vector.codes, row.vector.scale)
        for ref in (told["ada"], told["zoe"])
        for row in rows[ref]
    )
    assert await store.bank_vectors(2, refs) == []
    assert await store.bank_vectors(1, []) == []


async def test_the_state_of_a_tenants_banks_tells_of_each_change(store, make):
    one, two = BankRef("acme", "one"), BankRef("acme", "two")
    seen = [await store.banks_state("acme")]
    for ref in (one, two, one):
        await store.apply(ref, Batch(units=[make.row()]))
        seen.append(await store.banks_state("acme"))
    await store.bank_drop(two)
    seen.append(await store.banks_state("acme"))
    await store.apply(two, Batch(units=[make.row()]))
    seen.append(await store.banks_state("acme"))
    assert len(set(seen)) == len(seen)
    await store.apply(BankRef("other", "one"), Batch(units=[make.row()]))
    assert await store.banks_state("acme") == seen[-1]


async def test_the_banks_of_the_house_are_not_listed(store):
    for name in (UNNAMED, OF_TENANT, "a", " b", "\u00e9"):
        await store.bank_put(BankRef("t", name), {})
    assert [b.ref.bank for b in await store.banks("t")] == [" b", "a", "\u00e9"]
    assert await store.bank_count("t") == 3
    assert (await store.bank(BankRef("t", UNNAMED))).ref == BankRef("t", UNNAMED)


async def test_banks_are_found_by_a_part_of_their_names(store):
    for name, shown in [("ada", None), ("bob", "Ada's brother"), ("50%", "Émile"), ("ADAM", None)]:
        await store.bank_put(BankRef("t", name), {"name": shown} if shown else {})
    for containing, names in [
        ("ada", ["ADAM", "ada", "bob"]),
        ("0%", ["50%"]),
        ("%", ["50%"]),
        ("_", []),
        ("É", ["50%"]),
        (None, ["50%", "ADAM", "ada", "bob"]),
    ]:
        found = await store.banks("t", containing=containing)
        assert [b.ref.bank for b in found] == names
        assert await store.bank_count("t", containing=containing) == len(names)
    assert [b.ref.bank for b in await store.banks("t", 1, 1, containing="ada")] == ["ada"]
    assert await store.bank_count("u", containing="ada") == 0


async def test_profiles_are_changed_one_after_the_other(store, ref, clock):
    def count(profile):
        return {**profile, "count": profile.get("count", 0) + 1}

    await asyncio.gather(*(store.bank_change(ref, count) for _ in range(20)))
    clock.us += 5
    bank = await store.bank_change(ref, count)
    assert (bank.profile, bank.revision, bank.updated_at) == ({"count": 21}, 0, NOW + 5)
    assert await store.bank(ref) == bank


async def test_a_change_of_profile_that_fails_changes_nothing(store, ref):
    def refuse(profile):
        raise InvalidInput("no")

    with pytest.raises(InvalidInput):
        await store.bank_change(ref, refuse)
    assert await store.bank(ref) is None


async def test_work_is_queued_with_a_drop(store, ref, make):
    house = BankRef("", "")
    await store.apply(ref, Batch(units=make.rows(2)))
    then = make.job(house, "tidy")
    assert await store.bank_drop(ref, then) == 2
    assert [job.id for job in await store.jobs(house)] == [then.id]
    assert await store.bank_drop(ref, make.job(house, "tidy")) == 0
    assert await store.job_count(house) == 1
    totals = await store.totals()
    assert (totals.banks, totals.sources, totals.jobs) == (0, 0, {JobState.PENDING: 1})


async def test_a_dropped_bank_leaves_nothing(store, ref, make):
    a, b = make.rows(2, embedded=True)
    batch = Batch(
        units=[a, b],
        links=[Link(a.unit.id, b.unit.id, LinkType.TEMPORAL)],
        mentions=[make.mention("Ada", a)],
        jobs=[make.job(ref)],
        triggers=[Trigger(make.ids.new(), ref, NOW)],
        documents=make.document("chat", ["one"]).documents,
    )
    await store.apply(ref, batch)
    await store.blob_put(ref, "key", b"value")
    assert await store.bank_drop(ref) == 2
    assert await store.bank_drop(ref) == 0
    assert await store.bank(ref) is None
    assert await store.banks(ref.tenant) == []
    assert await store.jobs(ref) == await store.due(NOW) == []
    assert await store.claim(["read"], NOW * 2, 1) == []
    assert await store.blob_get(ref, "key", NOW) is None
    assert await store.locate(ref.tenant, ids_of([a, b])) == {}
    async with store.snapshot(ref) as view:
        assert view.revision == 0
        assert await view.changes(1) is None
        assert await view.scan() == await view.documents() == await view.entities() == []


@pytest.mark.parametrize("batches_after", [0, 1, 3])
async def test_a_bank_that_comes_back_never_continues_the_old_feed(
    store, ref, make, check, batches_after
):
    for _ in range(3):
        await store.apply(ref, Batch(units=make.rows(1)))
    await store.bank_drop(ref)
    await store.bank_put(ref, {})
    for _ in range(batches_after):
        await store.apply(ref, Batch(units=make.rows(1)))
    async with store.snapshot(ref) as view:
        assert view.revision > 3
        for old in range(4):
            assert await view.changes(old) is None
        fresh = await view.changes(view.revision - batches_after)
        assert len(fresh.changes) == batches_after
        assert len(await view.scan()) == batches_after
    await check(store, ref)


async def test_locate_stays_within_the_tenant(store, make):
    refs = [BankRef("t", "a"), BankRef("t", "b"), BankRef("u", "a")]
    rows = make.rows(3)
    for ref, row in zip(refs, rows, strict=True):
        await store.apply(ref, Batch(units=[row]))
    ids = ids_of(rows)
    assert await store.locate("t", ids) == {ids[0]: refs[0], ids[1]: refs[1]}
    assert await store.locate("u", ids) == {ids[2]: refs[2]}
    many = [make.ids.new() for _ in range(5_000)]
    assert await store.locate("t", [*many, ids[1]]) == {ids[1]: refs[1]}


async def test_counters_are_written_soon_and_outside_the_feed(store, ref, make):
    [a, b] = make.rows(2)
    await store.apply(ref, Batch(units=[a, b]))
    gone = make.ids.new()
    await store.touch(ref, [a.unit.id, gone], NOW + 7)
    await store.touch(ref, [a.unit.id, a.unit.id], NOW + 3)
    for _ in range(200):
        async with store.snapshot(ref) as view:
            units = await view.units(ids_of([a, b]))
            revision = view.revision
        if units[0].access_count:
            break
        await asyncio.sleep(0.05)
    assert [(u.access_count, u.last_accessed_at) for u in units] == [(3, NOW + 7), (0, None)]
    assert revision == 1
    late = replace(make.row(), unit=replace(make.row().unit, id=gone))
    await store.apply(ref, Batch(units=[late]))
    async with store.snapshot(ref) as view:
        assert [u.access_count for u in await view.units([gone])] == [0]


async def test_counters_are_written_at_once_when_asked_to(store, ref, make):
    [a, b] = make.rows(2)
    await store.apply(ref, Batch(units=[a, b]))
    for _ in range(3):
        await store.touch(ref, [a.unit.id], NOW + 1)
        await store.settle_uses()
    await store.settle_uses()
    async with store.snapshot(ref) as view:
        units = await view.units(ids_of([a, b]))
    assert [(u.access_count, u.last_accessed_at) for u in units] == [(3, NOW + 1), (0, None)]


async def test_counters_are_written_on_close(make_store, ref, make):
    store = make_store()
    await store.open()
    row = make.row()
    await store.apply(ref, Batch(units=[row]))
    await store.touch(ref, [row.unit.id], NOW)
    await store.close()
    await store.close()
    again = make_store()
    await again.open()
    await again.touch(ref, [row.unit.id], NOW - 1)
    await again.close()
    await again.open()
    async with again.snapshot(ref) as view:
        [unit] = await view.units([row.unit.id])
    assert (unit.access_count, unit.last_accessed_at) == (2, NOW)
    await again.close()


async def test_counters_are_written_soon_in_a_store_that_is_opened_again(make_store, ref, make):
    store = make_store()
    await store.open()
    row = make.row()
    await store.apply(ref, Batch(units=[row]))
    await store.touch(ref, [row.unit.id], NOW)
    await store.close()
    await store.open()
    await store.touch(ref, [row.unit.id], NOW + 1)
    for _ in range(200):
        async with store.snapshot(ref) as view:
            [unit] = await view.units([row.unit.id])
        if unit.access_count == 2:
            break
        await asyncio.sleep(0.05)
    assert unit.access_count == 2
    await store.close()


async def test_a_closed_store_says_so(make_store, ref):
    store = make_store()
    for call in (
        lambda: store.bank(ref),
        lambda: store.apply(ref, Batch()),
        lambda: store.touch(ref, [], NOW),
        store.settle_uses,
    ):
        with pytest.raises(StoreError, match="open"):
            await call()
    with pytest.raises(StoreError, match="open"):
        store.snapshot(ref)


STRANGERS = pytest.mark.parametrize("stranger", [BankRef("acme", "eve"), BankRef("evil", "ada")])


@pytest.fixture
def secret(ref, make):
    """A bank's whole contents; the stranger is taken to know every id and name in it."""
    batch = make.document("chat", ["one", "two"])
    a, b = batch.units
    return replace(
        batch,
        links=[Link(a.unit.id, b.unit.id, LinkType.SEMANTIC)],
        jobs=[make.job(ref)],
        triggers=[Trigger(make.ids.new(), ref, NOW)],
        mentions=[make.mention("Ada", a, b)],
    )


@STRANGERS
async def test_no_reading_verb_reaches_another_bank(store, ref, make, secret, stranger):
    await store.apply(ref, secret)
    await store.blob_put(ref, "key", b"secret")
    own = make.row("mine")
    await store.apply(stranger, Batch(units=[own]))
    ids, document = ids_of(secret.units), secret.documents[0].document
    async with store.snapshot(stranger) as view:
        assert ids_of(await view.scan()) == ids_of(await view.newest(9)) == [own.unit.id]
        assert await view.units(ids) == await view.rows(ids) == await view.index_rows(ids) == []
        assert await view.facts_of(ids) == await view.newest(9, entity="Ada") == []
        assert await view.recalled(ids) == []
        assert await view.neighbours(ids, list(LinkType)) == []
        assert await view.document("chat") is None
        assert await view.documents() == await view.entities() == []
        assert await view.chunks(document.id) == await view.units_of(document.id) == []
        assert [c.unit_id for c in (await view.changes(0)).changes] == [own.unit.id]
        assert sum((await view.counts()).values()) == 2
    assert await store.job(stranger, secret.jobs[0].id) is None
    assert await store.jobs(stranger) == []
    assert await store.blob_get(stranger, "key", NOW) is None
    if stranger.tenant != ref.tenant:
        assert await store.locate(stranger.tenant, ids) == {}
        assert [b.ref for b in await store.banks(stranger.tenant)] == [stranger]


@STRANGERS
async def test_no_writing_verb_reaches_another_bank(store, ref, make, check, secret, stranger):
    await store.apply(ref, secret)
    await store.blob_put(ref, "key", b"secret")
    [job], [trigger], [link] = secret.jobs, secret.triggers, secret.links
    ids = ids_of(secret.units)
    own = make.row("mine")
    await store.apply(stranger, Batch(units=[own]))

    assert not await store.job_cancel(stranger, job.id, NOW)
    assert not await store.trigger_drop(stranger, trigger.id)
    assert await store.blob_put(stranger, "key", b"mine")
    [held] = await store.claim(["read"], NOW * 2, 1_000)
    stolen = replace(held, ref=stranger)
    assert not await store.heartbeat(stolen, NOW, 1)
    assert not await store.finish(stolen, JobState.FAILED, NOW)
    await store.touch(stranger, ids, NOW)
    patches = [VectorPatch(i, make.vector(), None) for i in ids]
    await store.generation_vectors(stranger, 1, patches)
    meddling = Batch(
        erase=ids,
        erase_documents=["chat"],
        vectors=patches,
        links=[Link(ids[0], own.unit.id, LinkType.TEMPORAL), replace(link, weight=0.1)],
        mentions=secret.mentions,
    )
    assert (await store.apply(stranger, meddling)).revision == 1
    await store.apply(stranger, make.document("chat", ["other"]))
    await store.apply(stranger, Batch(units=[make.row("same id", id=ids[0])]))
    await store.apply(stranger, Batch(erase=ids[:1]))
    assert await store.trim_changes(stranger, 99) > 0
    await store.bank_drop(stranger)

    document = secret.documents[0].document
    async with store.snapshot(ref) as view:
        assert view.revision == 1
        assert await view.rows(ids) == secret.units
        assert await view.neighbours(ids, list(LinkType)) == [link]
        assert await view.document("chat") == document
        assert (await view.chunks(document.id))[0].text == "one two"
        assert len((await view.changes(0)).changes) == 2
    assert await store.job(ref, job.id) == held
    assert await store.due(NOW) == [trigger]
    assert await store.blob_get(ref, "key", NOW) == b"secret"
    await check(store, ref)


async def test_two_banks_of_one_key_are_never_mixed(store, ref, make, monkeypatch):
    await store.apply(ref, Batch(units=[make.row("secret")]))
    key = ref.key
    monkeypatch.setattr(BankRef, "key", property(lambda self: key))
    double = BankRef("evil", "twin")
    job = make.job(double)
    for call in (
        lambda: store.apply(double, Batch(units=[make.row()])),
        lambda: store.apply(double, Batch(erase=[make.ids.new()])),
        lambda: store.bank(double),
        lambda: store.bank_put(double, {}),
        lambda: store.bank_change(double, dict),
        lambda: store.bank_drop(double),
        lambda: store.jobs(double),
        lambda: store.job(double, job.id),
        lambda: store.job_cancel(double, job.id, NOW),
        lambda: store.trigger_drop(double, job.id),
        lambda: store.blob_put(double, "k", b""),
        lambda: store.blob_get(double, "k", NOW),
        lambda: store.trim_changes(double, 1),
        lambda: store.generation_vectors(double, 1, []),
    ):
        with pytest.raises(StoreError, match="key"):
            await call()
    with pytest.raises(StoreError, match="key"):
        async with store.snapshot(double):
            pass
    assert (await store.bank(ref)).unit_count == 1
