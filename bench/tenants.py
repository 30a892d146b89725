"""A recall that names no bank, over a tenant of many small banks, on SQLite and on PostgreSQL.

`p50_ms` and its like are of a recall by similarity after the first one, whose time is `first_ms`,
the embedding of the question included; `cpu_ms` is what the process used of a core, which says more
where other programs use the machine, too. `found` is which share of the answers is among the ten
best memories of the whole tenant, as a product with all vectors tells. `temporal`: what is newest.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from remembrancer.app import App
from remembrancer.keeping.opening import move_store
from remembrancer.models.embedder import Floats
from remembrancer.models.vectors import dequantise
from remembrancer.nouns.caller import Caller
from remembrancer.nouns.memory import BankRef, Vector
from remembrancer.settings import Settings
from remembrancer.verbs.recalling.searches import Asked, Search, Way

from . import made, report, stores
from .made_store import EMBEDDER
from .metrics import Figures, latency_figures

DATA = Path(__file__).parent / "data"
TENANT = "many"
_TOP = 10
_PAGE = 500  # banks read at once
_ROUNDING = 1e-5  # of sums in another order


def refs_of(banks: int) -> list[BankRef]:
    """Return the banks of the tenant."""
    return [BankRef(TENANT, f"bank-{number:06d}") for number in range(banks)]


async def measure(settings: Settings, name: str, banks: int, queries: int) -> Figures:
    """Ask a store that holds the banks."""
    app = await App.open(settings, background=False)
    caller, asked = Caller(tenant=TENANT), made.questions(TENANT, 1_000, queries)
    label = f"recall.tenant.{banks}banks" + ("" if name == "sqlite" else f".{name}")
    figures: Figures = {}
    shares: list[float] = []
    try:
        vectors = await _all(app, refs_of(banks))
        for way in (Way.SIMILARITY, Way.TEMPORAL):
            what = label if way is Way.SIMILARITY else f"{label}.{way}"
            times, cpu = [], []
            for number, question in enumerate([asked[0], *asked]):
                begun, used = time.perf_counter(), time.process_time()
                done = await app.memories.strategies(
                    caller, question, [Search(way)], Asked(top_k=_TOP, reinforce=False)
                )
                times.append((time.perf_counter() - begun) * 1e3)
                cpu.append((time.process_time() - used) * 1e3)
                if number and way is Way.SIMILARITY:
                    best = await _best(app, question, vectors)
                    shares.append(sum(m.relevance >= best for m in done.memories) / _TOP)
            figures |= latency_figures(what, times[1:])
            figures |= {f"{what}.cpu_ms": statistics.median(cpu[1:]), f"{what}.first_ms": times[0]}
    finally:
        await app.close()
    return {**figures, f"{label}.found": statistics.mean(shares)}


async def _all(app: App, refs: Sequence[BankRef]) -> Floats:
    """Return the vectors of all memories of some banks."""
    found = []
    for start in range(0, len(refs), _PAGE):
        found += await app.store.bank_vectors(1, refs[start : start + _PAGE])
    return dequantise([Vector(codes, scale) for _, codes, scale in found])


async def _best(app: App, question: str, vectors: Floats) -> float:
    """Return how like a question the last of the best memories is, of all there are."""
    if app.embedder is None:
        raise RuntimeError("the bench needs an embedder")
    near = vectors @ await app.embedder.embed_query(question)
    return float(np.partition(near, -_TOP)[-_TOP]) - _ROUNDING


def run(options: argparse.Namespace) -> Figures:
    """Measure on each store that was asked for."""
    folder = options.data / f"tenant-{options.banks}x{options.units}"
    folder.mkdir(parents=True, exist_ok=True)
    here = Settings(data=folder, embedder=options.embedder)
    asyncio.run(stores.load(here, refs_of(options.banks), options.units))
    figures: Figures = {}
    if options.store != "postgres":
        figures |= asyncio.run(measure(here, "sqlite", options.banks, options.queries))
    if options.store != "sqlite":
        with stores.postgres("postgres") as url:
            there = Settings(data=options.data / "cache", store=url, embedder=options.embedder)
            move_store(here, there)
            figures |= asyncio.run(measure(there, "postgres", options.banks, options.queries))
    return figures


def main(argv: Sequence[str] | None = None) -> Figures:
    """Run from the command line."""
    parser = report.parser(
        "tenants", __doc__ or "", "python -m bench.tenants --banks 10000 --json tenants.json"
    )
    parser.add_argument("--banks", type=int, default=10_000, help="banks of the tenant")
    parser.add_argument("--units", type=int, default=10, help="memories of each bank")
    parser.add_argument("--queries", type=int, default=100, help="questions, all distinct")
    parser.add_argument("--embedder", default=EMBEDDER, help="makes the vectors")
    parser.add_argument("--data", type=Path, default=DATA, help="where the made stores are kept")
    parser.add_argument("--store", choices=("sqlite", "postgres", "both"), default="both")
    options = parser.parse_args(argv)
    figures = run(options)
    report.show_latency("tenants", figures)
    report.write(options.json, figures)
    return figures


if __name__ == "__main__":
    main()
