"""A server that asks for keys: who is refused, what a key may do, and whose memories it reaches.

HEBBS_READING_KEY is of the tenant of HEBBS_API_KEY and may only read; HEBBS_OTHER_KEY is of
another tenant.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import pytest
import pytest_asyncio
from hebbs import (
    HebbsAuthenticationError,
    HebbsClient,
    HebbsInternalError,
    HebbsNotFoundError,
    HebbsPermissionDeniedError,
    HebbsRestClient,
    Memory,
)

Told = Callable[..., Awaitable[list[Memory]]]
READING = os.environ["HEBBS_READING_KEY"]
OTHER = os.environ["HEBBS_OTHER_KEY"]
BAD = "hb_no_key_of_anybody"


@pytest_asyncio.fixture
async def other(address: str) -> AsyncIterator[HebbsClient]:
    async with HebbsClient(address, api_key=OTHER) as made:
        yield made


@pytest_asyncio.fixture
async def reader(address: str) -> AsyncIterator[HebbsClient]:
    async with HebbsClient(address, api_key=READING) as made:
        yield made


class TestAuthentication:
    async def test_no_key(self, address: str) -> None:
        async with HebbsClient(address, api_key="") as nobody:
            with pytest.raises(HebbsAuthenticationError):
                await nobody.recall("anything", top_k=1)
            assert (await nobody.health()).serving

    async def test_a_bad_key(self, address: str) -> None:
        async with HebbsClient(address, api_key=BAD) as stranger:
            with pytest.raises(HebbsAuthenticationError):
                await stranger.recall("anything", top_k=1)
            with pytest.raises(HebbsAuthenticationError):
                await stranger.subscribe("anybody")
            assert (await stranger.health()).serving

    async def test_a_good_key(self, address: str, key: str, entity: str) -> None:
        async with HebbsClient(address, api_key=key) as known:
            assert (await known.health()).serving
            assert (await known.prime(entity)).results == []


class TestPermissions:
    async def test_who_may_read_may_not_write(
        self, client: HebbsClient, reader: HebbsClient, entity: str, told: Told
    ) -> None:
        [made] = await told("To be read.")
        assert (await reader.get(made.id)).content == "To be read."
        assert len((await reader.prime(entity)).results) == 1
        for call in (
            reader.remember("Not to be written.", entity_id=entity),
            reader.revise(made.id, content="Not to be written."),
            reader.forget(entity_id=entity),
            reader.set_policy(max_snapshots_per_memory=1),
            reader.reflect(entity),
            reader.reflect_prepare(entity),
        ):
            with pytest.raises(HebbsPermissionDeniedError):
                await call
        kept = await client.get(made.id)
        assert kept == replace(made, decay_score=kept.decay_score)
        assert kept.decay_score == pytest.approx(0.5, abs=1e-4)

    async def test_over_rest(self, url: str, rest: HebbsRestClient, entity: str) -> None:
        await rest.remember("To be read.", entity_id=entity)
        async with HebbsRestClient(url, api_key=READING) as reading:
            assert (await reading.prime(entity)).count == 1
            with pytest.raises(HebbsInternalError, match="write"):
                await reading.forget(entity_id=entity)
        async with HebbsRestClient(url, api_key=BAD) as stranger:
            assert (await stranger.status()).status == "healthy"
            with pytest.raises(HebbsAuthenticationError):
                await stranger.prime(entity)
        assert (await rest.prime(entity)).count == 1


class TestTenants:
    async def test_one_name_in_two_tenants(
        self, client: HebbsClient, other: HebbsClient, entity: str, told: Told
    ) -> None:
        mine = await told("Of the one.", "Of the one, too.")
        [theirs] = await told_by(other, entity, "Of the other.")
        before = await client.count()
        for who, ids in ((client, {m.id for m in mine}), (other, {theirs.id})):
            for cue in (None, "Of the other."):
                primed = await who.prime(entity, 50, cue)
                assert {r.memory.id for r in primed.results} == ids
            for cue, strategy in (("Of the other.", "similarity"), ("", "temporal")):
                found = await who.recall(cue, [strategy], 50, entity)
                assert {r.memory.id for r in found.results} == ids
        assert (await client.prime(entity)).temporal_count == 2
        with pytest.raises(HebbsNotFoundError):
            await other.get(mine[0].id)
        with pytest.raises(HebbsNotFoundError):
            await other.revise(mine[0].id, content="Taken over.")
        assert (await other.forget(memory_ids=[m.id for m in mine])).forgotten_count == 0
        assert (await other.forget(entity_id=entity)).forgotten_count == 1
        assert await client.count() == before
        assert len((await client.prime(entity)).results) == 2

    async def test_a_tenant_that_is_asked_for_is_not_entered(
        self, address: str, key: str, other: HebbsClient, entity: str
    ) -> None:
        [theirs] = await told_by(other, entity, "Of the other.")
        async with HebbsClient(address, api_key=key, tenant_id="beta") as intruder:
            assert (await intruder.prime(entity)).results == []
            with pytest.raises(HebbsNotFoundError):
                await intruder.get(theirs.id)


async def told_by(client: HebbsClient, entity: str, *texts: str) -> list[Memory]:
    return [await client.remember(text, entity_id=entity) for text in texts]
