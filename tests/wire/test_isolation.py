"""Two tenants, three keys, every route of the OpenAPI document: nothing crosses.

What a route does is not asked. Tenant `beta` sends each request, with the names and ids of tenant
`alpha`, to a server that holds alpha's data and to one that holds nothing; the answers must be the
same, to the last count. And whatever is in the database of alpha stays as it is, byte by byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from cli_kit import Cli
from isolation_kit import rows
from routes_kit import Filler, Operation, document, operations
from wire_kit import IDLE, Server

import remembrancer.faces.http as http_face
from remembrancer.faces.http.access import NEEDS, OPEN
from remembrancer.nouns.caller import Permission

DOCUMENT = document()
OPERATIONS = list(operations(DOCUMENT))
SAFE = {"GET", "HEAD"}
MARKS = ("kestrel", "Ottilie", "gearbox")
TEXT = "Ottilie saw a kestrel on the gearbox in March."
ADMINISTRATION = "/v1/keys"
NO_KEY = "rmb_" + "A" * 43

BANK = "shared"
QUIET = {  # what no answer is told apart by
    "uptime_seconds",
    "access_count",  # counted a little later
    "db_acquire_ms",
    "took_ms",
    "duration_ms",
    "time_seconds",
    "key_id",
}
FORMS = (
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"[0-9a-f]{32}"), "HEX"),
    (re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b"), "ULID"),
    (re.compile(r'(?<="subscription_id":)\d+'), "NUMBER"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)?"), "TIME"),
    (re.compile(r"rmb_[\w-]{43}"), "KEY"),
)


class World:
    """A server over a folder, and its keys by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys: dict[str, str] = {}
        self.server: Server | None = None

    def key(self, name: str, tenant: str, *permissions: str) -> None:
        options = [part for each in permissions for part in ("--permission", each)]
        cli = Cli(self.folder)
        self.keys[name] = cli.ok("keys", "create", name, "--tenant", tenant, *options).out.strip()

    def ask(
        self, operation: Operation, filler: Filler, key: str | None
    ) -> tuple[httpx.Response, str]:
        """Send the request of a route; of a stream only the first piece is read."""
        assert self.server is not None
        more = filler.request(operation)
        headers = more.pop("headers", {})
        if key is not None:
            headers["Authorization"] = f"Bearer {self.keys.get(key, key)}"
        client = self.server.client
        url = filler.url(operation)
        with client.stream(operation.method, url, headers=headers, **more) as answer:
            if answer.headers.get("content-type", "").startswith("text/event-stream"):
                text = next(answer.iter_text(), "")
            else:
                text = answer.read().decode("utf-8", "replace")
        return answer, text

    def write_log(self, key: str) -> None:
        """Have audit entries written now: what becomes of them would else hang on time."""
        assert self.server is not None
        headers = {"Authorization": f"Bearer {self.keys[key]}"}
        path = f"/v1/default/banks/{BANK}/audit-logs"
        assert self.server.client.get(path, headers=headers).status_code == 200


def fill(world: World) -> dict[str, Any]:
    """Give tenant alpha something of each kind; return ids and names by parameter."""
    with Server(world.folder) as server:
        headers = {"Authorization": f"Bearer {world.keys['alpha']}"}

        def ask(method: str, path: str, body: Any = None) -> Any:
            url = f"/v1/default/banks/{BANK}{path}"
            answer = server.client.request(method, url, json=body, headers=headers)
            assert answer.status_code < 300, answer.text
            return answer.json()

        item: dict[str, Any] = {"content": TEXT, "document_id": "log", "tags": ["field"]}
        item["entities"] = [{"text": "Ottilie"}]
        ask("POST", "/memories", {"items": [item]})
        hook = {"url": "https://hooks.example/x", "event_types": ["retain.completed"]}
        webhook = ask("POST", "/webhooks", hook)["id"]
        intention = ask("POST", "/intentions", {"content": TEXT, "triggerAt": 1_000_000})
        offered = ask("POST", "/intentions/check", {"mode": "lease"})["items"]
        ask("POST", "/events", {"name": "kestrel", "id": "event-of-alpha"})
        server.client.headers.update(headers)
        theirs = {"messages": TEXT, "user_id": "ottilie", "metadata": {"where": "gearbox"}}
        assert server.client.post("/compat/mem0/memories", json=theirs).status_code == 200
        operation = ask("POST", "/document-transfer/export")["operation_id"]
        done = server.finished(BANK, operation)
        rule = ask("POST", "/directives", {"name": "kestrel", "content": TEXT})["id"]
        told = {"id": "m", "name": "kestrel", "source_query": "Where was the kestrel?"}
        made = [ask("POST", "/mental-models", told)["operation_id"]]
        page = ask("POST", "/knowledge-base/pages", {k: told[k] for k in told if k != "id"})
        for each in (*made, page["operation_id"]):
            server.finished(BANK, each)
        memories = ask("GET", "/memories/list")["items"]
        archive = done["result_metadata"]["download_url"].rpartition("/download/")[2]
        return {
            "bank_id": BANK,
            "entity_id": ask("GET", "/entities")["items"][0]["id"],
            "document_id": "log",
            "chunk_id": f"{BANK}_log_0",
            "memory_id": memories[0]["id"],
            "memory_ids": [each["id"] for each in memories],
            "center_id": memories[0]["id"],
            "document_ids": ["log"],
            "operation_id": operation,
            "webhook_id": webhook,
            "directive_id": rule,
            "mental_model_id": "m",
            "page_id": page["page_id"],
            "node_id": page["page_id"],
            "intention_id": intention["id"],
            "occurrence_id": (offered[0].get("occurrence") or offered[0])["id"],
            "log_id": ask("GET", "/audit-logs")["items"][0]["id"],
            "key": httpx.URL(archive).path,
        }


VALUES: dict[str, Any] = {
    "query": "Where was the kestrel?",
    "cue": "kestrel",
    "similarity_cue": "kestrel",
    "queryText": "kestrel",
    "mode": "peek",
    "items": [{"content": "A plain note of beta."}],
    "tags": ["field"],
    "subscription_id": 7,
    "slug": "alpha",
    "entity_type": "user",
    "user_id": "ottilie",
    "q": "kestrel",
    "delivery_id": "0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10",
}
BY_OPERATION: dict[str, dict[str, Any]] = {
    # `items` has another meaning there.
    "create_intentions": {"items": [{"content": "Look up.", "triggerAt": 4_000_000_000_000}]},
    "create_events": {"items": [{"name": "noon"}]},
}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, World, Filler]]:
    """Yield a server with alpha's data, one without, and what fills alpha's ids in.

    Nothing works in the background in either, so that only requests change rows.
    """
    full, bare = (World(tmp_path_factory.mktemp(name) / "data") for name in ("full", "bare"))
    for world in (full, bare):
        world.key("alpha", "alpha", "read", "write", "admin")
        world.key("reader", "alpha", "read")
        world.key("beta", "beta", "read", "write", "admin")
    values = fill(full)
    mine = Cli(full.folder).ok("keys", "list", "--json", "--tenant", "alpha").json["keys"]
    values["key_id"] = next(key["id"] for key in mine if key["name"] == "alpha")
    filler = Filler(DOCUMENT["components"]["schemas"], VALUES | values)
    with Server(full.folder, IDLE) as first, Server(bare.folder, IDLE) as second:
        full.server, bare.server = first, second
        yield full, bare, filler


def filled(filler: Filler, operation: Operation) -> Filler:
    values = filler.values | BY_OPERATION.get(operation.name, {})
    if "{bank_id}" not in operation.path:
        values["entity_id"] = BANK  # HEBBS's name of a bank
    return Filler(filler.schemas, values)


def normal(value: Any) -> Any:
    """Return an answer without what differs from server to server by itself."""
    if isinstance(value, dict):
        return {k: normal(v) for k, v in value.items() if k not in QUIET}
    if isinstance(value, list):
        return [normal(each) for each in value]
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) > 1e11:
        return "MOMENT"
    if isinstance(value, str):
        for form, word in FORMS:
            value = form.sub(word, value)
    return value


def told(text: str) -> Any:
    try:
        return normal(json.loads(text))
    except ValueError:
        return normal(text)


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_no_key_gets_nothing(worlds: tuple[World, World, Filler], operation: Operation) -> None:
    full, _, filler = worlds
    before = rows(full.folder, "alpha")
    for key in (None, NO_KEY):
        answer, text = full.ask(operation, filled(filler, operation), key)
        assert (answer.status_code == 401) is (operation.path not in OPEN), text
        assert not any(mark in text for mark in MARKS)
    assert rows(full.folder, "alpha") == before


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_a_reading_key_changes_nothing(
    worlds: tuple[World, World, Filler], operation: Operation
) -> None:
    full, _, filler = worlds
    before = rows(full.folder, "alpha")
    answer, text = full.ask(operation, filled(filler, operation), "reader")
    assert answer.status_code < 500 or operation.path in OPEN, text
    assert rows(full.folder, "alpha") == before
    reading = operation.method in SAFE and not operation.path.startswith(ADMINISTRATION)
    if operation.name not in NEEDS:
        assert (answer.status_code == 403) is not reading, text
    else:
        needs = NEEDS[operation.name]
        assert (answer.status_code == 403) is (needs not in {None, Permission.READ}), text


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_nothing_of_another_tenant_is_told_or_changed(
    worlds: tuple[World, World, Filler], operation: Operation
) -> None:
    full, bare, filler = worlds
    before = rows(full.folder, "alpha")
    request = filled(filler, operation)
    beside, text = full.ask(operation, request, "beta")
    alone, text_alone = bare.ask(operation, request, "beta")
    if operation.method not in SAFE:
        for world in (full, bare):
            world.write_log("beta")
    assert beside.status_code == alone.status_code, f"{text}\n{text_alone}"
    assert beside.status_code != 401
    if operation.path not in OPEN:
        assert told(text) == told(text_alone)
    assert rows(full.folder, "alpha") == before


def test_the_requests_reach_what_there_is(worlds: tuple[World, World, Filler]) -> None:
    """Sent by the owner, they get the data: so the others were refused it for who they are."""
    full, _, filler = worlds
    telling = set()
    for operation in OPERATIONS:
        if operation.method in SAFE or NEEDS.get(operation.name) is Permission.READ:
            answer, text = full.ask(operation, filled(filler, operation), "alpha")
            assert answer.status_code != 403 or operation.name == "metrics"
            if any(mark in text for mark in MARKS) or filler.values["memory_id"] in text:
                telling.add(operation.name)
            if operation.name == "download_file":
                assert answer.status_code == 200
    assert telling >= {
        "list_memories",
        "get_memory",
        "recall_memories",
        "reflect",
        "prime",
        "get_chunk",
        "get_document",
        "list_entities",
        "get_entity",
        "list_directives",
        "get_directive",
        "list_mental_models",
        "get_mental_model",
        "get_knowledge_tree",
        "get_knowledge_page",
        "export_knowledge_pages",
        "search_knowledge_pages",
        "get_intention",
        "list_intentions",
        "get_occurrence",
        "list_occurrences",
        "list_events",
        "get_graph",
        "list_entity_memories",
        "get_memory_by_id",
        "get_memories",
        "recall",
        "walk_graph",
    }


def test_exceptions_name_routes_that_exist() -> None:
    names = {operation.name for operation in OPERATIONS}
    assert NEEDS.keys() <= names
    assert len(OPERATIONS) > 80


def test_no_route_names_a_tenant_itself() -> None:
    """Routes get their tenant from the caller: `Caller.bank`, `Caller.tenant`."""
    folder = Path(http_face.__file__).parent
    bad = re.compile(r"\bDEFAULT_TENANT\b|\bbank_ref\(|(?<!def )\bBankRef\(")
    found = {path.name for path in folder.glob("*.py") if bad.search(path.read_text())}
    assert not found
