"""Four server processes and two workers on one PostgreSQL, one of them killed every 5 s."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from fleet_kit import Clients, Fleet, every, fleet
from sink import Sink

from postgres_kit import Space
from remembrancer.app import App
from remembrancer.nouns.intention import OccurrenceState, TriggerType
from remembrancer.nouns.memory import BankRef
from remembrancer.settings import Settings
from remembrancer.verbs.remind import Reminder
from remembrancer.verbs.telling.webhooks import INTENTION_DUE, Webhook

SPAN_S = 12  # times `prove`: two minutes in full
KILL_EVERY_S = 5
WRITERS, READERS = 4, 8
OCCURRENCES = 20  # times `prove`
WAIT_S = 120
REF = BankRef("default", "future")


async def remind(settings: Settings, url: str, count: int, span_s: float) -> None:
    """Register what falls due over the span."""
    app = await App.open(settings, background=False)
    try:
        await app.webhooks.create(REF, Webhook("", url, "key", (INTENTION_DUE,)))
        now, step = time.time_ns() // 1_000, int(span_s * 1_000_000 / count)
        told = [
            Reminder(f"n{n}", TriggerType.TIME, trigger_at=now + step * (n + 1))
            for n in range(count)
        ]
        await app.remind(REF, told)
    finally:
        await app.close()


async def load(running: Fleet, until: float) -> tuple[Clients, int]:
    """Write and read while processes are killed; return the clients and the number of kills."""
    clients = Clients(running.url, until)

    async def kill(number: int) -> None:
        # Each of the processes in its turn, servers and workers mixed.
        await asyncio.to_thread(running.kill_one, number * 4 + number // 3)

    *_, kills = await asyncio.gather(
        *(clients.write(f"b{n}") for n in range(WRITERS)),
        *(clients.read(f"b{n % WRITERS}") for n in range(READERS)),
        every(KILL_EVERY_S, until, kill),
    )
    return clients, kills


async def run(running: Fleet, settings: Settings, sink: Sink, prove: int) -> dict[str, float]:
    span_s, count = SPAN_S * prove, OCCURRENCES * prove
    await remind(settings, sink.url, count, span_s)
    clients, kills = await load(running, time.monotonic() + span_s)
    book = clients.book
    stuck = await clients.finished(WAIT_S)
    await asyncio.to_thread(delivered, sink, count)
    lost = await clients.lost()
    await clients.close()
    assert book.refused == []
    assert book.inconsistent == []
    assert lost == []
    assert stuck == 0
    assert {c.content for c in sink.calls} == {f"n{n}" for n in range(count)}
    assert book.answers > 0
    assert book.writes > 0
    assert kills > 0
    return {
        "span_s": span_s,
        "kills": kills,
        "answers": book.answers,
        "inconsistent": len(book.inconsistent),
        "writes": book.writes,
        "lost": len(lost),
        "operations": len(book.operations),
        "operations_stuck": stuck,
        "occurrences": count,
        "asked_again": book.retried,
    }


def delivered(sink: Sink, count: int) -> None:
    """Wait until so many were delivered."""
    deadline = time.monotonic() + WAIT_S
    while len({c.content for c in sink.calls}) < count and time.monotonic() < deadline:
        time.sleep(0.1)


async def examine(settings: Settings, count: int) -> None:
    """Each intention has one occurrence, and that is acknowledged."""
    app = await App.open(settings, background=False)
    try:
        offers = await app.store.offers(REF, limit=10 * count)
        assert len({o.intention.id for o in offers}) == len(offers) == count
        assert {o.occurrence.state for o in offers} == {OccurrenceState.ACKED}
    finally:
        await app.close()


def test_killed_processes_lose_nothing(
    tmp_path: Path, space: Space, prove: int, record: Any
) -> None:
    settings = Settings(
        data=tmp_path / "own",
        store=space.setting,
        embedder="none",
        webhook_allow_private=True,
    )
    with Sink() as sink, fleet(tmp_path, space.setting, 4, 2) as running:
        figures = asyncio.run(run(running, settings, sink, prove))
        asyncio.run(examine(settings, OCCURRENCES * prove))
    print(figures)
    record(figures)
