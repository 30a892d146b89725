"""HEBBS's REST dialect: memories one by one, recall by strategies, forget by criteria, and more."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest
from wire_kit import Server

Ask = Callable[..., Any]
NO_ID = "0" * 32


@pytest.fixture
def ask(server: Server) -> Ask:
    """Send a request that must be answered well, and return the answer."""

    def send(method: str, path: str, body: Any = None, status: int = 200) -> Any:
        answer = server.client.request(method, path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    return send


@pytest.fixture
def remember(ask: Ask, bank: str) -> Ask:
    """Remember something for an entity of this test alone."""

    def send(content: str, **more: Any) -> Any:
        return ask("POST", "/v1/memories", {"content": content, "entity_id": bank, **more}, 201)

    return send


def ids(memories: list[dict[str, Any]]) -> list[str]:
    return [each["memory_id"] for each in memories]


def test_a_memory_is_one_flat_object(ask: Ask, remember: Ask, bank: str) -> None:
    made = remember("The dam holds.", importance=0.9, context={"gauge": {"cm": 4}})
    assert made["content"] == "The dam holds."
    assert (made["importance"], made["entity_id"], made["kind"]) == (0.9, bank, "episode")
    assert made["decay_score"] == pytest.approx(0.9, abs=1e-3)
    assert made["context"] == {"gauge": {"cm": 4}}
    assert made["created_at"] == made["created_at_us"] == made["updated_at"]
    assert (made["logical_clock"], made["access_count"]) == (0, 0)
    assert "source_memory_ids" not in made
    assert ask("GET", f"/v1/memories/{made['memory_id']}") == made
    assert ask("POST", "/v1/memories/batch", {"ids": [NO_ID, made["memory_id"]]}) == [made]
    plain = ask("POST", "/v1/memories", {"content": "Of nobody."}, 201)
    assert (plain["entity_id"], plain["importance"], plain["context"]) == (None, 0.5, {})
    assert bank in ask("GET", "/v1/entities?limit=10000")
    assert not any(name.startswith("\x1f") for name in ask("GET", "/v1/entities"))


@pytest.mark.parametrize(
    ("method", "path", "wrong", "field"),
    [
        ("POST", "memories", {"content": " "}, "content"),
        ("POST", "memories", {"content": "x" * 65_537}, "content"),
        ("POST", "memories", {}, "content"),
        ("POST", "memories", {"content": "x", "importance": 1.5}, "importance"),
        ("POST", "memories", {"content": "x", "context": []}, "context"),
        ("POST", "memories", {"content": "x", "kind": "dream"}, "kind"),
        (
            "POST",
            "memories",
            {"content": "x", "edges": [{"target_id": NO_ID, "edge_type": "likes"}]},
            "edges.edge_type",
        ),
        ("POST", "memories/batch", {"memory_ids": [NO_ID] * 501}, "memory_ids"),
        ("GET", "memories?limit=1001", None, "limit"),
        ("GET", "memories?kind=dream", None, "kind"),
        ("GET", "memories?cursor=e30", None, "cursor"),
        ("GET", "memories/nonsense", None, "memory_id"),
        ("PUT", f"revise/{NO_ID}", {}, "content"),
        ("POST", "recall", {"cue": ""}, "cue"),
        ("POST", "recall", {"cue": "x", "strategies": []}, "strategies"),
        ("POST", "recall", {"cue": "x", "strategy": "guess"}, "strategies"),
        ("POST", "recall", {"cue": "x", "top_k": -1}, "top_k"),
        ("POST", "recall", {"cue": "x", "seed_memory_id": "here"}, "seed_memory_id"),
        ("POST", "recall", {"cue": "x", "edge_types": ["likes"]}, "edge_types"),
        ("POST", "recall", {"cue": "x", "time_range": {"start": 2, "end": 1}}, "time_range"),
        ("POST", "graph", {"center_id": NO_ID, "depth": 6}, "depth"),
        ("POST", "graph", {"center_id": NO_ID, "max_nodes": 501}, "max_nodes"),
        ("GET", "insights?max_results=-1", None, "max_results"),
        ("POST", "reflect", {"scope": {"entity": {"entity_id": ""}}}, "scope.entity.entity_id"),
        ("POST", "reflect/commit", {"session_id": "x", "insights": []}, "session_id"),
        ("PUT", "policy", {"decay_half_life_days": 0}, "decay_half_life_days"),
        ("POST", "subscribe", {"confidence_threshold": 2}, "confidence_threshold"),
        ("POST", "subscribe", {"kind_filter": ["dream"]}, "kind_filter"),
    ],
)
def test_what_cannot_be_taken_is_refused(
    ask: Ask, method: str, path: str, wrong: Any, field: str
) -> None:
    told = ask(method, f"/v1/{path}", wrong, 400)
    assert told["error_code"] == "invalid_input"
    assert told["code"] == "INVALID_ARGUMENT"
    assert told["error"] == told["message"]
    assert told["details"][0]["field"] == field


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"/v1/memories/{NO_ID}", None),
        ("GET", f"/v1/memories/{NO_ID}/edges", None),
        ("PUT", f"/v1/revise/{NO_ID}", {"content": "x"}),
        ("POST", "/v1/graph", {"center_id": NO_ID}),
        ("POST", "/v1/subscribe/5/feed", {"text": "x"}),
        ("POST", "/v1/reflect/commit", {"session_id": NO_ID, "insights": []}),
    ],
)
def test_what_is_not_there_is_not_found(ask: Ask, method: str, path: str, body: Any) -> None:
    assert ask(method, path, body, 404)["error_code"] == "not_found"


def test_pages_join_to_the_whole(ask: Ask, remember: Ask, bank: str) -> None:
    made = [remember(f"Entry {number} of the log.")["memory_id"] for number in range(5)]
    found: list[str] = []
    path = f"/v1/memories?entity_id={bank}&limit=2"
    cursor = ""
    while True:
        page = ask("GET", path + cursor)
        assert len(page["memories"]) <= 2
        found += ids(page["memories"])
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert found == made


def test_lists_reach_over_entities(server: Server, ask: Ask) -> None:
    made = {
        ask("POST", "/v1/memories", {"content": "A leaf.", "entity_id": f"leaf-{uuid4()}"}, 201)[
            "memory_id"
        ]
        for _ in range(3)
    }
    found: list[str] = []
    cursor = ""
    while True:
        page = ask("GET", f"/v1/memories?limit=3{cursor}")
        found += ids(page["memories"])
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert made <= set(found)
    assert len(found) == len(set(found))
    assert server.client.get("/v1/memories?limit=3").headers.get("X-Ignored-Params") is None


def test_lists_by_kind(server: Server, ask: Ask, remember: Ask, bank: str) -> None:
    told = remember("The kiln is hot.")["memory_id"]
    server.retain(bank, "Alice works at Google. Alice lives in Ulm.")

    def kind(name: str, limit: int = 100) -> Any:
        return ask("GET", f"/v1/memories?entity_id={bank}&kind={name}&limit={limit}")

    assert ids(kind("episode")["memories"]) == [told]
    assert [m["kind"] for m in kind("document")["memories"]] == ["document"]
    facts = kind("proposition")["memories"]
    assert len(facts) == 2
    first = kind("proposition", 1)
    rest = ask(
        "GET", f"/v1/memories?entity_id={bank}&kind=proposition&cursor={first['next_cursor']}"
    )
    assert first["memories"] + rest["memories"] == facts
    assert "proposition" not in {
        m["kind"] for m in ask("GET", f"/v1/memories?entity_id={bank}")["memories"]
    }


def test_revising_keeps_the_id(ask: Ask, remember: Ask, bank: str) -> None:
    made = remember("The lock is green.", context={"a": 1, "b": 1})
    path = f"/v1/revise/{made['memory_id']}"
    new = ask("PUT", path, {"content": "The lock is red.", "context": {"b": 2}})
    assert (new["memory_id"], new["content"]) == (made["memory_id"], "The lock is red.")
    assert (new["kind"], new["logical_clock"], new["context"]) == ("revision", 1, {"a": 1, "b": 2})
    replaced = ask("PUT", path, {"context": {"c": 3}, "context_mode": "replace"})
    assert replaced["context"] == {"c": 3}
    moved = ask("PUT", path, {"entity_id": f"{bank}-2"})
    assert (moved["entity_id"], moved["content"]) == (f"{bank}-2", "The lock is red.")


def test_links_are_told_and_walked(ask: Ask, remember: Ask) -> None:
    root = remember("The pipe burst.")["memory_id"]
    cause = [{"target_id": root, "edge_type": "caused_by", "confidence": 0.9}]
    wet = remember("The cellar is wet.", edges=cause)["memory_id"]
    then = [{"target_id": wet, "edge_type": "followed_by"}]
    dry = remember("A pump came.", edges=then)["memory_id"]
    told = ask("GET", f"/v1/memories/{wet}/edges")
    first = {
        "source_id": wet,
        "target_id": root,
        "edge_type": "caused_by",
        "confidence": pytest.approx(0.9),
    }
    assert told["outgoing"] == [first]
    assert [(e["source_id"], e["edge_type"]) for e in told["incoming"]] == [(dry, "followed_by")]

    def around(**more: Any) -> tuple[list[str], int, bool]:
        found = ask("POST", "/v1/graph", {"center_id": root, **more})
        return ids(found["nodes"]), len(found["edges"]), found["truncated"]

    assert around() == ([root, wet, dry], 2, False)
    assert around(depth=1) == ([root, wet], 1, False)
    assert around(depth=0) == ([root], 0, False)
    assert around(edge_types=["caused_by"]) == ([root, wet], 1, False)
    assert around(max_nodes=2) == ([root, wet], 1, True)


def test_recall_takes_each_strategy(ask: Ask, remember: Ask, bank: str) -> None:
    first = remember("The mill turns slowly.", context={"river": "Aare"})
    tie = [{"target_id": first["memory_id"], "edge_type": "related_to"}]
    second = remember("Flour is ground there.", edges=tie)

    def recall(**more: Any) -> Any:
        found = ask("POST", "/v1/recall", {"entity_id": bank, **more})
        assert found["count"] == len(found["results"])
        return found

    alike = recall(cue="The mill turns slowly.")
    assert ids(alike["results"])[0] == first["memory_id"]
    best = alike["results"][0]
    assert best["memory"]["content"] == best["content"] == first["content"]
    assert best["strategy_details"][0].keys() == {"strategy", "relevance", "distance"}
    assert best["relevance"] == pytest.approx(1, abs=0.05)
    assert 0 < best["score"] <= 1

    recent = recall(strategy="TEMPORAL")["results"]
    assert {m["memory_id"]: m["strategy_details"][0]["rank"] for m in recent} == {
        second["memory_id"]: 0,
        first["memory_id"]: 1,
    }
    span = {"start": first["created_at_us"], "end": second["created_at_us"]}
    assert ids(recall(strategy="temporal", time_range=span)["results"]) == [first["memory_id"]]
    span = {"start_us": second["created_at_us"]}
    assert ids(recall(strategy="temporal", time_range=span)["results"]) == [second["memory_id"]]

    caused = recall(strategies=["causal"], seed_memory_id=first["memory_id"])["results"]
    (detail,) = caused[0]["strategy_details"]
    assert (ids(caused), detail["depth"]) == ([second["memory_id"]], 1)
    assert (detail["edge_type"], detail["seed_id"]) == ("related_to", first["memory_id"])

    analogous = recall(cue="x", strategy="analogical", cue_context={"river": "Rhein"})["results"]
    assert analogous[0]["memory_id"] == first["memory_id"]
    assert "structural_similarity" in analogous[0]["strategy_details"][0]


def test_a_strategy_can_have_parameters_of_its_own(ask: Ask, remember: Ask, bank: str) -> None:
    for number in range(4):
        remember(f"Bell number {number} rang.")
    both = ["similarity", {"strategy_type": "temporal", "top_k": 1}]
    body = {"cue": "a bell", "entity_id": bank, "strategies": both}
    found = ask("POST", "/v1/recall", body)["results"]
    details = [d["strategy"] for m in found for d in m["strategy_details"]]
    assert (details.count("similarity"), details.count("temporal")) == (4, 1)
    elsewhere = {"strategy": "temporal", "entity_id": "nobody at all"}
    body = {"cue": "", "entity_id": bank, "strategies": [elsewhere]}
    assert ask("POST", "/v1/recall", body)["results"] == []


def test_a_strategy_that_fails_says_why(ask: Ask, remember: Ask, bank: str) -> None:
    made = remember("The sluice is shut.")
    body = {
        "cue": "sluice",
        "entity_id": bank,
        "strategies": ["similarity", "causal"],
        "seed_memory_id": NO_ID,
    }
    found = ask("POST", "/v1/recall", body)
    assert ids(found["results"]) == [made["memory_id"]]
    assert [each["strategy"] for each in found["strategy_errors"]] == ["causal"]
    assert NO_ID in found["strategy_errors"][0]["message"]


def test_forgetting_an_entity_leaves_others(ask: Ask, remember: Ask, bank: str) -> None:
    mine = [remember(f"Secret {number}.")["memory_id"] for number in range(3)]
    other = ask("POST", "/v1/memories", {"content": "Kept.", "entity_id": f"{bank}-2"}, 201)
    told = ask("POST", "/v1/forget", {"entity_id": bank})
    assert (told["forgotten_count"], told["truncated"]) == (3, False)
    assert sorted(told["memory_ids"]) == sorted(mine)
    assert told["tombstone_count"] == 3
    assert ask("POST", "/v1/forget", {"entity_id": bank})["forgotten_count"] == 0
    assert ask("POST", "/v1/memories/batch", {"ids": [*mine, other["memory_id"]]}) == [other]


def test_forgetting_by_criteria_joins_them(ask: Ask, remember: Ask, bank: str) -> None:
    weak = remember("It drizzled.", importance=0.1)
    strong = remember("The roof leaks.", importance=0.9)
    revised = remember("The well is dry.", importance=0.1)
    ask("PUT", f"/v1/revise/{revised['memory_id']}", {"content": "The well is full."})

    def forget(**criteria: Any) -> list[str]:
        told = ask("POST", "/v1/forget", {"entity_id": bank, **criteria})
        assert told["forgotten_count"] == len(told["memory_ids"])
        return list(told["memory_ids"])

    assert forget(staleness_threshold_us=weak["created_at_us"]) == []
    assert forget(access_count_floor=0) == []
    assert forget(decay_score_floor=0.5, ids=[strong["memory_id"]]) == []
    assert forget(decay_score_floor=0.5, memory_kind="episode") == [weak["memory_id"]]
    told = ask("POST", "/v1/forget", {"entity_id": bank, "memory_kind": "revision"})
    assert (told["forgotten_count"], told["cascade_count"]) == (1, 1)  # with what it was before
    assert forget(access_count_floor=1) == [strong["memory_id"]]


def test_insights_are_prepared_and_committed(ask: Ask, remember: Ask, bank: str) -> None:
    made = [remember("The printer jams.", context={"n": n})["memory_id"] for n in range(6)]
    scope = {"scope": {"entity": {"entity_id": bank}}}
    counts = ask("POST", "/v1/reflect", {"entity_id": bank})
    assert (counts["clusters_found"], counts["memories_processed"]) == (1, 6)
    assert counts == ask("POST", "/v1/reflect", scope)
    prepared = ask("POST", "/v1/reflect/prepare", scope)
    (cluster,) = prepared["clusters"]
    assert sorted(cluster["memory_ids"]) == sorted(made)
    assert cluster["member_count"] == len(cluster["memories"]) == 6
    assert all(each in cluster["proposal_user_prompt"] for each in made)
    insight = {"content": "The printer is worn out.", "confidence": 0.9, "cluster_id": 0}
    body = {"session_id": prepared["session_id"], "insights": [insight]}
    assert ask("POST", "/v1/reflect/commit", body) == {"insights_created": 1}
    assert ask("POST", "/v1/reflect/commit", body) == {"insights_created": 1}
    found = ask("GET", f"/v1/insights?entity_id={bank}")
    assert found["count"] == 1
    (kept,) = found["insights"]
    assert (kept["kind"], kept["content"]) == ("insight", insight["content"])
    assert sorted(kept["source_memory_ids"]) == sorted(made)
    assert ask("GET", f"/v1/insights?entity_id={bank}&min_confidence=1")["count"] == 0
    late = {"entity_id": bank, "since_us": kept["created_at_us"] + 1}
    assert ask("POST", "/v1/reflect", late)["memories_processed"] == 0


def test_the_policy_holds_what_was_set(ask: Ask) -> None:
    told = ask("PUT", "/v1/policy", {"max_snapshots_per_memory": 7})
    assert (told["applied"], told["max_snapshots_per_memory"]) == (True, 7)
    told = ask("POST", "/v1/policy", {"auto_forget_threshold": 0.25})
    assert (told["max_snapshots_per_memory"], told["auto_forget_threshold"]) == (7, 0.25)
    assert ask("GET", "/v1/policy") == told | {"applied": False}


def test_health_and_figures(server: Server, ask: Ask) -> None:
    told = ask("GET", "/v1/system/health")
    assert told.keys() == {"status", "version", "engine"}
    assert ask("GET", "/v1/health/live") == {"status": "alive"}
    assert ask("GET", "/v1/health/ready") == {"status": "ready"}
    figures = server.client.get("/v1/metrics")
    assert figures.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "remembrancer_units" in figures.text


@contextmanager
def subscribed(server: Server, body: Any) -> Iterator[Iterator[tuple[str, Any]]]:
    """Open a stream and yield its events, each with its name."""
    with server.client.stream("POST", "/v1/subscribe", json=body, timeout=20) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield _events(answer)


def _events(answer: httpx.Response) -> Iterator[tuple[str, Any]]:
    name = ""
    for line in answer.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))
        elif not line:
            name = ""


def test_a_stream_is_fed_and_closed(server: Server, ask: Ask, remember: Ask, bank: str) -> None:
    made = remember("the fleet has left")
    with subscribed(server, {"entity_id": bank, "confidence_threshold": 0.1}) as events:
        name, hand = next(events)
        assert (name, hand["memory"], hand["sequence_number"]) == ("handshake", None, 0)
        path = f"/v1/subscribe/{hand['subscription_id']}"
        assert ask("POST", f"{path}/feed", {"text": "the fleet has left"}) == {}
        name, push = next(events)
        assert (name, push["sequence_number"]) == ("", 1)
        assert push["subscription_id"] == hand["subscription_id"]
        assert push["memory"]["memory_id"] == made["memory_id"]
        assert push["confidence"] > 0.9
        later = remember("the fleet has left", context={"again": True})
        assert next(events)[1]["memory"]["memory_id"] == later["memory_id"]
        assert ask("DELETE", path) == {}
        assert list(events) == []
    ask("POST", f"{path}/feed", {"text": "x"}, 404)
    assert ask("DELETE", path) == {}


def test_a_stream_that_is_left_ends_its_subscription(server: Server, bank: str) -> None:
    with subscribed(server, {"entity_id": bank}) as events:
        path = f"/v1/subscribe/{next(events)[1]['subscription_id']}/feed"
        assert server.post(path, {"text": "x"}).status_code == 200
    answer = server.post(path, {"text": "x"})
    for _ in range(500):
        if answer.status_code == 404:
            break
        answer = server.post(path, {"text": "x"})
    assert answer.status_code == 404
