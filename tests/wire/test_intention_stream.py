"""What falls due, pushed: as server-sent events and to webhooks, by a real server."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from receiver_kit import Receiver
from wire_kit import WAIT_S, Server


@pytest.fixture(scope="module")
def pushing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("pushing"), webhook_allow_private="true") as running:
        yield running


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        yield made


def path_of(bank: str, rest: str = "intentions") -> str:
    return f"/v1/default/banks/{bank}/{rest}"


def register(server: Server, bank: str, content: str, in_ms: int = -1, **more: Any) -> str:
    body = {
        "content": content,
        "triggerType": "time_based",
        "triggerAt": time.time_ns() // 1_000_000 + in_ms,
        **more,
    }
    answer = server.post(path_of(bank), body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def events(
    server: Server, bank: str, count: int, after: str | None = None, **query: Any
) -> list[dict[str, Any]]:
    """Read so many events from a stream of its own."""
    headers = {} if after is None else {"Last-Event-ID": after}
    found: list[dict[str, Any]] = []
    with server.client.stream(
        "GET", path_of(bank, "intentions/stream"), headers=headers, params=query
    ) as stream:
        assert stream.status_code == 200
        assert stream.headers["content-type"].startswith("text/event-stream")
        event: dict[str, Any] = {}
        for line in stream.iter_lines():
            key, _, value = line.partition(": ")
            if line:
                event[key] = value
            elif "data" in event:
                found.append({**event, "data": json.loads(event["data"])})
                event = {}
            if len(found) == count:
                return found
    raise AssertionError(f"the stream ended after {found}")


def contents(found: list[dict[str, Any]]) -> list[str]:
    return [event["data"]["data"]["content"] for event in found]


def deliveries(server: Server, bank: str, hook: str, status: str) -> dict[str, Any]:
    """Wait until the only delivery of a webhook has a status, and return it."""
    deadline = time.monotonic() + WAIT_S
    path = path_of(bank, f"webhooks/{hook}/deliveries")
    while time.monotonic() < deadline:
        items = server.client.get(path).json()["items"]
        if [item["status"] for item in items] == [status]:
            found: dict[str, Any] = items[0]
            return found
        time.sleep(0.05)
    raise AssertionError(f"no delivery is {status}: {items}")


def test_what_is_due_is_streamed_and_what_falls_due_later(pushing: Server, bank: str) -> None:
    register(pushing, bank, "was due")
    register(pushing, bank, "falls due", 700)
    [first, second] = events(pushing, bank, 2)
    assert contents([first, second]) == ["was due", "falls due"]
    assert first["event"] == "intention.due"
    told = first["data"]
    assert told["type"] == "intention.due"
    occurrence = told["data"]["occurrence_id"]
    assert first["id"].endswith(f"-{occurrence}")
    done = pushing.post(path_of(bank, f"occurrences/{occurrence}/ack"), {})
    assert done.status_code == 200
    assert contents(events(pushing, bank, 1)) == ["falls due"]


def test_a_client_that_comes_back_goes_on_from_where_it_was(pushing: Server, bank: str) -> None:
    register(pushing, bank, "first")
    [first] = events(pushing, bank, 1)
    time.sleep(2.1)  # what is older than two seconds is not looked at again
    register(pushing, bank, "second")
    assert contents(events(pushing, bank, 1, first["id"])) == ["second"]
    assert contents(events(pushing, bank, 2)) == ["first", "second"]
    bad = pushing.client.get(path_of(bank, "intentions/stream"), headers={"Last-Event-ID": "7"})
    assert bad.status_code == 422
    assert bad.json()["detail"][0]["field"] == "Last-Event-ID"


def test_a_lease_that_runs_out_is_streamed_again(pushing: Server, bank: str) -> None:
    register(pushing, bank, "call Bob")
    leased = pushing.post(path_of(bank, "intentions/check"), {"leaseSeconds": 1}).json()
    [item] = leased["items"]
    [event] = events(pushing, bank, 1)
    assert event["data"]["data"]["occurrence_id"] == item["occurrence"]["id"]
    assert int(event["id"].partition("-")[0]) // 1000 == item["occurrence"]["lease_until"]


def test_the_ceiling_holds_for_streams(pushing: Server, bank: str) -> None:
    register(pushing, bank, "for the board", tierRank=2, importance=0.9)
    register(pushing, bank, "for all", 50)
    assert contents(events(pushing, bank, 1, maxTierRank=1)) == ["for all"]


def test_other_banks_are_not_streamed(pushing: Server, bank: str) -> None:
    register(pushing, f"{bank}-other", "not here")
    register(pushing, bank, "here", 50)
    assert contents(events(pushing, bank, 1)) == ["here"]


def test_streams_end_when_the_server_stops(folder: Path) -> None:
    with Server(folder) as server:
        register(server, "ada", "call Bob")
        with server.client.stream("GET", path_of("ada", "intentions/stream")) as stream:
            lines = stream.iter_lines()
            assert any(line.startswith("data:") for line in lines)
            started = time.monotonic()
            server.process.terminate()
            assert not any(line.startswith("data:") for line in lines)
            server.process.wait(WAIT_S)
        assert server.process.returncode == 0
        assert time.monotonic() - started < WAIT_S


def test_a_due_intention_is_sent_and_the_answer_acknowledges_it(
    pushing: Server, bank: str, receiver: Receiver
) -> None:
    body = {"url": receiver.url, "secret": "keep it", "event_types": ["intention.due"]}
    hook = pushing.post(path_of(bank, "webhooks"), body).json()
    assert hook["acknowledges"] is True
    intention = register(pushing, bank, "call Bob", 300)
    row = deliveries(pushing, bank, hook["id"], "completed")
    [(headers, sent)] = receiver.calls
    assert headers["webhook-id"] == row["occurrence_id"]
    assert headers["webhook-signature"].startswith("v1,")
    assert (headers["X-Remembrancer-Delivery"], row["attempts"]) == (row["id"], 1)
    assert json.loads(sent)["data"]["content"] == "call Bob"
    assert pushing.client.get(path_of(bank, f"intentions/{intention}")).json()["state"] == "done"
    again = replay(pushing, bank, hook["id"], row["id"])
    assert again.status_code == 409


def replay(server: Server, bank: str, hook: str, delivery: str) -> httpx.Response:
    return server.post(path_of(bank, f"webhooks/{hook}/deliveries/{delivery}/replay"), {})


def test_without_acknowledging_it_stays_due_and_can_be_replayed(
    pushing: Server, bank: str, receiver: Receiver
) -> None:
    body = {"url": receiver.url, "event_types": ["intention.due"], "acknowledges": False}
    hook = pushing.post(path_of(bank, "webhooks"), body).json()
    assert hook["acknowledges"] is False
    register(pushing, bank, "call Bob")
    row = deliveries(pushing, bank, hook["id"], "completed")
    answer = replay(pushing, bank, hook["id"], row["id"])
    assert (answer.status_code, answer.json()["status"]) == (202, "pending")
    assert deliveries(pushing, bank, hook["id"], "completed")["attempts"] == 1
    assert [headers["webhook-id"] for headers, _ in receiver.calls] == [row["occurrence_id"]] * 2
    assert replay(pushing, bank, hook["id"], "none-such").status_code == 404
    changed = pushing.client.patch(
        path_of(bank, f"webhooks/{hook['id']}"), json={"acknowledges": True}
    )
    assert changed.json()["acknowledges"] is True


def test_a_dead_letter_is_sent_anew_with_all_its_attempts(
    pushing: Server, bank: str, receiver: Receiver
) -> None:
    receiver.status = 410
    body = {"url": receiver.url, "event_types": ["intention.due"]}
    hook = pushing.post(path_of(bank, "webhooks"), body).json()["id"]
    register(pushing, bank, "call Bob")
    row = deliveries(pushing, bank, hook, "dead_letter")
    assert replay(pushing, bank, hook, row["id"]).status_code == 409  # 410 has disabled it
    receiver.status = 200
    pushing.client.patch(path_of(bank, f"webhooks/{hook}"), json={"enabled": True})
    assert replay(pushing, bank, hook, row["id"]).status_code == 202
    assert deliveries(pushing, bank, hook, "completed")["last_response_status"] == 200
