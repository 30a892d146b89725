"""Intentions, occurrences and events to rows and back."""

from __future__ import annotations

from typing import Any

from ...nouns.intention import (
    Event,
    Intention,
    IntentionState,
    Occurrence,
    OccurrenceState,
    TriggerType,
)
from ..intentions import Offer
from .rows import Row, dump, dump_some, load, parsed

_OCCURRENCE_COLUMNS = 12

# What stands in `data`, under short names; what is at its default is left out.
_FIELDS = {
    "content": "content",
    "created_at": "created",
    "updated_at": "updated",
    "recurring": "recurring",
    "trigger_at": "at",
    "cue_text": "cue",
    "armed": "armed",
    "fired_count": "fired",
    "last_fired_at": "last",
    "options": "options",
}
_DEFAULTS: dict[str, Any] = {
    "recurring": False,
    "trigger_at": None,
    "cue_text": None,
    "armed": True,
    "fired_count": 0,
    "last_fired_at": None,
}


def intention(row: Row) -> Intention:
    """Read a row of `intention_columns`."""
    (
        intention_id, version, state, trigger_type, next_due, event, source_id, tier_rank,
        importance, expires_at, threshold, generation, data, cue,
    ) = row  # fmt: skip
    kept = parsed(data)
    return Intention(
        id=intention_id,
        trigger_type=TriggerType(trigger_type),
        importance=importance,
        trigger_event=event,
        cue=cue,
        cue_generation=generation,
        similarity_threshold=threshold,
        source_id=source_id,
        tier_rank=tier_rank,
        state=IntentionState(state),
        next_due=next_due,
        expires_at=expires_at,
        version=version,
        **{name: kept[short] for name, short in _FIELDS.items() if short in kept},
    )


def intention_params(key: int, place: int, i: Intention) -> Row:
    """Write an intention as the values of `intention_put`, with its next version."""
    kept = {
        short: value
        for name, short in _FIELDS.items()
        if (value := getattr(i, name)) != _DEFAULTS.get(name, ...) and value != {}
    }
    return (
        key,
        i.id,
        place,
        i.version + 1,
        str(i.state),
        str(i.trigger_type),
        i.next_due,
        i.trigger_event,
        i.source_id,
        i.tier_rank,
        i.importance,
        i.expires_at,
        i.similarity_threshold,
        i.cue_generation,
        int(i.standing),
        dump(kept),
        i.cue,
    )


def is_armed(data: str) -> bool:
    """Tell whether the intention of that `data` waits for no context to end."""
    armed: bool = parsed(data).get(_FIELDS["armed"], True)
    return armed


def occurrence(row: Row) -> Occurrence:
    """Read a row of `occurrence_columns`."""
    (
        occurrence_id, intention_id, slot, due_at, created_at, updated_at, state, ready_at, token,
        attempts, missed, data,
    ) = row  # fmt: skip
    return Occurrence(
        occurrence_id,
        intention_id,
        slot,
        due_at,
        created_at,
        updated_at,
        OccurrenceState(state),
        ready_at,
        token,
        attempts,
        missed,
        load(data) or {},
    )


def occurrence_params(key: int, o: Occurrence) -> Row:
    """Write an occurrence as the values of `occurrence_insert`."""
    return (
        key,
        o.id,
        o.intention_id,
        o.slot,
        o.due_at,
        o.created_at,
        o.updated_at,
        str(o.state),
        o.ready_at,
        o.token,
        o.attempts,
        o.missed,
        dump_some(o.data or None),
    )


def offer(row: Row) -> Offer:
    """Read a row of both columns."""
    return Offer(occurrence(row[:_OCCURRENCE_COLUMNS]), intention(row[_OCCURRENCE_COLUMNS:]))


def event(row: Row) -> Event:
    """Read a row of `event_list`."""
    event_id, name, at, received_at, data = row
    return Event(event_id, name, at, received_at, load(data) or {})


def event_params(key: int, e: Event) -> Row:
    """Write an event as the values of `event_insert`."""
    return key, e.id, e.name, e.at, e.received_at, dump_some(e.data or None)


def spelled(states: Any) -> str | None:
    """Spell states as the queries look for them: each between spaces; None stays NULL."""
    return None if states is None else f" {' '.join(map(str, states))} "
