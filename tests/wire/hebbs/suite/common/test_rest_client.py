"""The client's REST form: its six calls, and what it says of errors."""

from __future__ import annotations

import pytest
from hebbs import HebbsInternalError, HebbsRestClient


class TestRestClient:
    async def test_status(self, rest: HebbsRestClient) -> None:
        told = await rest.status()
        assert (told.status, told.engine) == ("healthy", "remembrancer")
        assert told.version

    async def test_remember(self, rest: HebbsRestClient, entity: str) -> None:
        made = await rest.remember("The crane is serviced in May.", 0.8, entity, {"bay": 4})
        assert (len(made.memory_id), made.importance, made.kind) == (32, 0.8, "episode")
        assert (made.entity_id, made.context, made.file_path) == (entity, {"bay": 4}, None)
        assert 0.7 < made.decay_score <= 0.8
        assert made.created_at_us == made.last_accessed_at_us > 1_600_000_000_000_000
        assert (await rest.remember("Of nobody.")).entity_id is None
        with pytest.raises(HebbsInternalError, match="content must not be empty"):
            await rest.remember("", entity_id=entity)

    async def test_recall(self, rest: HebbsRestClient, entity: str) -> None:
        crane = await rest.remember("The crane is serviced in May.", entity_id=entity)
        await rest.remember("The gate squeaks.", entity_id=entity)
        for strategy in (None, "similarity", "temporal"):
            found = await rest.recall("crane service", entity_id=entity, strategy=strategy)
            assert found.count == len(found.memories) == 2
            assert all(m.score > 0 and m.memory_id for m in found.results)
        best = await rest.recall("When is the crane serviced?", top_k=1, entity_id=entity)
        assert [m.memory_id for m in best.results] == [crane.memory_id]
        with pytest.raises(HebbsInternalError, match="similarity"):
            await rest.recall("x", strategy="guess")

    async def test_prime(self, rest: HebbsRestClient, entity: str) -> None:
        for number in range(33):
            await rest.remember(f"Gate {number} squeaks.", entity_id=entity)
        assert (await rest.prime(entity)).count == 30  # the client's own default
        primed = await rest.prime(entity, max_memories=50, similarity_cue="gate")
        assert primed.count == len(primed.memories) == 33
        assert "Gate 7 squeaks." in primed.text
        assert {m.entity_id for m in primed.results} == {entity}
        assert (await rest.prime(f"{entity}-unknown")).results == []

    async def test_insights(self, rest: HebbsRestClient, entity: str) -> None:
        told = await rest.insights(entity)
        assert (told.insights, told.count) == ([], 0)

    async def test_forget(self, rest: HebbsRestClient, entity: str) -> None:
        one, two = [await rest.remember(f"To go {n}.", entity_id=entity) for n in range(2)]
        assert (await rest.forget(ids=[one.memory_id])).forgotten_count == 1
        assert (await rest.forget(entity_id=entity, ids=[two.memory_id])).forgotten_count == 1
        await rest.remember("To go, too.", entity_id=entity)
        assert (await rest.forget(entity_id=entity)).forgotten_count == 1
        assert (await rest.forget(entity_id=entity)).forgotten_count == 0
        assert (await rest.prime(entity)).results == []
        with pytest.raises(HebbsInternalError, match="criterion"):
            await rest.forget()
