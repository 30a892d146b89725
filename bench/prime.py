"""Prime, in the process and over the wires, with reinforcement on.

The workload is that of HEBBS's own harness: 10,000 memories of five entities, primed for 50 of
them without a cue, again and again; with vectors of 8 and of 384 components. Beside it, entities of
50, 2,000 and 50,000 memories in one store, with and without a cue, and over gRPC and REST with 1,
16 and 64 clients, each of which waits for its answer before it asks again.

Percentiles are HEBBS's: the value at floor(n * p) of the sorted times. `best_ms` is the least of
all times, `cpu_ms` what the process's threads used a call; both tell more than the percentiles
where other programs use the machine, too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from remembrancer.app import App
from remembrancer.finding.terms import Analyzer, pack
from remembrancer.keeping.batch import Batch
from remembrancer.models.vectors import quantise
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import DEFAULT_TENANT, BankRef, Layer, Unit, UnitRow
from remembrancer.settings import Settings
from remembrancer.verbs.prime import PrimeOptions

from . import report
from .metrics import Figures
from .prime_clients import Asked, ask_grpc, ask_rest
from .server import Server

MEMORIES = 10_000
ENTITIES = ("entity_alpha", "entity_beta", "entity_gamma", "entity_delta", "entity_epsilon")
MOST = 50
SIZES = (50, 2_000, 50_000)
CLIENTS = (1, 16, 64)
PARTS = ("inproc", "rest", "grpc")
CUE = "progress on the onboarding of new hires"
_SEED = 42
_BATCH = 2_000
_WARM_UP = 100

_DOMAINS = ("sales", "engineering", "support")
_ACTIONS = (
    "reviewed planned shipped discussed postponed tested approved escalated closed drafted"
).split()
_TOPICS = (
    "billing onboarding search exports latency pricing renewals backups hiring training "
    "security reports invoices alerts roadmap"
).split()


def memory(rng: random.Random, number: int) -> tuple[str, float, dict[str, str | int]]:
    """Return the text, importance and attributes of one memory."""
    domain, action, topic = rng.choice(_DOMAINS), rng.choice(_ACTIONS), rng.choice(_TOPICS)
    sprint, priority = rng.randint(1, 99), rng.randint(1, 4)
    text = f"The {domain} team {action} {topic} in sprint {sprint} with priority {priority}"
    attributes: dict[str, str | int] = {"domain": domain, "index": number, "priority": priority}
    return text, rng.uniform(0.1, 1.0), attributes


async def load(app: App, counts: Mapping[str, int]) -> None:
    """Put memories into banks by name, all within the last minutes, mixed."""
    if app.embedder is None:
        raise RuntimeError("the bench needs an embedder")
    ids, rng, analyzer = IdMaker(app.clock), random.Random(_SEED), Analyzer()
    owners = [name for name, count in counts.items() for _ in range(count)]
    rng.shuffle(owners)
    first = app.clock.now_us() - len(owners)
    rows: dict[str, list[UnitRow]] = {name: [] for name in counts}
    for start in range(0, len(owners), _BATCH):
        made = [memory(rng, start + i) for i in range(len(owners[start : start + _BATCH]))]
        vectors = quantise(await app.embedder.embed([text for text, _, _ in made]))
        for i, ((text, importance, attributes), vector) in enumerate(
            zip(made, vectors, strict=True)
        ):
            at = first + start + i
            unit = Unit(
                ids.new(),
                Layer.SOURCE,
                text,
                at,
                at,
                importance=importance,
                attributes=attributes,
            )
            terms = pack(analyzer.terms(text))
            rows[owners[start + i]].append(UnitRow(unit, terms, terms, vector, vector))
        for name, mine in rows.items():
            if len(mine) >= _BATCH:
                await app.store.apply(ref(name), Batch(units=mine))
                rows[name] = []
    for name, mine in rows.items():
        if mine:
            await app.store.apply(ref(name), Batch(units=mine))


def ref(name: str) -> BankRef:
    """Return a bank of the tenant that everybody has."""
    return BankRef(DEFAULT_TENANT, name)


def figures_of(name: str, seconds: Sequence[float], cpu_s: float) -> Figures:
    """Return the figures of some calls, in milliseconds."""
    ms = sorted(each * 1e3 for each in seconds)
    found = {f"{name}.p{q}_ms": ms[len(ms) * q // 100] for q in (50, 95, 99)}
    return {**found, f"{name}.best_ms": ms[0], f"{name}.cpu_ms": cpu_s * 1e3 / len(ms)}


async def timed(name: str, call: Callable[[], Awaitable[object]], runs: int) -> Figures:
    """Make calls one after the other, after some to warm up."""
    for _ in range(_WARM_UP):
        await call()
    times = []
    cpu = time.process_time()
    for _ in range(runs):
        started = time.perf_counter()
        await call()
        times.append(time.perf_counter() - started)
    return figures_of(name, times, time.process_time() - cpu)


async def harness(folder: Path, dim: int, name: str, memories: int, runs: int) -> Figures:
    """Measure the workload of the harness."""
    rng = random.Random(_SEED)
    counts = Counter(rng.choice(ENTITIES) for _ in range(memories))
    app = await App.open(_settings(folder, dim), background=False)
    try:
        await load(app, counts)
        options = PrimeOptions(max_memories=MOST)
        return await timed(name, lambda: app.prime(ref(ENTITIES[0]), options), runs)
    finally:
        await app.close()


async def by_size(folder: Path, dim: int, sizes: Sequence[int], runs: int) -> Figures:
    """Load entities of several sizes into one store, and measure each in the process."""
    app = await App.open(_settings(folder, dim), background=False)
    figures: Figures = {}
    try:
        await load(app, {entity(size): size for size in sizes})
        for size in sizes:
            for name, cue in (("", None), (".cue", CUE)):
                options = PrimeOptions(max_memories=MOST, cue=cue)
                call = partial(app.prime, ref(entity(size)), options)
                figures |= await timed(f"prime.inproc.entity_{size}{name}", call, runs)
    finally:
        await app.close()
    return figures


def entity(size: int) -> str:
    """Return the name of the entity with so many memories."""
    return f"entity_{size}"


def over_wires(folder: Path, dim: int, options: argparse.Namespace) -> Figures:
    """Measure a server in a process of its own, at each number of clients and entity size.

    Figures without an entity's name are of the second size.
    """
    figures: Figures = {}
    plain = options.sizes[min(1, len(options.sizes) - 1)]
    with Server(folder, f"hash:{dim}", grpc="grpc" in options.parts) as server:
        wires = {"rest": (ask_rest, server.port), "grpc": (ask_grpc, server.grpc_port)}
        for wire in (w for w in wires if w in options.parts):
            ask, port = wires[wire]
            for clients in options.clients:
                for size, cue in product(options.sizes, (None, CUE)):
                    middle = "" if size == plain else f".{entity(size)}"
                    name = f"prime.{wire}.{clients}{middle}{'.cue' if cue else ''}"
                    asked = Asked(entity(size), MOST, cue)
                    runs = max(options.wire_runs, 4 * clients)
                    before = cpu_s(server.pid)
                    times = asyncio.run(ask(port, asked, clients, runs))
                    figures |= figures_of(name, times, cpu_s(server.pid) - before)
    return figures


def cpu_s(pid: int) -> float:
    """Return the seconds of processor time that a process has used, as Linux tells them."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _settings(folder: Path, dim: int) -> Settings:
    return Settings(data=folder, embedder=f"hash:{dim}", worker=False)


def run(options: argparse.Namespace) -> Figures:
    """Measure the parts asked for."""
    figures: Figures = {}
    with tempfile.TemporaryDirectory(prefix="bench-prime-") as made:
        folder = Path(made)
        if "inproc" in options.parts:
            for dim, name in ((8, ""), (384, ".d384")):
                part = f"prime.inproc.{options.memories}{name}"
                here = folder / f"harness-{dim}"
                figures |= asyncio.run(harness(here, dim, part, options.memories, options.runs))
        # Measured in any case: the same run loads what is asked for over the wires.
        sizes = asyncio.run(by_size(folder / "sizes", 384, options.sizes, options.runs))
        if "inproc" in options.parts:
            figures |= sizes
        if {"rest", "grpc"}.intersection(options.parts):
            figures |= over_wires(folder / "sizes", 384, options)
    return figures


def main(argv: Sequence[str] | None = None) -> Figures:
    """Run from the command line."""
    parser = report.parser(
        "prime", __doc__ or "", "python -m bench.prime --parts inproc --json prime.json"
    )
    parser.add_argument("--memories", type=int, default=MEMORIES, help="of the harness's store")
    parser.add_argument(
        "--sizes", type=_numbers, default=SIZES, help=f"of entities, {MOST} at least, by commas"
    )
    parser.add_argument("--clients", type=_numbers, default=CLIENTS, help="at once, by commas")
    parser.add_argument("--runs", type=int, default=1_000, help="calls a figure in the process")
    parser.add_argument("--wire-runs", type=int, default=400, help="calls a figure over a wire")
    parser.add_argument(
        "--parts", type=_parts, default=PARTS, help=f"by commas; all: {','.join(PARTS)}"
    )
    options = parser.parse_args(argv)
    figures = run(options)
    report.show_latency("prime", figures)
    report.write(options.json, figures)
    return figures


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(n.replace("_", "")) for n in text.split(","))


def _parts(text: str) -> tuple[str, ...]:
    parts = tuple(text.split(","))
    for part in parts:
        if part not in PARTS:
            raise argparse.ArgumentTypeError(f"unknown part {part!r}; choose {', '.join(PARTS)}")
    return parts


if __name__ == "__main__":
    main()
