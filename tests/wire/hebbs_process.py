"""Runs the official `hebbs` client against a server; its address is the only argument.

It is run by the Python of `.venv/clients/hebbs-*`, where nothing of ours is installed.
"""

from __future__ import annotations

import asyncio
import sys
from uuid import uuid4

from hebbs import HebbsClient
from hebbs.exceptions import HebbsInvalidArgumentError, HebbsNotFoundError
from hebbs.types import Edge, EdgeType, MemoryKind, ProducedInsightInput, RecallStrategyConfig


async def memories(h: HebbsClient, entity: str) -> None:
    made = await h.remember(
        "Acme asked for a quote.", importance=0.8, context={"stage": 2}, entity_id=entity
    )
    assert (len(made.id), made.entity_id, made.kind) == (16, entity, MemoryKind.EPISODE)
    assert abs(made.importance - 0.8) < 0.01
    assert made.context == {"stage": 2.0}
    assert (await h.get(made.id)).content == "Acme asked for a quote."
    edges = [Edge(target_id=made.id, edge_type=EdgeType.CAUSED_BY, confidence=0.9)]
    reply = await h.remember("A quote was sent.", entity_id=entity, edges=edges)
    revised = await h.revise(reply.id, content="A lower quote was sent.", importance=0.9)
    assert (revised.id, revised.kind) == (reply.id, MemoryKind.REVISION)
    walked = await h.recall("", [RecallStrategyConfig("causal", seed_memory_id=made.id)])
    assert [r.memory.id for r in walked.results] == [reply.id]
    assert walked.results[0].strategy_details[0].depth == 1
    lost = await h.recall("x", [RecallStrategyConfig("causal", seed_memory_id=bytes(16))])
    assert lost.results == []
    assert lost.strategy_errors[0].strategy == "causal"
    span = (made.created_at, reply.created_at + 1)
    within = [RecallStrategyConfig("temporal", time_range=span)]
    assert len((await h.recall("", within, entity_id=entity)).results) == 2
    both = await h.recall("A quote", ["similarity", "temporal"], entity_id=entity, top_k=1)
    assert len(both.results) == 1
    for content, importance in (("", 0.5), ("x", 2.0)):
        try:
            await h.remember(content, importance=importance)
        except HebbsInvalidArgumentError:
            continue
        raise AssertionError("what cannot be remembered was taken")
    try:
        await h.get(bytes(16))
    except HebbsNotFoundError:
        return
    raise AssertionError("what is not there was found")


async def primes(h: HebbsClient, entity: str) -> None:
    for number in range(5):
        await h.remember(f"Call number {number} with the customer.", entity_id=entity)
    plain = await h.prime(entity, max_memories=10)
    assert len(plain.results) == plain.temporal_count + plain.similarity_count == 5
    weights = {"w_relevance": 0.3, "w_recency": 0.5, "w_importance": 0.1, "w_reinforcement": 0.1}
    cued = await h.prime(entity, 4, "the customer", weights)
    assert len(cued.results) == 4
    assert all(0 < result.score <= 1 for result in cued.results)
    assert len((await h.prime("nobody at all")).results) == 0
    before = await h.count()
    gone = await h.forget(entity_id=entity)
    assert (gone.forgotten_count, gone.truncated) == (5, False)
    assert (await h.forget(entity_id=entity)).forgotten_count == 0
    assert await h.count() == before - 5
    assert (await h.prime(entity, 50)).results == []


async def streams(h: HebbsClient, entity: str) -> None:
    for place in ("first", "second", "third"):
        await h.remember("the fleet has left", entity_id=entity, context={"place": place})
    subscription = await h.subscribe(entity, confidence_threshold=0.1)
    assert subscription.subscription_id > 0
    for word in "the fleet has left".split():
        await subscription.feed(word)
    pushed = await subscription.listen(timeout=20, max_pushes=3)
    assert len({push.memory.id for push in pushed}) == 3
    assert all(push.confidence >= 0.1 for push in pushed)
    await subscription.close()


async def insights(h: HebbsClient, entity: str) -> None:
    for number in range(6):
        await h.remember("The printer jams.", entity_id=entity, context={"n": number})
    assert (await h.reflect(entity)).clusters_found == 1
    prepared = await h.reflect_prepare(entity)
    made = ProducedInsightInput(
        "The printer is worn out.", 0.9, list(prepared.clusters[0].memory_ids)
    )
    done = await h.reflect_commit(prepared.session_id, [made])
    assert done.insights_created == 1
    found = await h.insights(entity, max_results=2)
    assert [each.kind for each in found] == [MemoryKind.INSIGHT]
    assert len(found[0].source_memory_ids) == 6


async def main(address: str) -> None:
    async with HebbsClient(address, api_key="") as h:
        assert (await h.health()).serving
        assert await h.set_policy(max_snapshots_per_memory=5)
        for part in (memories, primes, streams, insights):
            await part(h, f"{part.__name__}-{uuid4()}")


asyncio.run(main(sys.argv[1]))
print("all of it")
