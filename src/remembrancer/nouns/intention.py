"""The nouns of the future: intentions, their occurrences, and the events they wait for.

Times are microseconds since 1970 (UTC).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class TriggerType(StrEnum):
    """What an intention waits for."""

    TIME = "time_based"
    EVENT = "event_based"
    CONTEXT = "context_based"
    COMPOSITE = "composite"  # all or any of several


class IntentionState(StrEnum):
    """Where an intention stands."""

    PROPOSED = "proposed"  # found in a text; waits for someone to confirm it
    ACTIVE = "active"
    PAUSED = "paused"
    DONE = "done"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class OccurrenceState(StrEnum):
    """Where one due instance of an intention stands."""

    DUE = "due"
    LEASED = "leased"  # handed over, not acknowledged yet
    SNOOZED = "snoozed"
    ACKED = "acked"
    DISMISSED = "dismissed"
    EXPIRED = "expired"
    DEAD = "dead_letter"  # delivery was given up


OPEN = frozenset({OccurrenceState.DUE, OccurrenceState.LEASED, OccurrenceState.SNOOZED})
"""The states in which an occurrence is still to be offered."""


@dataclass(frozen=True, slots=True)
class Intention:
    """What the agent means to do later.

    `cue` is the embedding of `cue_text` as float32 components, little endian; `cue_generation` the
    store's embedding generation it is of, 0 for a vector that the caller gave, -1 while it waits.
    `next_due` is when it is to be looked at next as time passes. `armed` is false while a recurring
    context trigger waits for the context to end. `options` hold what is rarely asked for: zone,
    recurrence, quiet hours, cooldown, composite conditions, channel. `version` rises with each
    change.
    """

    id: bytes
    content: str
    trigger_type: TriggerType
    created_at: int
    updated_at: int
    importance: float = 0.5
    recurring: bool = False
    trigger_at: int | None = None
    trigger_event: str | None = None
    cue_text: str | None = None
    cue: bytes | None = None
    cue_generation: int = 0
    similarity_threshold: float | None = None
    source_id: bytes | None = None  # the unit it was read from
    tier_rank: float | None = None  # withheld from callers whose ceiling is lower
    state: IntentionState = IntentionState.ACTIVE
    next_due: int | None = None
    expires_at: int | None = None
    armed: bool = True
    fired_count: int = 0
    last_fired_at: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    version: int = 0

    @property
    def standing(self) -> bool:
        """Whether it is due whenever asked for: recurring, with nothing that says how often."""
        return (
            self.trigger_type is TriggerType.TIME
            and self.recurring
            and self.last_fired_at is not None
            and not self.options.get("recurrence")
            and not self.options.get("cooldown_s")
        )


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One due instance of an intention.

    `slot` is unique within its intention: the time it fell due, the event's id, or the number of
    the context's episode; so an occurrence is made once, whoever makes it. `ready_at` is when it is
    to be offered next, None once it has ended. `token` rises with each lease: an answer that names
    an old one comes too late.
    """

    id: bytes
    intention_id: bytes
    slot: str
    due_at: int
    created_at: int
    updated_at: int
    state: OccurrenceState = OccurrenceState.DUE
    ready_at: int | None = None
    token: int = 0
    attempts: int = 0
    missed: int = 0  # earlier instances that were folded into this one
    data: Mapping[str, Any] = field(default_factory=dict)  # the event's payload, the similarity


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, told by a caller; `id` is the caller's own and unique in a bank."""

    id: str
    name: str
    at: int
    received_at: int
    data: Mapping[str, Any] = field(default_factory=dict)
