"""What units say, and what people did to them."""

from __future__ import annotations

from dataclasses import replace

from contract_kit import NOW

from remembrancer.keeping.batch import Batch
from remembrancer.nouns.memory import BankRef, Curation, Layer


async def test_units_that_say_the_same_know_each_other(store, ref, make):
    first, second, other, plain = (
        replace(r, same=k)
        for r, k in zip(make.rows(4), (b"one", b"one", b"two", None), strict=True)
    )
    ids = [r.unit.id for r in (first, second, other, plain)]
    await store.apply(ref, Batch(units=[first, second, other, plain]))
    async with store.snapshot(ref) as view:
        same = await view.same(ids)
        assert (await view.rows([ids[0]]))[0].same == b"one"
    assert same == {ids[0]: tuple(ids[:2]), ids[1]: tuple(ids[:2]), ids[2]: (ids[2],)}
    await store.apply(ref, Batch(units=[replace(second, same=b"two")]))
    await store.apply(ref, Batch(erase=[ids[0]]))
    async with store.snapshot(ref) as view:
        assert await view.same(ids) == {ids[1]: tuple(ids[1:3]), ids[2]: tuple(ids[1:3])}


async def test_keys_that_lean_on_an_erased_source_go_with_it(store, ref, make):
    batch, other = make.document("chat", ["one", "two", "three"]), make.document("more", ["four"])
    leans, stands, apart = b"\x80leans", b"\x7fstands", b"\xffapart"
    keys = (None, leans, stands)
    rows = [replace(r, same=k) for r, k in zip(batch.units, keys, strict=True)]
    fact = replace(
        make.row(
            "two", layer=Layer.FACT, source_id=rows[1].unit.id, document_id=rows[1].unit.document_id
        ),
        same=leans,
    )
    away = [replace(r, same=apart) for r in other.units]
    await store.apply(ref, replace(batch, units=[*rows, fact]))
    await store.apply(ref, replace(other, units=away))
    await store.apply(ref, Batch(erase=[rows[0].unit.id]))
    async with store.snapshot(ref) as view:
        assert await view.known_same([leans, stands, apart]) == {stands, apart}
        assert len(await view.scan()) == 3


async def test_keys_that_lean_on_what_stays_stay(store, ref, make):
    batch = make.document("chat", ["one", "two", "three", "four"])
    keys = [b"\x80" + r.unit.text.encode() for r in batch.units]
    rows = [replace(r, same=k) for r, k in zip(batch.units, keys, strict=True)]
    await store.apply(ref, replace(batch, units=rows))
    await store.apply(ref, Batch(erase=[rows[1].unit.id]))
    async with store.snapshot(ref) as view:
        assert await view.known_same(keys) == {keys[0], keys[3]}
    await store.apply(ref, Batch(erase=[rows[3].unit.id]))
    async with store.snapshot(ref) as view:
        assert await view.known_same(keys) == {keys[0]}


async def test_keys_are_known_and_counted_in_their_bank(store, ref, make):
    rows = [
        replace(r, same=k)
        for r, k in zip(make.rows(4), (b"one", b"one", b"two", None), strict=True)
    ]
    ids = [r.unit.id for r in rows]
    await store.apply(ref, Batch(units=rows))
    await store.apply(ref, Batch(curations=[Curation(ids[1], True)]))
    asked = [b"two", b"one", b"six"]

    def read(reader):
        return reader.shared_keys([*ids, make.ids.new()]), reader.proofs(asked), reader.proofs([])

    async with store.snapshot(ref) as view:
        assert await view.known_same(asked) == {b"one", b"two"}
        assert await view.known_same([]) == set()
        assert await view.run(read) == (
            {ids[0]: b"one", ids[1]: b"one"},
            {b"one": 1, b"two": 1, b"six": 0},
            {},
        )
    async with store.snapshot(BankRef(ref.tenant, "another")) as view:
        assert await view.known_same(asked) == set()
        assert await view.run(read) == ({}, dict.fromkeys(asked, 0), {})


async def test_an_invalid_unit_is_kept_and_no_longer_found(store, ref, make):
    source = make.row("first", embedded=True)
    spare = make.row("second", embedded=True)
    fact = make.row("first fact", layer=Layer.FACT, source_id=spare.unit.id)
    await store.apply(
        ref, Batch(units=[source, spare, fact], mentions=[make.mention("Ann", source)])
    )
    gone = [Curation(source.unit.id, True, {"reason": "wrong"}), Curation(fact.unit.id, True)]
    applied = await store.apply(ref, Batch(curations=gone))
    ids = [source.unit.id, spare.unit.id]
    async with store.snapshot(ref) as view:
        page = await view.changes(applied.revision - 1)
        assert {c.unit_id for c in page.changes} == {source.unit.id, fact.unit.id}
        assert [r.unit_id for r in await view.index_rows(ids)] == [spare.unit.id]
        assert [r.unit_id for r in await view.scan()] == [spare.unit.id]
        assert [u.id for u in await view.newest(9)] == [spare.unit.id]
        assert await view.newest(9, entity="Ann") == []
        [found] = await view.recalled([spare.unit.id])
        assert found.facts == ()
        assert await view.facts_of([spare.unit.id]) == []
        assert [u.id for u in await view.units(ids)] == ids
        assert await view.curations(ids) == {source.unit.id: gone[0]}
    await store.apply(ref, Batch(curations=[Curation(source.unit.id, False, {"at": NOW})]))
    async with store.snapshot(ref) as view:
        assert [r.unit_id for r in await view.scan()] == ids
        assert (await view.curations(ids))[source.unit.id].data == {"at": NOW}


async def test_a_curation_goes_with_its_unit(store, ref, make):
    row = make.row()
    await store.apply(ref, Batch(units=[row]))
    await store.apply(ref, Batch(curations=[Curation(row.unit.id, True, {"reason": "secret"})]))
    await store.apply(ref, Batch(erase=[row.unit.id]))
    applied = await store.apply(ref, Batch(curations=[Curation(row.unit.id, True)]))
    async with store.snapshot(ref) as view:
        assert await view.curations([row.unit.id]) == {}
        assert applied.revision == view.revision
