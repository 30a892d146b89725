"""A memory with a clock that stands still, and sources put into it as told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from remembrancer.app import App
from remembrancer.finding.terms import Analyzer, pack
from remembrancer.keeping.batch import Batch
from remembrancer.models.vectors import quantise
from remembrancer.nouns.clock import DAY_US, FixedClock
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import BankRef, Layer, Unit, UnitRow
from remembrancer.settings import Settings
from remembrancer.verbs.prime import Context, PrimeOptions

NOW = 1_750_000_000_000_000  # 2025-06-15T15:06:40Z
REF = BankRef("default", "ann")
IDS = IdMaker(FixedClock(NOW))
ANALYZER = Analyzer()


@asynccontextmanager
async def opened(folder: Path, **settings: Any) -> AsyncIterator[App]:
    """Open a memory whose vectors are hashes: only the same text is alike."""
    values = {"data": folder, "embedder": "hash:64", "worker": False, **settings}
    app = await App.open(Settings(**values), clock=FixedClock(NOW), background=False)
    try:
        yield app
    finally:
        await app.close()


async def put(
    app: App, *texts: str, days: float = 0, ref: BankRef = REF, **more: Any
) -> list[Unit]:
    """Keep sources that were said so many days ago, one a second, the last one the latest."""
    assert app.embedder is not None
    last = NOW - int(days * DAY_US)
    values = {"layer": Layer.SOURCE, **more}
    units = [
        Unit(
            IDS.new(),
            text=text,
            created_at=last - (len(texts) - 1 - i) * 1_000_000,
            mentioned_at=last - (len(texts) - 1 - i) * 1_000_000,
            **values,
        )
        for i, text in enumerate(texts)
    ]
    vectors = quantise(await app.embedder.embed([u.text for u in units]))
    rows = [
        UnitRow(u, pack(ANALYZER.terms(u.text)), vector=v)
        for u, v in zip(units, vectors, strict=True)
    ]
    await app.store.apply(ref, Batch(units=rows))
    return units


async def primed(app: App, ref: BankRef = REF, **options: Any) -> Context:
    """Prime without counting it as a use."""
    return await app.prime(ref, PrimeOptions(**{"reinforce": False, **options}))


def texts(context: Context) -> list[str]:
    """Return the texts in order."""
    return [m.unit.text for m in context.memories]


def counts(context: Context) -> tuple[int, int]:
    """Return how many each strategy gave; they must add up."""
    assert context.temporal_count + context.similarity_count == len(context.memories)
    assert len({m.unit.id for m in context.memories}) == len(context.memories)
    return context.temporal_count, context.similarity_count


def numbered(prefix: str, count: int) -> Sequence[str]:
    """Return texts that differ."""
    return [f"{prefix} number {n}" for n in range(count)]
