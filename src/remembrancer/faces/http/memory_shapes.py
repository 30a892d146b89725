"""How browsed memories are written: as listed, and one in detail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from ...nouns.ids import to_uuid
from ...nouns.memory import BankRef, Kind, Link, Polarity, Unit
from ...verbs.browse import Detail, Shown
from .moments import spell


class ShownFact(BaseModel):
    """A statement read from a memory; its text stands there word for word unless corrected."""

    id: str
    text: str
    subject: str | None
    negated: bool
    modality: str
    occurred_start: str | None
    occurred_end: str | None
    valid_from: str | None = Field(description="Since when it holds, where that is known.")
    valid_until: str | None = Field(description="When it ceased to hold; null: it holds.")
    entities: list[str]
    start: int = Field(description="Where it stands in its memory's text, in characters.")
    end: int
    state: str


class _Memory(BaseModel):
    id: str
    text: str
    context: str | None
    date: str | None
    document_id: str | None
    mentioned_at: str | None
    occurred_start: str | None
    occurred_end: str | None
    chunk_id: str | None
    proof_count: int
    tags: list[str]
    metadata: dict[str, str]
    consolidated_at: str | None = None
    consolidation_failed_at: str | None = None
    state: str
    invalidation_reason: str | None
    invalidated_at: str | None
    edited_at: str | None
    updated_at: str | None
    source_memory_ids: list[str]
    layer: str = Field(description="source (verbatim), fact (read from one), or observation.")
    source_id: str | None = Field(description="Of a fact: the memory that it was read from.")
    speaker: str | None
    role: str
    turn: int
    same_ids: list[str] = Field(description="The others that say the same.")
    facts: list[ShownFact]


class ListedMemory(_Memory):
    """A memory as listed."""

    fact_type: str
    entities: str = Field(description="Names, joined by commas.")


class ListMemoryUnitsResponse(BaseModel):
    """Memories by when they were said, newest first."""

    items: list[ListedMemory]
    total: int
    limit: int
    offset: int


class HistoryEntry(BaseModel):
    """What was done to a memory, when and why, and what stood there before."""

    action: str = Field(description="edit, invalidate or revive.")
    changed_at: str | None
    reason: str | None
    previous_text: str | None = Field(description="When the text was changed.")
    previous: dict[str, Any] = Field(description="The former values of what was changed.")


class MemoryLink(BaseModel):
    """A stored link of a memory or of a fact read from it."""

    type: str
    source: str
    target: str
    weight: float


class AroundMemory(BaseModel):
    """A memory that another one comes from."""

    id: str
    text: str
    type: str
    context: str | None
    mentioned_at: str | None
    occurred_start: str | None
    occurred_end: str | None


class MemoryResponse(_Memory):
    """One memory with what stands around it."""

    type: str
    entities: list[str]
    observation_scopes: str | list[list[str]] | None = None
    start: int = Field(description="Where it stands: a fact in its source, a source in its chunk.")
    end: int
    source: AroundMemory | None = Field(description="Of a fact: the memory it was read from.")
    source_memories: list[AroundMemory] = Field(description="What an observation comes from.")
    links: list[MemoryLink]
    history: list[HistoryEntry]


def listed(bank: BankRef, shown: Shown) -> ListedMemory:
    """Write a memory for a list."""
    return ListedMemory(
        **_common(bank, shown),
        fact_type=shown.unit.kind.name.lower(),
        entities=", ".join(shown.entities),
    )


def detailed(bank: BankRef, detail: Detail, history: Sequence[Mapping[str, Any]]) -> MemoryResponse:
    """Write one memory with what stands around it."""
    unit = detail.shown.unit
    return MemoryResponse(
        **_common(bank, detail.shown),
        type=unit.kind.name.lower(),
        entities=list(detail.shown.entities),
        start=unit.start,
        end=unit.end,
        source=_around(detail.source) if detail.source else None,
        source_memories=[_around(each) for each in detail.basis],
        links=[link_of(link) for link in detail.links],
        history=[told(each, unit.offset_min) for each in history],
    )


def told(entry: Mapping[str, Any], offset_min: int | None) -> HistoryEntry:
    """Write one entry of a history."""
    was = dict(entry["was"])
    previous: dict[str, Any] = {}
    for name, value in was.items():
        match name:
            case "kind":
                previous["fact_type"] = Kind(value).name.lower()
            case "note":
                previous["context"] = value
            case "occurred_start" | "occurred_end":
                previous[name] = spell(value, offset_min)
            case _:
                previous[name] = value
    return HistoryEntry(
        action=entry["action"],
        changed_at=spell(entry["at"]),
        reason=entry["reason"],
        previous_text=was.get("text"),
        previous=previous,
    )


def link_of(link: Link) -> MemoryLink:
    """Write a link."""
    return MemoryLink(
        type=link.type.value,
        source=to_uuid(link.source),
        target=to_uuid(link.target),
        weight=link.weight,
    )


def chunk_id(bank: str, document: str, index: int) -> str:
    """Return the wire's name of a chunk."""
    return f"{bank}_{document}_{index}"


def _common(bank: BankRef, shown: Shown) -> dict[str, Any]:
    unit, offset = shown.unit, shown.unit.offset_min
    data = shown.curation.data if shown.curation else {}
    name = shown.document
    happened = unit.mentioned_at if unit.occurred_start is None else unit.occurred_start
    return {
        "id": to_uuid(unit.id),
        "text": unit.text,
        "context": unit.note,
        "date": spell(happened, offset),
        "document_id": name,
        "mentioned_at": spell(unit.mentioned_at, offset),
        "occurred_start": spell(unit.occurred_start, offset),
        "occurred_end": spell(unit.occurred_end, offset),
        "chunk_id": None if name is None else chunk_id(bank.bank, name, unit.chunk_index),
        "proof_count": shown.proof_count,
        "tags": list(unit.tags),
        "metadata": dict(unit.metadata or {}),
        "state": _state(shown),
        "invalidation_reason": data.get("reason"),
        "invalidated_at": spell(data.get("invalidated_at")),
        "edited_at": spell(data.get("edited_at")),
        "updated_at": spell(unit.created_at if unit.updated_at is None else unit.updated_at),
        "source_memory_ids": [to_uuid(i) for i in shown.basis],
        "layer": unit.layer.name.lower(),
        "source_id": to_uuid(unit.source_id) if unit.source_id else None,
        "speaker": unit.speaker,
        "role": unit.role.name.lower(),
        "turn": unit.turn,
        "same_ids": [to_uuid(i) for i in shown.same_ids],
        "facts": [_fact(f) for f in shown.facts],
    }


def _fact(shown: Shown) -> ShownFact:
    unit = shown.unit
    return ShownFact(
        id=to_uuid(unit.id),
        text=unit.text,
        subject=unit.subject,
        negated=unit.polarity is Polarity.NEGATED,
        modality=unit.modality.value,
        occurred_start=spell(unit.occurred_start, unit.offset_min),
        occurred_end=spell(unit.occurred_end, unit.offset_min),
        valid_from=spell(unit.valid_from, unit.offset_min),
        valid_until=spell(unit.valid_until, unit.offset_min),
        entities=list(shown.entities),
        start=unit.start,
        end=unit.end,
        state=_state(shown),
    )


def _around(unit: Unit) -> AroundMemory:
    return AroundMemory(
        id=to_uuid(unit.id),
        text=unit.text,
        type=unit.kind.name.lower(),
        context=unit.note,
        mentioned_at=spell(unit.mentioned_at, unit.offset_min),
        occurred_start=spell(unit.occurred_start, unit.offset_min),
        occurred_end=spell(unit.occurred_end, unit.offset_min),
    )


def _state(shown: Shown) -> str:
    return "invalidated" if shown.invalid else "valid"
