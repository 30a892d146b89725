"""MCP with the official SDK's client: every tool, over streamable HTTP and stdio."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from wire_kit import Server, environment

KEY = "rmb_" + "k" * 43
REFERENCE = [
    "create_entities", "create_relations", "add_observations", "delete_entities",
    "delete_observations", "delete_relations", "read_graph", "search_nodes", "open_nodes",
]  # fmt: skip

Story = Callable[[Client], Awaitable[None]]


@pytest.fixture(scope="session")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("mcp"), api_key=KEY) as running:
        yield running


def stdio(folder: Path, *arguments: str) -> Any:
    return stdio_client(
        StdioServerParameters(
            command=sys.executable,
            args=["-m", "remembrancer", "mcp", *arguments],
            env=environment(folder),
        )
    )


@asynccontextmanager
async def with_key(url: str, key: str) -> AsyncIterator[Client]:
    import httpx2

    headers = {"authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def play(over: Any, story: Story) -> None:
    """Run a story over one transport."""

    async def main() -> None:
        async with (
            over
            if hasattr(over, "__aenter__") and not isinstance(over, str)
            else Client(over) as client
        ):
            await story(client)

    asyncio.run(main())


async def done(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert isinstance(result, types.CallToolResult)
    text = result.content[0]
    assert isinstance(text, types.TextContent)
    assert not result.is_error, text.text
    found: dict[str, Any] = result.structured_content or {}
    assert json.loads(text.text) == found
    return found


async def refused(client: Client, name: str, **arguments: Any) -> str:
    result = await client.call_tool(name, arguments)
    assert isinstance(result, types.CallToolResult)
    assert result.is_error
    text = result.content[0]
    assert isinstance(text, types.TextContent)
    return text.text


async def every_tool(client: Client) -> None:  # noqa: PLR0915 - one story
    """Call each tool that there is, in an order in which each has something to work on."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert all(t.description and t.output_schema and t.annotations for t in tools.values())
    called: set[str] = set()

    async def ok(name: str, **arguments: Any) -> dict[str, Any]:
        called.add(name)
        return await done(client, name, **arguments)

    kept = await ok("sync_retain", content="Alice moved to Berlin", document_id="a", tags=["home"])
    queued = await ok("retain", content="Bob went hiking", document_id="b")
    assert kept["success"]
    operation = queued["operation_id"]
    assert (await ok("get_operation", operation_id=operation))["status"] != "not_found"
    while (await ok("get_operation", operation_id=operation))["status"] != "completed":  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert (await ok("list_operations"))["total"] == 1
    assert "only one that is pending" in await refused(
        client, "cancel_operation", operation_id=operation
    )
    called.add("cancel_operation")
    many = await ok("retain_many", items=[{"content": f"Note {n}"} for n in range(3)])
    assert many["items_count"] == 3

    found = await ok("recall", query="Where does Alice live?")
    assert found["results"][0]["text"] == "Alice moved to Berlin"
    assert "Berlin" in (await ok("reflect", query="Where does Alice live?"))["text"]
    assert "Alice moved to Berlin" in (await ok("prime"))["text"]
    memory = found["results"][0]["id"]
    assert (await ok("get_memory", memory_id=memory))["text"] == "Alice moved to Berlin"
    await ok("update_memory", memory_id=memory, text="Alice moved to Bonn", reason="misheard")
    assert (await ok("get_memory_history", memory_id=memory))["result"]
    await ok("invalidate_memory", memory_id=memory, reason="wrong")
    assert (await ok("list_memories", q="Note"))["total"] == 3

    assert (await ok("list_documents"))["total"] == 3
    assert (await ok("get_document", document_id="b"))["original_text"] == "Bob went hiking"
    assert [t["tag"] for t in (await ok("list_tags"))["items"]] == ["home"]
    entities = (await ok("list_entities"))["items"]
    assert (await ok("get_entity", entity_id=entities[0]["id"]))["canonical_name"]
    await ok("delete_document", document_id="b")
    assert (await ok("get_bank"))["bank_id"]
    assert (await ok("update_bank", mission="travel"))["mission"] == "travel"
    assert (await ok("get_bank_stats"))["total_documents"] == 2

    [later] = (await ok("remind", content="call Bob", at="in 3 hours"))["items"]
    [now] = (await ok("remind", content="say hello", event="greeted"))["items"]
    assert (await ok("list_reminders"))["total"] == 2
    [due] = (await ok("check", events=["greeted"]))["items"]
    assert due["id"] == now["id"]
    await ok("snooze", occurrence_id=due["occurrence"]["id"], seconds=60)
    await ok("ack", occurrence_id=due["occurrence"]["id"])
    await ok("cancel_reminder", intention_id=later["id"])
    memories = (await ok("list_memories", q="Note 0"))["items"]
    await ok("forget", memory_ids=[memories[0]["id"]])
    assert (await ok("list_memories", q="Note"))["total"] == 2
    await ok("clear_memories")
    assert (await ok("list_memories"))["total"] == 0

    if "list_banks" in tools:
        await ok("create_bank", bank_id="made", mission="x")
        assert "made" in [b["bank_id"] for b in (await ok("list_banks"))["banks"]]
        await ok("delete_bank", bank_id="made")
    assert called == set(tools)


def test_every_tool_over_http(server: Server, bank: str) -> None:
    async def story(client: Client) -> None:
        await every_tool(client)

    play(f"{server.url}/mcp/{bank}", story)


def test_every_tool_over_http_with_a_key(keyed: Server) -> None:
    play(with_key(f"{keyed.url}/mcp", KEY), every_tool)


def test_every_tool_over_stdio(folder: Path) -> None:
    play(Client(stdio(folder)), every_tool)


def test_over_stdio_to_a_server_with_a_key(keyed: Server, folder: Path, bank: str) -> None:
    async def story(client: Client) -> None:
        await every_tool(client)

    arguments = ["--url", keyed.url, "--api-key", KEY, "--bank", bank]
    play(Client(stdio(folder, *arguments)), story)


def test_no_id_leads_to_another_path(keyed: Server, folder: Path, bank: str) -> None:
    async def story(client: Client) -> None:
        await done(client, "sync_retain", content="Alice moved to Berlin")
        for odd in ("..", ".", "", "/", "list"):
            for tool, name in (
                ("delete_document", "document_id"),
                ("cancel_reminder", "intention_id"),
                ("cancel_operation", "operation_id"),
                ("get_memory", "memory_id"),
                ("get_entity", "entity_id"),
                ("ack", "occurrence_id"),
            ):
                assert await refused(client, tool, **{name: odd})
        assert "bank_id" in await refused(client, "recall", query="Berlin", bank_id=7)
        assert (await done(client, "list_memories"))["total"] == 1

    arguments = ["--url", keyed.url, "--api-key", KEY, "--bank", bank]
    play(Client(stdio(folder, *arguments)), story)
    play(with_key(f"{keyed.url}/mcp", KEY), story)


def test_an_old_client_speaks_the_handshake(server: Server, bank: str) -> None:
    async def story(client: Client) -> None:
        await done(client, "sync_retain", content="The door is red")
        assert (await done(client, "recall", query="door"))["results"]

    play(Client(f"{server.url}/mcp/{bank}", mode="legacy"), story)


def test_without_a_key_nobody_gets_in(keyed: Server) -> None:
    for headers in ({}, {"authorization": "Bearer rmb_wrong"}):
        answer = httpx.post(f"{keyed.url}/mcp", json={}, headers=headers)
        assert answer.status_code == 401


def test_a_key_that_reads_writes_nothing(keyed: Server) -> None:
    made = keyed.post(
        "/v1/keys",
        {"name": "reader", "permissions": ["read"]},
        headers={"authorization": f"Bearer {KEY}"},
    ).json()

    async def story(client: Client) -> None:
        assert "write" in await refused(client, "retain", content="x")
        assert (await done(client, "recall", query="x"))["results"] == []

    play(with_key(f"{keyed.url}/mcp/nobody", made["key"]), story)


def test_a_session_belongs_to_its_key(keyed: Server) -> None:
    """Another key's request for a session is answered as if there were none."""
    admin = {"authorization": f"Bearer {KEY}", "accept": "application/json, text/event-stream"}
    begin = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    begun = httpx.post(f"{keyed.url}/mcp", json=begin, headers=admin)
    session = begun.headers["mcp-session-id"]
    other = keyed.post("/v1/keys", {"name": "o", "permissions": ["read"]}, headers=admin).json()
    ask = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    for key, status in ((KEY, 200), (other["key"], 404)):
        headers = {**admin, "authorization": f"Bearer {key}", "mcp-session-id": session}
        assert httpx.post(f"{keyed.url}/mcp", json=ask, headers=headers).status_code == status


def test_a_connection_with_a_bank_has_no_other(server: Server, bank: str) -> None:
    async def story(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert not names & {"list_banks", "create_bank", "delete_bank"}
        assert "alone" in await refused(client, "recall", query="x", bank_id="other")

    play(f"{server.url}/mcp/{bank}", story)


def test_a_bank_may_allow_some_tools_alone(server: Server, bank: str) -> None:
    server.retain(bank, "x")
    path = f"/v1/default/banks/{bank}/config"
    changed = server.client.patch(path, json={"updates": {"mcp_enabled_tools": ["recall"]}})
    assert changed.status_code == 200, changed.text

    async def story(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["recall"]
        assert "no tool" in await refused(client, "retain", content="y")

    play(f"{server.url}/mcp/{bank}", story)


def test_bad_arguments_name_what_is_wrong(server: Server, bank: str) -> None:
    async def story(client: Client) -> None:
        assert "queri" in await refused(client, "recall", queri="x")
        assert "query" in await refused(client, "recall", query="")
        for named in ({}, {"memory_ids": []}):
            told = await refused(client, "forget", **named)
            assert told == "name what to forget: memory_ids or document_ids"
        told = await refused(client, "get_memory", memory_id="x")
        assert told.startswith("memory_id: it must be an id")
        assert "at" in await refused(client, "remind", content="x", at="some day perhaps")

    play(f"{server.url}/mcp/{bank}", story)


def test_progress_is_told(server: Server, bank: str) -> None:
    async def story(client: Client) -> None:
        told: list[tuple[float, float | None]] = []

        async def note(done_: float, total: float | None, message: str | None) -> None:
            told.append((done_, total))

        items = [{"content": f"Note {n}"} for n in range(60)]
        await client.call_tool("retain_many", {"items": items}, progress_callback=note)
        assert told == [(25.0, 60.0), (50.0, 60.0), (60.0, 60.0)]

    play(f"{server.url}/mcp/{bank}", story)


def test_subscribers_are_told_what_falls_due(server: Server, bank: str) -> None:
    from mcp.client.subscriptions import listen

    uri = f"remembrancer://banks/{bank}/due"

    async def story(client: Client) -> None:
        async with listen(client.session, resource_subscriptions=[uri]) as events:
            await done(client, "remind", content="stand up", at="in 1 second")
            event = await asyncio.wait_for(anext(aiter(events)), 20)
            assert uri in str(event)
        contents = (await client.read_resource(uri)).contents[0]
        assert isinstance(contents, types.TextResourceContents)
        assert json.loads(contents.text)["items"][0]["content"] == "stand up"

    play(f"{server.url}/mcp/{bank}", story)


@pytest.mark.filterwarnings("ignore:resources/")
def test_subscribers_of_old_are_told_too(server: Server, bank: str) -> None:
    uri = f"remembrancer://banks/{bank}/due"

    async def main() -> None:
        told = asyncio.Event()

        async def hear(message: Any) -> None:
            if isinstance(message, types.ResourceUpdatedNotification):
                told.set()

        url = f"{server.url}/mcp/{bank}"
        async with Client(url, mode="legacy", message_handler=hear) as client:
            await client.subscribe_resource(uri)
            await done(client, "remind", content="stand up", at="in 1 second")
            await asyncio.wait_for(told.wait(), 20)
            await client.unsubscribe_resource(uri)

    asyncio.run(main())


def test_no_other_resource_is_there(server: Server, bank: str) -> None:
    async def story(client: Client) -> None:
        for uri in ("remembrancer://banks/other/due", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)

    play(f"{server.url}/mcp/{bank}", story)


def test_the_nine_tools_of_the_reference_server(server: Server, bank: str) -> None:
    async def story(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == REFERENCE
        smith = {"name": "John_Smith", "entityType": "person", "observations": ["Speaks Spanish"]}
        made = await done(client, "create_entities", entities=[smith])
        assert made == {"entities": [smith]}
        again = {**smith, "observations": ["Speaks fluent Spanish"]}
        acme = {"name": "Acme", "entityType": "organization", "observations": []}
        assert await done(client, "create_entities", entities=[again, acme]) == {"entities": [acme]}
        works = {"from": "John_Smith", "to": "Acme", "relationType": "works_at"}
        assert await done(client, "create_relations", relations=[works, works]) == {
            "relations": [works]
        }
        assert await done(client, "create_relations", relations=[works]) == {"relations": []}
        added = await done(
            client,
            "add_observations",
            observations=[
                {"entityName": "John_Smith", "contents": ["Graduated in 2019", "Speaks Spanish"]}
            ],
        )
        assert added == {
            "results": [{"entityName": "John_Smith", "addedObservations": ["Graduated in 2019"]}]
        }
        told = await refused(
            client, "add_observations", observations=[{"entityName": "Nobody", "contents": ["x"]}]
        )
        assert "Nobody" in told
        smith = {**smith, "observations": ["Speaks Spanish", "Graduated in 2019"]}
        whole = {"entities": [smith, acme], "relations": [works]}
        assert await done(client, "read_graph") == whole
        assert await done(client, "search_nodes", query="SPANISH") == {
            "entities": [smith],
            "relations": [works],
        }
        assert (await done(client, "search_nodes", query="organ"))["entities"] == [acme]
        assert (await done(client, "open_nodes", names=["Acme", "Nobody"]))["entities"] == [acme]
        await done(
            client,
            "delete_observations",
            deletions=[{"entityName": "John_Smith", "observations": ["Graduated in 2019", "no"]}],
        )
        assert (await done(client, "read_graph"))["entities"][0]["observations"] == [
            "Speaks Spanish"
        ]
        await done(client, "delete_relations", relations=[works])
        assert (await done(client, "read_graph"))["relations"] == []
        await done(client, "create_relations", relations=[works])
        await done(client, "delete_entities", entityNames=["John_Smith"])
        assert await done(client, "read_graph") == {"entities": [acme], "relations": []}

    play(f"{server.url}/mcp/{bank}?tools=reference", story)
    assert server.recall(bank, "Which organization is there?")[0]["text"] == (
        "Acme is a organization"
    )
