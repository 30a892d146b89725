"""Retain over HTTP: what an item may say, and what is kept of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from wire_kit import Server


def test_everything_an_item_says_comes_back(server: Server, bank: str) -> None:
    server.retain(
        bank,
        {
            "content": "Alice moved to Berlin",
            "timestamp": "2024-05-03T09:30:00+02:00",
            "context": "a letter",
            "metadata": {"channel": "mail"},
            "document_id": "letters/7",
            "tags": ["home"],
            "entities": [{"text": "Alice", "type": "PERSON"}, {"text": "Berlin"}],
        },
    )
    found = server.recall(bank, "Where did Alice move?")[0]
    assert found["context"] == "a letter"
    assert found["metadata"] == {"channel": "mail"}
    assert found["document_id"] == "letters/7"
    assert found["chunk_id"] == f"{bank}_letters/7_0"
    assert found["tags"] == ["home"]
    assert found["entities"] == ["Alice", "Berlin"]
    assert found["type"] == "world"
    assert found["mentioned_at"] == "2024-05-03T09:30:00+02:00"
    assert found["scores"].keys() == {"final", "semantic", "keyword"}
    assert [f["text"] for f in found["facts"]] == ["Alice moved to Berlin"]


@pytest.mark.parametrize("timestamp", ["", "unset", "UnSet", None])
def test_no_timestamp_is_now(server: Server, bank: str, timestamp: Any) -> None:
    before = server.client.get("/v1/status").json()
    assert before
    server.retain(bank, {"content": "The door is red", "timestamp": timestamp})
    found = server.recall(bank, "door")[0]
    updated = next(b for b in server.banks() if b["bank_id"] == bank)["updated_at"]
    assert found["mentioned_at"][:13] <= updated[:13]
    assert found["mentioned_at"] > "2025"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["a", "b"], ["a", "b"]),
        ("a", ["a"]),
        ('["a", "b"]', ["a", "b"]),
        ("[a", ["[a"]),
        (None, []),
    ],
)
def test_tags_may_be_spelled_as_text(server: Server, bank: str, given: Any, kept: Any) -> None:
    server.retain(bank, {"content": "The door is red", "tags": given})
    assert server.recall(bank, "door")[0]["tags"] == kept


def test_unknown_keys_are_taken_and_named(server: Server, bank: str) -> None:
    answer = server.post(
        f"/v1/default/banks/{bank}/memories?mode=x",
        {
            "items": [
                {"content": "one", "strategy": "s", "resolve_entities": True},
                {"content": "two", "strategy": "s", "entities": [{"text": "A", "a key\n": 1}]},
            ],
            "document_tags": ["x"],
            "": 1,
        },
    )
    assert answer.status_code == 200
    assert answer.headers["X-Ignored-Params"].split(", ") == [
        "document_tags",
        '""',
        "items.strategy",
        "items.resolve_entities",
        "items.entities.a%20key%0A",
        "mode",
    ]
    known = server.post(f"/v1/default/banks/{bank}/memories", {"items": [{"content": "three"}]})
    assert "X-Ignored-Params" not in known.headers


def test_appending_is_refused_rather_than_replacing(server: Server, bank: str) -> None:
    server.retain(bank, {"content": "one", "document_id": "d"})
    item = {"content": "two", "document_id": "d", "update_mode": "append"}
    answer = server.post(f"/v1/default/banks/{bank}/memories", {"items": [item]})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["field"] == "items.0.update_mode"
    assert [r["text"] for r in server.recall(bank, "one")] == ["one"]


@pytest.mark.parametrize(
    "name", ["with/slash", "with%2Fpercent", "mit Leerzeichen", "日本語", "a?b#c", "x" * 256]
)
def test_a_bank_may_have_any_name(server: Server, name: str) -> None:
    encoded = quote(name, safe="")
    answer = server.retain(encoded, "The door is red")
    assert answer["bank_id"] == name
    assert server.recall(encoded, "door")[0]["text"] == "The door is red"
    assert server.post("/v1/prime", {"entity_id": name}).json()["count"] == 1
    assert server.client.get(f"/v1/default/banks/{encoded}/operations").json()["bank_id"] == name


@pytest.mark.parametrize("name", ["%20", "%00", "a%0Ab", "%ff", "%C2%85", "x" * 257])
def test_a_bank_may_not_be_named_so(server: Server, name: str) -> None:
    path = f"/v1/default/banks/{name}/memories"
    answer = server.post(path, {"items": [{"content": "The door is red"}]})
    assert answer.status_code == 422
    fault = answer.json()["detail"][0]
    assert fault["loc"] == ["path", "bank_id"]
    assert fault["limit"] == 256
    assert "256" in fault["msg"]


def test_control_characters_and_lone_surrogates_are_taken_out(server: Server, bank: str) -> None:
    body = (
        r'{"items": [{"content": "The \ud800door\u0000 is\u0007 red \ud83d\ude00",'
        r' "context": "a\udfffb\u0001", "document_id": "d\u0000\ud800",'
        r' "metadata": {"k\ud800": "v\u0002"}, "tags": ["t\udead\u0003"]}], "\ud800": 1}'
    )
    answer = server.client.post(
        f"/v1/default/banks/{bank}/memories",
        content=body,
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["document_ids"] == ["d"]
    found = server.recall(
        bank, "door \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")
    )[0]
    assert found["text"] == "The door is red 😀"
    assert found["context"] == "ab"
    assert found["metadata"] == {"k": "v"}
    assert found["tags"] == ["t"]


def test_raw_control_characters_in_a_text_are_taken_out(server: Server, bank: str) -> None:
    answer = server.client.post(
        f"/v1/default/banks/{bank}/memories",
        content=b'{"items": [{"content": "The door\x00 is\x1b red"}]}',
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 200, answer.text
    assert server.recall(bank, "door")[0]["text"] == "The door is red"


def test_the_real_model_finds_by_meaning(folder: Path) -> None:
    with Server(folder, embedder="bge-small") as server:
        server.retain("b", "Alice adopted a kitten", "Bob repaired the roof")
        found = server.recall("b", "Who owns a pet?")
        assert found[0]["text"] == "Alice adopted a kitten"
        assert found[0]["scores"]["semantic"] > found[1]["scores"]["semantic"]
