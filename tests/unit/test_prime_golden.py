"""Prime against figures computed by hand: the documented weights, orders and counts.

score = w_relevance * relevance + w_recency * (1 - age / 30 days) + w_importance * importance
      + w_reinforcement * log2(1 + uses) / log2(101), with .5, .2, .2 and .1 where none are given.
Without a cue the newest of n counts as relevance 1, the next as 1 - 1/n, and so on.
The other worked checks are in `test_prime.py`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from prime_kit import ANALYZER, IDS, NOW, REF, counts, numbered, opened, primed, put, texts

from remembrancer.app import App
from remembrancer.finding.composite import ScoringWeights
from remembrancer.finding.terms import pack
from remembrancer.keeping.batch import Batch
from remembrancer.models.vectors import quantise
from remembrancer.nouns.clock import DAY_US
from remembrancer.nouns.memory import Layer, Unit, UnitRow
from remembrancer.verbs.prime import Order, PrimeOptions, Strategy

RECENT = ScoringWeights(0.2, 0.6, 0.1, 0.1)  # of the documented second example
CUE = "recent interactions"


async def put_at(app: App, text: str, *, cosine: float, days: float, importance: float) -> None:
    """Keep a source whose vector stands at a given cosine to that of the cue."""
    assert app.embedder is not None
    toward = np.asarray(await app.embedder.embed_query(CUE), dtype=np.float64)
    aside = np.roll(toward, 1)
    aside -= (aside @ toward) * toward
    aside /= np.linalg.norm(aside)
    vector = cosine * toward + np.sqrt(1 - cosine**2) * aside
    said = NOW - int(days * DAY_US)
    unit = Unit(IDS.new(), Layer.SOURCE, text, said, said, importance=importance)
    [stored] = quantise(np.asarray([vector], dtype=np.float32))
    rows = [UnitRow(unit, pack(ANALYZER.terms(text)), vector=stored)]
    await app.store.apply(REF, Batch(units=rows))


@pytest.mark.parametrize(
    ("weights", "order"),
    [
        # alike: .5 * 1 + .2 / 3 + .2 * .5; half: .5 * .5 + .2 / 2 + .2 * 1; new: .2 + .2 * .5
        (ScoringWeights(), [("alike", 0.6667), ("half", 0.55), ("new", 0.3)]),
        # new: .6 + .1 * .5; half: .2 * .5 + .6 / 2 + .1 * 1; alike: .2 * 1 + .6 / 3 + .1 * .5
        (RECENT, [("new", 0.65), ("half", 0.5), ("alike", 0.45)]),
        (ScoringWeights(1, 0, 0, 0), [("alike", 1.0), ("half", 0.5), ("new", 0.0)]),
        (ScoringWeights(0, 0, 1, 0), [("half", 1.0), ("new", 0.5), ("alike", 0.5)]),
    ],
    ids=["default", "recent", "relevance", "importance"],
)
async def test_weights_order_as_computed(
    tmp_path: Path, weights: ScoringWeights, order: list[tuple[str, float]]
) -> None:
    async with opened(tmp_path) as app:
        await put_at(app, "alike", cosine=1.0, days=20, importance=0.5)
        await put_at(app, "half", cosine=0.5, days=15, importance=1.0)
        await put_at(app, "new", cosine=0.0, days=0, importance=0.5)
        context = await primed(app, cue=CUE, weights=weights)
        assert texts(context) == [text for text, _ in order]
        scores = [memory.score for memory in context.memories]
        assert scores == pytest.approx([score for _, score in order], abs=0.01)


@pytest.mark.parametrize("cue", [None, ""])
@pytest.mark.parametrize(
    ("held", "scores"),
    [
        (1, [0.8]),
        (2, [0.8, 0.55]),
        (3, [0.8, 0.6333, 0.4667]),
        (5, [0.8, 0.7, 0.6, 0.5, 0.4]),
    ],
)
async def test_fresh_ones_without_a_cue(
    tmp_path: Path, cue: str | None, held: int, scores: list[float]
) -> None:
    async with opened(tmp_path) as app:
        await put(app, *numbered("door", held))
        context = await primed(app, cue=cue)
        assert texts(context) == [*reversed(numbered("door", held))]
        assert [m.score for m in context.memories] == pytest.approx(scores, abs=1e-4)
        assert counts(context) == (held, 0)
        assert [m.rank for m in context.memories] == [*range(held)]


async def test_three_recent_and_a_hundred_old(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, *numbered("old", 100), days=15)
        await put(app, *numbered("recent", 3))
        context = await primed(app)
        assert counts(context) == (20, 0)
        assert texts(context)[:3] == ["recent number 2", "recent number 1", "recent number 0"]
        assert texts(context)[3:] == [f"old number {n}" for n in range(99, 82, -1)]
        # .5 * (1 - i / 20) + .2 * recency + .2 * .5
        recent = [0.8 - 0.025 * i for i in range(3)]
        old = [0.7 - 0.025 * i for i in range(3, 20)]
        assert [m.score for m in context.memories] == pytest.approx([*recent, *old], abs=1e-4)
        cued = await primed(app, cue="old number 7", max_memories=10)
        assert counts(cued) == (3, 7)
        assert sum(t.startswith("recent") for t in texts(cued)) == 3


async def test_an_empty_window(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, *numbered("old", 4), days=15)
        context = await primed(app)
        # .5 * (1 - i / 4) + .2 / 2 + .2 * .5
        scores = [0.7, 0.575, 0.45, 0.325]
        assert [m.score for m in context.memories] == pytest.approx(scores, abs=1e-4)
        assert {m.strategy for m in (await primed(app, cue="old number 2")).memories} == {
            Strategy.SIMILARITY
        }


async def test_uses_count_by_their_logarithm(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        [unit] = await put(app, "door")
        for _ in range(5):
            await app.prime(REF, PrimeOptions())
        await app.store.close()
        await app.store.open()
        [memory] = (await primed(app)).memories
        assert (memory.unit.id, memory.unit.access_count) == (unit.id, 5)
        assert memory.score == pytest.approx(0.8 + 0.0388, abs=1e-4)


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("cue", [None, "door number 7"])
async def test_two_hundred_come_whole_and_the_same_each_time(
    tmp_path: Path, order: Order, cue: str | None
) -> None:
    flat = ScoringWeights(0, 0, 1, 0)  # all score the same
    async with opened(tmp_path) as app:
        await put(app, *numbered("door", 200))
        first, again = [
            await primed(app, max_memories=200, order=order, cue=cue, weights=flat)
            for _ in range(2)
        ]
        assert texts(first) == texts(again)
        assert set(texts(first)) == {*numbered("door", 200)}
        assert {m.score for m in first.memories} == {0.5}
    async with opened(tmp_path) as app:
        later = await primed(app, max_memories=200, order=order, cue=cue, weights=flat)
        assert texts(later) == texts(first)
