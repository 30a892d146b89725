"""Texts that are corrected or read again, and what they said was to be done later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from remembrancer.app import App
from remembrancer.keeping.worker import Worker
from remembrancer.nouns.clock import FixedClock, to_us
from remembrancer.nouns.intention import Intention, IntentionState, OccurrenceState, TriggerType
from remembrancer.nouns.memory import BankRef, Layer, Unit
from remembrancer.settings import Settings
from remembrancer.verbs.browse import Query
from remembrancer.verbs.check import CheckOptions, Mode
from remembrancer.verbs.curate import Edit
from remembrancer.verbs.remind import Reminder
from remembrancer.verbs.reprocess import REPROCESS
from remembrancer.verbs.retaining.units import Item

NOW = to_us(datetime(2026, 5, 4, 9, tzinfo=UTC))  # a Monday
REF = BankRef("default", "again")
CALL = "Remind me to call Ines on Friday at nine."

Scene = Callable[[App, FixedClock], Awaitable[None]]


@asynccontextmanager
async def opened(folder: Path, clock: FixedClock) -> AsyncIterator[App]:
    app = await App.open(Settings(data=folder, embedder="hash:64"), clock=clock, background=False)
    try:
        yield app
    finally:
        await app.close()


def run(folder: Path, scene: Scene) -> None:
    async def main() -> None:
        clock = FixedClock(NOW)
        async with opened(folder, clock) as app:
            await scene(app, clock)

    asyncio.run(main())


async def retain(app: App, text: str) -> Unit:
    """Retain a text as a document and return its only turn."""
    await app.retain(REF, [Item(text, document="talk", timestamp=NOW, offset_min=0)])
    shelf = await app.browse.memories(REF, Query(layers=(Layer.SOURCE,)))
    return next(shown.unit for shown in shelf.items if shown.unit.text == text)


async def correct(app: App, unit: Unit, text: str) -> None:
    await app.curate(REF, unit.id, Edit(text=text))


async def reprocess(app: App) -> None:
    await app.reprocess.enqueue(REF, "talk")
    await Worker(app.store, {REPROCESS: app.reprocess.run}, clock=app.clock).drain()


async def kept(app: App) -> list[Intention]:
    return (await app.remind.listing(REF, None, 100))[0]


async def shown(app: App) -> list[tuple[str, int | None, IntentionState]]:
    """Return content, days from now, and state of all intentions."""
    return [
        (
            i.content,
            None if i.trigger_at is None else (i.trigger_at - NOW) // 86_400_000_000,
            i.state,
        )
        for i in await kept(app)
    ]


ACTIVE, DONE, CANCELLED = IntentionState.ACTIVE, IntentionState.DONE, IntentionState.CANCELLED


def test_a_correction_replaces_what_is_pending(tmp_path: Path) -> None:
    async def scene(app: App, clock: FixedClock) -> None:
        unit = await retain(app, CALL)
        assert await shown(app) == [("call Ines", 4, ACTIVE)]
        await correct(app, unit, "Remind me to call Ines on Sunday at nine.")
        assert await shown(app) == [("call Ines", 6, ACTIVE)]
        await correct(app, unit, "Ines called on Sunday.")
        assert await shown(app) == []
        await correct(app, unit, CALL)
        assert await shown(app) == [("call Ines", 4, ACTIVE)]

    run(tmp_path, scene)


def test_an_open_occurrence_goes_with_what_is_said_no_more(tmp_path: Path) -> None:
    async def scene(app: App, clock: FixedClock) -> None:
        unit = await retain(app, CALL)
        clock.advance(timedelta(days=4))
        assert len((await app.check(REF)).due) == 1
        await correct(app, unit, "Remind me to call Ines on Sunday at nine.")
        assert await shown(app) == [("call Ines", 6, ACTIVE)]
        assert await app.store.offers(REF) == []

    run(tmp_path, scene)


def test_what_is_said_as_before_stays_with_its_occurrence(tmp_path: Path) -> None:
    async def scene(app: App, clock: FixedClock) -> None:
        unit = await retain(app, CALL)
        [before] = await kept(app)
        clock.advance(timedelta(days=4))
        [due] = (await app.check(REF)).due
        await correct(app, unit, f"By the way. {CALL}")
        [after] = await kept(app)
        assert after.id == before.id
        offer = await app.occurrences.ack(REF, due.occurrence.id, due.occurrence.token, None)
        assert offer.occurrence.state is OccurrenceState.ACKED
        await correct(app, unit, f"By the way, once more. {CALL}")
        assert await shown(app) == [("call Ines", 4, DONE)]

    run(tmp_path, scene)


def test_what_was_acknowledged_is_kept_beside_the_new(tmp_path: Path) -> None:
    async def scene(app: App, clock: FixedClock) -> None:
        unit = await retain(app, CALL)
        clock.advance(timedelta(days=4))
        [due] = (await app.check(REF)).due
        await app.occurrences.ack(REF, due.occurrence.id, due.occurrence.token, None)
        await correct(app, unit, "Remind me to call Ines on Sunday at nine.")
        assert sorted(await shown(app)) == [("call Ines", 4, DONE), ("call Ines", 6, ACTIVE)]

    run(tmp_path, scene)


def test_a_repeat_that_was_acknowledged_is_called_off(tmp_path: Path) -> None:
    async def scene(app: App, clock: FixedClock) -> None:
        unit = await retain(app, "Remind me to water the ferns every day at eight.")
        clock.advance(timedelta(days=1))
        [due] = (await app.check(REF)).due
        await app.occurrences.ack(REF, due.occurrence.id, due.occurrence.token, None)
        clock.advance(timedelta(days=1))
        assert len((await app.check(REF)).due) == 1
        await correct(app, unit, "The ferns have been given away.")
        [over] = await kept(app)
        assert (over.state, over.next_due) == (CANCELLED, None)
        clock.advance(timedelta(days=1))
        assert (await app.check(REF)).due == ()

    run(tmp_path, scene)


def test_reading_again_changes_nothing_where_nothing_differs(tmp_path: Path) -> None:
    async def scene(app: App, clock: FixedClock) -> None:
        text = f"{CALL} And next time we talk about the garden, ask me about the ferns."
        unit = await retain(app, text)
        before = await kept(app)
        assert len(before) == 2
        await reprocess(app)
        assert await kept(app) == before
        clock.advance(timedelta(days=40))  # too late to be registered anew, and still pending
        await reprocess(app)
        assert await kept(app) == before
        changed = await app.remind.revise(REF, before[0].id, {"content": "call Ines, not her son"})
        await reprocess(app)
        assert await kept(app) == [changed, before[1]]
        found = await app.check(REF, CheckOptions(text="talk about the garden"))
        assert {d.intention.source_id for d in found.due} == {unit.id}

    run(tmp_path, scene)


def test_what_people_linked_to_a_memory_is_left_alone(tmp_path: Path) -> None:
    async def scene(app: App, clock: FixedClock) -> None:
        unit = await retain(app, "Ines plants ferns.")
        mine = Reminder("ask", TriggerType.TIME, trigger_at=NOW + 1, source_id=unit.id)
        await app.remind(REF, [mine])
        await reprocess(app)
        await correct(app, unit, "Ines plants beans.")
        assert [i.content for i in await kept(app)] == ["ask"]

    run(tmp_path, scene)


def test_the_same_text_is_no_change(tmp_path: Path) -> None:
    async def scene(app: App, clock: FixedClock) -> None:
        unit = await retain(app, CALL)
        before = await kept(app)
        assert await app.future.intending.again(REF, [unit], corrected={unit.id}) is None
        await correct(app, unit, CALL)
        assert await kept(app) == before

    run(tmp_path, scene)


LIST = "Remind me in an hour to take the pill. Remind me every Monday at 8 to water the ferns."


async def put(app: App, text: str, at: int | None = NOW) -> list[bytes]:
    """Put the document; return the ids of intentions that were not known."""
    done = await app.retain(REF, [Item(text, document="talk", timestamp=at, offset_min=0)])
    return done.intention_ids


@pytest.mark.parametrize("at", [NOW, None])
def test_a_document_put_again_with_other_words_around_registers_nothing_twice(
    tmp_path: Path, at: int | None
) -> None:
    async def scene(app: App, clock: FixedClock) -> None:
        await put(app, f"{LIST} The office is in Rome.", at)
        clock.advance(timedelta(hours=1))
        [due] = (await app.check(REF)).due
        await app.occurrences.ack(REF, due.occurrence.id, due.occurrence.token, None)
        ferns = next(i for i in await kept(app) if i.recurring)
        await app.remind.revise(
            REF, ferns.id, {"state": IntentionState.PAUSED, "importance": 0.9, "content": "ferns"}
        )
        before = await kept(app)
        clock.advance(timedelta(minutes=1))
        for text in (f"{LIST} The office is in Milan.", f"So much for today.\n\n{LIST}"):
            assert await put(app, text, at) == []
            after = await kept(app)
            told = [(i.id, i.content, i.state, i.importance, i.fired_count) for i in before]
            assert told == [(i.id, i.content, i.state, i.importance, i.fired_count) for i in after]
            assert (await app.check(REF)).due == ()
            sources = await app.browse.memories(REF, Query(layers=(Layer.SOURCE,)))
            assert {i.source_id for i in after} <= {shown.unit.id for shown in sources.items}
            await reprocess(app)
            assert await kept(app) == after

    run(tmp_path, scene)


def test_what_is_open_stays_open_when_its_document_is_put_again(tmp_path: Path) -> None:
    async def scene(app: App, clock: FixedClock) -> None:
        await put(app, f"{CALL} Ines lives in Rome.")
        clock.advance(timedelta(days=4))
        [due] = (await app.check(REF, CheckOptions(mode=Mode.LEASE))).due
        assert await put(app, f"{CALL} Ines lives in Milan.") == []
        [offer] = await app.store.offers(REF)
        assert offer.occurrence == due.occurrence
        await app.occurrences.ack(REF, due.occurrence.id, due.occurrence.token, None)
        assert await shown(app) == [("call Ines", 4, DONE)]

    run(tmp_path, scene)


def test_what_a_newer_document_says_no_more_goes_with_the_memory(tmp_path: Path) -> None:
    async def scene(app: App, clock: FixedClock) -> None:
        await put(app, f"{CALL} Remind me to feed the cat on Friday at ten.")
        text = (
            "Remind me to call Ines on Sunday at nine. Remind me to feed the cat on Friday at ten."
        )
        assert len(await put(app, text)) == 1
        assert sorted(await shown(app)) == [("call Ines", 6, ACTIVE), ("feed the cat", 4, ACTIVE)]
        [source] = (await app.browse.memories(REF, Query(layers=(Layer.SOURCE,)))).items
        await correct(app, source.unit, "Remind me to call Ines on Sunday at nine.")
        assert await shown(app) == [("call Ines", 6, ACTIVE)]
        await put(app, "Ines called on Sunday.")
        assert await shown(app) == []

    run(tmp_path, scene)


async def take_out(app: App, unit: Unit, invalid: bool = True, text: str | None = None) -> None:
    await app.curate(REF, unit.id, Edit(text=text, invalid=invalid))


async def due(app: App) -> list[str]:
    return [d.intention.content for d in (await app.check(REF)).due]


def test_what_a_memory_said_rests_while_it_is_taken_out(tmp_path: Path) -> None:
    async def scene(app: App, clock: FixedClock) -> None:
        text = f"{CALL} Remind me to water the ferns every day at eight."
        unit = await retain(app, text)
        await app.retain(REF, [Item(text, document="twin", timestamp=NOW, offset_min=0)])
        before = await kept(app)
        await take_out(app, unit)
        clock.advance(timedelta(days=4))
        assert await due(app) == []
        assert {i.state for i in await kept(app)} == {IntentionState.PAUSED}
        await reprocess(app)
        assert len(await kept(app)) == len(before)
        await take_out(app, unit, invalid=False)
        assert await due(app) == ["call Ines"] * (len(before) // 2)
        after = await kept(app)
        assert [(i.id, i.state) for i in after] == [(i.id, i.state) for i in before]
        clock.advance(timedelta(days=1))
        assert "water the ferns" in await due(app)

    run(tmp_path, scene)


def test_what_is_open_ends_with_its_memory_and_comes_back_with_it(tmp_path: Path) -> None:
    async def scene(app: App, clock: FixedClock) -> None:
        unit = await retain(app, CALL)
        clock.advance(timedelta(days=4))
        [first] = (await app.check(REF)).due
        await take_out(app, unit)
        [ended] = await app.store.offers_by_id(REF, [first.occurrence.id])
        assert ended.occurrence.state is OccurrenceState.DISMISSED
        assert await app.future.due(REF) == []
        await take_out(app, unit, invalid=False)
        [again] = (await app.check(REF)).due
        assert (again.intention.id, again.occurrence.due_at) == (
            first.intention.id,
            first.occurrence.due_at,
        )
        await app.occurrences.ack(REF, again.occurrence.id, again.occurrence.token, None)
        assert await shown(app) == [("call Ines", 4, DONE)]

    run(tmp_path, scene)


def test_what_is_corrected_while_it_is_taken_out_rests_too(tmp_path: Path) -> None:
    async def scene(app: App, clock: FixedClock) -> None:
        unit = await retain(app, CALL)
        await take_out(app, unit, text="Remind me to call Ines on Sunday at nine.")
        assert await shown(app) == [("call Ines", 6, IntentionState.PAUSED)]
        await correct(app, unit, "Remind me to call Ines on Saturday at nine.")
        assert await shown(app) == [("call Ines", 5, IntentionState.PAUSED)]
        await take_out(app, unit, invalid=False)
        assert await shown(app) == [("call Ines", 5, ACTIVE)]

    run(tmp_path, scene)


def test_what_people_paused_stays_paused(tmp_path: Path) -> None:
    async def scene(app: App, clock: FixedClock) -> None:
        unit = await retain(app, CALL)
        [call] = await kept(app)
        await app.remind.revise(REF, call.id, {"state": IntentionState.PAUSED})
        await take_out(app, unit)
        await take_out(app, unit, invalid=False)
        assert await shown(app) == [("call Ines", 4, IntentionState.PAUSED)]

    run(tmp_path, scene)
