"""kill -9 one of two workers again and again while memories come, go and are consolidated.

Each group of memories has one observation at the end: none is missing, none is there twice, and
none says what was forgotten. With a model, and without one.
"""

from __future__ import annotations

import asyncio
import html
import json
import random
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from consolidation_victim import settings

from llm_kit import Endpoint, Reply
from remembrancer.app import App
from remembrancer.keeping.browse import UnitFilter
from remembrancer.nouns.memory import BankRef, JobState, Layer, LinkType, Unit
from remembrancer.verbs.consolidate import CONSOLIDATE, MINE
from remembrancer.verbs.retaining.units import Item

VICTIM = Path(__file__).with_name("consolidation_victim.py")
BANKS = [BankRef("acme", "a"), BankRef("umbrella", "b")]
GROUPS, EACH = 6, 4  # groups of a bank, 5 times as many when proving; memories of each
KILLS = 2  # times `prove`; without a model half as many
WORKERS = 2
SEED = 17
ANSWER_S = 0.03
DIMENSIONS = 64
MEMORY = re.compile(r'<memory number="(\d+)"[^>]*>(.*?)</memory>', re.DOTALL)
OPEN = (JobState.PENDING, JobState.PROCESSING)


def text(group: int, number: int) -> str:
    return f"hall {group} has a lamp of lot token{number}q."


def embedded(body: dict[str, Any]) -> Reply:
    """Vectors by which memories of one hall are alike, and others are not."""
    vectors = []
    for told in body["input"]:
        vector = [0.0] * DIMENSIONS
        hall = re.search(r"hall (\d+)", told)
        vector[int(hall.group(1)) if hall else -1] = 1.0
        vectors.append(vector)
    data = [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]
    return Reply(raw=json.dumps({"data": data}).encode())


def observed(body: dict[str, Any]) -> Reply:
    """One observation that repeats all that the model was shown."""
    found = MEMORY.findall(body["messages"][1]["content"])
    said = " ".join(html.unescape(each) for _, each in found)
    told = {"text": said, "based_on": [int(n) for n, _ in found]}
    return Reply(json.dumps({"observations": [told]}), wait_s=ANSWER_S)


def answered(body: dict[str, Any]) -> Reply:
    return embedded(body) if "input" in body else observed(body)


class Workers:
    """Processes that work on one folder; one that is killed is replaced."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running = [self._start() for _ in range(WORKERS)]
        self.kills = 0

    def wait_ready(self) -> None:
        for worker in self._running:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "working\n"

    def kill_one(self) -> None:
        """Kill the one that has run longest, and wait until another is at work."""
        victim = self._running.pop(0)
        victim.kill()
        self._end(victim)
        self.kills += 1
        self._running.append(self._start())
        new = self._running[-1].stdout
        assert new is not None
        assert new.readline() == "working\n"

    def stop(self) -> None:
        for worker in self._running:
            assert worker.stdin is not None
            worker.stdin.close()
        for worker in self._running:
            self._end(worker)

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


class Told:
    """What each bank was told, and what of it was forgotten."""

    def __init__(self, groups: int) -> None:
        self.groups = groups
        self.alive: dict[BankRef, dict[str, tuple[int, int]]] = {ref: {} for ref in BANKS}
        self.forgotten: dict[BankRef, set[int]] = {ref: set() for ref in BANKS}
        self._numbers = iter(range(1_000_000))
        self._random = random.Random(SEED)

    async def tell(self, app: App, ref: BankRef, group: int) -> None:
        number = next(self._numbers)
        name = f"d{number}"
        await app.retain(ref, [Item(text(group, number), document=name)])
        self.alive[ref][name] = group, number

    async def change(self, app: App, ref: BankRef) -> None:
        """Forget some memories and tell some others."""
        for _ in range(2):
            name = self._random.choice(sorted(self.alive[ref]))
            group, number = self.alive[ref].pop(name)
            await app.forget(ref, documents=[name])
            self.forgotten[ref].add(number)
            await self.tell(app, ref, self._random.randrange(self.groups))
            assert group < self.groups


async def fill(app: App, told: Told) -> None:
    for ref in BANKS:
        for group in range(told.groups):
            for _ in range(EACH):
                await told.tell(app, ref, group)


async def settled(app: App) -> None:
    """Wait until nothing is queued any more."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        counts = [
            await app.store.job_count(ref, kind=CONSOLIDATE, state=state)
            for ref in BANKS
            for state in OPEN
        ]
        if not any(counts):
            return
        await asyncio.sleep(0.1)
    raise AssertionError("consolidation does not end")


async def observations(app: App, ref: BankRef) -> list[tuple[Unit, frozenset[bytes], str]]:
    """All that consolidation has made: what it is, rests on, and said at any time."""

    def work(reader: Any) -> list[tuple[Unit, frozenset[bytes], str]]:
        wanted = UnitFilter(layers=(Layer.OBSERVATION,))
        page = reader.browse(wanted, 10_000, 0).units
        found = [u for u in page if u.attributes and MINE in u.attributes]
        links = reader.neighbours([u.id for u in found], [LinkType.INSIGHT_FROM], 1, 200)
        history = reader.curations([u.id for u in found])
        return [
            (
                u,
                frozenset(k.target for k in links if k.source == u.id),
                f"{u.text} {history[u.id].data if u.id in history else ''}",
            )
            for u in found
        ]

    return await app.store.read(ref, work)


async def examine(app: App, told: Told, ref: BankRef) -> int:
    """Check that each group has one observation; return how many there are."""
    sizes = Counter(group for group, _ in told.alive[ref].values())
    expected = {group for group, size in sizes.items() if size >= 3}
    async with app.store.snapshot(ref) as view:
        sources = {
            u.id: u
            for name in told.alive[ref]
            if (document := await view.document(name)) is not None
            for u in await view.sources_of(document.id)
        }
    assert len(sources) == len(told.alive[ref])
    found = await observations(app, ref)
    of_group: Counter[int] = Counter()
    for unit, basis, ever in found:
        assert basis
        assert basis <= sources.keys(), unit.text
        groups = {int(re.findall(r"hall (\d+)", sources[i].text)[0]) for i in basis}
        assert len(groups) == 1
        of_group[groups.pop()] += 1
        tokens = {int(n) for n in re.findall(r"token(\d+)q", ever)}
        assert not tokens & told.forgotten[ref]
    assert of_group == Counter(expected)
    return len(found)


async def prove_it(folder: Path, prove: int, kills: int) -> dict[str, float]:
    told = Told(GROUPS * (1 if prove == 1 else 5))
    app = await App.open(settings(folder), background=False)
    try:
        await fill(app, told)
        for ref in BANKS:
            await app.consolidate.enqueue(ref)
        workers = Workers(folder)
        try:
            workers.wait_ready()
            for _ in range(kills):
                for ref in BANKS:
                    await told.change(app, ref)
                    await app.consolidate.enqueue(ref)
                await asyncio.sleep(ANSWER_S * 3)
                await asyncio.to_thread(workers.kill_one)
            await settled(app)
            for ref in BANKS:
                await app.consolidate.enqueue(ref)
            await settled(app)
        finally:
            workers.stop()
        count = sum([await examine(app, told, ref) for ref in BANKS])
        jobs = [
            job
            for ref in BANKS
            for job in await app.store.jobs(ref, kind=CONSOLIDATE, limit=10_000)
        ]
        assert {job.state for job in jobs} == {JobState.COMPLETED}
        return {
            "groups": told.groups * len(BANKS),
            "memories": sum(map(len, told.alive.values())),
            "forgotten": sum(map(len, told.forgotten.values())),
            "kills": workers.kills,
            "consolidations": len(jobs),
            "taken_over": sum(job.attempts > 1 for job in jobs),
            "observations": count,
            "lost": 0,
            "twice": 0,
            "of_forgotten": 0,
        }
    finally:
        await app.close()


def proved(folder: Path, prove: int, kills: int) -> dict[str, float]:
    figures = asyncio.run(prove_it(folder / "data", prove, kills))
    assert figures["kills"] == kills
    return figures


def named(monkeypatch: pytest.MonkeyPatch, told: dict[str, Any]) -> None:
    """Give settings to this process and to those that it starts."""
    for name, value in told.items():
        monkeypatch.setenv(f"REMEMBRANCER_{name.upper()}", str(value))


def embedder(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "embedder": "openai:halls",
        "embedder_url": endpoint.url,
        "embedder_dimensions": DIMENSIONS,
    }


@pytest.mark.usefixtures("kept_in")
def test_consolidation_outlives_its_workers(
    tmp_path: Path, prove: int, record: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Endpoint(answered) as endpoint:
        more = {"llm_retain": "none", "llm_reflect": "none"}
        named(monkeypatch, {**embedder(endpoint), **endpoint.settings, **more})
        figures = proved(tmp_path, prove, KILLS * prove)
        asked = sum("messages" in body for body in endpoint.requests)
    assert asked
    record({**figures, "questions": asked})


@pytest.mark.usefixtures("kept_in")
def test_consolidation_without_a_model_outlives_its_workers(
    tmp_path: Path, prove: int, record: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Endpoint(embedded) as endpoint:
        named(monkeypatch, embedder(endpoint))
        record(proved(tmp_path, prove, prove))
