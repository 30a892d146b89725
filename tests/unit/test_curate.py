"""Correcting memories beside everything else: forgetting, failing, what hangs on them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from remembrancer.app import App
from remembrancer.keeping.batch import Batch, DocumentWrite
from remembrancer.keeping.view import View
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.errors import Conflict, ModelUnavailable, NotFound
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import (
    BankRef,
    Kind,
    Layer,
    Link,
    LinkType,
    Unit,
    UnitRow,
)
from remembrancer.settings import Settings
from remembrancer.verbs.browse import Query
from remembrancer.verbs.curate import HISTORY, Edit
from remembrancer.verbs.retaining.units import Item

NOW = 1_710_000_000_000_000
REF = BankRef("default", "curated")
TALK = """Mia: What did you plant this spring?
Leo: I planted turnips behind the shed.
Mia: They grow fast there, I hope?
Leo: Yes, the soil is rich this year."""

Test = Callable[[App], Awaitable[None]]


@asynccontextmanager
async def opened(folder: Path, clock: FixedClock) -> AsyncIterator[App]:
    settings = Settings(data=folder, embedder="hash:64")
    app = await App.open(settings, clock=clock, background=False)
    try:
        yield app
    finally:
        await app.close()


def run(folder: Path, test: Test) -> None:
    async def main() -> None:
        async with opened(folder, FixedClock(NOW)) as app:
            await test(app)

    asyncio.run(main())


async def talk(app: App) -> list[Unit]:
    """Retain the talk and return its turns in order."""
    await app.retain(REF, [Item(TALK, document="talk")])
    shelf = await app.browse.memories(REF, Query(layers=(Layer.SOURCE,)))
    return [shown.unit for shown in shelf.items][::-1]


async def row(app: App, unit_id: bytes) -> UnitRow:
    async with app.store.snapshot(REF) as view:
        return (await view.rows([unit_id]))[0]


async def rows(app: App) -> dict[str, UnitRow]:
    """Return the rows of all sources by text."""
    async with app.store.snapshot(REF) as view:
        ids = [each.unit_id for each in await view.scan()]
        return {each.unit.text: each for each in await view.rows(ids)}


async def said(view: View, source_ids: Sequence[bytes]) -> dict[str, bytes | None]:
    """Return the facts of sources by text, each with the key of what it says."""
    facts = await view.facts_of(source_ids)
    return {row.unit.text: row.same for row in await view.rows([f.id for f in facts])}


def test_a_corrected_turn_is_as_if_it_had_been_retained_so(tmp_path: Path) -> None:
    """Words, windows and vectors of it and of the turns after it are those of a fresh bank."""
    other = replace(REF, bank="fresh")
    text = "I planted leeks and beans behind the shed."

    async def test(app: App) -> None:
        turns = await talk(app)
        await app.curate(REF, turns[1].id, Edit(text=text))
        await app.retain(other, [Item(TALK.replace("I planted turnips behind the shed.", text))])
        mine = await rows(app)
        async with app.store.snapshot(other) as view:
            ids = [each.unit_id for each in await view.scan()]
            fresh = {each.unit.text: each for each in await view.rows(ids)}
            assert mine.keys() == fresh.keys()
            for text_of, one in fresh.items():
                assert mine[text_of].terms == one.terms
                assert mine[text_of].window_terms == one.window_terms
                assert mine[text_of].vector == one.vector
                assert mine[text_of].window_vector == one.window_vector
                assert mine[text_of].same == one.same
            read = await said(view, ids)
        async with app.store.snapshot(REF) as view:
            assert await said(view, [t.id for t in turns]) == read
            names = await view.run(lambda r: r.mentions([t.id for t in turns]))
            assert all(set(names[t.id]) >= {t.speaker} for t in turns)

    run(tmp_path, test)


def test_a_failing_embedder_changes_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    async def test(app: App) -> None:
        turns = await talk(app)

        async def fail(_: Sequence[str]) -> Any:
            raise ModelUnavailable("the model is away")

        before = await rows(app)
        async with app.store.snapshot(REF) as view:
            revision = view.revision
        monkeypatch.setattr(app.embedder, "embed", fail)
        with pytest.raises(ModelUnavailable):
            await app.curate(REF, turns[1].id, Edit(text="I planted leeks."))
        assert await rows(app) == before
        async with app.store.snapshot(REF) as view:
            assert view.revision == revision
        await app.curate(REF, turns[1].id, Edit(invalid=True))  # needs no vector
        assert (await app.browse.memory(REF, turns[1].id)).shown.invalid

    run(tmp_path, test)


def test_a_correction_never_brings_back_what_is_forgotten(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        for number in range(12):
            turns = await talk(app)
            edit = Edit(text=f"I planted leeks {number}.")
            edits = [app.curate(REF, turns[1].id, edit), app.curate(REF, turns[2].id, edit)]
            forget = app.forget(REF, unit_ids=[turns[1].id])
            started = [forget, *edits] if number % 2 else [*edits, forget]
            done = await asyncio.gather(*started, return_exceptions=True)
            assert all(not isinstance(d, Exception) or isinstance(d, NotFound) for d in done)
            async with app.store.snapshot(REF) as view:
                assert await view.units([turns[1].id]) == []
                assert (await view.units([turns[2].id]))[0].text == edit.text
                assert await view.facts_of([turns[1].id]) == []
            await app.forget(REF, documents=["talk"])

    run(tmp_path, test)


def test_two_corrections_at_once_are_both_made(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        turns = await talk(app)
        edits = [Edit(text="I planted leeks."), Edit(note="garden"), Edit(kind=Kind.EXPERIENCE)]
        await asyncio.gather(*(app.curate(REF, turns[1].id, edit) for edit in edits))
        unit = (await row(app, turns[1].id)).unit
        assert (unit.text, unit.note, unit.kind) == (
            "I planted leeks.",
            "garden",
            Kind.EXPERIENCE,
        )
        history = await app.curate.history(REF, turns[1].id)
        assert sorted(next(iter(each["was"])) for each in history) == ["kind", "note", "text"]

    run(tmp_path, test)


def test_what_is_derived_from_an_old_text_goes_with_it(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        turns = await talk(app)
        ids = IdMaker(FixedClock(NOW))
        made = [
            Unit(ids.new(), Layer.OBSERVATION, f"Leo gardens {n}", NOW, NOW, Kind.OBSERVATION)
            for n in range(3)
        ]
        async with app.store.snapshot(REF) as view:
            [fact] = await view.facts_of([turns[1].id])
        links = [
            Link(made[0].id, turns[1].id, LinkType.INSIGHT_FROM),
            Link(made[0].id, turns[3].id, LinkType.INSIGHT_FROM),
            Link(made[1].id, fact.id, LinkType.INSIGHT_FROM),
            Link(made[2].id, turns[3].id, LinkType.INSIGHT_FROM),
            Link(turns[1].id, turns[0].id, LinkType.RELATED_TO),
        ]
        await app.store.apply(REF, Batch(units=[UnitRow(u) for u in made], links=links))
        shown = (await app.browse.memory(REF, made[0].id)).shown
        assert (shown.proof_count, set(shown.basis)) == (2, {turns[1].id, turns[3].id})

        async def left() -> set[bytes]:
            async with app.store.snapshot(REF) as view:
                return {u.id for u in await view.units([u.id for u in made])}

        await app.curate(REF, turns[1].id, Edit(note="garden"))
        assert await left() == {u.id for u in made}
        await app.curate(REF, turns[1].id, Edit(text="I planted leeks."))
        assert await left() == {made[2].id}
        assert (await app.browse.memory(REF, turns[1].id)).links == ()
        assert await app.curate.drop_observations(REF, turns[0].id) == 0
        assert await app.curate.drop_observations(REF, turns[3].id) == 1
        assert await left() == set()

    run(tmp_path, test)


def test_a_history_is_bounded_and_goes_from_disk_with_its_memory(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        turns = await talk(app)
        secret = "zanzibarquartz"
        await app.curate(REF, turns[1].id, Edit(text=f"The word is {secret}."))
        for number in range(HISTORY + 3):
            await app.curate(REF, turns[1].id, Edit(note=f"note {number}"))
        history = await app.curate.history(REF, turns[1].id)
        assert len(history) == HISTORY
        assert history[0]["was"] == {"note": f"note {HISTORY + 1}"}
        await app.curate(REF, turns[1].id, Edit(text="Nothing."))
        assert _on_disk(tmp_path, secret)
        await app.forget(REF, unit_ids=[turns[1].id])
        await app.worker.drain()
        assert not _on_disk(tmp_path, secret)

    run(tmp_path, test)


def _on_disk(folder: Path, word: str) -> bool:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return any(word.encode() in path.read_bytes() for path in files)


def test_an_observation_is_corrected_with_its_vector(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        await talk(app)
        seen = Unit(IdMaker().new(), Layer.OBSERVATION, "Leo gardens", NOW, NOW, Kind.OBSERVATION)
        await app.store.apply(REF, Batch(units=[UnitRow(seen)]))
        await app.curate(REF, seen.id, Edit(text="Leo grows vegetables"))
        found = await app.recall(REF, "Who grows vegetables?")
        assert "Leo grows vegetables" in [a.unit.text for a in found.answers]
        assert (await row(app, seen.id)).vector is not None

    run(tmp_path, test)


def test_a_document_that_is_still_read_is_not_corrected(tmp_path: Path, monkeypatch: Any) -> None:
    """What its reader is about to write is of the old text."""
    monkeypatch.setattr("remembrancer.verbs.curate._PAUSE_S", 0)

    async def test(app: App) -> None:
        turns = await talk(app)
        async with app.store.snapshot(REF) as view:
            document = await view.document("talk")
        assert document is not None

        def told(*tokens: str) -> Batch:
            params = {**(document.params or {}), "reading": tokens}
            write = DocumentWrite(replace(document, params=params), (), extends=True)
            return Batch(documents=[write])

        await app.store.apply(REF, told("somebody"))
        with pytest.raises(Conflict):
            await app.curate(REF, turns[1].id, Edit(text="I planted leeks."))
        await app.curate(REF, turns[1].id, Edit(invalid=True))
        await app.store.apply(REF, told())
        await app.curate(REF, turns[1].id, Edit(text="I planted leeks."))
        unit = (await app.browse.memory(REF, turns[1].id)).shown
        assert unit.invalid
        assert all(fact.invalid for fact in unit.facts)

    run(tmp_path, test)


def test_links_of_facts_are_drawn_between_their_sources(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        turns = await talk(app)
        async with app.store.snapshot(REF) as view:
            facts = await view.facts_of([turns[1].id, turns[3].id])
        one, other = facts[0], facts[-1]
        assert one.source_id != other.source_id
        await app.store.apply(REF, Batch(links=[Link(other.id, one.id, LinkType.CAUSED_BY, 0.8)]))
        drawn = await app.graph(REF, Query())
        first = drawn.edges[0]
        assert (first.source, first.target) == (other.source_id, one.source_id)
        assert (first.type, first.weight) == ("caused_by", 0.8)

    run(tmp_path, test)
