"""The verb recall over units that no reader makes: observations, links, several banks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from remembrancer.app import App
from remembrancer.finding.search import TOP
from remembrancer.finding.terms import Analyzer, pack
from remembrancer.keeping.batch import Batch, EntityMention
from remembrancer.keeping.timeline import SAME_TIME_US
from remembrancer.nouns.errors import TooLarge
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import (
    BankRef,
    Claim,
    Entity,
    Kind,
    Layer,
    Link,
    LinkType,
    Stance,
    Unit,
    UnitRow,
)
from remembrancer.settings import Settings
from remembrancer.verbs.recall import RecallOptions
from remembrancer.verbs.recalling.across import MAX_BANKS
from remembrancer.verbs.recalling.included import Include
from remembrancer.verbs.recalling.recollection import payload_tokens
from remembrancer.verbs.recalling.related import related

ANALYZER = Analyzer()
BANK = BankRef("default", "ann")
IDS = IdMaker()


def row(text: str, **more: Any) -> UnitRow:
    values: dict[str, Any] = {"layer": Layer.SOURCE, "created_at": 1, "mentioned_at": 1}
    unit = Unit(IDS.new(), text=text, **{**values, **more})
    return UnitRow(unit, pack(ANALYZER.terms(text)))


def observation(text: str) -> UnitRow:
    return row(text, layer=Layer.OBSERVATION, kind=Kind.OBSERVATION)


def insight(derived: UnitRow, *sources: UnitRow) -> list[Link]:
    return [Link(derived.unit.id, s.unit.id, LinkType.INSIGHT_FROM) for s in sources]


def run(folder: Path, work: Callable[[App], Awaitable[None]]) -> None:
    async def inside() -> None:
        app = await App.open(Settings(data=folder, embedder="none"), background=False)
        try:
            await work(app)
        finally:
            await app.close()

    asyncio.run(inside())


@pytest.fixture
def doors() -> Batch:
    """Three sources, one read fact, and two observations of them."""
    painted, sanded, oiled = row("We painted the door"), row("We sanded the door"), row("Oil helps")
    fact = row("painted the door", layer=Layer.FACT, source_id=painted.unit.id, start=3, end=19)
    work, care = observation("They work on the door"), observation("The door is cared for")
    return Batch(
        units=[painted, sanded, oiled, fact, work, care],
        links=[*insight(work, sanded, fact), *insight(care, oiled)],
    )


def test_sources_of_observations_come_within_their_budgets(tmp_path: Path, doors: Batch) -> None:
    painted, sanded, oiled, fact, work, care = (r.unit for r in doors.units)

    async def check(app: App) -> None:
        await app.store.apply(BANK, doors)

        async def included(**budget: int) -> tuple[dict[bytes, Any], set[bytes], bool]:
            options = RecallOptions(include=Include(**budget))
            found = (await app.recall(BANK, "door", options)).included
            assert found is not None
            assert found.entities is None
            assert found.sources is not None
            return dict(found.rests_on), set(found.sources), found.sources_truncated

        everything = {work.id: (sanded.id, fact.id), care.id: (oiled.id,)}
        assert await included(source_facts=4096) == (
            everything,
            {sanded.id, fact.id, oiled.id},
            False,
        )
        rests, kept, truncated = await included(source_facts=4096, per_observation=4)
        assert rests == {work.id: (fact.id,), care.id: (oiled.id,)}
        assert kept == {fact.id, oiled.id}
        assert truncated
        assert await included(source_facts=0) == ({}, set(), True)
        plain = await app.recall(BANK, "door")
        assert plain.included is None
        assert painted.id in {a.unit.id for a in plain.answers}

    run(tmp_path, check)


def test_observations_can_stand_for_what_they_rest_on(tmp_path: Path, doors: Batch) -> None:
    painted, sanded, _, _, work, care = (r.unit.id for r in doors.units)

    async def check(app: App) -> None:
        await app.store.apply(BANK, doors)
        everything = await app.recall(BANK, "door", RecallOptions())
        assert {a.unit.id for a in everything.answers} == {painted, sanded, work, care}
        preferred = await app.recall(BANK, "door", RecallOptions(prefer_observations=True))
        assert {a.unit.id for a in preferred.answers} == {work, care}
        raw = RecallOptions(prefer_observations=True, kinds=[Kind.WORLD])
        assert {a.unit.id for a in (await app.recall(BANK, "door", raw)).answers} == {
            painted,
            sanded,
        }

    run(tmp_path, check)


def test_the_graph_arm_follows_shared_entities_and_causes(tmp_path: Path) -> None:
    seed = row("The door squeaks", speaker="Ann")
    twice, once, cause, far = (row(t) for t in ("Rust", "Rain", "Winter", "Nothing"))
    fact = row("Rust", layer=Layer.FACT, source_id=twice.unit.id)
    mentions = [
        EntityMention(Entity(IDS.new(), name), [r.unit.id for r in rows])
        for name, rows in {
            "Lake": (seed, once, fact),
            "Boat": (seed, twice),
            "Ann": (seed, far),
        }.items()
    ]
    links = [Link(seed.unit.id, cause.unit.id, LinkType.CAUSED_BY, 0.4)]
    batch = Batch(units=[seed, twice, once, cause, far, fact], mentions=mentions, links=links)

    async def check(app: App) -> None:
        await app.store.apply(BANK, batch)
        found = await app.store.read(BANK, lambda reader: related(reader, [seed.unit.id]))
        assert [unit_id for unit_id, _ in found] == [r.unit.id for r in (twice, once, cause)]
        assert [score for _, score in found] == pytest.approx([0.7616, 0.4621, 0.4], abs=1e-4)
        assert await app.store.read(BANK, lambda reader: related(reader, [])) == []
        wide = await app.recall(BANK, "door", RecallOptions(related=True))
        assert {a.unit.text for a in wide.answers} == {
            "The door squeaks",
            "Rust",
            "Rain",
            "Winter",
        }
        traced = await app.recall(BANK, "door", RecallOptions(trace=True))
        assert [a.unit.text for a in traced.answers] == ["The door squeaks"]
        assert traced.trace is not None
        graph = traced.trace.found["graph"]
        assert [hit.unit.text for hit in graph] == ["Rust", "Rain", "Winter"]
        assert not traced.trace.graph_ranked

    run(tmp_path, check)


def test_what_holds_now_is_found_over_several_banks_though_it_is_no_candidate(
    tmp_path: Path,
) -> None:
    def home(source: UnitRow, value: str, at: int) -> UnitRow:
        fact = row(value, layer=Layer.FACT, source_id=source.unit.id, mentioned_at=at)
        return replace(fact, claims=(Claim("self\nhome", value, Stance.HOLDS, at, timed=True),))

    later = 1 + 2 * SAME_TIME_US
    rome, oslo = row("Rome is my home"), row("Moved to Oslo", mentioned_at=later)
    crowd = [row(f"Rome again {n}") for n in range(2 * TOP)]
    facts = [home(rome, "rome", 1), home(oslo, "oslo", later)]

    async def check(app: App) -> None:
        await app.store.apply(BANK, Batch(units=[rome, oslo, *crowd, *facts]))
        other = replace(BANK, bank="bob")
        await app.store.apply(other, Batch(units=[row("Rome was home to Bob")]))
        found = await app.across(
            [BANK, other], "home in Rome", RecallOptions(limit=4, now=2 * later)
        )
        ids = [a.unit.id for a in found.answers]
        assert ids.index(oslo.unit.id) < ids.index(rome.unit.id)
        assert {a.bank for a in found.answers} == {"ann", "bob"}

    run(tmp_path, check)


def test_banks_are_searched_within_one_tenant_and_bounded(tmp_path: Path) -> None:
    async def check(app: App) -> None:
        refs = [BankRef("default", f"b{n}") for n in range(12)]
        for n, ref in enumerate(refs):
            await app.store.apply(ref, Batch(units=[row("The door squeaks " + "and " * n)]))
        await app.store.apply(BankRef("other", "b0"), Batch(units=[row("The door is theirs")]))
        found = await app.across(refs, "door", RecallOptions(limit=5))
        assert len(found.answers) == 5
        assert found.considered == 12
        assert all(a.bank and "theirs" not in a.unit.text for a in found.answers)
        cost = sum(payload_tokens(a.unit) for a in found.answers)
        assert found.tokens == cost
        few = await app.across(refs, "door", RecallOptions(limit=5, max_tokens=cost - 1))
        assert len(few.answers) < 5
        assert (await app.across([], "door")).answers == ()
        many = [BankRef("default", str(n)) for n in range(MAX_BANKS + 1)]
        with pytest.raises(TooLarge) as caught:
            await app.across(many, "door")
        assert (caught.value.field, caught.value.limit) == ("banks", MAX_BANKS)

    run(tmp_path, check)
