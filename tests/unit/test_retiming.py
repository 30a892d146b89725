"""Rules that are changed while something of them is due, and rules that end unseen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from remembrancer.finding.terms import Analyzer
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.nouns.clock import DAY_US, FixedClock, to_us
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.intention import Intention, IntentionState, TriggerType
from remembrancer.nouns.memory import BankRef
from remembrancer.nouns.recurrence import Recurrence
from remembrancer.verbs.check import CheckOptions, Mode
from remembrancer.verbs.remind import Reminder
from remembrancer.verbs.reminding.future import Future

NOW = to_us(datetime(2026, 5, 4, 9))
REF = BankRef("default", "bank")
HOUR_US = DAY_US // 24


class House:
    """The verbs of the future over one store, and one daily rule from 10:00 on."""

    def __init__(self, store: SqliteStore, clock: FixedClock) -> None:
        ids = IdMaker(clock)
        self.clock = clock
        self.future = Future(
            store, None, Analyzer(), ids=ids, clock=clock, generation=0, event_days=30
        )

    async def daily(self, rrule: str = "FREQ=DAILY", **more: Any) -> bytes:
        rule = Recurrence("UTC", datetime(2026, 5, 4, 10), rrule=rrule)
        asked = Reminder("stretch", TriggerType.TIME, recurrence=rule, **more)
        return (await self.future.remind(REF, [asked])).intentions[0].id

    async def due(self) -> list[int]:
        """Return the hours since the beginning at which what is due fell due."""
        found = await self.future.check(REF, CheckOptions(mode=Mode.CONSUME))
        return [(d.occurrence.due_at - NOW) // HOUR_US for d in found.due]

    async def get(self, item: bytes) -> Intention:
        return await self.future.remind.get(REF, item)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., None]:
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


@pytest.mark.parametrize(
    "changes",
    [
        {"expires_at": NOW + 100 * DAY_US},
        {"options": {"channel": "mail"}},
        {"options": {"misfire": "all"}},
        {"content": "stretch well", "importance": 0.7, "options": {"cooldown_s": 60}},
    ],
)
@pytest.mark.parametrize("late", [timedelta(hours=1), timedelta(hours=1, minutes=5)])
def test_what_is_due_of_a_rule_stays_due_when_its_time_is_left(
    run: Any, changes: dict[str, Any], late: timedelta
) -> None:
    async def scene(h: House) -> None:
        item = await h.daily(expires_at=NOW + 90 * DAY_US)
        h.clock.advance(late)
        kept = (await h.get(item)).options
        given = {**changes, "options": {**kept, **changes.get("options", {})}}
        await h.future.remind.revise(REF, item, given)
        assert await h.due() == [1]
        assert await h.due() == []
        h.clock.advance(timedelta(days=1))
        assert await h.due() == [25]

    run(scene)


def test_the_last_of_a_rule_stays_due_when_its_end_is_moved(run: Any) -> None:
    async def scene(h: House) -> None:
        item = await h.daily("FREQ=DAILY;COUNT=1", expires_at=NOW + DAY_US)
        h.clock.advance(timedelta(hours=2))
        await h.future.remind.revise(REF, item, {"expires_at": NOW + 2 * DAY_US})
        assert await h.due() == [1]

    run(scene)


def test_times_that_passed_while_it_was_paused_are_not_made_up(run: Any) -> None:
    async def scene(h: House) -> None:
        item = await h.daily()
        await h.future.remind.revise(REF, item, {"state": IntentionState.PAUSED})
        h.clock.advance(timedelta(days=3))
        await h.future.remind.revise(REF, item, {"options": (await h.get(item)).options})
        await h.future.remind.revise(REF, item, {"state": IntentionState.ACTIVE})
        assert await h.due() == []
        h.clock.advance(timedelta(hours=1))
        assert await h.due() == [73]

    run(scene)


@pytest.mark.parametrize(("misfire", "due"), [("skip", []), ("latest", [49]), ("all", [1, 25, 49])])
def test_a_rule_whose_last_times_are_passed_over_is_done(
    run: Any, misfire: str, due: list[int]
) -> None:
    async def scene(h: House) -> None:
        item = await h.daily("FREQ=DAILY;COUNT=3", options={"misfire": misfire})
        h.clock.advance(timedelta(days=9))
        assert await h.due() == due
        stored = await h.get(item)
        assert (stored.state, stored.next_due) == (IntentionState.DONE, None)
        assert stored.fired_count == len(due)

    run(scene)
