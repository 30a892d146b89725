"""Embedding generations: begin, fill, switch."""

from __future__ import annotations

import pytest
from contract_kit import ids_of

from remembrancer.keeping.batch import Batch, VectorPatch
from remembrancer.keeping.generations import PendingUnit
from remembrancer.nouns.errors import NotFound
from remembrancer.nouns.memory import BankRef, Change, Op

SECOND = {"model": "second", "dim": 8}


async def test_a_fingerprint_has_one_generation(store):
    [first] = await store.generations()
    assert (first.number, first.active, first.fingerprint["model"]) == (1, True, "first")
    again = await store.generation_begin({"dim": 8, "model": "first"})
    assert again == first
    second = await store.generation_begin(SECOND)
    assert (second.number, second.active) == (2, False)
    assert await store.generation_begin(SECOND) == second
    assert await store.generations() == [first, second]


async def test_pending_units_come_in_pages_over_all_banks(store, make):
    refs = [BankRef("t", "a"), BankRef("t", "b"), BankRef("u", "a")]
    expected = []
    for ref in refs:
        rows = make.rows(4)
        await store.apply(ref, Batch(units=[*rows, make.row(embedded=True)]))
        expected += [PendingUnit(ref, i) for i in ids_of(rows)]
    expected.sort(key=lambda p: (p.ref.key, p.unit_id))
    found, after = [], None
    while page := await store.generation_pending(1, 5, after):
        found += page
        after = page[-1]
    assert found == expected
    assert await store.generation_pending_count(1) == 12
    assert await store.generation_pending(9) == []
    await store.bank_drop(refs[0])
    assert await store.generation_pending_count(1) == 8


async def test_vectors_of_the_active_generation_go_through_the_feed(store, ref, make, check):
    rows = make.rows(2)
    await store.apply(ref, Batch(units=rows))
    vector = make.vector()
    patches = [
        VectorPatch(rows[0].unit.id, vector, vector),
        VectorPatch(make.ids.new(), vector, None),
    ]
    await store.generation_vectors(ref, 1, patches)
    async with store.snapshot(ref) as view:
        assert view.revision == 2
        assert (await view.changes(1)).changes == [Change(2, Op.PUT, rows[0].unit.id)]
        assert [r.codes for r in await view.scan()] == [vector.codes, None]
    await store.generation_vectors(ref, 1, patches[1:])
    await store.generation_vectors(BankRef("no", "bank"), 1, patches)
    async with store.snapshot(ref) as view:
        assert view.revision == 2
    assert await store.bank(BankRef("no", "bank")) is None
    await check(store, ref)


async def test_switching_generations(store, ref, make, check):
    rows = make.rows(3, embedded=True)
    await store.apply(ref, Batch(units=rows))
    second = (await store.generation_begin(SECOND)).number
    assert await store.generation_pending_count(second) == 3
    late = make.row("late", embedded=True)
    await store.apply(ref, Batch(units=[late]))
    rows.append(late)
    new = {i: make.vector() for i in ids_of(rows)}
    patches = [VectorPatch(i, vector, None) for i, vector in new.items()]
    await store.generation_vectors(ref, second, patches[:3])
    assert [p.unit_id for p in await store.generation_pending(second)] == [late.unit.id]
    assert not await store.generation_activate(second)
    async with store.snapshot(ref) as view:
        assert (view.revision, view.generation) == (2, 1)
        assert [r.codes for r in await view.scan()] == [r.vector.codes for r in rows]
    await store.generation_vectors(ref, second, patches[3:])
    async with store.snapshot(ref) as old:
        assert await store.generation_activate(second)
        assert [r.codes for r in await old.scan()] == [r.vector.codes for r in rows]
        assert old.generation == 1
    async with store.snapshot(ref) as view:
        assert (view.revision, view.generation) == (2, second)
        assert [r.codes for r in await view.scan()] == [v.codes for v in new.values()]
    [active] = await store.generations()
    assert (active.number, active.active) == (second, True)
    with pytest.raises(NotFound):
        await store.generation_vectors(ref, 1, patches)
    with pytest.raises(NotFound):
        await store.generation_activate(1)
    back = await store.generation_begin({"model": "first", "dim": 8})
    assert back.number == 3
    assert await store.generation_pending_count(3) == 4
    await check(store, ref)


async def test_activating_the_active_one_drops_what_was_begun(store, ref, make, check):
    row = make.row(embedded=True)
    await store.apply(ref, Batch(units=[row]))
    second = (await store.generation_begin(SECOND)).number
    await store.generation_vectors(ref, second, [VectorPatch(row.unit.id, make.vector(), None)])
    assert await store.generation_activate(1)
    assert [g.number for g in await store.generations()] == [1]
    async with store.snapshot(ref) as view:
        assert await view.rows([row.unit.id]) == [row]
    await check(store, ref)


async def test_pending_follows_every_write(store, ref, make, check):
    second = (await store.generation_begin(SECOND)).number
    a, b = make.row(embedded=True), make.row()
    await store.apply(ref, Batch(units=[a, b]))
    assert await store.generation_pending_count(1) == 1
    assert await store.generation_pending_count(second) == 2
    for row in (a, b):
        patch = VectorPatch(row.unit.id, make.vector(), None)
        await store.generation_vectors(ref, second, [patch])
    assert await store.generation_pending_count(second) == 0
    await store.apply(ref, Batch(units=[make.row("again", id=a.unit.id)]))
    assert await store.generation_pending_count(1) == 2
    assert await store.generation_pending_count(second) == 1
    await store.apply(ref, Batch(erase=[a.unit.id]))
    assert await store.generation_pending_count(second) == 0
    await check(store, ref)
