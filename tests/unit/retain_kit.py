"""What the tests of retain share: an open memory, and what is stored of a document."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from remembrancer.app import App
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.memory import BankRef, Document, Layer, Unit, UnitRow
from remembrancer.settings import Settings
from remembrancer.verbs.retaining.units import Item

REF = BankRef("default", "bank")
NOW = 1_780_000_000_000_000


@dataclass
class Stored:
    """A document as it stands in the store."""

    document: Document
    text: str
    sources: list[UnitRow]
    facts: list[Unit]

    @property
    def ids(self) -> dict[str, bytes]:
        return {row.unit.text: row.unit.id for row in self.sources}


@asynccontextmanager
async def opened(folder: Path, **settings: Any) -> AsyncIterator[App]:
    """Open a memory whose clock stands still unless it is moved."""
    config = Settings(data=folder, **{"embedder": "hash:64", **settings})
    app = await App.open(config, clock=FixedClock(NOW), background=False)
    try:
        yield app
    finally:
        await app.close()


async def stored(app: App, name: str, ref: BankRef = REF) -> Stored:
    async with app.store.snapshot(ref) as view:
        document = await view.document(name)
        assert document is not None
        units = await view.sources_of(document.id)
        rows = await view.rows([u.id for u in units])
        facts = [u for u in await view.units_of(document.id) if u.layer is Layer.FACT]
        text = "".join(chunk.text for chunk in await view.chunks(document.id))
    return Stored(document, text, rows, facts)


def item(content: str, name: str | None = "d", **more: Any) -> Item:
    return Item(content, document=name, **more)


def talk(*words: str) -> str:
    """A chat of two, one line each."""
    return "\n".join(f"{'Ann' if i % 2 == 0 else 'Bob'}: {said}" for i, said in enumerate(words))


LINES = tuple(
    f"I moved to {place} with my {who} in the year {1990 + i}, and I like it a lot."
    for i, (place, who) in enumerate(
        (p, w)
        for p in ("Lisbon", "Oslo", "Turin", "Ghent", "Porto", "Malmo", "Graz", "Lyon", "Bonn")
        for w in ("sister", "brother", "cousin", "uncle", "aunt", "nephew", "niece")
    )
)
"""Turns that each say a fact."""
