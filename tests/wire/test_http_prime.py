"""Prime and forget over HTTP."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from wire_kit import Server

from remembrancer.faces.http.prime import PrimeResponse
from stores_kit import bytes_of

FLAT = {
    "memory_id",
    "content",
    "importance",
    "decay_score",
    "entity_id",
    "kind",
    "access_count",
    "created_at_us",
    "last_accessed_at_us",
    "context",
    "file_path",
}


def _prime(server: Server, **body: Any) -> dict[str, Any]:
    answer = server.post("/v1/prime", body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.both_stores
def test_each_result_is_flat_and_nested(server: Server, bank: str) -> None:
    server.retain(bank, *(f"Door number {n} is red" for n in range(12)))
    found = _prime(server, entity_id=bank, similarity_cue="door number 3", max_memories=8)
    assert found["count"] == len(found["results"]) == 8
    assert found["temporal_count"] == found["similarity_count"] == 4
    seen = {"temporal": 0, "similarity": 0}
    for result in found["results"]:
        assert {k: result[k] for k in FLAT} == {k: result["memory"][k] for k in FLAT}
        assert len(result["memory_id"]) == 32
        assert result["entity_id"] == bank
        assert result["kind"] == "document"
        assert result["context"] == {}
        (detail,) = result["strategy_details"]
        seen[detail["strategy"]] += 1
        assert detail["relevance"] == result["relevance"]
        if detail["strategy"] == "temporal":
            assert detail.keys() == {"strategy", "timestamp", "rank", "relevance"}
            assert detail["timestamp"] == result["memory"]["said_at_us"]
        else:
            assert detail.keys() == {"strategy", "distance", "relevance"}
            assert detail["distance"] == pytest.approx(1 - detail["relevance"])
    assert seen == {"temporal": 4, "similarity": 4}


def test_without_a_cue_the_newest_come(server: Server, bank: str) -> None:
    server.retain(bank, *(f"Door number {n} is red" for n in range(30)))
    found = _prime(server, entity_id=bank)
    assert (found["count"], found["temporal_count"], found["similarity_count"]) == (20, 20, 0)
    ranks = sorted(r["strategy_details"][0]["rank"] for r in found["results"])
    assert ranks == list(range(20))


def test_bounds(server: Server, bank: str) -> None:
    server.retain(bank, *(f"Door number {n} is red" for n in range(210)))
    assert _prime(server, entity_id=bank, max_memories=1_000)["count"] == 200
    assert _prime(server, entity_id=bank, max_memories=0)["count"] == 0
    only = _prime(server, entity_id=bank, similarity_cue="door", temporal_ratio=0)
    assert only["temporal_count"] == 0
    assert _prime(server, entity_id=f"nobody-{uuid4()}")["results"] == []


@pytest.mark.both_stores
def test_using_is_counted_unless_asked_not_to(server: Server, bank: str) -> None:
    server.retain(bank, "The door is red")
    assert _prime(server, entity_id=bank, reinforce=False)["results"][0]["access_count"] == 0
    assert _prime(server, entity_id=bank)["results"][0]["access_count"] == 0
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if _prime(server, entity_id=bank, reinforce=False)["results"][0]["access_count"] == 1:
            break
        time.sleep(0.02)
    else:
        raise AssertionError("the use was not counted")


def test_weights_may_be_given_in_part(server: Server, bank: str) -> None:
    server.retain(bank, "The door is red")
    weights = {"w_relevance": 0, "w_recency": 0, "w_reinforcement": 0}
    found = _prime(server, entity_id=bank, scoring_weights=weights)
    assert found["results"][0]["score"] == pytest.approx(0.2 * 0.5)
    full = {**weights, "w_importance": 2, "max_age_us": 0, "reinforcement_cap": 0}
    found = _prime(server, entity_id=bank, scoring_weights=full)
    assert found["results"][0]["score"] == pytest.approx(2 * 0.5)


def test_the_open_servers_order_on_request(server: Server, bank: str) -> None:
    server.retain(bank, *(f"Door number {n} is red" for n in range(12)))
    found = _prime(
        server, entity_id=bank, similarity_cue="door number 3", max_memories=8, order="blocks"
    )
    details = [r["strategy_details"][0] for r in found["results"]]
    assert [d["strategy"] for d in details] == ["temporal"] * 4 + ["similarity"] * 4
    assert [d["rank"] for d in details[:4]] == [3, 2, 1, 0]
    scores = [r["score"] for r in found["results"][4:]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.both_stores
def test_pinned_ones_come_first_within_the_budget(server: Server, bank: str) -> None:
    rule = {"content": "Always answer in French", "tags": ["instruction"]}
    server.retain(bank, rule, *(f"Door number {n} is red" for n in range(30)))
    found = _prime(server, entity_id=bank, max_tokens=20)
    assert found["results"][0]["content"] == "Always answer in French"
    assert [r["memory"]["pinned"] for r in found["results"]] == [True, False, False]
    assert _prime(server, entity_id=bank, max_tokens=0)["count"] == 0


def test_the_text_is_ready_for_a_prompt(server: Server, bank: str) -> None:
    said = "2026-05-07T23:30:00Z"
    server.retain(bank, {"content": "Ann: Alice works at Google", "timestamp": said})
    found = _prime(server, entity_id=bank, format="text", now="2026-05-09T00:00:00+02:00")
    assert "2026-05-08" in found["text"]
    assert "Alice works at Google" in found["text"]
    again = _prime(server, entity_id=bank, format="text", zone="America/New_York")
    assert "2026-05-07" in again["text"]
    assert _prime(server, entity_id=bank)["text"] is None
    assert _prime(server, entity_id=bank, format="text", max_tokens=0)["text"] == ""


def test_scores_hold_for_a_given_time(server: Server, bank: str) -> None:
    server.retain(bank, {"content": "The door is red", "timestamp": "2026-05-01T00:00:00Z"})
    found = _prime(server, entity_id=bank, now="2026-05-16T00:00:00Z")
    assert found["results"][0]["score"] == pytest.approx(0.5 + 0.2 * 0.5 + 0.2 * 0.5)
    assert _prime(server, entity_id=bank, now="2026-04-30T00:00:00Z")["count"] == 0


def test_the_answer_is_as_documented(server: Server, bank: str) -> None:
    """It is not built from the documented models, so it is held against them here."""
    server.retain(bank, {"content": "The door is red", "metadata": {"a": "b"}, "tags": ["x"]})
    for cue in ("", "door"):
        found = _prime(server, entity_id=bank, similarity_cue=cue, temporal_ratio=0, format="text")
        checked = PrimeResponse.model_validate(found, strict=True, extra="forbid")
        assert json.loads(checked.model_dump_json()) == found


def test_unknown_keys_are_named(server: Server, bank: str) -> None:
    body = {"entity_id": bank, "context": {"a": 1}, "scoring_weights": {"w_luck": 1}}
    answer = server.post("/v1/prime", body)
    assert answer.headers["X-Ignored-Params"] == "context, scoring_weights.w_luck"


def test_an_empty_entity_is_refused(server: Server) -> None:
    answer = server.post("/v1/prime", {"entity_id": ""})
    assert answer.status_code == 400
    message = "invalid input for prime: entity_id must not be empty"
    assert answer.json() == {
        "error_code": "invalid_input",
        "message": message,
        "code": "INVALID_ARGUMENT",
        "error": message,
        "details": [{"field": "entity_id", "limit": 1, "message": message}],
    }


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({}, "entity_id"),
        ({"entity_id": 5}, "entity_id"),
        ({"entity_id": "x" * 257}, "entity_id"),
        ({"entity_id": "a\u0000"}, "entity_id"),
        ({"entity_id": "e", "max_memories": -1}, "max_memories"),
        ({"entity_id": "e", "max_memories": 10**30}, "max_memories"),
        ({"entity_id": "e", "max_memories": 1.5}, "max_memories"),
        ({"entity_id": "e", "similarity_cue": "x" * 8_001}, "similarity_cue"),
        ({"entity_id": "e", "recency_window_us": 0}, "recency_window_us"),
        ({"entity_id": "e", "temporal_ratio": 1.1}, "temporal_ratio"),
        ({"entity_id": "e", "scoring_weights": {"w_recency": -1}}, "scoring_weights.w_recency"),
        ({"entity_id": "e", "scoring_weights": {"w_recency": 1e300}}, "scoring_weights.w_recency"),
        (
            {"entity_id": "e", "scoring_weights": {"max_age_us": 10**400}},
            "scoring_weights.max_age_us",
        ),
        ({"entity_id": "e", "reinforce": "no"}, "reinforce"),
        ({"entity_id": "e", "order": "random"}, "order"),
        ({"entity_id": "e", "max_tokens": -1}, "max_tokens"),
        ({"entity_id": "e", "now": "soon"}, "now"),
        ({"entity_id": "e", "zone": "Mars/Base"}, "zone"),
        ({"entity_id": "e", "zone": ""}, "zone"),
        ({"entity_id": "e", "format": "xml"}, "format"),
    ],
)
def test_wrong_primes_are_refused(server: Server, wrong: Any, field: str) -> None:
    answer = server.post("/v1/prime", wrong)
    assert answer.status_code == 400, answer.text
    found = answer.json()
    assert found["details"][0]["field"] == field
    assert field in found["message"]


@pytest.mark.both_stores
def test_forgetting_erases(server: Server, bank: str) -> None:
    server.retain(bank, {"content": "Alice works at Google"}, {"content": "Bob drinks tea"})
    alice = server.recall(bank, "Where does Alice work?")[0]
    missing = str(uuid4())
    answer = server.post("/v1/forget", {"entity_id": bank, "memory_ids": [alice["id"], missing]})
    receipt = answer.json()
    assert receipt["forgotten_count"] == 1
    assert receipt["cascade_count"] == len(alice["facts"]) == 1
    assert alice["id"].replace("-", "") in receipt["memory_ids"]
    assert receipt["missing_ids"] == [missing.replace("-", "")]
    assert [r["text"] for r in server.recall(bank, "Alice")] == ["Bob drinks tea"]


@pytest.mark.both_stores
def test_forgetting_by_id_alone_finds_the_bank(server: Server, bank: str) -> None:
    server.retain(bank, "Alice works at Google")
    memory = _prime(server, entity_id=bank)["results"][0]["memory_id"]
    assert server.post("/v1/forget", {"ids": [memory]}).json()["forgotten_count"] == 1
    again = server.post("/v1/forget", {"memory_ids": [memory]}).json()
    assert (again["forgotten_count"], again["missing_ids"]) == (0, [memory])
    assert _prime(server, entity_id=bank)["count"] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"entity_id": "e", "memory_ids": []},
        {"entity_id": "e", "document_ids": []},
        {"entity_id": "e", "memory_idz": ["0" * 32]},
        {"document_ids": ["d"]},
        {"entity_id": "e", "document_ids": ["d"], "memory_kind": "episode"},
        {"entity_id": "e", "memory_kind": "dream"},
        {"entity_id": "e", "decay_score_floor": "low"},
        {"entity_id": "", "memory_ids": ["0" * 32]},
        {"entity_id": "e", "memory_ids": ["nonsense"]},
        {"entity_id": "e", "memory_ids": "0" * 32},
        {"entity_id": "e", "memory_ids": [5]},
        {"entity_id": "e", "document_ids": [None]},
    ],
)
def test_wrong_forgets_are_refused(server: Server, wrong: Any) -> None:
    answer = server.post("/v1/forget", wrong)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error_code"] == "invalid_input"


@pytest.mark.parametrize("name", ["plain", "a/b/c", "mit Leerzeichen", "50%"])
def test_a_document_can_be_erased(server: Server, bank: str, name: str) -> None:
    server.retain(bank, {"content": "Alice works at Google", "document_id": name}, "Bob is here")
    path = f"/v1/default/banks/{bank}/documents/{quote(name, safe='')}"
    answer = server.client.delete(path)
    assert answer.status_code == 200
    found = answer.json()
    assert found["success"] is True
    assert found["document_id"] == name
    assert found["memory_units_deleted"] == 2
    assert str(2) in found["message"]
    assert [r["text"] for r in server.recall(bank, "Alice")] == ["Bob is here"]
    again = server.client.delete(path)
    assert again.status_code == 404
    assert isinstance(again.json()["detail"], str)


def test_what_is_forgotten_leaves_the_disk(folder: Path) -> None:
    with Server(folder) as server:
        secret = "The safe opens with xylophone"
        done = server.retain(
            "b", {"content": secret, "document_id": "d"}, "Bob is here", **{"async": True}
        )
        server.finished("b", done["operation_id"])
        assert _held(folder, b"xylophone")
        server.post("/v1/forget", {"entity_id": "b", "document_ids": ["d"]})
        deadline = time.monotonic() + 60
        while _held(folder, b"xylophone") and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not _held(folder, b"xylophone")


def _held(folder: Path, word: bytes) -> list[str]:
    return [name for name, data in bytes_of(folder) if word in data]
