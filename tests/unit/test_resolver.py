"""Names that were read become entities of the bank."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from remembrancer.keeping.batch import Batch, EntityMention
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import BankRef, Entity, Layer, Unit, UnitRow
from remembrancer.verbs.retaining.resolver import Resolver, Told, told_of
from remembrancer.verbs.retaining.units import Item, Source

NOW = 1_700_000_000_000_000
REF = BankRef("t", "b")


class Kit:
    """A bank, and what is read into it."""

    def __init__(self, folder: Path) -> None:
        clock = FixedClock(NOW)
        self.ids = IdMaker(clock, random.Random(3).randbytes)
        self.store = SqliteStore(folder, clock=clock)
        self.resolver = Resolver(self.store)

    def unit(self, *entities: str, **more: Any) -> Unit:
        layer = more.pop("layer", Layer.SOURCE)
        return Unit(self.ids.new(), layer, "text", NOW, NOW, entities=entities, **more)

    def mention(self, name: str, *units: Unit) -> EntityMention:
        return EntityMention(Entity(self.ids.new(), name), [unit.id for unit in units])

    async def knows(self, *names: str, kind: str = "thing") -> None:
        """Let the bank know some entities."""
        unit = self.unit()
        mentions = [EntityMention(Entity(self.ids.new(), name, kind), [unit.id]) for name in names]
        await self.store.apply(REF, Batch(units=[UnitRow(unit)], mentions=mentions))

    async def read(
        self,
        mentions: Sequence[EntityMention],
        told: Told | None = None,
        facts: Sequence[UnitRow] = (),
    ) -> tuple[list[EntityMention], list[UnitRow]]:
        return await self.resolver.read(REF, mentions, facts, told or Told())

    async def meant(self, *names: str, told: Told | None = None) -> list[str]:
        """Return the names of the entities that some names, each in a unit of its own, mean."""
        mentions = [self.mention(name, self.unit()) for name in names]
        found, _ = await self.read(mentions, told)
        by_unit = {unit_id: m.entity.name for m in found for unit_id in m.unit_ids}
        return [by_unit[m.unit_ids[0]] for m in mentions]


@pytest.fixture
def run(tmp_path: Path) -> Callable[[Callable[[Kit], Awaitable[None]]], None]:
    def runner(test: Callable[[Kit], Awaitable[None]]) -> None:
        async def main() -> None:
            kit = Kit(tmp_path)
            await kit.store.open()
            try:
                await test(kit)
            finally:
                await kit.store.close()

        asyncio.run(main())

    return runner


def test_names_find_what_the_bank_knows(run):
    async def test(kit):
        await kit.knows("Maria Lopez", "Robert Ek", "Gate 7", "Delta Dawn")
        names = ("MARIA LOPEZ", "Maria", "Bob Ek", "Bob", "Gate 8", "Delta", "the gate 7")
        assert await kit.meant(*names) == [
            "Maria Lopez", "Maria Lopez", "Robert Ek", "Robert Ek", "Gate 8", "Delta", "Gate 7",
        ]  # fmt: skip
        await kit.knows("Maria Garcia", "Bob Berg")
        assert await kit.meant("Maria", "Bob") == ["Maria", "Bob"]

    run(test)


def test_the_order_of_names_in_a_batch_does_not_matter(run):
    async def test(kit):
        expected = {
            "Bob Ek": "Robert Ek",
            "Robert Ek": "Robert Ek",
            "Bob": "Robert Ek",
            "robert ek": "Robert Ek",
            "Lena": "Lena",
            "Lena Berg": "Lena Berg",
            "Lena Dahl": "Lena Dahl",
        }
        orders = list(permutations(expected))[::97]
        assert len(orders) > 40
        for names in orders:
            assert await kit.meant(*names) == [expected[name] for name in names]

    run(test)


def test_bob_beside_robert_is_another(run):
    async def test(kit):
        unit, other = kit.unit(), kit.unit()
        both = [kit.mention("Bob Ek", unit), kit.mention("Robert Ek", unit, other)]
        found, _ = await kit.read(both)
        assert [m.entity.name for m in found] == ["Bob Ek", "Robert Ek"]
        await kit.knows("Robert Ek")
        found, _ = await kit.read(both)
        assert [m.entity.name for m in found] == ["Bob Ek", "Robert Ek"]
        near = [kit.mention("Maria", unit), kit.mention("Maria Lopez", unit)]
        found, _ = await kit.read(near)
        assert [m.entity.name for m in found] == ["Maria Lopez"]

    run(test)


def test_two_who_speak_are_two(run):
    async def test(kit):
        speakers = frozenset({"Maria", "Maria Lopez"})
        told = Told(speakers=speakers)
        assert await kit.meant("Maria", "Maria Lopez", told=told) == ["Maria", "Maria Lopez"]
        one = Told(speakers=frozenset({"Maria"}))
        assert await kit.meant("Maria", "Maria Lopez", told=one) == ["Maria Lopez"] * 2

    run(test)


def test_who_speaks_is_a_person(run):
    async def test(kit):
        assert await kit.meant("Mel", "Melanie") == ["Mel", "Melanie"]
        told = Told(speakers=frozenset({"Melanie", "Ben"}))
        assert await kit.meant("Mel", "Melanie", told=told) == ["Melanie"] * 2
        await kit.knows("Melanie")
        assert await kit.meant("Mel", told=told) == ["Melanie"]
        assert await kit.meant("Mel", told=replace(told, kinds={"Mel": "BAND"})) == ["Mel"]

    run(test)


def test_the_usual_spelling_is_the_name(run):
    async def test(kit):
        one, two = kit.unit(), kit.unit()
        mentions = [kit.mention("Json", one), kit.mention("JSON", one, two)]
        assert [m.entity.name for m in (await kit.read(mentions))[0]] == ["JSON"]
        for names in (("MARTA", "Marta", "marta"), ("marta", "Marta", "MARTA")):
            assert await kit.meant(*names) == ["Marta"] * 3

    run(test)


def test_names_to_be_taken_as_they_are(run):
    async def test(kit):
        await kit.knows("Robert Ek")
        source = kit.unit()
        fact = kit.unit("Bob", layer=Layer.FACT, source_id=source.id)
        told = Told(exact=frozenset({source.id}))
        mentions = [kit.mention("ROBERT EK", source), kit.mention("Bob", fact)]
        found, facts = await kit.read(mentions, told, [UnitRow(fact)])
        assert [m.entity.name for m in found] == ["Robert Ek", "Bob"]
        assert facts[0].unit.entities == ("Bob",)

    run(test)


def test_facts_and_mentions_get_canonical_names(run):
    async def test(kit):
        await kit.knows("Robert Ek")
        source = kit.unit("Bob", "Oslo")
        fact = kit.unit("Bob Ek", "Bob", "Oslo", layer=Layer.FACT, source_id=source.id)
        mentions = [
            kit.mention("Bob", source, fact),
            kit.mention("Bob Ek", fact),
            kit.mention("Oslo", source, fact),
        ]
        found, facts = await kit.read(mentions, None, [UnitRow(fact)])
        assert facts[0].unit.entities == ("Robert Ek", "Oslo")
        assert [(m.entity.name, m.unit_ids, m.spellings) for m in found] == [
            ("Robert Ek", [source.id, fact.id], ("Bob", "Bob Ek")),
            ("Oslo", [source.id, fact.id], ()),
        ]
        batch = Batch(units=[UnitRow(source), *facts], mentions=found)
        await kit.store.apply(REF, batch)
        async with kit.store.snapshot(REF) as view:
            [stored] = await view.units([source.id])
            names = {e.name for e in await view.entities()}
        assert stored.entities == ("Robert Ek", "Oslo")
        assert names == {"Robert Ek", "Oslo"}

    run(test)


def test_kinds_are_kept_and_guide(run):
    async def test(kit):
        await kit.knows("Tunde Okafor", kind="PERSON")
        told = Told(kinds={"Maria": "CITY", "Tunde": "person", "Oslo": "CONCEPT"})
        names = ("Maria", "Maria Lopez", "Tunde", "Oslo")
        mentions = [kit.mention(name, kit.unit()) for name in names]
        found, _ = await kit.read(mentions, told)
        assert [(m.entity.name, m.entity.kind) for m in found] == [
            ("Maria", "CITY"),
            ("Maria Lopez", "thing"),
            ("Tunde Okafor", "person"),
            ("Oslo", "thing"),
        ]

    run(test)


def test_kinds_that_were_read_yield_to_those_that_were_told(run):
    async def test(kit):
        told = Told(kinds={"Acme": "band"}, speakers=frozenset({"Noor"}))
        read = [("ACME", "organization"), ("Acme", "thing"), ("Oslo", "place"), ("Noor", "group")]
        read += [("Mint", "product"), ("MINT", "work"), ("Paris", "place"), ("Paris Quay", "thing")]
        mentions = [
            EntityMention(Entity(kit.ids.new(), name, kind), [kit.unit().id]) for name, kind in read
        ]
        found, _ = await kit.read(mentions, told)
        assert {m.entity.name: m.entity.kind for m in found} == {
            "Acme": "band",
            "Oslo": "place",
            "Noor": "thing",  # who speaks is no group
            "Mint": "thing",  # two kinds tell none
            "Paris": "place",  # and no person
            "Paris Quay": "thing",
        }

    run(test)


def test_too_many_bearers_of_a_first_name_mean_none(run):
    async def test(kit):
        await kit.knows(*(f"Anna {n:03}" for n in range(30)), "Anna Zorn")
        assert await kit.meant("Anna") == ["Anna"]

    run(test)


def test_given_names_are_made_canonical(run):
    async def test(kit):
        await kit.knows("Robert Ek")
        sources = [Source(UnitRow(kit.unit("Bob", "Oslo"))), Source(UnitRow(kit.unit()))]
        told = Told(kinds={"Bob": "PERSON"})
        found, again = await kit.resolver.given(REF, sources, told)
        assert [s.row.unit.entities for s in found] == [("Robert Ek", "Oslo"), ()]
        assert again.kinds == {"Robert Ek": "PERSON"}
        assert await kit.resolver.given(REF, sources[1:], told) == (sources[1:], told)

    run(test)


def test_what_items_tell():
    ids = IdMaker(FixedClock(NOW), random.Random(3).randbytes)
    items = [
        Item("x", entities=("Bob",), entity_kinds={"Bob": "PERSON"}),
        Item("y", resolve_entities=False),
    ]
    said = (("Ann", 0), ("Bob", 1), (None, 1), ("Eve", None))
    units = [Unit(ids.new(), Layer.SOURCE, "x", NOW, NOW, speaker=speaker) for speaker, _ in said]
    sources = [Source(UnitRow(u), item=i) for u, (_, i) in zip(units, said, strict=True)]
    assert told_of(items, sources) == Told(
        {"Bob": "PERSON"}, {units[1].id, units[2].id}, {"Ann", "Bob", "Eve"}
    )


def test_an_initial_means_the_one_person_named_beside_it(run):
    async def test(kit):
        for names in permutations(("Nora Feld", "N. Feld")):
            assert await kit.meant(*names) == ["Nora Feld", "Nora Feld"]
        two = await kit.meant("Nora Feld", "Nils Feld", "N. Feld")
        assert two == ["Nora Feld", "Nils Feld", "N. Feld"]
        assert await kit.meant("Nora Feld", "R. Feld", "N. Felder") == [
            "Nora Feld", "R. Feld", "N. Felder",
        ]  # fmt: skip

    run(test)


def test_an_initial_alone_means_nobody_the_bank_knows(run):
    async def test(kit):
        await kit.knows("Nora Feld", kind="person")
        assert await kit.meant("N. Feld") == ["N. Feld"]

    run(test)


def test_an_initial_in_one_memory_with_the_name_is_another_person(run):
    async def test(kit):
        unit = kit.unit()
        names = [kit.mention("Nora Feld", unit), kit.mention("N. Feld", unit)]
        found, _ = await kit.read(names)
        assert sorted(m.entity.name for m in found) == ["N. Feld", "Nora Feld"]

    run(test)
