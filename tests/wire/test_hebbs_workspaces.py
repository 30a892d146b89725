"""HEBBS's workspaces, which are tenants, uploads, and that every route of its lists is served."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from wire_kit import Server

MASTER = "hb_of-the-settings-alone"
NO_ID = "0" * 32
ROUTES = [
    ("POST", "/v1/memories"),
    ("GET", "/v1/memories"),
    ("POST", "/v1/memories/batch"),
    ("GET", "/v1/memories/{id}"),
    ("GET", "/v1/memories/{id}/edges"),
    ("POST", "/v1/recall"),
    ("POST", "/v1/prime"),
    ("PUT", "/v1/revise/{id}"),
    ("POST", "/v1/forget"),
    ("POST", "/v1/subscribe"),
    ("POST", "/v1/subscribe/{n}/feed"),
    ("DELETE", "/v1/subscribe/{n}"),
    ("GET", "/v1/insights"),
    ("POST", "/v1/reflect/prepare"),
    ("POST", "/v1/reflect/commit"),
    ("POST", "/v1/contradictions/prepare"),
    ("POST", "/v1/contradictions/commit"),
    ("POST", "/v1/graph"),
    ("GET", "/v1/entities"),
    ("GET", "/v1/health/live"),
    ("GET", "/v1/health/ready"),
    ("GET", "/v1/metrics"),
    ("GET", "/v1/auth/whoami"),
    ("GET", "/v1/system/health"),
    ("POST", "/v1/upload"),
    ("GET", "/v1/workspaces"),
    ("POST", "/v1/workspaces"),
    ("GET", "/v1/keys"),
    ("POST", "/v1/keys"),
    ("DELETE", "/v1/keys/{id}"),
]
"""What HEBBS's open server, its documentation and its enterprise dialect have, as one list."""


def slug() -> str:
    return f"space-{uuid4()}"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("workspaces"), api_key=MASTER) as server:
        yield server


As = Callable[..., httpx.Response]


@pytest.fixture
def as_key(guarded: Server) -> Callable[[str], As]:
    def with_key(key: str) -> As:
        def send(method: str, path: str, body: Any = None) -> httpx.Response:
            headers = {"Authorization": f"Bearer {key}"}
            return guarded.client.request(method, path, json=body, headers=headers)

        return send

    return with_key


@pytest.mark.parametrize(("method", "path"), ROUTES, ids=lambda value: value)
def test_every_route_is_served_alone_and_under_a_workspace(
    server: Server, method: str, path: str
) -> None:
    place = path.format(id=NO_ID, n=7)
    for prefix in ("/v1", f"/v1/workspaces/{slug()}"):
        told = server.client.request(method, prefix + place.removeprefix("/v1"), json=None)
        # What is not served at all says so in its own words.
        assert told.status_code != 405, told.text
        if told.status_code == 404:
            assert told.headers["content-type"] == "application/json"
            assert "there is no route" not in told.text
            assert told.json()["details"][0]["field"] in {"memory_id", "subscription_id"}


def test_a_workspace_is_a_tenant(server: Server) -> None:
    one, two = slug(), slug()
    made = server.post(
        f"/v1/workspaces/{one}/memories", {"content": "Of one alone.", "entity_id": "who"}
    )
    assert made.status_code == 201, made.text
    memory = made.json()["memory_id"]
    cue = {"entity_id": "who", "similarity_cue": "alone"}
    assert server.post(f"/v1/workspaces/{one}/prime", cue).json()["count"] == 1
    assert server.post(f"/v1/workspaces/{two}/prime", cue).json()["count"] == 0
    path = f"/v1/workspaces/{two}/memories/{memory}"
    assert server.client.get(path).status_code == 404
    banks = server.client.get(f"/v1/workspaces/{one}/default/banks").json()["banks"]
    assert [bank["bank_id"] for bank in banks] == ["who"]
    who = server.client.get(f"/v1/workspaces/{one}/auth/whoami").json()
    assert who["tenant"] == one
    shown = server.client.get(f"/v1/workspaces/{one}").json()["workspace"]
    assert shown == {"slug": one, "name": one, "stats": {"memories": 1, "files": 0}}


def test_a_name_with_a_slash_stays_a_name(server: Server) -> None:
    space = slug()
    server.post(f"/v1/workspaces/{space}/memories", {"content": "Split.", "entity_id": "a/b"})
    path = f"/v1/workspaces/{space}/default/banks/a%2Fb/memories/list"
    assert server.client.get(path).json()["total"] == 1


@pytest.mark.parametrize("name", ["a b", "é", "x" * 129])
def test_what_no_tenant_can_be_called_is_refused(server: Server, name: str) -> None:
    told = server.post(f"/v1/workspaces/{name}/prime", {"entity_id": "x"})
    assert (told.status_code, told.json()["error_code"]) == (400, "invalid_input")


def test_a_key_reaches_its_own_workspace_alone(
    guarded: Server, as_key: Callable[[str], As]
) -> None:
    root = as_key(MASTER)
    name = f"Acme & Söhne {uuid4().hex[:8]}"
    made = root("POST", "/v1/workspaces", {"name": name})
    assert made.status_code == 201, made.text
    space, key = made.json()["workspace"]["slug"], made.json()["api_key"]
    assert made.headers["cache-control"] == "no-store"
    assert space.startswith("acme-s-hne-")
    mine = as_key(key)
    kept = mine("POST", f"/v1/workspaces/{space}/memories", {"content": "Ours.", "entity_id": "e"})
    assert kept.status_code == 201
    assert mine("GET", "/v1/auth/whoami").json()["permissions"] == ["admin", "read", "write"]
    assert mine("POST", "/v1/prime", {"entity_id": "e"}).json()["count"] == 1
    assert root("POST", f"/v1/workspaces/{space}/prime", {"entity_id": "e"}).json()["count"] == 1
    assert root("POST", "/v1/prime", {"entity_id": "e"}).json()["count"] == 0
    other = mine("POST", "/v1/workspaces/other/prime", {"entity_id": "e"})
    assert (other.status_code, other.json()["code"]) == (403, "PERMISSION_DENIED")
    listed = mine("GET", "/v1/workspaces").json()
    own = {"slug": space, "name": space, "stats": {"memories": 1, "files": 0}}
    assert listed == {"workspaces": [own], "total": 1}
    assert own in root("GET", "/v1/workspaces").json()["workspaces"]
    after = root("GET", f"/v1/workspaces?after={space}&limit=1").json()["workspaces"]
    assert all(each["slug"] > space for each in after)
    assert mine("GET", "/v1/workspaces/other").status_code == 404
    assert mine("POST", "/v1/workspaces", {"name": "more"}).status_code == 403
    again = root("POST", "/v1/workspaces", {"name": name})
    assert (again.status_code, again.json()["error_code"]) == (409, "conflict")
    empty = root("POST", "/v1/workspaces", {"name": "?!"})
    assert (empty.status_code, empty.json()["details"][0]["field"]) == (400, "name")


def test_a_key_for_some_banks_counts_them_alone_and_leaves_the_policy_be(
    guarded: Server, as_key: Callable[[str], As]
) -> None:
    root, space = as_key(MASTER), slug()
    asked = {"name": "some", "tenant": space, "banks": ["customer-*"]}
    powers = ["read", "write", "admin"]
    some = as_key(root("POST", "/v1/keys", {**asked, "permissions": powers}).json()["key"])
    crossing = as_key(
        root("POST", "/v1/keys", {**asked, "permissions": ["read", "cross_tenant"]}).json()["key"]
    )
    for entity in ("staff", "customer-1"):
        told = {"content": "Counted.", "entity_id": entity}
        root("POST", f"/v1/workspaces/{space}/memories", told)
        path = f"/v1/workspaces/{space}/default/banks/{entity}/memories"
        root("POST", path, {"items": [{"content": "Of a document.", "document_id": "d"}]})
    own = {"slug": space, "name": space, "stats": {"memories": 2, "files": 1}}
    assert some("GET", "/v1/workspaces").json()["workspaces"] == [own]
    assert some("GET", f"/v1/workspaces/{space}").json()["workspace"] == own
    assert own in crossing("GET", "/v1/workspaces").json()["workspaces"]
    for method, path, body in (
        ("PUT", "/v1/policy", {"max_age_days": 1e-7}),
        ("POST", "/v1/policy", {}),
        ("POST", "/v1/policy/run", None),
    ):
        told = some(method, path, body)
        assert (told.status_code, told.json()["code"]) == (403, "PERMISSION_DENIED")
    assert some("GET", "/v1/policy").json()["max_age_days"] == 0


def test_without_keys_a_workspace_needs_none(server: Server) -> None:
    made = server.post("/v1/workspaces", {"name": slug()})
    assert (made.status_code, made.json()["api_key"]) == (201, None)


def test_files_are_uploaded_to_an_entity(server: Server) -> None:
    entity = f"reader-{uuid4()}"
    files = [
        ("files", ("note.md", b"# Boats\n\nThe cutter is named Petrel.\n", "text/markdown")),
        ("files", ("list.txt", b"The dinghy leaks at the bow.\n", "text/plain")),
    ]
    told = server.client.post("/v1/upload", files=files, data={"entity_id": entity})
    assert told.status_code == 200, told.text
    body = told.json()
    assert (body["uploaded"], body["entity_id"]) == (2, entity)
    assert [(f["filename"], f["size"]) for f in body["files"]] == [
        ("note.md", 37),
        ("list.txt", 29),
    ]
    for each in body["files"]:
        assert server.finished(entity, each["operation_id"])["status"] == "completed"
    found = server.post("/v1/recall", {"cue": "dinghy", "entity_id": entity}).json()["results"]
    assert any("leaks at the bow" in each["content"] for each in found)
    # The same name takes the place of the earlier file.
    again = [("files", ("list.txt", b"The dinghy is mended.\n", "text/plain"))]
    body = server.client.post("/v1/upload", files=again, data={"entity_id": entity}).json()
    server.finished(entity, body["files"][0]["operation_id"])
    listed = server.client.get(f"/v1/memories?entity_id={entity}").json()["memories"]
    assert not any("leaks" in each["content"] for each in listed)
    assert any("mended" in each["content"] for each in listed)


def test_a_folder_is_uploaded_whole(server: Server) -> None:
    entity = f"reader-{uuid4()}"
    files = [
        ("files", (f"part{n % 2}/page{n // 2}.md", f"Page {n} of it.".encode(), "text/markdown"))
        for n in range(14)
    ]
    told = server.client.post("/v1/upload", files=files, data={"entity_id": entity})
    assert told.status_code == 200, told.text
    names = [each["filename"] for each in told.json()["files"]]
    assert names == [name for _, (name, *_) in files]
    for each in told.json()["files"]:
        assert server.finished(entity, each["operation_id"])["status"] == "completed"
    documents = server.client.get(f"/v1/default/banks/{entity}/documents").json()["items"]
    assert {each["id"] for each in documents} == set(names)


def test_files_without_an_entity_belong_to_none(tmp_path: Path) -> None:
    with Server(tmp_path) as server:  # one with few banks: such a recall asks some of them alone
        _upload_to_none(server)


def _upload_to_none(server: Server) -> None:
    word = uuid4().hex
    files = [("files", (f"{word}.txt", f"The word is {word}.".encode(), "text/plain"))]
    told = server.client.post("/v1/upload", files=files).json()
    assert told["entity_id"] is None
    deadline = time.monotonic() + 30
    found: list[str] = []
    while not found and time.monotonic() < deadline:
        memories = server.post("/v1/recall", {"cue": word}).json()["results"]
        found = [each["content"] for each in memories if word in each["content"]]
    assert found


@pytest.mark.parametrize(
    ("files", "status"),
    [
        ([], 422),
        ([("files", ("a.txt", b"x", "text/plain"))] * 2, 400),
        ([("files", ("a.exe", b"MZ\x00\x01", "application/x-msdownload"))], 400),
        ([("files", ("a.txt", b"", "text/plain"))], 400),
    ],
)
def test_files_that_cannot_be_taken_are_refused(
    server: Server, files: list[Any], status: int
) -> None:
    told = server.client.post("/v1/upload", files=files or {"other": ("a.txt", b"x")})
    assert told.status_code in {status, 400}, told.text
    assert "error_code" in told.json()
