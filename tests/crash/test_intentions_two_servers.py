"""Two servers on one store while 10,000 intentions fall due within a minute.

Each occurrence is made once, all are delivered, and none before its time.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from sink import Sink

from remembrancer.app import App
from remembrancer.nouns.intention import OccurrenceState, TriggerType
from remembrancer.nouns.memory import BankRef
from remembrancer.settings import Settings
from remembrancer.verbs.remind import Reminder
from remembrancer.verbs.telling.webhooks import INTENTION_DUE, Webhook

SERVER = Path(__file__).with_name("serving_victim.py")
REF = BankRef("default", "bank")
COUNT = 1_000  # times `prove`: 10,000 in full
SPAN_S = 6  # times `prove`: a minute in full
WAIT_S = 240
BATCH = 1_000


async def prepare(folder: Path, url: str, count: int, first: int, span_us: int) -> set[str]:
    """Register so many intentions, due evenly over a span; return what they say."""
    app = await App.open(settings(folder), background=False)
    try:
        await app.webhooks.create(REF, Webhook("", url, "key", (INTENTION_DUE,)))
        told = [
            Reminder(f"n{n}", TriggerType.TIME, trigger_at=first + span_us * n // count)
            for n in range(count)
        ]
        for start in range(0, count, BATCH):
            await app.remind(REF, told[start : start + BATCH])
        return {reminder.content for reminder in told}
    finally:
        await app.close()


def settings(folder: Path) -> Settings:
    return Settings(data=folder, embedder="none", webhook_allow_private=True)


async def examine(folder: Path, count: int) -> None:
    """Every intention has one occurrence, and that is acknowledged."""
    app = await App.open(settings(folder), background=False)
    try:
        offers = await app.store.offers(REF, limit=10 * count)
        assert len(offers) == count
        assert len({o.intention.id for o in offers}) == count
        assert {o.occurrence.state for o in offers} == {OccurrenceState.ACKED}
    finally:
        await app.close()


@pytest.mark.usefixtures("kept_in_when_proving")
def test_each_is_made_once_and_delivered_in_time(tmp_path: Path, prove: int, record) -> None:
    count, span_us = COUNT * prove, SPAN_S * prove * 1_000_000
    with Sink() as sink:
        servers = [
            subprocess.Popen(
                [sys.executable, str(SERVER), str(tmp_path)], stdout=subprocess.PIPE, text=True
            )
            for _ in range(2)
        ]
        for server in servers:
            assert server.stdout is not None
            assert "http://" in server.stdout.readline()
        # Registered while both watch: time enough for that, in microseconds.
        first = time.time_ns() // 1_000 + 2_000_000 + 500 * count
        contents = asyncio.run(prepare(tmp_path, sink.url, count, first, span_us))
        deadline = time.monotonic() + WAIT_S + span_us / 1e6
        while len({c.content for c in sink.calls}) < count and time.monotonic() < deadline:
            time.sleep(0.1)
        for server in servers:
            server.terminate()
        for server in servers:
            server.wait(60)
            assert server.stdout is not None
            server.stdout.close()
        calls = list(sink.calls)
    assert {c.content for c in calls} == contents
    assert all(c.at >= c.due_at for c in calls)
    occurrences = {(c.intention, c.occurrence) for c in calls}
    assert len(occurrences) == count
    asyncio.run(examine(tmp_path, count))
    times = Counter(c.occurrence for c in calls)
    lags = sorted((c.at - c.due_at) / 1e6 for c in calls)
    figures = {
        "occurrences": count,
        "span_s": span_us / 1e6,
        "sent_twice": sum(n - 1 for n in times.values()),
        "lag_p50_s": lags[len(lags) // 2],
        "lag_p99_s": lags[len(lags) * 99 // 100],
        "lag_max_s": lags[-1],
    }
    print(figures)
    record(figures)
