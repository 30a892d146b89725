"""Counts: what a bank holds, by kind, link, time and tag."""

from __future__ import annotations

from dataclasses import replace

import pytest
from contract_kit import NOW, ids_of

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.stats_view import TagPage, TimeField
from remembrancer.nouns.memory import BankRef, JobState, Kind, Layer, Link, LinkType

STEP = 1_000


@pytest.fixture
def batch(make):
    """Two sources of different kinds, two facts that say the same, and an observation."""
    a = make.row("one", tags=("x", "y"), occurred_start=NOW - STEP)
    b = make.row("two", kind=Kind.EXPERIENCE, tags=("y",), mentioned_at=NOW + 3 * STEP)
    a, b = replace(a, same=b"k"), replace(b, same=b"l")
    facts = [
        replace(
            make.row("three", layer=Layer.FACT, source_id=s.unit.id, tags=s.unit.tags), same=b"k"
        )
        for s in (a, b)
    ]
    seen = make.row("four", layer=Layer.OBSERVATION, kind=Kind.OBSERVATION, tags=("z", "a"))
    units = [a, b, *facts, seen]
    return Batch(
        units=units,
        links=[
            Link(a.unit.id, b.unit.id, LinkType.CAUSED_BY),
            Link(b.unit.id, a.unit.id, LinkType.CAUSED_BY),
            Link(seen.unit.id, a.unit.id, LinkType.INSIGHT_FROM),
        ],
        mentions=[make.mention("Ada", a, b), make.mention("Bob", a)],
    )


async def test_a_bank_is_counted(store, ref, make, batch):
    done = make.job(ref)
    await store.apply(ref, replace(batch, jobs=[make.job(ref), done]))
    await store.job_cancel(ref, done.id, NOW)
    async with store.snapshot(ref) as view:
        assert await view.unit_counts() == {
            (Layer.SOURCE, Kind.WORLD): 1,
            (Layer.SOURCE, Kind.EXPERIENCE): 1,
            (Layer.FACT, Kind.WORLD): 2,
            (Layer.OBSERVATION, Kind.OBSERVATION): 1,
        }
        assert await view.link_counts() == {
            (LinkType.CAUSED_BY, Kind.WORLD): 1,
            (LinkType.CAUSED_BY, Kind.EXPERIENCE): 1,
            (LinkType.INSIGHT_FROM, Kind.OBSERVATION): 1,
        }
        assert sorted(await view.mention_counts()) == [1, 2]
        assert await view.distinct_count(Layer.FACT) == 1
        assert await view.distinct_count(Layer.SOURCE) == 2
        assert await view.job_counts() == {JobState.PENDING: 1, JobState.CANCELLED: 1}
        assert await view.written_at() == batch.units[-1].unit.created_at


async def test_times_are_counted_in_buckets(store, ref, batch):
    await store.apply(ref, batch)
    async with store.snapshot(ref) as view:
        span = (NOW - STEP, NOW + 3 * STEP, STEP)
        assert await view.histogram(TimeField.MENTIONED, *span) == {
            (1, Kind.WORLD): 3,
            (1, Kind.OBSERVATION): 1,
        }
        wider = (NOW - STEP, NOW + 4 * STEP, STEP)
        assert (await view.histogram(TimeField.MENTIONED, *wider))[4, Kind.EXPERIENCE] == 1
        assert await view.histogram(TimeField.OCCURRED, *span) == {(0, Kind.WORLD): 1}
        assert sum((await view.histogram(TimeField.CREATED, *span)).values()) == 5


async def test_tags_are_counted_once_for_a_source_with_its_facts(store, ref, make, batch):
    await store.apply(ref, batch)
    async with store.snapshot(ref) as view:
        assert await view.tags() == TagPage([("y", 2), ("a", 1), ("x", 1), ("z", 1)], 4)
        assert await view.tags(limit=1, offset=1) == TagPage([("a", 1)], 4)
        assert await view.tags(offset=9) == TagPage([], 4)
    odd = ["user:ada", "User:Bob", "50%", "5_0", "a\\b"]
    await store.apply(ref, Batch(units=[make.row(tags=(tag,)) for tag in odd]))
    async with store.snapshot(ref) as view:
        for pattern, expected in [
            ("user:*", ["User:Bob", "user:ada"]),
            ("*A", ["a", "user:ada"]),
            ("*%", ["50%"]),
            ("5_0", ["5_0"]),
            ("*\\*", ["a\\b"]),
            ("user", []),
        ]:
            found = await view.tags(pattern)
            assert ([tag for tag, _ in found.items], found.total) == (expected, len(expected))


async def test_scopes_are_the_tag_sets_of_observations(store, ref, make, batch):
    more = [
        make.row(layer=Layer.OBSERVATION, kind=Kind.OBSERVATION, tags=tags)
        for tags in [("a", "z"), ("b",), ()]
    ]
    await store.apply(ref, batch)
    await store.apply(ref, Batch(units=more))
    async with store.snapshot(ref) as view:
        assert await view.scopes() == [(("a", "z"), 2), ((), 1), (("b",), 1)]


async def test_ids_come_page_by_page(store, ref, batch):
    await store.apply(ref, batch)
    a, b, fact, other, seen = ids_of(batch.units)
    async with store.snapshot(ref) as view:
        assert await view.unit_ids() == [a, b, seen]
        assert await view.unit_ids(after=a, limit=1) == [b]
        assert await view.unit_ids(Kind.WORLD) == [a, fact, other]
        assert await view.unit_ids(Kind.EXPERIENCE, after=b) == []


async def test_nothing_of_another_bank_is_counted(store, ref, batch):
    await store.apply(ref, batch)
    for stranger in (BankRef("evil", ref.bank), BankRef(ref.tenant, "eve")):
        async with store.snapshot(stranger) as view:
            assert await view.unit_counts() == await view.link_counts() == {}
            assert await view.mention_counts() == await view.scopes() == []
            assert await view.unit_ids() == await view.unit_ids(Kind.WORLD) == []
            assert await view.tags() == TagPage([], 0)
            assert (await view.distinct_count(Layer.FACT), await view.written_at()) == (0, None)
            assert await view.job_counts() == {}
            for field in TimeField:
                assert await view.histogram(field, 0, NOW * 2, STEP) == {}


async def test_memories_are_counted_by_tenant(store, ref, make, batch):
    await store.apply(ref, batch)
    await store.apply(BankRef("other", "b"), replace(make.document("d", ["one"])))
    assert await store.memory_count(ref.tenant) == 3
    assert await store.memory_count("other") == 1
    assert await store.memory_count("none") == 0
    assert await store.memory_count() == 4


async def test_totals_are_over_all_tenants(store, ref, make, batch):
    await store.apply(ref, batch)
    await store.apply(BankRef("other", "b"), replace(make.document("d", ["one"])))
    totals = await store.totals()
    assert (totals.banks, totals.documents) == (2, 1)
    assert (totals.sources, totals.facts, totals.observations) == (3, 2, 1)
    assert totals.jobs == {}
