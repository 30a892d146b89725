"""Retain over HTTP: what an item may say, and what is kept of it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest
from wire_kit import Server


@pytest.mark.both_stores
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
                {"content": "one", "strategy": "s", "colour": True},
                {"content": "two", "strategy": "s", "entities": [{"text": "A", "a key\n": 1}]},
            ],
            "operation_id": "2f1c9c1e-8f1b-4b7e-9a57-3c8f0d1e2a3b",
            "": 1,
        },
    )
    assert answer.status_code == 200
    assert answer.headers["X-Ignored-Params"].split(", ") == [
        '""',
        "items.colour",
        "items.entities.a%20key%0A",
        "operation_id",
        "items.strategy",
        "mode",
    ]
    known = server.post(f"/v1/default/banks/{bank}/memories", {"items": [{"content": "three"}]})
    assert "X-Ignored-Params" not in known.headers


def test_the_answer_says_what_was_done(server: Server, bank: str) -> None:
    noise = "\n\n".join("hm hm hm " * 40 for _ in range(10))
    items = [
        {"content": "Alice moved to Berlin.", "document_id": "a"},
        {"content": noise, "document_id": "b/c"},
    ]
    told = server.retain(bank, *items)
    assert told["success"] is True
    assert told["items_count"] == 2
    assert told["facts_count"] == 1
    assert told["duplicates_count"] == 0
    assert told["document_ids"] == ["a", "b/c"]
    assert told["coverage"] == 1.0
    assert told["chunks_count"] == told["chunks_read_count"] > 2
    assert told["empty_chunks_count"] == told["chunks_count"] - 1
    assert told["empty_chunk_ids"][0] == f"{bank}_b/c_0"
    assert told["errors"] == []
    again = server.retain(bank, *items)
    assert again["unchanged_document_ids"] == ["a", "b/c"]
    assert (again["facts_count"], again["unit_ids"], again["chunks_read_count"]) == (0, [], 0)
    assert again["chunks_count"] == told["chunks_count"]
    items[0]["content"] = "Alice moved to Berlin.\n\nBob moved to Paris."
    grown = server.retain(bank, *items)
    assert grown["unchanged_document_ids"] == ["b/c"]
    assert len(grown["unit_ids"]) == 2
    assert grown["facts_count"] == 1


@pytest.mark.both_stores
def test_content_is_appended(server: Server, bank: str) -> None:
    server.retain(bank, {"content": "Alice likes figs.", "document_id": "d", "tags": ["a"]})
    more = {"content": "Bob likes plums.", "document_id": "d", "update_mode": "append"}
    told = server.retain(bank, {**more, "tags": ["b"]})
    assert len(told["unit_ids"]) == told["facts_count"] + 1
    found = {r["text"]: r for r in server.recall(bank, "Who likes what?")}
    assert found.keys() == {"Alice likes figs.", "Bob likes plums."}
    assert found["Alice likes figs."]["tags"] == ["a"]
    assert found["Bob likes plums."]["tags"] == ["b"]
    assert found["Bob likes plums."]["chunk_id"] == f"{bank}_d_1"


@pytest.mark.both_stores
def test_appends_at_once_all_come_in_once(server: Server, bank: str) -> None:
    def append(number: int) -> int:
        item = {"content": f"Ship {number} has left.", "document_id": "d", "update_mode": "append"}
        path = f"/v1/default/banks/{bank}/memories"
        with httpx.Client(base_url=server.url, timeout=60) as client:
            return client.post(path, json={"items": [item]}).status_code

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(append, range(8))) == [200] * 8
    found = server.recall(bank, "Which ships have left?")
    assert sorted(r["text"] for r in found) == [f"Ship {n} has left." for n in range(8)]


def test_appending_needs_a_document(server: Server, bank: str) -> None:
    path = f"/v1/default/banks/{bank}/memories"
    item = {"content": "two", "update_mode": "append"}
    for flag in (False, True):
        answer = server.post(path, {"items": [item], "async": flag})
        assert answer.status_code == 400
        assert "items.0.document_id" in answer.json()["detail"]
    mixed = [{"content": "one", "document_id": "d"}, {**item, "document_id": "d"}]
    answer = server.post(path, {"items": mixed})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["field"] == "items.1.update_mode"
    assert server.recall(bank, "one") == []
    server.retain(bank, mixed[0], {**item, "document_id": "e"})
    assert len(server.recall(bank, "one two")) == 2


def test_tags_of_the_request_go_to_all_items(server: Server, bank: str) -> None:
    items = [{"content": "The door is red", "tags": ["a", "b"]}, {"content": "The roof is grey"}]
    server.retain(bank, *items, document_tags=["b", "c"])
    found = {r["text"]: r["tags"] for r in server.recall(bank, "door roof")}
    assert found == {"The door is red": ["a", "b", "c"], "The roof is grey": ["b", "c"]}


@pytest.mark.parametrize("key", ["7", "not-a-uuid", ""])
def test_an_operation_id_is_a_uuid(server: Server, bank: str, key: str) -> None:
    path = f"/v1/default/banks/{bank}/memories"
    body = {"items": [{"content": "one"}], "async": True, "operation_id": key}
    answer = server.post(path, body)
    if not key:
        assert answer.status_code == 200
        return
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["field"] == "operation_id"


@pytest.mark.both_stores
def test_an_operation_id_makes_a_call_the_same_one(server: Server, bank: str) -> None:
    key = str(uuid4())
    one = server.retain(bank, "The door is red", **{"async": True}, operation_id=key)
    again = server.retain(bank, "The roof is grey", **{"async": True}, operation_id=key.upper())
    assert one["operation_id"] == again["operation_id"] == key
    assert server.finished(bank, key)["status"] == "completed"
    assert [r["text"] for r in server.recall(bank, "door roof")] == ["The door is red"]


def test_nobody_knows_when_it_was_said(server: Server, bank: str) -> None:
    server.retain(bank, {"content": "I sold the boat yesterday.", "timestamp": "unset"})
    found = server.recall(bank, "boat")[0]
    assert found.get("occurred_start") is None
    assert found["mentioned_at"] > "2025"
    server.retain(bank, {"content": "I sold the car yesterday.", "timestamp": ""})
    [car] = [r for r in server.recall(bank, "car") if "car" in r["text"]]
    assert car["occurred_start"] is not None


@pytest.mark.parametrize("scopes", ["per_tag", "shared", [["a", "b"], ["c"]]])
def test_observation_scopes_are_kept(server: Server, bank: str, scopes: Any) -> None:
    item = {"content": "The door is red", "document_id": "d", "observation_scopes": scopes}
    server.retain(bank, item)
    found = server.client.get(f"/v1/default/banks/{bank}/documents/d").json()
    assert found["retain_params"]["items"][0]["observation_scopes"] == scopes
    bad = {**item, "observation_scopes": "by_colour"}
    answer = server.post(f"/v1/default/banks/{bank}/memories", {"items": [bad]})
    assert answer.status_code == 422


def test_a_repaired_text_is_kept_and_the_bank_goes_on(server: Server, bank: str) -> None:
    # what a client makes of a file with a byte that is no UTF-8
    said = b"The user prefers caf\xe9 style".decode("utf-8", "surrogateescape")
    body = json.dumps({"items": [{"content": said, "document_id": "d"}]})
    answer = server.client.post(
        f"/v1/default/banks/{bank}/memories",
        content=body,
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["coverage"] == 1.0
    assert server.recall(bank, "style")[0]["text"] == "The user prefers caf style"


def test_a_body_that_is_no_utf8_is_refused_and_nothing_is_lost(server: Server, bank: str) -> None:
    server.retain(bank, "The door is red")
    answer = server.client.post(
        f"/v1/default/banks/{bank}/memories",
        content=b'{"items": [{"content": "caf\xe9"}]}',
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 422
    assert [r["text"] for r in server.recall(bank, "door")] == ["The door is red"]


@pytest.mark.both_stores
def test_all_of_a_long_content_is_kept(server: Server, bank: str) -> None:
    said = [f"Box {n} holds {n * 7} old coins from the cellar." for n in range(2_000)]
    content = " ".join(said)
    assert len(content) > 83_400
    told = server.retain(bank, {"content": content, "document_id": "d"})
    assert told["coverage"] == 1.0
    assert told["chunks_count"] == told["chunks_read_count"] > 25
    for number in (3, 998, 1_999):
        assert any(said[number] in r["text"] for r in server.recall(bank, f"Box {number}"))


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


@pytest.mark.both_stores
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
