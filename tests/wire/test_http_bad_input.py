"""What cannot be taken is refused clearly, stores nothing, and leaves the server well."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from wire_kit import Server

MB = 1_000_000
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def untouched(server: Server, bank: str) -> Iterator[str]:
    """The path of a retain that stores nothing, after which the server still answers."""
    before = server.banks()
    yield f"/v1/default/banks/{bank}/memories"
    assert server.banks() == before
    assert server.recall(bank, "anything") == []
    assert server.client.get(f"/v1/default/banks/{bank}/operations").json()["total"] == 0


def _item(**more: Any) -> dict[str, Any]:
    return {"items": [{"content": "The door is red"}, {"content": "The door is red", **more}]}


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize(
    ("body", "field", "limit"),
    [
        ({}, "items", None),
        ({"items": []}, "items", 1),
        ({"items": None}, "items", None),
        ({"items": "text"}, "items", None),
        ({"items": {"content": "x"}}, "items", None),
        ({"items": [5]}, "items.0", None),
        ({"items": [{}]}, "items.0.content", None),
        (_item(content=""), "items.1.content", 1),
        (_item(content=" \n\t "), "items.1.content", 1),
        (_item(content="\u0000\u0007"), "items.1.content", 1),
        (_item(content=None), "items.1.content", None),
        (_item(content=5), "items.1.content", None),
        (_item(content=["a"]), "items.1.content", None),
        (_item(content={"a": "b"}), "items.1.content", None),
        (_item(timestamp="0000-01-01T00:00:00Z"), "items.1.timestamp", None),
        (_item(timestamp="0001-01-01T00:00:00+14:00"), "items.1.timestamp", None),
        (_item(timestamp="9999-12-31T23:59:59-12:00"), "items.1.timestamp", None),
        (_item(timestamp="yesterday"), "items.1.timestamp", None),
        (_item(timestamp="2024-13-01T00:00:00Z"), "items.1.timestamp", None),
        (_item(timestamp="2024-01-01T00:00:00+99:00"), "items.1.timestamp", None),
        (_item(timestamp=1_700_000_000), "items.1.timestamp", None),
        (_item(timestamp=True), "items.1.timestamp", None),
        (_item(timestamp=["2024-01-01"]), "items.1.timestamp", None),
        (_item(context=5), "items.1.context", None),
        (_item(context="x" * 10_001), "items.1.context", 10_000),
        (_item(metadata={"a": 1}), "items.1.metadata.a", None),
        (_item(metadata={"a": None}), "items.1.metadata.a", None),
        (_item(metadata={"a": {"b": "c"}}), "items.1.metadata.a", None),
        (_item(metadata=[["a", "b"]]), "items.1.metadata", None),
        (_item(metadata={"a": "x" * 16_384}), "items.1.metadata", None),
        (_item(document_id=5), "items.1.document_id", None),
        (_item(document_id="x" * 513), "items.1.document_id", 512),
        (_item(tags=5), "items.1.tags", None),
        (_item(tags=[5]), "items.1.tags.0", None),
        (_item(tags='["a", 5]'), "items.1.tags.1", None),
        (_item(tags=["t"] * 101), "items.1.tags", 100),
        (_item(entities="Alice"), "items.1.entities", None),
        (_item(entities=["Alice"]), "items.1.entities.0", None),
        (_item(entities=[{"type": "PERSON"}]), "items.1.entities.0.text", None),
        ({"items": [{"content": "x"}] * 10_000}, "items", 5_000),
    ],
)
def test_wrong_items(
    server: Server, untouched: str, background: bool, body: Any, field: str, limit: int | None
) -> None:
    answer = server.post(untouched, {**body, "async": background})
    assert answer.status_code == 422, answer.text
    fault = answer.json()["detail"][0]
    assert fault["loc"] == ["body", *(int(p) if p.isdigit() else p for p in field.split("."))]
    assert fault["field"] == field
    assert field in fault["msg"]
    assert fault["type"]
    assert fault["limit"] == limit
    assert limit is None or limit == 1 or str(limit) in fault["msg"]


@pytest.mark.parametrize("wrong", ["maybe", 1, None, "true", [True]])
def test_async_must_be_a_boolean(server: Server, untouched: str, wrong: Any) -> None:
    answer = server.post(untouched, {"items": [{"content": "x"}], "async": wrong})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "async"]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x89PNG\r\n\x1a\n\x00\x00\xff",
        bytes(range(256)) * 100,
        b'{"items": [{"content": "\xff\xfe"}]}',
        b'{"items": [{"content": "\xed\xa0\x80"}]}',
        '{"items": [{"content": "x"}]}'.encode("utf-16"),
        b'{"items": [{"content": "x"}',
        b'{"items": [{"content": "x"}]} more',
        b"{'items': []}",
        b'{"items": [{"content": "x", "n": NaN}]}',
        b'{"items": [{"content": "x", "n": -Infinity}]}',
        b'{"items": [{"content": "x", "n": ' + b"9" * 10_000 + b"}]}",
        b'{"items": [{"content": "\\ud8"}]}',
        b"[" * 10_000 + b"]" * 10_000,
        b"[" * 10_000,
        b'{"items": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b'{"x": "\\ud800", "items": ' + b"[" * 900 + b"]" * 900 + b"}",
        b"null",
        b"5",
        b'"text"',
        b"[]",
    ],
)
def test_bodies_that_are_no_request(server: Server, untouched: str, raw: bytes) -> None:
    for path in (untouched, f"{untouched}/recall"):
        answer = server.client.post(path, content=raw, headers=JSON)
        assert answer.status_code == 422, answer.text
        assert set(answer.json()) == {"detail"}
        assert answer.json()["detail"][0]["loc"][0] == "body"
    for path in ("/v1/prime", "/v1/forget"):
        answer = server.client.post(path, content=raw, headers=JSON)
        assert answer.status_code == 400, answer.text
        assert answer.json()["error_code"] == "invalid_input"


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "?"])
def test_what_is_not_said_to_be_json(server: Server, untouched: str, kind: str | None) -> None:
    body = b'{"items": [{"content": "The door is red"}]}'
    headers = {"Content-Type": kind} if kind else {}
    answer = server.client.post(untouched, content=body, headers=headers)
    assert answer.status_code == 415
    assert "application/json" in answer.json()["detail"]


def test_a_compressed_body_is_refused_by_name(server: Server, untouched: str) -> None:
    body = gzip.compress(b'{"items": [{"content": "The door is red"}]}')
    for coding in ("gzip", "GZIP", "br"):
        answer = server.client.post(
            untouched, content=body, headers=JSON | {"Content-Encoding": coding}
        )
        assert answer.status_code == 415
        assert "Content-Encoding" in answer.json()["detail"]


def test_a_body_may_be_said_to_be_plain(server: Server, bank: str) -> None:
    answer = server.client.post(
        f"/v1/default/banks/{bank}/memories",
        content=b'{"items": [{"content": "The door is red"}]}',
        headers=JSON | {"Content-Encoding": "identity"},
    )
    assert answer.status_code == 200


def test_a_content_over_10_mb(server: Server, untouched: str) -> None:
    answer = server.post(untouched, _item(content="x" * (10 * MB + 1)))
    assert answer.status_code == 422
    fault = answer.json()["detail"][0]
    assert fault["field"] == "items.1.content"
    assert fault["limit"] == 10 * MB


def _spaces(size: int) -> bytes:
    return b'{"items": [{"content": "' + b" " * size + b'"}]}'


def _pieces(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), 1 << 16):
        yield data[start : start + (1 << 16)]


@pytest.mark.parametrize("send", [bytes, _pieces], ids=["with a length", "in chunks"])
@pytest.mark.parametrize("path", ["/memories", "/memories/recall"])
def test_a_body_of_50_mb(
    server: Server, untouched: str, path: str, send: Callable[[bytes], Any]
) -> None:
    start = server.memory_mb("VmRSS")
    url = untouched.removesuffix("/memories") + path
    answer = server.client.post(url, content=send(_spaces(50 * MB)), headers=JSON)
    assert answer.status_code == 413
    assert str(32 * 1024 * 1024) in answer.json()["detail"]
    assert server.memory_mb("VmRSS") < start + 64


def test_a_body_without_end(server: Server, untouched: str) -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b" " * (1 << 16)

    try:
        answer = server.client.post(untouched, content=endless(), headers=JSON)
    except httpx.TransportError:  # the server hung up, and its answer was lost on the way
        return
    assert answer.status_code == 413


def test_memory_stays_bounded(tmp_path_factory: pytest.TempPathFactory) -> None:
    with Server(tmp_path_factory.mktemp("bounded")) as server:
        server.retain("warm", "The door is red")
        start = server.memory_mb("VmHWM")
        path = "/v1/default/banks/big/memories"
        many = b'{"items": [' + b"{}," * (10 * MB) + b"{}]}"
        deep = b'{"items": [' + b"[]," * (10 * MB) + b"{}]}"
        numbers = b'{"x": [' + b"1000," * (6 * MB) + b'0], "items": []}'
        commas = b'{"items": [{"content": "' + b"a," * (14 * MB) + b'"}]}'
        for body, field in (
            (_spaces(30 * MB), "items.0.content"),
            (commas, "items.0.content"),
            (many, None),
            (deep, None),
            (numbers, None),
        ):
            answer = server.client.post(path, content=body, headers=JSON)
            assert answer.status_code == 422, answer.text[:300]
            assert answer.json()["detail"][0]["field"] == field
        # Six at once: they take turns.
        with ThreadPoolExecutor(6) as pool:
            sent = [
                pool.submit(server.client.post, path, content=_spaces(30 * MB), headers=JSON)
                for _ in range(6)
            ]
        assert [s.result().status_code for s in sent] == [422] * 6
        assert server.memory_mb("VmHWM") < start + 300
        assert [b["bank_id"] for b in server.banks()] == ["warm"]


def test_faults_are_told_up_to_a_bound(server: Server, untouched: str) -> None:
    answer = server.post(untouched, {"items": [{"content": 5, "x" * 500: 1}] * 5_000})
    assert len(answer.json()["detail"]) == 20
    keys = {"k" * 10_000: 1}
    answer = server.post(untouched, _item(metadata=keys))
    assert len(answer.text) < 1_000


def test_unknown_paths_and_methods(server: Server) -> None:
    nowhere = server.client.get("/v1/default/nothing")
    assert nowhere.status_code == 404
    assert nowhere.json()["detail"] == "Not Found: there is no such route; GET / lists all of them"
    wrong = server.client.get("/v1/default/banks/b/reflect")
    assert wrong.status_code == 405
    assert wrong.json() == {"detail": "Method Not Allowed: this route takes POST"}
    several = server.client.put("/v1/default/banks/b/config")
    assert several.headers["allow"] == "DELETE, GET, PATCH"
    assert several.json() == {"detail": "Method Not Allowed: this route takes DELETE, GET, PATCH"}
    for path, status in (("/v1/nothing", 404), ("/v1/prime", 405)):
        answer = server.client.get(path)
        assert answer.status_code == status
        assert answer.json().keys() == {"error_code", "message", "code", "error", "details"}


def test_errors_hold_no_traces(server: Server, bank: str) -> None:
    raw = json.dumps({"query": "x", "max_tokens": "x"}).encode()
    for path in (f"/v1/default/banks/{bank}/memories/recall", "/v1/prime"):
        text = server.client.post(path, content=raw, headers=JSON).text
        assert "Traceback" not in text
        assert "pydantic" not in text
