"""What the client's own integration tests ask of a server, class by class and test by test.

An empty cue for time alone, a number of results for one strategy, and a memory that is not there to
begin a walk: these its own server does not do, or does not do right.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from uuid import uuid4

import pytest
from hebbs import (
    Edge,
    EdgeType,
    ForgetResult,
    HebbsClient,
    HebbsError,
    HebbsInvalidArgumentError,
    HebbsNotFoundError,
    Memory,
    MemoryKind,
    PrimeOutput,
    RecallOutput,
    RecallStrategyConfig,
    ReflectResult,
    ScoringWeights,
    SubscribePush,
)

Told = Callable[..., Awaitable[list[Memory]]]
NO_ID = bytes(16)


def texts(found: RecallOutput | PrimeOutput) -> list[str]:
    return [result.memory.content for result in found.results]


class TestHealth:
    async def test_it_serves(self, client: HebbsClient) -> None:
        status = await client.health()
        assert status.serving is True
        assert status.version
        assert status.memory_count >= 0
        assert status.uptime_seconds >= 0

    async def test_it_counts(self, client: HebbsClient, told: Told) -> None:
        before = await client.count()
        await told("One more.")
        assert await client.count() == before + 1


class TestRemember:
    async def test_one(self, client: HebbsClient, entity: str) -> None:
        made = await client.remember("The customer works with Salesforce.", entity_id=entity)
        assert made.content == "The customer works with Salesforce."
        assert len(made.id) == 16
        assert (made.entity_id, made.kind, made.importance) == (entity, MemoryKind.EPISODE, 0.5)

    async def test_with_an_importance(self, told: Told) -> None:
        [made] = await told("Two million hang on this.", importance=0.95)
        assert made.importance == pytest.approx(0.95)

    async def test_with_a_context(self, told: Told) -> None:
        context = {"source": "a call", "rep": "alice", "stage": 2, "open": True}
        [made] = await told("Half a million a year.", context=context)
        assert made.context == context

    async def test_with_edges(self, told: Told) -> None:
        [first] = await told("The first meeting.")
        tie = Edge(target_id=first.id, edge_type=EdgeType.FOLLOWED_BY, confidence=0.9)
        [second] = await told("The second meeting.", edges=[tie])
        assert second.id != first.id

    async def test_with_times(self, told: Told) -> None:
        [made] = await told("Said at some time.")
        assert made.created_at == made.updated_at == made.last_accessed_at
        assert made.created_at > 1_600_000_000_000_000  # microseconds

    async def test_ten_in_a_row(self, client: HebbsClient, entity: str) -> None:
        made = [
            await client.remember(f"Wish number {n}.", round(0.5 + n / 20, 2), entity_id=entity)
            for n in range(10)
        ]
        assert len({memory.id for memory in made}) == 10


class TestGet:
    async def test_by_id(self, client: HebbsClient, told: Told) -> None:
        [made] = await told("Get this later.")
        found = await client.get(made.id)
        assert (found.id, found.content) == (made.id, made.content)

    async def test_what_is_not_there(self, client: HebbsClient) -> None:
        with pytest.raises(HebbsNotFoundError):
            await client.get(NO_ID)


class TestRecall:
    async def test_similarity(self, client: HebbsClient, customer: str) -> None:
        found = await client.recall("Which CRM do they use?", ["similarity"], 5, customer)
        assert 0 < len(found.results) <= 5
        assert "CRM" in texts(found)[0]
        scores = [result.score for result in found.results]
        assert scores == sorted(scores, reverse=True)

    async def test_temporal_without_a_cue(self, client: HebbsClient, customer: str) -> None:
        found = await client.recall("", ["temporal"], 5, customer)
        assert len(found.results) == 5
        for result in found.results:
            assert [d.strategy for d in result.strategy_details] == ["temporal"]
            assert result.strategy_details[0].timestamp == result.memory.created_at

    async def test_causal(self, client: HebbsClient, customer: str) -> None:
        found = await client.recall("Salesforce", ["causal"], 5, customer)
        assert found.results == []  # nothing here was said to follow from anything

    async def test_analogical(self, client: HebbsClient, customer: str) -> None:
        found = await client.recall("What do they work with?", ["analogical"], 5, customer)
        assert len(found.results) == 5
        assert found.results[0].strategy_details[0].structural_similarity is not None

    async def test_all_strategies(self, client: HebbsClient, customer: str) -> None:
        four = ["similarity", "temporal", "causal", "analogical"]
        found = await client.recall("Tell me of the customer", four, 5, customer)
        assert len(found.results) == 5
        assert found.strategy_errors == []

    async def test_weights_of_relevance_alone(self, client: HebbsClient, customer: str) -> None:
        found = await client.recall(
            "CRM", ["similarity"], 5, customer, ScoringWeights(1.0, 0.0, 0.0, 0.0)
        )
        for result in found.results:
            relevance = max(d.relevance for d in result.strategy_details)
            assert result.score == pytest.approx(relevance, abs=1e-5)

    async def test_weights_as_a_dict(self, client: HebbsClient, customer: str) -> None:
        weights = {"w_relevance": 0.0, "w_recency": 0.0, "w_importance": 1.0}
        weights["w_reinforcement"] = 0.0
        found = await client.recall("CRM", ["similarity"], 8, customer, weights)
        importances = [result.memory.importance for result in found.results]
        assert importances == sorted(importances, reverse=True)
        assert len(importances) == 8

    async def test_weights_of_the_recent(self, client: HebbsClient, customer: str) -> None:
        weights = ScoringWeights(0.1, 0.8, 0.05, 0.05)
        found = await client.recall("the customer", ["similarity"], 5, customer, weights)
        assert all(0.8 <= result.score <= 1 for result in found.results)

    async def test_weights_of_the_often_used(
        self, client: HebbsClient, entity: str, told: Told
    ) -> None:
        await told("Used by nobody yet.", "Nor was this used.")
        weights = ScoringWeights(0.1, 0.1, 0.1, 0.7)
        found = await client.recall("who used it", ["similarity"], 5, entity, weights)
        assert len(found.results) == 2
        assert all(0 < result.score <= 0.3 for result in found.results)

    async def test_weights_with_an_age(self, client: HebbsClient, customer: str) -> None:
        weights = ScoringWeights(0.5, 0.3, 0.1, 0.1, 3_600_000_000, 100)
        found = await client.recall("the customer", ["similarity"], 5, customer, weights)
        assert len(found.results) == 5

    async def test_details(self, client: HebbsClient, customer: str) -> None:
        found = await client.recall("Salesforce", ["similarity"], 3, customer)
        [detail] = found.results[0].strategy_details
        assert detail.strategy == "similarity"
        assert detail.distance == pytest.approx(1 - detail.relevance, abs=1e-5)

    async def test_errors_are_told(self, client: HebbsClient, customer: str) -> None:
        found = await client.recall("a test", ["similarity"], 3, customer)
        assert found.strategy_errors == []

    async def test_similarity_is_the_default(self, client: HebbsClient, customer: str) -> None:
        found = await client.recall("the customer", top_k=3, entity_id=customer)
        assert len(found.results) == 3
        assert {d.strategy for r in found.results for d in r.strategy_details} == {"similarity"}


class TestRecallAdvanced:
    async def test_a_configuration(
        self, client: HebbsClient, dealing: str, deal: list[Memory]
    ) -> None:
        config = RecallStrategyConfig("similarity", entity_id=dealing)
        found = await client.recall("a new CRM", [config], 5)
        assert {result.memory.id for result in found.results} == {step.id for step in deal}

    async def test_names_still_do(
        self, client: HebbsClient, dealing: str, deal: list[Memory]
    ) -> None:
        found = await client.recall("a new CRM", ["similarity"], 3, dealing)
        assert len(found.results) == 3

    async def test_names_beside_configurations(
        self, client: HebbsClient, dealing: str, deal: list[Memory]
    ) -> None:
        both = ["similarity", RecallStrategyConfig("temporal", entity_id=dealing)]
        found = await client.recall("a new CRM", both, 5, dealing)
        seen = {d.strategy for r in found.results for d in r.strategy_details}
        assert seen == {"similarity", "temporal"}

    async def test_a_breadth_of_search(
        self, client: HebbsClient, dealing: str, deal: list[Memory]
    ) -> None:
        config = RecallStrategyConfig("similarity", ef_search=200)
        found = await client.recall("price", [config], 5, dealing)
        assert len(found.results) == 4

    async def test_a_time_range_without_a_cue(
        self, client: HebbsClient, dealing: str, deal: list[Memory]
    ) -> None:
        span = (deal[1].created_at, deal[3].created_at)
        config = RecallStrategyConfig("temporal", entity_id=dealing, time_range=span)
        found = await client.recall("", [config], 10)
        assert [result.memory.id for result in found.results] == [deal[2].id, deal[1].id]

    async def test_causal_from_a_memory(
        self, client: HebbsClient, dealing: str, deal: list[Memory]
    ) -> None:
        config = RecallStrategyConfig("causal", entity_id=dealing, seed_memory_id=deal[0].id)
        found = await client.recall("", [config], 10)
        assert {r.memory.id for r in found.results} == {step.id for step in deal[1:]}

    async def test_causal_to_a_depth(
        self, client: HebbsClient, dealing: str, deal: list[Memory]
    ) -> None:
        shallow, deep = [
            await client.recall(
                "what followed",
                [RecallStrategyConfig("causal", seed_memory_id=deal[0].id, max_depth=depth)],
                10,
            )
            for depth in (1, 5)
        ]
        assert [r.memory.id for r in shallow.results] == [deal[1].id]
        assert len(deep.results) == 3
        depths = {r.memory.id: r.strategy_details[0].depth for r in deep.results}
        assert depths == {deal[1].id: 1, deal[2].id: 2, deal[3].id: 3}

    async def test_causal_by_types(
        self, client: HebbsClient, dealing: str, deal: list[Memory]
    ) -> None:
        config = RecallStrategyConfig(
            "causal", seed_memory_id=deal[1].id, edge_types=[EdgeType.CAUSED_BY]
        )
        found = await client.recall("what followed", [config], 10)
        assert {r.memory.id for r in found.results} == {deal[2].id, deal[3].id}

    async def test_analogical_between_shape_and_meaning(
        self, client: HebbsClient, dealing: str, deal: list[Memory]
    ) -> None:
        for alpha in (1.0, 0.0, 0.5):
            config = RecallStrategyConfig("analogical", analogical_alpha=alpha)
            found = await client.recall("a deal", [config], 5, dealing)
            assert len(found.results) == 4
            for result in found.results:
                [detail] = result.strategy_details
                meant, built = detail.embedding_similarity or 0, detail.structural_similarity or 0
                mixed = alpha * meant + (1 - alpha) * built
                assert detail.relevance == pytest.approx(max(0, mixed), abs=1e-4)

    async def test_with_the_context_of_the_cue(
        self, client: HebbsClient, dealing: str, deal: list[Memory]
    ) -> None:
        context = {"stage": "proposal", "rep": "bob"}
        found = await client.recall("a deal", ["analogical"], 5, dealing, cue_context=context)
        details = [r.strategy_details[0] for r in found.results]
        assert all(d.structural_similarity and d.structural_similarity > 0.7 for d in details)

    async def test_a_number_for_one_strategy(
        self, client: HebbsClient, dealing: str, deal: list[Memory]
    ) -> None:
        config = RecallStrategyConfig("similarity", top_k=2)
        found = await client.recall("a deal", [config], entity_id=dealing)
        assert len(found.results) == 2

    async def test_causal_from_nowhere(
        self, client: HebbsClient, dealing: str, deal: list[Memory]
    ) -> None:
        config = RecallStrategyConfig("causal", seed_memory_id=NO_ID, entity_id=dealing)
        found = await client.recall("a deal", [config], 5)
        assert found.results == []
        assert [error.strategy for error in found.strategy_errors] == ["causal"]
        assert found.strategy_errors[0].message

    async def test_all_of_it(self, client: HebbsClient, dealing: str, deal: list[Memory]) -> None:
        found = await client.recall(
            "how the deal went",
            [
                RecallStrategyConfig("similarity", ef_search=100),
                RecallStrategyConfig("temporal", entity_id=dealing),
                RecallStrategyConfig(
                    "causal", entity_id=dealing, seed_memory_id=deal[0].id, max_depth=3
                ),
                RecallStrategyConfig("analogical", analogical_alpha=0.7),
            ],
            5,
            dealing,
            ScoringWeights(0.6, 0.2, 0.15, 0.05),
        )
        assert {r.memory.id for r in found.results} == {step.id for step in deal}
        assert found.strategy_errors == []


class TestRevise:
    async def test_content(self, client: HebbsClient, told: Told) -> None:
        [made] = await told("As it was.")
        revised = await client.revise(made.id, content="As it is.")
        assert (revised.content, revised.kind) == ("As it is.", MemoryKind.REVISION)
        assert revised.updated_at >= made.created_at == revised.created_at

    async def test_importance(self, client: HebbsClient, told: Told) -> None:
        [made] = await told("Of no haste.", importance=0.3)
        revised = await client.revise(made.id, importance=0.95)
        assert (revised.importance, revised.content) == (pytest.approx(0.95), "Of no haste.")

    async def test_context(self, client: HebbsClient, told: Told) -> None:
        [made] = await told("In a context.", context={"a": 1})
        assert (await client.revise(made.id, context={"b": 2})).context == {"a": 1, "b": 2}

    async def test_the_id_stays(self, client: HebbsClient, told: Told) -> None:
        [made] = await told("To be revised.")
        revised = await client.revise(made.id, content="Revised.")
        assert revised.id == made.id
        assert (await client.get(made.id)).content == "Revised."


class TestPrime:
    async def test_the_basic_case(self, client: HebbsClient, entity: str, told: Told) -> None:
        made = await told(*(f"Note {n} of the pipeline." for n in range(5)), importance=0.7)
        primed = await client.prime(entity, max_memories=10)
        assert isinstance(primed.temporal_count, int)
        assert isinstance(primed.similarity_count, int)
        assert primed.temporal_count + primed.similarity_count == len(primed.results) == 5
        assert {r.memory.id for r in primed.results} == {memory.id for memory in made}

    async def test_with_a_cue(self, client: HebbsClient, entity: str, told: Told) -> None:
        await told("They run on Kubernetes.", "They rent machines in Virginia.")
        primed = await client.prime(entity, 5, "cloud infrastructure")
        assert len(primed.results) == 2
        assert all(len(result.strategy_details) == 1 for result in primed.results)

    async def test_with_weights(self, client: HebbsClient, entity: str, told: Told) -> None:
        await told(*(f"Weighed memory {n}." for n in range(3)))
        primed = await client.prime(entity, 5, scoring_weights=ScoringWeights(0.3, 0.5, 0.1, 0.1))
        # New, of importance .5, never used; relevances 1, 2/3 and 1/3.
        scores = [result.score for result in primed.results]
        assert scores == pytest.approx([0.85, 0.75, 0.65], abs=0.001)

    async def test_an_unknown_entity(self, client: HebbsClient, entity: str) -> None:
        primed = await client.prime(entity, max_memories=5)
        assert (primed.results, primed.temporal_count, primed.similarity_count) == ([], 0, 0)


class TestForget:
    async def test_by_entity(self, client: HebbsClient, entity: str, told: Told) -> None:
        await told(*(f"Of short life {n}." for n in range(5)))
        before = await client.count()
        gone = await client.forget(entity_id=entity)
        assert isinstance(gone, ForgetResult)
        assert (gone.forgotten_count, gone.truncated) == (5, False)
        assert await client.count() == before - 5

    async def test_by_ids(self, client: HebbsClient, told: Told) -> None:
        one, two, kept = await told("Go, first.", "Go, second.", "Stay.")
        assert (await client.forget(memory_ids=[one.id, two.id])).forgotten_count == 2
        assert (await client.get(kept.id)).content == "Stay."
        with pytest.raises(HebbsNotFoundError):
            await client.get(one.id)

    async def test_what_went_with_it(self, client: HebbsClient, entity: str, told: Told) -> None:
        [root] = await told("The root.")
        await told("The child.", edges=[Edge(target_id=root.id, edge_type=EdgeType.CAUSED_BY)])
        await client.revise(root.id, content="The root, revised.")
        gone = await client.forget(entity_id=entity)
        assert (gone.forgotten_count, gone.cascade_count) == (2, 1)  # with what the root was
        assert gone.tombstone_count >= 2

    async def test_twice(self, client: HebbsClient, entity: str, told: Told) -> None:
        await told("Once only.")
        assert (await client.forget(entity_id=entity)).forgotten_count == 1
        assert (await client.forget(entity_id=entity)).forgotten_count == 0

    async def test_it_is_recalled_no_more(
        self, client: HebbsClient, entity: str, told: Told
    ) -> None:
        await told("A secret that must go.")
        await client.forget(entity_id=entity)
        for cue, strategy in (("A secret that must go.", "similarity"), ("", "temporal")):
            assert (await client.recall(cue, [strategy], 5, entity)).results == []
        assert (await client.prime(entity, 50)).results == []


class TestReflect:
    async def test_an_entity(self, client: HebbsClient, entity: str, told: Told) -> None:
        await told(*(f"Bank {n} asks for the API first." for n in range(15)), importance=0.7)
        counts = await client.reflect(entity_id=entity)
        assert isinstance(counts, ReflectResult)
        assert counts.memories_processed == 15
        assert counts.clusters_found >= 1
        assert counts.insights_created >= 0
        assert counts.clusters_processed >= 0

    async def test_all_there_is(self, client: HebbsClient, told: Told) -> None:
        await told(*(f"Firm {n} asks for single sign-on." for n in range(5)))
        assert (await client.reflect()).memories_processed >= 5

    async def test_insights(self, client: HebbsClient, entity: str, told: Told) -> None:
        await told(*(f"Customer {n} asks where its data lies." for n in range(10)))
        await client.reflect(entity_id=entity)
        for insight in await client.insights(entity_id=entity):
            assert insight.kind is MemoryKind.INSIGHT
            assert insight.entity_id == entity

    async def test_no_more_insights_than_asked_for(
        self, client: HebbsClient, entity: str, told: Told
    ) -> None:
        await told(*(f"Source {n} of a thought." for n in range(10)))
        await client.reflect(entity_id=entity)
        found = await client.insights(entity_id=entity, max_results=2)
        assert len(found) <= 2


class TestSubscribe:
    async def test_what_is_fed_calls_to_mind(
        self, client: HebbsClient, entity: str, told: Told
    ) -> None:
        await told(*(f"Lesson {n} about machine learning." for n in range(3)))
        subscription = await client.subscribe(entity, confidence_threshold=0.1)
        assert subscription.subscription_id > 0
        await subscription.feed("Tell me about machine learning applications")
        pushed: list[SubscribePush] = []
        async with asyncio.timeout(60):
            async for push in subscription:
                pushed.append(push)
                if len(pushed) == 2:
                    break
        await subscription.close()
        assert [push.sequence_number for push in pushed] == [1, 2]
        assert all(push.memory.entity_id == entity for push in pushed)
        assert all(push.confidence >= 0.1 for push in pushed)

    async def test_it_is_closed(self, client: HebbsClient, entity: str) -> None:
        subscription = await client.subscribe(entity)
        await subscription.close()
        with pytest.raises(HebbsNotFoundError):
            await subscription.feed("Still there?")


class TestSetPolicy:
    async def test_all_of_it(self, client: HebbsClient) -> None:
        assert await client.set_policy(5, 0.01, 30.0) is True

    async def test_a_part(self, client: HebbsClient) -> None:
        assert await client.set_policy(max_snapshots_per_memory=10) is True


class TestEndToEnd:
    async def test_a_life(self, client: HebbsClient, entity: str) -> None:
        assert (await client.health()).serving
        first = await client.remember(
            "They look for a memory for their agents.", 0.9, {"rep": "alice"}, entity
        )
        tie = Edge(target_id=first.id, edge_type=EdgeType.FOLLOWED_BY)
        second = await client.remember("Their CTO likes it.", 0.85, None, entity, [tie])
        third = await client.remember("Money is there by June.", 0.7, entity_id=entity)
        assert (await client.get(first.id)).content == first.content
        assert (await client.revise(second.id, importance=0.95)).importance >= 0.9
        ids = {first.id, second.id, third.id}
        weights = ScoringWeights(0.6, 0.2, 0.15, 0.05)
        four = ["similarity", "temporal", "causal", "analogical"]
        for cue, strategies in (("a memory", ["similarity"]), ("", ["temporal"]), ("it", four)):
            found = await client.recall(cue, strategies, 5, entity, weights)
            assert {result.memory.id for result in found.results} == ids
        primed = await client.prime(entity, 10, "how it goes with the agents")
        assert {result.memory.id for result in primed.results} == ids
        await client.reflect(entity_id=entity)
        await client.insights(entity_id=entity, max_results=5)
        before = await client.count()
        gone = await client.forget(entity_id=entity)
        assert gone.forgotten_count == 3
        assert await client.count() < before
        assert (await client.recall("a memory", ["similarity"], entity_id=entity)).results == []


class TestErrors:
    async def test_what_is_not_there(self, client: HebbsClient) -> None:
        with pytest.raises(HebbsNotFoundError):
            await client.get(uuid4().bytes)
        with pytest.raises(HebbsInvalidArgumentError):
            await client.recall("", ["similarity"])

    async def test_nobody_answers(self) -> None:
        async with HebbsClient("localhost:1", api_key="") as client:
            with pytest.raises(HebbsError):
                await client.health()
