"""One snapshot of one bank: the View protocol over a read transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple, TypeVar

from ...nouns.errors import StoreError
from ...nouns.memory import (
    BankRef,
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
from ..sealing import FileKey
from ..view import MOST_PROOFS, ChangePage, IndexRow, Reader, Recalled
from . import browse, rows, unit_rows
from .db import Db
from .entity_reads import EntityCalls
from .intention_reads import IntentionReads
from .lanes import Lane
from .priming import Priming
from .stats import StatsCalls
from .truth import Truths

T = TypeVar("T")

_id = attrgetter("id")

_OF_ANSWERS = ("unit_recalled", "truth_of")

_FIRST, _LAST = -(1 << 63), (1 << 63) - 1


class State(NamedTuple):
    """A bank as a snapshot found it; all zero without one."""

    revision: int
    trimmed_to: int
    generation: int
    sources: int
    facts: int
    observations: int
    documents: int
    entities: int
    links: int


def read_state(db: Db, ref: BankRef) -> State:
    """Read a bank's state and make sure that its key is really its own."""
    tenant, name, revision, trimmed_to, generation, *counts = db.all("bank_state", ref.key)[0]
    if revision is None:
        return State(0, 0, generation, 0, 0, 0, 0, 0, 0)
    check_owner(ref, tenant, name)
    return State(revision, trimmed_to, generation, *counts)


def check_owner(ref: BankRef, tenant: str, name: str) -> None:
    """Refuse a bank whose key belongs to another one: two must never be mixed."""
    if (tenant, name) != (ref.tenant, ref.bank):
        raise StoreError(
            f"bank {ref.bank!r} has the same 64-bit key as another bank; give it another name"
        )


class RowReader(browse.Browsing, Priming, IntentionReads, Truths):
    """One snapshot, read in the thread that holds it; see `keeping.store.Reader`."""

    def __init__(self, db: Db, key: int, state: State) -> None:
        self._db = db
        self._key = key
        self._state = state
        # what units say that others say too, None: none do; of those that were recalled
        self._shared: dict[bytes, bytes | None] = {}
        self._facts = {}

    @property
    def revision(self) -> int:
        """The bank's revision in this snapshot."""
        return self._state.revision

    @property
    def generation(self) -> int:
        """Number of the active embedding generation in this snapshot; 0 when there is none."""
        return self._state.generation

    def units(self, ids: Sequence[bytes]) -> list[Unit]:
        """Return units in the order of `ids`; missing ones are left out."""
        return browse.units(self._db, self._key, ids)

    def rows(self, ids: Sequence[bytes]) -> list[UnitRow]:
        """Return units with terms and vectors, in the order of `ids`; missing ones left out."""
        return _rows(self._db, self._key, self.generation, ids)

    def document(self, name: str) -> Document | None:
        """Return the document of that name."""
        return _document(self._db, self._key, name)

    def recalled(self, ids: Sequence[bytes]) -> list[Recalled]:
        """Return units with their facts and documents' names, in the order of `ids`."""
        self._ahead(sorted(set(ids)))
        found = _recalled(self._db, self._key, ids, self._shared)
        self._facts.update((row.unit.id, row.facts) for row in found)
        return found

    def _ahead(self, ids: Sequence[bytes]) -> None:
        """Ask at once what an answer of these units is made of; see `Db.ahead`."""
        of_bank = (self._key,)
        self._db.ahead(*((name, ids, of_bank) for name in _OF_ANSWERS))

    def newest(
        self,
        limit: int,
        *,
        layer: Layer | None = None,
        until: int | None = None,
        entity: str | None = None,
    ) -> list[Unit]:
        """Return units by `mentioned_at` descending (id descending on ties)."""
        end = _LAST if until is None else until
        return _newest(self._db, self._key, limit, layer, _FIRST, end, entity)

    def neighbours(
        self, ids: Sequence[bytes], types: Sequence[LinkType], depth: int = 1, fan: int = 20
    ) -> list[Link]:
        """Return the links reached from `ids`, followed in either direction, by weight."""
        return _neighbours(self._db, self._key, ids, types, depth, fan)

    def entities_named(self, names: Sequence[str]) -> list[Entity]:
        """Return the entities of these canonical names, by name."""
        found = self._db.all_in("entity_some", sorted(set(names)), self._key)
        return sorted(map(rows.entity, found), key=attrgetter("name"))

    def mentions(self, ids: Sequence[bytes]) -> Mapping[bytes, tuple[str, ...]]:
        """Return the names of the entities that units mention, sorted."""
        found: dict[bytes, list[str]] = {}
        for unit_id, _, name in self._db.all_in("mention_some", sorted(set(ids)), self._key):
            found.setdefault(unit_id, []).append(name)
        return {unit_id: tuple(sorted(names)) for unit_id, names in found.items()}

    def chunk_texts(self, places: Sequence[tuple[bytes, int]]) -> Mapping[tuple[bytes, int], str]:
        """Return the texts of chunks by document id and index."""
        found = {place: self._db.one("chunk_text", self._key, *place) for place in set(places)}
        return {place: row[0] for place, row in found.items() if row is not None}

    def shared_keys(self, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the keys of what these units say, where another unit says it too."""
        known = self._shared
        asked = sorted({unit_id for unit_id in ids if unit_id not in known})
        found = dict(self._db.all_in("sameness_shared", asked, self._key)) if asked else {}
        for unit_id in ids:
            key = known.get(unit_id)
            if key is not None:
                found[unit_id] = key
        return found

    def proofs(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """Return how many valid units say what each key stands for, up to `MOST_PROOFS`."""
        return dict(self._db.all_in("sameness_proofs", keys, self._key, MOST_PROOFS))


class RowView(EntityCalls, StatsCalls):
    """One snapshot of one bank; see `keeping.store.View`."""

    def __init__(self, ref: BankRef, lane: Lane, state: State) -> None:
        self._key = ref.key
        self._lane = lane
        self._state = state

    @property
    def revision(self) -> int:
        """The bank's revision in this snapshot."""
        return self._state.revision

    @property
    def generation(self) -> int:
        """Number of the active embedding generation in this snapshot; 0 when there is none."""
        return self._state.generation

    async def file_key(self) -> FileKey | None:
        """Return what seals files about the bank: None without a key of the bank's tenant."""
        return await self._lane.run(_file_key, self._key)

    async def run(self, work: Callable[[Reader], T]) -> T:
        """Run work on this snapshot, in its lane's thread."""
        return await self._lane.run(_work, self._key, self._state, work)

    async def changes(self, after: int, limit: int = 10_000) -> ChangePage | None:
        """Return the feed after `after`, whole revisions at a time (so `limit` may be passed)."""
        if not self._state.trimmed_to <= after <= self._state.revision:
            return None
        return await self._lane.run(_changes, self._key, after, limit)

    async def index_rows(self, ids: Sequence[bytes]) -> list[IndexRow]:
        """Return the index rows of `ids` in id order; missing ones are left out."""
        return await self._lane.run(_index_rows, self._key, self.generation, ids)

    async def scan(self, after: bytes = b"", limit: int = 5_000) -> list[IndexRow]:
        """Return the next index rows in id order after `after`."""
        return await self._lane.run(_scan, self._key, self.generation, after, limit)

    async def units(self, ids: Sequence[bytes]) -> list[Unit]:
        """Return units in the order of `ids`; missing ones are left out."""
        return await self._lane.run(browse.units, self._key, ids)

    async def rows(self, ids: Sequence[bytes]) -> list[UnitRow]:
        """Return units with terms and vectors, in the order of `ids`; missing ones left out."""
        return await self._lane.run(_rows, self._key, self.generation, ids)

    async def same(self, ids: Sequence[bytes]) -> Mapping[bytes, tuple[bytes, ...]]:
        """Return for each unit those that say the same, itself included, oldest first."""
        return await self._lane.run(browse.same, self._key, ids)

    async def known_same(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those keys of what units say that some unit of the bank has."""
        return await self._lane.run(_known_same, self._key, keys)

    async def curations(self, ids: Sequence[bytes]) -> Mapping[bytes, Curation]:
        """Return what people did to these units; those nobody touched are left out."""
        return await self._lane.run(browse.curations, self._key, ids)

    async def facts_of(self, source_ids: Sequence[bytes]) -> list[Unit]:
        """Return the facts read from these sources, in id order."""
        return await self._lane.run(_facts_of, self._key, source_ids)

    async def recalled(self, ids: Sequence[bytes]) -> list[Recalled]:
        """Return units with their facts and documents' names, in the order of `ids`."""
        return await self._lane.run(_recalled, self._key, ids, {})

    async def newest(
        self,
        limit: int,
        *,
        layer: Layer | None = None,
        since: int | None = None,
        until: int | None = None,
        entity: str | None = None,
    ) -> list[Unit]:
        """Return units by `mentioned_at` descending (id descending on ties)."""
        first = _FIRST if since is None else since
        end = _LAST if until is None else until
        return await self._lane.run(_newest, self._key, limit, layer, first, end, entity)

    async def neighbours(
        self, ids: Sequence[bytes], types: Sequence[LinkType], depth: int = 1, fan: int = 20
    ) -> list[Link]:
        """Return the links reached from `ids`, followed in either direction, by weight.

        Each step follows the `fan` strongest links of every unit reached in the step before.
        """
        return await self._lane.run(_neighbours, self._key, ids, types, depth, fan)

    async def document(self, name: str) -> Document | None:
        """Return the document of that name."""
        return await self._lane.run(_document, self._key, name)

    async def documents(self, limit: int = 100, offset: int = 0) -> list[Document]:
        """Return documents, newest update first."""
        return await self._lane.run(_documents, self._key, limit, offset)

    async def chunks(self, document_id: bytes) -> list[Chunk]:
        """Return a document's chunks in order."""
        return await self._lane.run(_chunks, self._key, document_id)

    async def sources_of(self, document_id: bytes) -> list[Unit]:
        """Return a document's sources in the order of their turns."""
        return await self._lane.run(_sources_of, self._key, document_id)

    async def units_of(self, document_id: bytes) -> list[Unit]:
        """Return a document's units in id order."""
        return await self._lane.run(_units_of, self._key, document_id)

    async def counts(self) -> Mapping[str, int]:
        """Return `units`, `sources`, `facts`, `observations`, `documents`, `entities`, `links`."""
        s = self._state
        return {
            "units": s.sources + s.facts + s.observations,
            "sources": s.sources,
            "facts": s.facts,
            "observations": s.observations,
            "documents": s.documents,
            "entities": s.entities,
            "links": s.links,
        }


def _file_key(db: Db, key: int) -> FileKey | None:
    return db.file_key(key)


def _changes(db: Db, key: int, after: int, limit: int) -> ChangePage:
    # A page ends between two revisions: its reader goes on after the last revision it has seen.
    found = db.all("change_page", key, after, limit + 1)
    complete = len(found) <= limit
    if not complete:
        last = found[-1][0]
        whole = [row for row in found if row[0] != last]
        found = whole or db.all("change_of", key, last)
        complete = not db.value("change_after", key, found[-1][0])
    return ChangePage([rows.change(row) for row in found], complete)


def _index_rows(db: Db, key: int, generation: int, ids: Sequence[bytes]) -> list[IndexRow]:
    return unit_rows.index_rows(db.all_in("index_some", sorted(set(ids)), key, generation))


def _scan(db: Db, key: int, generation: int, after: bytes, limit: int) -> list[IndexRow]:
    return unit_rows.index_rows(db.all("index_scan", key, generation, after, limit))


def _work(db: Db, key: int, state: State, work: Callable[[Reader], T]) -> T:
    return work(RowReader(db, key, state))


def _rows(db: Db, key: int, generation: int, ids: Sequence[bytes]) -> list[UnitRow]:
    found = {row[0]: row for row in db.all_in("unit_search_some", ids, key, generation)}
    return [unit_rows.unit_row(unit, found[unit.id]) for unit in browse.units(db, key, ids)]


def _known_same(db: Db, key: int, keys: Sequence[bytes]) -> set[bytes]:
    return {row[0] for row in db.all_in("sameness_known", sorted(set(keys)), key)}


def _facts_of(db: Db, key: int, source_ids: Sequence[bytes]) -> list[Unit]:
    found = db.all_in("unit_facts", sorted(set(source_ids)), key)
    return sorted(map(unit_rows.unit, found), key=_id)


def _recalled(
    db: Db, key: int, ids: Sequence[bytes], shared: dict[bytes, bytes | None]
) -> list[Recalled]:
    """Read units as answers need them; note in `shared` what each says that others say too."""
    found: dict[bytes, tuple[Unit, str | None]] = {}
    facts: dict[bytes, list[Unit]] = {}
    for row in db.all_in("unit_recalled", sorted(set(ids)), key):
        *columns, name, same = row
        unit = unit_rows.unit(columns)
        if unit.source_id is None:
            found[unit.id] = unit, name
            shared[unit.id] = same
        elif unit.layer is Layer.FACT:
            facts.setdefault(unit.source_id, []).append(unit)
    if len(found) < len(set(ids)):
        found |= _derived(db, key, [unit_id for unit_id in ids if unit_id not in found])
    for mine in facts.values():
        mine.sort(key=_id)
    return [
        Recalled(unit, tuple(facts.get(unit.id, ())), name)
        for unit, name in (found[unit_id] for unit_id in ids if unit_id in found)
    ]


def _derived(db: Db, key: int, ids: Sequence[bytes]) -> dict[bytes, tuple[Unit, str | None]]:
    """Find units by id alone, whatever their source; with their documents' names."""
    found = browse.units(db, key, ids)
    names = _document_names(db, key, [u.document_id for u in found if u.document_id])
    return {u.id: (u, names.get(u.document_id) if u.document_id else None) for u in found}


def _newest(
    db: Db, key: int, limit: int, layer: Layer | None, first: int, end: int, entity: str | None
) -> list[Unit]:
    wanted = None if layer is None else int(layer)
    if entity is None:
        found = db.all("unit_newest", key, first, end, wanted, limit)
    else:
        found = db.all("unit_newest_of", key, first, end, wanted, limit, entity)
    return browse.units(db, key, [row[0] for row in found])


def _neighbours(
    db: Db, key: int, ids: Sequence[bytes], types: Sequence[LinkType], depth: int, fan: int
) -> list[Link]:
    mask = sum(1 << rows.LINK_CODES[link_type] for link_type in set(types))
    links: dict[tuple[bytes, bytes, int], Link] = {}
    seen = set(ids)
    edge = sorted(seen)
    for _ in range(depth):
        reached: set[bytes] = set()
        for _near, source, target, code, weight in db.all_in("link_near", edge, key, fan, mask):
            links[source, target, code] = rows.link(source, target, code, weight)
            reached |= {source, target}
        edge = sorted(reached - seen)
        seen |= reached
    return sorted(links.values(), key=lambda link: (-link.weight, link.source, link.target))


def _document(db: Db, key: int, name: str) -> Document | None:
    row = db.one("document_named", key, name)
    return None if row is None else rows.document(row)


def _documents(db: Db, key: int, limit: int, offset: int) -> list[Document]:
    return [rows.document(row) for row in db.all("document_list", key, limit, offset)]


def _document_names(db: Db, key: int, ids: Sequence[bytes]) -> dict[bytes, str]:
    return {row[0]: row[1] for row in db.all_in("document_names", sorted(set(ids)), key)}


def _chunks(db: Db, key: int, document_id: bytes) -> list[Chunk]:
    return [Chunk(*row) for row in db.all("chunk_list", key, document_id)]


def _sources_of(db: Db, key: int, document_id: bytes) -> list[Unit]:
    return [unit_rows.unit(row) for row in db.all("unit_sources_of", key, document_id)]


def _units_of(db: Db, key: int, document_id: bytes) -> list[Unit]:
    return [unit_rows.unit(row) for row in db.all("unit_of_document", key, document_id)]
