"""What one write of a bank holds, and what it did."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..nouns.memory import (
    BankRef,
    Chunk,
    Curation,
    Document,
    Entity,
    Job,
    Link,
    Unit,
    UnitRow,
    Vector,
)
from .intentions import IntentionBatch
from .records import Blob, Record


@dataclass(frozen=True, slots=True)
class KeptUnit:
    """A source of a stored document that stays, as it stands from now on.

    Of `unit` are written: `chunk_index`, `turn`, `part`, `start`, `end`, `mentioned_at`,
    `previous_id`, `note`, `metadata`, `tags`, `entities`. What was read from it moves along and is
    told the same, but for its own span and entities. A name that has left `entities` is mentioned
    no more, unless it stands in the text or speaks.

    `window_terms`: given when the window has changed. The window vector is the unit's own until
    another one comes (see `Batch.windows`). `same`: the keys of what it and the facts read from it
    say (see `UnitRow.same`), by unit, where they have changed.
    """

    unit: Unit
    window_terms: bytes | None = None
    same: Mapping[bytes, bytes | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentWrite:
    """A document to put; one of the same name is replaced with all its units.

    What the stored one may keep, when `document.id` is its id (its `created_at` stays, too):

    * `keep`: the sources, by id, that stay as they are with what was read from them;
    * `moved`: those that stay at another place, or told differently;
    * `extends`: everything; `chunks` come beside those that are there.

    A chunk whose text is there already is not written.

    `expect_hash`: when given, the write is refused with `Conflict` unless the stored document of
    that name has this content hash (empty string: unless there is none).
    """

    document: Document
    chunks: Sequence[Chunk]
    expect_hash: str | None = None
    keep: Collection[bytes] = ()
    moved: Sequence[KeptUnit] = ()
    extends: bool = False


class VectorPatch(NamedTuple):
    """Vectors for a unit that exists; silently dropped when the unit is gone by then."""

    unit_id: bytes
    vector: Vector
    window_vector: Vector | None


class WindowPatch(NamedTuple):
    """A window vector for a unit that has a vector; silently dropped when it has none."""

    unit_id: bytes
    window_vector: Vector


class Reading(NamedTuple):
    """What a batch of things read from a document rests on.

    `token` is one of the document's `params["reading"]`: who replaces the document takes it out
    and reads what is still unread. `done` takes it out.
    """

    document_id: bytes
    token: str
    content_hash: str
    done: bool = False


class Retag(NamedTuple):
    """New tags for a document of this name and for all its units; left out when it is gone.

    `same`: what its units say with these tags (see `UnitRow.same`), by id. One that has a key and
    is not named here says the same as nothing until it is put again.
    """

    document: str
    tags: tuple[str, ...]
    same: Mapping[bytes, bytes] = {}


@dataclass(frozen=True, slots=True)
class EntityMention:
    """An entity and the units that mention it.

    The entity is found in the bank by its name or an alias (names with the same
    `nouns.folding.fold_name` are the same), else made. Where the units' `entities` hold the name
    given here or one of `spellings`, they get the entity's canonical name instead.
    """

    entity: Entity
    unit_ids: Sequence[bytes]
    spellings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class EntityMerge:
    """Make other entities part of one: their mentions move, their names become its aliases."""

    entity_id: bytes
    merged: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class EntitySplit:
    """Move the mentions of an entity by some units, and by what was read from them, to another one.

    `to` is found by its name, else made; a name that is an alias of the first is so no more.
    Units that do not mention the first one are left alone.
    """

    entity_id: bytes
    to: Entity
    unit_ids: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class EntityChange:
    """Change what an entity is called; None leaves as it is.

    `aliases` are all that it has from then on; without them it keeps those that it has, and an
    older name becomes one. Then come `add` and `drop`.
    """

    entity_id: bytes
    name: str | None = None
    aliases: Sequence[str] | None = None
    kind: str | None = None
    add: Sequence[str] = ()
    drop: Sequence[str] = ()


EntityEdit = EntityMerge | EntitySplit | EntityChange
"""What people do to entities. It raises `NotFound` for an entity that is not there, `Conflict` for
a name that another entity has, and `InvalidInput` when an entity is to be merged into itself or
split from its own name."""


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

    Order of work: documents (replacing), `erase_documents`, `erase`, `moved`, `unlink`, `retag`,
    `units` (insert or replace), `vectors`, `windows`, `curations`, `mentions`, `entity_edits`,
    `links`, `future`, `jobs`, `triggers`, `erase_records`, `records`, `erase_blobs`, `blobs`.

    Of `future`, jobs and records are left aside: the batch has its own. What it puts for one of
    `units` stays, with its occurrences, when the unit that it was read from goes.
    Erasing a unit also erases the facts read from it and, to any depth, the observations that an
    `INSIGHT_FROM` link leads from to it (replacing its document does so, too), its vectors, links
    and mentions, takes its words out of its chunk (each character becomes `nouns.text.REDACTED`, so
    offsets stay), gives its document another content hash that is none of a text, and resets the
    window of the sources said after it (up to two turns on) to their own words and vector. Keys of
    the source said next in its document, and of its facts, that lean on what was said before are
    dropped (see `UnitRow.same`).
    It also drops the bank's values under `records.COPIES`, for they hold texts.
    Units that were `moved` to another bank are erased likewise, but for the observations that rest
    on others of this bank as well: they stay, and lose their link.
    Units with other tags than before do not say the same as those that kept them: `retag` brings
    their `same`; one that had none gets none.
    A curation of a unit that is gone is left out; one that exists is replaced.
    A unit whose `source_id` names no unit (it was erased meanwhile) is silently left out.
    `vectors` and `windows` are of `generation` (0: the active one); when that is not the active
    one any more, they are silently left out, and the units wait for the new embedder.
    An entity goes when nobody mentions it any more. One that people gave aliases stays, so that a
    document may be replaced without losing them, unless its last mention was erased.
    A batch that would change nothing leaves the revision as it is.

    A job whose id is known is left as it is, with its children; `Conflict` when another bank of the
    tenant has it. Erasing a document cancels the open jobs of that document and drops what they
    hold; erasing a unit drops what ended jobs of its document hold (open ones: when they end).

    `expect_revision`: refused with `Conflict` unless the bank stands at this revision.
    `fence`: refused with `Conflict` unless that job still holds its lease under that fence.
    `reading`: refused with `Conflict` unless the document is there with that hash and token.
    """

    documents: Sequence[DocumentWrite] = ()
    erase_documents: Sequence[str] = ()  # by name
    erase: Sequence[bytes] = ()
    moved: Sequence[bytes] = ()
    unlink: Sequence[bytes] = ()  # units that lose all links
    retag: Sequence[Retag] = ()
    units: Sequence[UnitRow] = ()
    vectors: Sequence[VectorPatch] = ()
    windows: Sequence[WindowPatch] = ()
    curations: Sequence[Curation] = ()
    mentions: Sequence[EntityMention] = ()
    entity_edits: Sequence[EntityEdit] = ()
    links: Sequence[Link] = ()
    future: IntentionBatch | None = None
    jobs: Sequence[Job] = ()
    triggers: Sequence[Trigger] = ()
    erase_records: Sequence[tuple[str, str]] = ()  # by kind and key
    records: Sequence[Record] = ()
    erase_blobs: Sequence[str] = ()  # all values whose key begins so
    blobs: Sequence[Blob] = ()
    expect_revision: int | None = None
    fence: tuple[bytes, int] | None = None
    reading: Reading | None = None
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Applied:
    """What a batch did: the bank's revision after it, and the ids of the units that went."""

    revision: int
    erased: tuple[bytes, ...] = ()  # by `erase`, `moved` and `erase_documents`, with cascades
    replaced: tuple[bytes, ...] = ()  # by documents put again
