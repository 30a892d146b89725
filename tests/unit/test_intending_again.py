"""Texts that are corrected or read again, and what they said was to be done later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from remembrancer.app import App
from remembrancer.keeping.worker import Worker
from remembrancer.nouns.clock import FixedClock, to_us
from remembrancer.nouns.intention import Intention, IntentionState, OccurrenceState, TriggerType
from remembrancer.nouns.memory import BankRef, Layer, Unit
from remembrancer.settings import Settings
from remembrancer.verbs.browse import Query
from remembrancer.verbs.check import CheckOptions
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
