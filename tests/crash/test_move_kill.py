"""A store is moved to PostgreSQL, by a mover that is killed once, and back: the same rows."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from postgres_kit import Space
from remembrancer.app import App
from remembrancer.keeping.batch import Batch, DocumentWrite
from remembrancer.keeping.moving import KEYS, digest
from remembrancer.keeping.opening import open_store
from remembrancer.keeping.records import Record
from remembrancer.nouns.clock import SystemClock
from remembrancer.nouns.errors import StoreError
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.intention import TriggerType
from remembrancer.nouns.memory import BankRef, Chunk, Document, Layer, Unit, UnitRow, Vector
from remembrancer.settings import Settings
from remembrancer.verbs.remind import Reminder
from remembrancer.verbs.retaining.units import Item

UNITS = 2_000  # times the square of `prove`: 200,000 in full
UNITS_A_BATCH = 500
BANKS = 5
DIM = 64
KEY = b"of this test alone"
WAIT_S = 60
CHAT = "Ann: I live in Berlin.\nBen: Do you like it?\nAnn: Yes. My sister Ida lives in Bonn."


def settings(url: str) -> Settings:
    return Settings(store=url, embedder=f"hash:{DIM}", worker=False)


async def fill(url: str, count: int) -> None:
    """Keep something of every kind, and so many units beside it."""
    app = await App.open(settings(url), background=False)
    try:
        ref = BankRef("default", "ann")
        await app.retain(ref, [Item(CHAT), Item("a\x10b and some \U0001f600 words")])
        await app.retain(ref, [Item("Ann: I live in Rome now.")])
        async with app.store.snapshot(ref) as view:
            known = [row.unit_id for row in await view.scan(limit=2)]
        await app.store.touch(ref, known, 5)
        soon = time.time_ns() // 1_000 + 50_000
        await app.remind(ref, [Reminder("call", TriggerType.TIME, trigger_at=soon)])
        await asyncio.sleep(0.1)
        await app.check(ref)
        await app.queued.enqueue(ref, [Item("Ann: I have a dog.")])
        await app.store.record_add([(ref, Record("note", "one", 1, 1, {"x": "\x00 nul"}))])
        ids = IdMaker(SystemClock(), os.urandom)
        for start in range(0, count, UNITS_A_BATCH):
            bank = BankRef("acme", f"bank {start // UNITS_A_BATCH % BANKS}")
            await app.store.apply(bank, batch(ids, start))
    finally:
        await app.close()


def batch(ids: IdMaker, start: int) -> Batch:
    document = ids.new()
    rows = [
        UnitRow(
            Unit(ids.new(), Layer.SOURCE, f"said {n}", n, n, document_id=document, turn=n),
            f"said {n}".encode(),
            f"said {n}".encode(),
            Vector(os.urandom(DIM), 0.25),
            Vector(os.urandom(DIM), 1 / 3),
        )
        for n in range(start, start + UNITS_A_BATCH)
    ]
    text = Chunk(0, f"all that was said from {start} on")
    written = DocumentWrite(Document(document, f"day {start}", "-", 1, 1, 9), [text])
    return Batch(documents=[written], units=rows)


def everything(url: str) -> dict[str, Any]:
    """Return the number of rows and the hash of each table."""
    with open_store(settings(url), SystemClock()).moving_from() as tables:
        return {table: digest(tables, table, sorted(tables.columns(table)), KEY) for table in KEYS}


def mover(source: str, target: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "remembrancer", "move", source, target, "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def copied(url: str) -> int:
    """Return how many rows a move into a store has copied; 0: none is under way."""
    import psycopg

    with psycopg.connect(url.partition("&schema=")[0], autocommit=True) as connection:
        schema = url.partition("&schema=")[2]
        row = connection.execute(f"SELECT to_regclass('{schema}.moving')").fetchone()
        if row == (None,):
            return 0
        found = connection.execute(f"SELECT reached FROM {schema}.moving").fetchone()
        return json.loads(found[0])[3] if found else 0


def killed_half_way(source: str, target: str, least: int) -> int:
    """Move, and kill the mover once so many rows are there; return how many are."""
    process = mover(source, target)
    deadline = time.monotonic() + WAIT_S
    while copied(target) < least and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    return copied(target)


def moved(source: str, target: str) -> dict[str, Any]:
    process = mover(source, target)
    out, errors = process.communicate()
    assert process.returncode == 0, errors
    told: dict[str, Any] = json.loads(out)
    return told


def test_a_moved_store_is_the_same(tmp_path: Path, space: Space, prove: int, record: Any) -> None:
    count = UNITS * prove * prove
    first, second = f"sqlite:///{tmp_path}/first", f"sqlite:///{tmp_path}/second"
    asyncio.run(fill(first, count))
    before = everything(first)
    assert all(before[table].rows for table in ("access", "job", "record", "claim", "occurrence"))

    total = sum(each.rows for each in before.values())
    half = killed_half_way(first, space.setting, total // 3)
    assert 0 < half <= total
    with pytest.raises(StoreError, match="not finished"):
        asyncio.run(App.open(settings(space.setting)))
    there = moved(first, space.setting)
    assert there["resumed"] == half
    assert everything(space.setting) == before
    assert everything(first) == before

    back = moved(space.setting, second)
    assert everything(second) == before
    record(
        {
            "units": there["units"],
            "rows": there["rows"],
            "rows_before_kill": half,
            "to_postgres_s": there["seconds"],
            "to_sqlite_s": back["seconds"],
        }
    )
