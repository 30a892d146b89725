"""Documents put again that keep much of the older version."""

from __future__ import annotations

from dataclasses import replace

import pytest
from contract_kit import NOW, ids_of

from remembrancer.keeping.batch import Batch, DocumentWrite, KeptUnit, Reading, WindowPatch
from remembrancer.nouns.errors import Conflict
from remembrancer.nouns.memory import Chunk, Layer, Link, LinkType, Op


def newer(batch, texts, **more):
    """The document of a batch with another text."""
    document = batch.documents[0].document
    document = replace(document, content_hash=f"hash of {texts}", created_at=NOW + 10**9)
    return DocumentWrite(document, [Chunk(i, text) for i, text in enumerate(texts)], **more)


async def test_kept_sources_stay_with_all_that_hangs_on_them(store, ref, make):
    batch = make.document("chat", ["one", "two", "three"])
    one, two, three = (replace(row, vector=make.vector()) for row in batch.units)
    fact = make.row("a", layer=Layer.FACT, source_id=one.unit.id)
    fact = replace(fact, unit=replace(fact.unit, document_id=one.unit.document_id), same=b"x" * 12)
    link = Link(one.unit.id, three.unit.id, LinkType.RELATED_TO)
    mention = make.mention("Ada", one, fact, two)
    rows = [one, two, three, fact]
    await store.apply(ref, replace(batch, units=rows, mentions=[mention], links=[link]))
    await store.touch(ref, [one.unit.id], NOW)
    write = newer(batch, ["one", "four"], keep=[one.unit.id, three.unit.id])
    four = make.row("four", document_id=write.document.id)
    applied = await store.apply(ref, Batch(documents=[write], units=[four]))
    assert applied.replaced == (two.unit.id,)
    async with store.snapshot(ref) as view:
        assert ids_of(await view.sources_of(write.document.id)) == ids_of([one, four, three])
        assert (await view.rows([one.unit.id]))[0].vector == one.vector
        assert await view.units([fact.unit.id]) == [fact.unit]
        assert await view.neighbours([one.unit.id], [LinkType.RELATED_TO]) == [link]
        assert [(e.name, e.mention_count) for e in await view.entities()] == [("Ada", 2)]
        document = await view.document("chat")
        assert document == replace(write.document, created_at=NOW)
        assert await view.chunks(document.id) == [Chunk(0, "one"), Chunk(1, "four")]
        changes = (await view.changes(applied.revision - 1)).changes
    assert {(c.op, c.unit_id) for c in changes} == {
        (Op.PUT, four.unit.id),
        (Op.DELETE, two.unit.id),
    }


async def test_moved_sources_change_and_their_facts_move_along(store, ref, make):
    batch = make.document("chat", ["one", "two of Ada"])
    one, two = (replace(row, vector=make.vector(), same=b"s" * 12) for row in batch.units)
    two = replace(
        two,
        unit=replace(two.unit, previous_id=one.unit.id, entities=("Ada", "Bob")),
        window_terms=b"both",
        window_vector=make.vector(),
    )
    fact = make.row("a", layer=Layer.FACT, source_id=two.unit.id, start=2, end=3)
    fact = replace(fact, unit=replace(fact.unit, document_id=two.unit.document_id), same=b"f" * 12)
    mentions = [make.mention("Ada", two, fact), make.mention("Bob", two)]
    await store.apply(ref, replace(batch, units=[one, two, fact], mentions=mentions))
    at = NOW + 77
    moved = replace(
        two.unit,
        chunk_index=3,
        turn=9,
        part=1,
        start=4,
        end=14,
        mentioned_at=at,
        previous_id=None,
        note="said twice",
        metadata={"k": "v"},
        tags=("red",),
        entities=("Cy",),
    )
    same = {two.unit.id: b"t" * 12, fact.unit.id: None}
    write = newer(batch, ["other"], moved=[KeptUnit(moved, two.terms, same)])
    await store.apply(ref, Batch(documents=[write]))
    async with store.snapshot(ref) as view:
        [row] = await view.rows([two.unit.id])
        assert row.unit == moved
        assert (row.terms, row.window_terms, row.same) == (two.terms, two.terms, b"t" * 12)
        assert row.vector == row.window_vector == two.vector
        [read] = await view.rows([fact.unit.id])
        place = {"chunk_index": 3, "turn": 9, "part": 1, "mentioned_at": at}
        told = {"note": "said twice", "metadata": {"k": "v"}, "tags": ("red",)}
        assert read.unit == replace(fact.unit, **place, **told)
        assert read.same is None
        # Ada stands in the text; Bob was only told
        assert [(e.name, e.last_seen) for e in await view.entities()] == [("Ada", at)]


async def test_a_document_is_extended(store, ref, make, check):
    batch = make.document("chat", ["one"])
    await store.apply(ref, batch)
    document = replace(batch.documents[0].document, content_hash="more", length=7)
    write = DocumentWrite(document, [Chunk(1, "\ntwo")], extends=True)
    two = make.row("two", document_id=document.id, chunk_index=1, turn=1)
    applied = await store.apply(ref, Batch(documents=[write], units=[two]))
    assert applied.replaced == ()
    async with store.snapshot(ref) as view:
        assert await view.chunks(document.id) == [Chunk(0, "one"), Chunk(1, "\ntwo")]
        assert ids_of(await view.sources_of(document.id)) == ids_of([*batch.units, two])
    assert (await store.bank(ref)).document_count == 1
    await check(store, ref)


async def test_what_a_document_keeps_goes_when_another_has_its_name(store, ref, make, check):
    batch = make.document("chat", ["one"])
    await store.apply(ref, batch)
    other = make.document("chat", ["two"])
    write = replace(other.documents[0], keep=ids_of(batch.units))
    await store.apply(ref, replace(other, documents=[write]))
    async with store.snapshot(ref) as view:
        assert await view.units(ids_of(batch.units)) == []
    await check(store, ref)


async def test_window_vectors_go_to_units_that_have_a_vector(store, ref, make, check):
    with_one, without = make.row("a", embedded=True), make.row("b")
    await store.apply(ref, Batch(units=[with_one, without]))
    vector = make.vector()
    windows = [WindowPatch(row.unit.id, vector) for row in (with_one, without)]
    await store.apply(ref, Batch(windows=windows))
    async with store.snapshot(ref) as view:
        rows = await view.rows(ids_of([with_one, without]))
    assert [row.window_vector for row in rows] == [vector, None]
    assert rows[0].vector == with_one.vector
    await check(store, ref)


async def test_reading_needs_its_token_and_the_hash(store, ref, make):
    batch = make.document("chat", ["one"], params={"reading": ["a", "b"], "items": [1]})
    await store.apply(ref, batch)
    document = batch.documents[0].document
    good = Reading(document.id, "a", document.content_hash)
    bad = [
        good._replace(token="c"),
        good._replace(content_hash="x"),
        good._replace(document_id=make.ids.new()),
    ]
    for reading in bad:
        with pytest.raises(Conflict) as caught:
            await store.apply(ref, Batch(units=[make.row()], reading=reading))
        assert caught.value.field == "reading"
    await store.apply(ref, Batch(units=[make.row()], reading=good))
    await store.apply(ref, Batch(reading=good._replace(done=True)))
    async with store.snapshot(ref) as view:
        assert (await view.document("chat")).params == {"reading": ["b"], "items": [1]}
    await store.apply(ref, Batch(reading=good._replace(token="b", done=True)))
    async with store.snapshot(ref) as view:
        assert (await view.document("chat")).params == {"items": [1]}


async def test_each_erasure_gives_a_document_another_hash(store, ref, make):
    batch = make.document("chat", ["one", "two", "three"])
    await store.apply(ref, batch)
    hashes = {batch.documents[0].document.content_hash}
    for row in batch.units[:2]:
        await store.apply(ref, Batch(erase=[row.unit.id]))
        async with store.snapshot(ref) as view:
            hashes.add((await view.document("chat")).content_hash)
    assert len(hashes) == 3
