"""The verb prime: the worked checks, the blend, the order, what it counts."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from prime_kit import NOW, REF, counts, numbered, opened, primed, put, texts

from remembrancer.finding.composite import ScoringWeights, composite
from remembrancer.keeping.batch import Batch
from remembrancer.nouns.clock import DAY_US
from remembrancer.nouns.errors import InvalidInput, TooLarge
from remembrancer.nouns.memory import BankRef, Kind, Layer, Link, LinkType
from remembrancer.verbs.prime import Order, PrimeOptions, Strategy

SEED_WEIGHTS = ScoringWeights(0.2, 0.6, 0.1, 0.1)  # of the documented second example


@pytest.mark.parametrize(
    ("values", "score"),
    [
        # hand-computed: .5 * relevance + .2 * recency + .2 * importance + .1 * reinforcement
        ({"relevance": 1, "age_us": 0, "importance": 0.5, "access_count": 0}, 0.8),
        ({"relevance": 0.5, "age_us": 0, "importance": 0.5, "access_count": 0}, 0.55),
        ({"relevance": 0, "age_us": 15 * DAY_US, "importance": 0, "access_count": 0}, 0.1),
        ({"relevance": 0, "age_us": 31 * DAY_US, "importance": 0, "access_count": 0}, 0),
        ({"relevance": -1, "age_us": -5, "importance": 2, "access_count": 0}, 0.4),
        ({"relevance": 0, "age_us": 31 * DAY_US, "importance": 0, "access_count": 100}, 0.1),
        ({"relevance": 0, "age_us": 31 * DAY_US, "importance": 0, "access_count": 9_999}, 0.1),
        # log2(2) / log2(101) = .1502, log2(6) / log2(101) = .3882, log2(21) / log2(101) = .6597
        ({"relevance": 0, "age_us": 31 * DAY_US, "importance": 0, "access_count": 1}, 0.01502),
        ({"relevance": 0, "age_us": 31 * DAY_US, "importance": 0, "access_count": 5}, 0.03882),
        ({"relevance": 0, "age_us": 31 * DAY_US, "importance": 0, "access_count": 20}, 0.06597),
    ],
)
def test_composite_scores(values: dict[str, float], score: float) -> None:
    assert composite(ScoringWeights(), **values) == pytest.approx(score, abs=1e-5)  # type: ignore[arg-type]


def test_no_bound_means_the_default_one() -> None:
    values = {"relevance": 0.0, "age_us": 10 * DAY_US, "importance": 0.0, "access_count": 3}
    default = composite(ScoringWeights(), **values)  # type: ignore[arg-type]
    named = ScoringWeights(max_age_us=30 * DAY_US, reinforcement_cap=100)
    assert composite(named, **values) == default  # type: ignore[arg-type]
    short = ScoringWeights(max_age_us=20 * DAY_US, reinforcement_cap=3)
    assert composite(short, **values) == pytest.approx(0.2 * 0.5 + 0.1)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["w_relevance", "w_reinforcement", "max_age_us"])
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_weights_are_checked(name: str, value: float) -> None:
    with pytest.raises(InvalidInput) as caught:
        ScoringWeights(**{name: value})  # type: ignore[arg-type]
    assert caught.value.field == f"scoring_weights.{name}"


async def test_one_fresh_memory(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, "The door is red")
        context = await primed(app)
        assert counts(context) == (1, 0)
        (only,) = context.memories
        assert only.score == pytest.approx(0.8)
        assert (only.relevance, only.rank, only.strategy) == (0, 0, Strategy.TEMPORAL)


async def test_two_fresh_memories_come_by_score(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, "older", "newer")
        context = await primed(app)
        assert texts(context) == ["newer", "older"]
        assert counts(context) == (2, 0)
        assert [m.score for m in context.memories] == pytest.approx([0.8, 0.55], abs=1e-6)
        assert [m.rank for m in context.memories] == [0, 1]
        assert [m.relevance for m in context.memories] == [0, 0]
        blocks = await primed(app, order=Order.BLOCKS)
        assert texts(blocks) == ["older", "newer"]
        assert [m.score for m in blocks.memories] == pytest.approx([0.55, 0.8], abs=1e-6)


async def test_an_empty_cue_is_none(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, *numbered("door", 30))
        for cue in (None, "", "  \n"):
            context = await primed(app, cue=cue)
            assert counts(context) == (20, 0)
            assert sorted(m.rank or 0 for m in context.memories) == [*range(20)]
            assert set(texts(context)) == {f"door number {n}" for n in range(10, 30)}


async def test_an_empty_window_is_filled_from_before_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, *numbered("old", 100), days=8)
        assert counts(await primed(app)) == (20, 0)
        assert counts(await primed(app, cue="anything")) == (0, 20)
        assert counts(await primed(app, cue="anything", window_us=9 * DAY_US)) == (10, 10)


async def test_few_recent_ones_are_joined_by_old_ones(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, *numbered("old", 100), days=60)
        await put(app, *numbered("recent", 3))
        plain = await primed(app)
        assert counts(plain) == (20, 0)
        assert {f"recent number {n}" for n in range(3)} < set(texts(plain))
        assert {f"old number {n}" for n in range(83, 100)} < set(texts(plain))
        cued = await primed(app, cue="old number 4")
        assert counts(cued) == (3, 17)
        assert "old number 4" in texts(cued)
        assert counts(await primed(app, cue="old number 4", max_memories=100)) == (3, 97)
        everything = await primed(app, cue="old number 4", max_memories=150)
        assert len(everything.memories) == 103


@pytest.mark.parametrize(
    ("ratio", "most", "expected"),
    [(0.5, 20, (10, 10)), (0.5, 5, (2, 3)), (0.5, 1, (0, 1)), (0, 8, (0, 8)), (1, 8, (8, 0)),
     (0.6, 10, (6, 4))],
)  # fmt: skip
async def test_the_ratio_splits(
    tmp_path: Path, ratio: float, most: int, expected: tuple[int, int]
) -> None:
    async with opened(tmp_path) as app:
        await put(app, *numbered("far", 40), days=3)
        await put(app, *numbered("near", 40))
        context = await primed(app, cue="far number 1", temporal_ratio=ratio, max_memories=most)
        assert counts(context) == expected


async def test_all_memories_are_searched_not_only_new_ones(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, "The spare key lies under the third flowerpot", days=900)
        await put(app, *numbered("chatter", 700))
        context = await primed(app, cue="The spare key lies under the third flowerpot")
        found = next(m for m in context.memories if "flowerpot" in m.unit.text)
        assert found.strategy is Strategy.SIMILARITY
        assert found.relevance == pytest.approx(1, abs=0.01)
        assert found.rank is None
        await put(app, *numbered("of another", 50), ref=BankRef("default", "ben"))
        other = await primed(app, BankRef("default", "ben"), cue="The spare key")
        assert all(t.startswith("of another") for t in texts(other))


async def test_relevance_is_the_plain_cosine_for_every_memory(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, *numbered("door", 30))
        assert app.embedder is not None
        cue = await app.embedder.embed_query("some cue")
        context = await primed(app, cue="some cue", max_memories=30)
        vectors = await app.embedder.embed(texts(context))
        cosines = [float(v @ cue) for v in vectors]
        assert [m.relevance for m in context.memories] == pytest.approx(cosines, abs=0.01)
        assert min(cosines) < -0.01  # not cut off at 0
        assert {m.strategy for m in context.memories} == set(Strategy)
        for memory in context.memories:
            importance, recency = 0.5, 1 - (NOW - memory.unit.mentioned_at) / (30 * DAY_US)
            score = 0.5 * max(0, memory.relevance) + 0.2 * recency + 0.2 * importance
            assert memory.score == pytest.approx(score)
        ranked = [m.score for m in context.memories]
        assert ranked == sorted(ranked, reverse=True)


async def test_weights_change_the_order(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, "account history", days=20)
        await put(app, "good morning")
        default = await primed(app, cue="account history")
        old, new = default.memories
        assert texts(default) == ["account history", "good morning"]
        assert old.score == pytest.approx(0.5 * old.relevance + 0.2 / 3 + 0.2 * 0.5)
        recent = await primed(app, cue="account history", weights=SEED_WEIGHTS)
        assert texts(recent) == ["good morning", "account history"]
        cosine = max(0, new.relevance)
        assert recent.memories[0].score == pytest.approx(0.2 * cosine + 0.6 + 0.1 * 0.5)
        assert recent.memories[1].score == pytest.approx(0.2 * old.relevance + 0.6 / 3 + 0.1 * 0.5)


async def test_ties_fall_the_same_way_each_time(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        made = []
        for n in range(12):  # all at the same time
            made += await put(app, f"twin {n}")
        flat = ScoringWeights(w_relevance=0)
        expected = [u.id for u in sorted(made, key=lambda u: u.id, reverse=True)]
        for most in (12, 20, 12):
            context = await primed(app, weights=flat, max_memories=most)
            assert [m.unit.id for m in context.memories] == expected
            assert len({m.score for m in context.memories}) == 1


async def test_blocks_are_recent_ones_then_similar_ones_by_score(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, *numbered("old", 30), days=10)
        await put(app, *numbered("new", 10))
        context = await primed(app, cue="old number 7", order=Order.BLOCKS)
        assert counts(context) == (10, 10)
        first, second = context.memories[:10], context.memories[10:]
        assert [m.unit.text for m in first] == [*numbered("new", 10)]
        assert [m.rank for m in first] == [*range(9, -1, -1)]
        assert {m.strategy for m in second} == {Strategy.SIMILARITY}
        scores = [m.score for m in second]
        assert scores == sorted(scores, reverse=True)
        assert second[0].unit.text == "old number 7"


@pytest.mark.parametrize(("held", "asked", "given"), [(1, 20, 1), (200, 200, 200), (210, 900, 200),
                                                     (5, 0, 0), (5, 1, 1)])  # fmt: skip
@pytest.mark.parametrize("cue", [None, "door number 3"])
async def test_how_many(tmp_path: Path, held: int, asked: int, given: int, cue: str | None) -> None:
    async with opened(tmp_path) as app:
        await put(app, *numbered("door", held))
        context = await primed(app, max_memories=asked, cue=cue)
        assert sum(counts(context)) == given


async def test_nobody_and_an_empty_entity_have_no_context(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        empty = BankRef("default", "empty")
        await app.store.bank_put(empty, {})
        for ref in (empty, BankRef("default", "nobody"), BankRef("other", "ann")):
            for cue in (None, "door"):
                context = await app.prime(ref, PrimeOptions(cue=cue))
                assert counts(context) == (0, 0)
                assert context.degraded is None


async def test_observations_are_primed_and_facts_are_not(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        (source,) = await put(app, "I moved to Oslo")
        (fact,) = await put(app, "moved to Oslo", layer=Layer.FACT, source_id=source.id)
        (seen,) = await put(app, "She lives in Norway", layer=Layer.OBSERVATION,
                            kind=Kind.OBSERVATION)  # fmt: skip
        await app.store.apply(REF, Batch(links=[Link(seen.id, source.id, LinkType.INSIGHT_FROM)]))
        context = await primed(app)
        assert {m.unit.id: m.basis for m in context.memories} == {
            source.id: (),
            seen.id: (source.id,),
        }
        assert fact.id not in context.facts
        told = await primed(app, facts=True)
        assert [f.id for f in told.facts[source.id]] == [fact.id]


async def test_later_ones_fill_up_but_not_as_of_another_time(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, *numbered("past", 3), days=1)
        await put(app, "from a clock that is ahead", days=-2)
        context = await primed(app, max_memories=3)
        assert all(t.startswith("past") for t in texts(context))
        assert len((await primed(app)).memories) == 4
        assert len((await primed(app, now=NOW)).memories) == 3
        early = await primed(app, now=NOW - 2 * DAY_US)
        assert early.memories == ()
        later = await primed(app, now=NOW + 3 * DAY_US)
        assert later.now == NOW + 3 * DAY_US
        assert texts(later)[0] == "from a clock that is ahead"
        assert later.memories[0].score == pytest.approx(0.5 + 0.2 * (1 - 1 / 30) + 0.1)


async def test_many_later_ones_do_not_hide_what_was_said(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, *numbered("past", 30), days=1)
        await put(app, *numbered("ahead", 300), days=-2)
        for _ in range(2):
            context = await primed(app)
            assert all(t.startswith("past") for t in texts(context))
            assert counts(context) == (20, 0)
        assert len((await primed(app, max_memories=200)).memories) == 200


async def test_a_budget_of_tokens(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, "s" * 40, "l" * 400, "m" * 80)  # 10, 100 and 20 tokens
        for tokens, lengths in {29: [80], 30: [80, 40], 119: [80, 40], 120: [80, 400],
                                130: [80, 400, 40], 9: [], 0: []}.items():  # fmt: skip
            context = await primed(app, max_tokens=tokens)
            assert [len(t) for t in texts(context)] == lengths
            assert counts(context) == (len(lengths), 0)
        used = await app.prime(REF, PrimeOptions(max_tokens=29))
        assert len(used.memories) == 1
        await app.store.close()
        await app.store.open()
        uses = {len(m.unit.text): m.unit.access_count for m in (await primed(app)).memories}
        assert uses == {40: 0, 400: 0, 80: 1}


@pytest.mark.parametrize(
    "how",
    [{"tags": ("pinned",)}, {"tags": ("a", "instruction")}, {"metadata": {"pinned": "true"}},
     {"attributes": {"pinned": True}}, {"attributes": {"pinned": "true"}}],
)  # fmt: skip
async def test_pinned_ones_come_first(tmp_path: Path, how: dict[str, object]) -> None:
    async with opened(tmp_path) as app:
        await put(app, "Answer in French", days=400, importance=0.1, **how)
        await put(app, *numbered("recent", 50))
        for options in ({}, {"max_memories": 1}, {"cue": "recent number 4"}, {"max_tokens": 12}):
            context = await primed(app, **options)
            assert texts(context)[0] == "Answer in French"
            assert [m.pinned for m in context.memories] == [
                True,
                *[False] * (len(context.memories) - 1),
            ]
            assert context.memories[0].strategy is Strategy.TEMPORAL
            counts(context)
        await app.forget(REF, unit_ids=[(await primed(app)).memories[0].unit.id])
        assert "Answer in French" not in texts(await primed(app, max_memories=200))


@pytest.mark.parametrize(
    "how",
    [{"tags": ("unpinned", '"pinned', ',"pinned', 'pinned"')}, {"metadata": {"pinned": "no"}},
     {"attributes": {"pinned": False}}, {"attributes": {"pinned": {"a": 1}}},
     {"attributes": {"deep": {"pinned": True}}}, {"note": "pinned"}],
)  # fmt: skip
async def test_others_are_not_pinned(tmp_path: Path, how: dict[str, object]) -> None:
    async with opened(tmp_path) as app:
        await put(app, "Answer in French", days=400, **how)
        await put(app, "recent")
        assert texts(await primed(app)) == ["recent", "Answer in French"]


async def test_what_is_returned_is_from_before_this_use(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        (unit,) = await put(app, "The door is red")
        first = await app.prime(REF)
        assert first.memories[0].unit.access_count == 0
        await app.store.close()  # writes what was counted
        await app.store.open()
        context = await primed(app)
        assert context.memories[0].unit == replace(unit, access_count=1, last_accessed_at=NOW)
        again = await primed(app)
        assert again.memories[0].unit.access_count == 1
        assert again.memories[0].score > first.memories[0].score


async def test_a_use_touches_no_content_and_brings_nothing_back(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        gone, kept = await put(app, "to be forgotten", "to be kept")
        for _ in range(3):
            await app.prime(REF)
        await app.forget(REF, unit_ids=[gone.id])
        revised = replace(kept, text="to be kept, revised", updated_at=NOW)
        await app.prime(REF)
        async with app.store.snapshot(REF) as view:
            (row,) = await view.rows([kept.id])
        await app.store.apply(REF, Batch(units=[replace(row, unit=revised)]))
        await asyncio.gather(*(app.prime(REF) for _ in range(20)))
        await app.store.close()
        await app.store.open()
        context = await primed(app)
        assert texts(context) == ["to be kept, revised"]
        assert context.memories[0].unit.access_count == 24


@pytest.mark.parametrize(
    ("options", "field"),
    [({"max_memories": -1}, "max_memories"), ({"temporal_ratio": 1.5}, "temporal_ratio"),
     ({"window_us": 0}, "recency_window_us"), ({"max_tokens": -1}, "max_tokens"),
     ({"cue": "x" * 9_000}, "similarity_cue")],
)  # fmt: skip
async def test_wrong_options_are_refused(
    tmp_path: Path, options: dict[str, object], field: str
) -> None:
    async with opened(tmp_path) as app:
        with pytest.raises((InvalidInput, TooLarge)) as caught:
            await primed(app, **options)
        assert caught.value.field == field


async def test_without_an_embedder_a_cue_degrades_to_time(tmp_path: Path) -> None:
    async with opened(tmp_path / "a") as app:
        await put(app, "first", "second")
    async with opened(tmp_path / "b", embedder="none") as app:
        context = await primed(app, cue="anything")
        assert context.degraded is not None
        assert counts(context) == (0, 0)
