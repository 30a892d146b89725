"""Apply one batch to one bank, inside a write transaction."""

from __future__ import annotations

from collections.abc import Sequence

from ...nouns.errors import Conflict, InvalidInput
from ...nouns.memory import BankRef, Op
from ..batch import Applied, Batch, DocumentWrite
from ..records import COPIES
from . import (
    entity_edits,
    intention_write,
    job_put,
    keep,
    mentions,
    put,
    records,
    remove,
    rows,
    slots,
)
from .banks import ensure_bank
from .db import Db
from .feed import shorten
from .view import read_state
from .work import Unchanged, Work


def apply(db: Db, ref: BankRef, batch: Batch, now: int) -> Applied:
    """Write a batch; see `keeping.store.Batch`.

    Raises:
        Conflict: an expectation does not hold.
        Unchanged: nothing was changed; it carries the result.
    """
    db.lock_bank(ref.key, ("bank_state", None, (ref.key,)))
    state = read_state(db, ref)
    _expect(db, ref, batch, state.revision)
    _check_refs(ref, batch)
    ensure_bank(db, ref, now)
    generations = tuple(row[0] for row in db.all("generation_list"))
    work = Work(db, ref.key, now, state.generation, generations, state.revision + 1)

    kept = {row.unit.id for row in batch.units}
    if batch.future is not None:
        work.relinked = frozenset(i.id for i in batch.future.put if i.source_id in kept)
    replaced = keep.documents(work, batch.documents, kept)
    erased = remove.documents(work, batch.erase_documents)
    erased += remove.units(work, batch.erase, Op.ERASE)
    erased += remove.moved(work, batch.moved)
    job_put.forget(work, batch.erase_documents, batch.fence)
    remove.links(work, batch.unlink)
    put.retag(work, batch.retag)
    put.units(work, batch.units)
    if batch.generation in (0, state.generation):
        put.vectors(work, batch.vectors)
        put.windows(work, batch.windows)
    put.curations(work, batch.curations)
    mentions.add(work, batch.mentions)
    entity_edits.edit(work, batch.entity_edits)
    put.links(work, batch.links)
    slots.settle_all(work)
    if batch.future is not None:
        intention_write.write(work, batch.future)
    job_put.put(work, ref, batch.jobs)
    put.triggers(work, batch.triggers)
    records.erase(work, batch.erase_records)
    records.put(work, batch.records)
    records.erase_blobs(work, batch.erase_blobs)
    if batch.erase or batch.moved or batch.erase_documents:
        records.erase_blobs(work, [COPIES])
    records.put_blobs(work, batch.blobs)
    if batch.reading is not None and batch.reading.done:
        keep.end_reading(work, batch.reading)
    remove.empty_documents(work)
    mentions.settle(work)

    if not work.changed:
        raise Unchanged(Applied(state.revision))
    if work.deleted:
        db.run("deletions_note")
    return Applied(advance(work, ref), tuple(erased), tuple(replaced))


def _expect(db: Db, ref: BankRef, batch: Batch, revision: int) -> None:
    if batch.expect_revision is not None and batch.expect_revision != revision:
        raise Conflict(
            f"bank {ref.bank!r} stands at revision {revision}, not {batch.expect_revision}; "
            "read it again and retry",
            field="expect_revision",
        )
    if batch.fence is not None and not db.value("job_held", ref.key, *batch.fence):
        raise Conflict("the job's lease was lost to another worker", field="fence")
    if batch.reading is not None:
        keep.check_reading(db, ref, batch.reading)
    for write in batch.documents:
        _expect_hash(db, ref, write)


def _expect_hash(db: Db, ref: BankRef, write: DocumentWrite) -> None:
    if write.expect_hash is None:
        return
    row = db.one("document_named", ref.key, write.document.name)
    stored = None if row is None else rows.document(row).content_hash
    if stored != (write.expect_hash or None):
        raise Conflict(
            f"document {write.document.name!r} was changed meanwhile; read it again and retry",
            field="expect_hash",
        )


def _check_refs(ref: BankRef, batch: Batch) -> None:
    named: Sequence[BankRef] = [*(j.ref for j in batch.jobs), *(t.ref for t in batch.triggers)]
    if any(other != ref for other in named):
        raise InvalidInput("a batch's jobs and triggers must name the batch's bank", field="ref")


def advance(work: Work, ref: BankRef) -> int:
    """Raise the bank's revision, write the feed and the counters; return the revision."""
    work.db.later("bank_advance", [(work.key, work.now, *work.tally())])
    state = read_state(work.db, ref)
    revision = state.revision
    feed = [(op, unit_id) for unit_id, op in work.gone.items()]
    feed += [(Op.PUT, unit_id) for unit_id in work.put]
    work.db.later(
        "change_insert",
        ((work.key, revision, n, int(op), unit_id) for n, (op, unit_id) in enumerate(feed)),
    )
    shorten(work.db, work.key, state)
    return revision
