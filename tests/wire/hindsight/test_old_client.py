"""Clients of Hindsight's first version: fewer fields, the same answers."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from wire_kit import Server

BANKS = "/v1/default/banks"

# The documented examples of that version, word for word.
REQUEST = r"""
{
  "async": false,
  "items": [
    {
      "content": "Alice works at Google",
      "context": "work",
      "document_id": "conversation_123"
    },
    {
      "content": "Bob went hiking yesterday",
      "document_id": "conversation_123",
      "timestamp": "2024-01-15T10:00:00Z"
    }
  ]
}
"""
ITEM = r"""
{
  "content": "Alice mentioned she's working on a new ML model",
  "context": "team meeting",
  "document_id": "meeting_notes_2024_01_15",
  "metadata": {
    "channel": "engineering",
    "source": "slack"
  },
  "timestamp": "2024-01-15T10:30:00Z"
}
"""


def _retain(server: Server, bank: str, body: str | bytes) -> httpx.Response:
    return server.client.post(
        f"{BANKS}/{bank}/memories",
        content=body,
        headers={"Content-Type": "application/json"},
    )


def _known(answer: httpx.Response) -> dict[str, Any]:
    """Return the four keys that such a client reads."""
    assert answer.status_code == 200, answer.text
    body = answer.json()
    return {key: body[key] for key in ("success", "bank_id", "items_count", "async")}


def test_the_documented_request(server: Server, bank: str) -> None:
    assert _known(_retain(server, bank, REQUEST)) == {
        "success": True, "bank_id": bank, "items_count": 2, "async": False,
    }  # fmt: skip
    found = {result["text"]: result for result in server.recall(bank, "Who went hiking?")}
    assert found["Bob went hiking yesterday"]["occurred_start"].startswith("2024-01-14")
    assert found["Alice works at Google"]["context"] == "work"


def test_the_documented_item(server: Server, bank: str) -> None:
    assert _known(_retain(server, bank, f'{{"items": [{ITEM}]}}')) == {
        "success": True, "bank_id": bank, "items_count": 1, "async": False,
    }  # fmt: skip
    [found] = server.recall(bank, "What is Alice working on?")
    assert found["text"] == "Alice mentioned she's working on a new ML model"
    assert (found["context"], found["document_id"]) == ("team meeting", "meeting_notes_2024_01_15")
    assert found["metadata"] == {"channel": "engineering", "source": "slack"}
    assert found["mentioned_at"].startswith("2024-01-15T10:30:00")


def test_in_the_background(server: Server, bank: str) -> None:
    body = REQUEST.replace('"async": false', '"async": true')
    answer = _retain(server, bank, body)
    assert _known(answer) == {
        "success": True, "bank_id": bank, "items_count": 2, "async": True,
    }  # fmt: skip
    assert server.finished(bank, answer.json()["operation_id"])["status"] == "completed"
    assert server.recall(bank, "Where does Alice work?")


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ("{}", ["body", "items"]),
        ('{"items": null}', ["body", "items"]),
        ('{"items": "text"}', ["body", "items"]),
        ('{"items": [{}]}', ["body", "items", 0, "content"]),
        ('{"items": [{"content": null}]}', ["body", "items", 0, "content"]),
        ('{"items": [{"content": " \\t\\n "}]}', ["body", "items", 0, "content"]),
        ('{"items": [{"content": "a", "timestamp": "soon"}]}', ["body", "items", 0, "timestamp"]),
        ('{"items": [{"content": "a", "timestamp": []}]}', ["body", "items", 0, "timestamp"]),
        ('{"items": [{"content": "a", "metadata": {"n": 1}}]}', ["body", "items", 0, "metadata"]),
        ('{"items": [{"content": "a", "context": 5}]}', ["body", "items", 0, "context"]),
        ('{"items": [{"content": "a", "document_id": 5}]}', ["body", "items", 0, "document_id"]),
        ('{"items": [{"content": "a"}], "async": "maybe"}', ["body", "async"]),
        ('{"items": [{"content": "a"}, {"content": 7}]}', ["body", "items", 1, "content"]),
        ("[]", ["body"]),
        ("null", ["body"]),
        ("", ["body"]),
        ('{"items": [', ["body"]),
    ],
)
def test_each_422_is_a_list_of_places_messages_and_types(
    server: Server, bank: str, body: str, where: list[str | int]
) -> None:
    answer = _retain(server, bank, body)
    assert answer.status_code == 422, answer.text
    detail = answer.json()["detail"]
    assert isinstance(detail, list)
    assert detail
    for fault in detail:
        assert all(type(step) in (str, int) for step in fault["loc"])
        assert fault["loc"][0] == "body"
        assert isinstance(fault["msg"], str)
        assert fault["msg"]
        assert isinstance(fault["type"], str)
        assert fault["type"]
    assert any(fault["loc"][: len(where)] == where for fault in detail)
    assert server.client.get(f"{BANKS}/{bank}/stats").json()["total_nodes"] == 0


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("memories/recall", {}),
        ("memories/recall", {"query": 5}),
        ("memories/recall", {"query": "who", "budget": "huge"}),
        ("memories/recall", {"query": "who", "max_tokens": "many"}),
        ("reflect", {}),
        ("reflect", {"query": "who", "budget": 5}),
    ],
)
def test_each_422_of_a_question_too(
    server: Server, bank: str, path: str, body: dict[str, Any]
) -> None:
    answer = server.post(f"{BANKS}/{bank}/{path}", body)
    assert answer.status_code == 422
    for fault in answer.json()["detail"]:
        assert {"loc", "msg", "type"} <= fault.keys()
        assert fault["loc"][0] == "body"


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "offset=-1"])
@pytest.mark.parametrize("path", ["memories/list", "documents", "entities", "operations"])
def test_each_422_of_a_query_too(server: Server, bank: str, path: str, query: str) -> None:
    answer = server.client.get(f"{BANKS}/{bank}/{path}?{query}")
    assert answer.status_code == 422
    [fault] = answer.json()["detail"]
    assert fault["loc"] == ["query", query.split("=", maxsplit=1)[0]]
    assert {"msg", "type"} <= fault.keys()


def test_a_question_with_what_that_version_sent(server: Server, bank: str) -> None:
    _retain(server, bank, REQUEST)
    body = {
        "query": "Where does Alice work?",
        "types": ["world", "experience", "opinion"],
        "budget": "mid",
        "max_tokens": 4096,
        "trace": False,
        "query_timestamp": "2024-02-01T00:00:00Z",
        "include": {"entities": {"max_tokens": 500}, "chunks": None},
    }
    answer = server.post(f"{BANKS}/{bank}/memories/recall", body).json()
    assert answer["results"][0]["text"] == "Alice works at Google"
    assert answer["entities"]["Google"]["canonical_name"] == "Google"
    reflected = server.post(
        f"{BANKS}/{bank}/reflect",
        {"query": "Where does Alice work?", "budget": "low", "context": ""},
    )
    assert "Google" in reflected.json()["text"]


def test_what_that_version_looked_at(server: Server, bank: str) -> None:
    _retain(server, bank, REQUEST)

    def get(path: str, **query: Any) -> Any:
        answer = server.client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    at = f"{BANKS}/{bank}"
    assert any(each["bank_id"] == bank for each in get(BANKS, limit=10_000)["banks"])
    assert get(f"{at}/profile")["disposition"] == {"skepticism": 3, "literalism": 3, "empathy": 3}
    assert get(f"{at}/stats")["total_documents"] == 1
    assert get(f"{at}/memories/list", limit=5)["items"]
    assert get(f"{at}/documents")["items"][0]["id"] == "conversation_123"
    document = get(f"{at}/documents/conversation_123")
    assert "Bob went hiking yesterday" in document["original_text"]
    [entity] = [e for e in get(f"{at}/entities")["items"] if e["canonical_name"] == "Google"]
    assert get(f"{at}/entities/{entity['id']}")["observations"] == []
    assert get(f"{at}/graph")["total_units"] == get(f"{at}/memories/list")["total"] == 2
    assert get(f"{at}/operations")["operations"] == []
    told = server.post(f"{at}/background", {"content": "I am a travel agent."}).json()
    assert "travel agent" in told["mission"]
    traits = {"skepticism": 4, "literalism": 2, "empathy": 5}
    changed = server.client.put(f"{at}/profile", json={"disposition": traits}).json()
    assert changed["disposition"] == traits
    gone = server.client.delete(f"{at}/documents/conversation_123").json()
    assert (gone["success"], gone["document_id"]) == (True, "conversation_123")
    assert server.client.delete(f"{at}/memories").json()["success"] is True
    assert server.recall(bank, "Where does Alice work?") == []
