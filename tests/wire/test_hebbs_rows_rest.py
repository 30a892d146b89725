"""HEBBS's own tests over REST, row by row, for two tenants: the test id is the row's name.

Where its server answers a recall, a prime or a question for insights with a bare array, this one
answers with an object that holds it, and its count.

All rows are here. Health: liveness, readiness, metrics. Memories: remember_201,
remember_empty_content, context_round_trip, get_200, get_zeros, get_no_hex. Verbs: recall_top_k,
prime_with_a_cue, revise, forget, insights_empty, full_lifecycle. Later versions:
insights_carry_their_sources, contradictions_prepare, contradictions_commit.
"""

from __future__ import annotations

import pytest
from grpc_kit import edge
from hebbs_rows_kit import ROOM, Pair, Row

NO_ID = "0" * 32
ROWS: dict[str, Row] = {}


def row(test: Row) -> Row:
    ROWS[test.__name__] = test
    return test


@row
def liveness(pair: Pair) -> None:
    assert pair.served.http.get("/v1/health/live").json() == {"status": "alive"}


@row
def readiness(pair: Pair) -> None:
    assert pair.served.http.get("/v1/health/ready").json() == {"status": "ready"}


@row
def metrics(pair: Pair) -> None:
    pair.rest("POST", "/v1/prime", {"entity_id": ROOM})
    key = pair.served.key("default", "cross_tenant")
    told = pair.served.ask(key, "GET", "/v1/metrics")
    assert told.headers["content-type"].startswith("text/plain; version=0.0.4")
    counted = 'hebbs_operation_duration_seconds_count{operation="prime",status="ok"}'
    assert counted in told.text
    assert pair.served.ask(pair.keys[0], "GET", "/v1/metrics").status_code == 403


@row
def remember_201(pair: Pair) -> None:
    body = {"content": "The lamp is lit.", "entity_id": ROOM, "importance": 0.8}
    made = pair.rest("POST", "/v1/memories", body, 201)
    assert len(made["memory_id"]) == 32
    assert (made["kind"], made["content"]) == ("episode", "The lamp is lit.")
    assert made["importance"] == pytest.approx(0.8)


@row
def remember_empty_content(pair: Pair) -> None:
    told = pair.rest("POST", "/v1/memories", {"content": ""}, 400)
    assert told["error_code"] == "invalid_input"
    assert "content must not be empty" in told["message"]


@row
def context_round_trip(pair: Pair) -> None:
    context = {"colour": "red", "count": 5, "deep": {"list": [1, None, True]}}
    made = pair.rest("POST", "/v1/memories", {"content": "In it.", "context": context}, 201)
    assert pair.rest("GET", f"/v1/memories/{made['memory_id']}")["context"] == context


@row
def get_200(pair: Pair) -> None:
    [made] = pair.room(1)
    path = f"/v1/memories/{made.memory_id.hex()}"
    assert pair.rest("GET", path)["content"] == made.content
    assert pair.served.ask(pair.keys[1], "GET", path).status_code == 404


@row
def get_zeros(pair: Pair) -> None:
    assert pair.rest("GET", f"/v1/memories/{NO_ID}", status=404)["error_code"] == "not_found"


@row
def get_no_hex(pair: Pair) -> None:
    assert pair.rest("GET", "/v1/memories/no-hex", status=400)["error_code"] == "invalid_input"


@row
def recall_top_k(pair: Pair) -> None:
    mine = {made.memory_id.hex() for made in pair.room(5)}
    for named in ({}, {"entity_id": ROOM}):
        body = {"cue": "The room of another.", "strategies": ["similarity"], "top_k": 3, **named}
        told = pair.rest("POST", "/v1/recall", body)
        assert 1 <= len(told["results"]) == told["count"] <= 3
        assert {each["memory"]["memory_id"] for each in told["results"]} < mine
        assert told["strategy_errors"] == []


@row
def prime_with_a_cue(pair: Pair) -> None:
    mine = {made.memory_id.hex() for made in pair.room(5)}
    body = {"entity_id": ROOM, "max_memories": 10, "similarity_cue": "The room of another."}
    told = pair.rest("POST", "/v1/prime", body)
    assert {each["memory"]["memory_id"] for each in told["results"]} == mine
    assert told["temporal_count"] + told["similarity_count"] == told["count"] == 5


@row
def revise(pair: Pair) -> None:
    [made] = pair.room(1)
    path = f"/v1/revise/{made.memory_id.hex()}"
    assert pair.served.ask(pair.keys[1], "PUT", path, {"content": "Taken."}).status_code == 404
    told = pair.rest("PUT", path, {"content": "As it is now."})
    assert (told["kind"], told["content"]) == ("revision", "As it is now.")
    assert told["memory_id"] == made.memory_id.hex()


@row
def forget(pair: Pair) -> None:
    [made] = pair.room(1)
    body = {"memory_ids": [made.memory_id.hex()]}
    told = pair.served.ask(pair.keys[1], "POST", "/v1/forget", body).json()
    assert told["forgotten_count"] == 0
    assert pair.rest("POST", "/v1/forget", body)["forgotten_count"] == 1
    pair.rest("GET", f"/v1/memories/{made.memory_id.hex()}", status=404)


@row
def insights_empty(pair: Pair) -> None:
    pair.room(3)
    assert pair.rest("GET", "/v1/insights") == {"insights": [], "count": 0}


@row
def full_lifecycle(pair: Pair) -> None:
    made = pair.rest("POST", "/v1/memories", {"content": "Lit.", "entity_id": ROOM}, 201)
    path = made["memory_id"]
    assert pair.rest("GET", f"/v1/memories/{path}") == made
    assert pair.rest("PUT", f"/v1/revise/{path}", {"content": "Dark."})["content"] == "Dark."
    recalled = pair.rest("POST", "/v1/recall", {"cue": "Dark.", "strategies": ["similarity"]})
    primed = pair.rest("POST", "/v1/prime", {"entity_id": ROOM})
    for told in (recalled, primed):
        assert [each["content"] for each in told["results"]] == ["Dark."]
    assert pair.rest("POST", "/v1/forget", {"entity_id": ROOM})["forgotten_count"] == 1
    pair.rest("GET", f"/v1/memories/{path}", status=404)
    assert pair.rest("POST", "/v1/prime", {"entity_id": ROOM})["results"] == []


@row
def insights_carry_their_sources(pair: Pair) -> None:
    [source] = pair.room(1)
    ties = [edge(source.memory_id, "insight_from")]
    pair.one.remember("A thought of the room.", ROOM, kind=2, edges=ties)
    [insight] = pair.rest("GET", "/v1/insights")["insights"]
    assert insight["source_memory_ids"] == [source.memory_id.hex()]
    assert len(insight["source_memory_ids"][0]) == 32
    listed = pair.rest("GET", f"/v1/memories?entity_id={ROOM}&kind=episode")["memories"]
    assert ["source_memory_ids" in each for each in listed] == [False]
    other = pair.served.ask(pair.keys[1], "GET", "/v1/insights").json()
    assert other == {"insights": [], "count": 0}


@row
def contradictions_prepare(pair: Pair) -> None:
    assert pair.rest("POST", "/v1/contradictions/prepare", {}) == []
    for hour in ("nine", "ten"):
        pair.one.remember(f"The ferry leaves pier four at {hour}.", ROOM)
    [found] = pair.rest("POST", "/v1/contradictions/prepare", {})
    assert found["content_a_snippet"] == "The ferry leaves pier four at nine."
    assert pair.served.ask(pair.keys[1], "POST", "/v1/contradictions/prepare", {}).json() == []


@row
def contradictions_commit(pair: Pair) -> None:
    zeros = {"contradictions_confirmed": 0, "revisions_created": 0, "dismissed": 0}
    for nothing in ([], {"verdicts": []}):
        assert pair.rest("POST", "/v1/contradictions/commit", nothing) == zeros


@pytest.mark.parametrize("name", ROWS)
def test_row(pair: Pair, name: str) -> None:
    ROWS[name](pair)


def test_no_row_is_missing() -> None:
    assert len(ROWS) == 18
    assert all(name in (__doc__ or "") for name in ROWS)
