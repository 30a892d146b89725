"""`remembrancer.Client` and `AsyncClient` against a running server, also a failing one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from wire_kit import Server

import remembrancer
from remembrancer import AsyncClient, Client, InvalidInput, NotFound
from remembrancer.nouns.errors import RateLimited, StoreBusy, Unauthenticated

KEY = "rmb_" + "c" * 43


@pytest.fixture
def client(server: Server, bank: str) -> Iterator[Client]:
    with Client(server.url, bank=bank) as made:
        yield made


class Flaky(httpx.AsyncBaseTransport):
    """Loses the answers of the first requests, after the server has carried them out."""

    def __init__(self, losses: int) -> None:
        self._inner = httpx.AsyncHTTPTransport()
        self._losses = losses
        self.sent: list[bytes] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await self._inner.handle_async_request(request)
        await answer.aread()
        self.sent.append(request.content)
        if len(self.sent) <= self._losses:
            raise httpx.ReadError("lost", request=request)
        return answer

    async def aclose(self) -> None:
        await self._inner.aclose()


class Fixed(httpx.AsyncBaseTransport):
    """Answers with what it was told, in turn."""

    def __init__(self, *answers: httpx.Response) -> None:
        self._answers = list(answers)
        self.count = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.count += 1
        return self._answers.pop(0)


def test_the_verbs(client: Client) -> None:
    said = datetime(2026, 5, 1, 9, tzinfo=UTC)
    kept = client.retain("Alice moved to Berlin yesterday", timestamp=said, tags=["home"])
    assert kept.success
    assert kept.items_count == 1
    [found] = client.recall("Where does Alice live?").results
    assert found.text == "Alice moved to Berlin yesterday"
    assert found.mentioned_at == said
    assert found.occurred_start == datetime(2026, 4, 30, tzinfo=UTC)
    assert found.tags == ["home"]
    assert "Berlin" in client.reflect("Where does Alice live?").text
    assert "Alice moved to Berlin" in (client.prime("Alice").text or "")
    assert client.forget([found.id]).forgotten_count >= 1
    assert client.recall("Where does Alice live?").results == []
    assert client.status()["version"] == remembrancer.__version__


def test_what_is_queued_is_waited_for(client: Client) -> None:
    kept = client.retain("Bob went hiking", background=True)
    assert kept.operation_id
    assert client.wait(kept.operation_id).status == "completed"
    assert client.recall("hiking").results


def test_reminders(client: Client) -> None:
    made = client.remind("say hello", triggerEvent="greeted", importance=0.9)
    assert made.trigger_type == "event_based"
    [due] = client.check(["greeted"])
    assert due.id == made.id
    client.ack(due)
    assert client.check() == []
    client.remind("stand up", at="in 1 second")
    with closing(client.due()) as events:
        event = next(events)
    assert event["content"] == "stand up"
    client.ack(event["occurrence_id"])


def test_errors_are_the_librarys(client: Client, server: Server) -> None:
    with pytest.raises(InvalidInput, match="query"):
        client.recall("")
    with pytest.raises(InvalidInput, match="zone"):
        client.retain("x", timestamp=datetime(2026, 1, 1))
    with pytest.raises(InvalidInput, match="forget"):
        client.forget()
    with pytest.raises(NotFound):
        client.request("GET", "/v1/default/banks/none/documents/none")


def test_a_key_is_needed_where_one_is(folder: Path) -> None:
    with Server(folder, api_key=KEY) as keyed:
        with Client(keyed.url) as nobody, pytest.raises(Unauthenticated):
            nobody.recall("x")
        with Client(keyed.url, api_key=KEY) as somebody:
            assert somebody.recall("x").results == []


def test_a_lost_answer_makes_nothing_twice(server: Server, bank: str) -> None:
    async def main() -> None:
        flaky = Flaky(losses=2)
        async with AsyncClient(server.url, bank=bank, transport=flaky) as client:
            await client.retain("Alice moved to Berlin")
            assert len(flaky.sent) == 3
            assert len(set(flaky.sent)) == 1
            flaky.sent.clear()
            await client.remind("call Bob", at="in 1 hour")
            assert len(flaky.sent) == 3
            documents = await client.request("GET", f"/v1/default/banks/{bank}/documents")
            assert documents["total"] == 1
            intentions = await client.request("GET", f"/v1/default/banks/{bank}/intentions")
            assert intentions["total"] == 1

    asyncio.run(main())


def test_a_busy_server_is_asked_again() -> None:
    async def main() -> None:
        busy = httpx.Response(503, headers={"retry-after": "0"}, json={"detail": "busy"})
        there = httpx.Response(200, json={"results": []})
        fixed = Fixed(busy, busy, there)
        async with AsyncClient("http://nowhere", transport=fixed) as client:
            assert (await client.recall("x")).results == []
        assert fixed.count == 3

    asyncio.run(main())


@pytest.mark.parametrize(
    ("status", "kind"), [(429, RateLimited), (503, StoreBusy), (401, Unauthenticated)]
)
def test_in_the_end_it_is_an_error(status: int, kind: type[Exception]) -> None:
    async def main() -> None:
        fixed = Fixed(
            *[httpx.Response(status, headers={"retry-after": "0"}, json={"detail": "no"})] * 2
        )
        async with AsyncClient("http://nowhere", retries=1, transport=fixed) as client:
            with pytest.raises(kind, match="no"):
                await client.recall("x")

    asyncio.run(main())


def test_no_server_is_said_so() -> None:
    with (
        Client("http://127.0.0.1:1", retries=0) as client,
        pytest.raises(StoreBusy, match="cannot be reached"),
    ):
        client.recall("x")
    with pytest.raises(InvalidInput, match="must begin with http"):
        Client("localhost:6381")


def test_facts_of_the_caller_are_kept_or_told_back(client: Client) -> None:
    facts = [
        {"text": "Ann sold the boat.", "quote": "I sold the boat"},
        {"text": "Ann sold the house.", "quote": "I sold the boat"},
        {"text": "Ann sold the boat to Boris.", "quote": "I sold the boat"},
    ]
    kept = client.retain("Ann: I sold the boat.", document_id="boat", facts=facts)
    assert [(r.fact, r.reason) for r in kept.facts_refused] == [
        (1, "other_words"),
        (2, "invented_name"),
    ]
    assert kept.reading_operation_ids == []
    [found, *_] = client.recall("Who sold the boat?").results
    assert found.text == "I sold the boat."
