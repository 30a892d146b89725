"""Clients that prime over REST and gRPC: many at once, each asking again when it has its answer."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import grpc

from remembrancer.faces.grpc.proto import message

Call = Callable[[], Awaitable[None]]

_METHOD = "/hebbs.v1.MemoryService/Prime"
_WARM_UP = 20


@dataclass(frozen=True, slots=True)
class Asked:
    """What each call asks for."""

    entity: str
    most: int
    cue: str | None


async def ask_rest(port: int, asked: Asked, clients: int, runs: int) -> list[float]:
    """Return the seconds of each call over HTTP; the answers are read and parsed."""
    async with AsyncExitStack() as stack:
        return await _loops([await _rest(port, asked, stack) for _ in range(clients)], runs)


async def ask_grpc(port: int, asked: Asked, clients: int, runs: int) -> list[float]:
    """Return the seconds of each call over gRPC, a channel a client."""
    async with AsyncExitStack() as stack:
        return await _loops([await _grpc(port, asked, stack) for _ in range(clients)], runs)


async def _loops(calls: Sequence[Call], runs: int) -> list[float]:
    """Make `runs` calls in all, as evenly as can be."""
    times: list[float] = []

    async def client(call: Call, share: int) -> None:
        for _ in range(share):
            started = time.perf_counter()
            await call()
            times.append(time.perf_counter() - started)

    for _ in range(_WARM_UP):
        await calls[0]()
    await asyncio.gather(*(client(call, -(-runs // len(calls))) for call in calls))
    return times


async def _rest(port: int, asked: Asked, stack: AsyncExitStack) -> Call:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    stack.push_async_callback(writer.wait_closed)
    stack.callback(writer.close)
    fields = {"entity_id": asked.entity, "max_memories": asked.most, "similarity_cue": asked.cue}
    body = json.dumps(fields).encode()
    head = (
        "POST /v1/prime HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()

    async def call() -> None:
        writer.write(head + body)
        status = await reader.readline()
        length = 0
        while (line := await reader.readline()).strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        found = json.loads(await reader.readexactly(length))
        if b" 200 " not in status:
            raise RuntimeError(f"the server answered {status!r}: {found}")
        _check(len(found["results"]), asked)

    return call


async def _grpc(port: int, asked: Asked, stack: AsyncExitStack) -> Call:
    options = [("grpc.use_local_subchannel_pool", 1)]  # a connection of its own
    channel = await stack.enter_async_context(
        grpc.aio.insecure_channel(f"127.0.0.1:{port}", options)
    )
    ask = channel.unary_unary(
        _METHOD,
        request_serializer=lambda request: request.SerializeToString(),
        response_deserializer=message("PrimeResponse").FromString,
    )
    request = message("PrimeRequest")(entity_id=asked.entity, max_memories=asked.most)
    if asked.cue is not None:
        request.similarity_cue = asked.cue

    async def call() -> None:
        _check(len((await ask(request)).results), asked)

    return call


def _check(found: int, asked: Asked) -> None:
    if found != asked.most:
        raise RuntimeError(f"{asked.entity} gave {found} memories instead of {asked.most}")
