"""Documents and chunks over HTTP: list, look at, tag, read again, delete."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx
import pytest
from wire_kit import Server


class Shelf:
    """The documents of a bank, with short calls."""

    def __init__(self, server: Server, bank: str) -> None:
        self.server = server
        self.bank = bank
        self.path = f"/v1/default/banks/{quote(bank, safe='')}"

    def put(self, name: str, content: str, **more: Any) -> None:
        item = {"content": content, "document_id": name, **more}
        answer = self.server.post(f"{self.path}/memories", {"items": [item]})
        assert answer.status_code == 200, answer.text

    def send(self, method: str, name: str, tail: str = "", **more: Any) -> httpx.Response:
        path = f"{self.path}/documents/{quote(name, safe='')}{tail}"
        return self.server.client.request(method, path, **more)

    def get(self, name: str, tail: str = "", **params: Any) -> Any:
        answer = self.send("GET", name, tail, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def names(self, **params: Any) -> list[str]:
        answer = self.server.client.get(f"{self.path}/documents", params=params)
        assert answer.status_code == 200, answer.text
        return [item["id"] for item in answer.json()["items"]]

    def memories(self, **params: Any) -> list[dict[str, Any]]:
        answer = self.server.client.get(f"{self.path}/memories/list", params=params)
        items: list[dict[str, Any]] = answer.json()["items"]
        return items

    def reprocess(self, name: str) -> dict[str, Any]:
        answer = self.send("POST", name, "/reprocess")
        assert answer.status_code == 200, answer.text
        told = answer.json()
        assert told.keys() == {"success", "operation_id", "items_count"}
        return self.server.finished(self.bank, told["operation_id"])


@pytest.fixture
def shelf(server: Server, bank: str) -> Shelf:
    return Shelf(server, bank)


TALK = """Mia: What did you plant this spring?
Leo: I planted turnips behind the shed.
Mia: They grow fast there, I hope?"""


def test_documents_are_listed_newest_update_first(shelf: Shelf) -> None:
    shelf.put("Notes/one", "I keep bees.", tags=["bees"], metadata={"by": "Ann"})
    shelf.put("notes/two", "I keep ants.", tags=["ants", "bees"])
    shelf.put("letter", "It rains.")
    assert shelf.names() == ["letter", "notes/two", "Notes/one"]
    assert shelf.names(limit=1, offset=1) == ["notes/two"]
    assert shelf.names(q="NOTES/") == ["notes/two", "Notes/one"]
    assert shelf.names(tags="bees") == ["notes/two", "Notes/one"]
    assert shelf.names(tags=["bees", "ants"], tags_match="all_strict") == ["notes/two"]
    assert shelf.names(tags="bees", tags_match="any") == ["letter", "notes/two", "Notes/one"]
    shelf.put("Notes/one", "I keep bees and moths.", tags=["bees"], metadata={"by": "Ann"})
    assert shelf.names() == ["Notes/one", "letter", "notes/two"]
    assert shelf.names(time_field="created_at") == ["letter", "notes/two", "Notes/one"]
    assert shelf.names(start_date="2024-01-01", limit=1) == ["Notes/one"]
    assert shelf.names(time_field="created_at", end_date="2024-01-01") == []
    answer = shelf.server.client.get(f"{shelf.path}/documents").json()
    assert (answer["total"], answer["limit"], answer["offset"]) == (3, 100, 0)
    first = answer["items"][0]
    assert first.keys() >= {
        "id", "bank_id", "content_hash", "created_at", "updated_at", "text_length",
        "memory_unit_count", "retain_params", "document_metadata", "tags",
    }  # fmt: skip
    assert (first["id"], first["bank_id"]) == ("Notes/one", shelf.bank)
    assert (first["text_length"], first["tags"]) == (len("I keep bees and moths."), ["bees"])
    assert first["document_metadata"] == {"by": "Ann"}
    assert first["memory_unit_count"] >= 1


def test_a_document_shows_its_text_and_what_was_made_of_it(shelf: Shelf) -> None:
    shelf.put("talk", TALK, context="garden", timestamp="2024-05-01T09:00:00Z")
    found = shelf.get("talk")
    assert found["original_text"] == TALK
    assert found["nodes_by_fact_type"] == {"world": found["memory_unit_count"]}
    assert found["memory_unit_count"] >= 4
    assert found["retain_params"]["items"][0]["note"] == "garden"
    assert found["retain_params"]["items"][0]["timestamp"] == "2024-05-01T09:00:00Z"
    assert (found["tags"], found["observation_scopes"]) == ([], None)
    missing = shelf.send("GET", "none")
    assert missing.status_code == 404
    assert missing.json() == {"detail": "there is no document 'none' in this bank"}


@pytest.mark.parametrize("name", ["a/b", "a/chunks", "chunks", "a%2Fb", "ä b?c#d", "x/reprocess",
                                  "a//b", "50%"])  # fmt: skip
def test_names_of_documents_may_hold_anything(shelf: Shelf, name: str) -> None:
    shelf.put(name, f"I wrote {name}.")
    assert shelf.get(name)["id"] == name
    [chunk] = shelf.get(name, "/chunks")["items"]
    assert (chunk["document_id"], chunk["chunk_text"]) == (name, f"I wrote {name}.")
    found = shelf.server.client.get(f"/v1/default/chunks/{quote(chunk['chunk_id'], safe='')}")
    assert found.json() == chunk
    assert shelf.send("PATCH", name, json={"tags": ["t"]}).json() == {"success": True}
    assert shelf.get(name)["tags"] == ["t"]
    assert shelf.send("DELETE", name).json()["document_id"] == name
    assert shelf.send("GET", name).status_code == 404


def test_slashes_need_not_be_encoded(shelf: Shelf) -> None:
    shelf.put("2024/may/notes", "I wrote it in May.")
    path = f"{shelf.path}/documents/2024/may/notes"
    assert shelf.server.client.get(path).json()["id"] == "2024/may/notes"
    assert shelf.server.client.get(f"{path}/chunks").json()["total"] == 1


def test_chunks_joined_in_order_are_the_text(shelf: Shelf) -> None:
    text = "\n\n".join(f"Paragraph {n} tells of {n * 7} ships. " * 12 for n in range(30))
    shelf.put("long", text)
    whole = shelf.get("long", "/chunks", limit=1000)
    assert whole["total"] == len(whole["items"]) > 2
    assert "".join(c["chunk_text"] for c in whole["items"]) == text
    page = shelf.get("long", "/chunks", limit=1, offset=1)
    assert page["items"] == whole["items"][1:2]
    assert (page["total"], page["limit"], page["offset"]) == (whole["total"], 1, 1)
    assert shelf.send("GET", "none", "/chunks").status_code == 404


def test_a_chunk_is_found_though_names_hold_underscores(server: Server, bank: str) -> None:
    outer, inner = Shelf(server, bank), Shelf(server, f"{bank}_a")
    outer.put("a_b_c", "The outer one.")
    inner.put("b_c", "The inner one.")
    inner.put("d", "Only inner.")

    def get(chunk_id: str) -> httpx.Response:
        return server.client.get(f"/v1/default/chunks/{quote(chunk_id, safe='')}")

    assert get(f"{bank}_a_b_c_0").json()["chunk_text"] == "The outer one."
    assert get(f"{bank}_a_d_0").json()["bank_id"] == f"{bank}_a"
    for wrong in (f"{bank}_a_b_c_1", f"{bank}_x_0", f"{bank}_a_d_x", f"{bank}_0", "_", "0"):
        assert get(wrong).status_code == 404, wrong
    outer.send("DELETE", "a_b_c")
    assert get(f"{bank}_a_b_c_0").json()["chunk_text"] == "The inner one."


def test_tags_of_a_document_are_those_of_its_memories(shelf: Shelf) -> None:
    shelf.put("talk", TALK, tags=["old"])
    shelf.put("other", "I planted beets.", tags=["old"])
    ids = {m["id"] for m in shelf.memories(document_id="talk", layer="all")}
    answer = shelf.send("PATCH", "talk", json={"tags": ["new", "new", " "]})
    assert answer.json() == {"success": True}
    assert shelf.get("talk")["tags"] == ["new"]
    assert shelf.names() == ["talk", "other"]
    found = shelf.memories(document_id="talk", layer="all")
    assert {m["id"] for m in found} == ids
    assert {tuple(m["tags"]) for m in found} == {("new",)}
    match = {"tags": ["new"], "tags_match": "any_strict"}
    texts = [m["text"] for m in shelf.server.recall(shelf.bank, "who planted turnips", **match)]
    assert "I planted turnips behind the shed." in texts
    assert "I planted beets." not in texts
    match["tags"] = ["old"]
    assert [m["text"] for m in shelf.server.recall(shelf.bank, "planted", **match)] == [
        "I planted beets."
    ]
    assert shelf.send("PATCH", "talk", json={"tags": []}).status_code == 200
    assert shelf.get("talk")["tags"] == []
    assert shelf.send("PATCH", "talk", json={"tags": "one"}).status_code == 200
    assert shelf.get("talk")["tags"] == ["one"]
    assert shelf.send("PATCH", "none", json={"tags": []}).status_code == 404
    for wrong in ({}, {"tags": None}, {"tags": [1]}):
        refused = shelf.send("PATCH", "talk", json=wrong)
        assert refused.status_code == 422
        assert "tags" in refused.json()["detail"][0]["msg"]


def test_reading_again_keeps_ids_and_what_people_did(shelf: Shelf) -> None:
    talk = f"{TALK}\nLeo: Yes. My sister Rosa sells them in Ghent. I keep two goats."
    shelf.put("talk", talk, tags=["t"])
    found = {m["text"]: m for m in shelf.memories()}
    turnips = found["I planted turnips behind the shed."]
    path = f"{shelf.path}/memories"
    edited = shelf.server.client.patch(
        f"{path}/{turnips['id']}", json={"text": "I planted leeks behind the shed."}
    )
    assert edited.status_code == 200
    goats = next(f for m in found.values() for f in m["facts"] if "goats" in f["text"])
    shelf.server.client.patch(f"{path}/{goats['id']}", json={"state": "invalidated"})
    before = {m["id"]: m for m in shelf.memories(layer="all", state="all", duplicates="show")}
    document = shelf.get("talk")
    recalled = shelf.server.recall(shelf.bank, "leeks behind the shed")
    done = shelf.reprocess("talk")
    assert done["status"] == "completed", done
    assert done["result_metadata"]["document_ids"] == ["talk"]
    after = {m["id"]: m for m in shelf.memories(layer="all", state="all", duplicates="show")}
    assert after == before
    assert shelf.get("talk") == document
    assert (document["original_text"], document["content_hash"] is None) == (talk, False)
    assert shelf.server.recall(shelf.bank, "leeks behind the shed") == recalled
    assert shelf.reprocess("talk")["status"] == "completed"
    assert shelf.send("POST", "none", "/reprocess").status_code == 404


def test_reading_again_brings_back_nothing_that_was_forgotten(shelf: Shelf) -> None:
    shelf.put("talk", TALK)
    [turnips] = shelf.memories(q="turnips")
    shelf.server.post("/v1/forget", {"entity_id": shelf.bank, "memory_ids": [turnips["id"]]})
    assert shelf.reprocess("talk")["status"] == "completed"
    assert len(shelf.memories()) == 2
    assert "turnips" not in shelf.get("talk")["original_text"]
    assert shelf.get("talk")["content_hash"] is None
    assert shelf.memories(q="\u2588") == []


def test_a_deleted_document_is_gone_with_all_of_it(shelf: Shelf) -> None:
    shelf.put("a/talk", TALK)
    count = shelf.get("a/talk")["memory_unit_count"]
    told = shelf.send("DELETE", "a/talk").json()
    assert told["success"] is True
    assert told["memory_units_deleted"] == count
    assert shelf.send("DELETE", "a/talk").status_code == 404
    assert shelf.memories() == []
    assert shelf.names() == []
