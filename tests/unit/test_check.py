"""Registering, checking and answering over a real store with a clock that is set by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remembrancer.finding.terms import Analyzer
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.nouns.clock import FixedClock, to_us
from remembrancer.nouns.errors import Conflict, InvalidInput, NotFound
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.intention import IntentionState, OccurrenceState, TriggerType
from remembrancer.nouns.memory import BankRef
from remembrancer.nouns.recurrence import Recurrence
from remembrancer.verbs.check import Check, CheckOptions, Contexts, Mode
from remembrancer.verbs.remind import Remind, Reminder
from remembrancer.verbs.reminding.contexts import ContextIndex
from remembrancer.verbs.reminding.occurrences import Occurrences

NOW = to_us(datetime(2026, 5, 4, 9))
REF = BankRef("default", "bank")
SECOND = 1_000_000
MINUTE = 60 * SECOND


class House:
    """The verbs over one store."""

    def __init__(self, store: SqliteStore, clock: FixedClock) -> None:
        ids = IdMaker(clock)
        self.clock, self.store = clock, store
        self.remind = Remind(store, None, ids=ids, clock=clock, generation=0)
        contexts = ContextIndex(store, None, Analyzer())

        async def none(*_: Any) -> Contexts:
            return Contexts()

        self._check = Check(store, contexts, none, ids=ids, clock=clock, trusts_now=True)
        self.occurrences = Occurrences(store, clock=clock)

    async def register(self, content: str, **more: Any) -> bytes:
        kind = more.pop("trigger_type", TriggerType.TIME)
        if kind is TriggerType.TIME and "recurrence" not in more:
            more.setdefault("trigger_at", NOW - SECOND)
        made = await self.remind(REF, [Reminder(content, kind, **more)])
        return made.intentions[0].id

    async def check(self, mode: Mode = Mode.LEASE, **more: Any) -> list[str]:
        self.last = await self._check(REF, CheckOptions(mode=mode, **more))
        return [d.intention.content for d in self.last.due]

    async def state(self, intention_id: bytes) -> IntentionState:
        return (await self.remind.get(REF, intention_id)).state


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


def test_a_lease_comes_back_until_it_is_acknowledged(run: Any) -> None:
    async def scene(h: House) -> None:
        item = await h.register("call Bob")
        assert await h.check() == ["call Bob"]
        leased = h.last.due[0]
        assert await h.check() == []
        h.clock.advance(timedelta(seconds=60))
        assert await h.check() == ["call Bob"]
        assert h.last.due[0].occurrence.id == leased.occurrence.id
        assert h.last.due[0].late
        with pytest.raises(Conflict):
            await h.occurrences.ack(REF, leased.occurrence.id, leased.occurrence.token, None)
        token = h.last.due[0].occurrence.token
        done = await h.occurrences.ack(REF, leased.occurrence.id, token, None)
        assert done.occurrence.state is OccurrenceState.ACKED
        again = await h.occurrences.ack(REF, leased.occurrence.id, token, None)
        assert again.occurrence == done.occurrence
        h.clock.advance(timedelta(days=9))
        assert await h.check() == []
        assert await h.state(item) is IntentionState.DONE
        with pytest.raises(Conflict):
            await h.occurrences.dismiss(REF, leased.occurrence.id, None, None)

    run(scene)


def test_consuming_ends_it_and_peeking_changes_nothing(run: Any) -> None:
    async def scene(h: House) -> None:
        await h.register("call Bob")
        before = await h.store.bank(REF)
        assert await h.check(Mode.PEEK) == ["call Bob"]
        assert (await h.store.bank(REF)).revision == before.revision
        assert await h.check(Mode.CONSUME) == ["call Bob"]
        assert await h.check(Mode.CONSUME) == []

    run(scene)


def test_what_does_not_fit_stays_due(run: Any) -> None:
    async def scene(h: House) -> None:
        for n in range(12):
            await h.register(f"n{n}", importance=n / 10)
        assert await h.check(Mode.CONSUME, limit=5) == ["n11", "n10", "n9", "n8", "n7"]
        assert h.last.remaining == 7
        assert await h.check(Mode.CONSUME, limit=5) == ["n6", "n5", "n4", "n3", "n2"]
        assert await h.check(Mode.CONSUME) == ["n1", "n0"]
        assert h.last.remaining == 0

    run(scene)


def test_missed_instances_of_a_rule(run: Any) -> None:
    async def scene(h: House) -> None:
        daily = Recurrence("UTC", datetime(2026, 5, 4, 10), rrule="FREQ=DAILY")
        await h.register("latest", recurrence=daily, trigger_type=TriggerType.TIME)
        await h.register("all", recurrence=daily, options={"misfire": "all"})
        await h.register("skip", recurrence=daily, options={"misfire": "skip"})
        assert await h.check() == []
        h.clock.advance(timedelta(days=3, hours=2))
        assert await h.check() == ["latest", "all", "all", "all", "all"]
        assert [d.occurrence.missed for d in h.last.due] == [3, 0, 0, 0, 0]
        ids = {d.occurrence.due_at for d in h.last.due}
        assert len(ids) == 4
        h.clock.advance(timedelta(hours=23))
        # What is open already is offered again, with what came due since folded into it.
        assert await h.check() == ["latest", "all", "all", "all", "all", "skip"]
        assert h.last.due[0].occurrence.missed == 4

    run(scene)


def test_a_recurring_one_without_rule_fires_whenever_asked(run: Any) -> None:
    async def scene(h: House) -> None:
        await h.register("stretch", recurring=True)
        for _ in range(3):
            assert await h.check(Mode.CONSUME) == ["stretch"]
        await h.register("drink", recurring=True, options={"cooldown_s": 60})
        assert await h.check(Mode.CONSUME) == ["stretch", "drink"]
        assert await h.check(Mode.CONSUME) == ["stretch"]
        h.clock.advance(timedelta(seconds=61))
        assert await h.check(Mode.CONSUME) == ["stretch", "drink"]

    run(scene)


def test_events_and_contexts_by_words(run: Any) -> None:
    async def scene(h: House) -> None:
        await h.register("logs", trigger_type=TriggerType.EVENT, trigger_event="deploy")
        await h.register("pesto", trigger_type=TriggerType.CONTEXT, cue_text="cooking recipes")
        assert await h.check(Mode.CONSUME, events=["Deploy"]) == []
        assert await h.check(Mode.CONSUME, text="any good recipe?") == []
        assert await h.check(Mode.CONSUME, text="a recipe to cook") == ["pesto"]
        assert await h.check(Mode.CONSUME, events=["deploy", "deploy"]) == ["logs"]
        assert await h.check(Mode.CONSUME, events=["deploy"]) == []

    run(scene)


def test_a_recurring_context_waits_for_its_end(run: Any) -> None:
    async def scene(h: House) -> None:
        vector = np.array([1, 0], dtype=np.float32)
        away = np.array([0, 1], dtype=np.float32)
        await h.register("offer", trigger_type=TriggerType.CONTEXT, vector=vector, recurring=True)
        assert await h.check(Mode.CONSUME, vector=vector) == ["offer"]
        assert await h.check(Mode.CONSUME, vector=vector) == []
        assert await h.check(Mode.CONSUME, vector=away) == []
        assert await h.check(Mode.CONSUME, vector=vector) == ["offer"]

    run(scene)


def test_the_tier_gate_comes_first_and_consumes_nothing(run: Any) -> None:
    async def scene(h: House) -> None:
        item = await h.register("secret", tier_rank=2)
        await h.register("open")
        assert await h.check(Mode.CONSUME, ceiling=1) == ["open"]
        assert h.last.remaining == 0
        with pytest.raises(NotFound):
            await h.remind.get(REF, item, ceiling=1)
        assert await h.remind.remove(REF, [item], ceiling=1) == 0
        assert await h.check(Mode.CONSUME, ceiling=2) == ["secret"]

    run(scene)


def test_snooze_nack_and_extend(run: Any) -> None:
    async def scene(h: House) -> None:
        await h.register("call Bob")
        await h.check()
        due = h.last.due[0].occurrence
        extended = await h.occurrences.extend(REF, due.id, due.token, None, 120)
        assert extended.occurrence.ready_at == NOW + 120 * SECOND
        await h.occurrences.nack(REF, due.id, due.token, None, delay_s=30)
        assert await h.check() == []
        h.clock.advance(timedelta(seconds=30))
        assert await h.check() == ["call Bob"]
        await h.occurrences.snooze(REF, due.id, None, None, until=NOW + 3600 * SECOND)
        h.clock.advance(timedelta(minutes=58))
        assert await h.check() == []
        h.clock.advance(timedelta(minutes=2))
        assert await h.check() == ["call Bob"]
        with pytest.raises(InvalidInput):
            await h.occurrences.snooze(REF, due.id, None, None, until=NOW)

    run(scene)


def test_expiry_ends_what_nobody_took(run: Any) -> None:
    async def scene(h: House) -> None:
        item = await h.register("rsvp", expires_at=NOW + MINUTE)
        waits = await h.register(
            "logs",
            trigger_type=TriggerType.EVENT,
            trigger_event="deploy",
            expires_at=NOW + MINUTE,
        )
        assert await h.check() == ["rsvp"]
        h.clock.advance(timedelta(minutes=2))
        assert await h.check(events=["deploy"]) == []
        assert await h.state(item) is IntentionState.EXPIRED
        assert await h.state(waits) is IntentionState.EXPIRED

    run(scene)


def test_expiry_ends_every_open_one(run: Any) -> None:
    async def scene(h: House) -> None:
        daily = Recurrence("UTC", datetime(2026, 5, 1, 8), rrule="FREQ=DAILY")
        ends = NOW + timedelta(days=3, hours=1) // timedelta(microseconds=1)
        await h.register(
            "all", recurrence=daily, options={"misfire": "all"}, expires_at=ends, importance=0.1
        )
        h.clock.advance(timedelta(days=3))
        assert await h.check(lease_s=60) == ["all", "all", "all"]
        h.clock.advance(timedelta(hours=2))
        assert await h.check() == []
        offers = await h.store.offers(REF)
        assert {o.occurrence.state for o in offers} == {OccurrenceState.EXPIRED}
        assert len(offers) == 3

    run(scene)


def test_a_rule_that_is_over_is_done_with_its_last(run: Any) -> None:
    async def scene(h: House) -> None:
        twice = Recurrence("UTC", datetime(2026, 5, 4, 10), rrule="FREQ=DAILY;COUNT=2")
        item = await h.register("twice", recurrence=twice)
        for state in (IntentionState.ACTIVE, IntentionState.DONE):
            h.clock.advance(timedelta(days=1))
            assert await h.check(Mode.CONSUME) == ["twice"]
            assert await h.state(item) is state

    run(scene)


def test_quiet_hours_defer_unless_it_is_urgent(run: Any) -> None:
    async def scene(h: House) -> None:
        quiet = {"quiet": {"start": "08:00", "end": "12:00", "zone": "UTC"}}
        await h.register("later", options=quiet)
        await h.register("fire!", options=quiet, importance=0.95)
        assert await h.check() == ["fire!"]
        h.clock.advance(timedelta(hours=3))
        assert await h.check(lease_s=60) == ["fire!", "later"]

    run(scene)


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"trigger_at": None}, "triggerAt"),
        ({"trigger_type": TriggerType.EVENT}, "triggerEvent"),
        ({"trigger_type": TriggerType.CONTEXT}, "cueText"),
        ({"trigger_type": TriggerType.COMPOSITE}, "condition"),
        ({"importance": float("nan")}, "importance"),
        ({"tier_rank": float("inf")}, "tierRank"),
        ({"similarity_threshold": 1.5}, "similarityThreshold"),
        ({"content": " "}, "content"),
        ({"state": IntentionState.DONE}, "state"),
    ],
)
def test_what_could_never_fire_is_refused(run: Any, more: dict[str, Any], field: str) -> None:
    async def scene(h: House) -> None:
        more.setdefault("content", "call Bob")
        with pytest.raises(InvalidInput) as refused:
            await h.register(**more)
        assert refused.value.field == field
        assert await h.check(Mode.PEEK) == []

    run(scene)


def test_a_known_id_is_registered_once_and_seconds_are_warned_of(run: Any) -> None:
    async def scene(h: House) -> None:
        item = await h.register("call Bob")
        again = await h.remind(REF, [Reminder("other", TriggerType.TIME, id=item, trigger_at=1)])
        assert again.intentions[0].content == "call Bob"
        seconds = await h.remind(
            REF, [Reminder("x", TriggerType.TIME, trigger_at=1_777_000_000 * 1_000)]
        )
        assert "seconds" in seconds.warnings[0]

    run(scene)


def test_revising_keeps_history_and_looks_anew(run: Any) -> None:
    async def scene(h: House) -> None:
        item = await h.register("call Bob", trigger_at=NOW + MINUTE)
        await h.remind.revise(REF, item, {"trigger_at": NOW - MINUTE, "importance": 0.9})
        assert await h.check() == ["call Bob"]
        await h.remind.revise(REF, item, {"state": IntentionState.PAUSED})
        assert h.remind.preview(await h.remind.get(REF, item)) == []

    run(scene)


def test_many_checks_at_once_hand_each_over_once(run: Any) -> None:
    async def scene(h: House) -> None:
        for n in range(30):
            await h.register(f"n{n}")
        results = await asyncio.gather(
            *(h._check(REF, CheckOptions(mode=Mode.CONSUME, limit=7)) for _ in range(8))
        )
        got = [d.intention.content for r in results for d in r.due]
        assert len(got) == len(set(got)) == 30

    run(scene)


@pytest.mark.parametrize(
    "then",
    [
        {"trigger_at": NOW + 2 * MINUTE},
        {
            "recurrence": Recurrence("UTC", datetime(2026, 5, 4, 9, 2), rrule="FREQ=DAILY"),
            "trigger_at": None,
        },
    ],
)
@pytest.mark.parametrize(
    "before",
    [
        {},
        {"recurring": True},
        {"recurrence": Recurrence("UTC", datetime(2026, 5, 3, 8, 59), rrule="FREQ=DAILY")},
    ],
)
def test_what_is_open_ends_when_the_time_is_changed(run: Any, before: Any, then: Any) -> None:
    async def scene(h: House) -> None:
        item = await h.register("call Bob", **before)
        if "recurrence" in before:
            h.clock.advance(timedelta(days=1))
            then_at = {"recurrence": None, "trigger_at": h.clock.now_us() + 2 * MINUTE}
        else:
            then_at = then
        assert await h.check() == ["call Bob"]
        first = h.last.due[0].occurrence
        await h.remind.revise(REF, item, then_at)
        with pytest.raises(Conflict):
            await h.occurrences.ack(REF, first.id, first.token, None)
        h.clock.advance(timedelta(minutes=1, seconds=59))
        assert await h.check() == []
        h.clock.advance(timedelta(seconds=1))
        assert await h.check() == ["call Bob"]
        assert h.last.due[0].occurrence.due_at == h.clock.now_us()
        again = h.last.due[0].occurrence
        await h.remind.revise(REF, item, {"importance": 0.9})
        await h.occurrences.ack(REF, again.id, again.token, None)

    run(scene)
