"""Pages of units, documents and chunks, and the writes that curating needs."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from contract_kit import NOW, ids_of

from remembrancer.keeping.batch import Batch, Retag
from remembrancer.keeping.browse import During, TagRule, UnitFilter, UnitTime
from remembrancer.nouns.memory import BankRef, Curation, Kind, Layer, Link, LinkType

ALL = tuple(Layer)


async def page(store, ref, wanted=None, limit=100, offset=0):
    return await store.read(ref, lambda r: r.browse(wanted or UnitFilter(), limit, offset))


async def test_units_come_newest_first_in_pages_with_the_right_total(store, ref, make):
    rows = make.rows(5)
    fact = make.row("a fact", layer=Layer.FACT, source_id=rows[0].unit.id)
    seen = make.row("derived", layer=Layer.OBSERVATION, kind=Kind.OBSERVATION)
    await store.apply(ref, Batch(units=[*rows, fact, seen]))
    newest = [seen, *reversed(rows)]
    assert [u.id for u in (await page(store, ref)).units] == ids_of(newest)
    for offset in range(8):
        found = await page(store, ref, limit=2, offset=offset)
        assert ids_of(found.units) == ids_of(newest[offset : offset + 2])
        assert found.total == 6
    assert (await page(store, ref, UnitFilter(layers=(Layer.FACT,)))).units == [fact.unit]
    assert (await page(store, ref, UnitFilter(layers=ALL))).total == 7
    assert (await page(store, BankRef("acme", "nobody"))).total == 0


async def test_what_says_the_same_is_folded_under_the_oldest(store, ref, make):
    rows = [replace(r, same=k) for r, k in zip(make.rows(5), [b"a", b"b", b"a", None, b"a"],
                                               strict=True)]  # fmt: skip
    await store.apply(ref, Batch(units=rows))
    ids = ids_of(rows)
    found = await page(store, ref)
    assert (ids_of(found.units), found.total) == ([ids[3], ids[1], ids[0]], 3)
    found = await page(store, ref, UnitFilter(folded=False))
    assert (ids_of(found.units), found.total) == (ids[::-1], 5)
    await store.apply(ref, Batch(curations=[Curation(ids[0], True)]))
    found = await page(store, ref)
    assert (ids_of(found.units), found.total) == ([ids[3], ids[2], ids[1]], 3)
    found = await page(store, ref, UnitFilter(invalid=True))
    assert (ids_of(found.units), found.total) == ([ids[0]], 1)
    found = await page(store, ref, UnitFilter(invalid=None))
    assert (ids_of(found.units), found.total) == ([ids[3], ids[1], ids[0]], 3)


async def test_only_what_is_listed_folds(store, ref, make):
    """What another document says too is still listed for this one."""
    first = make.document("one", ["I moved to Oslo", "It rains"])
    second = make.document("two", ["I moved to Oslo"])
    units = [replace(r, same=b"oslo") if "Oslo" in r.unit.text else r
             for r in (*first.units, *second.units)]  # fmt: skip
    await store.apply(ref, Batch(documents=[*first.documents, *second.documents], units=units))
    document_id = second.documents[0].document.id
    found = await page(store, ref, UnitFilter(document_id=document_id))
    assert (ids_of(found.units), found.total) == (ids_of(second.units), 1)
    assert (await page(store, ref)).total == 2


async def test_a_text_is_found_in_any_case_and_script(store, ref, make):
    texts = ["Straße in KÖLN", "100% sure_thing", "köln again", "other"]
    rows = [make.row(text) for text in texts]
    await store.apply(ref, Batch(units=rows))
    for part, wanted in {
        "Köln": [2, 0],
        "STRASSE": [0],
        "0% S": [1],
        "e_t": [1],
        "%": [1],
        "nothing": [],
        "": [3, 2, 1, 0],
    }.items():
        found = await page(store, ref, UnitFilter(text=part))
        assert (ids_of(found.units), found.total) == ([rows[n].unit.id for n in wanted],
                                                      len(wanted))  # fmt: skip
    beyond = await page(store, ref, UnitFilter(text="o"), limit=1, offset=9)
    assert (beyond.units, beyond.total) == ([], 1)


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        (TagRule(("a", "b"), 1, untagged=True), "abn"),
        (TagRule(("a", "b"), 2, untagged=True), "bn"),
        (TagRule(("a", "b"), 1), "ab"),
        (TagRule(("a",), 1), "ab"),
        (TagRule(("a", "b"), 2), "b"),
        (TagRule(("a",), 1, only=True), "a"),
        (TagRule(("b", "a", "a"), 2, only=True), "b"),
        (TagRule((), 0, untagged=True, only=True), "n"),
        (TagRule(("unknown",), 1), ""),
    ],
)
async def test_tags_narrow_units_and_documents(store, ref, make, rule, wanted):
    tags = {"a": ("a",), "b": ("a", "b"), "c": ("c",), "n": ()}
    for name, mine in tags.items():
        batch = make.document(name, [f"text {name}"], tags=mine)
        units = [replace(r, unit=replace(r.unit, tags=mine)) for r in batch.units]
        await store.apply(ref, replace(batch, units=units))
    found = await page(store, ref, UnitFilter(tags=rule))
    assert "".join(sorted(u.text[-1] for u in found.units)) == wanted
    assert found.total == len(wanted)
    documents = await store.read(ref, lambda r: r.documents_like("", rule, 9))
    assert "".join(sorted(d.name for d in documents.documents)) == wanted
    assert documents.total == len(wanted)


async def test_entities_kinds_documents_and_chunks_narrow(store, ref, make):
    batch = make.document("talk", ["Ann sings", "Ann and Bo dance", "Bo sleeps"])
    ann = make.mention("Ann", *batch.units[:2])
    await store.apply(ref, replace(batch, mentions=[ann]))
    other = replace(make.row("I sang"), unit=make.row("I sang", kind=Kind.EXPERIENCE).unit)
    await store.apply(ref, Batch(units=[other], mentions=[make.mention("Ann", other)]))
    document_id = batch.documents[0].document.id
    ids = ids_of(batch.units)
    for wanted, found in {
        UnitFilter(entity_id=ann.entity.id): [other.unit.id, ids[1], ids[0]],
        UnitFilter(entity_id=ann.entity.id, document_id=document_id): [ids[1], ids[0]],
        UnitFilter(entity_id=ann.entity.id, kind=Kind.EXPERIENCE): [other.unit.id],
        UnitFilter(entity_id=make.ids.new()): [],
        UnitFilter(document_id=document_id, text="an"): [ids[1], ids[0]],
        UnitFilter(document_id=document_id, chunk_index=1): [],
        UnitFilter(document_id=document_id, chunk_index=0): ids[::-1],
        UnitFilter(kind=Kind.EXPERIENCE): [other.unit.id],
    }.items():
        got = await page(store, ref, wanted)
        assert (ids_of(got.units), got.total) == (found, len(found)), wanted


async def test_times_narrow_and_order(store, ref, make):
    rows = [
        make.row("one", mentioned_at=NOW + 3, occurred_start=NOW + 1, occurred_end=NOW + 9),
        make.row("two", mentioned_at=NOW + 1, occurred_start=NOW + 2),
        make.row("three", mentioned_at=NOW + 2, updated_at=NOW + 50_000_000),
    ]
    await store.apply(ref, Batch(units=rows))
    one, two, three = ids_of(rows)
    start, said = UnitTime.STARTED, UnitTime.MENTIONED
    for during, found in {
        During(said): [one, three, two],
        During(said, NOW + 1, NOW + 3): [three, two],
        During(said, NOW + 4): [],
        During(start): [two, one],
        During(start, end=NOW + 2): [one],
        During(UnitTime.ENDED): [one],
        During(UnitTime.UPDATED, NOW + 50_000_000): [three],
        During(UnitTime.CREATED, end=NOW + 50_000_000): [three, two, one],
    }.items():
        got = await page(store, ref, UnitFilter(during=during))
        assert (ids_of(got.units), got.total) == (found, len(found)), during
    got = await page(store, ref, UnitFilter(during=During(start), text="o"), limit=1, offset=1)
    assert (ids_of(got.units), got.total) == ([one], 2)


async def test_documents_are_narrowed_and_ordered_by_a_time(store, ref, make):
    for at, name in enumerate(["old", "new"]):
        batch = make.document(name, [f"text {name}"])
        [row] = batch.documents
        times = {"created_at": NOW + at, "updated_at": NOW + 10 - at}
        document = replace(row, document=replace(row.document, **times))
        await store.apply(ref, replace(batch, documents=[document]))
    made, changed = UnitTime.CREATED, UnitTime.UPDATED
    for during, found in {
        During(made): ["new", "old"],
        During(changed): ["old", "new"],
        During(made, NOW + 1): ["new"],
        During(changed, NOW + 10, NOW + 11): ["old"],
        During(changed, end=NOW): [],
    }.items():
        got = await store.read(ref, lambda r, d=during: r.documents_like("", None, 9, 0, d))
        assert ([d.name for d in got.documents], got.total) == (found, len(found)), during


async def test_pages_agree_with_a_plain_filter(store, ref, make):
    """Many random banks and filters against the same in plain Python."""
    chance = random.Random(3)
    rows, invalid = [], set()
    for n in range(60):
        tags = tuple(t for t in "ab" if chance.random() < 0.4)
        layer = chance.choice([Layer.SOURCE, Layer.SOURCE, Layer.OBSERVATION])
        row = make.row(f"word{n % 7}", tags=tags, layer=layer, mentioned_at=NOW + n % 9)
        rows.append(replace(row, same=chance.choice([None, b"1", b"2", b"3"])))
        if chance.random() < 0.3:
            invalid.add(row.unit.id)
    await store.apply(ref, Batch(units=rows, curations=[Curation(i, True) for i in invalid]))
    for _ in range(60):
        state, folded = chance.choice([True, False, None]), chance.random() < 0.5
        layers = chance.choice([(Layer.SOURCE,), (Layer.SOURCE, Layer.OBSERVATION)])
        text = chance.choice(["", "", "d3", "word"])
        tags = chance.choice([None, None, TagRule(("a",), 1)])
        hits = [
            r
            for r in rows
            if (state is None or (r.unit.id in invalid) is state)
            and r.unit.layer in layers
            and text in r.unit.text
            and (tags is None or "a" in r.unit.tags)
        ]
        if folded:
            first = {}
            for r in hits:
                first.setdefault((r.unit.layer, r.same or r.unit.id), r)
            hits = list(first.values())
        hits.sort(key=lambda r: (-r.unit.mentioned_at, -int.from_bytes(r.unit.id, "big")))
        wanted = UnitFilter(layers, state, text=text, tags=tags, folded=folded)
        offset = chance.randrange(4)
        got = await page(store, ref, wanted, 5, offset)
        assert ids_of(got.units) == ids_of(hits[offset : offset + 5])
        assert got.total == len(hits)


async def test_what_was_said_between_turns(store, ref, make):
    batch = make.document("talk", ["one", "two", "three", "four"])
    one, two, three, four = batch.units
    part = replace(make.row("two, too"), unit=replace(two.unit, id=make.ids.new(), part=1))
    fact = make.row("a fact", layer=Layer.FACT, source_id=two.unit.id, turn=1,
                    document_id=two.unit.document_id)  # fmt: skip
    other = make.document("other", ["five", "six", "seven"])
    units = [four, part, one, fact, two, three]
    await store.apply(ref, replace(batch, units=units))
    await store.apply(ref, other)
    document_id = batch.documents[0].document.id

    def said(first, last):
        return store.read(ref, lambda r: ids_of(r.said_between(document_id, first, last)))

    assert await said(1, 2) == [two.unit.id, part.unit.id, three.unit.id]
    assert await said(-5, 0) == [one.unit.id]
    await store.apply(ref, Batch(curations=[Curation(two.unit.id, True)]))
    await store.apply(ref, Batch(erase=[three.unit.id]))
    assert await said(0, 9) == [one.unit.id, part.unit.id, four.unit.id]
    elsewhere = BankRef(ref.tenant, "elsewhere")
    assert await store.read(elsewhere, lambda r: r.said_between(document_id, 0, 9)) == []


async def test_what_stands_around_units(store, ref, make):
    batch = make.document("talk", ["one", "two", "three"])
    one, two, three = batch.units
    two = replace(two, unit=replace(two.unit, previous_id=one.unit.id))
    fact = make.row("a fact", layer=Layer.FACT, source_id=one.unit.id)
    links = [
        Link(two.unit.id, one.unit.id, LinkType.CAUSED_BY, 0.5),
        Link(three.unit.id, one.unit.id, LinkType.RELATED_TO, 1.0),
    ]
    await store.apply(ref, replace(batch, units=[one, two, three, fact], links=links))
    await store.apply(ref, Batch(curations=[Curation(fact.unit.id, True, {"reason": "no"})]))
    document_id = batch.documents[0].document.id

    def work(r):
        assert r.read_from([one.unit.id, two.unit.id]) == [fact.unit]
        assert ids_of(r.following([one.unit.id])) == [two.unit.id]
        assert r.links_of([two.unit.id]) == links[:1]
        assert sorted(r.links_of([one.unit.id]), key=lambda k: k.weight) == links
        assert r.curations([fact.unit.id])[fact.unit.id].data == {"reason": "no"}
        assert r.document_names([document_id]) == {document_id: "talk"}
        assert r.kinds_in([document_id]) == {document_id: {Kind.WORLD: 3}}
        assert r.document("talk").id == document_id
        assert r.rows([two.unit.id])[0].terms == b"two"
        return r.chunk_page(document_id, 1)

    found = await store.read(ref, work)
    assert (found.chunks[0].text, found.total) == ("one two three", 1)


async def test_documents_are_found_by_a_part_of_their_name(store, ref, make):
    for name in ("Notes/ÄPFEL", "notes/pears", "letters"):
        await store.apply(ref, make.document(name, ["text"]))
    for part, wanted in {"NOTES/": ["notes/pears", "Notes/ÄPFEL"], "äpf": ["Notes/ÄPFEL"],
                         "%": []}.items():  # fmt: skip
        found = await store.read(ref, lambda r, p=part: r.documents_like(p, None, 9))
        assert [d.name for d in found.documents] == wanted
        assert found.total == len(wanted)
    found = await store.read(ref, lambda r: r.documents_like("", None, 1, 1))
    assert ([d.name for d in found.documents], found.total) == (["notes/pears"], 3)


async def test_retag_changes_a_document_and_all_its_units(store, ref, make, check):
    batch = make.document("talk", ["one", "two"])
    fact = make.row("fact", layer=Layer.FACT, source_id=batch.units[0].unit.id,
                    document_id=batch.documents[0].document.id)  # fmt: skip
    units = [replace(r, same=b"0123456789ab") for r in (*batch.units, make.row("apart"))]
    await store.apply(ref, replace(batch, units=[*units, fact]))
    ids = ids_of([*units[:2], fact])
    keys = dict.fromkeys(ids, b"ba9876543210")  # the fact has none, so it gets none
    retag = [Retag("talk", ("x", "y"), keys), Retag("gone", ())]
    applied = await store.apply(ref, Batch(retag=retag))
    async with store.snapshot(ref) as view:
        assert [u.tags for u in await view.units(ids)] == [("x", "y")] * 3
        assert (await view.document("talk")).tags == ("x", "y")
        page = await view.changes(applied.revision - 1)
        assert {c.unit_id for c in page.changes} == set(ids)
        same = await view.same(ids_of(units))
        assert same[ids[0]] == tuple(ids[:2])  # not with what kept its tags
        assert same[units[2].unit.id] == (units[2].unit.id,)
        assert (await view.index_rows(ids[:1]))[0].tags == ("x", "y")
    again = await store.apply(ref, Batch(retag=[Retag("talk", ("x", "y"))]))
    assert again.revision == applied.revision
    await store.apply(ref, Batch(retag=[Retag("talk", ())]))
    async with store.snapshot(ref) as view:
        assert [u.tags for u in await view.units(ids)] == [()] * 3


async def test_unlink_drops_every_link_of_a_unit(store, ref, make):
    a, b, c = make.rows(3)
    ids = ids_of([a, b, c])
    links = [
        Link(ids[0], ids[1], LinkType.CAUSED_BY),
        Link(ids[2], ids[0], LinkType.RELATED_TO),
        Link(ids[1], ids[2], LinkType.RELATED_TO),
    ]
    await store.apply(ref, Batch(units=[a, b, c], links=links))
    again = Link(ids[0], ids[2], LinkType.FOLLOWED_BY)
    await store.apply(ref, Batch(unlink=[ids[0]], links=[again]))
    async with store.snapshot(ref) as view:
        assert await view.run(lambda r: r.links_of(ids)) == [again, links[2]]
        assert (await view.counts())["links"] == 2
