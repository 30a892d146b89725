"""The future of a bank: write and read intentions, occurrences and events."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...nouns.intention import Event, Intention, Occurrence, OccurrenceState
from ...nouns.memory import BankRef
from ..intentions import (
    Cue,
    IntentionBatch,
    IntentionFilter,
    IntentionsApplied,
    Offer,
)
from . import intention_reads, intention_write, job_put, records
from .apply import advance
from .banks import ensure_bank, owned
from .db import Db
from .intention_rows import (
    event,
    intention,
    offer,
    spelled,
)
from .view import read_state
from .work import Unchanged, Work


def write(db: Db, ref: BankRef, batch: IntentionBatch, now: int) -> IntentionsApplied:
    """Write a batch; see `keeping.intentions.IntentionBatch`.

    Raises:
        Conflict: an intention has another version.
        Unchanged: nothing was changed; it carries the result.
    """
    db.lock_bank(ref.key)
    state = read_state(db, ref)
    ensure_bank(db, ref, now)
    work = Work(db, ref.key, now, state.generation, (), state.revision + 1)
    result = intention_write.write(work, batch)
    job_put.put(work, ref, batch.jobs)
    records.put(work, batch.records)
    if not work.changed:
        raise Unchanged(result)
    if work.deleted:
        db.run("deletions_note")
    advance(work, ref)
    return result


def by_id(db: Db, ref: BankRef, ids: Sequence[bytes]) -> list[Intention]:
    """Return intentions in the order of `ids`."""
    return intention_reads.some(db, ref.key, ids) if owned(db, ref) else []


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
    return intention_reads.due(db, ref.key, before, ceiling, limit) if owned(db, ref) else []


def waiting(
    db: Db, ref: BankRef, events: Sequence[str], ceiling: float | None, limit: int
) -> list[Intention]:
    """Return active intentions that wait for one of these events."""
    if not owned(db, ref):
        return []
    return intention_reads.waiting(db, ref.key, events, ceiling, limit)


def unindexed(db: Db, ref: BankRef, ceiling: float | None, limit: int) -> list[Intention]:
    """Return active composite intentions, and contexts without a vector."""
    return intention_reads.unindexed(db, ref.key, ceiling, limit) if owned(db, ref) else []


def cues(db: Db, ref: BankRef, after: int, limit: int) -> list[Cue]:
    """Return the vectors of context triggers changed after a place, whole places at a time."""
    return intention_reads.cues(db, ref.key, after, limit) if owned(db, ref) else []


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


def offer_places(db: Db, ref: BankRef, before: int, limit: int) -> list[tuple[int, bytes]]:
    """Return where the occurrences to be offered by a time stand, in order."""
    if not owned(db, ref):
        return []
    return [(at, i) for at, i in db.all("occurrence_places", ref.key, before, limit)]


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
    found = {o.occurrence.id: o for o in intention_write.by_id(db, ref.key, ids)}
    return [found[i] for i in ids if i in found]


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
