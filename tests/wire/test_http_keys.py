"""API keys over HTTP: who is let in, who administers them, and what a bound server asks for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from cli_kit import Cli
from wire_kit import MAIN, Server

from remembrancer.faces.exposure import LEAST_KEY_CHARS
from remembrancer.faces.serving import run
from remembrancer.nouns.errors import InvalidInput
from remembrancer.settings import Settings
from stores_kit import KeptIn

ROOT = "the-key-of-the-container"
BANK = "/v1/default/banks/{}"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory, kept_in: KeptIn) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("guarded")
    more = {"rate_admin": "1000", "rate_admin_burst": "1000", **kept_in(folder)}
    with Server(folder, api_key=ROOT, **more) as running:
        yield running


class As:
    """A client with a key."""

    def __init__(self, server: Server, key: str) -> None:
        self._client = server.client
        self._headers = {"Authorization": f"Bearer {key}"}

    def __call__(self, method: str, path: str, body: Any = None) -> httpx.Response:
        return self._client.request(method, path, json=body, headers=self._headers)

    def key(self, **options: Any) -> dict[str, Any]:
        named = {} if "label" in options else {"name": "k"}
        made = self("POST", "/v1/keys", named | options)
        assert made.status_code == 201, made.text
        assert made.headers["Cache-Control"] == "no-store"
        found: dict[str, Any] = made.json()
        return found


@pytest.fixture
def root(guarded: Server) -> As:
    return As(guarded, ROOT)


def retain(caller: As, bank: str, text: str = "The kettle is blue.") -> httpx.Response:
    return caller("POST", BANK.format(bank) + "/memories", {"items": [{"content": text}]})


@pytest.mark.both_stores
def test_keys_are_made_listed_rotated_and_revoked(guarded: Server, root: As) -> None:
    made = root.key(tenant="life", permissions=["read", "admin"], expires_at="2999-01-01T00:00:00Z")
    assert made["key"] == made["api_key"]
    assert made["key"].startswith("rmb_")
    assert (made["tenant"], made["role"], made["revokedAt"]) == ("life", "admin", None)
    caller = As(guarded, made["key"])
    who = caller("GET", "/v1/auth/whoami").json()
    assert who == {
        "authenticated": True,
        "tenant": "life",
        "key_id": made["id"],
        "name": "k",
        "permissions": ["admin", "read"],
        "banks": [],
        "max_tier_rank": None,
        "expires_at": "2999-01-01T00:00:00Z",
    }
    other = caller.key(label="sub", permissions=["read"])  # HEBBS's name of it
    listed = caller("GET", "/v1/keys").json()
    assert [k["id"] for k in listed["keys"]] == [other["id"], made["id"]]
    assert "key" not in listed["keys"][0]
    assert other["name"] == "sub"
    rotated = caller("POST", f"/v1/keys/{other['id']}/rotate").json()
    for secret, status in ((other["key"], 401), (rotated["key"], 200)):
        assert As(guarded, secret)("GET", "/v1/default/banks").status_code == status
    graced = caller("POST", f"/v1/keys/{other['id']}/rotate", {"grace_seconds": 60}).json()
    for secret in (rotated["key"], graced["key"]):
        assert As(guarded, secret)("GET", "/v1/default/banks").status_code == 200
    gone = caller("DELETE", f"/v1/keys/{other['id']}")
    assert gone.json()["revoked_at"] == gone.json()["revokedAt"] is not None
    for secret in (rotated["key"], graced["key"]):
        assert As(guarded, secret)("GET", "/v1/default/banks").status_code == 401


def test_ways_to_send_a_key(guarded: Server) -> None:
    for headers, status in (
        ({"Authorization": f"Bearer {ROOT}"}, 200),
        ({"Authorization": f"bearer {ROOT}"}, 200),
        ({"X-API-Key": ROOT}, 200),
        ({}, 401),
        ({"Authorization": ROOT}, 401),
        ({"Authorization": f"Basic {ROOT}"}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": "Bearer rmb_x", "X-API-Key": ROOT}, 401),
        ({"X-API-Key": ROOT + "x"}, 401),
    ):
        answer = guarded.client.get("/v1/default/banks", headers=headers)
        assert answer.status_code == status, headers
        assert status == 200 or answer.headers["WWW-Authenticate"] == "Bearer"


def test_refusals_are_told_in_the_dialect_of_the_path(guarded: Server, root: As) -> None:
    bank = guarded.client.post(BANK.format("b") + "/memories", json={"items": []})
    assert (bank.status_code, list(bank.json())) == (401, ["detail"])
    entity = guarded.client.post("/v1/prime", json={"entity_id": "b"})
    assert (entity.json()["error_code"], entity.json()["code"]) == (
        "unauthenticated",
        "UNAUTHENTICATED",
    )
    reader = As(guarded, root.key(tenant="dialects", permissions=["read"])["key"])
    assert retain(reader, "b").json() == {
        "detail": "insufficient permissions: requires write; ask an administrator for a key that "
        "has it"
    }
    told = reader("POST", "/v1/forget", {"entity_id": "b", "document_ids": ["d"]})
    assert (told.status_code, told.json()["code"]) == (403, "PERMISSION_DENIED")


def test_what_is_open_tells_no_counts(guarded: Server) -> None:
    for path in ("/health", "/health/live", "/v1/health/ready", "/version"):
        answer = guarded.client.get(path)
        assert answer.status_code == 200
        assert not {"banks", "units", "count", "memory_count"} & answer.json().keys()
    for path in ("/", "/openapi.json", "/metrics", "/v1/status", "/nothing", "/health/nothing"):
        assert guarded.client.get(path).status_code == 401


def test_figures_of_all_tenants_need_a_key_of_all(guarded: Server, root: As) -> None:
    assert root("GET", "/metrics").status_code == 200
    whole = root("GET", "/v1/status").json()
    assert whole["pending_vectors"] == 0
    assert whole["store"]["size_bytes"] > 0
    mine = As(guarded, root.key(tenant="narrow")["key"])
    assert mine("GET", "/metrics").status_code == 403
    status = mine("GET", "/v1/status").json()
    assert status["pending_vectors"] is status["index_memory_bytes"] is None
    assert status["store"].keys() == {"ok", "engine", "schema"}
    assert status["banks"] == []


@pytest.mark.both_stores
def test_banks_that_a_key_reaches(guarded: Server, root: As) -> None:
    whole = As(guarded, root.key(tenant="reach")["key"])
    for bank in ("a-1", "a-2", "b"):
        assert retain(whole, bank).status_code == 200
    memory = whole("GET", BANK.format("b") + "/memories/list").json()["items"][0]["id"]
    chunk = "b_doc_0"
    item = {"content": "The lamp is red.", "document_id": "doc"}
    assert whole("POST", BANK.format("b") + "/memories", {"items": [item]}).status_code == 200
    assert whole("GET", f"/v1/default/chunks/{chunk}").status_code == 200

    part = As(guarded, root.key(tenant="reach", banks=["a-*"])["key"])
    listed = part("GET", "/v1/default/banks?limit=1&offset=1").json()
    assert ([b["bank_id"] for b in listed["banks"]], listed["total"]) == (["a-2"], 2)
    assert [b["bank_id"] for b in part("GET", "/v1/status").json()["banks"]] == ["a-1", "a-2"]
    assert retain(part, "a-3").status_code == 200
    assert retain(part, "b").status_code == 403
    assert part("POST", "/v1/prime", {"entity_id": "b"}).status_code == 403
    across = {"query": "lamp", "banks": ["a-1", "b"]}
    assert part("POST", BANK.format("a-1") + "/memories/recall", across).status_code == 403
    assert part("GET", f"/v1/default/chunks/{chunk}").status_code == 404
    gone = part("POST", "/v1/forget", {"memory_ids": [memory]}).json()
    assert (gone["forgotten_count"], len(gone["missing_ids"])) == (0, 1)
    assert whole("GET", BANK.format("b") + f"/memories/{memory}").status_code == 200


def test_nobody_makes_or_rotates_a_key_that_may_do_more(guarded: Server, root: As) -> None:
    first = root.key(tenant="ranks", permissions=["admin", "read"], max_tier_rank=2)
    admin = As(guarded, first["key"])
    for more in (
        {"permissions": ["write"]},
        {"permissions": ["cross_tenant"]},
        {"permissions": ["read"], "tenant": "other"},
    ):
        refused = admin("POST", "/v1/keys", {"name": "k", **more})
        assert refused.status_code == 403, more
    assert admin.key(permissions=["read"])["max_tier_rank"] == 2
    assert admin.key(permissions=["read"], max_tier_rank=5)["max_tier_rank"] == 2
    for stronger in (
        root.key(tenant="ranks", permissions=["write"], max_tier_rank=1),
        root.key(tenant="ranks", permissions=["read"]),
    ):
        path = f"/v1/keys/{stronger['id']}"
        assert admin("POST", f"{path}/rotate").status_code == 403
        assert admin("DELETE", path).status_code == 200
    slow = {"read": {"per_second": 1, "burst": 20}}
    limited = As(
        guarded, root.key(tenant="ranks", permissions=["admin", "read"], rates=slow)["key"]
    )
    for rates in ({}, {"read": {"per_second": 2, "burst": 20}}):
        faster = root.key(tenant="ranks", permissions=["read"], rates=rates)
        refused = limited("POST", f"/v1/keys/{faster['id']}/rotate")
        assert (refused.status_code, "more often" in refused.text) == (403, True)
    child = limited.key(permissions=["read"])
    assert limited("POST", f"/v1/keys/{child['id']}/rotate").status_code == 200
    foreign = root.key(tenant="elsewhere")
    for method, path in (("DELETE", ""), ("POST", "/rotate")):
        assert admin(method, f"/v1/keys/{foreign['id']}{path}").status_code == 404
    assert foreign["id"] not in admin("GET", "/v1/keys").text
    own = admin("POST", f"/v1/keys/{first['id']}/rotate")
    assert own.status_code == 200
    writer = As(guarded, root.key(tenant="ranks")["key"])
    for method, path in (("POST", ""), ("GET", ""), ("DELETE", f"/{first['id']}")):
        assert writer(method, f"/v1/keys{path}", {"name": "k"}).status_code == 403


def test_settings_of_banks_are_for_administrators(guarded: Server, root: As) -> None:
    writer = As(guarded, root.key(tenant="config")["key"])
    path = BANK.format("b") + "/config"
    update = {"updates": {"audit_log_enabled": False}}
    assert writer("PUT", BANK.format("b"), {"name": "B"}).status_code == 200
    assert writer("GET", path).status_code == 200
    assert writer("PATCH", path, update).status_code == 403
    assert writer("DELETE", path).status_code == 403
    manifest = {"version": "1", "bank": {"audit_log_enabled": False}}
    assert writer("POST", BANK.format("b") + "/import", manifest).status_code == 403
    admin = As(guarded, root.key(tenant="config", permissions=["admin"])["key"])
    assert admin("PATCH", path, update).status_code == 200
    assert admin("GET", path).status_code == 403  # admin does not imply read


def test_the_tier_rank_of_a_key_is_a_ceiling(guarded: Server, root: As) -> None:
    path = BANK.format("b") + "/intentions"
    intention = {"content": "Call Otto", "triggerAt": 4_000_000_000_000, "tierRank": 5}
    whole = As(guarded, root.key(tenant="tiers")["key"])
    made = whole("POST", path, intention)
    assert made.status_code == 201, made.text
    below = As(guarded, root.key(tenant="tiers", max_tier_rank=4)["key"])
    assert whole("GET", path).json()["total"] == 1
    assert below("GET", path).json()["total"] == 0
    assert below("GET", f"{path}?maxTierRank=9").json()["total"] == 0
    assert below("GET", f"{path}/{made.json()['id']}").status_code == 404


def test_a_webhook_is_sent_no_more_than_the_key_that_set_it_up_may_see(
    guarded: Server, root: As
) -> None:
    above = As(guarded, root.key(tenant="hooks")["key"])
    below = As(guarded, root.key(tenant="hooks", max_tier_rank=4)["key"])
    path = "/v1/default/banks/b/webhooks"
    hook = {"url": "https://hooks.example/a", "event_types": ["intention.due"]}
    made = below("POST", path, hook).json()
    assert made["max_tier_rank"] == 4
    assert above("PATCH", f"{path}/{made['id']}", {}).json()["max_tier_rank"] is None
    taken = below("PATCH", f"{path}/{made['id']}", {"url": "https://hooks.example/b"})
    assert taken.json()["max_tier_rank"] == 4


def test_deliveries_of_what_is_ranked_above_a_key_do_not_exist_for_it(
    guarded: Server, root: As
) -> None:
    above = As(guarded, root.key(tenant="delivered")["key"])
    below = As(guarded, root.key(tenant="delivered", max_tier_rank=4)["key"])
    bank = BANK.format("b")
    hook = {"url": "https://hooks.example/a", "event_types": ["intention.due"]}
    sent = f"{bank}/webhooks/{above('POST', f'{bank}/webhooks', hook).json()['id']}/deliveries"
    ranks = [5, 1, 5, 5, 4, 5]
    items = [{"content": "look", "triggerAt": 10**12 + n, "tierRank": n} for n in ranks]
    for item in items:
        assert above("POST", f"{bank}/intentions", item).status_code == 201

    def pages(caller: As, limit: int) -> list[dict[str, Any]]:
        found, cursor = [], ""
        while cursor is not None:
            page = caller("GET", f"{sent}?limit={limit}{cursor and f'&cursor={cursor}'}").json()
            found += page["items"]
            assert len(page["items"]) == limit or page["next_cursor"] is None
            cursor = page["next_cursor"]
        return found

    until = time.monotonic() + 10
    while len(pages(above, 50)) < len(ranks) and time.monotonic() < until:
        time.sleep(0.1)
    every = [each["id"] for each in pages(above, 1)]
    assert len(every) == len(set(every)) == len(ranks)
    seen = above("GET", f"{bank}/occurrences?maxTierRank=4").json()["items"]
    for limit in (1, 2, 50):
        mine = pages(below, limit)
        assert {each["occurrence_id"] for each in mine} == {each["id"] for each in seen}
        assert len(mine) == 2
    [hidden, *_] = set(every) - {each["id"] for each in mine}
    assert below("POST", f"{sent}/{hidden}/replay").status_code == 404
    assert above("POST", f"{sent}/{hidden}/replay").status_code in (202, 409)


def test_an_event_tells_no_more_than_was_asked_for(guarded: Server, root: As) -> None:
    caller = As(guarded, root.key(tenant="tellers")["key"])
    item = {"triggerType": "event_based", "triggerEvent": "deploy"}
    path = BANK.format("b")
    for rank in (1, 5):
        made = caller("POST", f"{path}/intentions", {**item, "content": "look", "tierRank": rank})
        assert made.status_code == 201
    told = caller("POST", f"{path}/events?maxTierRank=1", {"name": "deploy"}).json()
    assert len(told["occurrences"]) == 1


@pytest.mark.both_stores
def test_reading_keys_look_and_do_not_take(guarded: Server, root: As) -> None:
    writer = As(guarded, root.key(tenant="looks")["key"])
    reader = As(guarded, root.key(tenant="looks", permissions=["read"])["key"])
    retain(writer, "b")
    check = BANK.format("b") + "/intentions/check"
    for mode, status in (("peek", 200), ("lease", 403), ("consume", 403)):
        assert reader("POST", check, {"mode": mode}).status_code == status
    for caller, counted in ((reader, 0), (writer, 1)):
        assert caller("POST", "/v1/prime", {"entity_id": "b"}).json()["count"] > 0
        time.sleep(0.2)  # counts are flushed every tenth of a second
        found = reader("POST", "/v1/prime", {"entity_id": "b"}).json()["results"]
        assert {memory["access_count"] for memory in found} == {counted}


def test_a_stream_ends_when_its_key_is_revoked(guarded: Server, root: As) -> None:
    path = BANK.format("b") + "/intentions"
    writer = As(guarded, root.key(tenant="streams")["key"])
    made = root.key(tenant="streams")
    headers = {"Authorization": f"Bearer {made['key']}"}
    writer("POST", path, {"content": "Before", "triggerAt": 1_000_000})
    with guarded.client.stream("GET", f"{path}/stream", headers=headers) as stream:
        pieces = stream.iter_text()
        said = ""
        while "Before" not in said:
            said += next(pieces)
        assert root("DELETE", f"/v1/keys/{made['id']}").status_code == 200
        writer("POST", path, {"content": "After", "triggerAt": 2_000_000})
        assert "After" not in "".join(pieces)


def test_rates_are_kept_by_key_and_class(guarded: Server, root: As) -> None:
    slow = {"per_second": 0.001, "burst": 2}
    made = root.key(tenant="rates", rates={"read": slow})
    assert made["rates"] == {"read": slow}
    caller = As(guarded, made["key"])
    statuses = [caller("GET", "/v1/default/banks").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    late = caller("POST", "/v1/prime", {"entity_id": "b"})
    assert (late.status_code, late.json()["error_code"]) == (429, "rate_limited")
    assert 0 < int(late.headers["Retry-After"]) <= 1000
    assert retain(caller, "b").status_code == 200


def test_changes_name_the_key_that_made_them(guarded: Server, root: As) -> None:
    made = root.key(tenant="events")
    caller = As(guarded, made["key"])
    retain(caller, "b")
    [entry] = caller("GET", BANK.format("b") + "/audit-logs").json()["items"]
    assert entry["request"]["key_id"] == made["id"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "k", "permissions": ["all"]}, "permissions.0"),
        ({"name": "k", "permissions": []}, "permissions"),
        ({"name": "k", "tenant": "a b"}, "tenant"),
        ({"name": "k", "expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"name": "k", "expires_at": "soon"}, "expires_at"),
        ({"name": "k", "banks": [""]}, "banks.0"),
        ({"name": "k", "rates": {"read": {"per_second": 0, "burst": 1}}}, "rates.read.per_second"),
    ],
)
def test_keys_that_cannot_be(root: As, body: Any, field: str) -> None:
    refused = root("POST", "/v1/keys", body)
    assert refused.status_code == 400, refused.text
    assert refused.json()["details"][0]["field"] == field


def test_a_running_server_learns_of_the_first_key(folder: Path) -> None:
    with Server(folder) as server:
        assert server.client.get("/v1/default/banks").status_code == 200
        assert server.client.get("/v1/auth/whoami").json()["authenticated"] is False
        refused = server.post("/v1/keys", {"name": "k"})
        assert refused.status_code == 403
        assert "remembrancer keys create" in refused.json()["message"]
        made = Cli(folder).ok("keys", "create", "laptop", "--json").json
        deadline = time.monotonic() + 30
        while server.client.get("/v1/default/banks").status_code == 200:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        caller = As(server, made["key"])
        assert retain(caller, "b").status_code == 200
        cli = Cli(folder)
        assert [k["id"] for k in cli.ok("keys", "list", "--json").json["keys"]] == [made["id"]]
        second = cli.ok("keys", "rotate", made["id"]).out.strip()
        assert second.startswith("rmb_")
        assert cli.ok("keys", "revoke", made["id"], "--json").json["revoked_at"]
        actions = [e["action"] for e in cli.ok("keys", "log", "--json").json["entries"]]
        assert actions == ["key.revoke", "key.rotate", "key.create"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost"}, 200),
        ({"Host": "LOCALHOST:1"}, 200),
        ({"Host": "[::1]:6381"}, 200),
        ({"Host": "memory.test"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "localhost.evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:6381"}, 421),
        ({"Host": "10.0.0.1"}, 421),
        ({"Host": "["}, 421),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example", "Authorization": "Bearer any"}, 421),
    ],
)
def test_pages_in_browsers_are_kept_out_without_keys(
    named: Server, headers: dict[str, str], status: int
) -> None:
    assert named.post("/v1/prime", {"entity_id": "b"}, headers=headers).status_code == status


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("named"), allowed_hosts='["memory.test"]') as running:
        yield running


def test_with_keys_any_host_will_do(guarded: Server) -> None:
    headers = {"Host": "memory.example", "Authorization": f"Bearer {ROOT}"}
    assert guarded.client.get("/v1/default/banks", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("settings", "says", "field"),
    [
        ({"http": "0.0.0.0:0"}, "no API key yet", "http"),
        ({"grpc": "0.0.0.0:0"}, "no API key yet", "grpc"),
        ({"http": "0.0.0.0:0", "auth": "off", "api_key": "k" * 20}, "auth is off", "http"),
        ({"http": "0.0.0.0:0", "api_key": "k" * (LEAST_KEY_CHARS - 1)}, "fewer", "api_key"),
        ({"auth": "on"}, "auth is on, and there is no API key", "auth"),
    ],
)
def test_others_are_not_served_without_keys(
    folder: Path, settings: dict[str, str], says: str, field: str
) -> None:
    given: dict[str, Any] = {"http": "127.0.0.1:0", "grpc": "off", "embedder": "none", **settings}
    for exists in (False, True):
        if exists:
            folder.mkdir(exist_ok=True)
        with pytest.raises(InvalidInput, match=says) as refused:
            run(Settings(data=folder, **given))
        assert refused.value.field == field
        assert exists or not folder.exists()


def test_others_are_served_with_keys(folder: Path) -> None:
    made = Cli(folder).ok("keys", "create", "k").out.strip()
    with Server(folder, MAIN, http="0.0.0.0:0", grpc="off") as server:
        url = server.url.replace("0.0.0.0", "127.0.0.1")
        assert httpx.get(f"{url}/v1/default/banks").status_code == 401
        headers = {"Authorization": f"Bearer {made}"}
        assert httpx.get(f"{url}/v1/default/banks", headers=headers).status_code == 200
