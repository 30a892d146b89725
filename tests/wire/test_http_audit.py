"""The audit log: every change is in it, no question is, and no text of a memory."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from wire_kit import Server

BANKS = "/v1/default/banks"
KEYS = {
    "id",
    "action",
    "transport",
    "bank_id",
    "started_at",
    "ended_at",
    "duration_ms",
    "request",
    "response",
    "metadata",
}


def _json(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _log(server: Server, bank: str, **query: Any) -> dict[str, Any]:
    return _json(server.client.get(f"{BANKS}/{bank}/audit-logs", params=query))


def _actions(server: Server, bank: str, **query: Any) -> list[str]:
    return [entry["action"] for entry in _log(server, bank, **query)["items"]]


def _change(server: Server, bank: str) -> None:
    server.client.put(f"{BANKS}/{bank}", json={"mission": "Watch the quokkas."})
    server.retain(bank, {"content": "The door is red.", "document_id": "a/b"})
    server.client.patch(f"{BANKS}/{bank}/config", json={"updates": {"recall_max_tokens": 50}})
    server.client.delete(f"{BANKS}/{bank}/documents/a%2Fb")


def test_changes_are_logged_newest_first(server: Server, bank: str) -> None:
    before = datetime.now(UTC).isoformat()
    _change(server, bank)
    log = _log(server, bank)
    assert {k: log[k] for k in ("bank_id", "total", "limit", "offset")} == {
        "bank_id": bank,
        "total": 4,
        "limit": 50,
        "offset": 0,
    }
    assert [e["action"] for e in log["items"]] == [
        "document.delete",
        "bank_config.update",
        "memories.retain",
        "bank.update",
    ]
    for entry in log["items"]:
        assert entry.keys() == KEYS
        assert (entry["bank_id"], entry["transport"], entry["response"]) == (bank, "http", None)
        assert before <= entry["started_at"] <= entry["ended_at"]
        assert entry["duration_ms"] >= 0
    retained = log["items"][2]["metadata"]
    assert {k: retained[k] for k in ("items", "documents")} == {"items": 1, "documents": 1}
    assert log["items"][0]["request"] == {
        "method": "DELETE",
        "path": "/v1/default/banks/{bank_id}/documents/{document_id:path}",
        "document_id": "a/b",
    }


def test_no_text_is_logged(server: Server, bank: str) -> None:
    _change(server, bank)
    text = server.client.get(f"{BANKS}/{bank}/audit-logs").text
    assert "quokkas" not in text
    assert "red" not in text


def test_what_changes_nothing_is_not_logged(server: Server, bank: str) -> None:
    server.retain(bank, "The door is red.")
    server.recall(bank, "What is red?")
    server.client.get(f"{BANKS}/{bank}/stats")
    assert server.client.put(f"{BANKS}/{bank}", json={"name": 5}).status_code == 422
    assert server.client.delete(f"{BANKS}/{bank}/documents/none").status_code == 404
    template = {"version": "1", "bank": {"recall_max_tokens": 50}}
    assert server.post(f"{BANKS}/{bank}/import?dry_run=true", template).status_code == 200
    assert _actions(server, bank) == ["memories.retain"]
    assert server.post(f"{BANKS}/{bank}/import", template).status_code == 200
    assert _actions(server, bank) == ["bank_template.import", "memories.retain"]


def test_the_log_is_filtered(server: Server, bank: str) -> None:
    _change(server, bank)
    everything = _log(server, bank)["items"]
    assert _actions(server, bank, action="memories.retain") == ["memories.retain"]
    assert _log(server, bank, transport="http")["total"] == 4
    assert _log(server, bank, transport="mcp")["total"] == 0
    page = _log(server, bank, transport="http", limit=1, offset=2)
    assert ([e["action"] for e in page["items"]], page["total"]) == (["memories.retain"], 4)
    assert _actions(server, bank, limit=1, offset=1) == ["bank_config.update"]
    middle = everything[2]["ended_at"]
    assert len(_actions(server, bank, start_date=middle)) == 3
    assert _actions(server, bank, end_date=middle) == ["bank.update"]
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    assert _log(server, bank, start_date=later)["total"] == 0


@pytest.mark.parametrize(
    ("query", "field"),
    [("start_date=soon", "start_date"), ("end_date=2024-13-01", "end_date"), ("limit=0", "limit")],
)
def test_filters_that_cannot_be(server: Server, bank: str, query: str, field: str) -> None:
    refused = server.client.get(f"{BANKS}/{bank}/audit-logs?{query}")
    assert refused.status_code == 422
    [fault] = refused.json()["detail"]
    assert (fault["loc"], fault["field"]) == (["query", field], field)


def test_changes_are_counted_by_time(server: Server, bank: str) -> None:
    _change(server, bank)
    path = f"{BANKS}/{bank}/audit-logs/stats"
    stats = _json(server.client.get(path, params={"period": "12h"}))
    assert (stats["bank_id"], stats["period"], stats["trunc"]) == (bank, "12h", "hour")
    assert stats["start"] == stats["buckets"][0]["time"]
    assert len(stats["buckets"]) == 13
    total: dict[str, int] = {}
    for bucket in stats["buckets"]:
        assert bucket["total"] == sum(bucket["actions"].values())
        for action, n in bucket["actions"].items():
            total[action] = total.get(action, 0) + n
    assert total == {
        "bank.update": 1,
        "memories.retain": 1,
        "bank_config.update": 1,
        "document.delete": 1,
    }
    one = _json(server.client.get(path, params={"action": "memories.retain"}))
    assert (one["period"], sum(b["total"] for b in one["buckets"])) == ("7d", 1)
    assert server.client.get(path, params={"period": "2d"}).status_code == 422


def test_a_bank_can_do_without(server: Server, bank: str) -> None:
    body = {"updates": {"audit_log_enabled": False}}
    server.client.patch(f"{BANKS}/{bank}/config", json=body)
    server.retain(bank, "The door is red.")
    assert _log(server, bank)["total"] == 0


def test_the_log_outlives_the_server_and_goes_with_its_bank(folder: Path, bank: str) -> None:
    with Server(folder) as server:
        server.retain(bank, "The door is red.")
    with Server(folder) as server:
        assert _actions(server, bank) == ["memories.retain"]
        server.client.delete(f"{BANKS}/{bank}")
        assert _log(server, bank)["total"] == 0
        assert bank not in {b["bank_id"] for b in server.banks()}


def test_one_entry_is_found_by_its_id(server: Server, bank: str) -> None:
    _change(server, bank)
    for entry in _log(server, bank)["items"]:
        assert _json(server.client.get(f"{BANKS}/{bank}/audit-logs/{entry['id']}")) == entry
        other = server.client.get(f"{BANKS}/{bank}-other/audit-logs/{entry['id']}")
        assert other.status_code == 404
    for wrong in ("none", "00000000-0000-0000-0000-000000000000"):
        assert server.client.get(f"{BANKS}/{bank}/audit-logs/{wrong}").status_code == 404
