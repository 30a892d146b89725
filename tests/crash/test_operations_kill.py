"""kill -9 one of four workers each second while thousands of operations are worked on.

Every item is stored exactly once, no operation is lost or stuck, and every parent says what its
children say.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from operations_victim import settings

from remembrancer.app import App
from remembrancer.finding.indexes import Indexes
from remembrancer.finding.state import IndexState
from remembrancer.keeping.batch import Batch
from remembrancer.nouns.memory import BankRef, Job, JobState, Layer
from remembrancer.verbs.retaining.queued import BATCH_RETAIN, RETAIN
from remembrancer.verbs.retaining.units import Item

VICTIM = Path(__file__).with_name("operations_victim.py")
BANKS = [BankRef(tenant, bank) for tenant in ("acme", "umbrella") for bank in ("a", "b")]
OPERATIONS = 1_000  # times `prove`: 10,000 in full
KILLED_S = 6  # times `prove`
WORKERS = 4
FAMILY = 5  # documents of one request
TOGETHER = 100  # requests on their way at once
OPEN = (JobState.PENDING, JobState.PROCESSING)


def text(number: int) -> str:
    return f"Ann keeps box number {number} in the red shed."


class Workers:
    """Processes that work on one folder; one that is killed is replaced."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running = [self._start() for _ in range(WORKERS)]
        self.kills = 0

    def kill_one(self) -> None:
        """Kill the one that has run longest, which is at work for sure, and start another."""
        victim = self._running.pop(0)
        victim.kill()
        self._end(victim)
        self.kills += 1
        self._running.append(self._start())

    def stop(self) -> None:
        for worker in self._running:
            assert worker.stdin is not None
            worker.stdin.close()
        for worker in self._running:
            self._end(worker)
            assert worker.returncode == 0

    def wait_ready(self) -> None:
        for worker in self._running:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "working\n"

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(VICTIM), str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _end(self, worker: subprocess.Popen[str]) -> None:
        worker.wait()
        for stream in (worker.stdin, worker.stdout):
            assert stream is not None
            stream.close()


def requests(count: int) -> Iterator[tuple[BankRef, range]]:
    """Spread numbers over the banks; every fifth request holds several documents."""
    number = request = 0
    while number < count:
        size = min(FAMILY, count - number) if request % FAMILY == 0 else 1
        yield BANKS[request % len(BANKS)], range(number, number + size)
        number, request = number + size, request + 1


async def fill(app: App, count: int) -> tuple[dict[BankRef, set[int]], Counter[BankRef]]:
    """Queue everything; return what each bank must hold, and its parents that complete."""
    wanted: dict[BankRef, set[int]] = {ref: set() for ref in BANKS}
    parents: Counter[BankRef] = Counter()
    waiting = []
    for ref, numbers in requests(count):
        items = [Item(text(n), document=f"d{n}") for n in numbers]
        waiting.append(app.queued.enqueue(ref, items))
        wanted[ref].update(numbers)
        parents[ref] += len(numbers) > 1
        if len(waiting) == TOGETHER:
            await asyncio.gather(*waiting)
            waiting = []
    await asyncio.gather(*waiting)
    return wanted, parents


async def spoil(app: App, ref: BankRef) -> tuple[bytes, bytes]:
    """Queue a family of which one child fails, and one of which a child is cancelled."""
    items = [Item(text(n), document=f"spoilt{n}") for n in (1, 2)]
    failing = await app.queued.enqueue(ref, items)
    now = app.clock.now_us()
    payload = {"items": [{"content": " ", "document": "empty", "tags": [], "entities": []}]}
    bad = Job(
        bytes(16), ref, RETAIN, JobState.PENDING, now, now, payload, parent=failing.id, part=2
    )
    await app.store.apply(ref, Batch(jobs=[bad]))
    items = [Item(text(n), document=f"stopped{n}") for n in (1, 2)]
    stopped = await app.queued.enqueue(ref, items)
    [_, child] = await app.store.job_children(ref, stopped.id)
    await app.operations.cancel(ref, child.id)
    return failing.id, stopped.id


async def is_done(app: App) -> bool:
    counts = [await app.store.job_count(ref, state=s) for ref in BANKS for s in OPEN]
    return not any(counts)


async def work(app: App, workers: Workers, killed_s: float) -> None:
    """Kill a worker each second until all is done, or for so long and then wait."""
    tick = time.monotonic()
    end = tick + killed_s
    while True:
        tick += 1
        await asyncio.sleep(max(0, tick - time.monotonic()))
        if tick <= end:
            workers.kill_one()
        if await is_done(app):
            return


def live_ids(state: IndexState) -> set[bytes]:
    ids: set[bytes] = set()
    for part, dead in zip(state.parts, state.dead, strict=True):
        raw = (part.ids if dead is None else part.ids[~dead]).tobytes()
        ids |= {raw[i : i + 16] for i in range(0, len(raw), 16)}
    return ids


async def examine(app: App, ref: BankRef, numbers: set[int], folder: Path) -> None:
    """Check that a bank holds each of its items once, whole, and that its index says the same."""
    async with app.store.snapshot(ref) as view:
        documents = {d.name: d for d in await view.documents(limit=1_000_000)}
        expected = {f"d{n}" for n in numbers} | (
            {"spoilt1", "spoilt2", "stopped1"} if ref == BANKS[0] else set()
        )
        assert documents.keys() == expected
        for number in numbers:
            units = await view.units_of(documents[f"d{number}"].id)
            layers = Counter(unit.layer for unit in units)
            assert layers == {Layer.SOURCE: 1, Layer.FACT: 1}, number
            assert {unit.text for unit in units} == {text(number)}
        fresh = await Indexes(None, 32, 1 << 30).state_for(ref, view)
        index = folder / "index" / app.store.identity
        kept = await Indexes(index, 32, 1 << 30).state_for(ref, view)
        assert fresh is not None
        assert kept is not None
        rows = await view.scan(limit=1_000_000)
        sources = {row.unit_id for row in rows if row.layer == Layer.SOURCE}
        assert len(sources) == len(expected)
        assert sources <= live_ids(fresh) == live_ids(kept)
        assert all(row.codes is not None for row in rows if row.layer == Layer.SOURCE)


async def prove_it(folder: Path, count: int, killed_s: float) -> dict[str, float]:
    app = await App.open(settings(folder), background=False)
    try:
        began = time.monotonic()
        wanted, parents = await fill(app, count)
        failing, stopped = await spoil(app, BANKS[0])
        queued_s = time.monotonic() - began
        workers = Workers(folder)
        try:
            workers.wait_ready()
            began = time.monotonic()
            await work(app, workers, killed_s)
            worked_s = time.monotonic() - began
        finally:
            workers.stop()
        retried = most = 0
        for ref in BANKS:
            spoilt = ref == BANKS[0]
            completed = await app.store.job_count(ref, kind=BATCH_RETAIN, state=JobState.COMPLETED)
            assert completed == parents[ref]
            done = await app.store.job_count(ref, kind=RETAIN, state=JobState.COMPLETED)
            jobs = await app.store.jobs(ref, kind=RETAIN, limit=1_000_000)
            ended = [(j.state, j.attempts, j.error) for j in jobs if j.state is JobState.FAILED]
            assert done == len(wanted[ref]) + 3 * spoilt, ended
            retried += sum(job.attempts > 1 for job in jobs)
            most = max(most, *(job.attempts for job in jobs))
            await examine(app, ref, wanted[ref], folder)
        states = [(await app.store.job(BANKS[0], i)).state for i in (failing, stopped)]
        assert states == [JobState.FAILED, JobState.CANCELLED]
        return {
            "operations": count,
            "queued_per_s": round(count / queued_s, 1),
            "operations_per_s": round(count / worked_s, 1),
            "kills": workers.kills,
            "taken_over": retried,
            "most_claims_of_one": most,
            "lost": 0,
            "stuck": 0,
            "stored_twice": 0,
        }
    finally:
        await app.close()


@pytest.mark.usefixtures("kept_in_when_proving")
def test_operations_outlive_their_workers(tmp_path: Path, prove: int, record) -> None:
    figures = asyncio.run(prove_it(tmp_path / "data", OPERATIONS * prove, KILLED_S * prove))
    assert figures["kills"] > 0
    record(figures)
