"""Retain in the background: durable when acknowledged, done once, and shown as an operation."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from wire_kit import IDLE, LATER, Server

STATUS_KEYS = {
    "operation_id",
    "status",
    "operation_type",
    "created_at",
    "updated_at",
    "completed_at",
    "retry_count",
    "result_metadata",
}


def _queue(server: Server, bank: str, *texts: Any) -> str:
    answer = server.retain(bank, *texts, **{"async": True})
    operation: str = answer.pop("operation_id")
    assert answer == {
        "success": True,
        "bank_id": bank,
        "items_count": len(texts),
        "async": True,
    }
    return operation


def _list(server: Server, bank: str, query: str = "") -> dict[str, Any]:
    answer = server.client.get(f"/v1/default/banks/{bank}/operations{query}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_queued_retain_is_done(server: Server, bank: str) -> None:
    operation = _queue(server, bank, {"content": "Alice works at Google", "document_id": "d"})
    done = server.finished(bank, operation)
    assert done.keys() == STATUS_KEYS
    assert done["operation_id"] == operation
    assert done["status"] == "completed"
    assert done["operation_type"] == "retain"
    assert done["retry_count"] == 0
    assert done["created_at"] <= done["completed_at"] == done["updated_at"]
    assert done["result_metadata"]["document_ids"] == ["d"]
    assert done["result_metadata"]["items"] == 1
    assert done["result_metadata"]["facts_count"] == 1
    assert server.recall(bank, "Where does Alice work?")[0]["text"] == "Alice works at Google"


@pytest.mark.parametrize("operation", [str(UUID(int=5)), "nonsense", "5"])
def test_an_unknown_operation_is_not_found(server: Server, bank: str, operation: str) -> None:
    answer = server.client.get(f"/v1/default/banks/{bank}/operations/{operation}")
    assert answer.status_code == 200
    assert answer.json() == {"operation_id": operation, "status": "not_found"}


def test_an_operation_belongs_to_its_bank(server: Server, bank: str) -> None:
    operation = _queue(server, bank, "Alice works at Google")
    answer = server.client.get(f"/v1/default/banks/other-{bank}/operations/{operation}")
    assert answer.json()["status"] == "not_found"
    server.finished(bank, operation)


def test_operations_are_listed(folder: Path) -> None:
    with Server(folder, IDLE) as server:
        ids = [_queue(server, "b", *["The door is red"] * n) for n in (1, 2, 3)]
        found = _list(server, "b")
        assert {k: found[k] for k in ("bank_id", "total", "limit", "offset")} == {
            "bank_id": "b",
            "total": 3,
            "limit": 20,
            "offset": 0,
        }
        assert [o["id"] for o in found["operations"]] == ids[::-1]
        assert [o["items_count"] for o in found["operations"]] == [3, 2, 1]
        first = found["operations"][0]
        assert first["task_type"] == "retain"
        assert first["status"] == "pending"
        assert first["error_message"] is None
        page = _list(server, "b", "?limit=1&offset=1&type=retain")
        assert [o["id"] for o in page["operations"]] == [ids[1]]
        assert page["total"] == 3
        assert _list(server, "b", "?status=completed")["total"] == 0
        assert _list(server, "b", "?status=pending")["total"] == 3
    with Server(folder) as server:
        for operation in ids:
            server.finished("b", operation)
        found = _list(server, "b", "?status=completed")
        assert [o["items_count"] for o in found["operations"]] == [3, 2, 1]


def test_an_unknown_bank_has_no_operations(server: Server, bank: str) -> None:
    assert _list(server, bank)["operations"] == []
    answer = server.client.get(f"/v1/default/banks/{bank}/operations?type=retain&page=2")
    assert answer.headers["X-Ignored-Params"] == "type, page"


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "offset=-1", "status=odd"])
def test_wrong_queries_are_refused(server: Server, bank: str, query: str) -> None:
    answer = server.client.get(f"/v1/default/banks/{bank}/operations?{query}")
    assert answer.status_code == 422
    fault = answer.json()["detail"][0]
    assert fault["loc"] == ["query", query.split("=", maxsplit=1)[0]]


def test_a_queued_retain_survives_a_kill(folder: Path) -> None:
    with Server(folder, IDLE) as server:
        operation = _queue(server, "b", "Alice works at Google", "Bob drinks tea")
        server.kill()
    with Server(folder) as server:
        done = server.finished("b", operation)
        assert done["status"] == "completed"
        _once(server, {"Alice works at Google", "Bob drinks tea"})


def test_a_retain_killed_at_work_is_done_once(folder: Path) -> None:
    texts = {f"Door number {n} is red" for n in range(300)}
    items = [{"content": t, "document_id": f"d{i // 10}"} for i, t in enumerate(sorted(texts))]
    with Server(folder) as server:
        operation = _queue(server, "b", *items)
        while not server.banks()[0]["documents"]:  # it has begun
            pass
        server.kill()
    with Server(folder, LATER) as server:
        done = server.finished("b", operation)
        assert done["status"] == "completed"
        assert server.banks()[0]["documents"] == 30
        _once(server, texts)


def _once(server: Server, texts: set[str]) -> None:
    found = [
        m["content"]
        for m in server.post("/v1/prime", {"entity_id": "b", "max_memories": 200}).json()["results"]
    ]
    assert len(found) == len(set(found)) == min(len(texts), 200)
    assert set(found) <= texts
    sources = server.recall("b", "door tea Alice", budget="high")
    assert len({s["id"] for s in sources}) == len({s["text"] for s in sources})
    assert _list(server, "b")["total"] == 1
