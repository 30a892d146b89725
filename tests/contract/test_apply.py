"""A batch: what it writes, what it replaces, what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from contract_kit import DIM, NOW, ids_of

from remembrancer.keeping.batch import Batch, DocumentWrite, Trigger, VectorPatch
from remembrancer.nouns.errors import Conflict, InvalidInput, ModelMismatch, StoreError
from remembrancer.nouns.memory import (
    BankRef,
    Change,
    Chunk,
    Document,
    JobState,
    Kind,
    Layer,
    Link,
    LinkType,
    Modality,
    Op,
    Polarity,
    Precision,
    Role,
    Unit,
    UnitRow,
    Vector,
)


async def feed(store, ref, after=0):
    async with store.snapshot(ref) as view:
        page = await view.changes(after)
    return page.changes


async def all_ids(store, ref):
    async with store.snapshot(ref) as view:
        return ids_of(await view.scan())


async def test_a_unit_comes_back_as_it_was_put(store, ref, make):
    source = make.row()
    full = UnitRow(
        Unit(
            id=make.ids.new(),
            layer=Layer.FACT,
            text="Ada läuft\x00 🏃 — fast",
            created_at=NOW + 1,
            mentioned_at=NOW + 2,
            kind=Kind.EXPERIENCE,
            document_id=make.ids.new(),
            chunk_index=3,
            turn=4,
            part=5,
            start=6,
            end=7,
            source_id=source.unit.id,
            previous_id=make.ids.new(),
            speaker="Ada",
            role=Role.ASSISTANT,
            subject="Ada",
            polarity=Polarity.NEGATED,
            modality=Modality.PLANNED,
            note="a note",
            attributes={"deep": [1, {"x": None}]},
            metadata={"k": "v"},
            tags=("a", "ü"),
            entities=("Ada", "Bob"),
            occurred_start=-1,
            occurred_end=0,
            precision=Precision.MONTH,
            offset_min=-330,
            valid_from=1,
            valid_until=2,
            updated_at=3,
            importance=0.25,
            access_count=9,
            last_accessed_at=11,
        ),
        b"terms",
        b"window",
        Vector(bytes(range(DIM)), 0.25),
        Vector(bytes(reversed(range(DIM))), 0.75),
    )
    bare = UnitRow(Unit(make.ids.new(), Layer.SOURCE, "", 0, 0))
    empty = UnitRow(Unit(make.ids.new(), Layer.SOURCE, "", 0, 0, attributes={}, metadata={}))
    alone = replace(full, unit=replace(full.unit, id=make.ids.new(), source_id=None))
    await store.apply(ref, Batch(units=[source, full, bare, empty, alone]))
    async with store.snapshot(ref) as view:
        assert await view.rows(ids_of([empty, full, bare])) == [empty, full, bare]
        assert await view.units([full.unit.id]) == [full.unit]
        [index_row] = await view.index_rows(ids_of([full, alone]))
    unit = alone.unit
    assert index_row == (
        unit.id, 1, 1, None, "Ada", 2, unit.mentioned_at, -1, 0, ("a", "ü"), b"terms",
        b"window", full.vector.codes, 0.25, full.window_vector.codes, 0.75,
    )  # fmt: skip


async def test_facts_of_a_source_have_no_index_row_and_need_no_vector(store, ref, make):
    source = make.row()
    fact = make.row("a fact", layer=Layer.FACT, source_id=source.unit.id)
    await store.apply(ref, Batch(units=[source, fact]))
    async with store.snapshot(ref) as view:
        assert ids_of(await view.scan()) == [source.unit.id]
        assert await view.index_rows([fact.unit.id]) == []
    assert [p.unit_id for p in await store.generation_pending(1)] == [source.unit.id]
    second = await store.generation_begin({"model": "second", "dim": DIM})
    assert await store.generation_pending_count(second.number) == 1


async def test_a_fact_whose_source_is_gone_is_left_out(store, ref, make):
    source = make.row()
    await store.apply(ref, Batch(units=[source]))
    await store.apply(ref, Batch(erase=[source.unit.id]))
    late = make.row("late", layer=Layer.FACT, source_id=source.unit.id)
    other = make.row()
    await store.apply(ref, Batch(units=[late, other]))
    async with store.snapshot(ref) as view:
        assert await view.units(ids_of([late, other])) == [other.unit]


async def test_vectors_of_a_generation_that_is_not_active_are_left_out(store, ref, make):
    row = make.row()
    await store.apply(ref, Batch(units=[row]))
    patch = VectorPatch(row.unit.id, make.vector(), None)
    other = make.row()
    await store.apply(ref, Batch(units=[other], vectors=[patch], generation=7))
    async with store.snapshot(ref) as view:
        assert [r.codes for r in await view.index_rows([row.unit.id])] == [None]
    await store.apply(ref, Batch(vectors=[patch], generation=1))
    async with store.snapshot(ref) as view:
        assert [r.codes for r in await view.index_rows([row.unit.id])] == [patch.vector.codes]


async def test_recalled_brings_facts_and_the_documents_name(store, ref, make):
    batch = make.document("notes", ["one", "two"])
    first, second = batch.units
    fact = make.row("one", layer=Layer.FACT, source_id=first.unit.id)
    bare = make.row()
    await store.apply(ref, batch)
    await store.apply(ref, Batch(units=[fact, bare]))
    async with store.snapshot(ref) as view:
        ids = [*ids_of([bare, second, first]), make.ids.new()]
        assert await view.recalled(ids) == [
            (bare.unit, (), None),
            (second.unit, (), "notes"),
            (first.unit, (fact.unit,), "notes"),
        ]


async def test_recalled_takes_any_ids_and_brings_the_counters_of_the_units(store, ref, make):
    batch = make.document("notes", ["one", "two"])
    source, other = (row.unit for row in batch.units)
    source = replace(source, access_count=2, last_accessed_at=NOW)
    about = {"layer": Layer.FACT, "document_id": source.document_id}
    a, b, c = (make.row(text, source_id=source.id, **about).unit for text in "abc")
    counted = replace(b, access_count=1, last_accessed_at=NOW)
    seen = make.row("seen", layer=Layer.OBSERVATION, source_id=source.id).unit
    inner = make.row("inner", source_id=b.id, **about).unit
    await store.apply(ref, replace(batch, units=[UnitRow(source), UnitRow(other)]))
    await store.apply(ref, Batch(units=[UnitRow(u) for u in (c, a, counted, seen, inner)]))
    async with store.snapshot(ref) as view:
        ids = [b.id, seen.id, source.id, other.id, make.ids.new(), source.id]
        assert await view.recalled(ids) == [
            (counted, (inner,), "notes"),
            (seen, (), None),
            (source, (a, b, c), "notes"),
            (other, (), "notes"),
            (source, (a, b, c), "notes"),
        ]
        assert await view.recalled([]) == []


async def test_window_equal_to_own_comes_back_equal(store, ref, make):
    vector = make.vector()
    same = replace(make.row(), vector=vector, window_vector=Vector(vector.codes, vector.scale))
    none = replace(make.row(), vector=vector)
    await store.apply(ref, Batch(units=[same, none]))
    async with store.snapshot(ref) as view:
        assert await view.rows(ids_of([same, none])) == [same, none]
        rows = await view.scan()
    assert [row.window_codes for row in rows] == [vector.codes, None]
    assert [row.window_terms for row in rows] == [row.terms for row in rows]


async def test_each_batch_raises_the_revision_by_one_and_its_feed_carries_it(store, ref, make):
    rows = make.rows(3)
    assert (await store.apply(ref, Batch(units=rows[:2]))).revision == 1
    assert (await store.apply(ref, Batch(units=rows[2:]))).revision == 2
    assert await feed(store, ref) == [
        Change(1, Op.PUT, rows[0].unit.id),
        Change(1, Op.PUT, rows[1].unit.id),
        Change(2, Op.PUT, rows[2].unit.id),
    ]


async def test_a_batch_that_changes_nothing_leaves_no_trace(store, ref, make):
    gone = make.ids.new()
    nothing = Batch(
        erase=[gone],
        erase_documents=["none"],
        vectors=[VectorPatch(gone, make.vector(), None)],
        links=[Link(gone, gone, LinkType.TEMPORAL)],
        mentions=[make.mention("Ada", make.row())],
    )
    assert (await store.apply(ref, nothing)).revision == 0
    assert await store.bank(ref) is None
    [a, b] = make.rows(2)
    link = Link(a.unit.id, b.unit.id, LinkType.SEMANTIC, 0.5)
    await store.apply(ref, Batch(units=[a, b], links=[link]))
    assert (await store.apply(ref, replace(nothing, links=[link]))).revision == 1
    assert len(await feed(store, ref)) == 2


async def test_putting_a_unit_again_replaces_it(store, ref, make, check):
    row = make.row("old words", embedded=True, importance=0.9)
    other = make.row()
    link = Link(row.unit.id, other.unit.id, LinkType.SEMANTIC)
    await store.apply(ref, Batch(units=[row, other], links=[link]))
    await store.touch(ref, [row.unit.id], NOW)
    await store.touch(ref, [row.unit.id], NOW + 5)
    await store.close()
    await store.open()
    new = make.row("new words", id=row.unit.id, layer=Layer.FACT)
    await store.apply(ref, Batch(units=[new]))
    async with store.snapshot(ref) as view:
        [found] = await view.rows([row.unit.id])
        assert await view.neighbours([row.unit.id], [LinkType.SEMANTIC]) == [link]
    assert found.unit == replace(new.unit, access_count=2, last_accessed_at=NOW + 5)
    assert found.vector is None
    await check(store, ref)


async def test_the_last_of_two_rows_of_one_unit_wins(store, ref, make, check):
    first = make.row("first")
    second = make.row("second", id=first.unit.id)
    await store.apply(ref, Batch(units=[first, second]))
    async with store.snapshot(ref) as view:
        assert [u.text for u in await view.units([first.unit.id])] == ["second"]
    await check(store, ref)


async def test_vectors_go_to_units_that_exist(store, ref, make, check):
    [a, b] = make.rows(2)
    await store.apply(ref, Batch(units=[a, b]))
    vector, window = make.vector(), make.vector()
    patches = [VectorPatch(a.unit.id, vector, window), VectorPatch(make.ids.new(), vector, None)]
    applied = await store.apply(ref, Batch(vectors=patches))
    assert await feed(store, ref, 1) == [Change(applied.revision, Op.PUT, a.unit.id)]
    async with store.snapshot(ref) as view:
        rows = await view.rows([a.unit.id, b.unit.id])
    assert [(r.vector, r.window_vector) for r in rows] == [(vector, window), (None, None)]
    await check(store, ref)


async def test_a_vector_of_the_wrong_length_is_refused(store, ref, make):
    row = replace(make.row(), vector=Vector(b"abc", 1.0))
    with pytest.raises(ModelMismatch):
        await store.apply(ref, Batch(units=[row]))
    assert await all_ids(store, ref) == []


async def test_vectors_need_a_generation(make_store, ref, make):
    store = make_store()
    await store.open()
    try:
        with pytest.raises(StoreError, match="generation"):
            await store.apply(ref, Batch(units=[make.row(embedded=True)]))
        await store.apply(ref, Batch(units=[make.row()]))
    finally:
        await store.close()


async def test_replacing_a_document_replaces_its_units(store, ref, make, check):
    first = make.document("chat", ["one", "two", "three"])
    fact = make.row("a fact", layer=Layer.FACT, source_id=first.units[1].unit.id)
    await store.apply(ref, replace(first, units=[*first.units, fact]))
    second = make.document("chat", ["one", "four"], tags=("new",))
    kept = replace(second.units[0], unit=replace(second.units[0].unit, id=first.units[0].unit.id))
    applied = await store.apply(ref, replace(second, units=[kept, second.units[1]]))
    gone = ids_of([first.units[1], first.units[2], fact])
    assert sorted(applied.replaced) == sorted(gone)
    assert applied.erased == ()
    changes = await feed(store, ref, 1)
    assert {c.unit_id: c.op for c in changes} == dict.fromkeys(gone, Op.DELETE) | dict.fromkeys(
        ids_of([kept, second.units[1]]), Op.PUT
    )
    assert len(changes) == 5
    async with store.snapshot(ref) as view:
        document = second.documents[0].document
        assert await view.documents() == [document]
        assert await view.document("chat") == document
        assert await view.chunks(document.id) == [Chunk(0, "one four")]
        assert await view.chunks(first.documents[0].document.id) == []
        assert ids_of(await view.units_of(document.id)) == sorted(ids_of([kept, second.units[1]]))
    await check(store, ref)


async def test_a_document_may_keep_its_id_when_replaced(store, ref, make, check):
    first = make.document("chat", ["one", "two"])
    await store.apply(ref, first)
    again = make.document("chat", ["three"], id=first.documents[0].document.id)
    applied = await store.apply(ref, again)
    assert sorted(applied.replaced) == sorted(ids_of(first.units))
    assert (await store.bank(ref)).document_count == 1
    await check(store, ref)


async def test_documents_come_back_whole(store, ref, make):
    document = Document(
        make.ids.new(), "ü", "abc", 1, 2, 3, ("t",), {"k": "v"}, {"deep": {"x": [1]}}
    )
    chunks = [Chunk(n, f"chunk {n}") for n in range(12)]
    await store.apply(ref, Batch(documents=[DocumentWrite(document, chunks)]))
    async with store.snapshot(ref) as view:
        assert await view.document("ü") == document
        assert await view.chunks(document.id) == chunks


async def test_expected_revision(store, ref, make):
    await store.apply(ref, Batch(units=[make.row()], expect_revision=0))
    with pytest.raises(Conflict) as caught:
        await store.apply(ref, Batch(units=[make.row()], expect_revision=0))
    assert caught.value.field == "expect_revision"
    assert (await store.apply(ref, Batch(units=[make.row()], expect_revision=1))).revision == 2


@pytest.mark.parametrize(("expected", "holds"), [(None, True), ("", False), ("x", False)])
async def test_expected_hash_of_a_stored_document(store, ref, make, expected, holds, check):
    await store.apply(ref, make.document("chat", ["one"]))
    batch = make.document("chat", ["two"])
    batch = replace(batch, documents=[replace(batch.documents[0], expect_hash=expected)])
    if holds:
        assert (await store.apply(ref, batch)).revision == 2
    else:
        with pytest.raises(Conflict):
            await store.apply(ref, batch)
        assert len(await feed(store, ref)) == 1
    await check(store, ref)


async def test_expected_hash_matches(store, ref, make):
    first = make.document("chat", ["one"])
    new = [replace(first.documents[0], expect_hash="")]
    await store.apply(ref, replace(first, documents=new))
    second = make.document("chat", ["two"])
    stored = first.documents[0].document.content_hash
    second = replace(second, documents=[replace(second.documents[0], expect_hash=stored)])
    assert (await store.apply(ref, second)).revision == 2
    third = make.document("other", ["three"])
    third = replace(third, documents=[replace(third.documents[0], expect_hash="x")])
    with pytest.raises(Conflict):
        await store.apply(ref, third)


async def test_a_conflict_leaves_nothing_behind(store, ref, make, check):
    await store.apply(ref, make.document("chat", ["one"]))
    before = await all_ids(store, ref)
    good = make.document("other", ["two"])
    bad = make.document("chat", ["three"]).documents[0]
    batch = replace(
        good,
        documents=[*good.documents, replace(bad, expect_hash="no")],
        jobs=[make.job(ref)],
        erase=before,
    )
    with pytest.raises(Conflict):
        await store.apply(ref, batch)
    assert await all_ids(store, ref) == before
    assert await store.jobs(ref) == []
    assert (await store.bank(ref)).revision == 1
    await check(store, ref)


async def test_a_fenced_batch_needs_the_lease(store, ref, make):
    await store.apply(ref, Batch(jobs=[make.job(ref)]))
    [job] = await store.claim(["read"], NOW + 9, 1_000)
    await store.apply(ref, Batch(units=[make.row()], fence=(job.id, job.fence)))
    [again] = await store.claim(["read"], NOW + 5_000, 1_000)
    with pytest.raises(Conflict) as caught:
        await store.apply(ref, Batch(units=[make.row()], fence=(job.id, job.fence)))
    assert caught.value.field == "fence"
    fenced = Batch(units=[make.row()], fence=(again.id, again.fence))
    await store.apply(ref, fenced)
    await store.finish(again, JobState.COMPLETED, NOW)
    with pytest.raises(Conflict):
        await store.apply(ref, fenced)
    assert len(await all_ids(store, ref)) == 2


async def test_jobs_and_triggers_of_another_bank_are_refused(store, ref, make):
    other = BankRef(ref.tenant, "other")
    for batch in (
        Batch(jobs=[make.job(other)]),
        Batch(triggers=[Trigger(make.ids.new(), other, NOW)]),
    ):
        with pytest.raises(InvalidInput):
            await store.apply(ref, batch)


async def test_a_big_batch(store, ref, make, check):
    rows = make.rows(3_000, embedded=True)
    await store.apply(ref, Batch(units=rows))
    wanted = ids_of(rows)
    make.random.shuffle(wanted)
    async with store.snapshot(ref) as view:
        assert ids_of(await view.units(wanted)) == wanted
        assert ids_of(await view.rows(wanted)) == wanted
        assert ids_of(await view.index_rows(wanted)) == sorted(wanted)
    await check(store, ref)
    applied = await store.apply(ref, Batch(erase=wanted[:2_500]))
    assert set(applied.erased) == set(wanted[:2_500])
    await check(store, ref)
