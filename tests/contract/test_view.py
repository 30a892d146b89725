"""Reading one snapshot of a bank."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import chain

import pytest
from contract_kit import NOW, ids_of

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.relational import feed
from remembrancer.nouns.memory import BankRef, Layer, Link, LinkType, Op


async def test_a_bank_that_does_not_exist_reads_as_empty(store, ref, make):
    some = [make.ids.new()]
    async with store.snapshot(ref) as view:
        assert view.revision == 0
        assert view.generation == 1
        assert await view.scan() == await view.index_rows(some) == await view.units(some) == []
        assert await view.newest(5) == await view.documents() == await view.entities() == []
        assert await view.changes(0) == ([], True)
        assert await view.changes(3) is None
        assert set((await view.counts()).values()) == {0}


async def test_generation_is_zero_without_one(make_store, ref):
    store = make_store()
    await store.open()
    async with store.snapshot(ref) as view:
        assert view.generation == 0
    await store.close()


async def test_a_view_does_not_see_later_writes(store, ref, make):
    batch = make.document("chat", ["one", "two"])
    await store.apply(ref, batch)
    ids = ids_of(batch.units)
    async with store.snapshot(ref) as view:
        await store.apply(ref, Batch(units=make.rows(3), erase=ids[:1]))
        await store.generation_begin({"model": "next"})
        assert view.revision == 1
        assert ids_of(await view.scan()) == ids
        assert ids_of(await view.units(ids)) == ids
        assert len((await view.changes(0)).changes) == 2
        assert (await view.chunks(batch.documents[0].document.id))[0].text == "one two"
        assert (await view.counts())["units"] == 2
    async with store.snapshot(ref) as view:
        assert view.revision == 2
        assert len(await view.scan()) == 4


async def test_more_snapshots_than_connections_wait_their_turn(make_store, ref, make):
    store = make_store(readers=2)
    await store.open()
    await store.apply(ref, Batch(units=make.rows(3)))
    most = inside = 0
    full = asyncio.Event()  # the first waits for the second, however long a connection takes

    async def read() -> int:
        nonlocal most, inside
        async with store.snapshot(ref) as view:
            inside += 1
            most = max(most, inside)
            if inside == 2:
                full.set()
            rows = await view.scan()
            await asyncio.wait_for(full.wait(), 60)
            await asyncio.sleep(0.001)
            inside -= 1
        return len(rows)

    assert await asyncio.gather(*(read() for _ in range(20))) == [3] * 20
    assert most == 2
    await store.close()


async def test_a_failing_block_gives_its_connection_back(make_store, ref, make):
    store = make_store(readers=1)
    await store.open()
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            async with store.snapshot(ref):
                raise ZeroDivisionError
    await store.apply(ref, Batch(units=make.rows(1)))
    async with store.snapshot(ref) as view:
        assert view.revision == 1
    await store.close()


async def test_scan_pages_in_id_order(store, ref, make):
    rows = make.rows(23, embedded=True)
    await store.apply(ref, Batch(units=rows))
    found, after = [], b""
    async with store.snapshot(ref) as view:
        while page := await view.scan(after, 5):
            assert len(page) <= 5
            found += page
            after = page[-1].unit_id
    assert ids_of(found) == sorted(ids_of(rows))
    assert [r.codes for r in found] == [r.vector.codes for r in rows]


async def test_ids_may_repeat_and_be_missing(store, ref, make):
    [a, b] = make.rows(2)
    await store.apply(ref, Batch(units=[a, b]))
    wanted = [b.unit.id, make.ids.new(), a.unit.id, b.unit.id]
    async with store.snapshot(ref) as view:
        assert ids_of(await view.units(wanted)) == ids_of([b, a, b])
        assert ids_of(await view.rows(wanted)) == ids_of([b, a, b])
        assert ids_of(await view.index_rows(wanted)) == ids_of([a, b])
        assert await view.units([]) == await view.rows([]) == await view.index_rows([]) == []


async def test_changes_come_in_pages_of_whole_revisions(store, ref, make):
    batches = [make.rows(n) for n in (2, 5, 1, 3)]
    for rows in batches:
        await store.apply(ref, Batch(units=rows))
    async with store.snapshot(ref) as view:
        pages, after = [], 0
        while True:
            page = await view.changes(after, limit=3)
            pages.append([change.unit_id for change in page.changes])
            if page.complete:
                break
            after = page.changes[-1].revision
        assert [i for page in pages for i in page] == ids_of(chain(*batches))
        assert [len(page) for page in pages] == [2, 5, 1, 3]
        assert await view.changes(4) == ([], True)
        assert await view.changes(5) is None


async def test_trimmed_changes(store, ref, make):
    for _ in range(5):
        await store.apply(ref, Batch(units=make.rows(2)))
    assert await store.trim_changes(ref, 3) == 6
    assert await store.trim_changes(ref, 2) == 0
    async with store.snapshot(ref) as view:
        assert await view.changes(2) is None
        assert [c.revision for c in (await view.changes(3)).changes] == [4, 4, 5, 5]
    assert await store.trim_changes(ref, 99) == 4
    async with store.snapshot(ref) as view:
        assert await view.changes(4) is None
        assert await view.changes(5) == ([], True)
    await store.apply(ref, Batch(units=make.rows(1)))
    async with store.snapshot(ref) as view:
        assert len((await view.changes(5)).changes) == 1
    assert await store.trim_changes(BankRef("acme", "none"), 9) == 0


async def test_facts_of_sources(store, ref, make):
    a, b = make.rows(2)
    facts = [make.row("f", layer=Layer.FACT, source_id=source.unit.id) for source in (b, a, b)]
    insight = make.row("i", layer=Layer.OBSERVATION, source_id=a.unit.id)
    await store.apply(ref, Batch(units=[a, b, insight, *facts]))
    async with store.snapshot(ref) as view:
        assert ids_of(await view.facts_of(ids_of([b, a]))) == ids_of(facts)
        assert ids_of(await view.facts_of(ids_of([a]))) == [facts[1].unit.id]
        assert await view.facts_of([]) == []


async def test_newest(store, ref, make):
    times = [5, 3, 3, 9, 1]
    layers = [Layer.SOURCE, Layer.FACT, Layer.SOURCE, Layer.OBSERVATION, Layer.FACT]
    rows = [
        make.row(str(n), mentioned_at=NOW + at, layer=layer)
        for n, (at, layer) in enumerate(zip(times, layers, strict=True))
    ]
    mention = make.mention("Ada", rows[0], rows[2], rows[4])
    await store.apply(ref, Batch(units=rows, mentions=[mention]))

    async with store.snapshot(ref) as view:

        async def texts(limit, **more):
            return "".join(u.text for u in await view.newest(limit, **more))

        assert await texts(9) == "30214"
        assert await texts(2) == "30"
        assert await texts(9, layer=Layer.SOURCE) == "02"
        assert await texts(9, layer=Layer.OBSERVATION) == "3"
        assert await texts(9, since=NOW + 3) == "3021"
        assert await texts(9, until=NOW + 5) == "214"
        assert await texts(9, since=NOW + 3, until=NOW + 5) == "21"
        assert await texts(9, entity="Ada") == "024"
        assert await texts(1, entity="Ada", layer=Layer.FACT) == "4"
        assert await texts(9, entity="Ada", until=NOW + 5, since=NOW + 2) == "2"
        assert await texts(9, entity="ada") == ""
        assert await texts(0) == ""


async def test_newest_entity_dates_follow_a_replaced_unit(store, ref, make):
    row = make.row("a", entities=("Ada",))
    await store.apply(ref, Batch(units=[row], mentions=[make.mention("Ada", row)]))
    moved = replace(row, unit=replace(row.unit, mentioned_at=NOW + 900, layer=Layer.FACT))
    await store.apply(ref, Batch(units=[moved]))
    async with store.snapshot(ref) as view:
        assert ids_of(await view.newest(5, entity="Ada", since=NOW + 900)) == [row.unit.id]
        assert ids_of(await view.newest(5, entity="Ada", layer=Layer.FACT)) == [row.unit.id]


async def test_neighbours(store, ref, make):
    a, b, c, d, e = rows = make.rows(5)
    ab = Link(a.unit.id, b.unit.id, LinkType.SEMANTIC, 0.9)
    ca = Link(c.unit.id, a.unit.id, LinkType.SEMANTIC, 0.4)
    ad = Link(a.unit.id, d.unit.id, LinkType.CAUSED_BY, 0.7)
    be = Link(b.unit.id, e.unit.id, LinkType.SEMANTIC, 0.2)
    gone = Link(a.unit.id, make.ids.new(), LinkType.SEMANTIC, 1.0)
    await store.apply(ref, Batch(units=rows, links=[be, ca, ad, ab, gone]))
    seed = [a.unit.id]
    semantic = [LinkType.SEMANTIC]
    async with store.snapshot(ref) as view:
        assert await view.neighbours(seed, semantic) == [ab, ca]
        assert await view.neighbours(seed, [*semantic, LinkType.CAUSED_BY]) == [ab, ad, ca]
        assert await view.neighbours(seed, semantic, depth=2) == [ab, ca, be]
        assert await view.neighbours(seed, semantic, fan=1) == [ab]
        assert await view.neighbours(seed, []) == await view.neighbours([], semantic) == []
        assert await view.neighbours(seed, semantic, depth=0) == []
        assert (await view.counts())["links"] == 4
    heavier = replace(ca, weight=1.0)
    await store.apply(ref, Batch(links=[heavier]))
    async with store.snapshot(ref) as view:
        assert await view.neighbours(seed, semantic) == [heavier, ab]
        assert (await view.counts())["links"] == 4
    every = [Link(b.unit.id, c.unit.id, link_type) for link_type in LinkType]
    await store.apply(ref, Batch(links=every))
    async with store.snapshot(ref) as view:
        found = await view.neighbours([c.unit.id], list(LinkType), fan=99)
    assert {link.type for link in found} == set(LinkType)


async def test_lists_come_in_pages(store, ref, make):
    for n in range(4):
        await store.apply(ref, make.document(f"doc {n}", [f"text {n}"]))
    rows = make.rows(3)
    mentions = [make.mention(f"e{n}", *rows[: n + 1]) for n in range(3)]
    await store.apply(ref, Batch(units=rows, mentions=mentions))
    async with store.snapshot(ref) as view:
        names = [d.name for d in await view.documents()]
        assert names == ["doc 3", "doc 2", "doc 1", "doc 0"]
        assert [d.name for d in await view.documents(2, 1)] == names[1:3]
        assert [e.name for e in await view.entities()] == ["e2", "e1", "e0"]
        assert [e.name for e in await view.entities(1, 1)] == ["e1"]


async def test_an_erase_in_the_feed_says_so(store, ref, make):
    rows = make.rows(2)
    await store.apply(ref, Batch(units=rows))
    await store.apply(ref, Batch(erase=ids_of(rows[:1])))
    async with store.snapshot(ref) as view:
        assert [c.op for c in (await view.changes(1)).changes] == [Op.ERASE]


async def test_what_is_read_of_answers_is_right_in_whatever_order(store, ref, make):
    rows = make.rows(4)
    twins = [replace(row, same=b"same") for row in (rows[0], make.row("text 0"))]
    await store.apply(ref, Batch(units=[*twins, *rows[1:]]))
    ids = ids_of(rows)

    def read(reader):
        first = [found.unit.id for found in reader.recalled(ids)]
        later = reader.shared_keys(ids[1:]), reader.shared_keys(ids), reader.shared_keys(ids)
        again = [found.unit.id for found in reader.recalled(ids[2:])]
        return first, later, again, reader.truths(ids), reader.recalled([])

    shared = {ids[0]: b"same"}
    assert await store.read(ref, read) == (ids, ({}, shared, shared), ids[2:], {}, [])


async def test_a_read_that_fails_leaves_the_next_one_a_snapshot(make_store, ref, make):
    store = make_store(readers=1)
    await store.open()
    await store.apply(ref, Batch(units=make.rows(1)))

    def fail(reader):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.read(ref, fail)
    written = await store.apply(ref, Batch(units=make.rows(1)))
    assert await store.read(ref, lambda reader: reader.revision) == written.revision
    await store.close()


async def test_the_feed_holds_no_more_than_the_bank(store, ref, make, monkeypatch):
    monkeypatch.setattr(feed, "LEAST", 10)
    monkeypatch.setattr(feed, "EVERY", 4)
    monkeypatch.setattr(feed, "AT_ONCE", 12)

    async def first_kept() -> int:
        async with store.snapshot(ref) as view:
            return [await view.changes(n) is not None for n in range(99)].index(True)

    rows = make.rows(3)
    for _ in range(11):  # the same three again and again
        await store.apply(ref, Batch(units=rows))
    assert await first_kept() == 4  # at revision 8, when ten of 24 entries were to stay
    await store.apply(ref, Batch(units=rows))
    assert await first_kept() == 8
    for _ in range(12):
        await store.apply(ref, Batch(units=make.rows(3)))
    bank = await store.bank(ref)
    assert (bank.revision, bank.unit_count) == (24, 39)
    assert await first_kept() == 10  # nothing is cut of what is still of use
    async with store.snapshot(ref) as view:
        assert len((await view.changes(10)).changes) == 3 * 14
        assert await view.changes(9) is None
