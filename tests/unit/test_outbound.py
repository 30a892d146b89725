"""Requests to addresses that callers name: where they may go, and how they end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from remembrancer.models.outbound import (
    Forbidden,
    NotReached,
    Outbound,
    Outgoing,
    is_public,
    target_of,
)
from remembrancer.nouns.errors import InvalidInput

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def receiver(answer: bytes, *, then: Serve | None = None) -> AsyncIterator[tuple[int, list]]:
    """A socket that takes one request a connection and sends these bytes."""
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            seen.append(head + await reader.readexactly(length))
            writer.write(answer)
            if then is not None:
                await then(reader, writer)
        except ConnectionError:
            pass  # the sender has had enough
        finally:
            writer.close()

    tasks: list[asyncio.Task[None]] = []
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], seen
    finally:
        server.close()
        await asyncio.gather(*tasks)


def names(*addresses: str) -> Callable[[str, int], Awaitable[list[str]]]:
    async def resolve(host: str, port: int) -> list[str]:
        return list(addresses)

    return resolve


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a00:1",
        "2002:7f00:1::",
        "2001:0:1234::1",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "no address",
    ],
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/",
        "file:///etc/passwd",
        "example.com/hook",
        "http://",
        "http:///path",
        "http://user:word@example.com/",
        "http://user@example.com/",
        "http://example.com:99999/",
        "http://example.com:0/",
        "http://exa mple.com/",
        "http://example.com/\r\nX: y",
        "http://exämple.com/",
        "http://[::1/",
        "http://a/" + "x" * 2048,
    ],
)
def test_urls_that_are_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        target_of(url)
    assert refused.value.field == "url"


def test_parameters_are_added_to_the_query() -> None:
    target = target_of("https://example.com/a?b=1", {"c": "2 3", "d": "&"})
    assert (target.https, target.host, target.port) == (True, "example.com", 443)
    assert target.path == "/a?b=1&c=2+3&d=%26"


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "0x7f.1", "localhost", "[::1]"])
async def test_no_spelling_of_this_machine_is_reached(host: str) -> None:
    with pytest.raises(Forbidden) as refused:
        await Outbound().check(f"http://{host}/")
    assert refused.value.field == "url"
    with pytest.raises(Forbidden):
        await Outbound().send(Outgoing("POST", f"http://{host}/"))


async def test_a_host_with_one_private_address_among_public_ones_is_refused() -> None:
    outbound = Outbound(resolver=names("8.8.8.8", "10.0.0.1"))
    with pytest.raises(Forbidden):
        await outbound.send(Outgoing("POST", "http://mixed.example/"))


async def test_a_host_without_an_address_may_get_one_later() -> None:
    outbound = Outbound(resolver=names())
    await outbound.check("http://nowhere.example/")
    with pytest.raises(NotReached, match=r"nowhere\.example has no address"):
        await outbound.send(Outgoing("POST", "http://nowhere.example/"))


async def test_the_address_that_was_checked_is_the_one_that_is_reached() -> None:
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    async with receiver(b"HTTP/1.1 204 No Content\r\n\r\n") as (port, seen):
        outbound = Outbound(allow_private=True, resolver=resolve)
        request = Outgoing("POST", f"http://far.example:{port}/a", b"{}", {"X-One": "1"})
        answer = await outbound.send(request)
    assert (answer.status, answer.body) == (204, "")
    assert asked == ["far.example"]
    head, _, body = seen[0].decode().partition("\r\n\r\n")
    assert head.splitlines()[0] == "POST /a HTTP/1.1"
    assert {f"Host: far.example:{port}", "X-One: 1", "Content-Length: 2"} <= {*head.splitlines()}
    assert body == "{}"


@pytest.mark.parametrize(
    ("answer", "status", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more", 200, "hello"),
        (b"HTTP/1.1 500 Oh\r\n\r\n" + b"x" * 5000, 500, "x" * 1024),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n", 302, ""),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Made\r\n\r\nok", 201, "ok"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
            200,
            "abcde",
        ),
        (b"HTTP/1.0 200 OK\r\n\r\n\xff", 200, "\ufffd"),
    ],
)
async def test_answers_are_read_as_far_as_they_are_kept(
    answer: bytes, status: int, body: str
) -> None:
    async with receiver(answer) as (port, seen):
        outbound = Outbound(allow_private=True)
        found = await outbound.send(Outgoing("POST", f"http://127.0.0.1:{port}/"))
    assert (found.status, found.body) == (status, body)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"SSH-2.0-OpenSSH\r\n\r\n", "not HTTP"),
        (b"", "closed before the answer"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000, "head is larger"),
    ],
)
async def test_what_is_no_answer_is_told(answer: bytes, told: str) -> None:
    async with receiver(answer) as (port, _):
        with pytest.raises(NotReached, match=told):
            await Outbound(allow_private=True).send(Outgoing("POST", f"http://127.0.0.1:{port}/"))


async def test_a_receiver_that_says_nothing_is_left_after_the_time_out() -> None:
    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with receiver(b"HTTP/1.1 ", then=wait) as (port, _):
        request = Outgoing("POST", f"http://127.0.0.1:{port}/", timeout_s=0.05)
        with pytest.raises(NotReached, match=r"no answer within 0\.05 s"):
            await Outbound(allow_private=True).send(request)


async def test_a_port_where_nobody_listens_is_told() -> None:
    async with receiver(b"") as (port, _):
        pass
    with pytest.raises(NotReached, match="the connection failed"):
        await Outbound(allow_private=True).send(Outgoing("POST", f"http://127.0.0.1:{port}/"))
