"""Remember, revise and subscribe, where the wire cannot reach: failures, crashes, bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from retain_kit import NOW, opened

from remembrancer.app import App
from remembrancer.keeping.batch import Batch, VectorPatch
from remembrancer.nouns.caller import Caller
from remembrancer.nouns.errors import Conflict, Exhausted, ModelUnavailable, NotFound
from remembrancer.nouns.memory import BankRef, Job, JobState, LinkType
from remembrancer.verbs import subscriptions
from remembrancer.verbs.criteria import Criteria
from remembrancer.verbs.recalling.origins import Origin
from remembrancer.verbs.recalling.searches import Search, Way
from remembrancer.verbs.remember import Tie
from remembrancer.verbs.revise import MOVED_OUT, Revision
from remembrancer.verbs.subscriptions import Wanted

ONE, TWO = BankRef("default", "one"), BankRef("default", "two")
CALLER = Caller()


def run(folder: Path, test: Callable[[App], Awaitable[None]]) -> None:
    async def main() -> None:
        async with opened(folder) as app:
            await test(app)

    asyncio.run(main())


async def found(app: App, ref: BankRef) -> list[str]:
    searches = [Search(Way.TEMPORAL, ref)]
    answered = await app.memories.strategies(CALLER, "", searches)
    return [each.kept.unit.text for each in answered.memories]


def test_a_memory_is_one_unit_with_its_vector(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        unit = await app.memories.remember(ONE, "Ana said on 3 May 2024 that Leo left for Lima.")
        async with app.store.snapshot(ONE) as view:
            counts = await view.counts()
            assert (counts["units"], counts["entities"]) == (1, 0)
            (row,) = await view.rows([unit.id])
            assert row.vector is not None
            assert row.unit.occurred_start is not None
        assert await app.store.generation_pending_count(1) == 0

    run(tmp_path, test)


def test_a_memory_is_kept_when_the_embedder_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(app: App) -> None:
        async def fail(*_: Any) -> Any:
            raise ModelUnavailable("gone")

        with monkeypatch.context() as patch:
            patch.setattr(app.embedder, "embed", fail)
            await app.memories.remember(ONE, "Kept all the same.")
        assert app.retain.embedder_failed.is_set()
        assert await app.store.generation_pending_count(1) == 1
        assert await found(app, ONE) == ["Kept all the same."]

    run(tmp_path, test)


def test_a_move_that_a_crash_broke_off_is_finished(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        unit = await app.memories.remember(ONE, "On the move.")
        async with app.store.snapshot(ONE) as view:
            (row,) = await view.rows([unit.id])
        assert row.vector is not None
        payload = {"unit": unit.id.hex(), "bank": "one"}
        job = Job(b"j" * 16, TWO, MOVED_OUT, JobState.PENDING, NOW, NOW, payload=payload)
        await app.memories.revise.finish_move(job)
        assert await found(app, ONE) == ["On the move."]  # it has not arrived yet
        await app.store.apply(
            TWO,
            Batch(
                units=[replace(row, vector=None, window_vector=None)],
                vectors=[VectorPatch(unit.id, row.vector, None)],
            ),
        )
        await app.memories.revise.finish_move(job)
        assert await found(app, ONE) == []
        assert await found(app, TWO) == ["On the move."]

    run(tmp_path, test)


def test_two_moves_at_once_leave_one_copy(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        unit = await app.memories.remember(ONE, "Pulled at.")
        await asyncio.gather(
            *(app.memories.revise(CALLER, unit.id, Revision(bank=TWO)) for _ in range(5))
        )
        assert await found(app, ONE) == []
        assert await found(app, TWO) == ["Pulled at."]

    run(tmp_path, test)


def test_a_move_keeps_vector_counters_and_drops_links(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        target = await app.memories.remember(ONE, "Stays here.")
        ties = [Tie(target.id, LinkType.RELATED_TO)]
        unit = await app.memories.remember(ONE, "Moves there.", importance=0.7, ties=ties)
        await app.store.touch(ONE, [unit.id], NOW + 5)
        for _ in range(200):
            (kept,) = await app.memories.lookup.several(ONE, [unit.id])
            if kept.unit.access_count:
                break
            await asyncio.sleep(0.02)
        moved = await app.memories.revise(CALLER, unit.id, Revision(bank=TWO))
        assert (moved.ref, moved.unit.importance) == (TWO, 0.7)
        assert (moved.unit.access_count, moved.unit.last_accessed_at) == (1, NOW + 5)
        answered = await app.memories.strategies(
            CALLER, "Moves there.", [Search(Way.SIMILARITY, TWO)]
        )
        assert answered.memories[0].relevance > 0.99
        walked = await app.memories.strategies(CALLER, "", [Search(Way.CAUSAL, seed=target.id)])
        assert walked.memories == []

    run(tmp_path, test)


def test_a_move_leaves_the_insights_that_rest_on_others(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        remember = app.memories.remember
        moving, staying = [await remember(ONE, f"Lock {n} leaks.") for n in range(2)]
        ties = [Tie(each.id, LinkType.INSIGHT_FROM) for each in (moving, staying)]
        shared = await remember(ONE, "Locks leak.", ties=ties, derived=True)
        await remember(ONE, "Lock 0 is old.", ties=ties[:1], derived=True)
        await app.memories.revise(CALLER, moving.id, Revision(bank=TWO))
        left = await app.memories.insights.listed(CALLER, ONE)
        assert [(each.unit.id, each.basis) for each in left] == [(shared.id, (staying.id,))]

    run(tmp_path, test)


def test_what_was_done_before_a_verb_fails_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(app: App) -> None:
        memories = app.memories
        noted: list[tuple[BankRef, dict[str, Any]]] = []

        def note(ref: BankRef, **metadata: Any) -> None:
            noted.append((ref, metadata))

        unit = await memories.remember(ONE, "On the move.")
        await memories.remember(TWO, "Stays.")

        async def fail(*_: Any, **__: Any) -> None:
            raise Conflict("changed too often")

        with monkeypatch.context() as patch:
            patch.setattr(memories.revise, "_curate", fail)
            with pytest.raises(Conflict):
                await memories.revise(CALLER, unit.id, Revision("No.", bank=TWO), note)
        assert [(ref, told.get("moved")) for ref, told in noted] == [(ONE, "out"), (TWO, "in")]
        noted.clear()
        await memories.remember(ONE, "Goes first.")
        forget = memories.forget_matching._forget

        async def forget_one(ref: BankRef, **how: Any) -> Any:
            return await (fail() if ref == TWO else forget(ref, **how))

        monkeypatch.setattr(memories.forget_matching, "_forget", forget_one)
        with pytest.raises(Conflict):
            await memories.forget_matching(CALLER, Criteria(used_below=5), note)
        assert [(ref, told["count"]) for ref, told in noted] == [(ONE, 1)]

    run(tmp_path, test)


def test_what_was_used_just_now_is_not_forgotten_as_unused(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        used, unused = [await app.memories.remember(ONE, f"Lock {n}.") for n in range(2)]
        await app.store.touch(ONE, [used.id], NOW + 5)
        done = await app.memories.forget_matching(CALLER, Criteria(used_below=1))
        assert done.erased == [unused.id]
        await app.store.touch(ONE, [used.id], NOW + 20)
        done = await app.memories.forget_matching(CALLER, Criteria(unused_since=NOW + 10))
        assert done.erased == []

    run(tmp_path, test)


def test_revisions_at_once_are_all_made(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        unit = await app.memories.remember(ONE, "Version 0.")
        await asyncio.gather(
            *(
                app.memories.revise(CALLER, unit.id, Revision(attributes={f"k{n}": n}))
                for n in range(5)
            )
        )
        kept = await app.memories.lookup(CALLER, unit.id)
        assert kept.unit.attributes == {f"k{n}": n for n in range(5)}
        assert kept.edits == 5

    run(tmp_path, test)


def test_a_memory_that_is_forgotten_while_it_is_revised_stays_forgotten(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        for number in range(10):
            unit = await app.memories.remember(ONE, f"Doomed {number}.")
            revision = Revision(content=f"Doomed {number}, revised.")
            await asyncio.gather(
                app.memories.revise(CALLER, unit.id, revision),
                app.forget(ONE, unit_ids=[unit.id]),
                return_exceptions=True,
            )
            with pytest.raises(NotFound):
                await app.memories.lookup(CALLER, unit.id)
        assert await found(app, ONE) == []

    run(tmp_path, test)


def test_subscriptions_are_bounded_and_their_ids_are_not_to_be_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscriptions, "MOST", 20)

    async def test(app: App) -> None:
        hub = app.memories.subscriptions
        opened = [hub.open(CALLER, Wanted(ONE)) for _ in range(20)]
        ids = [each.id for each in opened]
        assert len(set(ids)) == 20
        assert all(1 << 40 < each < 1 << 63 for each in ids)
        with pytest.raises(Exhausted):
            hub.open(CALLER, Wanted(ONE))
        hub.close(CALLER.tenant, ids[0])
        assert await hub.next(opened[0]) is None
        assert hub.open(CALLER, Wanted(ONE)).id not in ids

    run(tmp_path, test)


def test_a_subscription_tells_what_waits_as_it_is_when_it_is_taken(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        hub, memories = app.memories.subscriptions, app.memories
        told = "The pump failed."
        gone, moved, changed, left = [await memories.remember(ONE, told) for _ in range(4)]
        subscription = hub.open(CALLER, Wanted(ONE))
        await hub.feed(CALLER.tenant, subscription.id, told)
        assert len(subscription.waiting) == 4
        await app.forget(ONE, unit_ids=[gone.id])
        await memories.revise(CALLER, moved.id, Revision(bank=TWO))
        await memories.revise(CALLER, changed.id, Revision(content="The pump is mended."))
        pushed = [await hub.next(subscription) for _ in range(2)]
        texts = {push.kept.unit.id: push.kept.unit.text for push in pushed if push is not None}
        assert texts == {changed.id: "The pump is mended.", left.id: told}
        assert not subscription.waiting

    run(tmp_path, test)


def test_a_subscription_to_a_kind_passes_over_what_became_another(tmp_path: Path) -> None:
    async def test(app: App) -> None:
        hub, memories = app.memories.subscriptions, app.memories
        one, two = [await memories.remember(ONE, f"Lock {n} leaks.") for n in range(2)]
        subscription = hub.open(CALLER, Wanted(ONE, origins=frozenset({Origin.REMEMBERED})))
        await hub.feed(CALLER.tenant, subscription.id, "leaks")
        await memories.revise(CALLER, one.id, Revision(content="Lock 0 is tight."))
        push = await hub.next(subscription)
        assert push is not None
        assert push.kept.unit.id == two.id
        assert not subscription.waiting

    run(tmp_path, test)
