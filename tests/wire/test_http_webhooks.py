"""Webhooks on the wire: their shapes, and a receiver that is really called."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
from wire_kit import IDLE, WAIT_S, Server

EVENT = "retain.completed"
SECRET = "a secret of some length"
KEYS = [
    *"id bank_id url secret event_types enabled http_config acknowledges".split(),
    *"max_tier_rank created_at updated_at".split(),
]


class Receiver:
    """Takes calls on loopback, and answers them with a status."""

    def __init__(self) -> None:
        self.calls: list[tuple[dict[str, str], bytes]] = []
        self.status = 200
        calls = self.calls
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                calls.append((dict(self.headers.items()), self.rfile.read(size)))
                self.send_response(outer.status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        self._thread = Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture(scope="module")
def sending(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("sending"), webhook_allow_private="true") as running:
        yield running


def hooks(server: Server, bank: str, **body: Any) -> httpx.Response:
    return server.post(f"/v1/default/banks/{bank}/webhooks", body)


def deliveries(server: Server, bank: str, webhook: str, count: int) -> list[dict[str, Any]]:
    """Wait until so many deliveries are completed or have failed once, and return all."""
    deadline = time.monotonic() + WAIT_S
    path = f"/v1/default/banks/{bank}/webhooks/{webhook}/deliveries"
    while time.monotonic() < deadline:
        items: list[dict[str, Any]] = server.client.get(path).json()["items"]
        if sum(item["attempts"] > 0 for item in items) >= count:
            return items
        time.sleep(0.05)
    raise AssertionError("nothing was delivered")


def test_a_webhook_is_created_listed_changed_and_deleted(server: Server, bank: str) -> None:
    path = f"/v1/default/banks/{bank}/webhooks"
    assert server.client.get(path).json() == {"items": [], "total": 0, "limit": 100, "offset": 0}
    made = hooks(server, bank, url="https://hooks.example/a", secret=SECRET)
    assert made.status_code == 201
    shown = made.json()
    assert list(shown) == KEYS
    assert shown["secret"] == "****ngth"
    assert (shown["bank_id"], shown["enabled"]) == (bank, True)
    assert shown["event_types"] == ["consolidation.completed"]
    assert shown["http_config"] == {
        "method": "POST",
        "timeout_seconds": 30,
        "headers": {},
        "params": {},
    }
    listed = server.client.get(path, params={"limit": 5}).json()
    assert listed == {"items": [shown], "total": 1, "limit": 5, "offset": 0}
    assert server.client.get(path, params={"offset": 1}).json()["items"] == []
    config = {"method": "put", "headers": {"Authorization": "Bearer x"}}
    body = {"event_types": [EVENT], "enabled": False, "http_config": config}
    changed = server.client.patch(f"{path}/{shown['id']}", json=body).json()
    assert changed["http_config"]["method"] == "PUT"
    assert (changed["secret"], changed["enabled"]) == ("****ngth", False)
    assert (
        server.client.patch(f"{path}/{shown['id']}", json={"secret": ""}).json()["secret"] is None
    )
    page = server.client.get(f"{path}/{shown['id']}/deliveries").json()
    assert page == {"items": [], "next_cursor": None}
    gone = server.client.delete(f"{path}/{shown['id']}")
    assert gone.json()["success"] is True
    for call in (
        server.client.delete(f"{path}/{shown['id']}"),
        server.client.patch(f"{path}/{shown['id']}", json={}),
        server.client.get(f"{path}/no-id/deliveries"),
    ):
        assert call.status_code == 404
        assert isinstance(call.json()["detail"], str)


@pytest.mark.parametrize(
    ("body", "field", "told"),
    [
        ({"url": "http://127.0.0.1:80/"}, "url", "127.0.0.1"),
        ({"url": "http://[::ffff:10.0.0.1]/"}, "url", "public"),
        ({"url": "http://169.254.169.254/latest/meta-data"}, "url", "public"),
        ({"url": "http://me:word@hooks.example/"}, "url", "header"),
        ({"url": "gopher://hooks.example/"}, "url", "https://"),
        ({"event_types": ["consolidation.completed", "none.such"]}, "event_types", "none.such"),
        ({"http_config": {"headers": {"Host": "a"}}}, "http_config.headers", "Host"),
        ({"http_config": {"timeout_seconds": 600}}, "http_config.timeout_seconds", "60"),
        ({"enabled": "yes"}, "enabled", "bool"),
    ],
)
def test_what_cannot_be_called_is_refused(
    server: Server, bank: str, body: dict[str, Any], field: str, told: str
) -> None:
    answer = hooks(server, bank, **{"url": "https://hooks.example/", **body})
    assert answer.status_code == 422
    [detail] = answer.json()["detail"]
    assert detail["field"] == field
    assert told in detail["msg"]
    assert server.client.get(f"/v1/default/banks/{bank}/webhooks").json()["total"] == 0


def test_unknown_keys_are_told(server: Server, bank: str) -> None:
    answer = hooks(server, bank, url="https://hooks.example/", colour="red")
    assert answer.status_code == 201
    assert answer.headers["X-Ignored-Params"] == "colour"


@pytest.mark.parametrize("in_background", [False, True])
def test_a_retain_is_told_when_it_is_completed(
    sending: Server, bank: str, receiver: Receiver, in_background: bool
) -> None:
    made = hooks(sending, bank, url=receiver.url, secret=SECRET, event_types=[EVENT]).json()
    items = [
        {"content": "The ferry to Oslo leaves at nine.", "document_id": "ferries"},
        {"content": "Nora keeps bees behind the mill.", "document_id": "bees"},
    ]
    told = sending.retain(bank, *items, **{"async": in_background})
    [first, second] = deliveries(sending, bank, made["id"], 2)
    assert {first["status"], second["status"]} == {"completed"}
    assert (first["event_type"], first["url"], first["attempts"]) == (EVENT, receiver.url, 1)
    assert (first["last_response_status"], first["last_response_body"]) == (200, "ok")
    assert len(receiver.calls) == 2
    bodies = []
    for headers, body in receiver.calls:
        made_here = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        assert headers["X-Hindsight-Signature"] == f"sha256={made_here}"
        assert b"Oslo" not in body
        assert b"bees behind" not in body
        bodies.append(json.loads(body))
    assert {each["data"]["document_id"] for each in bodies} == {"ferries", "bees"}
    operations = {each["operation_id"] for each in bodies}
    if in_background:
        status = sending.finished(bank, told["operation_id"])
        assert operations == {child["operation_id"] for child in status["child_operations"]}
        listed = sending.client.get(f"/v1/default/banks/{bank}/operations").json()["operations"]
        assert "deliver" not in {each["task_type"] for each in listed}
    else:
        assert operations == {None}


def test_what_a_receiver_refuses_waits_to_be_sent_again(
    sending: Server, bank: str, receiver: Receiver
) -> None:
    receiver.status = 503
    made = hooks(sending, bank, url=receiver.url, event_types=[EVENT]).json()
    sending.retain(bank, "The mill stands by the river.")
    [row] = deliveries(sending, bank, made["id"], 1)
    assert (row["status"], row["last_response_status"]) == ("pending", 503)
    assert row["next_retry_at"] > row["last_attempt_at"]


def test_an_event_outlives_a_server_that_is_killed(folder: Path, receiver: Receiver) -> None:
    with Server(folder, IDLE, webhook_allow_private="true") as idle:
        made = hooks(idle, "ada", url=receiver.url, event_types=[EVENT]).json()
        idle.retain("ada", "The mill stands by the river.")
        idle.kill()
    assert receiver.calls == []
    with Server(folder, webhook_allow_private="true") as later:
        [row] = deliveries(later, "ada", made["id"], 1)
        assert row["status"] == "completed"
    assert len(receiver.calls) == 1
