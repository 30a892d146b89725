"""The head of a request has a bound, before any key is asked for; a body is no part of it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from served_kit import Served

LIVE = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n"
LIMIT = 64 * 1024


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("heads")
    with Served(folder / "data") as it:
        yield it


def _answers(served: Served, *sent: bytes) -> bytes:
    """Send pieces, and return all that comes until the server closes or has no more to say."""
    host, _, port = served.url.rpartition("/")[2].partition(":")
    told = b""
    with socket.create_connection((host, int(port)), timeout=20) as sock:
        for piece in sent:
            with contextlib.suppress(ConnectionError):
                sock.sendall(piece)
        with contextlib.suppress(ConnectionError):
            while some := sock.recv(65_536):
                told += some
    return told


LAST = LIVE + b"Connection: close\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [
        pytest.param([LIVE + b"X: ", *[b"a" * 20_000] * 5], id="one header without an end"),
        pytest.param([LIVE + b"X: " + b"a" * 100_000], id="one header without an end, at once"),
        pytest.param([LIVE + b"X: " + b"a" * LIMIT + b"\r\n\r\n"], id="one header"),
        pytest.param([LIVE, *[b"X: abcdefgh\r\n" * 1000] * 6, b"\r\n"], id="many headers"),
        pytest.param([b"GET /" + b"a" * LIMIT, b" HTTP/1.1\r\nHost: localhost\r\n\r\n"], id="path"),
        pytest.param([b"\r\n" * LIMIT], id="nothing but ends of lines"),
        pytest.param([b"a" * 2 * LIMIT], id="no request"),
    ],
)
def test_a_long_head_is_refused_and_the_connection_closed(
    served: Served, head: list[bytes]
) -> None:
    told = _answers(served, *head)
    assert told.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 "))
    if b"HTTP/1.1 400 " not in told:
        assert b"65,536" in told
        assert told.count(b"HTTP/1.1 ") == 1


def test_what_is_long_but_may_be_is_answered(served: Served) -> None:
    head = LIVE + b"X: " + b"a" * (LIMIT - 200) + b"\r\n"
    told = _answers(served, head + b"\r\n" + head + b"\r\n" + head + b"Connection: close\r\n\r\n")
    assert told.count(b"HTTP/1.1 200 ") == 3


def test_pipelined_requests_count_each_for_itself(served: Served) -> None:
    one = LIVE + b"X: " + b"a" * 1000 + b"\r\n\r\n"
    told = _answers(served, one * 200 + LAST)
    assert told.count(b"HTTP/1.1 200 ") == 201


def test_a_long_head_after_others_is_refused_after_their_answers(served: Served) -> None:
    told = _answers(served, (LIVE + b"\r\n") * 3 + LIVE + b"X: ", *[b"a" * LIMIT] * 8)
    assert told.count(b"HTTP/1.1 200 ") == 3
    assert told.count(b"HTTP/1.1 431 ") == 1
    assert told.rindex(b"HTTP/1.1 200 ") < told.index(b"HTTP/1.1 431 ")


def test_bodies_are_no_part_of_the_head(served: Served) -> None:
    key = served.key("long")
    text = "The key hangs in the shed. " * 20_000
    headers = {"Authorization": f"Bearer {key}"}
    body = {"entity_id": text}
    for _ in range(2):  # on the same connection
        told = served.http.post("/v1/prime", json=body, headers=headers)
        assert "entity_id" in told.text  # the route read it, and says that it is too long
    chunks = (b'{"entity_id":', b'"', *[b"a" * 10] * 20_000, b'"}')
    headers["Content-Type"] = "application/json"
    told = served.http.post("/v1/prime", content=iter(chunks), headers=headers)
    assert "entity_id" in told.text


def test_trailers_are_counted_too(served: Served) -> None:
    head = b"POST /v1/prime HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    told = _answers(served, head + b"1\r\n{\r\n0\r\n", *[b"X: abcdefgh\r\n" * 1000] * 6)
    assert told.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 401 "))
