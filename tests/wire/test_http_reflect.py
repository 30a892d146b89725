"""Reflect over HTTP: words, what they rest on, and objects filled from what is known."""

from __future__ import annotations

from typing import Any

import pytest
from wire_kit import Server

CHAT = "Ann: I moved to Oslo with 2 cats.\nBen: Do you like Oslo?\nAnn: I never liked Bergen."


def _reflect(server: Server, bank: str, query: str, **more: Any) -> dict[str, Any]:
    answer = server.post(f"/v1/default/banks/{bank}/reflect", {"query": query, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.fixture
def chat(server: Server, bank: str) -> str:
    said = {"content": CHAT, "timestamp": "2024-03-10T10:00:00Z", "context": "a call"}
    server.retain(bank, {**said, "tags": ["friends"], "document_id": "call"})
    return bank


def test_what_is_known_is_quoted_with_who_said_it_and_when(server: Server, chat: str) -> None:
    found = _reflect(server, chat, "Where did Ann move, to Oslo?")
    assert "2024-03-10" in found["text"]
    assert "Ann: “I moved to Oslo with 2 cats" in found["text"]
    assert found["usage"] == {
        "input_tokens": 0, "output_tokens": 0, "total_tokens": 0, "cached_tokens": 0,
        "thoughts_tokens": 0,
    }  # fmt: skip
    assert found.keys() == {"text", "usage"}
    denied = _reflect(server, chat, "Who liked Bergen?")["text"]
    assert "“I never liked Bergen.” (denied" in denied


def test_nothing_known_is_said_so(server: Server, bank: str) -> None:
    before = server.banks()
    found = _reflect(server, bank, "Who is Zoe?")
    assert found["text"] == "Nothing is known about “Who is Zoe?”."
    assert server.banks() == before


def test_what_it_rests_on_and_what_was_done_come_when_asked_for(server: Server, chat: str) -> None:
    include = {"facts": {}, "tool_calls": {}}
    found = _reflect(server, chat, "Who moved to Oslo?", include=include, context="with cats")
    based_on = found["based_on"]
    assert (based_on["mental_models"], based_on["directives"]) == ([], [])
    memory = based_on["memories"][0]
    assert memory["text"] == "I moved to Oslo with 2 cats."
    assert (memory["type"], memory["context"]) == ("world", "a call")
    ids = {r["id"] for r in server.recall(chat, "Oslo")}
    assert {m["id"] for m in based_on["memories"]} <= ids
    assert found["trace"]["llm_calls"] == []
    call = found["trace"]["tool_calls"][0]
    assert (call["tool"], call["iteration"]) == ("recall", 0)
    assert call["input"] == {"query": "Who moved to Oslo?\nwith cats", "budget": "low"}
    assert memory["id"] in {m["id"] for m in call["output"]["memories"]}
    short = _reflect(server, chat, "Oslo?", include={"tool_calls": {"output": False}})
    assert "output" not in short["trace"]["tool_calls"][0]
    assert "based_on" not in short


def test_a_schema_is_filled_from_what_is_known(server: Server, chat: str) -> None:
    schema = {
        "type": "object",
        "properties": {
            "cats": {"type": "integer"},
            "moved": {"type": "boolean"},
            "boat": {"type": "string"},
            "car": {"type": ["string", "null"]},
            "moves": {"type": "array", "items": {"type": "string"}, "description": "who moved"},
        },
        "required": ["cats", "boat", "car"],
    }
    found = _reflect(server, chat, "What about Ann and Oslo?", response_schema=schema)
    assert found["structured_output"] == {
        "cats": 2,
        "moved": True,
        "boat": "",
        "car": None,
        "moves": ["I moved to Oslo with 2 cats."],
    }
    assert found["structured_missing"] == ["boat", "car"]
    nothing = _reflect(server, chat, "Zebras?", response_schema={"type": "object"})
    assert nothing["structured_output"] == {}


def test_filters_hold(server: Server, chat: str) -> None:
    nothing = "Nothing is known"
    for more in (
        {"tags": ["work"], "tags_match": "any_strict"},
        {"tag_groups": [{"not": {"tags": ["friends"]}}]},
        {"fact_types": ["experience"]},
    ):
        assert _reflect(server, chat, "Oslo", **more)["text"].startswith(nothing), more
    assert "Oslo" in _reflect(server, chat, "Oslo", tags=["friends"], fact_types=["world"])["text"]
    short = _reflect(server, chat, "Who moved to Oslo?", max_tokens=12)["text"]
    assert 0 < len(short.encode()) <= 48


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"query": ""}, "query"),
        ({}, "query"),
        ({"query": "x", "max_tokens": 0}, "max_tokens"),
        ({"query": "x", "fact_types": ["fact"]}, "fact_types.0"),
        ({"query": "x", "budget": "huge"}, "budget"),
        ({"query": "x", "response_schema": "text"}, "response_schema"),
        ({"query": "x", "response_schema": {"type": "thing"}}, "response_schema.type"),
        ({"query": "x", "response_schema": {"type": "string"}}, "response_schema"),
        (
            {"query": "x", "response_schema": {"properties": {"a": {"type": 5}}}},
            "response_schema.properties.a.type",
        ),
    ],
)
def test_wrong_questions_are_refused(server: Server, bank: str, wrong: Any, field: str) -> None:
    answer = server.post(f"/v1/default/banks/{bank}/reflect", wrong)
    assert answer.status_code == 422
    fault = answer.json()["detail"][0]
    assert fault["field"] == field
    assert field in fault["msg"]
