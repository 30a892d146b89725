"""Recall over HTTP: filters, budgets, times, and how answers are sent."""

from __future__ import annotations

import re
from typing import Any

import pytest
from wire_kit import Server

from remembrancer.faces.http.recall import RecallResponse


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


@pytest.mark.both_stores
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


@pytest.mark.both_stores
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


def _body(server: Server, bank: str, query: str, **more: Any) -> dict[str, Any]:
    path = f"/v1/default/banks/{bank}/memories/recall"
    answer = server.post(path, {"query": query, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"include": {"chunks": {}, "source_facts": {}}},
        {"include": {"entities": None}, "query_timestamp": "2024-05-01T12:00:00+05:30"},
        {"trace": True, "budget": "high"},
        {"several": True, "include": {"chunks": {"max_tokens": 8}}},
    ],
)
def test_answers_are_written_as_the_described_model_writes_them(
    server: Server, bank: str, more: dict[str, Any]
) -> None:
    server.retain(
        bank,
        {
            "content": "Ada: I moved to Berlin on 3 May 2023. I don't like the red door.",
            "timestamp": "2024-05-01T10:00:00.25+02:00",
            "context": "on the phone",
            "metadata": {"source": "phone"},
            "tags": ["home"],
            "entities": [{"text": "Berlin"}],
            "document_id": "call",
        },
        "Nobody painted the door",
    )
    if more.pop("several", False):
        server.retain(f"{bank}-2", "A door in Oslo")
        more["banks"] = [bank, f"{bank}-2"]
    path = f"/v1/default/banks/{bank}/memories/recall"
    answer = server.post(path, {"query": "red door", **more})
    assert answer.status_code == 200, answer.text
    assert len(answer.json()["results"]) >= 2
    model = RecallResponse.model_validate_json(answer.content)
    assert model.model_dump_json(exclude_none=True) == answer.text


def test_what_a_recall_does_not_follow_is_named(server: Server, bank: str) -> None:
    answer = server.post(
        f"/v1/default/banks/{bank}/memories/recall",
        {"query": "door", "trace": True, "banks": [bank], "include": {"pictures": {}}, "x": 1},
    )
    assert answer.status_code == 200
    names = answer.headers["X-Ignored-Params"].split(", ")
    assert sorted(names) == ["include.pictures", "trace", "x"]


@pytest.mark.both_stores
def test_entities_come_along_unless_told_not_to(server: Server, bank: str) -> None:
    names = [{"text": name} for name in ("Deutsche Bahn", "Lake Mjosa", "Unused Name")]
    server.retain(bank, {"content": "The door of the train is red", "entities": names[:2]})
    server.retain(bank, {"content": "Nothing to do with it", "entities": names[2:]})
    found = _body(server, bank, "door", budget="low", min_scores={"keyword": 0.1})
    assert found["entities"].keys() == {"Deutsche Bahn", "Lake Mjosa"}
    assert set(found["results"][0]["entities"]) == found["entities"].keys()
    for name, state in found["entities"].items():
        assert state["canonical_name"] == name
        assert state["observations"] == []
        assert len(state["entity_id"]) == 36
    few = _body(server, bank, "door", include={"entities": {"max_tokens": 4}})
    assert len(few["entities"]) == 1
    assert "entities" not in _body(server, bank, "door", include={"entities": None})


@pytest.mark.both_stores
def test_chunks_come_in_result_order_within_their_budget(server: Server, bank: str) -> None:
    server.retain(bank, {"content": "The green door. It squeaks.", "document_id": "a/b"})
    server.retain(bank, {"content": "The red door was painted.", "document_id": "c"})
    texts = {
        f"{bank}_a/b_0": "The green door. It squeaks.",
        f"{bank}_c_0": "The red door was painted.",
    }
    found = _body(server, bank, "red door", include={"chunks": {}, "entities": None})
    assert list(found["chunks"]) == [r["chunk_id"] for r in found["results"]]
    assert found["chunks"] == {
        name: {"id": name, "text": text, "chunk_index": 0, "truncated": False}
        for name, text in texts.items()
    }
    few = _body(server, bank, "red door", include={"chunks": {"max_tokens": 8}})["chunks"]
    (first, whole), (second, part) = few.items()
    assert [first, second] == list(found["chunks"])
    assert (whole["text"], whole["truncated"]) == (texts[first], False)
    assert (part["text"], part["truncated"]) == ("The ", True)
    assert _body(server, bank, "door", include={"chunks": {"max_tokens": 0}})["chunks"] == {}


def test_source_facts_are_there_when_asked_for(server: Server, bank: str) -> None:
    server.retain(bank, "The door is red")
    found = _body(server, bank, "door", include={"source_facts": {}})
    assert found["source_facts"] == {}
    assert found["source_facts_truncated"] is False
    assert "source_facts" not in _body(server, bank, "door")


def test_low_scores_are_left_out(server: Server, bank: str) -> None:
    server.retain(bank, "The red door squeaks", "A door", "Rain fell on the garden")
    everything = server.recall(bank, "red door squeaks")
    assert len(everything) == 3
    for name in ("semantic", "keyword", "final"):
        edge = everything[1]["scores"][name]
        found = server.recall(bank, "red door squeaks", min_scores={name: edge})
        expected = [r["id"] for r in everything if r["scores"][name] >= edge]
        assert [r["id"] for r in found] == expected
        assert 0 < len(found) < 3
    assert server.recall(bank, "red door squeaks", min_scores={"final": 9}) == []
    assert len(server.recall(bank, "red door squeaks", min_scores={"reranker": 9})) == 3


def test_the_budget_counts_what_a_prompt_shows_and_passes_over_what_is_too_long(
    server: Server, bank: str
) -> None:
    server.retain(bank, {"content": "The red door " + "squeaks and " * 40, "context": "x"})
    server.retain(bank, {"content": "A red door", "context": "y" * 400})
    server.retain(bank, "One more red door")
    assert len(server.recall(bank, "red door")) == 3
    found = server.recall(bank, "red door", max_tokens=60)
    assert [r["text"] for r in found] == ["One more red door"]


@pytest.mark.both_stores
def test_tag_groups_filter(server: Server, bank: str) -> None:
    for tags in (["a"], ["a", "b"], ["c"], []):
        server.retain(bank, {"content": f"A door tagged {tags}", "tags": tags})

    def found(*groups: Any) -> list[list[str]]:
        return sorted(r["tags"] for r in server.recall(bank, "door", tag_groups=list(groups)))

    assert found({"tags": ["a"]}) == [["a"], ["a", "b"]]
    assert found({"tags": ["a"], "match": "any"}) == [[], ["a"], ["a", "b"]]
    assert found({"tags": ["a"]}, {"not": {"tags": ["b"]}}) == [["a"]]
    assert found({"or": [{"tags": ["c"]}, {"and": [{"tags": ["a"]}, {"tags": ["b"]}]}]}) == [
        ["a", "b"],
        ["c"],
    ]
    assert len(found()) == 4


@pytest.mark.both_stores
def test_several_banks_are_searched_as_one(server: Server, bank: str) -> None:
    other, empty = f"{bank}-2", f"{bank}-3"
    server.retain(bank, {"content": "Rain fell on the garden", "document_id": "d"})
    server.retain(other, {"content": "The red door squeaks", "document_id": "d"}, "A garden door")
    before = len(server.banks())
    found = _body(
        server, bank, "red door squeaks", banks=[bank, other, empty, other], include={"chunks": {}}
    )
    results = found["results"]
    assert [(r["bank_id"], r["text"]) for r in results] == [
        (other, "The red door squeaks"),
        (other, "A garden door"),
        (bank, "Rain fell on the garden"),
    ]
    scores = [r["scores"]["final"] for r in results]
    assert scores == sorted(scores, reverse=True)
    assert results[0]["chunk_id"] == f"{other}_d_0"
    assert found["chunks"][f"{other}_d_0"]["text"] == "The red door squeaks"
    assert found["chunks"][f"{bank}_d_0"]["text"] == "Rain fell on the garden"
    assert len(server.banks()) == before
    high = {"final": scores[1]}
    only = _body(server, bank, "red door squeaks", banks=[bank, other], min_scores=high)
    assert only["results"] == results[:2]
    assert "bank_id" not in server.recall(bank, "garden")[0]
    named = _body(server, bank, "door", bank_ids=[empty])
    assert named["results"] == []


def test_a_trace_tells_how_the_answers_came_about(server: Server, bank: str) -> None:
    server.retain(bank, "User: The red door squeaks.\nAssistant: I noted the red door.")
    server.retain(bank, {"content": "We painted it", "timestamp": "2023-03-10T12:00:00Z"})
    window = {"start": "2023-03-01T00:00:00Z", "end": "2023-04-01T00:00:00Z"}
    found = _body(server, bank, "red door", trace=True, temporal_window=window, max_tokens=500)
    trace = found["trace"]
    assert trace.keys() == {
        "query", "retrieval_results", "rrf_merged", "reranked", "entry_points", "visits",
        "pruned", "summary", "final_results",
    }  # fmt: skip
    assert trace["query"]["text"] == "red door"
    assert trace["query"]["budget"] == "mid"
    assert trace["query"]["max_tokens"] == 500
    assert len(trace["query"]["embedding"]) == 64
    assert trace["query"]["temporal_constraint"]["start"] == "2023-03-01T00:00:00Z"
    methods = trace["retrieval_results"]
    assert {m["method_name"] for m in methods} == {"semantic", "bm25", "graph", "temporal"}
    assert {m["fact_type"] for m in methods} <= {"world", "experience", "observation"}
    for method in methods:
        kinds = {hit["fact_type"] for hit in method["results"]}
        assert kinds <= {method["fact_type"]}
        assert method["duration_seconds"] >= 0
    by_name = {(m["method_name"], m["fact_type"]): m["results"] for m in methods}
    assert [h["text"] for h in by_name["temporal", "world"]] == ["We painted it"]
    assert [h["text"] for h in by_name["bm25", "experience"]] == ["I noted the red door."]
    order = [r["id"] for r in found["results"]]
    assert [r["node_id"] for r in trace["final_results"]] == order
    assert [r["node_id"] for r in trace["rrf_merged"]][: len(order)] == order
    for merged, ranked in zip(trace["rrf_merged"], trace["reranked"], strict=True):
        assert sum(ranked["score_components"].values()) == pytest.approx(merged["rrf_score"])
        assert merged["source_ranks"].keys() <= {"semantic", "bm25", "graph", "temporal"}
    plain = _body(server, bank, "red door", temporal_window=window, max_tokens=500)
    assert "trace" not in plain
    assert [r["id"] for r in plain["results"]] == order


@pytest.mark.both_stores
def test_shared_entities_lead_further(server: Server, bank: str) -> None:
    names = [{"text": "Lake Mjosa"}]
    server.retain(bank, {"content": "The red door squeaks", "entities": names})
    server.retain(bank, {"content": "Rain fell", "entities": names}, "Nobody came")
    trace = _body(server, bank, "red door", trace=True, budget="high")["trace"]
    graph = [m for m in trace["retrieval_results"] if m["method_name"] == "graph"]
    assert "Rain fell" in {hit["text"] for m in graph for hit in m["results"]} | {
        r["text"] for r in trace["final_results"][:5]
    }
    assert all(m["metadata"] == {"ranked": True} for m in graph)


def test_a_bad_query_timestamp_is_a_bad_request(server: Server, bank: str) -> None:
    for wrong in ("yesterday", "0000-01-01"):
        answer = server.post(
            f"/v1/default/banks/{bank}/memories/recall", {"query": "x", "query_timestamp": wrong}
        )
        assert answer.status_code == 400
        assert "query_timestamp" in answer.json()["detail"]


def test_an_unknown_type_is_answered_with_the_known_ones(server: Server, bank: str) -> None:
    answer = server.post(
        f"/v1/default/banks/{bank}/memories/recall", {"query": "x", "types": ["fact"]}
    )
    assert answer.status_code == 422
    message = answer.json()["detail"][0]["msg"]
    assert all(name in message for name in ("world", "experience", "observation"))
    assert "opinion" not in message


DEEP: Any = {"tags": ["a"]}
for _ in range(10):
    DEEP = {"not": DEEP}


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"tags": ["a"], "tag_groups": [{"tags": ["b"]}]}, "tag_groups"),
        ({"tag_groups": {"tags": ["a"]}}, "tag_groups"),
        ({"tag_groups": [{"tags": "a"}]}, "tag_groups.0.tags"),
        ({"tag_groups": [{"tags": [1]}]}, "tag_groups.0.tags"),
        ({"tag_groups": [{"tags": ["a"], "match": "some"}]}, "tag_groups.0.match"),
        ({"tag_groups": [{"and": []}]}, "tag_groups.0.and"),
        ({"tag_groups": [{"or": [{"tags": []}, {}]}]}, "tag_groups.0.or.1"),
        ({"tag_groups": [{"not": {"tags": [], "and": []}}]}, "tag_groups.0.not"),
        ({"tag_groups": [5]}, "tag_groups.0"),
        ({"tag_groups": [DEEP]}, "10"),
        ({"tag_groups": [{"tags": ["a"]}] * 101}, "100"),
        ({"tag_groups": [{"tags": ["a" * 257]}]}, "256"),
        ({"banks": []}, "banks"),
        ({"banks": [f"b{n}" for n in range(101)]}, "banks"),
        ({"banks": [""]}, "banks"),
        ({"min_scores": {"final": "high"}}, "min_scores.final"),
        ({"include": {"chunks": {"max_tokens": -1}}}, "include.chunks.max_tokens"),
        ({"include": 5}, "include"),
    ],
)
def test_wrong_options_are_refused(server: Server, bank: str, wrong: Any, named: str) -> None:
    answer = server.post(f"/v1/default/banks/{bank}/memories/recall", {"query": "x", **wrong})
    assert answer.status_code == 422
    assert named in answer.json()["detail"][0]["msg"]


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
        ({"query": "x", "query_timestamp": 5}, "query_timestamp"),
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
