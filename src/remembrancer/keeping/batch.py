"""What one write of a bank holds, and what it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..nouns.memory import BankRef, Chunk, Curation, Document, Entity, Job, Link, UnitRow, Vector
from .records import Record


@dataclass(frozen=True, slots=True)
class DocumentWrite:
    """A document to put; one of the same name is replaced with all its units.

    `expect_hash`: when given, the write is refused with `Conflict` unless the stored document of
    that name has this content hash (empty string: unless there is none).
    """

    document: Document
    chunks: Sequence[Chunk]
    expect_hash: str | None = None


class VectorPatch(NamedTuple):
    """Vectors for a unit that exists; silently dropped when the unit is gone by then."""

    unit_id: bytes
    vector: Vector
    window_vector: Vector | None


@dataclass(frozen=True, slots=True)
class EntityMention:
    """An entity (found by its exact name in the bank, else made) and the units that mention it."""

    entity: Entity
    unit_ids: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Trigger:
    """Something that becomes due at a time. `due_at` in microseconds."""

    id: bytes
    ref: BankRef
    due_at: int
    payload: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Batch:
    """One write: everything in it commits together or not at all.

    Order of work: documents (replacing), `erase_documents`, `erase`, `units` (insert or replace),
    `vectors`, `curations`, `mentions`, `links`, `jobs`, `triggers`, `erase_records`, `records`.

    Erasing a unit also erases the facts read from it, its vectors, links and mentions, takes its
    words out of its chunk (each character becomes U+2588, so offsets stay), and resets the window
    of the sources said after it (up to two turns on) to their own words and vector.
    A curation of a unit that is gone is left out; one that exists is replaced.
    A unit whose `source_id` names no unit (it was erased meanwhile) is silently left out.
    `vectors` are of `generation` (0: the active one); when that is not the active one any more,
    they are silently left out, and the units wait for the new embedder.
    A batch that would change nothing leaves the revision as it is.

    `expect_revision`: refused with `Conflict` unless the bank stands at this revision.
    `fence`: refused with `Conflict` unless that job still holds its lease under that fence.
    """

    documents: Sequence[DocumentWrite] = ()
    erase_documents: Sequence[str] = ()  # by name
    erase: Sequence[bytes] = ()
    units: Sequence[UnitRow] = ()
    vectors: Sequence[VectorPatch] = ()
    curations: Sequence[Curation] = ()
    mentions: Sequence[EntityMention] = ()
    links: Sequence[Link] = ()
    jobs: Sequence[Job] = ()
    triggers: Sequence[Trigger] = ()
    erase_records: Sequence[tuple[str, str]] = ()  # by kind and key
    records: Sequence[Record] = ()
    expect_revision: int | None = None
    fence: tuple[bytes, int] | None = None
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Applied:
    """What a batch did: the bank's revision after it, and the ids of the units that went."""

    revision: int
    erased: tuple[bytes, ...] = ()  # by `erase` and `erase_documents`, cascades included
    replaced: tuple[bytes, ...] = ()  # by documents put again
