"""Recall and prime give what was said several times once, and say how often it was."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from remembrancer.app import App
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.memory import BankRef
from remembrancer.settings import Settings
from remembrancer.verbs.prime import PrimeOptions, Strategy
from remembrancer.verbs.recall import RecallOptions
from remembrancer.verbs.recalling.proof import ALONE, Fold, Proof
from remembrancer.verbs.retaining.units import Item

NOW = 1_750_000_000_000_000
REF = BankRef("default", "ann")


class Shelf:
    """What a fold reads: which unit says what, and how often that is said."""

    def __init__(self, keys: Mapping[bytes, bytes], counts: Mapping[bytes, int]) -> None:
        self.keys, self.counts = keys, counts
        self.asked = 0

    def shared_keys(self, ids: Sequence[bytes]) -> Mapping[bytes, bytes]:
        return {i: self.keys[i] for i in ids if i in self.keys}

    def proofs(self, keys: Sequence[bytes]) -> Mapping[bytes, int]:
        self.asked += 1
        return {key: self.counts[key] for key in keys}


def folded(shelf: Any, ids: Sequence[bytes]) -> tuple[list[bytes], dict[bytes, Proof]]:
    fold = Fold(shelf)
    fold.look_up(ids)
    kept = []
    for unit_id in ids:
        if not fold.repeats(unit_id):
            fold.keep(unit_id)
            kept.append(unit_id)
    return kept, fold.proofs()


def test_the_first_stands_for_the_rest() -> None:
    shelf = Shelf({b"a": b"k", b"c": b"k", b"d": b"m"}, {b"k": 5, b"m": 1})
    kept, proofs = folded(shelf, [b"a", b"b", b"c", b"d", b"c"])
    assert kept == [b"a", b"b", b"d"]
    assert proofs == {b"a": Proof(5, (b"c",))}  # the other "m" is no longer valid


def test_nothing_is_counted_where_nothing_is_shared() -> None:
    shelf = Shelf({}, {})
    assert folded(shelf, [b"a", b"b"]) == ([b"a", b"b"], {})
    assert shelf.asked == 0


def run(folder: Path, work: Any) -> None:
    async def main() -> None:
        settings = Settings(data=str(folder), embedder="hash:64")
        app = await App.open(settings, clock=FixedClock(NOW), background=False)
        try:
            await work(app)
        finally:
            await app.close()

    asyncio.run(main())


def test_recall_and_prime_fold(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        days = [NOW - day * 86_400_000_000 for day in (3, 2, 1)]
        for day in days:
            await app.retain(REF, [Item("I really like hiking", timestamp=day)])
        await app.retain(REF, [Item("I own a canoe", timestamp=NOW)])
        found = (await app.recall(REF, "hiking")).answers
        [hiking] = [a for a in found if "hiking" in a.unit.text]
        [canoe] = [a for a in found if "canoe" in a.unit.text]
        assert (hiking.proof.count, len(hiking.proof.same_ids)) == (3, 2)
        assert hiking.unit.id not in hiking.proof.same_ids
        assert canoe.proof is ALONE
        # those that are folded leave room for others
        best = (await app.recall(REF, "hiking", RecallOptions(limit=2))).answers
        assert {a.unit.text for a in best} == {hiking.unit.text, canoe.unit.text}
        for cue in (None, "hiking"):
            primed = (await app.prime(REF, PrimeOptions(max_memories=2, cue=cue))).memories
            assert sorted(m.unit.text for m in primed) == ["I own a canoe", "I really like hiking"]
            [liked] = [m for m in primed if "hiking" in m.unit.text]
            assert liked.proof.count == 3
            if cue is None:
                assert liked.unit.mentioned_at == days[-1]  # the newest stands for them
                assert liked.strategy is Strategy.TEMPORAL

    run(tmp_path, work)


def test_prime_is_full_whatever_was_said_often(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        await app.retain(
            REF, [Item(f"I bought canoe number {n}", timestamp=NOW - 9_000) for n in range(4)]
        )
        await app.retain(
            REF, [Item("The nightly backup has ended", timestamp=NOW - 500) for _ in range(40)]
        )
        for cue in (None, "nightly backup"):
            context = await app.prime(REF, PrimeOptions(max_memories=5, cue=cue))
            assert len({m.unit.text for m in context.memories}) == len(context.memories) == 5

    run(tmp_path, work)


def test_forgetting_the_kept_one_brings_another(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        for _ in range(2):
            await app.retain(REF, [Item("I really like hiking")])
        [first] = (await app.recall(REF, "hiking")).answers
        assert first.proof.count == 2
        await app.forget(REF, unit_ids=[first.unit.id])
        [left] = (await app.recall(REF, "hiking")).answers
        assert (left.unit.id, left.proof) == (first.proof.same_ids[0], ALONE)

    run(tmp_path, work)
