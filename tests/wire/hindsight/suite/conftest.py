"""The client under test, in its blocking and in its async form, and a bank for each test.

HINDSIGHT_API_URL says where the server is, as it does for the clients' own tests.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from hindsight_client import Hindsight

WAIT_S = 60.0
_ENDED = {"completed", "failed", "cancelled", "not_found"}
URL = os.environ.get("HINDSIGHT_API_URL", "http://localhost:8888")

Run = Callable[[Any], Any]


@pytest.fixture
def url() -> str:
    return URL


@pytest.fixture
def bank() -> str:
    return f"client-{uuid4()}"


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """The loop that the blocking client finds as the current one."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield made
    asyncio.set_event_loop(None)
    made.close()


@pytest.fixture
def client(loop: asyncio.AbstractEventLoop) -> Iterator[Hindsight]:
    with Hindsight(base_url=URL, timeout=WAIT_S) as made:
        yield made


@pytest.fixture
def run(loop: asyncio.AbstractEventLoop) -> Run:
    """Run a call of the generated classes, which are async only, beside the blocking client."""
    return loop.run_until_complete


@pytest_asyncio.fixture
async def aclient() -> AsyncIterator[Hindsight]:
    made = Hindsight(base_url=URL, timeout=WAIT_S)
    yield made
    await made.aclose()


@pytest.fixture
def finished(client: Hindsight, run: Run) -> Callable[[str, str], Any]:
    """Wait for an operation to end and return its status."""

    async def ended(bank: str, operation: str) -> Any:
        while True:
            status = await client.operations.get_operation_status(bank, operation)
            if status.status in _ENDED:
                return status
            await asyncio.sleep(0.05)

    return lambda bank, operation: run(asyncio.wait_for(ended(bank, operation), WAIT_S))


@pytest.fixture
def plain() -> Callable[[Any], dict[str, Any]]:
    """Return a row as a dict: older clients give one, newer ones a model."""
    return lambda row: row if isinstance(row, dict) else row.to_dict()


@pytest.fixture
def garden(client: Hindsight, bank: str) -> str:
    """A bank that knows a few things."""
    client.retain_batch(
        bank,
        [
            {
                "content": "My neighbour Marta grows tomatoes and basil on her roof in Lisbon.",
                "context": "a visit",
                "metadata": {"source": "diary"},
                "tags": ["plants"],
                "timestamp": "2024-04-02T09:00:00Z",
            },
            {
                "content": "Her brother Rui repairs old radios and sells them at the market.",
                "tags": ["work"],
            },
            {"content": "In September, Marta and Rui will cycle to Porto."},
        ],
        document_id="notes",
    )
    return bank
