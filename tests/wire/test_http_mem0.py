"""mem0's paths: its own server's and its platform's, who may use them, and how keys are told."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from served_kit import Served

ROOT = "/compat/mem0"
PROJECT = Path(__file__).parents[2]
VERSION = "2.2.1"

SCRIPT = """
import asyncio, sys
from mem0 import AsyncMemoryClient, MemoryClient

client = MemoryClient(api_key=sys.argv[1], host=sys.argv[2])
made = client.add(
    [{"role": "user", "content": "My barge is moored at Delft."}],
    user_id="mia",
    metadata={"topic": "boats"},
)
[one] = made["results"]
found = client.search("Where is the barge?", filters={"user_id": "mia"})
assert [each["id"] for each in found["results"]] == [one["id"]], found
found = client.search("barge", filters={"AND": [{"user_id": "mia"}, {"topic": {"ne": "boats"}}]})
assert found["results"] == [], found
client.update(one["id"], text="My barge is moored at Gouda.")
assert client.get(one["id"])["memory"] == "My barge is moored at Gouda."
assert [each["event"] for each in client.history(one["id"])] == ["ADD", "UPDATE"]
page = client.get_all(filters={"user_id": "mia"}, page=1, page_size=10)
assert (page["count"], page["next"]) == (1, None), page
assert [each["name"] for each in client.users()["results"]] == ["mia"]

async def others():
    other = AsyncMemoryClient(api_key=sys.argv[1], host=sys.argv[2])
    found = await other.search("barge", filters={"user_id": "mia"})
    assert len(found["results"]) == 1, found
    await other.delete(one["id"])

asyncio.run(others())
client.add("Tulips bloom.", user_id="mia")
client.delete_all(user_id="mia")
assert client.get_all(filters={"user_id": "mia"})["count"] == 0
try:
    client.get(one["id"])
except Exception as error:
    assert "not found" in str(error).lower(), error
else:
    raise AssertionError("it is still there")
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("mem0")) as running:
        yield running


class As:
    """A client with a key, told in either header."""

    def __init__(self, served: Served, key: str, header: str = "token") -> None:
        told = {"Authorization": f"Token {key}"} if header == "token" else {"X-API-Key": key}
        self._client, self._headers = served.http, told

    def __call__(self, method: str, path: str, body: Any = None, **params: Any) -> httpx.Response:
        return self._client.request(
            method, ROOT + path, json=body, params=params, headers=self._headers
        )

    def ok(self, method: str, path: str, body: Any = None, **params: Any) -> Any:
        answer = self(method, path, body, **params)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
def mia(guarded: Served) -> As:
    return As(guarded, guarded.key(f"t{uuid4().hex}"))


def test_the_servers_own_paths(guarded: Served) -> None:
    call = As(guarded, guarded.key(f"t{uuid4().hex}"), "x-api-key")
    body = {
        "messages": [{"role": "user", "content": "The quay is closed."}],
        "user_id": "mia",
        "run_id": "r",
        "metadata": {"n": 1},
    }
    [made] = call.ok("POST", "/memories", body)["results"]
    assert (made["memory"], made["event"]) == ("The quay is closed.", "ADD")
    path = f"/memories/{made['id']}"
    assert call.ok("GET", path)["metadata"] == {"n": 1}
    [listed] = call.ok("GET", "/memories", user_id="mia", run_id="r")["results"]
    assert listed["id"] == made["id"]
    assert call.ok("GET", "/memories", user_id="mia", run_id="other")["results"] == []
    for asked in ({"user_id": "mia"}, {"filters": {"user_id": "mia", "n": {"lt": 2}}}):
        [found] = call.ok("POST", "/search", {"query": "quay", **asked})["results"]
        assert found["id"] == made["id"]
        assert 0 <= found["score"] <= 1
    call.ok("PUT", path, {"text": "The quay is open."})
    assert [h["new_memory"] for h in call.ok("GET", f"{path}/history")] == [
        "The quay is closed.",
        "The quay is open.",
    ]
    assert call.ok("DELETE", path) == {"message": "Memory deleted successfully!"}
    assert call("GET", path).status_code == 404
    assert call("DELETE", path).status_code == 404
    call.ok("POST", "/memories", body)
    assert call("DELETE", "/memories").status_code in (400, 422)  # it needs a scope
    call.ok("DELETE", "/memories", user_id="mia")
    assert call.ok("GET", "/memories", user_id="mia")["results"] == []


def test_the_platforms_paths(mia: As) -> None:
    assert mia.ok("GET", "/v1/ping/")["status"] == "ok"
    body = {"messages": "The lock keeper waves.", "user_id": "mia"}
    [first] = mia.ok("POST", "/v1/memories/", body)
    [second] = mia.ok("POST", "/v1/memories/", {**body, "output_format": "v1.1"})["results"]
    [third] = mia.ok("POST", "/v3/memories/add/", body)["results"]
    ids = {first["id"], second["id"], third["id"]}
    assert {m["id"] for m in mia.ok("GET", "/v1/memories/", user_id="mia")} == ids
    wanted = {"filters": {"AND": [{"user_id": "mia"}]}}
    assert {m["id"] for m in mia.ok("POST", "/v2/memories/", wanted)} == ids
    page = mia.ok("POST", "/v3/memories/", wanted, page=2, page_size=2)
    assert (page["count"], len(page["results"]), page["next"]) == (3, 1, None)
    assert page["previous"] is not None
    asked = {"query": "Who waves?", **wanted}
    assert mia.ok("POST", "/v2/memories/search/", asked)
    assert mia.ok("POST", "/v1/memories/search/", {"query": "Who waves?", "user_id": "mia"})
    assert mia.ok("POST", "/v3/memories/search/", asked)["results"]
    path = f"/v1/memories/{first['id']}/"
    assert mia.ok("PUT", path, {"text": "He nods."})["memory"] == "He nods."
    assert mia.ok("GET", path)["memory"] == "He nods."
    assert len(mia.ok("GET", f"{path}history/")) == 2
    assert mia.ok("DELETE", path)
    [entity] = mia.ok("GET", "/v1/entities/")["results"]
    assert entity == {"id": "mia", "name": "mia", "type": "user", "total_memories": 2}
    mia.ok("DELETE", "/v2/entities/user/mia/")
    assert mia.ok("GET", "/v1/entities/")["results"] == []


def test_a_key_sees_its_tenant_alone(guarded: Served, mia: As) -> None:
    body = {"messages": "The code is on the note.", "user_id": "mia"}
    [made] = mia.ok("POST", "/memories", body)["results"]
    other = As(guarded, guarded.key(f"t{uuid4().hex}"))
    path = f"/memories/{made['id']}"
    assert other("GET", path).status_code == 404
    assert other("PUT", path, {"text": "x"}).status_code == 404
    assert other("DELETE", path).status_code == 404
    assert other.ok("GET", f"{path}/history") == []
    assert other.ok("GET", "/memories", user_id="mia")["results"] == []
    assert other.ok("POST", "/search", {"query": "code", "user_id": "mia"})["results"] == []
    assert other.ok("POST", "/search", {"query": "code", "filters": {"user_id": "*"}}) == {
        "results": []
    }
    assert other.ok("GET", "/v1/entities/")["count"] == 0
    other.ok("DELETE", "/memories", user_id="mia")
    other.ok("POST", "/reset")
    assert mia.ok("GET", path)["memory"] == "The code is on the note."


def test_permissions_and_bank_patterns_hold(guarded: Served) -> None:
    tenant = f"t{uuid4().hex}"
    body = {"messages": "The mooring is paid.", "user_id": "mia"}
    every = As(guarded, guarded.key(tenant))
    every.ok("POST", "/memories", body)
    reader = As(guarded, guarded.key(tenant, "read"))
    assert reader.ok("POST", "/search", {"query": "mooring", "user_id": "mia"})["results"]
    assert reader.ok("POST", "/v3/memories/", {"filters": {"user_id": "mia"}})["count"] == 1
    assert reader("POST", "/memories", body).status_code == 403
    assert reader("POST", "/v1/memories/", body).status_code == 403
    assert reader("DELETE", "/memories", user_id="mia").status_code == 403
    writer = As(guarded, guarded.key(tenant, "write"))
    assert writer.ok("GET", "/v1/ping/")["status"] == "ok"
    assert writer("POST", "/search", {"query": "x", "user_id": "mia"}).status_code == 403
    assert writer("POST", "/reset").status_code == 403
    every.ok("POST", "/reset")
    assert every.ok("GET", "/memories", user_id="mia")["results"] == []


def test_without_a_good_key_nothing_is_answered(guarded: Served) -> None:
    body = {"query": "x", "user_id": "mia"}
    bare = guarded.http.post(f"{ROOT}/search", json=body)
    assert bare.status_code == 401
    assert As(guarded, "m0-wrong")("POST", "/search", body).status_code == 401
    # `Token` is mem0's alone, and its paths are nowhere but under the prefix.
    key = guarded.key(f"t{uuid4().hex}")
    told = {"Authorization": f"Token {key}"}
    assert guarded.http.get("/v1/auth/whoami", headers=told).status_code == 401
    told = {"X-API-Key": key}
    assert guarded.http.post("/search", json=body, headers=told).status_code == 404
    assert guarded.http.get("/v1/ping/", headers=told).status_code == 404


def test_bad_input_is_refused(mia: As) -> None:
    for method, path, body in [
        ("POST", "/memories", {"messages": "x"}),
        ("POST", "/memories", {"messages": 3, "user_id": "mia"}),
        ("POST", "/search", {"query": "x"}),
        ("POST", "/search", {"query": "x", "filters": {"user_id": {"near": 3}}}),
        ("POST", "/search", {"query": "x", "user_id": "mia", "top_k": 0}),
        ("PUT", f"/memories/{uuid4()}", {}),
        ("DELETE", "/v2/entities/robot/mia/", None),
    ]:
        assert mia(method, path, body).status_code in (400, 422), (path, body)


def test_changes_are_in_the_audit_log(guarded: Served) -> None:
    tenant = f"t{uuid4().hex}"
    call = As(guarded, guarded.key(tenant))
    guarded.http.patch(
        "/v1/default/banks/mem0:user:mia/config",
        json={"updates": {"audit": True}},
        headers={"X-API-Key": guarded.key(tenant)},
    )
    call.ok("POST", "/memories", {"messages": "The sail is torn.", "user_id": "mia"})
    guarded.settle()
    logged = guarded.http.get(
        "/v1/default/banks/mem0:user:mia/audit-logs", headers={"X-API-Key": guarded.key(tenant)}
    )
    assert logged.status_code == 200, logged.text
    assert "torn" not in logged.text


def test_mem0s_own_client_works(guarded: Served) -> None:
    python = PROJECT / f".venv/clients/mem0-{VERSION}/bin/python"
    if not python.exists():
        pytest.skip(f"mem0ai {VERSION} is not installed: `make setup` with a network")
    key = guarded.key(f"t{uuid4().hex}")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "REMEMBRANCER_"))}
    done = subprocess.run(
        [python, "-c", SCRIPT, key, f"{guarded.url}{ROOT}"],
        env={**kept, "MEM0_TELEMETRY": "False"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
