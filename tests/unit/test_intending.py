"""What a retained text says is to be done later, and that it is registered once."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from remembrancer.finding.terms import Analyzer
from remembrancer.keeping.batch import Batch, UnitRow
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.nouns.clock import FixedClock, to_us
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.intention import IntentionState, TriggerType
from remembrancer.nouns.memory import BankRef, Layer, Precision, Unit
from remembrancer.nouns.recurrence import Recurrence
from remembrancer.reading.intending import FoundIntention
from remembrancer.reading.intending.types import Manner
from remembrancer.reading.types import Span
from remembrancer.reading.when import When
from remembrancer.verbs.reminding.future import Future
from remembrancer.verbs.retaining import intending
from remembrancer.verbs.retaining.derived import derived_id

NOW = to_us(datetime(2026, 5, 4, 9))
DAY = 86_400_000_000
REF = BankRef("default", "bank")


def found(content: str, confidence: float = 0.9, **more: Any) -> FoundIntention:
    kind = TriggerType.EVENT if "event" in more else TriggerType.TIME
    span = more.pop("span", Span(0, 9))
    return FoundIntention(content, kind, span, Manner.ASK, confidence, 0.7, **more)


def at(us: int, rule: Recurrence | None = None) -> When:
    return When(us, rule, Span(0, 4), Precision.HOUR, confident=True)


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    def go(
        finds: Any, said: int = NOW, again: bool = False, stored: bool = True
    ) -> list[tuple[str, IntentionState]]:
        async def main() -> list[tuple[str, IntentionState]]:
            clock = FixedClock(NOW)
            ids = IdMaker(clock)
            store = SqliteStore(tmp_path, clock=clock)
            await store.open()
            try:
                future = Future(
                    store, None, Analyzer(), ids=ids, clock=clock, generation=0, event_days=30
                )
                unit = Unit(ids.new(), Layer.SOURCE, "some text", NOW, said)
                if stored:
                    await store.apply(REF, Batch(units=[UnitRow(unit)]))
                made = await future.intending(REF, [unit])
                if again:
                    assert await future.intending(REF, [unit]) == []
                items, total = await future.remind.listing(REF, None, 10)
                assert sorted(made) == sorted(i.id for i in items)
                assert total == len(made)
                assert {i.source_id for i in items} <= {unit.id}
                if stored:
                    await store.apply(REF, Batch(erase=[unit.id]))
                    assert (await future.remind.listing(REF, None, 10))[1] == 0
                return [(i.content, i.state) for i in items]
            finally:
                await store.close()

        monkeypatch.setattr(intending, "find_intentions", lambda *_, **__: finds())
        return asyncio.run(main())

    return go


def test_confidence_decides_between_active_and_proposed(scene: Any) -> None:
    later = at(NOW + DAY)
    got = scene(
        lambda: [
            found("sure", 0.8, when=later),
            found("maybe", 0.5, when=later),
            found("hardly", 0.49, when=later),
        ],
        again=True,
    )
    assert sorted(got) == [("maybe", IntentionState.PROPOSED), ("sure", IntentionState.ACTIVE)]


def test_what_is_over_is_left_out(scene: Any) -> None:
    daily = Recurrence("UTC", datetime(2020, 1, 1, 8), rrule="FREQ=DAILY")
    ended = Recurrence("UTC", datetime(2020, 1, 1, 8), rrule="FREQ=DAILY;COUNT=2")
    got = scene(
        lambda: [
            found("just over", when=at(NOW - DAY // 2)),
            found("long over", when=at(NOW - 2 * DAY)),
            found("goes on", when=at(NOW - 900 * DAY, daily)),
            found("ended", when=at(NOW - 900 * DAY, ended)),
        ]
    )
    assert sorted(c for c, _ in got) == ["goes on", "just over"]


@pytest.mark.parametrize(("days", "count"), [(29, 1), (31, 0)])
def test_an_old_wait_for_an_event_is_left_out(scene: Any, days: int, count: int) -> None:
    said = NOW - timedelta(days=days) // timedelta(microseconds=1)
    assert len(scene(lambda: [found("logs", event="deploy")], said=said)) == count


def test_a_unit_that_is_gone_gets_none(scene: Any) -> None:
    assert scene(lambda: [found("x", when=at(NOW + DAY))], stored=False) == []


def test_a_reader_that_fails_costs_nothing_but_its_intentions(scene: Any) -> None:
    def fails() -> list[FoundIntention]:
        raise RuntimeError("cannot read this")

    assert scene(fails) == []


def test_ids_follow_from_unit_and_place_and_keep_their_order() -> None:
    early, late = IdMaker(FixedClock(NOW)).new(), IdMaker(FixedClock(NOW + DAY)).new()
    made = [derived_id(early, (0, 5, 0)), derived_id(early, (0, 5, 1)), derived_id(late, (0, 5, 0))]
    assert len(set(made)) == 3
    assert made[0] == derived_id(early, (0, 5, 0))
    assert max(made[:2]) < made[2]
    assert {i[6] >> 4 for i in made} == {8}
