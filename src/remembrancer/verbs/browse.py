"""browse: see what is kept, page by page: memories, documents, chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from ..finding.tagging import TagFilter, TagMatch
from ..keeping.browse import DocumentPage, During, TagRule, UnitFilter
from ..keeping.store import Store
from ..keeping.view import Reader
from ..nouns.errors import NotFound
from ..nouns.ids import to_uuid
from ..nouns.memory import (
    SHOWN_ONLY,
    BankRef,
    Chunk,
    Curation,
    Document,
    Kind,
    Layer,
    Link,
    LinkType,
    Unit,
)
from ..nouns.names import MAX_BANK_CHARS
from ..nouns.text import shown as shown_text

_ALL = 1 << 31  # chunks of one document

_ALIKE = 1e-6  # weights that differ by less are one


@dataclass(frozen=True, slots=True)
class Query:
    """Which memories to show; what is None or empty does not narrow.

    `layers`: sources and observations, unless others are named. `invalid`: None for both states.
    `document` is a name. `during`: by that time, newest first. `folded`: what says the same is
    shown once.
    """

    layers: tuple[Layer, ...] = (Layer.SOURCE, Layer.OBSERVATION)
    invalid: bool | None = False
    kind: Kind | None = None
    text: str = ""
    tags: TagFilter | None = None
    document: str | None = None
    chunk_index: int | None = None
    entity_id: bytes | None = None
    during: During | None = None
    folded: bool = True


@dataclass(frozen=True, slots=True)
class Shown:
    """One memory as people see it.

    `same_ids`: the others of its state that say the same. `basis`: what an observation was derived
    from. `facts`: those read from a source, invalid ones included.
    """

    unit: Unit
    document: str | None = None
    entities: tuple[str, ...] = ()
    curation: Curation | None = None
    same_ids: tuple[bytes, ...] = ()
    basis: tuple[bytes, ...] = ()
    facts: tuple[Shown, ...] = ()

    @property
    def invalid(self) -> bool:
        """Whether people took it out."""
        return self.curation is not None and self.curation.invalid

    @property
    def proof_count(self) -> int:
        """How many memories say it or, for an observation, were its basis."""
        return len(self.basis) or 1 + len(self.same_ids)


@dataclass(frozen=True, slots=True)
class Detail:
    """A memory with what stands around it: what a fact was read from, a basis, stored links."""

    shown: Shown
    source: Unit | None = None
    basis: tuple[Unit, ...] = ()
    links: tuple[Link, ...] = ()


class Shelf(NamedTuple):
    """Memories, newest first, and how many there are in all."""

    items: list[Shown]
    total: int


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A document with how many units of each kind were made from it, and its text if asked for."""

    document: Document
    kinds: Mapping[Kind, int] = field(default_factory=dict)
    text: str | None = None

    @property
    def count(self) -> int:
        """How many units were made from it."""
        return sum(self.kinds.values())


class ShownChunks(NamedTuple):
    """Some chunks of a document, and how many it has."""

    document: Document
    chunks: list[Chunk]
    total: int


class Browse:
    """The verb; everything it needs is passed in. A bank that does not exist is empty."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def memories(
        self, ref: BankRef, query: Query, *, limit: int = 100, offset: int = 0
    ) -> Shelf:
        """Show memories by when they were said, or by `query.during`, newest first."""
        return await self._store.read(ref, lambda reader: shelf(reader, query, limit, offset))

    async def memory(self, ref: BankRef, unit_id: bytes) -> Detail:
        """Show one memory with what stands around it.

        Raises:
            NotFound: it is not in this bank.
        """
        return await self._store.read(ref, lambda reader: _detail(reader, unit_id))

    async def documents(
        self,
        ref: BankRef,
        *,
        name: str = "",
        tags: TagFilter | None = None,
        during: During | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> tuple[list[ShownDocument], int]:
        """Show documents, newest update first; `name` is a part of theirs, whatever its case.

        `during`: those made or changed then, by that time.
        """

        def work(reader: Reader) -> tuple[list[ShownDocument], int]:
            page: DocumentPage = reader.documents_like(name, tag_rule(tags), limit, offset, during)
            kinds = reader.kinds_in([d.id for d in page.documents])
            return [ShownDocument(d, kinds.get(d.id, {})) for d in page.documents], page.total

        return await self._store.read(ref, work)

    async def document(self, ref: BankRef, name: str) -> ShownDocument:
        """Show a document with its text.

        Raises:
            NotFound: there is none of that name.
        """

        def work(reader: Reader) -> ShownDocument:
            document = named(reader, name)
            text = shown_text("".join(c.text for c in reader.chunk_page(document.id, _ALL).chunks))
            return ShownDocument(
                document, reader.kinds_in([document.id]).get(document.id, {}), text
            )

        return await self._store.read(ref, work)

    async def chunks(
        self, ref: BankRef, name: str, *, limit: int = 100, offset: int = 0
    ) -> ShownChunks:
        """Show a document's chunks in order.

        Raises:
            NotFound: there is none of that name.
        """

        def work(reader: Reader) -> ShownChunks:
            document = named(reader, name)
            page = reader.chunk_page(document.id, limit, offset)
            chunks = [replace(chunk, text=shown_text(chunk.text)) for chunk in page.chunks]
            return ShownChunks(document, chunks, page.total)

        return await self._store.read(ref, work)

    async def chunk(self, tenant: str, chunk_id: str) -> tuple[BankRef, Document, Chunk]:
        """Find a chunk by its wire name, BANK_DOCUMENT_INDEX.

        Names may hold underscores, so the name is cut wherever it can be; the cut with the longest
        document name that leads to a chunk wins.

        Raises:
            NotFound: no cut leads to one.
        """
        for bank, document, index in cuts(chunk_id):
            ref = BankRef(tenant, bank)
            found = await self._store.read(ref, partial(_chunk, name=document, index=index))
            if found is not None:
                return ref, *found
        raise NotFound(f"there is no chunk {chunk_id!r}", field="chunk_id")


def cuts(chunk_id: str) -> Iterator[tuple[str, str, int]]:
    """Yield the (bank, document, index) that a chunk's name can mean, longest document first."""
    names, _, index = chunk_id.rpartition("_")
    if not index.isdecimal() or len(index) > 9:
        return
    for at, char in enumerate(names[: MAX_BANK_CHARS + 1]):
        if char == "_" and 0 < at < len(names) - 1:
            yield names[:at], names[at + 1 :], int(index)


def named(reader: Reader, name: str) -> Document:
    """Return the document of a name.

    Raises:
        NotFound: there is none.
    """
    document = reader.document(name)
    if document is None:
        raise NotFound(f"there is no document {name!r} in this bank", field="document_id")
    return document


def shelf(reader: Reader, query: Query, limit: int, offset: int = 0) -> Shelf:
    """Return a page of memories; see `Browse.memories`."""
    wanted = unit_filter(reader, query)
    if wanted is None:
        return Shelf([], 0)
    page = reader.browse(wanted, limit, offset)
    return Shelf(show(reader, page.units), page.total)


def unit_filter(reader: Reader, query: Query) -> UnitFilter | None:
    """Return a query in the store's words; None when it names a document that does not exist."""
    document = None if query.document is None else reader.document(query.document)
    if query.document is not None and document is None:
        return None
    return UnitFilter(
        layers=query.layers,
        invalid=query.invalid,
        kind=query.kind,
        text=query.text,
        tags=tag_rule(query.tags),
        document_id=document.id if document else None,
        chunk_index=query.chunk_index,
        entity_id=query.entity_id,
        during=query.during,
        folded=query.folded,
    )


def tag_rule(wanted: TagFilter | None) -> TagRule | None:
    """Return a tag filter in the store's words; no tags are no filter, but for `exact`."""
    if wanted is None:
        return None
    tags = tuple(dict.fromkeys(wanted.tags))
    if not tags:
        exact = wanted.match is TagMatch.EXACT
        return TagRule((), 0, untagged=True, only=True) if exact else None
    every = wanted.match in (TagMatch.ALL, TagMatch.ALL_STRICT, TagMatch.EXACT)
    return TagRule(
        tags,
        least=len(tags) if every else 1,
        untagged=wanted.match in (TagMatch.ANY, TagMatch.ALL),
        only=wanted.match is TagMatch.EXACT,
    )


def show(reader: Reader, units: Sequence[Unit]) -> list[Shown]:
    """Return units with what is shown of them, in the same order."""
    facts: dict[bytes, list[Unit]] = {}
    for fact in reader.read_from([u.id for u in units if u.layer is Layer.SOURCE]):
        facts.setdefault(fact.source_id or b"", []).append(fact)
    every = [*units, *(fact for mine in facts.values() for fact in mine)]
    around = _Around(reader, every)
    return [
        around.shown(unit, tuple(around.shown(f) for f in facts.get(unit.id, ()))) for unit in units
    ]


class _Around:
    """What is shown beside the rows of some units, read at once."""

    def __init__(self, reader: Reader, units: Sequence[Unit]) -> None:
        ids = [u.id for u in units]
        self._same = reader.same(ids)
        twins = {i for same in self._same.values() for i in same}
        self._curations = reader.curations([*twins.union(ids)])
        self._mentions = reader.mentions(ids)
        self._documents = reader.document_names([u.document_id for u in units if u.document_id])
        self._basis: dict[bytes, list[bytes]] = {}
        derived = [u.id for u in units if u.layer is Layer.OBSERVATION]
        for link in reader.links_of(derived) if derived else ():
            only_shown = abs(link.weight - SHOWN_ONLY) < _ALIKE
            if link.type is LinkType.INSIGHT_FROM and not only_shown:
                self._basis.setdefault(link.source, []).append(link.target)

    def shown(self, unit: Unit, facts: tuple[Shown, ...] = ()) -> Shown:
        names = (*self._mentions.get(unit.id, ()), *unit.entities)
        state = self._invalid(unit.id)
        return Shown(
            unit,
            document=self._documents.get(unit.document_id) if unit.document_id else None,
            entities=tuple(dict.fromkeys((*names, *(n for f in facts for n in f.entities)))),
            curation=self._curations.get(unit.id),
            same_ids=tuple(
                i for i in self._same.get(unit.id, ()) if i != unit.id and self._invalid(i) == state
            ),
            basis=tuple(self._basis.get(unit.id, ())),
            facts=facts,
        )

    def _invalid(self, unit_id: bytes) -> bool:
        curation = self._curations.get(unit_id)
        return curation is not None and curation.invalid


def _detail(reader: Reader, unit_id: bytes) -> Detail:
    units = reader.units([unit_id])
    if not units:
        raise missing(unit_id)
    [unit], [shown] = units, show(reader, units)
    source = reader.units([unit.source_id])[0] if unit.source_id else None
    links = reader.links_of([unit_id, *(f.unit.id for f in shown.facts)])
    return Detail(shown, source, tuple(reader.units(shown.basis)), tuple(links))


def missing(unit_id: bytes) -> NotFound:
    """Return the error for a memory that is not there."""
    return NotFound(f"there is no memory {to_uuid(unit_id)} in this bank", field="memory_id")


def _chunk(reader: Reader, name: str, index: int) -> tuple[Document, Chunk] | None:
    document = reader.document(name)
    if document is None:
        return None
    place = (document.id, index)
    text = reader.chunk_texts([place]).get(place)
    return None if text is None else (document, Chunk(index, shown_text(text)))
