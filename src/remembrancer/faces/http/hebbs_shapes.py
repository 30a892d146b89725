"""HEBBS's words on the HTTP wire: memories, why they were found, kinds, links, entities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field

from ...nouns.caller import Caller
from ...nouns.errors import InvalidInput
from ...nouns.ids import parse_id
from ...nouns.memory import BankRef, LinkType
from ...nouns.names import UNNAMED
from ...verbs.lookup import Kept, Lookup
from ...verbs.recalling.origins import Origin
from ...verbs.recalling.searches import Detail, Reached
from ...verbs.tenant_banks import unnamed_of
from .body import Wire
from .prime import KINDS, Int64

_ORIGINS = {name: origin for origin, name in KINDS.items()}
_KIND_PREFIX, _EDGE_PREFIX = "memory_kind_", "edge_type_"
_DIGITS = 6  # of what falls with time: a second takes less away

MemoryId = Annotated[str, Field(description="32 hex digits, a UUID, or 26 Crockford characters.")]
EntityId = Annotated[
    str | None, Field(description="Entity (bank); without one, the memories that belong to none.")
]


class Edge(Wire):
    """A link to another memory of the entity."""

    target_id: MemoryId
    edge_type: str = Field(description="caused_by, related_to, followed_by, and so on.")
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0


class Span(Wire):
    """A period, in microseconds since 1970; its end is not part of it."""

    start_us: Int64 | None = None
    end_us: Int64 | None = None
    start: Int64 | None = Field(None, description="Another name of `start_us`.")
    end: Int64 | None = Field(None, description="Another name of `end_us`.")

    @property
    def first(self) -> int | None:
        """Where it begins."""
        return self.start if self.start_us is None else self.start_us

    @property
    def last(self) -> int | None:
        """Where it ends."""
        return self.end if self.end_us is None else self.end_us


class HebbsMemory(BaseModel):
    """One memory. Times are microseconds since 1970; those with two names are given by both."""

    memory_id: str = Field(description="32 hex digits.")
    content: str
    importance: float
    decay_score: float = Field(description="What it is worth now: unused, it loses importance.")
    entity_id: str | None
    kind: str = Field(description="episode, revision, document, proposition or insight.")
    access_count: int
    created_at_us: int
    last_accessed_at_us: int
    context: dict[str, Any]
    file_path: str | None = Field(None, description="Always null: nothing here is a file.")
    created_at: int
    updated_at: int
    last_accessed_at: int
    said_at_us: int
    speaker: str | None
    role: str
    note: str | None
    tags: list[str]
    metadata: dict[str, str]
    logical_clock: int = Field(description="How often it was corrected.")
    source_memory_ids: list[str] = Field(
        [], description="What it was derived from; left out of what was not derived."
    )


class RecallDetail(BaseModel):
    """Why a memory was found, by one strategy; what does not belong to it is left out."""

    strategy: str
    relevance: float
    distance: float | None = None
    timestamp: int | None = None
    rank: int | None = None
    depth: int | None = None
    edge_type: str | None = None
    seed_id: str | None = None
    embedding_similarity: float | None = None
    structural_similarity: float | None = None


class RecallItem(HebbsMemory):
    """A memory and its score; the memory stands under `memory` as well."""

    memory: HebbsMemory
    score: float
    relevance: float
    strategy_details: list[RecallDetail]


async def memories_of(lookup: Lookup, kept: Sequence[Kept]) -> list[dict[str, Any]]:
    """Return memories of one tenant as `HebbsMemory` has them."""
    worth = await lookup.worth(kept)
    return [_memory(each, value) for each, value in zip(kept, worth, strict=True)]


async def memory_of(lookup: Lookup, kept: Kept) -> dict[str, Any]:
    """Return a memory as `HebbsMemory` has it."""
    return (await memories_of(lookup, [kept]))[0]


async def items_of(lookup: Lookup, found: Sequence[Reached]) -> list[dict[str, Any]]:
    """Return what a recall reached as `RecallItem` has it."""
    memories = await memories_of(lookup, [each.kept for each in found])
    return [
        memory
        | {
            "memory": memory,
            "score": round(each.score, _DIGITS),
            "relevance": each.relevance,
            "strategy_details": [_detail(detail) for detail in each.details],
        }
        for memory, each in zip(memories, found, strict=True)
    ]


def _memory(kept: Kept, worth: float) -> dict[str, Any]:
    unit, used = kept.unit, kept.used_at
    told = {
        "memory_id": unit.id.hex(),
        "content": unit.text,
        "importance": unit.importance,
        "decay_score": round(worth, _DIGITS),
        "entity_id": entity_of(kept.ref),
        "kind": KINDS[kept.origin],
        "access_count": unit.access_count,
        "created_at_us": unit.created_at,
        "last_accessed_at_us": used,
        "context": unit.attributes or {},
        "file_path": None,
        "created_at": unit.created_at,
        "updated_at": unit.created_at if unit.updated_at is None else unit.updated_at,
        "last_accessed_at": used,
        "said_at_us": unit.mentioned_at,
        "speaker": unit.speaker,
        "role": unit.role.name.lower(),
        "note": unit.note,
        "tags": list(unit.tags),
        "metadata": unit.metadata or {},
        "logical_clock": kept.edits,
    }
    if kept.basis:
        told["source_memory_ids"] = [each.hex() for each in kept.basis]
    return told


def _detail(detail: Detail) -> dict[str, Any]:
    told = {
        "strategy": detail.way.value,
        "relevance": detail.relevance,
        "distance": detail.distance,
        "timestamp": detail.timestamp,
        "rank": detail.rank,
        "depth": detail.depth,
        "edge_type": None if detail.link_type is None else detail.link_type.value,
        "seed_id": None if detail.seed is None else detail.seed.hex(),
        "embedding_similarity": detail.embedding_similarity,
        "structural_similarity": detail.structural_similarity,
    }
    return {name: value for name, value in told.items() if value is not None}


def ids_of(texts: Sequence[str], field: str) -> tuple[bytes, ...]:
    """Return ids, each one once.

    Raises:
        InvalidInput: one is none.
    """
    return tuple(dict.fromkeys(parse_id(text, field) for text in texts))


def bank_of(caller: Caller, entity: str | None) -> BankRef | None:
    """Return the bank of an entity; None for none, or an empty one."""
    return caller.bank(entity, "entity_id") if entity else None


def home_of(caller: Caller, entity: str | None) -> BankRef:
    """Return the bank to keep a memory in: that of its entity, or that of those without.

    Raises:
        Forbidden: the key does not reach it.
    """
    return caller.bank(entity, "entity_id") if entity else unnamed_of(caller)


def entity_of(ref: BankRef) -> str | None:
    """Return the entity that a bank is; None for that of memories without."""
    return None if ref.bank == UNNAMED else ref.bank


def origin_named(kind: str | None, field: str) -> Origin | None:
    """Return the origin that a kind means; None for none.

    Raises:
        InvalidInput: there is no such kind.
    """
    if kind is None:
        return None
    found = _ORIGINS.get(kind.lower().removeprefix(_KIND_PREFIX))
    if found is None:
        raise InvalidInput(f"{field} must be one of {', '.join(_ORIGINS)}", field=field)
    return found


def link_type(name: str, field: str) -> LinkType:
    """Return the link type of a name.

    Raises:
        InvalidInput: there is none.
    """
    try:
        return LinkType(name.lower().removeprefix(_EDGE_PREFIX))
    except ValueError:
        known = ", ".join(each.value for each in LinkType)
        raise InvalidInput(f"{field} must be one of {known}", field=field) from None
