"""The client under test, over gRPC and over REST, and an entity for each test.

HEBBS_ADDRESS and HEBBS_REST_URL say where the server is; HEBBS_API_KEY is the key to call with,
and empty for a server that asks for none.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from hebbs import Edge, EdgeType, HebbsClient, HebbsRestClient, Memory

ADDRESS = os.environ.get("HEBBS_ADDRESS", "localhost:6380")
REST_URL = os.environ.get("HEBBS_REST_URL", "http://localhost:6381")
KEY = os.environ.get("HEBBS_API_KEY", "")

Told = Callable[..., Awaitable[list[Memory]]]

SALES = (
    ("The customer keeps its contacts in Salesforce, its CRM.", 0.9),
    ("It has five hundred people in three offices.", 0.7),
    ("It spends about two million a year on IT.", 0.85),
    ("Jane Miller leads sales and decides.", 0.95),
    ("HubSpot was looked at last year and turned down.", 0.6),
    ("Sales and marketing do not see each other's data.", 0.8),
    ("The contract ends in the autumn.", 0.75),
    ("A rival of theirs works with Salesforce as well.", 0.5),
)


DEAL = (
    ("We met to talk about a new CRM.", "discovery", None),
    ("They have half a million to replace the old one.", "qualification", EdgeType.FOLLOWED_BY),
    ("A proposal for two hundred thousand a year was sent.", "proposal", EdgeType.CAUSED_BY),
    ("They ask for a fifth off the price.", "negotiation", EdgeType.CAUSED_BY),
)


@pytest.fixture
def address() -> str:
    return ADDRESS


@pytest.fixture
def url() -> str:
    return REST_URL


@pytest.fixture
def key() -> str:
    return KEY


@pytest.fixture
def entity() -> str:
    return f"client-{uuid4()}"


@pytest_asyncio.fixture
async def client() -> AsyncIterator[HebbsClient]:
    async with HebbsClient(ADDRESS, api_key=KEY) as made:
        yield made


@pytest_asyncio.fixture
async def rest() -> AsyncIterator[HebbsRestClient]:
    async with HebbsRestClient(REST_URL, api_key=KEY) as made:
        yield made


@pytest.fixture
def told(client: HebbsClient, entity: str) -> Told:
    """Remember texts at once, for the test's entity, and return what was made in their order."""

    async def tell(*texts: str, **more: Any) -> list[Memory]:
        calls = (client.remember(text, **{"entity_id": entity, **more}) for text in texts)
        return list(await asyncio.gather(*calls))

    return tell


@pytest_asyncio.fixture
async def sales(client: HebbsClient, known: dict[str, list[Memory]]) -> list[Memory]:
    """What is known of a customer; told once, and only read."""
    if "sales" not in known:
        named = f"client-{uuid4()}"
        calls = (client.remember(t, importance=i, entity_id=named) for t, i in SALES)
        known["sales"] = list(await asyncio.gather(*calls))
    return known["sales"]


@pytest_asyncio.fixture
async def deal(client: HebbsClient, known: dict[str, list[Memory]]) -> list[Memory]:
    """Four steps of a deal, each tied to the one before; told once, and only read."""
    if "deal" not in known:
        named, made = f"client-{uuid4()}", known.setdefault("deal", [])
        for text, stage, tie in DEAL:
            edges = [Edge(target_id=made[-1].id, edge_type=tie)] if tie else []
            context = {"stage": stage, "rep": "alice"}
            made.append(await client.remember(text, 0.8, context, named, edges))
    return known["deal"]


@pytest.fixture
def customer(sales: list[Memory]) -> str:
    """The entity of `sales`."""
    return str(sales[0].entity_id)


@pytest.fixture
def dealing(deal: list[Memory]) -> str:
    """The entity of `deal`."""
    return str(deal[0].entity_id)


@pytest.fixture(scope="session")
def known() -> dict[str, list[Memory]]:
    return {}
