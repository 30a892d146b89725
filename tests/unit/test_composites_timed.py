"""Composite intentions that the passing of time alone makes due."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from remembrancer.finding.terms import Analyzer
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.nouns.clock import FixedClock, to_us
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.intention import IntentionState, TriggerType
from remembrancer.nouns.memory import BankRef
from remembrancer.verbs.remind import Reminder
from remembrancer.verbs.reminding.events import NewEvent
from remembrancer.verbs.reminding.future import Future
from remembrancer.verbs.telling.outbox import Mail
from remembrancer.verbs.telling.watch import Watch

NOW = to_us(datetime(2026, 5, 4, 9))
NOW_MS = NOW // 1_000
MINUTE_MS = 60_000
REF = BankRef("default", "bank")


class House:
    def __init__(self, store: SqliteStore, clock: FixedClock) -> None:
        ids = IdMaker(clock)
        self.store, self.clock = store, clock
        self.future = Future(
            store, None, Analyzer(), ids=ids, clock=clock, generation=0, event_days=30
        )

        async def nobody(*_: Any) -> Mail:
            return Mail()

        self.watch = Watch(store, nobody, self.future.composites, ids=ids, clock=clock)

    async def register(self, condition: dict[str, Any], **more: Any) -> bytes:
        options = {"condition": condition, **more.pop("options", {})}
        made = Reminder("mention it", TriggerType.COMPOSITE, options=options, **more)
        return (await self.future.remind(REF, [made])).intentions[0].id

    async def after(self, **span: float) -> int:
        """Let time pass with nobody checking; return how many occurrences there are."""
        self.clock.advance(timedelta(**span))
        while await self.watch.look():
            pass
        return len(await self.store.offers(REF))

    async def told(self, name: str) -> None:
        await self.future.events(REF, [NewEvent(name)])


@pytest.fixture
def run(tmp_path: Path) -> Callable[[Callable[[House], Awaitable[None]]], None]:
    def go(scene: Callable[[House], Awaitable[None]]) -> None:
        async def main() -> None:
            clock = FixedClock(NOW)
            store = SqliteStore(tmp_path, clock=clock)
            await store.open()
            try:
                await scene(House(store, clock))
            finally:
                await store.close()

        asyncio.run(main())

    return go


def window(after: int | None = None, before: int | None = None) -> dict[str, Any]:
    """Return a time condition from and to so many minutes from now."""
    ends = {"after": after, "before": before}
    return {"time": {k: NOW_MS + v * MINUTE_MS for k, v in ends.items() if v is not None}}


def test_the_time_that_was_left_makes_it_due(run: Any) -> None:
    async def scene(h: House) -> None:
        made = await h.register({"all": [{"event": "deploy"}, window(after=10)]})
        assert await h.after(minutes=1) == 0
        await h.told("deploy")
        assert await h.after(minutes=8) == 0
        assert await h.after(minutes=1) == 1
        assert await h.after(minutes=60) == 1
        [offer] = await h.store.offers(REF)
        assert offer.occurrence.data["event"] == "deploy"
        await h.future.occurrences.ack(REF, offer.occurrence.id, None, None)
        assert (await h.future.remind.get(REF, made)).state is IntentionState.DONE
        assert await h.store.next_due() is None

    run(scene)


def test_a_time_without_its_event_or_its_topic_makes_nothing_due(run: Any) -> None:
    async def scene(h: House) -> None:
        await h.register({"all": [{"event": "deploy"}, window(after=10, before=20)]})
        await h.register({"all": [{"context": "the map"}, window(after=10)]})
        assert await h.after(minutes=15) == 0
        assert await h.after(minutes=15) == 0
        assert await h.store.next_due() is None

    run(scene)


def test_any_is_due_at_once_or_when_its_window_opens(run: Any) -> None:
    async def scene(h: House) -> None:
        await h.register({"any": [{"context": "the map"}, window(before=5)]})
        assert await h.after(seconds=1) == 1
        await h.register({"any": [{"event": "deploy"}, window(after=30)]})
        assert await h.after(minutes=29) == 1
        assert await h.after(minutes=1) == 2

    run(scene)


def test_an_event_from_before_counts_without_a_check(run: Any) -> None:
    async def scene(h: House) -> None:
        await h.told("deploy")
        parts = [{"event": "deploy"}, window(before=60)]
        await h.register({"all": parts}, options={"look_back_s": 600})
        assert await h.after(seconds=1) == 1

    run(scene)


def test_a_recurring_one_fires_in_each_of_its_windows(run: Any) -> None:
    async def scene(h: House) -> None:
        spans = [window(after=10, before=20), window(after=30, before=40)]
        await h.register({"any": spans}, recurring=True)
        for minutes, fired in ((9, 0), (1, 1), (5, 1), (10, 1), (5, 2), (30, 2)):
            assert await h.after(minutes=minutes) == fired
            for offer in await h.store.offers(REF, ready_before=h.clock.now_us()):
                await h.future.occurrences.ack(REF, offer.occurrence.id, None, None)

    run(scene)


def test_a_check_and_the_watch_make_one(run: Any) -> None:
    async def scene(h: House) -> None:
        await h.register({"all": [window(after=10)]})
        assert len((await h.future.check(REF)).due) == 0
        h.clock.advance(timedelta(minutes=10))
        assert len((await h.future.check(REF)).due) == 1
        assert await h.after(seconds=1) == 1

    run(scene)
