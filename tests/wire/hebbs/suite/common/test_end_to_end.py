"""What the client's end-to-end script and its demonstrations ask of a server, section by section.

The script's section on authentication is in `guarded`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hebbs import (
    Edge,
    EdgeType,
    HebbsClient,
    HebbsConnectionError,
    HebbsNotFoundError,
    HebbsUnavailableError,
    Memory,
    MemoryKind,
    ProducedInsightInput,
    RecallStrategyConfig,
    ScoringWeights,
)

Told = Callable[..., Awaitable[list[Memory]]]


class TestConnectivity:
    async def test_health(self, client: HebbsClient) -> None:
        status = await client.health()
        assert status.serving
        assert status.version

    async def test_count(self, client: HebbsClient, told: Told) -> None:
        before = await client.count()
        await told("First.", "Second.", "Third.")
        assert await client.count() == before + 3


class TestRemember:
    async def test_with_all_that_belongs_to_it(self, client: HebbsClient, entity: str) -> None:
        context = {"industry": "technology", "tool": "salesforce"}
        made = await client.remember("They use Salesforce.", 0.8, context, entity)
        assert made.id
        assert (made.content, made.entity_id) == ("They use Salesforce.", entity)
        assert made.importance == pytest.approx(0.8, abs=0.01)
        assert (made.context, made.kind) == (context, MemoryKind.EPISODE)

    async def test_with_an_edge(self, client: HebbsClient, told: Told) -> None:
        [first] = await told("Their CTO asked about the API.")
        tie = Edge(target_id=first.id, edge_type=EdgeType.FOLLOWED_BY, confidence=0.95)
        [second] = await told("They want a closer look.", edges=[tie])
        near = RecallStrategyConfig("causal", seed_memory_id=first.id)
        walked = await client.recall("", [near])
        assert [result.memory.id for result in walked.results] == [second.id]


class TestGet:
    async def test_without_an_entity(self, client: HebbsClient) -> None:
        made = await client.remember("Of nobody, to be got.", 0.5)
        found = await client.get(made.id)
        assert (found.content, found.entity_id) == ("Of nobody, to be got.", None)
        assert (await client.forget(memory_ids=[made.id])).forgotten_count == 1


class TestRecall:
    async def test_similarity_over_all_entities(
        self, client: HebbsClient, sales: list[Memory]
    ) -> None:
        found = await client.recall("Which CRM does the customer use?", top_k=5)
        assert len(found.results) == 5
        assert "Salesforce" in found.results[0].memory.content

    async def test_two_strategies(self, client: HebbsClient, customer: str) -> None:
        found = await client.recall("What do they do?", ["similarity", "temporal"], 5, customer)
        assert len(found.results) == 5

    async def test_weights(self, client: HebbsClient, customer: str) -> None:
        recent, relevant = ScoringWeights(0.1, 0.7, 0.1, 0.1), ScoringWeights(0.8, 0.05, 0.1, 0.05)
        for weights in (recent, relevant):
            found = await client.recall("the contract", None, 5, customer, weights)
            assert len(found.results) == 5
            assert found.results[0].score <= 1
        assert found.results[0].memory.content == "The contract ends in the autumn."

    async def test_weights_as_a_dict(self, client: HebbsClient, customer: str) -> None:
        weights = {"w_relevance": 0.9, "w_recency": 0.05, "w_importance": 0.05}
        weights["w_reinforcement"] = 0.0
        found = await client.recall("the CRM", None, 3, customer, weights)
        assert len(found.results) == 3


class TestRecallAdvanced:
    async def test_a_configuration(
        self, client: HebbsClient, customer: str, sales: list[Memory]
    ) -> None:
        config = RecallStrategyConfig("similarity", entity_id=customer, top_k=3, ef_search=64)
        found = await client.recall("who decides", [config])
        assert len(found.results) == 3

    async def test_a_name_beside_a_configuration(
        self, client: HebbsClient, customer: str, sales: list[Memory]
    ) -> None:
        config = RecallStrategyConfig("similarity", top_k=3)
        found = await client.recall("who decides", ["temporal", config], 5, customer)
        assert len(found.results) == 5

    async def test_causal(self, client: HebbsClient, dealing: str, deal: list[Memory]) -> None:
        [begin] = (await client.recall("a new CRM", ["similarity"], 1, dealing)).results
        config = RecallStrategyConfig(
            "causal",
            seed_memory_id=begin.memory.id,
            max_depth=3,
            edge_types=[EdgeType.FOLLOWED_BY, EdgeType.CAUSED_BY],
        )
        found = await client.recall("it", [config])
        assert {r.memory.id for r in found.results} == {d.id for d in deal} - {begin.memory.id}
        assert found.strategy_errors == []

    async def test_analogical(self, client: HebbsClient, dealing: str, deal: list[Memory]) -> None:
        config = RecallStrategyConfig("analogical", analogical_alpha=0.7)
        context = {"rep": "carol", "stage": "evaluation"}
        found = await client.recall("a deal", [config], 5, dealing, cue_context=context)
        assert {r.memory.id for r in found.results} == {d.id for d in deal}


class TestPrime:
    async def test_with_a_cue(
        self, client: HebbsClient, customer: str, sales: list[Memory]
    ) -> None:
        primed = await client.prime(customer, 20, "what they think of rivals")
        assert primed.temporal_count + primed.similarity_count == len(primed.results) == 8
        assert len({result.memory.id for result in primed.results}) == 8

    async def test_with_weights(
        self, client: HebbsClient, customer: str, sales: list[Memory]
    ) -> None:
        weights = ScoringWeights(0.3, 0.5, 0.1, 0.1)
        primed = await client.prime(
            customer, similarity_cue="what they think of rivals", scoring_weights=weights
        )
        scores = [result.score for result in primed.results]
        assert scores == sorted(scores, reverse=True)


class TestRevise:
    async def test_all_at_once(self, client: HebbsClient, told: Told) -> None:
        [made] = await told("Two hundred seats.", importance=0.7, context={"stage": "evaluation"})
        context = {"seats": "350", "stage": "negotiation"}
        revised = await client.revise(made.id, "Three hundred and fifty seats.", 0.95, context)
        assert revised.content == "Three hundred and fifty seats."
        assert revised.importance == pytest.approx(0.95)
        assert revised.context == context


class TestSetPolicy:
    async def test_all_of_it(self, client: HebbsClient) -> None:
        assert await client.set_policy(5, 0.01, 30.0)


class TestSubscribe:
    async def test_from_first_to_last(
        self, client: HebbsClient, customer: str, sales: list[Memory]
    ) -> None:
        subscription = await client.subscribe(customer, confidence_threshold=0.3)
        await subscription.feed("The contract ends in the autumn.")
        [push] = await subscription.listen(timeout=60, max_pushes=1)
        assert push.confidence >= 0.3
        assert push.memory.id in {memory.id for memory in sales}
        await subscription.close()


class TestForget:
    async def test_by_id(self, client: HebbsClient, told: Told) -> None:
        [made] = await told("For a moment.")
        before = await client.count()
        gone = await client.forget(memory_ids=[made.id])
        assert (gone.forgotten_count, gone.tombstone_count) == (1, 1)
        assert await client.count() == before - 1

    async def test_by_entity(self, client: HebbsClient, entity: str, told: Told) -> None:
        await told("For a moment, first.", "For a moment, second.")
        assert (await client.forget(entity_id=entity)).forgotten_count == 2


class TestErrors:
    async def test_what_is_not_there(self, client: HebbsClient) -> None:
        with pytest.raises(HebbsNotFoundError):
            await client.get(bytes(16))

    async def test_nobody_answers(self) -> None:
        async with HebbsClient("localhost:1", api_key="hb_test") as client:
            with pytest.raises((HebbsConnectionError, HebbsUnavailableError)):
                await client.health()


class TestReflect:
    async def test_of_all_there_is(self, client: HebbsClient) -> None:
        made = await asyncio.gather(
            *(client.remember(f"Firm {n} renewed its contract.", 0.8) for n in range(10))
        )
        counts = await client.reflect()
        assert counts.memories_processed >= 10
        assert counts.clusters_found >= 1
        assert all(i.kind is MemoryKind.INSIGHT for i in await client.insights(max_results=20))
        await client.forget(memory_ids=[memory.id for memory in made])

    async def test_of_an_entity_in_two_steps(
        self, client: HebbsClient, entity: str, told: Told
    ) -> None:
        made = await told(*(f"The printer jams on day {n}." for n in range(6)))
        prepared = await client.reflect_prepare(entity)
        assert prepared.memories_processed == 6
        [cluster] = prepared.clusters
        assert sorted(cluster.memory_ids) == sorted(memory.id.hex() for memory in made)
        thought = ProducedInsightInput("The printer is worn out.", 0.9, cluster.memory_ids)
        done = await client.reflect_commit(prepared.session_id, [thought])
        assert done.insights_created == 1
        [insight] = await client.insights(entity, 2)
        assert (insight.content, insight.kind) == (thought.content, MemoryKind.INSIGHT)
        assert sorted(insight.source_memory_ids) == sorted(memory.id for memory in made)


class TestPersistence:
    async def test_another_connection_finds_it(
        self, client: HebbsClient, customer: str, address: str, sales: list[Memory], key: str
    ) -> None:
        async with HebbsClient(address, api_key=key) as other:
            assert await other.count() >= 8
            found = await other.recall("Salesforce", top_k=3, entity_id=customer)
            assert len(found.results) == 3


class TestDemonstrations:
    async def test_erasure_on_demand(self, client: HebbsClient, entity: str, told: Told) -> None:
        before = await client.count()
        await told(*(f"Item {n} of a person's file." for n in range(20)))
        assert await client.count() == before + 20
        assert (await client.recall("a person's file", ["similarity"], 5, entity)).results
        assert (await client.forget(entity_id=entity)).forgotten_count == 20
        assert (await client.recall("a person's file", ["similarity"], 5, entity)).results == []
        assert (await client.prime(entity, 50)).results == []
        assert await client.count() == before

    async def test_five_sessions(self, client: HebbsClient, entity: str, told: Told) -> None:
        for session in range(5):
            await told(*(f"Word {n} of session {session}." for n in range(2)))
            found = await client.recall("", ["temporal"], 50, entity)
            assert len(found.results) == 2 * (session + 1)
        assert len((await client.prime(entity, 50)).results) == 10

    async def test_entities_side_by_side(
        self, client: HebbsClient, entity: str, told: Told
    ) -> None:
        names = [f"{entity}-{name}" for name in ("alpha", "beta", "gamma")]
        for name in names:
            await told(*(f"Thing {n} of {name}." for n in range(4)), entity_id=name)
        for name in names:
            for cue in (None, "Thing 1"):
                primed = await client.prime(name, 50, cue)
                assert {r.memory.entity_id for r in primed.results} == {name}
                assert len(primed.results) == 4
        await client.forget(entity_id=names[0])
        left = [len((await client.prime(name, 50)).results) for name in names]
        assert left == [0, 4, 4]

    async def test_a_short_life(self, client: HebbsClient, entity: str, told: Told) -> None:
        await told("They prefer mail.", "They are in Oslo.")
        primed = await client.prime(entity)
        assert {r.memory.content for r in primed.results} == {
            "They prefer mail.",
            "They are in Oslo.",
        }
        await told(*(f"Point {n}." for n in range(5)))
        assert (await client.forget(entity_id=entity)).forgotten_count == 7
        assert (await client.prime(entity)).results == []
