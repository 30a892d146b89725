"""A server under a mixed load for a long time, at about half of what it can do: does it grow?

First what it can do is measured: the same mix, each of a few clients asking again at once. Then the
mix comes at half that rate: of ten requests seven recall, two retain and one forgets an older
document, over several tenants, so that the store keeps its size. Memory, open files and latency are
taken every few seconds; `growth` is the slope of a line through them without the first tenth, when
caches fill, a minute.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from . import made, report
from .made_store import EMBEDDER
from .metrics import Figures, latency_figures
from .overload import key_of
from .server import Server, rss_mb
from .wires import Wire, recall_of, retain_of, spelled

_ROOT = "the-key-of-this-bench"
_TENANTS = ("north", "south", "east", "west")
_MIX = ("recall",) * 7 + ("retain",) * 2 + ("forget",)
_KEPT = 60  # documents a tenant
_TURNS = 10  # of a document
_QUESTIONS = 500
_CLIENTS = 8
_LOAD = 0.5
_WARM_UP = 0.1  # share of the time whose samples do not count
_EDGE = 0.1  # share of the time at the start and the end that is compared
_SAMPLES = 60


@dataclass(slots=True)
class Tenant:
    """What a tenant asks and keeps."""

    name: str
    key: str
    random: random.Random
    questions: Sequence[str]
    documents: deque[str] = field(default_factory=deque)
    number: int = 0

    def request(self) -> tuple[str, str, bytes]:
        """Return the next request: what it is, its path and its body."""
        kind = self.random.choice(_MIX)
        if kind == "retain" or len(self.documents) < _KEPT // 2:
            return "retain", *self.retain()
        if kind == "forget" or len(self.documents) > _KEPT:
            name = self.documents.popleft()
            body = {"entity_id": self.name, "document_ids": [name]}
            return "forget", "/v1/forget", spelled(body)
        return "recall", *recall_of(self.name, self.random.choice(self.questions))

    def retain(self) -> tuple[str, bytes]:
        """Return path and body of a new document."""
        self.number += 1
        name = f"day-{self.number:07d}"
        self.documents.append(name)
        content = json.dumps(made.document(self.name, self.number, _TURNS))
        return retain_of(self.name, content, name)


@dataclass(slots=True)
class Sample:
    """How the server stood at a time, in minutes."""

    at: float
    rss_mb: float
    files: int


class Load:
    """The mixed load on one server."""

    def __init__(self, server: Server, seed: int) -> None:
        self._port = server.port
        self._tenants = [
            Tenant(
                name,
                key_of(server.port, name, _ROOT),
                random.Random(f"{seed} {name}"),
                made.questions(name, _KEPT * _TURNS, _QUESTIONS),
            )
            for name in _TENANTS
        ]
        self._turn = 0
        self._done: list[tuple[str, float, float]] = []  # what, when it ended, milliseconds
        self._failed = 0

    async def fill(self) -> None:
        """Give each tenant its documents."""
        for tenant in self._tenants:
            async with Wire(self._port, tenant.key) as wire:
                for _ in range(_KEPT):
                    told = await wire.post(*tenant.retain())
                    if told.status != 200:
                        raise RuntimeError(f"retain was answered {told.status}: {told.body!r}")

    async def capacity(self, seconds: float) -> float:
        """Return how many requests a second are done when a few clients ask again at once."""
        ends = time.monotonic() + seconds

        async def client(wires: dict[str, Wire]) -> None:
            while time.monotonic() < ends:
                await self._one(wires)

        before = len(self._done)
        await asyncio.gather(*(self._with_wires(client) for _ in range(_CLIENTS)))
        return (len(self._done) - before) / seconds

    async def steady(self, per_s: float, seconds: float) -> tuple[float, int]:
        """Ask at a rate, whatever the answers take; return seconds, and requests not begun.

        A request that finds no client free when it is due is counted and left out.
        """
        free: asyncio.Queue[dict[str, Wire]] = asyncio.Queue()
        for _ in range(_CLIENTS * 4):
            free.put_nowait({t.key: Wire(self._port, t.key) for t in self._tenants})
        self._done.clear()
        self._failed, late = 0, 0
        tasks: set[asyncio.Task[None]] = set()
        started = time.monotonic()

        async def one(wires: dict[str, Wire]) -> None:
            try:
                await self._one(wires)
            finally:
                free.put_nowait(wires)

        for number in range(int(per_s * seconds)):
            wait = started + number / per_s - time.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            if free.empty():
                late += 1
                continue
            task = asyncio.create_task(one(free.get_nowait()))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks)
        while not free.empty():
            for wire in free.get_nowait().values():
                wire.close()
        return started, late

    def figures(self, started: float, seconds: float) -> Figures:
        """Return latencies at the start and the end, and what failed."""
        edge = seconds * _EDGE
        first = [(k, ms) for k, at, ms in self._done if at - started <= edge]
        last = [(k, ms) for k, at, ms in self._done if at - started >= seconds - edge]
        found: Figures = {"soak.requests": len(self._done), "soak.failed": self._failed}
        for name, some in (("start", first), ("end", last)):
            for kind in sorted({k for k, _ in some}):
                times = [ms for k, ms in some if k == kind]
                found |= latency_figures(f"soak.{kind}.{name}", times)
        return found

    async def _with_wires(self, client: Callable[[dict[str, Wire]], Awaitable[None]]) -> None:
        wires = {t.key: Wire(self._port, t.key) for t in self._tenants}
        try:
            await client(wires)
        finally:
            for wire in wires.values():
                wire.close()

    async def _one(self, wires: dict[str, Wire]) -> None:
        self._turn += 1
        tenant = self._tenants[self._turn % len(self._tenants)]
        kind, path, body = tenant.request()
        started = time.monotonic()
        try:
            told = await wires[tenant.key].post(path, body)
            failed = told.status != 200
        except OSError:
            failed = True
        ended = time.monotonic()
        self._failed += failed
        self._done.append((kind, ended, (ended - started) * 1e3))


async def run(folder: Path, options: argparse.Namespace) -> Figures:
    """Soak a server of its own."""
    seconds = options.minutes * 60
    with Server(folder, options.embedder, api_key=_ROOT, rate_limit="false") as server:
        load = Load(server, options.seed)
        await load.fill()
        capacity = await load.capacity(min(20.0, max(1.0, seconds / 10)))
        samples: list[Sample] = []
        sampling = asyncio.create_task(_sample(server.pid, seconds / _SAMPLES, samples))
        started, late = await load.steady(max(1.0, capacity * _LOAD), seconds)
        sampling.cancel()
        await asyncio.gather(sampling, return_exceptions=True)
    found = load.figures(started, seconds)
    found |= {
        "soak.minutes": options.minutes,
        "soak.capacity.per_s": capacity,
        "soak.load.per_s": found["soak.requests"] / seconds,
        "soak.not_begun": late,
    }
    return found | _growth(samples, options.minutes)


async def _sample(pid: int, every_s: float, samples: list[Sample]) -> None:
    started = time.monotonic()
    while True:
        at = (time.monotonic() - started) / 60
        samples.append(Sample(at, rss_mb(pid), _open_files(pid)))
        await asyncio.sleep(every_s)


def _open_files(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def _growth(samples: Sequence[Sample], minutes: float) -> Figures:
    """Return memory and files at the start and the end, and how fast they grow."""
    settled = [each for each in samples if each.at >= minutes * _WARM_UP] or list(samples)
    found: Figures = {
        "soak.rss.start_mb": settled[0].rss_mb,
        "soak.rss.end_mb": settled[-1].rss_mb,
        "soak.rss.peak_mb": max(each.rss_mb for each in samples),
        "soak.files.start": settled[0].files,
        "soak.files.end": settled[-1].files,
    }
    times = np.array([each.at for each in settled])
    for name, values in (
        ("rss.growth_mb_a_minute", [each.rss_mb for each in settled]),
        ("files.growth_a_minute", [float(each.files) for each in settled]),
    ):
        slope = np.polyfit(times, values, 1)[0] if len(settled) > 1 else 0.0
        found[f"soak.{name}"] = float(slope)
    return found


def main(argv: Sequence[str] | None = None) -> Figures:
    """Run from the command line."""
    parser = report.parser(
        "soak", __doc__ or "", "python -m bench.soak --minutes 60 --json bench/results/soak.json"
    )
    parser.add_argument("--minutes", type=float, default=60.0, help="how long, at half load")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--embedder", default=EMBEDDER)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        place = Path(folder) / "data"
        place.mkdir()
        found = asyncio.run(run(place, options))
    report.show_latency("soak", found)
    report.write(options.json, found)
    return found


if __name__ == "__main__":
    main()
