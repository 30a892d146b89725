"""PostgreSQL is killed and started again under load: clients ask again, nothing is lost."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from fleet_kit import Book, Clients, Fleet, fleet

import postgres_kit
from remembrancer.faces.grpc import proto

BEFORE_S, AFTER_S = 2, 6
KILLS = 1  # times `prove`
WRITERS, READERS = 2, 4
AWAY_S = 1.0
CALL = f"/{proto.PACKAGE}.MemoryService/Recall"


@pytest.fixture
def data() -> Iterator[Path]:
    """A server of this test's own."""
    folder = postgres_kit.start()
    try:
        yield folder
    finally:
        postgres_kit.stop(folder)


async def call(address: str, until: float, statuses: Counter[str]) -> None:
    """Recall over gRPC again and again, and count what is said."""
    details: dict[str, str] = {}
    async with grpc.aio.insecure_channel(address) as channel:
        recall = channel.unary_unary(
            CALL,
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=proto.message("RecallResponse").FromString,
        )
        request = proto.message("RecallRequest")(cue="a harbour")
        request.strategies.add(strategy_type=1)  # by similarity
        while time.monotonic() < until:
            try:
                await recall(request, timeout=30)
                statuses["OK"] += 1
            except grpc.aio.AioRpcError as error:
                details[error.code().name] = error.details() or ""
                statuses[error.code().name] += 1
            await asyncio.sleep(0.02)
    assert details.keys() <= {"UNAVAILABLE"}, details


def start_again(data: Path) -> None:
    """Start the server from another process: gRPC's threads here do not bear a fork."""
    code = "import pathlib, sys, postgres_kit; postgres_kit.start_again(pathlib.Path(sys.argv[1]))"
    folder = Path(postgres_kit.__file__).parent
    subprocess.run([sys.executable, "-c", code, str(data)], cwd=folder, check=True)


async def kill(data: Path, kills: int) -> list[float]:
    """Kill the server a few times; return when each time it was there again."""
    back = []
    for _ in range(kills):
        await asyncio.sleep(BEFORE_S)
        postgres_kit.kill(data)
        await asyncio.sleep(AWAY_S)
        await asyncio.to_thread(start_again, data)
        back.append(time.monotonic())
        await asyncio.sleep(AFTER_S)
    return back


async def run(running: Fleet, data: Path, prove: int) -> dict[str, float]:
    kills = KILLS * prove
    # A little longer than what is done: starting again takes a while, too.
    until = time.monotonic() + kills * (BEFORE_S + AWAY_S + AFTER_S + 2)
    clients, statuses = Clients(running.url, until), Counter[str]()
    *_, back = await asyncio.gather(
        *(clients.write(f"b{n}") for n in range(WRITERS)),
        *(clients.read(f"b{n % WRITERS}") for n in range(READERS)),
        call(running.grpc, until, statuses),
        kill(data, kills),
    )
    book: Book = clients.book
    stuck = await clients.finished(60)
    lost = await clients.lost()
    await clients.close()
    assert book.refused == []
    assert book.inconsistent == []
    assert lost == []
    assert stuck == 0
    assert statuses["OK"] > 0
    assert book.retried > 0
    print(running.log())
    return {
        "kills": kills,
        "answers": book.answers,
        "writes": book.writes,
        "lost": len(lost),
        "operations_stuck": stuck,
        "asked_again": book.retried,
        "grpc_ok": statuses["OK"],
        "grpc_unavailable": statuses["UNAVAILABLE"],
        "last_refusal_after_start_s": max(0.0, book.last_retried - back[-1]),
    }


def test_a_killed_postgresql_loses_nothing(
    tmp_path: Path, data: Path, prove: int, record: Any
) -> None:
    url = postgres_kit.url_of(data)
    with fleet(tmp_path, url, 2, 0, REMEMBRANCER_EMBEDDER="hash:32") as running:
        figures = asyncio.run(run(running, data, prove))
    print(figures)
    record(figures)
