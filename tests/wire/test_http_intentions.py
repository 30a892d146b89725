"""Intentions over HTTP: registered, listed, changed, checked, acknowledged."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest
from wire_kit import Server

FOURTEEN = {
    "id", "content", "triggerType", "triggerAt", "triggerEvent", "cueEmbedding", "cueText",
    "similarityThreshold", "importance", "triggered", "recurring", "createdAt", "sourceTraceId",
    "tierRank",
}  # fmt: skip


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Bank:
    """One bank of a server, by the routes of intentions."""

    def __init__(self, server: Server, name: str) -> None:
        self.server, self.path = server, f"/v1/default/banks/{name}"

    def call(self, path: str, body: Any = None, status: int = 200, **more: Any) -> Any:
        answer = self.server.client.post(self.path + path, json=body, **more)
        assert answer.status_code == status, answer.text
        return answer.json()

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        answer = self.server.client.get(self.path + path, params=query)
        assert answer.status_code == status, answer.text
        return answer.json()

    def remind(self, content: str, **more: Any) -> dict[str, Any]:
        if not more.keys() & {
            "triggerEvent",
            "cueText",
            "cueEmbedding",
            "condition",
            "at",
            "recurrence",
        }:
            more.setdefault("triggerAt", now_ms() - 1_000)
        made: dict[str, Any] = self.call("/intentions", {"content": content, **more}, 201)
        return made

    def refused(self, **body: Any) -> dict[str, Any]:
        fault: dict[str, Any] = self.call("/intentions", body, 422)["detail"][0]
        return fault

    def check(self, **body: Any) -> list[dict[str, Any]]:
        self.last = self.call("/intentions/check", body)
        items: list[dict[str, Any]] = self.last["items"]
        return items

    def due(self, **body: Any) -> list[str]:
        return [item["content"] for item in self.check(**body)]

    def patch(self, intention: str, body: Any, status: int = 200) -> Any:
        answer = self.server.client.patch(f"{self.path}/intentions/{intention}", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def act(self, occurrence: str, verb: str, status: int = 200, **body: Any) -> Any:
        return self.call(f"/occurrences/{occurrence}/{verb}", body, status)


@pytest.fixture
def b(server: Server, bank: str) -> Bank:
    return Bank(server, bank)


def test_an_item_has_the_fourteen_properties(b: Bank) -> None:
    unit = b.server.retain(b.path.rpartition("/")[2], "Ann likes pesto.")["unit_ids"][0]
    full = {
        "content": "offer the recipe",
        "triggerType": "context_based",
        "triggerAt": 1_800_000_000_000,
        "triggerEvent": "dinner",
        "cueText": "cooking",
        "cueEmbedding": [0.0, 1.0, 0.5],
        "importance": 0.8,
        "recurring": True,
        "sourceTraceId": unit,
        "tierRank": 2,
    }
    made = b.call("/intentions?include=cueEmbedding", full, 201)
    assert made.keys() >= FOURTEEN
    assert {name: made[name] for name in full} == full
    assert (made["similarityThreshold"], made["triggered"], made["state"]) == (0.7, False, "active")
    got = b.get(f"/intentions/{made['id']}")
    assert "cueEmbedding" not in got
    assert got | {"cueEmbedding": made["cueEmbedding"]} == made
    listed = b.get("/intentions", limit=1)
    assert (listed["items"], listed["total"], listed["limit"]) == ([got], 1, 1)


def test_snake_case_is_taken_and_what_is_unknown_is_told(b: Bank) -> None:
    body = {"content": "x", "trigger_type": "time_based", "trigger_at": 5, "createdAt": 1, "zap": 2}
    answer = b.server.post(f"{b.path}/intentions", body)
    assert answer.status_code == 201
    assert answer.json()["triggerAt"] == 5
    assert answer.headers["X-Ignored-Params"] == "createdAt, zap"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"triggerAt": 5}, "content"),
        ({"content": " ", "triggerAt": 5}, "content"),
        ({"content": "x", "triggerAt": "5"}, "triggerAt"),
        ({"content": "x", "triggerAt": True}, "triggerAt"),
        ({"content": "x", "triggerAt": 1e300}, "triggerAt"),
        ({"content": "x", "triggerType": "time_based"}, "triggerAt"),
        ({"content": "x", "triggerType": "event_based"}, "triggerEvent"),
        ({"content": "x", "triggerType": "context_based"}, "cueText"),
        ({"content": "x", "triggerType": "sometime"}, "triggerType"),
        ({"content": "x", "triggerAt": 5, "triggerEvent": "e"}, "triggerType"),
        ({"content": "x", "triggerAt": 5, "importance": "high"}, "importance"),
        ({"content": "x", "triggerAt": 5, "tierRank": "2"}, "tierRank"),
        ({"content": "x", "triggerAt": 5, "similarityThreshold": 2}, "similarityThreshold"),
        ({"content": "x", "triggerAt": 5, "expiresAt": 6}, "expiresAt"),
        ({"content": "x", "triggerAt": 5, "misfire": "often"}, "misfire"),
        ({"content": "x", "triggerAt": 5, "cooldownSeconds": -1}, "cooldownSeconds"),
        ({"content": "x", "triggerAt": 5, "zone": "Mars/Base"}, "zone"),
        (
            {"content": "x", "triggerAt": 5, "quietHours": {"start": "25:00", "end": "6:00"}},
            "quietHours.start",
        ),
        ({"content": "x", "triggerAt": 5, "sourceTraceId": "0" * 32}, "sourceTraceId"),
        ({"content": "x", "cueEmbedding": []}, "cueEmbedding"),
        ({"content": "x", "at": "some day or other"}, "at"),
        ({"content": "x", "recurrence": {"rrule": "FREQ=NEVER"}}, "rrule"),
        ({"content": "x", "recurrence": {"cron": "* *"}}, "cron"),
        ({"content": "x", "recurrence": {"every": 5}}, "every"),
        ({"content": "x", "recurrence": {"every": 60, "until": 5}}, "recurrence"),
        ({"content": "x", "condition": {"all": []}}, "condition.all"),
        ({"content": "x", "condition": {"any": [{"time": {"before": 5}}]}}, "condition"),
        ({"content": "x", "condition": {"any": [{"event": 5}]}}, "condition.any.0.event"),
        ({"content": "x", "triggerAt": 5, "id": "no id"}, "id"),
        ({"content": "x", "triggerAt": 5, "state": "done"}, "state"),
    ],
)
def test_what_cannot_fire_is_refused_and_named(b: Bank, body: Any, field: str) -> None:
    fault = b.refused(**body)
    assert fault["field"] == field
    assert field.rpartition(".")[2] in fault["msg"]
    assert b.get("/intentions")["total"] == 0


def test_not_a_number_is_no_json(b: Bank) -> None:
    answer = b.server.client.post(
        f"{b.path}/intentions",
        content='{"content": "x", "triggerAt": NaN}',
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 422


def test_several_at_once_are_all_kept_or_none(b: Bank) -> None:
    bad = b.refused(items=[{"content": "x", "triggerAt": 5}, {"content": "y"}])
    assert bad["field"] == "items.1.triggerType"
    assert b.get("/intentions")["total"] == 0
    made = b.call(
        "/intentions",
        {"items": [{"content": "x", "triggerAt": 5}, {"content": "y", "triggerEvent": "e"}]},
        201,
    )
    assert [i["content"] for i in made["items"]] == ["x", "y"]
    assert "seconds" in made["warnings"][0]


@pytest.mark.both_stores
def test_the_same_key_makes_the_same_once(b: Bank) -> None:
    body = {"content": "call Bob", "triggerAt": now_ms() + 60_000}
    path = f"{b.path}/intentions"
    answers = [
        b.server.client.post(path, json=body, headers={"Idempotency-Key": "k1"}) for _ in range(3)
    ]
    assert {a.status_code for a in answers} == {201}
    assert len({a.text for a in answers}) == 1
    assert b.get("/intentions")["total"] == 1
    two = {"items": [body, body]}
    clash = b.server.client.post(path, json=two, headers={"Idempotency-Key": "k1"})
    assert clash.status_code == 409
    own = "0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10"
    for _ in range(2):
        assert b.remind("own", id=own)["id"] == own
    assert b.get("/intentions")["total"] == 2


@pytest.mark.both_stores
def test_lease_ack_and_the_tokens(b: Bank) -> None:
    made = b.remind("call Bob")
    [item] = b.check(lease_seconds=1)
    one = item["occurrence"]
    assert item["id"] == made["id"]
    assert (one["state"], one["token"], one["missed_count"]) == ("leased", 1, 0)
    assert b.due() == []
    assert b.act(one["id"], "extend", leaseSeconds=30)["state"] == "leased"
    b.act(one["id"], "ack", 409, token=7)
    back = b.act(one["id"], "nack", token=1)
    assert back["state"] == "due"
    [again] = b.check()
    assert again["occurrence"]["token"] == 2
    b.act(one["id"], "ack", 409, token=1)
    done = b.act(one["id"], "ack", token=2)
    assert done["state"] == "acked"
    assert done["intention"]["triggered"] is True
    assert done["intention"]["state"] == "done"
    assert b.act(one["id"], "ack", token=2)["state"] == "acked"
    assert "acked" in b.act(one["id"], "dismiss", 409)["detail"]
    without = b.server.client.post(f"{b.path}/occurrences/{one['id']}/ack")
    assert without.status_code == 200
    assert b.get("/occurrences", state="acked")["items"][0]["id"] == one["id"]
    assert b.get("/occurrences", state="due")["items"] == []
    assert b.get(f"/occurrences/{one['id']}")["intention"]["content"] == "call Bob"


def test_snoozing_by_time_span_and_words(b: Bank) -> None:
    b.remind("call Bob", zone="Europe/Berlin")
    one = b.check()[0]["occurrence"]["id"]
    assert b.act(one, "snooze", seconds=60)["state"] == "snoozed"
    assert b.act(one, "snooze", until=now_ms() + 9_000)["ready_at"] > now_ms()
    assert b.act(one, "snooze", at="in 3 days")["ready_at"] > now_ms() + 2 * 86_400_000
    for bad in ({}, {"until": 5}, {"seconds": 5, "at": "tomorrow"}, {"at": "once upon"}):
        b.act(one, "snooze", 422, **bad)
    assert b.due() == []


def test_consume_peek_limit_and_remaining(b: Bank) -> None:
    for n in range(5):
        b.remind(f"n{n}", importance=n / 10)
    assert b.due(mode="peek", limit=2) == ["n4", "n3"]
    assert b.last["remaining"] == 3
    assert b.due(mode="consume", limit=2) == ["n4", "n3"]
    assert b.due(mode="consume") == ["n2", "n1", "n0"]
    assert b.due(mode="peek") == []


def test_a_later_now_counts_only_for_peek(b: Bank) -> None:
    b.remind("later", triggerAt=now_ms() + 3_600_000)
    ahead = now_ms() + 7_200_000
    assert b.due(mode="peek", now=ahead) == ["later"]
    assert b.due(now=ahead) == []
    assert "clock" in b.last["warnings"][0]


def test_contexts_by_words_and_by_vector(b: Bank) -> None:
    b.remind("pesto", cueText="cooking recipes")
    b.remind("tune", cueEmbedding=[1, 0, 0])
    assert b.due(mode="peek", queryText="cooking recipes") == ["pesto"]
    assert b.due(mode="peek", queryEmbedding=[1, 0, 0]) == ["tune"]
    assert "dimension" in b.last["warnings"][0]
    assert b.due(mode="peek", queryEmbedding=[0, 1, 0]) == []


def test_the_ceiling_hides_and_consumes_nothing(b: Bank) -> None:
    secret = b.remind("secret", tierRank=2)
    b.remind("open")
    assert b.due(mode="consume", maxTierRank=1) == ["open"]
    assert b.last["remaining"] == 0
    assert b.get("/intentions", maxTierRank=1)["total"] == 1
    b.get(f"/intentions/{secret['id']}", 404, maxTierRank=1)
    b.get("/intentions", 422, maxTierRank="nan")
    [leased] = b.check()
    b.act(leased["occurrence"]["id"], "ack", 404, maxTierRank=1)
    assert b.act(leased["occurrence"]["id"], "ack")["state"] == "acked"


def test_rules_preview_and_words(b: Bank) -> None:
    daily = {"rrule": "FREQ=DAILY", "start": "2026-03-07T02:30", "exdate": ["2026-03-09T02:30"]}
    made = b.remind("stretch", recurrence=daily, zone="America/New_York")
    assert made["recurring"] is True
    assert made["recurrence"] == daily | {
        "start": "2026-03-07T02:30:00",
        "exdate": ["2026-03-09T02:30:00"],
        "zone": "America/New_York",
    }
    times = b.get(f"/intentions/{made['id']}/preview", limit=3)["next"]
    assert len(times) == 3
    assert times[0] == made["nextDue"]
    assert times[0] > now_ms()
    said = b.remind("stand-up", at="every monday at 9", zone="Europe/Berlin")
    assert "MO" in said["recurrence"]["rrule"]
    once = b.remind("call", at="in 2 hours")
    assert abs(once["triggerAt"] - now_ms() - 7_200_000) < 60_000
    assert b.get(f"/intentions/{once['id']}/preview")["next"] == [once["triggerAt"]]


@pytest.mark.both_stores
def test_patching_pausing_cancelling_removing(b: Bank) -> None:
    soon = now_ms() + 3_600_000
    made = b.remind("call Bob", triggerAt=soon, cooldownSeconds=5, channel="mail")
    changed = b.patch(made["id"], {"content": "call Ann", "importance": 0.9, "channel": None})
    assert (changed["content"], changed["importance"]) == ("call Ann", 0.9)
    assert (changed.get("channel"), changed["cooldownSeconds"]) == (None, 5)
    assert changed["createdAt"] == made["createdAt"]
    b.patch(made["id"], {"state": "paused", "triggerAt": now_ms() - 1})
    assert b.due() == []
    b.patch(made["id"], {"state": "active"})
    assert b.due() == ["call Ann"]
    assert b.last["items"][0]["occurrence"]["missed_count"] == 0
    b.patch(made["id"], {"importance": 0.1})
    assert b.patch(made["id"], {"state": "cancelled"})["state"] == "cancelled"
    assert [o["state"] for o in b.get("/occurrences")["items"]] == ["dismissed"]
    b.patch(made["id"], {"importance": 0.2}, 409)
    b.patch(made["id"], {"state": "active"}, 422)
    again = b.patch(made["id"], {"state": "active", "triggerAt": now_ms() - 5})
    assert again["state"] == "active"
    assert b.due() == ["call Ann"]
    b.patch(made["id"], {"triggerAt": "soon"}, 422)
    assert b.get("/intentions", state="active")["total"] == 1
    path = f"{b.path}/intentions/{made['id']}"
    assert b.server.client.delete(path).json() == {"success": True, "removed": 1}
    assert b.server.client.delete(path).status_code == 404
    assert b.get("/occurrences")["items"] == []


@pytest.mark.both_stores
def test_banks_are_apart(b: Bank, server: Server) -> None:
    made = b.remind("call Bob")
    other = Bank(server, "another-" + b.path.rpartition("-")[2])
    other.get(f"/intentions/{made['id']}", 404)
    other.patch(made["id"], {"importance": 1}, 404)
    assert other.due() == []
    assert b.due() == ["call Bob"]


def test_prime_brings_what_is_due_and_takes_nothing(b: Bank) -> None:
    b.remind("call Bob", importance=0.9)
    b.remind("pesto", cueText="cooking recipes")
    body = {"entity_id": b.path.rpartition("/")[2], "similarity_cue": "cooking recipes"}
    for _ in range(2):
        primed = b.server.post("/v1/prime", body).json()
        assert [d["content"] for d in primed["due"]] == ["call Bob", "pesto"]
    b.check()
    primed = b.server.post("/v1/prime", body).json()
    assert primed["due"][0]["occurrence"]["state"] == "leased"


@pytest.mark.both_stores
def test_a_retained_text_registers_what_it_says_once(b: Bank) -> None:
    bank = b.path.rpartition("/")[2]
    item = {"content": "Remind me to water the ferns tomorrow at 9 am.", "document_id": "d"}
    kept = b.server.retain(bank, item)
    assert kept["intentions_count"] == 1
    [found] = b.get("/intentions")["items"]
    assert found["id"] == kept["intention_ids"][0]
    assert "ferns" in found["content"]
    assert found["triggerAt"] > now_ms()
    assert found["sourceTraceId"] in kept["unit_ids"]
    assert b.server.retain(bank, item)["intentions_count"] == 0
    more = {**item, "content": item["content"] + "\n\nThe ferns stand in the hall."}
    assert b.server.retain(bank, more)["intentions_count"] == 0
    assert b.get("/intentions")["total"] == 1
    gone = b.server.post("/v1/forget", {"entity_id": bank, "document_ids": ["d"]})
    assert gone.status_code == 200
    assert b.get("/intentions")["total"] == 0


def test_old_times_of_a_retained_text_are_over(b: Bank) -> None:
    bank = b.path.rpartition("/")[2]
    old = {"content": "Remind me to call Bob tomorrow at 9.", "timestamp": "2020-05-08T10:00:00Z"}
    assert b.server.retain(bank, old)["intentions_count"] == 0


def test_every_route_is_described(server: Server) -> None:
    paths = httpx.get(f"{server.url}/openapi.json").json()["paths"]
    prefix = "/v1/default/banks/{bank_id}"
    for path in ("/intentions", "/intentions/check", "/occurrences/{occurrence_id}/ack", "/events"):
        assert "post" in paths[prefix + path]
    assert "get" in paths[f"{prefix}/intentions.ics"]
