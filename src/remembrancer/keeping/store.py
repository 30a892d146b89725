"""The Store protocol: everything the rest of the house may ask of a database.

A store keeps rows; it knows nothing of reading, ranking or models. Three rules hold for each:

* Every call about memories names a `BankRef`; no row of another bank or tenant can be reached
  through it. That is enforced here, not by callers.
* `apply` is the only write of memories: one `Batch`, one transaction, one new bank revision,
  durable (fsynced) when it returns.
* Reads of one question go through one `View`, a snapshot: what it shows belongs together.

`tests/contract/` is the one suite that any Store must pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from ..nouns.memory import (
    Bank,
    BankRef,
    Change,
    Chunk,
    Document,
    Entity,
    Job,
    JobState,
    Layer,
    Link,
    LinkType,
    Unit,
    UnitRow,
    Vector,
)

T = TypeVar("T")


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
    `vectors`, `mentions`, `links`, `jobs`, `triggers`.

    Erasing a unit also erases the facts read from it, its vectors, links and mentions, takes its
    words out of its chunk (each character becomes U+2588, so offsets stay), and resets the window
    of the sources said after it (up to two turns on) to their own words and vector.
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
    mentions: Sequence[EntityMention] = ()
    links: Sequence[Link] = ()
    jobs: Sequence[Job] = ()
    triggers: Sequence[Trigger] = ()
    expect_revision: int | None = None
    fence: tuple[bytes, int] | None = None
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Applied:
    """What a batch did: the bank's revision after it, and the ids of the units that went."""

    revision: int
    erased: tuple[bytes, ...] = ()  # by `erase` and `erase_documents`, cascades included
    replaced: tuple[bytes, ...] = ()  # by documents put again


class IndexRow(NamedTuple):
    """What the bank index is built from: one unit without its text.

    Units with a `source_id` (facts of a source) have none: they are found through their source.

    `codes`/`window_codes` are int8 components of the store's active generation, None until
    embedded.
    """

    unit_id: bytes
    layer: int
    kind: int
    source_id: bytes | None
    speaker: str | None
    role: int
    mentioned_at: int
    occurred_start: int | None
    occurred_end: int | None
    tags: tuple[str, ...]
    terms: bytes
    window_terms: bytes
    codes: bytes | None
    scale: float
    window_codes: bytes | None
    window_scale: float


class ChangePage(NamedTuple):
    """Changes after a revision, oldest first; `complete` when none is left after them."""

    changes: list[Change]
    complete: bool


class Recalled(NamedTuple):
    """A unit as an answer needs it: with the facts read from it and its document's name."""

    unit: Unit
    facts: tuple[Unit, ...]
    document: str | None


class PendingUnit(NamedTuple):
    """A unit that the active embedder has not embedded yet."""

    ref: BankRef
    unit_id: bytes


@dataclass(frozen=True, slots=True)
class Generation:
    """One embedding model's vectors in a store; vectors of two generations are never mixed.

    `fingerprint` is the embedder's identity: model, file hash, dimension, pooling, prefix.
    """

    number: int
    fingerprint: Mapping[str, Any]
    active: bool


class Reader(Protocol):
    """A snapshot for work that runs in the thread that holds it; see `Store.read`.

    Its methods return what those of `View` return, and block.
    """

    @property
    def revision(self) -> int:
        """The bank's revision in this snapshot."""
        ...

    @property
    def generation(self) -> int:
        """Number of the active embedding generation in this snapshot; 0 when there is none."""
        ...

    def units(self, ids: Sequence[bytes]) -> list[Unit]:
        """As `View.units`."""
        ...

    def recalled(self, ids: Sequence[bytes]) -> list[Recalled]:
        """As `View.recalled`."""
        ...

    def newest(
        self, limit: int, *, layer: Layer | None = None, until: int | None = None
    ) -> list[Unit]:
        """As `View.newest`."""
        ...


class View(Protocol):
    """One snapshot of one bank. A bank that does not exist reads as empty, revision 0."""

    @property
    def revision(self) -> int:
        """The bank's revision in this snapshot."""
        ...

    @property
    def generation(self) -> int:
        """Number of the active embedding generation in this snapshot; 0 when there is none."""
        ...

    async def run(self, work: Callable[[Reader], T]) -> T:
        """Run work on this snapshot, in the thread that holds it; the event loop goes on."""
        ...

    async def changes(self, after: int, limit: int = 10_000) -> ChangePage | None:
        """Return the feed after revision `after`, or None when it no longer reaches that far.

        A page holds whole revisions: `limit` is exceeded rather than cutting one in two.
        """
        ...

    async def index_rows(self, ids: Sequence[bytes]) -> list[IndexRow]:
        """Return the index rows of `ids` in id order; missing ones are left out."""
        ...

    async def scan(self, after: bytes = b"", limit: int = 5_000) -> list[IndexRow]:
        """Return the next index rows in id order after `after`."""
        ...

    async def units(self, ids: Sequence[bytes]) -> list[Unit]:
        """Return units in the order of `ids`; missing ones are left out."""
        ...

    async def rows(self, ids: Sequence[bytes]) -> list[UnitRow]:
        """Return units with terms and vectors, in the order of `ids`; missing ones left out."""
        ...

    async def facts_of(self, source_ids: Sequence[bytes]) -> list[Unit]:
        """Return the facts read from these sources, in id order."""
        ...

    async def recalled(self, ids: Sequence[bytes]) -> list[Recalled]:
        """Return what answers need of units, in the order of `ids`; missing ones are left out.

        The facts' access counters are not read: they count with their source.
        """
        ...

    async def newest(
        self,
        limit: int,
        *,
        layer: Layer | None = None,
        since: int | None = None,
        until: int | None = None,
        entity: str | None = None,
    ) -> list[Unit]:
        """Return units by `mentioned_at` descending (id descending on ties).

        `since` is inclusive, `until` exclusive; `entity` is an exact canonical name.
        """
        ...

    async def neighbours(
        self, ids: Sequence[bytes], types: Sequence[LinkType], depth: int = 1, fan: int = 20
    ) -> list[Link]:
        """Return the links reached from `ids` in up to `depth` steps, `fan` a unit, by weight."""
        ...

    async def document(self, name: str) -> Document | None:
        """Return the document of that name."""
        ...

    async def documents(self, limit: int = 100, offset: int = 0) -> list[Document]:
        """Return documents, newest update first."""
        ...

    async def chunks(self, document_id: bytes) -> list[Chunk]:
        """Return a document's chunks in order."""
        ...

    async def units_of(self, document_id: bytes) -> list[Unit]:
        """Return a document's units in id order."""
        ...

    async def entities(self, limit: int = 100, offset: int = 0) -> list[Entity]:
        """Return entities, most mentioned first."""
        ...

    async def counts(self) -> Mapping[str, int]:
        """Return `units`, `sources`, `facts`, `observations`, `documents`, `entities`, `links`."""
        ...


class Store(Protocol):
    """A database that keeps banks. See the module's rules."""

    async def open(self) -> None:
        """Open, creating and migrating what is needed.

        Raises:
            StoreTooNew: the data was written by a newer version.
            StoreError: the place cannot be used; the message says how to mend.
        """
        ...

    async def close(self) -> None:
        """Flush access counters and close; safe to call twice."""
        ...

    def snapshot(self, ref: BankRef) -> AbstractAsyncContextManager[View]:
        """Open a snapshot of one bank for the length of a `with` block."""
        ...

    async def read(self, ref: BankRef, work: Callable[[Reader], T]) -> T:
        """Run work on a snapshot of its own, in the thread that holds it.

        A whole question in one hop between threads: on small machines each hop costs as much as a
        look-up of many rows.
        """
        ...

    async def apply(self, ref: BankRef, batch: Batch) -> Applied:
        """Write one batch durably; creates the bank when it is new.

        Raises:
            Conflict: an expectation of the batch does not hold; nothing was written.
            StoreBusy: the write lock was not free within the store's limit.
        """
        ...

    async def bank(self, ref: BankRef) -> Bank | None:
        """Return a bank, or None."""
        ...

    async def banks(self, tenant: str, limit: int = 100, offset: int = 0) -> list[Bank]:
        """Return a tenant's banks by name."""
        ...

    async def bank_put(self, ref: BankRef, profile: Mapping[str, Any]) -> Bank:
        """Create a bank or replace its profile."""
        ...

    async def bank_drop(self, ref: BankRef) -> int:
        """Delete a bank with everything in it; return how many units went (0: no such bank)."""
        ...

    async def locate(self, tenant: str, unit_ids: Sequence[bytes]) -> dict[bytes, BankRef]:
        """Find the banks of units by id alone, within one tenant."""
        ...

    async def touch(self, ref: BankRef, unit_ids: Sequence[bytes], at: int) -> None:
        """Count an access of each unit, outside revision and feed.

        Added up in memory and flushed every 100 ms and on close: a kill -9 can lose the counts of
        the last 100 ms, never content. Counts of units that are gone are dropped.
        """
        ...

    async def generations(self) -> list[Generation]:
        """Return the embedding generations, oldest first."""
        ...

    async def generation_begin(self, fingerprint: Mapping[str, Any]) -> Generation:
        """Return the generation of this fingerprint, made when new; the first one is active."""
        ...

    async def generation_pending(
        self, number: int, limit: int = 256, after: PendingUnit | None = None
    ) -> list[PendingUnit]:
        """Return units without a vector of generation `number`, over all tenants and banks.

        Units with a `source_id` need none and are left out.
        """
        ...

    async def generation_pending_count(self, number: int) -> int:
        """Count the units without a vector of generation `number`."""
        ...

    async def generation_vectors(
        self, ref: BankRef, number: int, vectors: Sequence[VectorPatch]
    ) -> None:
        """Write vectors of generation `number`. Those of the active one go through the feed."""
        ...

    async def generation_activate(self, number: int) -> bool:
        """Make a generation the active one and drop the others' vectors.

        Returns False, changing nothing, while units without a vector of it remain.
        """
        ...

    async def claim(
        self, kinds: Sequence[str], now: int, lease_us: int, limit: int = 1
    ) -> list[Job]:
        """Lease due pending jobs and processing ones whose lease ran out; oldest first."""
        ...

    async def heartbeat(self, job: Job, now: int, lease_us: int) -> bool:
        """Prolong a lease; False when it was lost (its fence is no longer the row's)."""
        ...

    async def finish(
        self,
        job: Job,
        state: JobState,
        now: int,
        *,
        result: Mapping[str, Any] | None = None,
        error: str | None = None,
        run_after: int = 0,
    ) -> bool:
        """End a lease with `state` (`PENDING`: again at `run_after`); False when it was lost."""
        ...

    async def job(self, ref: BankRef, job_id: bytes) -> Job | None:
        """Return a job of this bank, or None."""
        ...

    async def jobs(
        self, ref: BankRef, *, state: JobState | None = None, limit: int = 20, offset: int = 0
    ) -> list[Job]:
        """Return a bank's jobs, newest first."""
        ...

    async def job_count(self, ref: BankRef, *, state: JobState | None = None) -> int:
        """Count a bank's jobs."""
        ...

    async def job_cancel(self, ref: BankRef, job_id: bytes, now: int) -> bool:
        """Cancel a pending job; False when it is in another state or does not exist."""
        ...

    async def due(self, before: int, limit: int = 100) -> list[Trigger]:
        """Return triggers due before a time, over all banks, soonest first."""
        ...

    async def trigger_drop(self, ref: BankRef, trigger_id: bytes) -> bool:
        """Remove a trigger; False when it is gone already."""
        ...

    async def blob_put(
        self, ref: BankRef, key: str, value: bytes, expires_at: int | None = None
    ) -> bool:
        """Keep a value under a new key (idempotency keys, files); False when the key is taken."""
        ...

    async def blob_get(self, ref: BankRef, key: str, now: int) -> bytes | None:
        """Return a kept value unless it has expired."""
        ...

    async def trim_changes(self, ref: BankRef, up_to: int) -> int:
        """Drop feed entries up to a revision; return how many went."""
        ...

    async def sweep(self, now: int) -> None:
        """Remove from disk what was deleted: expired blobs, free pages, the write-ahead log."""
        ...

    async def health(self) -> Mapping[str, Any]:
        """Return `ok`, `engine`, `schema`, `path` or `url`, `size_bytes`; constant time."""
        ...

    async def backup(self, target: Path) -> Mapping[str, Any]:
        """Write a consistent copy while the store is in use; return `path`, `bytes`, `units`."""
        ...
