"""Entities: found by what they are called, merged, split, renamed, and kept or gone."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import replace

import pytest
from contract_kit import NOW

from remembrancer.keeping.batch import Batch, EntityChange, EntityMention, EntityMerge, EntitySplit
from remembrancer.keeping.entity_view import MAX_TOGETHER, CoMention
from remembrancer.nouns.errors import Conflict, InvalidInput, NotFound
from remembrancer.nouns.memory import BankRef, Curation, Entity, Layer


async def named(store, ref):
    """Return the entities of a bank by name."""
    async with store.snapshot(ref) as view:
        return {e.name: e for e in await view.entities()}


async def units_of(store, ref, name):
    async with store.snapshot(ref) as view:
        return {u.id: u.entities for u in await view.newest(99, entity=name)}


async def changed(store, ref, after):
    async with store.snapshot(ref) as view:
        return {c.unit_id for c in (await view.changes(after)).changes}


async def test_an_entity_is_found_by_any_spelling_of_its_name(store, ref, make, check):
    first, second, third = make.rows(3)
    said = replace(second, unit=replace(second.unit, entities=("ZOË ek", "Oslo")))
    await store.apply(ref, Batch(units=[first, said], mentions=[make.mention("Zoë Ek", first)]))
    before = await store.apply(ref, Batch(units=[third], mentions=[make.mention("Oslo", said)]))
    again = [make.mention("ZOË ek", said), make.mention("the Zoe  Ek's", third)]
    await store.apply(ref, Batch(mentions=again))
    assert await units_of(store, ref, "Zoë Ek") == {
        third.unit.id: (),
        second.unit.id: ("Zoë Ek", "Oslo"),
        first.unit.id: (),
    }
    assert await changed(store, ref, before.revision) == {second.unit.id}
    await check(store, ref)


async def test_spellings_give_way_to_the_name(store, ref, make):
    row = replace(make.row(), unit=replace(make.row().unit, entities=("Bob", "Robert Ek", "Tim")))
    mention = EntityMention(Entity(make.ids.new(), "Robert Ek"), [row.unit.id], ("Bob",))
    await store.apply(ref, Batch(units=[row], mentions=[mention]))
    assert await units_of(store, ref, "Robert Ek") == {row.unit.id: ("Robert Ek", "Tim")}


async def test_an_entity_is_found_by_its_aliases(store, ref, make, check):
    a, b = make.rows(2)
    ada = make.mention("Ada Byron", a, aliases=("Countess", "ada byron"))
    await store.apply(ref, Batch(units=[a, b], mentions=[ada, make.mention("countess", b)]))
    [entity] = (await named(store, ref)).values()
    assert (entity.name, entity.aliases, entity.mention_count) == ("Ada Byron", ("Countess",), 2)
    async with store.snapshot(ref) as view:
        found = await view.entities_called(["countess", "ada byron", "ada"])
    assert found == {"countess": entity, "ada byron": entity}
    taken = make.mention("Other", b, aliases=("Countess", "O."))
    await store.apply(ref, Batch(mentions=[taken]))
    assert (await named(store, ref))["Other"].aliases == ("O.",)
    await check(store, ref)


async def test_two_writers_make_one_entity(make_store, ref, make):
    one, two = make_store(), make_store()
    rows = make.rows(40)
    await one.open()
    await two.open()
    try:
        await one.apply(ref, Batch(units=rows))
        await asyncio.gather(
            *(
                (one, two)[n % 2].apply(
                    ref, Batch(mentions=[make.mention(("Nia", "NIA", "Nía")[n % 3], row)])
                )
                for n, row in enumerate(rows)
            )
        )
        [entity] = (await named(one, ref)).values()
        assert entity.mention_count == len(rows)
    finally:
        await one.close()
        await two.close()


async def test_names_of_banks_are_apart(store, ref, make):
    row, other = make.rows(2)
    there = BankRef(ref.tenant, "other")
    await store.apply(ref, Batch(units=[row], mentions=[make.mention("Ada", row)]))
    await store.apply(there, Batch(units=[other], mentions=[make.mention("ada", other)]))
    [mine] = (await named(store, ref)).values()
    assert list(await named(store, there)) == ["ada"]
    async with store.snapshot(there) as view:
        assert await view.entity(mine.id) is None
        assert (await view.entities_called(["ada"]))["ada"].id != mine.id
    edits = (EntityChange(mine.id, name="Eve"), EntityMerge(mine.id, [mine.id]))
    for edit in edits:
        with pytest.raises(NotFound):
            await store.apply(there, Batch(entity_edits=[edit]))
    await store.bank_drop(ref)
    async with store.snapshot(ref) as view:
        assert await view.entities_called(["ada"]) == {}


async def people(store, ref, make):
    """Keep three entities; return rows a to d that mention Robert, Robert and Bob, Bob, Ada."""
    a, b, c, d = (
        make.row(str(n), entities=names)
        for n, names in enumerate([("Robert",), ("Robert", "Bob"), ("Bob", "x"), ("Ada",)])
    )
    mentions = [make.mention("Robert", a, b), make.mention("Bob", b, c), make.mention("Ada", d)]
    await store.apply(ref, Batch(units=[a, b, c, d], mentions=mentions))
    return [row.unit.id for row in (a, b, c, d)]


async def test_merge(store, ref, make, check):
    a, b, c, d = await people(store, ref, make)
    old = await named(store, ref)
    edit = EntityMerge(old["Robert"].id, [old["Bob"].id])
    applied = await store.apply(ref, Batch(entity_edits=[edit]))
    new = await named(store, ref)
    assert list(new) == ["Robert", "Ada"]
    robert = new["Robert"]
    assert (robert.id, robert.aliases, robert.mention_count) == (old["Robert"].id, ("Bob",), 3)
    assert await units_of(store, ref, "Robert") == {
        a: ("Robert",),
        b: ("Robert",),
        c: ("Robert", "x"),
    }
    assert await changed(store, ref, applied.revision - 1) == {b, c}
    await check(store, ref)
    late = make.row()
    await store.apply(ref, Batch(units=[late], mentions=[make.mention("bob", late)]))
    assert (await named(store, ref))["Robert"].mention_count == 4
    again = EntityMerge((await named(store, ref))["Ada"].id, [robert.id])
    await store.apply(ref, Batch(entity_edits=[again]))
    [ada] = (await named(store, ref)).values()
    assert (ada.name, ada.aliases, ada.mention_count) == ("Ada", ("Robert", "Bob"), 5)
    assert (await units_of(store, ref, "Ada"))[d] == ("Ada",)
    await check(store, ref)


async def test_merge_takes_kinds_and_pages(store, ref, make):
    rows = [make.row(str(n), entities=("nick",), mentioned_at=NOW) for n in range(1_203)]
    spare = make.row()
    mentions = [make.mention("nick", *rows, kind="person"), make.mention("Nicholas", spare)]
    await store.apply(ref, Batch(units=[*rows, spare], mentions=mentions))
    old = await named(store, ref)
    edit = EntityMerge(old["Nicholas"].id, [old["nick"].id])
    await store.apply(ref, Batch(entity_edits=[edit]))
    [entity] = (await named(store, ref)).values()
    assert (entity.kind, entity.mention_count) == ("person", len(rows) + 1)
    async with store.snapshot(ref) as view:
        units = await view.units([row.unit.id for row in rows])
        assert {u.entities for u in units} == {("Nicholas",)}
        assert len(await view.mentioning(entity.id, 5)) == 5
        assert len(await view.mentioning(entity.id, 5_000)) == len(rows) + 1


async def test_what_a_merge_refuses(store, ref, make):
    await people(store, ref, make)
    robert, bob, _ = (await named(store, ref)).values()
    gone = make.ids.new()
    for edit, error in (
        (EntityMerge(robert.id, [bob.id, robert.id]), InvalidInput),
        (EntityMerge(robert.id, [bob.id, gone]), NotFound),
        (EntityMerge(gone, [bob.id]), NotFound),
    ):
        with pytest.raises(error):
            await store.apply(ref, Batch(entity_edits=[edit]))
    assert [e.mention_count for e in (await named(store, ref)).values()] == [2, 2, 1]


async def test_split_undoes_a_merge(store, ref, make, check):
    a, b, c, _ = await people(store, ref, make)
    old = await named(store, ref)
    fact = make.row("of c", layer=Layer.FACT, source_id=c, entities=("Bob",))
    await store.apply(ref, Batch(units=[fact], mentions=[make.mention("Bob", fact)]))
    merge = EntityMerge(old["Robert"].id, [old["Bob"].id])
    await store.apply(ref, Batch(entity_edits=[merge]))
    split = EntitySplit(old["Robert"].id, Entity(make.ids.new(), "Bob"), [c, make.ids.new()])
    await store.apply(ref, Batch(entity_edits=[split]))
    new = await named(store, ref)
    assert (new["Robert"].aliases, new["Robert"].mention_count) == ((), 2)
    assert (new["Bob"].id, new["Bob"].mention_count) == (split.to.id, 2)
    assert await units_of(store, ref, "Bob") == {c: ("Bob", "x"), fact.unit.id: ("Bob",)}
    assert await units_of(store, ref, "Robert") == {a: ("Robert",), b: ("Robert",)}


async def test_split_to_an_entity_that_is_there(store, ref, make, check):
    a, b, _, d = await people(store, ref, make)
    old = await named(store, ref)
    split = EntitySplit(old["Robert"].id, Entity(make.ids.new(), "ada"), [a, b])
    await store.apply(ref, Batch(entity_edits=[split]))
    new = await named(store, ref)
    assert list(new) == ["Ada", "Bob"]  # nobody mentions Robert any more
    assert (new["Ada"].id, new["Ada"].mention_count) == (old["Ada"].id, 3)
    assert await units_of(store, ref, "Ada") == {a: ("Ada",), b: ("Ada", "Bob"), d: ("Ada",)}
    await check(store, ref)


async def test_what_a_split_refuses(store, ref, make):
    a, _, c, _ = await people(store, ref, make)
    robert = (await named(store, ref))["Robert"]
    for name, ids, error in (("robert", [a], InvalidInput), ("Rob", [c], NotFound)):
        edit = EntitySplit(robert.id, Entity(make.ids.new(), name), ids)
        with pytest.raises(error):
            await store.apply(ref, Batch(entity_edits=[edit]))
    assert set(await named(store, ref)) == {"Robert", "Bob", "Ada"}


async def test_change(store, ref, make, check):
    a, b, _, _ = await people(store, ref, make)
    robert = (await named(store, ref))["Robert"]
    edit = EntityChange(robert.id, name="Robert Ek", kind="x")
    applied = await store.apply(ref, Batch(entity_edits=[edit]))
    new = (await named(store, ref))["Robert Ek"]
    assert (new.id, new.aliases, new.kind) == (robert.id, ("Robert",), "x")
    assert await units_of(store, ref, "Robert Ek") == {a: ("Robert Ek",), b: ("Robert Ek", "Bob")}
    assert await changed(store, ref, applied.revision - 1) == {a, b}
    edit = EntityChange(robert.id, name="Rob", aliases=["R.", "r.", "rob", "Robert"])
    for _ in range(2):  # the second time nothing is left to change
        again = await store.apply(ref, Batch(entity_edits=[edit]))
        assert again.revision == applied.revision + 1
        assert (await named(store, ref))["Rob"].aliases == ("R.", "Robert")
    edit = EntityChange(robert.id, add=["R. E.", "robert"], drop=["R.", "Rob", "none"])
    await store.apply(ref, Batch(entity_edits=[edit]))
    assert (await named(store, ref))["Rob"].aliases == ("Robert", "R. E.")
    edit = EntityChange(robert.id, name="Robert Ek", drop=["rob"])
    await store.apply(ref, Batch(entity_edits=[edit]))
    assert (await named(store, ref))["Robert Ek"].aliases == ("Robert", "R. E.")
    await store.apply(
        ref, Batch(entity_edits=[EntityChange(robert.id, name="robert ek", aliases=[])])
    )
    assert (await named(store, ref))["robert ek"].aliases == ()
    late = make.row()
    await store.apply(ref, Batch(units=[late], mentions=[make.mention("Robert", late)]))
    assert (await named(store, ref))["Robert"].id != robert.id
    await check(store, ref)


async def test_a_name_that_another_entity_has_is_refused(store, ref, make):
    await people(store, ref, make)
    old = await named(store, ref)
    robert, bob = old["Robert"], old["Bob"]
    await store.apply(ref, Batch(entity_edits=[EntityChange(bob.id, add=["Bobby"])]))
    for edit, field in (
        (EntityChange(robert.id, name="BOB"), "name"),
        (EntityChange(robert.id, name="bobby"), "name"),
        (EntityChange(robert.id, aliases=["ok", "ada"]), "aliases"),
    ):
        with pytest.raises(Conflict, match="merge") as caught:
            await store.apply(ref, Batch(entity_edits=[edit]))
        assert caught.value.field == field
    assert (await named(store, ref))["Robert"] == robert


async def test_aliases_outlive_a_replaced_document_but_no_erasure(store, ref, make):
    await store.apply(ref, batch := make.document("notes", ["Ada writes"]))
    await store.apply(ref, Batch(mentions=[make.mention("Ada", *batch.units)]))
    ada = (await named(store, ref))["Ada"]
    await store.apply(ref, Batch(entity_edits=[EntityChange(ada.id, add=["Countess"])]))
    await store.apply(ref, batch := make.document("notes", ["nothing", "more"]))
    kept = (await named(store, ref))["Ada"]
    assert (kept.id, kept.aliases, kept.mention_count) == (ada.id, ("Countess",), 0)
    assert (kept.first_seen, kept.last_seen) == (None, None)
    await store.apply(ref, Batch(mentions=[make.mention("countess", *batch.units)]))
    assert (await named(store, ref))["Ada"].mention_count == 2
    first, second = batch.units
    await store.apply(ref, Batch(erase=[first.unit.id]))
    assert (await named(store, ref))["Ada"].mention_count == 1
    await store.apply(ref, Batch(erase=[second.unit.id]))
    async with store.snapshot(ref) as view:
        assert await view.entities() == []
        assert await view.entities_called(["ada", "countess"]) == {}
        assert (await view.counts())["entities"] == 0


async def test_an_entity_without_mentions_goes_with_its_last_alias(store, ref, make):
    await store.apply(ref, batch := make.document("notes", ["Ada writes"]))
    ada = make.mention("Ada", *batch.units, aliases=("A.",))
    await store.apply(ref, Batch(mentions=[ada]))
    await store.apply(ref, make.document("notes", ["nothing"]))
    await store.apply(ref, Batch(entity_edits=[EntityChange(ada.entity.id, aliases=[])]))
    assert await named(store, ref) == {}


async def test_entities_are_listed_and_searched(store, ref, make):
    rows = make.rows(4)
    mentions = [
        make.mention("Ada Byron", *rows[:3], aliases=("Countess",)),
        make.mention("Zoë Ek", *rows[:2]),
        make.mention("Café Zola", rows[0]),
    ]
    await store.apply(ref, Batch(units=rows, mentions=mentions))
    async with store.snapshot(ref) as view:

        async def listed(*args, **more):
            return [e.name for e in await view.entities(*args, **more)]

        assert await listed() == ["Ada Byron", "Zoë Ek", "Café Zola"]
        assert await listed(1, 1) == ["Zoë Ek"]
        assert await listed(containing="ZO") == ["Zoë Ek", "Café Zola"]
        assert await listed(1, 1, containing="zo") == ["Café Zola"]
        assert await listed(containing="tess") == ["Ada Byron"]
        assert await listed(containing="%") == []
        assert [await view.entity_count(containing=q) for q in (None, "zo", "%")] == [3, 2, 0]
        ada = (await view.entities(1))[0]
        assert await view.entity(ada.id) == ada
        assert await view.entity(make.ids.new()) is None
        longer = await view.entities_beginning(["ada", "zoe", "ek", "caf"])
        assert {w: [(f, e.name) for f, e in found] for w, found in longer.items()} == {
            "ada": [("ada byron", "Ada Byron")],
            "zoe": [("zoe ek", "Zoë Ek")],
        }
    async with store.snapshot(BankRef(ref.tenant, "none")) as view:
        assert (await view.entities(), await view.entity_count()) == ([], 0)


async def test_longer_names_are_cut_in_order(store, ref, make):
    rows = make.rows(5)
    mentions = [make.mention(f"Ada {n}", row) for n, row in enumerate(rows)]
    await store.apply(ref, Batch(units=rows, mentions=mentions))
    async with store.snapshot(ref) as view:
        found = (await view.entities_beginning(["ada"], 2))["ada"]
    assert [folded for folded, _ in found] == ["ada 0", "ada 1"]


async def test_co_mentions(store, ref, make):
    rows = make.rows(5)
    fact = make.row("fact", layer=Layer.FACT, source_id=rows[0].unit.id)
    a, b, c = (make.mention(n, *r) for n, r in zip("ABC", (rows[:4], rows[1:], rows[3:]), strict=1))
    both = [EntityMention(m.entity, [*m.unit_ids, fact.unit.id]) for m in (a, b)]
    invalid = Curation(rows[1].unit.id, True)
    await store.apply(ref, Batch(units=[*rows, fact], mentions=[*both, c], curations=[invalid]))
    ids = [each.entity.id for each in (a, b, c)]
    async with store.snapshot(ref) as view:
        pairs = await view.co_mentions(ids, 100)
        assert pairs == [
            CoMention(*sorted(ids[:2]), 2),
            CoMention(*sorted(ids[1:]), 2),
            CoMention(*sorted([ids[0], ids[2]]), 1),
        ]
        assert await view.co_mentions(ids[:2], 1) == []  # the latest of A is not one of B
        assert await view.co_mentions(ids[:1], 9) == await view.co_mentions([], 9) == []


async def test_co_mentions_of_a_long_list_are_bounded(store, ref, make):
    row = make.row()
    mentions = [make.mention(f"e{n}", row) for n in range(MAX_TOGETHER + 9)]
    await store.apply(ref, Batch(units=[row], mentions=mentions))
    async with store.snapshot(ref) as view:
        pairs = await view.co_mentions([m.entity.id for m in mentions], 9)
    assert len(pairs) == MAX_TOGETHER * (MAX_TOGETHER - 1) // 2


def test_entities_of_an_older_schema_with_one_name_become_one(tmp_path, clock):
    from remembrancer.keeping.sqlite import SqliteStore, migrate
    from remembrancer.keeping.sqlite.store import FILE
    from remembrancer.nouns.ids import bank_key

    migrate.create(tmp_path / FILE)
    database = sqlite3.connect(tmp_path / FILE)
    for script in migrate.scripts()[:3]:
        for statement in migrate.statements(script):
            database.execute(statement)
    key = bank_key("default", "old")
    database.execute(
        "INSERT INTO bank (bank_key, tenant, name, revision, trimmed_to, created_at, updated_at,"
        " entities) VALUES (?, 'default', 'old', 1, 0, 5, 5, 3)",
        (key,),
    )
    names = (("Zoë", 2), ("ZOE", 1), ("Ada", 1))
    for n, (name, count) in enumerate(names):
        database.execute(
            "INSERT INTO entity (bank_key, entity_id, name, kind, mention_count, first_seen,"
            " last_seen) VALUES (?, ?, ?, 'thing', ?, 1, 2)",
            (key, bytes([n]), name, count),
        )
    for entity, unit, at in ((0, 1, 1), (0, 2, 2), (1, 3, 9), (2, 1, 1)):
        database.execute(
            "INSERT INTO mention (bank_key, unit_id, entity_id, mentioned_at, layer)"
            " VALUES (?, ?, ?, ?, 0)",
            (key, bytes([unit]), bytes([entity]), at),
        )
    database.execute("PRAGMA user_version = 3")
    database.commit()
    database.close()

    async def look():
        store = SqliteStore(tmp_path, clock=clock)
        await store.open()
        try:
            async with store.snapshot(BankRef("default", "old")) as view:
                found = await view.entities_called(["zoe", "ada"])
                listed = await view.entities()
                count = await view.entity_count()
        finally:
            await store.close()
        assert found["zoe"] == Entity(bytes([0]), "Zoë", "thing", (), 3, 1, 9)
        assert [e.name for e in listed] == ["Zoë", "Ada"]
        assert (found["ada"].mention_count, count) == (1, 2)

    asyncio.run(look())
