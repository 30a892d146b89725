"""Retain in the background: durable when acknowledged, done once, and shown as an operation."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from wire_kit import IDLE, LATER, WAIT_S, Server, environment

STATUS_KEYS = {
    "operation_id",
    "status",
    "operation_type",
    "id",
    "task_type",
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
    assert done["operation_id"] == done["id"] == operation
    assert done["status"] == "completed"
    assert done["operation_type"] == done["task_type"] == "retain"
    [listed] = _list(server, bank)["operations"]
    assert listed["operation_id"] == listed["id"] == operation
    assert listed["operation_type"] == listed["task_type"] == "retain"
    assert listed["mental_model_id"] is None
    assert done["retry_count"] == 0
    assert done["created_at"] <= done["completed_at"] == done["updated_at"]
    assert done["result_metadata"]["document_ids"] == ["d"]
    assert done["result_metadata"]["items"] == 1
    assert done["result_metadata"]["facts_count"] == 1
    assert server.recall(bank, "Where does Alice work?")[0]["text"] == "Alice works at Google"


def _act(server: Server, method: str, bank: str, path: str) -> tuple[int, dict[str, Any]]:
    answer = server.client.request(method, f"/v1/default/banks/{bank}/operations/{path}")
    found: dict[str, Any] = answer.json()
    return answer.status_code, found


def _status(server: Server, bank: str, operation: str, query: str = "") -> dict[str, Any]:
    code, found = _act(server, "GET", bank, f"{operation}{query}")
    assert code == 200
    return found


def test_several_documents_are_one_operation_with_children(server: Server, bank: str) -> None:
    items = [{"content": f"Door {n} is red", "document_id": f"d{n // 2}"} for n in range(4)]
    operation = _queue(server, bank, *items)
    done = server.finished(bank, operation)
    assert done["status"] == "completed"
    assert done["operation_type"] == "batch_retain"
    assert done["result_metadata"]["document_ids"] == ["d0", "d1"]
    assert done["result_metadata"]["extraction_errors_count"] == 0
    assert len(done["child_operations"]) == 2
    assert done["child_operations"] == [
        {**c, "status": "completed", "sub_batch_index": n, "items_count": 2}
        for n, c in enumerate(done["child_operations"])
    ]
    child = _status(server, bank, done["child_operations"][1]["operation_id"])
    assert child["result_metadata"]["document_ids"] == ["d1"]
    listed = _list(server, bank)
    assert {(o["task_type"], o["items_count"]) for o in listed["operations"]} == {
        ("batch_retain", 4),
        ("retain", 2),
    }
    assert listed["total"] == 3
    children = _list(server, bank, "?exclude_parents=true")
    assert children["total"] == len(children["operations"]) == 2
    assert {o["document_id"] for o in children["operations"]} == {"d0", "d1"}
    assert _list(server, bank, "?type=batch_retain")["total"] == 1


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that leaves what is queued alone."""
    with Server(tmp_path_factory.mktemp("idle"), IDLE) as running:
        yield running


def _refused(server: Server, method: str, bank: str, path: str) -> str:
    code, answer = _act(server, method, bank, path)
    assert code == 409
    said: str = answer["detail"].partition(";")[0]
    return said


def test_what_waits_is_cancelled_and_retried(idle: Server, bank: str) -> None:
    operation = _queue(idle, bank, {"content": "The door is red", "document_id": "d"})
    for method, path in (("POST", f"{operation}/retry"), ("DELETE", f"{operation}/delete")):
        assert _refused(idle, method, bank, path) == "the operation is pending"
    payload = _status(idle, bank, operation, "?include_payload=true")["task_payload"]
    assert payload["items"][0]["content"] == "The door is red"
    assert "task_payload" not in _status(idle, bank, operation)

    code, done = _act(idle, "DELETE", bank, operation)
    assert code == 200
    assert (done["success"], done["operation_id"]) == (True, operation)
    assert _status(idle, bank, operation)["status"] == "cancelled"
    assert _refused(idle, "DELETE", bank, operation) == "the operation is cancelled"

    assert _act(idle, "POST", bank, f"{operation}/retry")[0] == 200
    assert _status(idle, bank, operation)["status"] == "pending"


def test_what_is_completed_can_only_be_deleted(server: Server, bank: str) -> None:
    operation = _queue(server, bank, {"content": "The door is red", "document_id": "d"})
    assert server.finished(bank, operation)["status"] == "completed"
    for method, path in (("DELETE", operation), ("POST", f"{operation}/retry")):
        assert _refused(server, method, bank, path) == "the operation is completed"
    assert _act(server, "DELETE", bank, f"{operation}/delete")[0] == 200
    assert _status(server, bank, operation)["status"] == "not_found"
    assert server.recall(bank, "red door")[0]["text"] == "The door is red"


def test_a_family_is_cancelled_and_retried_whole(idle: Server, bank: str) -> None:
    items = [{"content": f"Door {n} is red", "document_id": f"d{n}"} for n in range(3)]
    operation = _queue(idle, bank, *items)
    assert _act(idle, "DELETE", bank, operation)[0] == 200
    stands = _status(idle, bank, operation)
    assert stands["status"] == "cancelled"
    assert {c["status"] for c in stands["child_operations"]} == {"cancelled"}
    assert _list(idle, bank, "?status=cancelled")["total"] == 4
    assert _act(idle, "POST", bank, f"{operation}/retry")[0] == 200
    assert _list(idle, bank, "?status=pending")["total"] == 4
    for path in (operation, f"{operation}/delete"):
        assert _act(idle, "DELETE", f"else-{bank}", path)[0] == 404
    assert _act(idle, "POST", f"else-{bank}", f"{operation}/retry")[0] == 404


def test_upkeep_is_listed_when_asked_for(server: Server, bank: str) -> None:
    server.retain(bank, {"content": "The door is red", "document_id": "d"})
    answer = server.client.delete(f"/v1/default/banks/{bank}/documents/d")
    assert answer.status_code == 200
    assert _list(server, bank)["operations"] == []
    assert _list(server, bank, "?type=sweep")["total"] == 1


def test_a_server_may_leave_the_work_to_others(folder: Path) -> None:
    with Server(folder, worker="false") as server:
        operation = _queue(server, "b", "The door is red")
        assert _status(server, "b", operation)["status"] == "pending"
        worker = subprocess.Popen(
            [sys.executable, "-m", "remembrancer", "worker", "--slots", "1"],
            env=environment(folder),
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.finished("b", operation)["status"] == "completed"
        finally:
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(WAIT_S) == 0
            assert worker.stderr is not None
            said = worker.stderr.read()
            worker.stderr.close()
        assert "with 1 slots" in said


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
    assert answer.headers["X-Ignored-Params"] == "page"


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=101", "limit=x", "offset=-1", "status=odd", f"type={'x' * 101}"],
)
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
        assert {c["status"] for c in done["child_operations"]} == {"completed"}
        _once(server, texts, 30)


def _once(server: Server, texts: set[str], operations: int = 1) -> None:
    found = [
        m["content"]
        for m in server.post("/v1/prime", {"entity_id": "b", "max_memories": 200}).json()["results"]
    ]
    assert len(found) == len(set(found)) == min(len(texts), 200)
    assert set(found) <= texts
    sources = server.recall("b", "door tea Alice", budget="high")
    assert len({s["id"] for s in sources}) == len({s["text"] for s in sources})
    assert _list(server, "b", "?exclude_parents=true&status=completed")["total"] == operations
