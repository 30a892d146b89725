"""What holds, and what held then, in every way to ask: reranked, over banks, primed with a cue."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import remembrancer
from remembrancer.nouns.clock import to_us
from remembrancer.nouns.memory import DEFAULT_TENANT, BankRef
from remembrancer.verbs.recall import RecallOptions
from remembrancer.verbs.recalling.included import Include
from remembrancer.verbs.recalling.reranking import Reranking

BANK = BankRef(DEFAULT_TENANT, "kim")
FIRST = datetime(2022, 1, 1, tzinfo=UTC)
YEAR = timedelta(days=365)


def run(
    folder: Path,
    scene: Callable[[remembrancer.AsyncMemory], Awaitable[None]],
    embedder: str = "hash:64",
) -> None:
    async def inside() -> None:
        async with remembrancer.open_async(folder, embedder=embedder) as memory:
            await scene(memory)

    asyncio.run(inside())


async def tell(memory: remembrancer.AsyncMemory, *texts: str, bank: str = "kim") -> None:
    """Tell each text a year after the one before."""
    for number, text in enumerate(texts):
        await memory.retain(text, bank=bank, timestamp=FIRST + number * YEAR)


class Longest:
    """Takes the longest text for the best."""

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        del question
        return [float(len(text)) for text in texts]

    async def close(self) -> None:
        pass


def test_a_reranker_does_not_put_back_what_has_ended(tmp_path: Path) -> None:
    async def scene(memory: remembrancer.AsyncMemory) -> None:
        await tell(memory, "I live in Lisbon, by the river.", "I moved to Ghent.")
        memory.app.recall._reranking = Reranking(Longest(), 50, 5)
        for limit in (5, 1):
            options = RecallOptions(limit=limit, include=Include(chunks=4_000))
            found = await memory.app.recall(BANK, "Where do I live?", options)
            assert found.answers[0].unit.text == "I moved to Ghent."
            assert found.included is not None
            assert found.included.chunks is not None
            assert len(found.included.chunks) == len(found.answers)

    run(tmp_path, scene)


def test_what_was_said_later_does_not_crowd_out_what_was_known_then(tmp_path: Path) -> None:
    async def scene(memory: remembrancer.AsyncMemory) -> None:
        await tell(memory, "Clara booked the pad for Orion.", bank="kim")
        later = [
            remembrancer.Item(
                "The launch date of Orion is moved" + " again" * (n % 40) + f", number {n}.",
                timestamp=to_us(FIRST + YEAR + timedelta(days=n)),
            )
            for n in range(300)
        ]
        await memory.retain_many(later, bank="kim")
        then = FIRST + YEAR / 2
        for banks in (None, ["kim"]):
            found = await memory.recall(
                "What is the launch date of Orion?",
                bank="kim",
                banks=banks,
                as_of=then,
                min_relevance=0,
            )
            assert [a.text for a in found] == ["Clara booked the pad for Orion."]

    run(tmp_path, scene, "none")


def test_several_banks_put_first_what_one_does(tmp_path: Path) -> None:
    async def scene(memory: remembrancer.AsyncMemory) -> None:
        await tell(
            memory, "I live in Lisbon.", "I don't live in Lisbon anymore.", "I moved to Ghent."
        )
        alone = await memory.recall("Do I live in Lisbon?", bank="kim")
        among = await memory.recall("Do I live in Lisbon?", banks=["kim"])
        assert [a.text for a in alone] == [a.text for a in among]

    run(tmp_path, scene)


def test_a_value_that_came_back_is_primed_as_the_one_that_holds(tmp_path: Path) -> None:
    async def scene(memory: remembrancer.AsyncMemory) -> None:
        await tell(memory, "I live in Lisbon.", "I live in Ghent.", "I live in Lisbon.")
        for cue in (None, "I live in Lisbon."):
            found = await memory.prime(bank="kim", cue=cue, text=True)
            assert "I live in Lisbon. (said 2024-01-01)" in found.text, cue

    run(tmp_path, scene)


def test_a_cue_brings_nothing_that_was_said_later(tmp_path: Path) -> None:
    async def scene(memory: remembrancer.AsyncMemory) -> None:
        await tell(memory, "I live in Lisbon.", "I live in Ghent.")
        for cue in (None, "I live in Ghent."):
            found = await memory.prime(bank="kim", cue=cue, now=FIRST + YEAR / 2)
            assert [m.text for m in found.memories] == ["I live in Lisbon."], cue

    run(tmp_path, scene)
