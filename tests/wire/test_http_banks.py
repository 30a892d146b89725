"""Banks: made, described, listed, cleared and deleted."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from wire_kit import WAIT_S, Server

from stores_kit import bytes_of

BANKS = "/v1/default/banks"
PLAIN = {"skepticism": 3, "literalism": 3, "empathy": 3}


def _json(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _put(server: Server, bank: str, **body: Any) -> dict[str, Any]:
    return _json(server.client.put(f"{BANKS}/{bank}", json=body))


def _patch(server: Server, bank: str, **body: Any) -> dict[str, Any]:
    return _json(server.client.patch(f"{BANKS}/{bank}", json=body))


def _profile(server: Server, bank: str) -> dict[str, Any]:
    return _json(server.client.get(f"{BANKS}/{bank}/profile"))


def _stats(server: Server, bank: str) -> dict[str, Any]:
    return _json(server.client.get(f"{BANKS}/{bank}/stats"))


def test_a_missing_bank(server: Server, bank: str) -> None:
    path = f"{BANKS}/{bank}"
    missing = server.client.get(f"{path}/profile")
    assert missing.status_code == 404
    assert bank in missing.json()["detail"]
    assert server.client.get(f"{path}/export").status_code == 404
    stats = _stats(server, bank)
    assert (stats["bank_id"], stats["total_nodes"], stats["total_links"]) == (bank, 0, 0)
    assert stats["nodes_by_fact_type"] == stats["links_breakdown"] == {}
    assert stats["pending_operations"] == stats["failed_operations"] == 0
    assert "last_memory_write_at" not in stats
    for gone in (server.client.delete(path), server.client.delete(f"{path}/memories")):
        assert {k: v for k, v in _json(gone).items() if k != "message"} == {
            "success": True,
            "deleted_count": 0,
        }
    assert _json(server.client.get(f"{path}/tags"))["total"] == 0
    scopes = _json(server.client.get(f"{path}/observations/scopes"))
    assert (scopes["scopes"], scopes["total"]) == ([], 0)
    assert _json(server.client.get(f"{path}/audit-logs"))["total"] == 0
    assert _json(server.client.delete(f"{path}/config"))["overrides"] == {}
    assert bank not in {b["bank_id"] for b in server.banks()}


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_bank_is_made_by_describing_it(server: Server, bank: str, method: str) -> None:
    made = server.client.request(method, f"{BANKS}/{bank}", json={"mission": "Help with taxes."})
    assert _json(made) == {
        "bank_id": bank,
        "name": bank,
        "disposition": PLAIN,
        "mission": "Help with taxes.",
        "background": "Help with taxes.",
    }
    assert _profile(server, bank) == made.json()


def test_what_is_left_out_stays(server: Server, bank: str) -> None:
    _put(server, bank, name="Ada", mission="First", disposition={**PLAIN, "empathy": 5})
    assert _put(server, bank, mission="Second")["name"] == "Ada"
    changed = _patch(server, bank, name=None, disposition_skepticism=1)
    assert (changed["name"], changed["mission"]) == ("Ada", "Second")
    assert changed["disposition"] == {"skepticism": 1, "literalism": 3, "empathy": 5}
    assert _patch(server, bank, background="Third")["mission"] == "Third"
    assert _patch(server, bank, background="old", mission="new")["mission"] == "new"
    assert _patch(server, bank, mission="")["mission"] == ""


def test_disposition_is_set_alone(server: Server, bank: str) -> None:
    wanted = {"skepticism": 1, "literalism": 2, "empathy": 4}
    set_ = server.client.put(f"{BANKS}/{bank}/profile", json={"disposition": wanted})
    assert _json(set_)["disposition"] == wanted
    assert _profile(server, bank)["disposition"] == wanted


def test_lines_are_added_to_the_mission_once(server: Server, bank: str) -> None:
    path = f"{BANKS}/{bank}/background"
    assert _json(server.post(path, {"content": "I sell tea."})) == {
        "mission": "I sell tea.",
        "background": "I sell tea.",
        "disposition": PLAIN,
    }
    again = server.post(path, {"content": "I sell tea.\n I was born in Texas. "})
    assert _json(again)["mission"] == "I sell tea.\nI was born in Texas."
    told = server.post(path, {"content": "I sell tea.", "update_disposition": True})
    assert told.headers["X-Ignored-Params"] == "update_disposition"
    full = server.post(path, {"content": "x" * 10_000})
    assert full.status_code == 422
    assert full.json()["detail"][0]["limit"] == 10_000
    assert _profile(server, bank)["mission"] == "I sell tea.\nI was born in Texas."


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"disposition_empathy": 0}, "disposition_empathy"),
        ({"disposition_empathy": 6}, "disposition_empathy"),
        ({"disposition_empathy": True}, "disposition_empathy"),
        ({"disposition": {"skepticism": 3, "literalism": 3}}, "disposition.empathy"),
        ({"disposition": {**PLAIN, "empathy": "5"}}, "disposition.empathy"),
        ({"mission": "x" * 10_001}, "reflect_mission"),
        ({"name": "x" * 513}, "name"),
        ({"retain_chunk_size": -1}, "retain_chunk_size"),
        ([], ""),
    ],
)
def test_what_cannot_be_makes_no_bank(server: Server, bank: str, body: Any, field: str) -> None:
    refused = server.client.put(f"{BANKS}/{bank}", json=body)
    assert refused.status_code == 422, refused.text
    assert (refused.json()["detail"][0]["field"] or "") == field
    assert server.client.get(f"{BANKS}/{bank}/profile").status_code == 404


def test_unknown_keys_are_told(server: Server, bank: str) -> None:
    body = {"name": "Ada", "mood": "fine", "disposition": {**PLAIN, "humour": 5}}
    told = server.client.put(f"{BANKS}/{bank}", json=body)
    assert told.status_code == 200
    assert told.headers["X-Ignored-Params"] == "mood, disposition.humour"


def test_banks_are_listed(server: Server, bank: str) -> None:
    _put(server, f"{bank}-b", name="The Second")
    server.retain(f"{bank}-a", {"content": "The door is red.", "document_id": "d"})
    listed = _json(server.client.get(BANKS, params={"q": bank.upper()}))
    assert {k: listed[k] for k in ("total", "limit", "offset")} == {
        "total": 2,
        "limit": 100,
        "offset": 0,
    }
    first, second = listed["banks"]
    assert (first["bank_id"], first["name"]) == (f"{bank}-a", f"{bank}-a")
    assert first["fact_count"] == _stats(server, f"{bank}-a")["total_nodes"] > 0
    assert first["created_at"] <= first["updated_at"]
    assert first["last_document_at"] <= first["updated_at"]
    assert first["last_write_at"] == _stats(server, f"{bank}-a")["last_memory_write_at"]
    assert second["name"] == "The Second"
    assert second["fact_count"] == 0
    assert second["disposition"] == PLAIN
    assert "last_document_at" not in second
    page = _json(server.client.get(BANKS, params={"q": bank, "limit": 1, "offset": 1}))
    assert [b["bank_id"] for b in page["banks"]] == [f"{bank}-b"]
    assert page["total"] == 2
    by_name = _json(server.client.get(BANKS, params={"q": "the second"}))
    assert f"{bank}-b" in {b["bank_id"] for b in by_name["banks"]}


@pytest.mark.parametrize("query", ["limit=0", "limit=-1", "limit=x", "offset=-1"])
def test_pages_that_cannot_be(server: Server, query: str) -> None:
    assert server.client.get(f"{BANKS}?{query}").status_code == 422


def test_a_name_with_a_slash(server: Server, bank: str) -> None:
    name = f"{bank}/é ü"
    path = f"{BANKS}/{quote(name, safe='')}"
    assert _json(server.client.put(path, json={"mission": "m"}))["bank_id"] == name
    assert _json(server.client.get(f"{path}/profile"))["mission"] == "m"
    assert _json(server.client.delete(path))["success"]


def test_a_deleted_bank_is_gone(server: Server, bank: str) -> None:
    _put(server, bank, name="Ada", mission="Help.")
    server.retain(bank, "The harbour is closed on Sundays.", "Ferries leave at nine.")
    assert len(server.recall(bank, "When is the harbour closed?")) > 0
    units = _stats(server, bank)["total_nodes"]
    gone = _json(server.client.delete(f"{BANKS}/{bank}"))
    assert (gone["success"], gone["deleted_count"]) == (True, units)
    assert server.recall(bank, "When is the harbour closed?") == []
    assert server.client.get(f"{BANKS}/{bank}/profile").status_code == 404
    assert _stats(server, bank)["total_nodes"] == 0
    assert _json(server.client.delete(f"{BANKS}/{bank}"))["deleted_count"] == 0
    server.retain(bank, "The harbour is open on Mondays.")
    assert [r["text"] for r in server.recall(bank, "When is the harbour open?")] == [
        "The harbour is open on Mondays."
    ]
    assert _profile(server, bank)["mission"] == ""


def test_a_deleted_bank_leaves_nothing_on_disk(folder: Path, bank: str) -> None:
    words = [f"zanzibar{n}quokka" for n in range(40)]
    with Server(folder) as server:
        server.retain("kept", "Nothing happens to this one.")
        server.retain(bank, *(f"The password of day {n} is {w}." for n, w in enumerate(words)))
        server.recall(bank, "What is the password of day 5?")
        _put(server, bank, mission=words[0])
        assert _found(folder, words)
        server.client.delete(f"{BANKS}/{bank}")
        deadline = time.monotonic() + WAIT_S
        while _found(folder, words) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not _found(folder, words)
        assert len(server.recall("kept", "What happens to this one?")) == 1
        assert [b["bank_id"] for b in _json(server.client.get(BANKS))["banks"]] == ["kept"]


def _found(folder: Path, words: list[str]) -> list[str]:
    kept = bytes_of(folder)
    return [name for name, data in kept if any(word.encode() in data for word in words)]


def test_another_process_sees_a_bank_go(folder: Path, bank: str) -> None:
    with Server(folder) as one, Server(folder) as other:
        one.retain(bank, "The door is red.")
        assert len(other.recall(bank, "What is red?")) == 1
        _json(one.client.delete(f"{BANKS}/{bank}"))
        assert other.recall(bank, "What is red?") == []
        one.retain(bank, "The roof is red.")
        assert [r["text"] for r in other.recall(bank, "What is red?")] == ["The roof is red."]


def test_memories_are_cleared(server: Server, bank: str) -> None:
    _put(server, bank, mission="Help.")
    server.retain(bank, {"content": "The harbour is closed.", "document_id": "d"})
    server.retain(bank, "Ferries leave at nine.")
    units = _stats(server, bank)["total_nodes"]
    cleared = _json(server.client.delete(f"{BANKS}/{bank}/memories"))
    assert (cleared["success"], cleared["deleted_count"]) == (True, units)
    assert "bank" not in cleared["message"]
    stats = _stats(server, bank)
    assert (stats["total_nodes"], stats["total_documents"]) == (0, 0)
    assert server.recall(bank, "When is the harbour closed?") == []
    assert _profile(server, bank)["mission"] == "Help."


def test_memories_of_a_type_are_cleared(server: Server, bank: str) -> None:
    server.retain(bank, {"content": "The harbour is closed.", "document_id": "d"})
    for kind, left in [("observation", 1), ("experience", 1), ("world", 0)]:
        before = _stats(server, bank)["nodes_by_fact_type"].get(kind, 0)
        cleared = _json(server.client.delete(f"{BANKS}/{bank}/memories?type={kind}"))
        assert cleared["deleted_count"] == before
        assert kind in cleared["message"]
        assert _stats(server, bank)["total_documents"] == left
    refused = server.client.delete(f"{BANKS}/{bank}/memories?type=opinion")
    assert refused.status_code == 422
