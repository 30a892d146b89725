"""The part of `apply` that puts documents: new ones, and newer ones that keep much of the older."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from ...nouns.errors import Conflict
from ...nouns.memory import BankRef, Chunk, Document, Op, Unit
from ..batch import DocumentWrite, KeptUnit, Reading
from . import mentions, remove, rows, truth, unit_rows
from .db import MAX_IN, Db
from .work import Work


def documents(work: Work, writes: Sequence[DocumentWrite], again: Set[bytes]) -> list[bytes]:
    """Put documents with their chunks; return the ids of the units that went with older ones.

    `again` are the units that the batch puts again: they are replaced rather than deleted.
    """
    gone: list[bytes] = []
    for write in writes:
        row = work.db.one("document_named", work.key, write.document.name)
        old_id = None if row is None else row[0]
        if old_id == write.document.id and (write.extends or write.keep or write.moved):
            gone += _renew(work, write, again)
            continue
        if old_id is not None:
            old = [r[0] for r in work.db.all("unit_ids_of_document", work.key, old_id)]
            gone += remove.units(work, [i for i in old if i not in again], Op.DELETE, again)
            remove.document(work, old_id)
        work.db.later("document_insert", [rows.document_params(work.key, write.document)])
        _write_chunks(work, write.document.id, write.chunks)
        work.documents += 1
        work.changed = True
    return gone


def check_reading(db: Db, ref: BankRef, reading: Reading) -> None:
    """Refuse what was read from a document that has changed since.

    Raises:
        Conflict: it has another hash, or somebody else reads it.
    """
    where = (ref.key, reading.document_id, reading.content_hash, reading.token)
    if not db.value("document_read_by", *where):
        raise Conflict("the document was changed while it was read", field="reading")


def end_reading(work: Work, reading: Reading) -> None:
    """Note that a document is read as far as a token says."""
    row = work.db.one("document_get", work.key, reading.document_id)
    if row is None:
        return
    params = dict(rows.document(row).params or {})
    left = [token for token in params.pop("reading", ()) if token != reading.token]
    if left:
        params["reading"] = left
    work.db.later("document_tell", [(work.key, reading.document_id, rows.dump(params))])
    work.changed = True


def _renew(work: Work, write: DocumentWrite, again: Set[bytes]) -> list[bytes]:
    """Write a newer version of a document over the older one."""
    document = write.document
    gone = [] if write.extends else _remove_others(work, write, again)
    work.db.run("document_update", *_update_params(work.key, document))
    written = _write_chunks(work, document.id, write.chunks)
    if not write.extends:
        last = max((chunk.index for chunk in write.chunks), default=-1)
        written += work.db.run("chunk_trim", work.key, document.id, last)
        work.deleted = work.deleted or written > 0  # a text may have been written over
    for start in range(0, len(write.moved), MAX_IN):
        _move(work, write.moved[start : start + MAX_IN])
    work.changed = True
    return gone


def _remove_others(work: Work, write: DocumentWrite, again: Set[bytes]) -> list[bytes]:
    """Delete the document's units that are neither kept nor read from one that is."""
    keep = {*write.keep, *(each.unit.id for each in write.moved), *again}
    found = work.db.all("unit_roots_of_document", work.key, write.document.id)
    going = [unit_id for unit_id, root in found if unit_id not in keep and root not in keep]
    return remove.units(work, going, Op.DELETE, again) if going else []


def _write_chunks(work: Work, document_id: bytes, chunks: Sequence[Chunk]) -> int:
    texts = ((work.key, document_id, chunk.index, chunk.text) for chunk in chunks)
    return work.db.many("chunk_put", texts)


def _update_params(key: int, document: Document) -> tuple[object, ...]:
    params = rows.document_params(key, document)
    return (key, document.id, document.content_hash, *params[5:])


def _move(work: Work, moves: Sequence[KeptUnit]) -> None:
    """Write what has changed about sources that stay."""
    db, key = work.db, work.key
    found = db.all_in("unit_some", [each.unit.id for each in moves], key)
    stored = {row[0]: unit_rows.unit(row) for row in found}
    for each in moves:
        old = stored.get(each.unit.id)
        if old is None:
            continue
        _place(work, old, each.unit)
        if _told(old) != _told(each.unit):
            _tell(work, old, each.unit)
        if each.same:
            _say(work, each)
        if each.window_terms is not None:
            db.run("search_window", key, old.id, each.window_terms)
            for generation in work.generations:
                db.run_in("vector_unwindow", [old.id], key, generation)
            work.put[old.id] = None


def _place(work: Work, old: Unit, new: Unit) -> None:
    place = (new.chunk_index, new.turn, new.part)
    if place != (old.chunk_index, old.turn, old.part):
        work.db.run("unit_carry", work.key, old.id, *place)
    span = (new.start, new.end, new.previous_id)
    if span != (old.start, old.end, old.previous_id) or new.entities != old.entities:
        work.db.run("unit_place", work.key, old.id, *span, rows.dump_list(new.entities))
    if new.entities != old.entities:
        mentions.withdraw(work, old, frozenset(old.entities) - frozenset(new.entities))
        work.put[old.id] = None


def _say(work: Work, kept: KeptUnit) -> None:
    """Write what units say, as keys."""
    work.db.run_in("sameness_delete", list(kept.same), work.key)
    found = {row[0] for row in work.db.all("unit_ids_of_root", work.key, kept.unit.id)}
    keys = ((work.key, i, k) for i, k in kept.same.items() if k is not None and i in found)
    work.db.later("sameness_insert", keys)


def _told(unit: Unit) -> tuple[int, str | None, Mapping[str, str] | None, tuple[str, ...]]:
    return unit.mentioned_at, unit.note, unit.metadata or None, unit.tags


def _tell(work: Work, old: Unit, new: Unit) -> None:
    """Write what is told about a source on it and on what was read from it."""
    told = (new.note, rows.dump_some(new.metadata), rows.dump_list(new.tags))
    found = work.db.all("unit_tell", work.key, old.id, new.mentioned_at, *told)
    ids = [row[0] for row in found]
    work.put.update(dict.fromkeys(ids))
    if new.mentioned_at != old.mentioned_at:
        mentions.move(work, ids, new.mentioned_at)
        truth.tell(work, ids, new.mentioned_at)
