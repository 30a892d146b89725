"""The future of a bank: write and read intentions, occurrences and events."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...nouns.errors import Conflict
from ...nouns.intention import Event, Intention, Occurrence, OccurrenceState
from ...nouns.memory import BankRef
from ..intentions import (
    Checkable,
    Cue,
    IntentionBatch,
    IntentionFilter,
    IntentionsApplied,
    OccurrenceMove,
    Offer,
)
from . import intention_remove, job_put, records
from .apply import advance
from .banks import ensure_bank, owned
from .db import Db
from .intention_rows import (
    event,
    event_params,
    intention,
    intention_params,
    occurrence_params,
    offer,
    spelled,
)
from .put import existing
from .view import read_state
from .work import Unchanged, Work

MOST_WAITING = 10_000
"""Looked at in one check."""


def write(db: Db, ref: BankRef, batch: IntentionBatch, now: int) -> IntentionsApplied:
    """Write a batch; see `keeping.intentions.IntentionBatch`.

    Raises:
        Conflict: an intention has another version.
        Unchanged: nothing was changed; it carries the result.
    """
    state = read_state(db, ref)
    ensure_bank(db, ref, now)
    work = Work(db, ref.key, now, state.generation, (), state.revision + 1)
    removed = intention_remove.remove(work, batch.remove)
    _put(work, batch.put)
    created = tuple(o for o in batch.occurrences if _create(work, o))
    moved = _move(work, batch.moves)
    if batch.strict and len(moved) < len(batch.moves):
        raise Conflict("an occurrence was changed meanwhile; read it again and retry")
    events = tuple(e.id for e in batch.events if db.run("event_insert", *event_params(ref.key, e)))
    work.changed = work.changed or bool(created or moved or events)
    job_put.put(work, ref, batch.jobs)
    records.put(work, batch.records)
    sent = db.many("occurrence_sent", ((ref.key, i, now) for i in batch.sent))
    work.changed = work.changed or sent > 0
    result = IntentionsApplied(removed, created, moved, events)
    if not work.changed:
        raise Unchanged(result)
    if work.deleted:
        db.run("deletions_note")
    advance(work, ref)
    return result


def _put(work: Work, new: Sequence[Intention]) -> None:
    if not new:
        return
    sources = [i.source_id for i in new if i.source_id is not None]
    present = existing(work, sources) if sources else set()
    kept = [i for i in new if i.source_id is None or i.source_id in present]
    ids = [i.id for i in kept]
    versions = {row[0]: row[1] for row in work.db.all_in("intention_versions", ids, work.key)}
    for each in kept:
        if versions.get(each.id, 0) != each.version:
            raise Conflict(
                "the intention was changed meanwhile; read it again and retry", field="version"
            )
    work.db.many(
        "intention_put", (intention_params(work.key, work.revision, each) for each in kept)
    )
    work.changed = work.changed or bool(kept)


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
    rows = {o.occurrence.id: o.occurrence for o in _offers(work.db, work.key, done)}
    return tuple(rows[i] for i in done if i in rows)


def by_id(db: Db, ref: BankRef, ids: Sequence[bytes]) -> list[Intention]:
    """Return intentions in the order of `ids`."""
    if not owned(db, ref):
        return []
    found = {row[0]: intention(row) for row in db.all_in("intention_some", ids, ref.key)}
    return [found[i] for i in ids if i in found]


def listing(
    db: Db, ref: BankRef, wanted: IntentionFilter, limit: int, offset: int
) -> list[Intention]:
    """Return intentions in the order of registration."""
    if not owned(db, ref):
        return []
    if wanted.source_ids is not None:
        return _of_sources(db, ref, wanted)[offset : offset + limit]
    states = spelled(wanted.states)
    rows = db.all("intention_list", ref.key, states, wanted.ceiling, limit, offset)
    return [intention(row) for row in rows]


def count(db: Db, ref: BankRef, wanted: IntentionFilter) -> int:
    """Count intentions."""
    if not owned(db, ref):
        return 0
    if wanted.source_ids is not None:
        return len(_of_sources(db, ref, wanted))
    found: int = db.value("intention_count", ref.key, spelled(wanted.states), wanted.ceiling)
    return found


def _of_sources(db: Db, ref: BankRef, wanted: IntentionFilter) -> list[Intention]:
    rows = db.all_in("intention_of_sources", wanted.source_ids or (), ref.key)
    found = sorted((intention(row) for row in rows), key=lambda i: i.id)
    return [
        i
        for i in found
        if (wanted.states is None or i.state in wanted.states)
        and (wanted.ceiling is None or i.tier_rank is None or i.tier_rank <= wanted.ceiling)
    ]


def due(db: Db, ref: BankRef, before: int, ceiling: float | None, limit: int) -> list[Intention]:
    """Return active intentions that are due, soonest first."""
    if not owned(db, ref):
        return []
    return [intention(row) for row in db.all("intention_is_due", ref.key, before, ceiling, limit)]


def waiting(
    db: Db, ref: BankRef, events: Sequence[str], ceiling: float | None, limit: int
) -> list[Intention]:
    """Return active intentions that wait for one of these events."""
    if not owned(db, ref):
        return []
    rows = db.all_in("intention_waits", sorted(set(events)), ref.key, ceiling, limit)
    return sorted((intention(row) for row in rows), key=lambda i: i.id)[:limit]


def checked(
    db: Db, ref: BankRef, before: int, events: Sequence[str], ceiling: float | None, most: int
) -> Checkable:
    """Return what a check at a time looks at."""
    if not owned(db, ref):
        return Checkable([], [], [])
    return Checkable(
        due(db, ref, before, ceiling, most),
        waiting(db, ref, events, ceiling, MOST_WAITING) if events else [],
        unindexed(db, ref, ceiling, MOST_WAITING),
    )


def unindexed(db: Db, ref: BankRef, ceiling: float | None, limit: int) -> list[Intention]:
    """Return active composite intentions, and contexts without a vector."""
    if not owned(db, ref):
        return []
    return [intention(row) for row in db.all("intention_unindexed", ref.key, ceiling, limit)]


def cues(db: Db, ref: BankRef, after: int, limit: int) -> list[Cue]:
    """Return the vectors of context triggers changed after a place, whole places at a time."""
    if not owned(db, ref):
        return []
    rows = db.all("intention_cues", ref.key, after, limit)
    if len(rows) == limit:  # the last place may be cut in two
        last = rows[-1][0]
        whole = [row for row in rows if row[0] != last]
        rows = whole or db.all("intention_cues_at", ref.key, last)
    return [
        Cue(place, i, bool(live), cue, generation, threshold, bool(armed))
        for place, i, live, cue, generation, threshold, armed in rows
    ]


def cues_stale(db: Db, generation: int, limit: int) -> list[tuple[BankRef, bytes]]:
    """Return intentions whose cue is of another generation, or waits for the embedder."""
    rows = db.all("intention_cues_stale", generation, limit)
    return [(BankRef(tenant, name), found) for tenant, name, found in rows]


def banks_due(db: Db, before: int, limit: int) -> list[BankRef]:
    """Return banks with something due or ready by a time."""
    return [BankRef(*row) for row in db.all("intention_banks_due", before, limit)]


def next_due(db: Db) -> int | None:
    """Return the soonest time at which something is due or ready."""
    found: int | None = db.value("intention_next_due")
    return found


def offers(
    db: Db,
    ref: BankRef,
    ready_before: int | None,
    states: Collection[OccurrenceState] | None,
    intention_ids: Sequence[bytes] | None,
    ceiling: float | None,
    limit: int,
    offset: int,
) -> list[Offer]:
    """Return occurrences with their intentions; see `keeping.intentions.IntentionStore`."""
    if not owned(db, ref):
        return []
    wanted = spelled(states)
    if intention_ids is not None:
        rows = db.all_in(
            "occurrence_of_intentions", intention_ids, ref.key, wanted, ceiling, limit + offset
        )
        found = sorted(map(offer, rows), key=lambda o: o.occurrence.id, reverse=True)
        if ready_before is not None:
            found = [o for o in found if _ready(o.occurrence, ready_before)]
        return found[offset : offset + limit]
    if ready_before is not None:
        rows = db.all("occurrence_offered", ref.key, ready_before, wanted, ceiling, limit, offset)
    else:
        rows = db.all("occurrence_list", ref.key, wanted, ceiling, limit, offset)
    return [offer(row) for row in rows]


def to_send(db: Db, ref: BankRef, before: int, limit: int) -> list[Offer]:
    """Return the occurrences to be sent by a time, soonest first."""
    if not owned(db, ref):
        return []
    return [offer(row) for row in db.all("occurrence_to_send", ref.key, before, limit)]


def offers_since(
    db: Db, ref: BankRef, after: tuple[int, bytes], before: int, ceiling: float | None, limit: int
) -> list[Offer]:
    """Return occurrences to be offered by a time, in order and after a place in it."""
    if not owned(db, ref):
        return []
    rows = db.all("occurrence_since", ref.key, *after, before, ceiling, limit)
    return [offer(row) for row in rows]


def offer_count(db: Db, ref: BankRef, ready_before: int, ceiling: float | None) -> int:
    """Count the occurrences to be offered by a time."""
    if not owned(db, ref):
        return 0
    found: int = db.value("occurrence_count", ref.key, ready_before, ceiling)
    return found


def _ready(found: Occurrence, before: int) -> bool:
    return found.ready_at is not None and found.ready_at <= before


def offers_by_id(db: Db, ref: BankRef, ids: Sequence[bytes]) -> list[Offer]:
    """Return occurrences with their intentions, in the order of `ids`."""
    if not owned(db, ref):
        return []
    found = {o.occurrence.id: o for o in _offers(db, ref.key, ids)}
    return [found[i] for i in ids if i in found]


def _offers(db: Db, key: int, ids: Sequence[bytes]) -> list[Offer]:
    return [offer(row) for row in db.all_in("occurrence_some", ids, key)]


def events(
    db: Db, ref: BankRef, names: Sequence[str] | None, since: int, limit: int
) -> list[Event]:
    """Return events that happened at or after a time, oldest first."""
    if not owned(db, ref):
        return []
    if names is None:
        return [event(row) for row in db.all("event_list", ref.key, since, limit)]
    rows = db.all_in("event_named", sorted(set(names)), ref.key, since, limit)
    return sorted(map(event, rows), key=lambda e: (e.at, e.id))[:limit]


def events_by_id(db: Db, ref: BankRef, ids: Sequence[str]) -> list[Event]:
    """Return events in the order of `ids`."""
    if not owned(db, ref):
        return []
    found = {row[0]: event(row) for row in db.all_in("event_some", ids, ref.key)}
    return [found[i] for i in ids if i in found]


def events_trim(db: Db, ref: BankRef, before: int) -> int:
    """Drop events received before a time; return how many went."""
    gone = db.run("event_trim", ref.key, before) if owned(db, ref) else 0
    if gone:
        db.run("deletions_note")
    return gone
