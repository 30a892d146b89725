"""What prime reads: the newest units, the pinned ones, the access counters."""

from __future__ import annotations

from contract_kit import NOW, ids_of

from remembrancer.keeping.batch import Batch, Retag
from remembrancer.keeping.intentions import IntentionBatch
from remembrancer.keeping.priming_view import Access
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.intention import Intention, TriggerType
from remembrancer.nouns.memory import BankRef, Curation, Kind, Layer

IDS = IdMaker()


async def latest(store, ref, limit=100, **more):
    return ids_of(await store.read(ref, lambda r: r.latest(limit, **more)))


async def pinned(store, ref, limit=100):
    return ids_of(await store.read(ref, lambda r: r.pinned(limit)))


async def test_the_latest_are_sources_and_observations_that_hold(store, ref, make):
    rows = make.rows(5)
    fact = make.row("a fact", layer=Layer.FACT, source_id=rows[0].unit.id)
    seen = make.row("derived", layer=Layer.OBSERVATION, kind=Kind.OBSERVATION)
    await store.apply(ref, Batch(units=[*rows, fact, seen]))
    newest = ids_of([seen, *reversed(rows)])
    assert await latest(store, ref) == newest
    assert await latest(store, ref, 3) == newest[:3]
    assert await latest(store, ref, until=rows[2].unit.mentioned_at) == newest[4:]
    await store.apply(ref, Batch(curations=[Curation(newest[1], True)]))
    assert await latest(store, ref, 2) == [newest[0], newest[2]]
    assert await latest(store, BankRef(ref.tenant, "nobody")) == []


async def test_pinned_are_tags_attributes_and_metadata_that_say_so(store, ref, make):
    ways = [
        {"tags": ("pinned",)},
        {"tags": ("x", "instruction")},
        {"attributes": {"pinned": True, "x": 1}},
        {"metadata": {"pinned": "true"}},
    ]
    others = [
        {"tags": ("Pinned", "instructions", '"pinned', ',"pinned', 'pinned"')},
        {"attributes": {"pinned": [True]}},
        {"metadata": {"pinned": "false"}},
        {},
    ]
    rows = [make.row(f"memory {n}", **how) for n, how in enumerate([*ways, *others])]
    fact = make.row("fact", layer=Layer.FACT, source_id=rows[-1].unit.id, tags=("pinned",))
    await store.apply(ref, Batch(units=[*rows, fact]))
    wanted = ids_of(rows[len(ways) - 1 :: -1])
    assert await pinned(store, ref) == wanted
    assert await pinned(store, ref, 2) == wanted[:2]
    assert await pinned(store, BankRef(ref.tenant, "nobody")) == []
    await store.apply(ref, Batch(curations=[Curation(wanted[0], True)]))
    assert await pinned(store, ref) == wanted[1:]
    await store.apply(ref, Batch(erase=[wanted[1]]))
    assert await pinned(store, ref) == wanted[2:]


async def test_retagging_pins(store, ref, make):
    batch = make.document("notes", ["Be brief"])
    await store.apply(ref, batch)
    assert await pinned(store, ref) == []
    await store.apply(ref, Batch(retag=[Retag("notes", ("pinned",))]))
    assert await pinned(store, ref) == ids_of(batch.units[:1])


async def test_accesses_are_counted_per_unit(store, ref, make):
    rows = make.rows(3)
    await store.apply(ref, Batch(units=rows))
    ids = ids_of(rows)
    await store.touch(ref, ids[:2], NOW)
    await store.touch(ref, ids[:1], NOW + 5)
    await store.close()
    await store.open()
    found = await store.read(ref, lambda r: r.accesses(ids))
    assert found == {ids[0]: Access(2, NOW + 5), ids[1]: Access(1, NOW)}
    assert await store.read(ref, lambda r: r.accesses([])) == {}


async def test_moments_tell_when_anything_was_written(store, ref, make):
    async def look():
        return await store.read(ref, lambda r: (r.moment, r.revision))

    rows = make.rows(2)
    await store.apply(ref, Batch(units=rows[:1]))
    before = await look()
    await store.apply(BankRef(ref.tenant, "other"), Batch(units=rows[1:]))
    after = await look()
    assert after[0] != before[0]
    assert after[1] == before[1]


async def test_whether_a_bank_intends_anything(store, ref, make):
    async def intends(of):
        return await store.read(of, lambda r: r.intends)

    other = BankRef(ref.tenant, "other")
    await store.apply(ref, Batch(units=make.rows(1)))
    assert not await intends(ref)
    intention = Intention(IDS.new(), "water the plants", TriggerType.TIME, NOW, NOW)
    await store.intend(ref, IntentionBatch(put=[intention]))
    assert await intends(ref)
    assert not await intends(other)
