"""What superseded others goes: these hold again, unless something else supersedes them still."""

from __future__ import annotations

from dataclasses import replace

from contract_kit import NOW, ids_of

from remembrancer.keeping.batch import Batch
from remembrancer.nouns.memory import Layer, Link, LinkType, Op

OLD = (LinkType.SUPERSEDES,)


def closed(row, at=NOW):
    return replace(row, unit=replace(row.unit, valid_until=at))


def over(new, old, weight=1.0):
    return Link(new.unit.id, old.unit.id, LinkType.SUPERSEDES, weight)


async def ends(store, ref, rows):
    async with store.snapshot(ref) as view:
        return [unit.valid_until for unit in await view.units(ids_of(rows))]


async def test_what_only_the_erased_superseded_holds_again(store, ref, make):
    old, new = closed(make.row("Ada lives in Rome")), make.row("Ada lives in Bern")
    fact = closed(make.row("Rome", layer=Layer.FACT, source_id=old.unit.id))
    other = closed(make.row("ended by itself"))
    links = [over(new, old)]
    await store.apply(ref, Batch(units=[old, new, fact, other], links=links))
    revision = (await store.apply(ref, Batch(erase=[new.unit.id]))).revision
    assert await ends(store, ref, [old, fact, other]) == [None, None, NOW]
    async with store.snapshot(ref) as view:
        page = await view.changes(revision - 1)
        assert (await view.counts())["links"] == 0
    assert {c.unit_id for c in page.changes if c.op is Op.PUT} == set(ids_of([old, fact]))


async def test_it_stays_closed_while_another_one_supersedes_it(store, ref, make):
    old, new, also = closed(make.row()), make.row(), make.row()
    fact = closed(make.row("t", layer=Layer.FACT, source_id=old.unit.id))
    by = make.row("by")
    units, links = [old, new, also, fact, by], [over(new, old), over(also, old), over(by, fact)]
    await store.apply(ref, Batch(units=units, links=links))
    await store.apply(ref, Batch(erase=[new.unit.id]))
    assert await ends(store, ref, [old, fact]) == [NOW, NOW]
    await store.apply(ref, Batch(erase=[also.unit.id]))
    assert await ends(store, ref, [old, fact]) == [None, NOW]  # the fact has one of its own
    await store.apply(ref, Batch(erase=[by.unit.id]))
    assert await ends(store, ref, [old, fact]) == [None, None]


async def test_of_a_chain_the_middle_goes_and_its_ends_are_linked(store, ref, make, check):
    first, second = closed(make.row("1")), closed(make.row("2"))
    third, last = closed(make.row("3")), make.row("4")
    links = [over(second, first), over(third, second), over(last, third, 0.5)]
    await store.apply(ref, Batch(units=[first, second, third, last], links=links))
    await store.apply(ref, Batch(erase=ids_of([second, third])))
    assert await ends(store, ref, [first]) == [NOW]
    async with store.snapshot(ref) as view:
        found = await view.neighbours([first.unit.id], OLD)
        assert found == [over(last, first, 0.5)]
        assert (await view.counts())["links"] == 1
    await check(store, ref)
    await store.apply(ref, Batch(erase=[last.unit.id]))
    assert await ends(store, ref, [first]) == [None]
    await check(store, ref)


async def test_a_ring_comes_to_an_end(store, ref, make, check):
    one, two, three = closed(make.row("1")), closed(make.row("2")), closed(make.row("3"))
    links = [over(one, two), over(two, one), over(two, three)]
    await store.apply(ref, Batch(units=[one, two, three], links=links))
    await store.apply(ref, Batch(erase=ids_of([one, two])))
    assert await ends(store, ref, [three]) == [None]
    await check(store, ref)
