"""Erasing: what goes with a unit, and what must be left of it."""

from __future__ import annotations

from dataclasses import replace

from contract_kit import NOW, ids_of

from remembrancer.keeping.batch import Batch, VectorPatch
from remembrancer.nouns.memory import Chunk, Layer, Link, LinkType, Op

FULL_BLOCK = "\x7f"


async def ops(store, ref, after):
    async with store.snapshot(ref) as view:
        page = await view.changes(after)
    return [(change.unit_id, change.op) for change in page.changes]


async def test_erasing_a_source_takes_its_facts_and_all_that_hangs_on_them(store, ref, make, check):
    source, other = make.row("Ada likes tea", embedded=True), make.row(embedded=True)
    fact = make.row("tea", layer=Layer.FACT, source_id=source.unit.id, embedded=True)
    deeper = make.row("t", layer=Layer.FACT, source_id=fact.unit.id)
    links = [
        Link(fact.unit.id, source.unit.id, LinkType.PROPOSITION_OF),
        Link(other.unit.id, source.unit.id, LinkType.TEMPORAL),
    ]
    mentions = [make.mention("Ada", source, fact), make.mention("tea", source, other)]
    units = [source, other, fact, deeper]
    await store.apply(ref, Batch(units=units, links=links, mentions=mentions))
    applied = await store.apply(ref, Batch(erase=[source.unit.id, make.ids.new()]))
    gone = ids_of([source, fact, deeper])
    assert sorted(applied.erased) == sorted(gone)
    assert applied.replaced == ()
    assert sorted(await ops(store, ref, 1)) == sorted((i, Op.ERASE) for i in gone)
    async with store.snapshot(ref) as view:
        assert await view.units(gone) == []
        assert await view.neighbours([other.unit.id], list(LinkType)) == []
        assert [e.name for e in await view.entities()] == ["tea"]
        assert (await view.counts())["links"] == 0
    assert await store.locate(ref.tenant, gone) == {}
    await check(store, ref)


async def test_erasing_a_fact_leaves_its_source(store, ref, make, check):
    batch = make.document("chat", ["Ada likes tea"])
    [source] = batch.units
    fact = make.row("tea", layer=Layer.FACT, source_id=source.unit.id, start=10, end=13)
    fact = replace(fact, unit=replace(fact.unit, document_id=source.unit.document_id))
    await store.apply(ref, replace(batch, units=[source, fact]))
    assert (await store.apply(ref, Batch(erase=[fact.unit.id]))).erased == (fact.unit.id,)
    async with store.snapshot(ref) as view:
        assert await view.units([source.unit.id]) == [source.unit]
        assert await view.chunks(source.unit.document_id) == [Chunk(0, "Ada likes tea")]
        assert await view.document("chat") == batch.documents[0].document
    await check(store, ref)


async def test_erased_words_leave_their_chunk_and_offsets_stay(store, ref, make, check):
    batch = make.document("chat", ["Ada likes tea", "naïve 🙂 text", "the end"])
    await store.apply(ref, batch)
    await store.apply(ref, Batch(erase=[batch.units[1].unit.id]))
    document = batch.documents[0].document
    async with store.snapshot(ref) as view:
        [chunk] = await view.chunks(document.id)
        kept = await view.units_of(document.id)
        stored = await view.document("chat")
    assert chunk.text == f"Ada likes tea {FULL_BLOCK * 12} the end"
    assert [chunk.text[u.start : u.end] for u in kept] == [u.text for u in kept]
    assert stored == replace(document, content_hash=stored.content_hash)
    assert stored.content_hash != document.content_hash
    await check(store, ref)


async def test_a_document_goes_with_its_last_unit(store, ref, make, check):
    batch = make.document("chat", ["one", "two"])
    other = make.document("other", ["three"])
    await store.apply(ref, batch)
    await store.apply(ref, other)
    document = batch.documents[0].document
    await store.apply(ref, Batch(erase=[batch.units[0].unit.id]))
    async with store.snapshot(ref) as view:
        assert await view.document("chat") is not None
    await store.apply(ref, Batch(erase=[batch.units[1].unit.id]))
    async with store.snapshot(ref) as view:
        assert await view.document("chat") is None
        assert await view.chunks(document.id) == []
        assert await view.documents() == [other.documents[0].document]
    assert (await store.bank(ref)).document_count == 1
    await check(store, ref)


async def test_erasing_documents(store, ref, make, check):
    first, second = make.document("a", ["one", "two"]), make.document("b", ["three"])
    fact = make.row("fact", layer=Layer.FACT, source_id=first.units[0].unit.id)
    await store.apply(ref, first)
    await store.apply(ref, replace(second, units=[*second.units, fact]))
    applied = await store.apply(ref, Batch(erase_documents=["a", "none", "a"]))
    gone = ids_of([*first.units, fact])
    assert sorted(applied.erased) == sorted(gone)
    assert sorted(await ops(store, ref, 2)) == sorted((i, Op.ERASE) for i in gone)
    async with store.snapshot(ref) as view:
        assert [d.name for d in await view.documents()] == ["b"]
        assert await view.chunks(first.documents[0].document.id) == []
    await check(store, ref)


async def test_a_document_without_units_can_be_erased(store, ref, make):
    batch = replace(make.document("a", ["one"]), units=[])
    await store.apply(ref, batch)
    applied = await store.apply(ref, Batch(erase_documents=["a"]))
    assert (applied.revision, applied.erased) == (2, ())
    assert (await store.bank(ref)).document_count == 0


async def test_windows_of_the_next_two_sources_are_reset(store, ref, make, check):
    chain = []
    for n in range(5):
        previous = chain[-1].unit.id if chain else None
        row = make.row(f"turn {n}", embedded=True, window_terms=b"window", previous_id=previous)
        chain.append(row)
    await store.apply(ref, Batch(units=chain))
    second = await store.generation_begin({"model": "second"})
    patches = [VectorPatch(row.unit.id, make.vector(), make.vector()) for row in chain]
    await store.generation_vectors(ref, second.number, patches)
    await store.apply(ref, Batch(erase=[chain[1].unit.id]))
    assert sorted(await ops(store, ref, 1)) == sorted(
        [(chain[1].unit.id, Op.ERASE), (chain[2].unit.id, Op.PUT), (chain[3].unit.id, Op.PUT)]
    )
    expected = [chain[0], chain[2], chain[3], chain[4]]
    for place in (1, 2):
        row = expected[place]
        own = replace(row, window_terms=row.terms, window_vector=row.vector)
        expected[place] = own
    expected[1] = replace(expected[1], unit=replace(expected[1].unit, previous_id=None))
    async with store.snapshot(ref) as view:
        assert await view.rows(ids_of(chain)) == expected
    assert await store.generation_activate(second.number)
    async with store.snapshot(ref) as view:
        rows = await view.rows(ids_of(chain))
    assert [r.window_vector == r.vector for r in rows] == [False, True, True, False]
    await check(store, ref)


async def test_replacing_a_document_resets_windows_outside_it(store, ref, make, check):
    batch = make.document("chat", ["one"])
    after = make.row("two", previous_id=batch.units[0].unit.id, window_terms=b"one two")
    await store.apply(ref, replace(batch, units=[*batch.units, after]))
    await store.apply(ref, make.document("chat", ["other"]))
    async with store.snapshot(ref) as view:
        [row] = await view.rows([after.unit.id])
    assert (row.unit.previous_id, row.window_terms) == (None, row.terms)
    await check(store, ref)


async def test_a_unit_erased_and_put_in_one_batch_is_logged_as_both(store, ref, make, check):
    row = make.row("old")
    await store.apply(ref, Batch(units=[row]))
    await store.touch(ref, [row.unit.id], NOW)
    await store.close()
    await store.open()
    new = make.row("new", id=row.unit.id)
    applied = await store.apply(ref, Batch(erase=[row.unit.id], units=[new]))
    assert applied.erased == (row.unit.id,)
    assert await ops(store, ref, 1) == [(row.unit.id, Op.ERASE), (row.unit.id, Op.PUT)]
    async with store.snapshot(ref) as view:
        assert await view.units([row.unit.id]) == [new.unit]
    await check(store, ref)


async def test_entities_follow_their_units(store, ref, make, check):
    a, b, c = (make.row(str(n), entities=("Ada",)) for n in range(3))
    await store.apply(ref, Batch(units=[a, b, c], mentions=[make.mention("Ada", a, b, c)]))
    again = [make.mention("Ada", b, kind="person", aliases=("A.",)), make.mention("Bob", c)]
    await store.apply(ref, Batch(mentions=again))
    async with store.snapshot(ref) as view:
        ada, bob = await view.entities()
    assert (ada.name, ada.kind, ada.aliases, ada.mention_count) == ("Ada", "person", ("A.",), 3)
    assert (ada.first_seen, ada.last_seen) == (a.unit.mentioned_at, c.unit.mentioned_at)
    assert (bob.name, bob.mention_count) == ("Bob", 1)
    await store.apply(ref, Batch(erase=[c.unit.id]))
    await check(store, ref)
    late = make.row("later", id=a.unit.id, entities=("Ada",), mentioned_at=NOW + 500)
    await store.apply(ref, Batch(units=[late]))
    async with store.snapshot(ref) as view:
        [ada] = await view.entities()
    assert (ada.mention_count, ada.first_seen, ada.last_seen) == (2, b.unit.mentioned_at, NOW + 500)
    silent = make.row("no name", id=a.unit.id)
    await store.apply(ref, Batch(units=[silent], erase=[b.unit.id]))
    async with store.snapshot(ref) as view:
        assert await view.entities() == []
        assert (await view.counts())["entities"] == 0
    await check(store, ref)


async def test_observations_made_from_what_is_erased_go_with_it(store, ref, make, check):
    source, other = make.rows(2)
    fact = make.row("fact", layer=Layer.FACT, source_id=source.unit.id)
    first, second, apart = (make.row(str(n), layer=Layer.OBSERVATION) for n in range(3))
    links = [
        Link(first.unit.id, fact.unit.id, LinkType.INSIGHT_FROM),
        Link(first.unit.id, other.unit.id, LinkType.INSIGHT_FROM),
        Link(second.unit.id, first.unit.id, LinkType.INSIGHT_FROM),
        Link(apart.unit.id, other.unit.id, LinkType.INSIGHT_FROM),
        Link(apart.unit.id, fact.unit.id, LinkType.RELATED_TO),
        Link(other.unit.id, fact.unit.id, LinkType.INSIGHT_FROM),  # no observation
    ]
    await store.apply(ref, Batch(units=[source, other, fact, first, second, apart], links=links))
    applied = await store.apply(ref, Batch(erase=[source.unit.id]))
    assert set(applied.erased) == set(ids_of([source, fact, first, second]))
    async with store.snapshot(ref) as view:
        assert ids_of(await view.scan()) == ids_of([other, apart])
        assert (await view.counts())["links"] == 1
    await check(store, ref)


async def test_observations_that_rest_on_others_outlive_what_is_moved(store, ref, make, check):
    source, other = make.rows(2)
    alone, shared, of_shared, deep = (make.row(str(n), layer=Layer.OBSERVATION) for n in range(4))
    links = [
        Link(alone.unit.id, source.unit.id, LinkType.INSIGHT_FROM),
        Link(deep.unit.id, source.unit.id, LinkType.INSIGHT_FROM),
        Link(deep.unit.id, alone.unit.id, LinkType.INSIGHT_FROM),
        Link(shared.unit.id, source.unit.id, LinkType.INSIGHT_FROM),
        Link(shared.unit.id, other.unit.id, LinkType.INSIGHT_FROM),
        Link(of_shared.unit.id, shared.unit.id, LinkType.INSIGHT_FROM),
    ]
    await store.apply(
        ref, Batch(units=[source, other, alone, shared, of_shared, deep], links=links)
    )
    applied = await store.apply(ref, Batch(moved=[source.unit.id]))
    assert set(applied.erased) == set(ids_of([source, alone, deep]))
    async with store.snapshot(ref) as view:
        assert ids_of(await view.scan()) == ids_of([other, shared, of_shared])
        assert (await view.counts())["links"] == 2
    await check(store, ref)
    applied = await store.apply(ref, Batch(moved=[other.unit.id]))  # it was all that was left
    assert set(applied.erased) == set(ids_of([other, shared, of_shared]))
    await check(store, ref)
