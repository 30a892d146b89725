"""Claims of facts: what holds follows from them in the transaction that changes them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from contract_kit import NOW, ids_of

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.relational import truth
from remembrancer.keeping.timeline import Settled, settle
from remembrancer.nouns.memory import Claim, Curation, Layer, LinkType, Op, Stance

HOME = "self\nhome"


def claimed(make, source, value, at=0, stance=Stance.HOLDS, slot=HOME, **more):
    """Return a fact with one claim; `at` in microseconds after now."""
    claim = Claim(slot, value, stance, NOW + at, **more)
    row = make.row(value, layer=Layer.FACT, source_id=source.unit.id, mentioned_at=NOW + at)
    return replace(row, claims=(claim,))


async def told(store, ref, make, *values: str):
    """Tell values, each a minute after the one before, in documents of their own."""
    sources, facts = [], []
    for number, value in enumerate(values):
        sources.append(make.row(f"source {value}"))
        facts.append(claimed(make, sources[-1], value, number * 60_000_000))
        await store.apply(ref, Batch(units=[sources[-1], facts[-1]]))
    return sources, facts


async def spans(store, ref, rows: Sequence) -> list[tuple[int | None, int | None]]:
    """Return from and until when facts hold, in minutes."""
    async with store.snapshot(ref) as view:
        units = await view.units(ids_of(rows))
    return [(_minute(u.valid_from), _minute(u.valid_until)) for u in units]


def _minute(us: int | None) -> int | None:
    return None if us is None else (us - NOW) // 60_000_000


async def links(store, ref, rows, kind):
    found = await store.read(ref, lambda reader: reader.neighbours(ids_of(rows), [kind]))
    return {(link.source, link.target) for link in found}


async def test_a_new_value_closes_the_old_one_and_is_linked(store, ref, make):
    _, (rome, oslo) = await told(store, ref, make, "rome", "oslo")
    assert await spans(store, ref, [rome, oslo]) == [(0, 1), (1, None)]
    assert await links(store, ref, [rome], LinkType.SUPERSEDES) == {(oslo.unit.id, rome.unit.id)}


async def test_what_is_told_late_takes_its_place(store, ref, make):
    _, (rome, oslo) = await told(store, ref, make, "rome", "oslo")
    source = make.row("between")
    bern = claimed(make, source, "bern", 30_000_000)
    await store.apply(ref, Batch(units=[source, bern]))
    assert (await spans(store, ref, [rome, bern, oslo]))[0] == (0, 0)
    assert await links(store, ref, [rome], LinkType.SUPERSEDES) == {(bern.unit.id, rome.unit.id)}
    assert await links(store, ref, [oslo], LinkType.SUPERSEDES) == {(oslo.unit.id, bern.unit.id)}


async def test_erasing_what_closed_it_opens_it_again(store, ref, make):
    sources, facts = await told(store, ref, make, "rome", "oslo", "rome")
    assert await spans(store, ref, facts) == [(0, 1), (1, 2), (2, None)]
    revision = (await store.apply(ref, Batch(erase=[sources[1].unit.id]))).revision
    assert await spans(store, ref, [facts[0], facts[2]]) == [(0, None), (2, None)]
    async with store.snapshot(ref) as view:
        page = await view.changes(revision - 1)
        assert (await view.counts())["links"] == 0
    assert facts[0].unit.id in {c.unit_id for c in page.changes if c.op is Op.PUT}


async def test_an_invalid_fact_closes_nothing(store, ref, make):
    _, facts = await told(store, ref, make, "rome", "oslo")
    await store.apply(ref, Batch(curations=[Curation(facts[1].unit.id, True)]))
    assert (await spans(store, ref, facts))[0] == (0, None)
    await store.apply(ref, Batch(curations=[Curation(facts[1].unit.id, False)]))
    assert (await spans(store, ref, facts))[0] == (0, 1)


async def test_a_fact_put_again_claims_what_it_says_now(store, ref, make):
    _, facts = await told(store, ref, make, "rome", "oslo")
    await store.apply(ref, Batch(units=[replace(facts[1], claims=None)]))
    assert await spans(store, ref, facts) == [(0, 1), (1, None)]  # None: as they were
    await store.apply(ref, Batch(units=[replace(facts[1], claims=())]))
    assert await spans(store, ref, facts) == [(0, None), (None, None)]


@pytest.mark.parametrize("seed", range(6))
async def test_it_does_not_matter_in_how_many_batches_claims_come(store, ref, make, seed):
    rng = random.Random(seed)
    many = seed % 3 == 0
    facts, sources = [], []
    for number in range(24):
        value, stance = (
            rng.choice(["rome", "oslo", "bern"]),
            rng.choices(list(Stance), [6, 2, 1])[0],
        )
        sources.append(make.row(f"source {number}"))
        at, timed = number * 60_000_000, rng.random() < 0.9
        facts.append(claimed(make, sources[-1], value, at, stance, many=many, timed=timed))
    order = list(range(24))
    if seed >= 3:  # some come late
        order = sorted(order, key=lambda n: n + rng.choice([0, 0, 0, 5]))
    while order:
        now, order = order[:2], order[2:]
        await store.apply(ref, Batch(units=[r[n] for n in now for r in (sources, facts)]))
        found = await store.read(ref, lambda reader: reader.slot_claims(HOME))
        assert found[::-1] == settle([p._replace(settled=Settled()) for p in found])
    linked = {(p.settled.ended_by, p.unit_id) for p in found if p.settled.ended_by}
    assert await links(store, ref, facts, LinkType.SUPERSEDES) == linked
    await store.apply(ref, Batch(erase=ids_of(sources[5:9])))
    found = await store.read(ref, lambda reader: reader.slot_claims(HOME))
    assert found[::-1] == settle([p._replace(settled=Settled()) for p in found])


async def test_a_long_slot_is_ended_however_long_ago_it_began(store, ref, make, monkeypatch):
    monkeypatch.setattr(truth, "MOST_CLAIMS", 3)
    _, facts = await told(store, ref, make, "rome", "rome", "oslo", "bern", "rome")
    assert await spans(store, ref, facts) == [(0, 2), (1, 2), (2, 3), (3, 4), (4, None)]


def claiming(make, source, *told):
    """Return a fact with several claims: pairs of slot and value, or with a stance."""
    row = make.row(source.unit.text, layer=Layer.FACT, source_id=source.unit.id)
    claims = (Claim(slot, value, *stance or [Stance.HOLDS], NOW) for slot, value, *stance in told)
    return replace(row, claims=tuple(claims))


async def test_a_fact_holds_while_any_part_of_it_does(store, ref, make):
    source = make.row("lives in rome, works at google")
    fact = claiming(make, source, (HOME, "rome"), ("self\nemployer", "google"))
    await store.apply(ref, Batch(units=[source, fact]))
    for minute, slot in enumerate((HOME, "self\nemployer"), 1):
        later = make.row(f"another {slot}")
        other = claimed(make, later, "another", minute * 60_000_000, slot=slot)
        await store.apply(ref, Batch(units=[later, other]))
        assert await spans(store, ref, [fact]) == [(0, None if minute == 1 else 2)]
    await store.apply(ref, Batch(erase=[later.unit.id]))
    assert await spans(store, ref, [fact]) == [(0, None)]


async def test_what_is_said_as_one_ends_as_one(store, ref, make):
    source = make.row("is vegetarian")
    taken = ("self\ntakes:fish", "no")
    fact = claiming(make, source, ("self\ndiet", "vegetarian"), taken)
    switched = make.row("from vim to helix")
    tool = claiming(
        make,
        switched,
        ("self\nuses", "vim", Stance.DENIED),
        ("self\nuses", "helix"),
        ("self\nthing:helix", "yes"),
    )
    await store.apply(ref, Batch(units=[source, fact, switched, tool]))
    for minute, (slot, value, stance) in enumerate(
        [
            ("self\nuses", "vim", Stance.HOLDS),  # what is only denied ends nothing
            ("self\ntakes:fish", "yes", Stance.HOLDS),
            ("self\nthing:helix", "yes", Stance.DENIED),
        ],
        1,
    ):
        later = make.row(slot)
        other = claimed(
            make, later, value, minute * 60_000_000, stance, slot=slot, many=minute == 1
        )
        await store.apply(ref, Batch(units=[later, other]))
        ends = (2 if minute > 1 else None, 3 if minute > 2 else None)
        assert await spans(store, ref, [fact, tool]) == [(0, end) for end in ends]


async def test_other_slots_and_banks_are_left_alone(store, ref, make):
    _, (rome,) = await told(store, ref, make, "rome")
    source = make.row("another")
    other = claimed(make, source, "oslo", 60_000_000, slot="dana\nhome")
    await store.apply(ref, Batch(units=[source, other]))
    await told(store, replace(ref, bank="another"), make, "bern", "oslo")
    assert await spans(store, ref, [rome, other]) == [(0, None), (1, None)]


async def test_contradictions_are_linked_once(store, ref, make):
    source, twin = make.row("one"), make.row("two")
    rome, oslo = claimed(make, source, "rome"), claimed(make, twin, "oslo")
    await store.apply(ref, Batch(units=[source, rome]))
    await store.apply(ref, Batch(units=[twin, oslo]))
    pair = tuple(sorted(ids_of([rome, oslo]), reverse=True))
    assert await links(store, ref, [rome], LinkType.CONTRADICTS) == {pair}
    found = await store.read(ref, lambda reader: reader.truths(ids_of([source, twin])))
    assert found[source.unit.id][0].against_in == twin.unit.id
    assert found[twin.unit.id][0].against_in == source.unit.id
    await store.apply(ref, Batch(erase=[twin.unit.id]))
    found = await store.read(ref, lambda reader: reader.truths(ids_of([source])))
    assert found[source.unit.id][0].against is None


async def test_what_was_recalled_claims_the_same(store, ref, make):
    source, twin, silent = make.row("one"), make.row("two"), make.row("three")
    facts = [
        claimed(make, s, v, at) for at, (s, v) in enumerate([(source, "rome"), (twin, "oslo")])
    ]
    gone = claimed(make, twin, "bern")
    await store.apply(ref, Batch(units=[source, twin, silent, *facts, gone]))
    await store.apply(ref, Batch(curations=[Curation(gone.unit.id, True)]))
    ids = ids_of([source, twin, silent])

    def after(reader):
        reader.recalled(ids[1:])
        some = reader.truths(ids)  # one of them was not recalled
        reader.recalled(ids)
        return some, reader.truths(ids), reader.truths(ids[:1]), reader.truths([])

    alone = await store.read(ref, lambda reader: reader.truths(ids))
    assert set(alone) == {source.unit.id, twin.unit.id}
    assert [claim.fact_id for claim in alone[twin.unit.id]] == [facts[1].unit.id]
    first = {source.unit.id: alone[source.unit.id]}
    assert await store.read(ref, after) == (alone, alone, first, {})


async def test_a_slot_is_read_by_its_key(store, ref, make):
    _, facts = await told(store, ref, make, "rome", "oslo")
    found = await store.read(ref, lambda reader: reader.slot_claims(HOME))
    assert [p.unit_id for p in found] == ids_of(facts[::-1])
    assert await store.read(ref, lambda reader: reader.slot_claims("self\nrole")) == []
    found = await store.read(ref, lambda reader: reader.claims_of(ids_of(facts[:1])))
    assert [p.claim.value for p in found] == ["rome"]


async def test_who_said_last_what_holds_at_a_time(store, ref, make):
    sources, facts = await told(store, ref, make, "rome", "oslo", "oslo", "bern")

    async def holders(minute, slot=HOME):
        at = NOW + minute * 60_000_000
        found = await store.read(ref, lambda reader: reader.holders([slot], at))
        return [ids_of(sources).index(i) for i in found.values()]

    assert [await holders(minute) for minute in (0, 1, 2, 3, 9)] == [[0], [1], [2], [3], [3]]
    assert await holders(-1) == []
    assert await holders(9, "dana\nhome") == []
    await store.apply(ref, Batch(curations=[Curation(facts[3].unit.id, True)]))
    assert await holders(9) == [2]
    source = make.row("not in oslo any more")
    denial = claimed(make, source, "oslo", 4 * 60_000_000, Stance.DENIED)
    await store.apply(ref, Batch(units=[source, denial]))
    sources.append(source)
    assert await holders(9) == [4]  # nothing holds, so it is who denied
    await told(store, replace(ref, bank="another"), make, "bern")
    assert await holders(9) == [4]


async def test_a_dropped_bank_leaves_no_claims(store, ref, make):
    await told(store, ref, make, "rome")
    await store.bank_drop(ref)
    assert await store.read(ref, lambda reader: reader.slot_claims(HOME)) == []
