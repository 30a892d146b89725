"""What can be read of one bank in one snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from ..nouns.memory import (
    Change,
    Chunk,
    Curation,
    Document,
    Entity,
    Layer,
    Link,
    LinkType,
    Unit,
    UnitRow,
)
from .browse import BrowseReader
from .entity_view import EntityView
from .intentions import IntentionReader
from .priming_view import PrimingReader
from .sealing import FileKey
from .stats_view import StatsView
from .truth_view import TruthReader

T = TypeVar("T")

MOST_PROOFS = 1_000
"""Units that say the same are counted up to here, so that a count is never long work."""


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


class Reader(BrowseReader, PrimingReader, IntentionReader, TruthReader, Protocol):
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

    def rows(self, ids: Sequence[bytes]) -> list[UnitRow]:
        """As `View.rows`."""
        ...

    def document(self, name: str) -> Document | None:
        """As `View.document`."""
        ...

    def recalled(self, ids: Sequence[bytes]) -> list[Recalled]:
        """As `View.recalled`."""
        ...

    def newest(
        self,
        limit: int,
        *,
        layer: Layer | None = None,
        until: int | None = None,
        entity: str | None = None,
    ) -> list[Unit]:
        """As `View.newest`."""
        ...

    def neighbours(
        self, ids: Sequence[bytes], types: Sequence[LinkType], depth: int = 1, fan: int = 20
    ) -> list[Link]:
        """As `View.neighbours`."""
        ...

    def entities_named(self, names: Sequence[str]) -> list[Entity]:
        """Return the entities of these canonical names, by name; unknown ones are left out."""
        ...

    def mentions(self, ids: Sequence[bytes]) -> Mapping[bytes, tuple[str, ...]]:
        """Return the names of the entities that units mention, sorted; units without are left out.

        A source does not mention what only the facts read from it do.
        """
        ...

    def chunk_texts(self, places: Sequence[tuple[bytes, int]]) -> Mapping[tuple[bytes, int], str]:
        """Return the texts of chunks by document id and index; missing ones are left out."""
        ...

    def shared_keys(self, ids: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Return the keys of what these units say; those that no other unit says are left out."""
        ...

    def proofs(self, keys: Sequence[bytes]) -> Mapping[bytes, int]:
        """Return how many valid units say what each key stands for; counted up to `MOST_PROOFS`."""
        ...


class View(EntityView, StatsView, Protocol):
    """One snapshot of one bank. A bank that does not exist reads as empty, revision 0."""

    @property
    def revision(self) -> int:
        """The bank's revision in this snapshot."""
        ...

    @property
    def generation(self) -> int:
        """Number of the active embedding generation in this snapshot; 0 when there is none."""
        ...

    async def file_key(self) -> FileKey | None:
        """Return what seals files about the bank: None without a key of the bank's tenant."""
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

    async def same(self, ids: Sequence[bytes]) -> Mapping[bytes, tuple[bytes, ...]]:
        """Return for each unit the ids of those that say the same, itself included, oldest first.

        A unit that has no key of what it says is left out.
        """
        ...

    async def known_same(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those keys of what units say that some unit of the bank has."""
        ...

    async def curations(self, ids: Sequence[bytes]) -> Mapping[bytes, Curation]:
        """Return what people did to these units; those nobody touched are left out."""
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

    async def sources_of(self, document_id: bytes) -> list[Unit]:
        """Return a document's sources in the order of their turns."""
        ...

    async def units_of(self, document_id: bytes) -> list[Unit]:
        """Return a document's units in id order."""
        ...

    async def counts(self) -> Mapping[str, int]:
        """Return `units`, `sources`, `facts`, `observations`, `documents`, `entities`, `links`."""
        ...
