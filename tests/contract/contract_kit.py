"""What the contract tests share: a maker of nouns and fixed numbers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from remembrancer.keeping.batch import Batch, DocumentWrite, EntityMention
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import (
    BankRef,
    Chunk,
    Document,
    Entity,
    Job,
    JobState,
    Layer,
    Unit,
    UnitRow,
    Vector,
)

NOW = 1_700_000_000_000_000
DIM = 8


@dataclass
class Maker:
    """Makes nouns with rising ids and times."""

    clock: FixedClock
    random: random.Random = field(default_factory=lambda: random.Random(7))
    count: int = 0

    def __post_init__(self) -> None:
        self.ids = IdMaker(self.clock, self.random.randbytes)

    def vector(self) -> Vector:
        return Vector(self.random.randbytes(DIM), 0.5 + self.random.random())

    def row(self, text: str = "some words", *, embedded: bool = False, **more: Any) -> UnitRow:
        self.count += 1
        unit_id = more.pop("id", None) or self.ids.new()
        terms = more.pop("terms", text.encode())
        window_terms = more.pop("window_terms", terms)
        vectors = (self.vector(), self.vector()) if embedded else (None, None)
        more.setdefault("mentioned_at", NOW + self.count)
        unit = Unit(unit_id, more.pop("layer", Layer.SOURCE), text, NOW + self.count, **more)
        return UnitRow(unit, terms, window_terms, *vectors)

    def rows(self, number: int, **more: Any) -> list[UnitRow]:
        return [self.row(f"text {n}", **more) for n in range(number)]

    def document(self, name: str, texts: Sequence[str], **more: Any) -> Batch:
        """One document with one chunk, whose sentences are its sources."""
        document_id = more.pop("id", None) or self.ids.new()
        text = " ".join(texts)
        document = Document(
            document_id, name, f"hash of {text}", NOW, NOW + self.count, len(text), **more
        )
        units, at = [], 0
        for turn, part in enumerate(texts):
            span = {"start": at, "end": at + len(part)}
            units.append(self.row(part, document_id=document_id, turn=turn, **span))
            at += len(part) + 1
        return Batch(documents=[DocumentWrite(document, [Chunk(0, text)])], units=units)

    def mention(self, name: str, *rows: UnitRow, **more: Any) -> EntityMention:
        return EntityMention(Entity(self.ids.new(), name, **more), [row.unit.id for row in rows])

    def job(self, ref: BankRef, kind: str = "read", **more: Any) -> Job:
        self.count += 1
        at = NOW + self.count
        return Job(self.ids.new(), ref, kind, JobState.PENDING, at, at, **more)


def ids_of(rows: Sequence[Any]) -> list[bytes]:
    """Return the ids of units, unit rows or index rows."""
    return [getattr(getattr(row, "unit", row), "id", None) or row.unit_id for row in rows]
