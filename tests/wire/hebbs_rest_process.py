"""Runs the official `HebbsRestClient` against a server.

Arguments: the server's address, and a folder of packages that has aiohttp. It is run by the Python
of `.venv/clients/hebbs-*`, where nothing of ours is installed, and aiohttp, which the client leaves
to its users, is not either.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from typing import Any
from uuid import uuid4

sys.path.append(sys.argv[2])

from hebbs.exceptions import HebbsInternalError
from hebbs.rest_client import HebbsRestClient


async def refusal(call: Awaitable[Any]) -> str:
    """Return why a call was refused."""
    try:
        await call
    except HebbsInternalError as error:
        return str(error)
    raise AssertionError("it was not refused")


async def main(address: str) -> None:
    entity = f"rest-{uuid4()}"
    async with HebbsRestClient(address, api_key="any") as hb:
        status = await hb.status()
        assert (status.status, status.engine) == ("healthy", "remembrancer")
        assert status.version
        made = await hb.remember(
            "The crane is serviced in May.", importance=0.8, entity_id=entity, context={"bay": 4}
        )
        assert (len(made.memory_id), made.importance, made.kind) == (32, 0.8, "episode")
        assert (made.entity_id, made.context, made.file_path) == (entity, {"bay": 4}, None)
        assert 0.7 < made.decay_score <= 0.8
        assert made.created_at_us == made.last_accessed_at_us > 1_600_000_000_000_000
        await hb.remember("The gate squeaks.", entity_id=entity)
        loose = await hb.remember("Nobody in particular.")
        assert loose.entity_id is None

        for strategy in (None, "similarity", "temporal"):
            found = await hb.recall("crane service", entity_id=entity, strategy=strategy)
            assert found.count == len(found.memories) == 2
            assert {m.content for m in found.results} >= {made.content}
            assert all(m.score > 0 and m.memory_id for m in found.results)
        first = (await hb.recall("The crane is serviced in May.", top_k=1)).results
        assert [m.memory_id for m in first] == [made.memory_id]
        assert "similarity" in await refusal(hb.recall("x", strategy="guess"))

        primed = await hb.prime(entity, similarity_cue="crane")
        assert primed.count == len(primed.memories) == 2
        assert "The gate squeaks." in primed.text

        insights = await hb.insights(entity)
        assert (insights.insights, insights.count) == ([], 0)

        assert (await hb.forget(ids=[loose.memory_id])).forgotten_count == 1
        assert (await hb.forget(entity_id=entity, ids=[made.memory_id])).forgotten_count == 1
        assert (await hb.forget(entity_id=entity)).forgotten_count == 1
        assert (await hb.forget(entity_id=entity)).forgotten_count == 0
        assert (await hb.prime(entity)).results == []
        assert "criterion" in await refusal(hb.forget())


asyncio.run(main(sys.argv[1]))
print("all of it")
