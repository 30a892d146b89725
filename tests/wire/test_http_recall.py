"""Recall over HTTP: filters, budgets, times, and how answers are sent."""

from __future__ import annotations

import re
from typing import Any

import pytest
from wire_kit import Server


def _texts(results: list[dict[str, Any]]) -> set[str]:
    return {r["text"] for r in results}


def test_an_unknown_bank_has_no_answers(server: Server, bank: str) -> None:
    before = server.banks()
    assert server.recall(bank, "anything") == []
    assert server.banks() == before


def test_null_keys_are_left_out(server: Server, bank: str) -> None:
    server.retain(bank, "The door is red")
    found = server.recall(bank, "door")[0]
    assert None not in found.values()
    assert "context" not in found
    assert "speaker" not in found


def test_a_chat_keeps_speaker_role_and_turn(server: Server, bank: str) -> None:
    server.retain(bank, "User: I live in Oslo now.\nAssistant: I noted that you live in Oslo.")
    found = {r["turn"]: r for r in server.recall(bank, "Who lives in Oslo?")}
    assert [found[n]["role"] for n in (0, 1)] == ["user", "assistant"]
    assert [found[n]["type"] for n in (0, 1)] == ["world", "experience"]
    only = server.recall(bank, "Who lives in Oslo?", types=["experience"])
    assert [r["turn"] for r in only] == [1]
    assert server.recall(bank, "Who lives in Oslo?", types=["opinion"]) == []
    assert len(server.recall(bank, "Who lives in Oslo?", types=["world", "opinion"])) == 1


def test_tags_filter(server: Server, bank: str) -> None:
    for tags in (["a"], ["a", "b"], []):
        server.retain(bank, {"content": f"A door tagged {len(tags)}", "tags": tags})
    one, two, none = "A door tagged 1", "A door tagged 2", "A door tagged 0"
    for match, wanted in {
        "any": {one, two, none},
        "all": {two, none},
        "any_strict": {one, two},
        "all_strict": {two},
        "exact": {two},
    }.items():
        found = server.recall(bank, "door", tags=["a", "b"], tags_match=match)
        assert _texts(found) == wanted, match


def test_budgets_bound_the_answers(server: Server, bank: str) -> None:
    server.retain(bank, *({"content": f"Door number {n} is red"} for n in range(120)))
    counts = {b: len(server.recall(bank, "door", budget=b)) for b in ("low", "mid", "high")}
    assert counts["low"] == 10
    assert counts["mid"] == 30
    assert 30 < counts["high"] <= 100
    few = server.recall(bank, "door", max_tokens=20)
    assert 0 < len(few) < 5


def test_a_time_is_preferred(server: Server, bank: str) -> None:
    for month in (3, 4):
        said = f"2023-{month:02d}-10T12:00:00Z"
        server.retain(bank, {"content": "We painted the door", "timestamp": said})
    window = {"start": "2023-03-01T00:00:00Z", "end": "2023-04-01T00:00:00Z"}
    best = server.recall(bank, "door", temporal_window=window)[0]
    assert best["mentioned_at"].startswith("2023-03")
    asked = {"query_timestamp": "2023-04-11T08:00:00-05:00"}
    best = server.recall(bank, "What did we do yesterday with the door?", **asked)[0]
    assert best["mentioned_at"].startswith("2023-04")


def test_answers_say_how_long_they_took(server: Server, bank: str) -> None:
    server.retain(bank, "The door is red")
    recall = server.post(f"/v1/default/banks/{bank}/memories/recall", {"query": "door"})
    prime = server.post("/v1/prime", {"entity_id": bank, "similarity_cue": "door"})
    for answer in (recall, prime):
        times = dict(re.findall(r"(\w+);dur=([\d.]+)", answer.headers["Server-Timing"]))
        assert {"embed", "search", "total"} <= times.keys()
        assert float(times["total"]) >= float(times["embed"])


def test_long_answers_are_compressed(server: Server, bank: str) -> None:
    server.retain(bank, *({"content": f"Door number {n} is red"} for n in range(20)))
    path = f"/v1/default/banks/{bank}/memories/recall"
    long = server.post(path, {"query": "door"}, headers={"Accept-Encoding": "gzip"})
    assert long.headers["Content-Encoding"] == "gzip"
    assert len(long.json()["results"]) == 20
    short = server.client.get("/version", headers={"Accept-Encoding": "gzip"})
    assert len(short.content) < 1024
    assert "Content-Encoding" not in short.headers
    plain = server.post(path, {"query": "door"}, headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers


def test_what_a_recall_does_not_follow_is_named(server: Server, bank: str) -> None:
    answer = server.post(
        f"/v1/default/banks/{bank}/memories/recall",
        {"query": "door", "trace": True, "include": {"entities": None}, "min_scores": {}},
    )
    assert answer.status_code == 200
    names = answer.headers["X-Ignored-Params"].split(", ")
    assert names == ["include", "min_scores", "trace"]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "?!"}, "query"),
        ({"query": "x" * 8_001}, "query"),
        ({"query": 5}, "query"),
        ({}, "query"),
        ({"query": "x", "types": ["fact"]}, "types.0"),
        ({"query": "x", "budget": "huge"}, "budget"),
        ({"query": "x", "max_tokens": 0}, "max_tokens"),
        ({"query": "x", "max_tokens": 10**400}, "max_tokens"),
        ({"query": "x", "max_tokens": "many"}, "max_tokens"),
        ({"query": "x", "tags_match": "some"}, "tags_match"),
        ({"query": "x", "query_timestamp": "yesterday"}, "query_timestamp"),
        ({"query": "x", "temporal_window": {"start": "0000-01-01"}}, "temporal_window.start"),
        (
            {"query": "x", "temporal_window": {"start": "2024-02-01", "end": "2024-01-01"}},
            "temporal_window",
        ),
    ],
)
def test_wrong_recalls_are_refused(server: Server, bank: str, wrong: Any, field: str) -> None:
    answer = server.post(f"/v1/default/banks/{bank}/memories/recall", wrong)
    assert answer.status_code == 422
    fault = answer.json()["detail"][0]
    assert fault["field"] == field
    assert fault["loc"][0] == "body"
    assert field in fault["msg"]
