"""Pages of units, documents and chunks: the browsing part of a snapshot's reader."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from ...nouns.memory import Chunk, Curation, Kind, Layer, Link, Unit
from ..browse import ChunkPage, DocumentPage, During, TagRule, UnitFilter, UnitPage, UnitTime
from . import rows, unit_rows
from .db import Db

_KINDS = {int(kind): kind for kind in Kind}
_TIMES = tuple(UnitTime)

_id = attrgetter("id")


class Browsing:
    """See `keeping.browse.BrowseReader`."""

    _db: Db
    _key: int

    def browse(self, wanted: UnitFilter, limit: int, offset: int = 0) -> UnitPage:
        """Return units, newest first (id descending on ties), invalid ones too."""
        find = _narrow if wanted.narrow or wanted.invalid else _newest
        ids, total = find(self._db, self._key, wanted, limit, offset)
        return UnitPage(units(self._db, self._key, ids), total)

    def read_from(self, source_ids: Sequence[bytes]) -> list[Unit]:
        """Return the facts read from these sources in id order, invalid ones included."""
        found = self._db.all_in("browse_read_from", sorted(set(source_ids)), self._key)
        return sorted(map(unit_rows.unit, found), key=_id)

    def following(self, ids: Sequence[bytes]) -> list[Unit]:
        """Return the sources whose `previous_id` is one of these, in id order."""
        found = self._db.all_in("unit_ids_after", sorted(set(ids)), self._key)
        return units(self._db, self._key, sorted({row[0] for row in found}))

    def said_between(self, document_id: bytes, first: int, last: int) -> list[Unit]:
        """Return a document's sources from one turn to another, in order; no invalid ones."""
        found = self._db.all("unit_said_between", self._key, document_id, first, last)
        return list(map(unit_rows.unit, found))

    def same(self, ids: Sequence[bytes]) -> Mapping[bytes, tuple[bytes, ...]]:
        """Return for each unit those that say the same, itself included, oldest first."""
        return same(self._db, self._key, ids)

    def curations(self, ids: Sequence[bytes]) -> Mapping[bytes, Curation]:
        """Return what people did to these units; those nobody touched are left out."""
        return curations(self._db, self._key, ids)

    def links_of(self, ids: Sequence[bytes]) -> list[Link]:
        """Return every stored link that touches one of these units, by source, type, target."""
        found = set(self._db.all_in("browse_links", sorted(set(ids)), self._key))
        links = (rows.link(source, target, code, weight) for source, target, code, weight in found)
        return sorted(links, key=lambda link: (link.source, link.type, link.target))

    def documents_like(
        self,
        name: str,
        tags: TagRule | None,
        limit: int,
        offset: int = 0,
        during: During | None = None,
    ) -> DocumentPage:
        """Return documents whose name contains `name`, whatever its case; all when it is empty."""
        if not name and tags is None and during is None:
            found = self._db.all("document_list", self._key, limit, offset)
            total = _counts(self._db, self._key)[3]
        else:
            rest: tuple[Any, ...] = (None, None, *_rule(tags))
            query, count = "document_like", "document_like_count"
            if during is not None:
                time, start, end = _during(during)
                query, count = "document_during", "document_during_count"
                rest = (start, end, *_rule(tags), time)
            needle = name.casefold() or None
            found = self._db.all(query, self._key, needle, limit, offset, *rest)
            total = self._db.value(count, self._key, needle, None, None, *rest)
        return DocumentPage([rows.document(row) for row in found], total)

    def document_names(self, ids: Sequence[bytes]) -> Mapping[bytes, str]:
        """Return the names of documents."""
        return dict(self._db.all_in("document_names", sorted(set(ids)), self._key))

    def kinds_in(self, document_ids: Sequence[bytes]) -> Mapping[bytes, Mapping[Kind, int]]:
        """Count the units of documents by kind; a document without units is left out."""
        counts: dict[bytes, dict[Kind, int]] = defaultdict(dict)
        found = self._db.all_in("document_kinds", sorted(set(document_ids)), self._key)
        for document_id, kind, count in found:
            counts[document_id][_KINDS[kind]] = count
        return dict(counts)

    def chunk_page(self, document_id: bytes, limit: int, offset: int = 0) -> ChunkPage:
        """Return some of a document's chunks in order."""
        found = self._db.all("chunk_page", self._key, document_id, limit, offset)
        total = self._db.value("chunk_count", self._key, document_id)
        return ChunkPage([Chunk(*row) for row in found], total)


def units(db: Db, key: int, ids: Sequence[bytes]) -> list[Unit]:
    """Return units in the order of `ids`; missing ones are left out."""
    found = {row[0]: unit_rows.unit(row) for row in db.all_in("unit_some", ids, key)}
    return [found[unit_id] for unit_id in ids if unit_id in found]


def same(db: Db, key: int, ids: Sequence[bytes]) -> dict[bytes, tuple[bytes, ...]]:
    """Return for each unit those that say the same, itself included, oldest first."""
    found: dict[bytes, tuple[bytes, ...]] = {}
    for unit_id, other in db.all_in("sameness_some", sorted(set(ids)), key):
        found[unit_id] = (*found.get(unit_id, ()), other)
    return found


def curations(db: Db, key: int, ids: Sequence[bytes]) -> dict[bytes, Curation]:
    """Return what people did to these units; those nobody touched are left out."""
    found = db.all_in("curation_some", sorted(set(ids)), key)
    return {i: Curation(i, bool(invalid), rows.parsed(data)) for i, invalid, data in found}


def _newest(
    db: Db, key: int, wanted: UnitFilter, limit: int, offset: int
) -> tuple[list[bytes], int]:
    """Find a page when nothing but layer and state is asked for; the total comes from counters."""
    mask, state = _mask(wanted.layers), _flag(wanted.invalid)
    found = db.all("browse_newest", key, mask, state, int(wanted.folded), limit, offset)
    counts = _counts(db, key)
    total = sum(counts[layer] for layer in set(wanted.layers))
    if wanted.invalid is False:
        total -= db.value("browse_invalid", key, mask)
    if wanted.folded:
        total -= db.value("browse_repeats", key, mask, int(wanted.invalid is None))
    return [row[0] for row in found], total


def _narrow(
    db: Db, key: int, wanted: UnitFilter, limit: int, offset: int
) -> tuple[list[bytes], int]:
    name = "browse_narrow"
    if wanted.document_id is not None:
        name = "browse_document"
    elif wanted.entity_id is not None:
        name = "browse_entity"
    asked = (
        key,
        _mask(wanted.layers),
        _flag(wanted.invalid),
        int(wanted.folded),
        None if wanted.kind is None else int(wanted.kind),
        wanted.text.casefold() or None,
        *_rule(wanted.tags),
        wanted.document_id,
        wanted.chunk_index,
        wanted.entity_id,
        *_during(wanted.during),
    )
    found = db.all(name, *asked, limit, offset)
    if found:
        return [row[0] for row in found], found[0][1]
    beyond = db.one(name, *asked, 1, 0) if offset else None  # past the end, the total is not told
    return [], beyond[1] if beyond else 0


def _counts(db: Db, key: int) -> tuple[int, ...]:
    """Return the bank's units by layer, and its documents."""
    return db.one("browse_counts", key) or (0, 0, 0, 0)


def _mask(layers: Sequence[Layer]) -> int:
    return sum(1 << layer for layer in set(layers))


def _flag(value: bool | None) -> int | None:
    return None if value is None else int(value)


def _during(wanted: During | None) -> tuple[int | None, int | None, int | None]:
    """Return the parameters of `browse_time` and of its bounds."""
    if wanted is None:
        return None, None, None
    return _TIMES.index(wanted.time), wanted.start, wanted.end


def _rule(tags: TagRule | None) -> tuple[Any, ...]:
    """Return the parameters of `tags_fit`."""
    if tags is None:
        return None, None, None, None
    distinct = list(dict.fromkeys(tags.tags))
    return rows.dump(distinct), tags.least, int(tags.untagged), len(distinct) if tags.only else None
