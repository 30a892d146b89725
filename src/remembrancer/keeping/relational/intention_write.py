"""The part of a write that changes a bank's future, inside its transaction."""

from __future__ import annotations

from collections.abc import Sequence

from ...nouns.errors import Conflict
from ...nouns.intention import Occurrence
from ..intentions import IntentionBatch, IntentionsApplied, OccurrenceMove, Offer
from . import intention_put, intention_remove
from .db import Db
from .intention_rows import event_params, occurrence_params, offer, spelled
from .work import Work


def write(work: Work, batch: IntentionBatch) -> IntentionsApplied:
    """Write intentions, occurrences and events of a batch, in the order that it tells.

    Raises:
        Conflict: an intention has another version, or a strict batch moves what has changed.
    """
    removed = intention_remove.remove(work, batch.remove)
    intention_put.put(work, batch.put)
    created = tuple(o for o in batch.occurrences if _create(work, o))
    moved = _move(work, batch.moves)
    if batch.strict and len(moved) < len(batch.moves):
        raise Conflict("an occurrence was changed meanwhile; read it again and retry")
    events = tuple(
        e.id for e in batch.events if work.db.run("event_insert", *event_params(work.key, e))
    )
    sent = work.db.many("occurrence_sent", ((work.key, i, work.now) for i in batch.sent))
    work.changed = work.changed or bool(created or moved or events) or sent > 0
    return IntentionsApplied(removed, created, moved, events)


def by_id(db: Db, key: int, ids: Sequence[bytes]) -> list[Offer]:
    """Return occurrences with their intentions, in any order."""
    return [offer(row) for row in db.all_in("occurrence_some", ids, key)]


def _create(work: Work, new: Occurrence) -> bool:
    return work.db.run("occurrence_insert", *occurrence_params(work.key, new)) > 0


def _move(work: Work, moves: Sequence[OccurrenceMove]) -> tuple[Occurrence, ...]:
    done = [
        m.id
        for m in moves
        if work.db.run(
            "occurrence_move",
            work.key,
            m.id,
            str(m.state),
            m.ready_at,
            work.now,
            int(m.lease),
            spelled(m.states),
            m.token,
            m.missed,
        )
    ]
    rows = {o.occurrence.id: o.occurrence for o in by_id(work.db, work.key, done)}
    return tuple(rows[i] for i in done if i in rows)
