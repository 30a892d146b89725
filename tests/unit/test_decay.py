"""Policies that forget: which memories go, what is spared, and what a broken run leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from retain_kit import NOW, opened

from remembrancer.app import App
from remembrancer.finding.decay import decayed
from remembrancer.keeping.worker import JobContext
from remembrancer.nouns.caller import Caller
from remembrancer.nouns.clock import DAY_US, FixedClock
from remembrancer.nouns.errors import StoreError
from remembrancer.nouns.intention import TriggerType
from remembrancer.nouns.memory import BankRef, JobState, Layer, LinkType, Unit
from remembrancer.settings import Settings
from remembrancer.verbs import decay
from remembrancer.verbs.decay import DECAY
from remembrancer.verbs.decaying.choosing import pinned
from remembrancer.verbs.remember import Tie
from remembrancer.verbs.reminding.reminders import Reminder
from remembrancer.verbs.retaining.units import Item
from remembrancer.verbs.revise import Revision

ONE, TWO = BankRef("default", "one"), BankRef("default", "two")
MONTH = 30 * DAY_US


def run(folder: Path, test: Callable[[App, FixedClock], Awaitable[None]], **settings: Any) -> None:
    async def main() -> None:
        async with opened(folder, **settings) as app:
            assert isinstance(app.clock, FixedClock)
            await test(app, app.clock)

    asyncio.run(main())


async def told(app: App, ref: BankRef, *importances: float) -> list[bytes]:
    units = [
        await app.memories.remember(ref, f"Worth {value}, number {number}.", importance=value)
        for number, value in enumerate(importances)
    ]
    return [unit.id for unit in units]


async def left(app: App, ref: BankRef) -> list[bytes]:
    async with app.store.snapshot(ref) as view:
        return await view.unit_ids()


async def forgotten(app: App) -> dict[str, int]:
    """Do a run and return what it says it did."""
    await app.memories.decay.request("default")
    await app.worker.drain()
    last = (await app.memories.decay.state("default")).last
    assert last is not None
    tally = last.tally
    return {
        "seen": tally.examined,
        "below": tally.below_threshold,
        "old": tally.over_age,
        "over": tally.over_count,
    }


async def receipts(app: App, ref: BankRef) -> list[tuple[bytes, str]]:
    found, total = await app.memories.decay.receipts(ref)
    assert total == len(found)
    return [(bytes.fromhex(i), why) for record in found for i, why in record.data["memories"]]


def test_no_memory_is_forgotten_unless_somebody_has_said_so(tmp_path: Path) -> None:
    async def test(app: App, clock: FixedClock) -> None:
        ids = await told(app, ONE, 0.0, 0.5)
        clock.us = NOW + 100 * MONTH
        await app.memories.policies.change("default", max_snapshots=5, decay_half_life_days=1)
        assert await app.memories.decay.schedule(1_000_000) == 0
        assert await forgotten(app) == {"seen": 0, "below": 0, "old": 0, "over": 0}
        assert await left(app, ONE) == ids
        await app.memories.policies.change("default", auto_forget_threshold=0.01)
        clock.us += 2_000_000
        assert (await forgotten(app))["below"] == 2
        await app.memories.policies.change("default", auto_forget_threshold=0)
        assert not (await app.memories.policies.of("default")).acts

    run(tmp_path, test)


def test_what_has_decayed_below_the_threshold_goes_and_what_was_used_stays(tmp_path: Path) -> None:
    async def test(app: App, clock: FixedClock) -> None:
        weak, strong, used = await told(app, ONE, 0.1, 0.9, 0.1)
        other = (await told(app, TWO, 0.15))[0]
        await app.memories.policies.change("default", auto_forget_threshold=0.1)
        clock.us = NOW + MONTH
        await app.store.touch(ONE, [used] * 3, clock.us)
        await asyncio.sleep(0.25)  # counters are flushed every tenth of a second
        assert decayed(0.9, age_us=MONTH, access_count=0, half_life_us=MONTH) == 0.45
        assert await forgotten(app) == {"seen": 4, "below": 2, "old": 0, "over": 0}
        assert await left(app, ONE) == [strong, used]
        assert await left(app, TWO) == []
        assert await receipts(app, ONE) == [(weak, "below_threshold")]
        assert await receipts(app, TWO) == [(other, "below_threshold")]
        assert await forgotten(app) == {"seen": 2, "below": 0, "old": 0, "over": 0}

    run(tmp_path, test)


def test_what_is_too_old_goes_whatever_it_is_worth(tmp_path: Path) -> None:
    async def test(app: App, clock: FixedClock) -> None:
        await told(app, ONE, 1.0)
        clock.us = NOW + 5 * DAY_US
        young = await told(app, ONE, 0.0)
        await app.memories.policies.change("default", max_age_days=4.5)
        assert (await forgotten(app))["old"] == 1
        assert await left(app, ONE) == young

    run(tmp_path, test)


def test_of_too_many_the_least_worthy_go_in_each_bank(tmp_path: Path) -> None:
    async def test(app: App, clock: FixedClock) -> None:
        ids = await told(app, ONE, 0.3, 0.1, 0.5, 0.1, 0.4)
        few = await told(app, TWO, 0.1, 0.1)
        await app.memories.policies.change("default", max_memories=3)
        assert (await forgotten(app))["over"] == 2
        assert await left(app, ONE) == [ids[0], ids[2], ids[4]]
        assert await left(app, TWO) == few
        assert await receipts(app, ONE) == [(ids[1], "over_count"), (ids[3], "over_count")]

    run(tmp_path, test)


def test_of_too_many_no_more_go_than_must_with_what_was_derived(tmp_path: Path) -> None:
    async def test(app: App, clock: FixedClock) -> None:
        basis, keeps = await told(app, ONE, 0.0, 0.2)
        for number in range(2):
            await app.memories.remember(
                ONE,
                f"An insight, {number}.",
                importance=0.9,
                derived=True,
                ties=[Tie(basis, LinkType.INSIGHT_FROM)],
            )
        await app.memories.policies.change("default", max_memories=1)
        assert (await forgotten(app))["over"] == 1
        assert await left(app, ONE) == [keeps]

    run(tmp_path, test)


@pytest.mark.parametrize(
    "marks",
    [
        {"tags": ("pinned",)},
        {"tags": ("a", "instruction")},
        {"metadata": {"pinned": "true"}},
        {"attributes": {"pinned": True}},
        {"attributes": {"pinned": "true"}},
        {"attributes": {"pinned": False}},
        {"attributes": {"pinned": "yes"}},
        {"attributes": {"pinned": 1}},
        {"attributes": {"pinned": 2}},
        {"metadata": {"pinned": "1"}},
        {"tags": ("pinned-down",)},
        {},
    ],
)
def test_pinned_memories_stay_and_are_those_that_prime_pins(
    tmp_path: Path, marks: dict[str, Any]
) -> None:
    async def test(app: App, clock: FixedClock) -> None:
        attributes = marks.get("attributes")
        if attributes is None:
            given = {name: value for name, value in marks.items() if name != "attributes"}
            await app.retain(ONE, [Item("Never shout at the goats.", document="d", **given)])
        else:
            await app.memories.remember(ONE, "Never shout at the goats.", attributes=attributes)
        await app.memories.policies.change("default", max_age_days=1, auto_forget_threshold=2)
        units: Sequence[Unit] = await app.store.read(ONE, lambda reader: reader.latest(10))
        pins = await app.store.read(ONE, lambda reader: reader.pinned(10))
        assert [unit.id for unit in units if pinned(unit)] == [unit.id for unit in pins]
        clock.us = NOW + 2 * DAY_US
        await forgotten(app)
        assert bool(await left(app, ONE)) == bool(pins)

    run(tmp_path, test)


def test_what_an_intention_was_read_from_stays_until_it_has_ended(tmp_path: Path) -> None:
    async def test(app: App, clock: FixedClock) -> None:
        source, other = await told(app, ONE, 0.0, 0.0)
        made = await app.remind(
            ONE,
            [
                Reminder(
                    "Feed the goats.", TriggerType.TIME, trigger_at=NOW + MONTH, source_id=source
                )
            ],
        )
        await app.memories.policies.change("default", auto_forget_threshold=0.5)
        assert (await forgotten(app))["below"] == 1
        assert await receipts(app, ONE) == [(other, "below_threshold")]
        await app.remind.remove(ONE, [made.intentions[0].id], None)
        assert (await forgotten(app))["below"] == 1
        assert await left(app, ONE) == []

    run(tmp_path, test)


def test_a_document_loses_the_turns_that_are_forgotten(tmp_path: Path) -> None:
    async def test(app: App, clock: FixedClock) -> None:
        await app.retain(ONE, [Item("Ann: I moved to Oslo.\nBob: I like figs.", document="d")])
        await app.memories.policies.change("default", max_age_days=1)
        clock.us = NOW + 2 * DAY_US
        assert (await forgotten(app))["old"] == 2
        async with app.store.snapshot(ONE) as view:
            counts = await view.counts()
            assert counts["units"] == counts["documents"] == 0

    run(tmp_path, test)


@pytest.mark.parametrize("breaks_at", range(5))
def test_a_run_that_was_broken_off_goes_on_and_counts_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, breaks_at: int
) -> None:
    monkeypatch.setattr(decay, "_STEP", 2)

    async def test(app: App, clock: FixedClock) -> None:
        ids = {ref: await told(app, ref, 0.0, 0.5, 0.0, 0.0, 0.6, 0.7) for ref in (ONE, TWO)}
        await app.memories.policies.change("default", auto_forget_threshold=0.1, max_memories=2)
        run_id = await app.memories.decay.request("default")
        assert await app.memories.decay.request("default") == run_id  # one waits already
        (job,) = await app.store.claim([DECAY], NOW, 1_000_000)
        apply, done = app.store.apply, 0

        async def breaking(ref: BankRef, batch: Any) -> Any:
            nonlocal done
            if batch.erase:
                if done == breaks_at:
                    raise StoreError("the power went out")
                done += 1
            return await apply(ref, batch)

        with monkeypatch.context() as patch:
            patch.setattr(app.store, "apply", breaking)
            with pytest.raises(StoreError):
                await decay_run(app, job)
        clock.us = NOW + 10_000_000  # the lease has run out
        await app.worker.drain()
        state = await app.memories.decay.state("default")
        assert state.last is not None
        assert (state.last.run_id, state.running) == (run_id, False)
        tally = state.last.tally
        assert (tally.examined, tally.banks) == (12, 2)
        assert (tally.below_threshold, tally.over_count, tally.forgotten) == (6, 2, 8)
        for ref, all_ids in ids.items():
            remaining = await left(app, ref)
            assert remaining == [all_ids[4], all_ids[5]]
            gone = [unit_id for unit_id, _ in await receipts(app, ref)]
            assert sorted([*gone, *remaining]) == sorted(all_ids)

    run(tmp_path, test)


async def decay_run(app: App, job: Any) -> None:
    await app.memories.decay.run(job, JobContext(job, app.clock))


def test_a_memory_that_is_pinned_or_used_meanwhile_is_spared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(app: App, clock: FixedClock) -> None:
        (unit_id, other) = await told(app, ONE, 0.0, 0.0)
        await app.memories.policies.change("default", auto_forget_threshold=0.1)
        apply, changed = app.store.apply, False

        async def slow(ref: BankRef, batch: Any) -> Any:
            nonlocal changed
            if batch.erase and not changed:
                changed = True
                await app.memories.revise(
                    Caller(), unit_id, Revision(attributes={"pinned": True}, importance=0.9)
                )
            return await apply(ref, batch)

        monkeypatch.setattr(app.store, "apply", slow)
        assert (await forgotten(app))["below"] == 1
        assert await left(app, ONE) == [unit_id]
        assert await receipts(app, ONE) == [(other, "below_threshold")]

    run(tmp_path, test)


def test_each_interval_has_one_run_a_tenant_whoever_queues_it(tmp_path: Path) -> None:
    async def test(app: App, clock: FixedClock) -> None:
        for tenant in ("default", "acme"):
            await app.memories.policies.change(tenant, auto_forget_threshold=0.1)
        await app.memories.policies.change("idle", max_snapshots=1)
        for _ in range(3):
            assert await app.memories.decay.schedule(60_000_000) == 2
        jobs = [await app.store.jobs(tenant_ref(t), kind=DECAY) for t in ("default", "acme")]
        assert [len(each) for each in jobs] == [1, 1]
        await app.worker.drain()
        assert await app.memories.decay.schedule(60_000_000) == 2
        assert await app.worker.drain() == 0
        clock.us = NOW + 60_000_000
        await app.memories.decay.schedule(60_000_000)
        assert await app.worker.drain() == 2
        # The runs before are cleared away.
        (job,) = await app.store.jobs(tenant_ref("acme"), kind=DECAY)
        assert job.state is JobState.COMPLETED

    def tenant_ref(tenant: str) -> BankRef:
        return BankRef(tenant, "\x1ftenant")

    run(tmp_path, test)


def test_a_server_runs_them_by_itself(tmp_path: Path) -> None:
    async def main() -> None:
        settings = Settings(data=tmp_path, embedder="none", decay_interval_s=0.1)
        app = await App.open(settings)
        try:
            await told(app, ONE, 0.0)
            await app.memories.policies.change("default", auto_forget_threshold=0.1)
            for _ in range(400):
                if not await left(app, ONE):
                    break
                await asyncio.sleep(0.05)
            assert await left(app, ONE) == []
        finally:
            await app.close()

    asyncio.run(main())


def test_layers_that_are_read_from_others_are_not_judged_on_their_own(tmp_path: Path) -> None:
    async def test(app: App, clock: FixedClock) -> None:
        await app.retain(ONE, [Item("I moved to Oslo with my aunt.", document="d")])
        async with app.store.snapshot(ONE) as view:
            assert (await view.counts())["facts"] > 0
            root = (await view.newest(10, layer=Layer.SOURCE))[0]
        await app.memories.policies.change("default", max_age_days=1)
        clock.us = NOW + 2 * DAY_US
        assert (await forgotten(app))["old"] == 1
        assert await receipts(app, ONE) == [(root.id, "over_age")]

    run(tmp_path, test)
