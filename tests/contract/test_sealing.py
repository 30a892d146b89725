"""A store that seals: its keys, what becomes of what was plain, look-ups in sealed columns."""

from __future__ import annotations

import pytest
from contract_kit import NOW, ids_of

from remembrancer.keeping.aes import AesSealer
from remembrancer.keeping.batch import Batch, EntityMention
from remembrancer.keeping.browse import UnitFilter
from remembrancer.keeping.moving import move
from remembrancer.keeping.relational.apply import apply
from remembrancer.keeping.sealing import KeyErased
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.nouns.errors import Conflict, InvalidInput, StoreError
from remembrancer.nouns.memory import BankRef, Entity, Layer

OLD, NEW = bytes(range(32)), bytes(range(32, 64))


def named(make, name, unit_id):
    return EntityMention(Entity(make.ids.new(), name, "person"), (unit_id,))


async def kept_keys(store):
    return {row[0]: row[1:] for row in await store._read(lambda db: db.all("tenant_key_list"))}


async def raw(store, name, *params):
    return await store._read(lambda db: db.plain_all(name, *params))


async def test_rows_are_sealed_and_read_plain(store, ref, make):
    row = make.row(
        "the cello is old", embedded=True, note="said at noon", attributes={"pinned": True}
    )
    await store.apply(ref, Batch(units=[row], mentions=[named(make, "Ann Lee", row.unit.id)]))
    async with store.snapshot(ref) as view:
        [got] = await view.rows([row.unit.id])
        assert got == row
        assert [e.name for e in await view.entities()] == ["Ann Lee"]
    [kept] = await raw(store, "seal_first_unit", ref.key, 10)
    assert "cello" not in repr(kept)
    assert "noon" not in repr(kept)
    assert '"pinned":true' in repr(kept)  # for the index of what is pinned
    [entity] = await raw(store, "seal_first_entity", ref.key, 10)
    assert "Ann" not in repr(entity)
    [vector] = await raw(store, "seal_first_vector", ref.key, 10)
    assert row.vector.codes not in vector


async def test_the_same_text_looks_another_way_each_time(store, ref, make):
    await store.apply(ref, Batch(units=[make.row("again"), make.row("again")]))
    one, other = await raw(store, "seal_first_unit", ref.key, 10)
    assert one[-1] != other[-1]


async def test_a_key_that_went_with_its_transaction_seals_nothing(store, make_store, make):
    ref = BankRef("new tenant", "b")
    with pytest.raises(Conflict):
        await store.apply(ref, Batch(units=[make.row("lost")], expect_revision=7))

    def fails(db, ref):
        apply(db, ref, Batch(units=[make.row("lost")]), NOW)
        raise AssertionError

    with pytest.raises(AssertionError):
        await store._write(fails, ref)
    assert "new tenant" not in await kept_keys(store)
    row = make.row("kept")
    await store.apply(ref, Batch(units=[row]))
    again = make_store()
    await again.open()
    async with again.snapshot(ref) as view:
        assert await view.units([row.unit.id]) == [row.unit]
    await again.close()


async def test_a_tenant_begins_anew_under_a_new_key(store, make_store, ref, make):
    other = make_store()
    await other.open()
    for each in (store, other):
        await each.apply(ref, Batch(units=[make.row("before")]))
    [before] = [key for tenant, key in (await kept_keys(store)).items() if tenant == ref.tenant]
    assert await store.tenant_key_erase(ref.tenant)
    assert not await store.tenant_key_erase(ref.tenant)
    await store.bank_drop(ref)
    row = make.row("after")
    await other.apply(ref, Batch(units=[row]))  # it knows the old key still
    assert (await kept_keys(store))[ref.tenant][0] != before[0]
    for each in (store, other):
        async with each.snapshot(ref) as view:
            assert await view.units([row.unit.id]) == [row.unit]
    await other.close()


async def test_what_was_sealed_with_an_erased_key_opens_no_more(store, ref, make):
    row = make.row("gone")
    await store.apply(ref, Batch(units=[row]))
    assert await store.tenant_key_erase(ref.tenant)
    async with store.snapshot(ref) as view:
        with pytest.raises(KeyErased):
            await view.units([row.unit.id])
    assert await store.tenant_banks(ref.tenant) == [ref]
    await store.bank_drop(ref)
    assert await store.tenant_banks(ref.tenant) == []


async def test_keys_are_rewrapped(store, make_store, ref, make):
    row = make.row("kept")
    await store.apply(ref, Batch(units=[row]))
    before = await kept_keys(store)
    with pytest.raises(StoreError, match="another encryption key"):
        await make_store(sealer=AesSealer([NEW])).open()
    with pytest.raises(StoreError, match="is sealed"):
        await make_store(sealer=None).open()
    both = make_store(sealer=AesSealer([NEW, OLD]))
    await both.open()
    assert await both.rewrap_keys() == len(before)
    assert await both.rewrap_keys() == 0
    after = await kept_keys(both)
    await both.close()
    assert {t: k[0] for t, k in after.items()} == {t: k[0] for t, k in before.items()}
    new = make_store(sealer=AesSealer([NEW]))
    await new.open()
    async with new.snapshot(ref) as view:
        assert await view.units([row.unit.id]) == [row.unit]
    await new.close()
    with pytest.raises(StoreError, match="another encryption key"):
        await make_store().open()


async def test_what_was_plain_is_sealed_bank_by_bank(make_store, make, check):
    plain = make_store(sealer=None)
    await plain.open()
    await plain.generation_begin({"model": "first", "dim": 8})
    assert not plain.seals
    with pytest.raises(InvalidInput, match="does not seal"):
        await plain.seal_all()
    refs = [BankRef("t", f"b{n}") for n in range(3)]
    rows = {ref: make.rows(30, embedded=True) for ref in refs}
    for ref in refs:
        mention = named(make, "Ann Lee", rows[ref][0].unit.id)
        await plain.apply(ref, Batch(units=rows[ref], mentions=[mention]))
    await plain.close()
    store = make_store()
    await store.open()
    # As it is, it can be used, and what comes is sealed.
    extra = make.row("a late one")
    await store.apply(
        refs[0], Batch(units=[extra], mentions=[named(make, "Ann Lee", extra.unit.id)])
    )
    async with store.snapshot(refs[0]) as view:
        assert [e.mention_count for e in await view.entities()] == [2]

    class Halted(Exception):
        pass

    def halt(done, total):
        if done > total // 2:
            raise Halted

    with pytest.raises(Halted):
        await store.seal_all(halt)
    assert await store.seal_all() > 0
    assert await store.seal_all() == 0
    for ref in refs:
        assert all("text" not in repr(r) for r in await raw(store, "seal_first_unit", ref.key, 99))
        assert await raw(store, "bank_place", ref.key) == [("t", 1)]
        async with store.snapshot(ref) as view:
            assert await view.rows(ids_of(rows[ref])) == rows[ref]
            assert list(await view.entities_called(["ann lee"])) == ["ann lee"]
        await check(store, ref)
    mention = named(make, "Ann Lee", rows[refs[1]][1].unit.id)
    await store.apply(refs[1], Batch(mentions=[mention]))
    async with store.snapshot(refs[1]) as view:
        assert [e.mention_count for e in await view.entities()] == [2]
    await store.close()


async def test_parts_of_texts_and_names_are_looked_for(store, ref, make):
    rows = [make.row(f"The Cello of {n}") for n in range(5)] + [make.row("a drum")]
    names = ["Ann Lee", "Ann Ode", "Anna Lee", "Ben Ann"]
    mentions = [named(make, name, rows[n].unit.id) for n, name in enumerate(names)]
    await store.apply(ref, Batch(units=rows, mentions=mentions))
    async with store.snapshot(ref) as view:
        wanted = UnitFilter(layers=(Layer.SOURCE,), text="CELLO")
        page = await view.run(lambda reader: reader.browse(wanted, 2, 1))
        assert page.total == 5
        assert ids_of(page.units) == [rows[3].unit.id, rows[2].unit.id]
        beginning = await view.entities_beginning(["ann", "anna", "be"], 10)
        assert {w: [f for f, _ in found] for w, found in beginning.items()} == {
            "ann": ["ann lee", "ann ode"],
            "anna": ["anna lee"],
        }
        assert [f for f, _ in (await view.entities_beginning(["ann"], 1))["ann"]] == ["ann lee"]
        assert [e.name for e in await view.entities(containing="ann")] == sorted(names)
        assert [e.name for e in await view.entities(2, 1, containing="ann")] == names[1:3]
        assert await view.entity_count(containing="lee") == 2


async def test_a_move_carries_the_keys(store, ref, make, tmp_path, clock):
    row = make.row("carried")
    await store.apply(ref, Batch(units=[row]))
    await store.close()
    target = SqliteStore(tmp_path / "moved", clock=clock, sealer=AesSealer([OLD]))
    with store.moving_from() as here, target.moving_into() as there:
        moved = move(here, there)
    assert moved.tables["tenant_key"] == 2
    await target.open()
    async with target.snapshot(ref) as view:
        assert await view.units([row.unit.id]) == [row.unit]
    await target.close()
    with pytest.raises(StoreError, match="is sealed"):
        await SqliteStore(tmp_path / "moved", clock=clock).open()
