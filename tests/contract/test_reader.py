"""What can be read in the thread of a snapshot, beside what views read, too."""

from __future__ import annotations

import asyncio

from contract_kit import Maker, ids_of

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.store import Store
from remembrancer.nouns.memory import BankRef, Link, LinkType


async def test_links_entities_and_mentions_are_read_in_the_thread(
    store: Store, make: Maker, ref: BankRef
) -> None:
    rows = make.rows(3)
    first, second, third = ids_of(rows)
    links = [
        Link(first, second, LinkType.CAUSED_BY, 0.5),
        Link(third, first, LinkType.INSIGHT_FROM, 0.9),
    ]
    mentions = [make.mention("Ann", rows[0], rows[1]), make.mention("Oslo", rows[0])]
    await store.apply(ref, Batch(units=rows, links=links, mentions=mentions))
    types = (LinkType.CAUSED_BY, LinkType.INSIGHT_FROM)
    near = await store.read(ref, lambda reader: reader.neighbours([first], types))
    assert near == [links[1], links[0]]
    only = await store.read(ref, lambda r: r.neighbours([third], types[:1]))
    assert only == []
    found = await store.read(ref, lambda r: r.entities_named(["Oslo", "Rome", "Ann", "Oslo"]))
    assert [(e.name, e.mention_count) for e in found] == [("Ann", 2), ("Oslo", 1)]
    said = await store.read(ref, lambda r: r.mentions([second, first, third]))
    assert dict(said) == {first: ("Ann", "Oslo"), second: ("Ann",)}
    newest = await store.read(ref, lambda r: r.newest(5, entity="Ann"))
    assert ids_of(newest) == [second, first]


async def test_chunks_are_read_by_their_place(store: Store, make: Maker, ref: BankRef) -> None:
    batch = make.document("notes", ["Rain fell.", "The door is red."])
    await store.apply(ref, batch)
    document = batch.documents[0].document.id
    wanted = [(document, 0), (document, 1), (make.ids.new(), 0)]
    found = await store.read(ref, lambda reader: reader.chunk_texts(wanted))
    assert dict(found) == {(document, 0): "Rain fell. The door is red."}


async def test_a_reader_sees_its_own_bank_alone(store: Store, make: Maker, ref: BankRef) -> None:
    other = BankRef(ref.tenant, "another")
    rows = make.rows(2)
    ids = ids_of(rows)
    batch = make.document("notes", ["Rain fell."])
    links = [Link(*ids, LinkType.CAUSED_BY)]
    mine = Batch(units=rows, links=links, mentions=[make.mention("Ann", *rows)])
    await asyncio.gather(store.apply(ref, mine), store.apply(ref, batch))
    place = (batch.documents[0].document.id, 0)
    seen = await store.read(
        other,
        lambda r: (
            r.neighbours(ids, [LinkType.CAUSED_BY]),
            r.entities_named(["Ann"]),
            dict(r.mentions(ids)),
            dict(r.chunk_texts([place])),
        ),
    )
    assert seen == ([], [], {}, {})
