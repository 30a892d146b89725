"""What can be browsed of one bank in one snapshot: pages of units, documents and chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from ..nouns.memory import Chunk, Curation, Document, Kind, Layer, Link, Unit


class TagRule(NamedTuple):
    """Which tags something must have.

    `least` of `tags` (distinct ones) at least; with `untagged`, what has no tags passes too; with
    `only`, what has any other tag does not.
    """

    tags: tuple[str, ...]
    least: int
    untagged: bool = False
    only: bool = False


class UnitTime(StrEnum):
    """Which time of a unit is meant."""

    CREATED = "created_at"
    UPDATED = "updated_at"
    MENTIONED = "mentioned_at"
    STARTED = "occurred_start"
    ENDED = "occurred_end"


class During(NamedTuple):
    """That a time lies in [start, end), in microseconds; None leaves a side open."""

    time: UnitTime
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class UnitFilter:
    """Which units to list; what is None or empty does not narrow.

    `invalid`: False for units that hold, True for those that people took out, None for both.
    `text` is looked for in the units' texts, whatever its case.
    `during`: what has no such time is left out, and the units are ordered by it.
    `folded`: of the listed units of one layer that say the same, only the oldest is listed.
    """

    layers: tuple[Layer, ...] = (Layer.SOURCE, Layer.OBSERVATION)
    invalid: bool | None = False
    kind: Kind | None = None
    text: str = ""
    tags: TagRule | None = None
    document_id: bytes | None = None
    chunk_index: int | None = None
    entity_id: bytes | None = None
    during: During | None = None
    folded: bool = True

    @property
    def narrow(self) -> bool:
        """Whether more than layer and state is asked for."""
        asked = (self.kind, self.tags, self.document_id, self.chunk_index, self.entity_id)
        return bool(self.text) or any(each is not None for each in (*asked, self.during))


class UnitPage(NamedTuple):
    """Units by a time descending, and how many there are in all."""

    units: list[Unit]
    total: int


class DocumentPage(NamedTuple):
    """Documents, newest update first, and how many there are in all."""

    documents: list[Document]
    total: int


class ChunkPage(NamedTuple):
    """A document's chunks in order, and how many there are in all."""

    chunks: list[Chunk]
    total: int


class BrowseReader(Protocol):
    """The part of a snapshot's reader that lists and counts. Its methods block."""

    def browse(self, wanted: UnitFilter, limit: int, offset: int = 0) -> UnitPage:
        """Return units, newest first (id descending on ties), invalid ones too.

        The time is `mentioned_at`, unless `wanted.during` names another.
        """
        ...

    def read_from(self, source_ids: Sequence[bytes]) -> list[Unit]:
        """Return the facts read from these sources in id order, invalid ones included."""
        ...

    def following(self, ids: Sequence[bytes]) -> list[Unit]:
        """Return the sources whose `previous_id` is one of these, in id order."""
        ...

    def said_between(self, document_id: bytes, first: int, last: int) -> list[Unit]:
        """Return a document's sources from one turn to another, in order; no invalid ones."""
        ...

    def same(self, ids: Sequence[bytes]) -> Mapping[bytes, tuple[bytes, ...]]:
        """As `View.same`."""
        ...

    def curations(self, ids: Sequence[bytes]) -> Mapping[bytes, Curation]:
        """As `View.curations`."""
        ...

    def links_of(self, ids: Sequence[bytes]) -> list[Link]:
        """Return every stored link that touches one of these units, by source, type, target."""
        ...

    def documents_like(
        self,
        name: str,
        tags: TagRule | None,
        limit: int,
        offset: int = 0,
        during: During | None = None,
    ) -> DocumentPage:
        """Return documents whose name contains `name`, whatever its case; all when it is empty.

        Newest update first, or by `during.time`, which is `CREATED` or `UPDATED`.
        """
        ...

    def document_names(self, ids: Sequence[bytes]) -> Mapping[bytes, str]:
        """Return the names of documents."""
        ...

    def kinds_in(self, document_ids: Sequence[bytes]) -> Mapping[bytes, Mapping[Kind, int]]:
        """Count the units of documents by kind; a document without units is left out."""
        ...

    def chunk_page(self, document_id: bytes, limit: int, offset: int = 0) -> ChunkPage:
        """Return some of a document's chunks in order."""
        ...
