"""Too much at once, on both wires: what waits, what is refused and how, and when work is ended."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_kit import refused
from served_kit import Served

PRIME = "/v1/prime"
SHORT = {"admit_reads": 1, "admit_tenant_queue": 1, "admit_penalty_s": 0}


class Slow:
    """Stands for a verb: each call lasts until it is let go, and tells when it was ended."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._verb = served.app.prime
        self._gate = asyncio.Event()
        self.begun = threading.Semaphore(0)
        self.ended = threading.Semaphore(0)

    async def __call__(self, *args: Any) -> Any:
        self.begun.release()
        try:
            await self._gate.wait()
        except asyncio.CancelledError:
            self.ended.release()
            raise
        return await self._verb(*args)

    def go(self) -> None:
        async def go() -> None:
            self._gate.set()

        self._served.run(go())

    def close(self) -> None:
        self._verb.close()


@contextmanager
def serving(folder: Path, **settings: Any) -> Iterator[tuple[Served, Slow]]:
    """A server whose primes last until they are let go."""
    with Served(folder / "data", **settings) as served:
        slow = Slow(served)
        served.app.prime = slow  # type: ignore[assignment]
        yield served, slow
        slow.go()


class Asking:
    """Asks in threads, so that several wait at once."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._pool = ThreadPoolExecutor(8)

    def http(self, key: str, **headers: str) -> Future[Any]:
        def ask() -> Any:
            sent = {"Authorization": f"Bearer {key}", **headers}
            return self._served.http.post(PRIME, json={"entity_id": "one"}, headers=sent)

        return self._pool.submit(ask)

    def grpc(self, key: str) -> Future[Any]:
        return self._pool.submit(self._served.calls(key).call, "Prime", entity_id="one")


def until(what: Callable[[], bool]) -> None:
    ends = time.monotonic() + 20
    while not what():
        assert time.monotonic() < ends
        time.sleep(0.005)


def queued(served: Served) -> int:
    return sum(n for _, _, n in served.app.desk.figures())


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Slow]]:
    with serving(tmp_path_factory.mktemp("short"), **SHORT) as made:
        yield made


def test_a_flood_is_refused_with_retry_after_and_others_are_answered(tmp_path: Path) -> None:
    with serving(tmp_path, **SHORT) as (served, slow):
        flood, other, asking = served.key("flood"), served.key("other"), Asking(served)
        running = asking.http(flood)
        assert slow.begun.acquire(timeout=20)
        waiting = asking.grpc(flood)  # both wires share the places
        until(lambda: queued(served) == 1)
        answer = asking.http(flood).result(20)
        assert answer.status_code == 429
        assert int(answer.headers["Retry-After"]) >= 1
        assert answer.json()["error_code"] == "rate_limited"
        with pytest.raises(grpc.RpcError) as caught:
            served.calls(flood).call("Prime", entity_id="one")
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        told = dict(caught.value.trailing_metadata())
        assert int(told["grpc-retry-pushback-ms"]) >= 1_000
        assert b"google.rpc.RetryInfo" in told["grpc-status-details-bin"]
        assert "x-request-id" in told
        elsewhere = asking.http(other)
        until(lambda: queued(served) == 2)
        assert served.http.get("/health/live").status_code == 200
        slow.go()
        assert {f.result(20).status_code for f in (running, elsewhere)} == {200}
        waiting.result(20)
        figures = served.ask(served.key("ops", "read", "cross_tenant"), "GET", "/metrics").text
        assert 'remembrancer_admission_shed_total{work="read",reason="tenant"} 2' in figures
        assert 'remembrancer_admission_queued{work="read"} 0' in figures
        assert 'remembrancer_admission_wait_seconds_count{work="read"} 2' in figures


def test_who_waits_too_long_is_told_to_come_again(tmp_path: Path) -> None:
    with serving(tmp_path, admit_reads=1, admit_wait_s=0.05) as (served, slow):
        key, asking = served.key("a"), Asking(served)
        running = asking.http(key)
        assert slow.begun.acquire(timeout=20)
        answer = asking.http(key).result(20)
        assert answer.status_code == 503
        assert int(answer.headers["Retry-After"]) >= 1
        with pytest.raises(grpc.RpcError) as caught:
            served.calls(key).call("Prime", entity_id="one")
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        assert "grpc-retry-pushback-ms" in dict(caught.value.trailing_metadata())
        slow.go()
        assert running.result(20).status_code == 200
        assert queued(served) == 0


def test_a_clients_deadline_ends_the_work(short: tuple[Served, Slow]) -> None:
    served, slow = short
    key, asking = served.key("deadline"), Asking(served)
    for header in ("X-Timeout-Ms", "X-Envoy-Expected-Rq-Timeout-Ms"):
        answer = asking.http(key, **{header: "500"}).result(20)
        assert answer.status_code == 504
        assert answer.json()["error_code"] == "deadline_exceeded"
        assert slow.ended.acquire(timeout=20)
    path, client = "/hebbs.v1.MemoryService/Prime", served.calls(key)
    call = client.channel.unary_unary(path)
    with refused(grpc.StatusCode.DEADLINE_EXCEEDED):
        call(b"\x0a\x03one", timeout=0.5, metadata=client.metadata)
    assert slow.ended.acquire(timeout=20)
    until(lambda: all(running == 0 for _, running, _ in served.app.desk.figures()))


@pytest.mark.parametrize("value", ["soon", "0", "-1", "1e3", "9" * 30])
def test_a_time_that_is_none_is_refused(short: tuple[Served, Slow], value: str) -> None:
    served, _ = short
    answer = Asking(served).http(served.key("badly"), **{"X-Timeout-Ms": value}).result(20)
    assert answer.status_code == 400
    assert "X-Timeout-Ms" in answer.json()["message"]


def test_the_servers_own_deadline_ends_the_work(tmp_path: Path) -> None:
    with serving(tmp_path, deadline_read_s=0.1) as (served, slow):
        key = served.key("a")
        assert Asking(served).http(key).result(20).status_code == 504
        assert slow.ended.acquire(timeout=20)
        with refused(grpc.StatusCode.DEADLINE_EXCEEDED, "is over"):
            served.calls(key).call("Prime", entity_id="one")
        assert slow.ended.acquire(timeout=20)
        # Longer than the server gives is not given.
        answer = Asking(served).http(key, **{"X-Timeout-Ms": "60000"}).result(20)
        assert answer.status_code == 504


def test_a_slow_sender_holds_no_place(tmp_path: Path) -> None:
    body = b'{"entity_id": "one"}'
    with serving(tmp_path, **SHORT) as (served, slow), _connected(served) as sock:
        key = served.key("sender")
        sock.sendall(_head(key, len(body)) + body[:5])
        with _connected(served) as other:
            other.sendall(_head(key, len(body)) + body)
            assert slow.begun.acquire(timeout=20)  # the later one has the only place
        sock.sendall(body[5:])
        until(lambda: queued(served) == 1)


def test_idle_stalled_and_too_many_connections_are_cut(tmp_path: Path) -> None:
    settings = {"idle_s": 0.3, "stall_s": 0.3, "max_connections": 2}
    with Served(tmp_path / "data", **settings) as served:
        served.http.close()
        with _connected(served) as idle, _connected(served) as half:
            half.sendall(b"GET /health/live HTTP/1.1\r\nHost: x")  # and no more of it
            with _connected(served) as third:
                told = third.recv(4096)
                assert told.startswith(b"HTTP/1.1 503 ")
                assert b"retry-after: 2" in told
            assert idle.recv(10) == b""
            assert half.recv(10) == b""


def test_a_client_that_takes_no_answer_is_cut(tmp_path: Path) -> None:
    with Served(tmp_path / "data", stall_s=0.3) as served:
        # Connections inherit it: so little is on the way without being taken.
        served._http.listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
        key = served.key("a")
        long = (
            f"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n"
        ).encode()
        with _connected(served) as sock:
            sock.sendall(long * 2)
            until(lambda: sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != 1)


@contextmanager
def _connected(served: Served) -> Iterator[socket.socket]:
    host, _, port = served.url.rpartition("/")[2].partition(":")
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(20)
    sock.connect((host, int(port)))
    with sock:
        yield sock


def _head(key: str, length: int) -> bytes:
    return (
        f"POST {PRIME} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def test_the_classes_of_routes(short: tuple[Served, Slow]) -> None:
    from remembrancer.faces.http.server import _ROUTERS
    from remembrancer.faces.http.work_classes import HEAVY, LASTING, WorkClasses

    routes = [route for module in _ROUTERS for route in module.router.routes]
    named = {getattr(route, "operation_id", None) for route in routes}
    assert named >= HEAVY | LASTING
    classes = WorkClasses(routes)
    bank = "/v1/default/banks/b"
    assert classes.of("POST", f"{bank}/memories/recall") == "read"
    assert classes.of("POST", f"{bank}/memories") == "write"
    assert classes.of("GET", f"{bank}/memories/list") == "read"
    assert classes.of("POST", f"{bank}/reflect") == "heavy"
    assert classes.of("GET", f"{bank}/intentions/stream") is None
    assert classes.of("GET", "/metrics") is None
    assert classes.of("POST", "/mcp/some-bank") is None
    assert classes.of("DELETE", "/nowhere") == "write"
