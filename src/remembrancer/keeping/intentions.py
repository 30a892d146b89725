"""Intentions, occurrences and events: the part of a store that keeps the future."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ..nouns.intention import Event, Intention, IntentionState, Occurrence, OccurrenceState
from ..nouns.memory import BankRef, Job
from .records import Record


@dataclass(frozen=True, slots=True)
class OccurrenceMove:
    """A change of an occurrence, made only while it is as expected.

    `states`: it must stand in one of these. `token`: None, or the token it must have. `lease`
    raises the token and the attempts. `missed` is added to how many instances it stands for.
    """

    id: bytes
    state: OccurrenceState
    ready_at: int | None
    states: Collection[OccurrenceState]
    token: int | None = None
    lease: bool = False
    missed: int = 0


@dataclass(frozen=True, slots=True)
class IntentionBatch:
    """One write of a bank's future; commits together or not at all.

    Order of work: `remove` (with their occurrences), `put`, `occurrences`, `moves`, `events`,
    `jobs`, `records`, `sent`.

    Putting an intention whose `version` is not the stored one's (0: none is stored) is refused with
    `Conflict`; it is stored with the next version. One put for a unit that is gone is left out.
    An occurrence whose intention and slot are known is left as it is; so is an event whose id is.
    `sent` are occurrences that need not be sent any more, until they are moved again.
    A move of an occurrence that is not as expected is left out; with `strict` it refuses the batch
    with `Conflict`.
    """

    remove: Sequence[bytes] = ()
    put: Sequence[Intention] = ()
    occurrences: Sequence[Occurrence] = ()
    moves: Sequence[OccurrenceMove] = ()
    events: Sequence[Event] = ()
    jobs: Sequence[Job] = ()
    records: Sequence[Record] = ()
    sent: Sequence[bytes] = ()
    strict: bool = False


@dataclass(frozen=True, slots=True)
class IntentionsApplied:
    """What such a write did."""

    removed: int = 0
    created: tuple[Occurrence, ...] = ()  # those that were new
    moved: tuple[Occurrence, ...] = ()  # as they stand after it
    events: tuple[str, ...] = ()  # ids that were new


@dataclass(frozen=True, slots=True)
class IntentionFilter:
    """Which intentions. `ceiling`: None for all, else those without a rank above it."""

    states: Collection[IntentionState] | None = None
    source_ids: Sequence[bytes] | None = None
    ceiling: float | None = None


class Offer(NamedTuple):
    """An occurrence with its intention."""

    occurrence: Occurrence
    intention: Intention


class Checkable(NamedTuple):
    """What a check looks at, read at once: in the order of registration, but for what is due."""

    due: list[Intention]  # soonest first
    waiting: list[Intention]  # for one of the events told
    unindexed: list[Intention]  # see `IntentionStore.intentions_unindexed`


class Cue(NamedTuple):
    """The vector of a context trigger, for an index in memory.

    `place` rises with each change of the bank's intentions: read on after the last one seen. A
    removed intention does not come again: it is missing when it is fetched.
    """

    place: int
    intention_id: bytes
    active: bool
    cue: bytes
    generation: int
    threshold: float | None
    armed: bool


class IntentionReader(Protocol):
    """The future of a bank in one snapshot, for work in the thread that holds it; see `Reader`."""

    def intentions_checked(
        self, before: int, events: Sequence[str], ceiling: float | None, most: int
    ) -> Checkable:
        """Return what a check at a time looks at: `most` that are due at most."""
        ...

    def intentions_by_id(self, ids: Sequence[bytes]) -> list[Intention]:
        """Return intentions in the order of `ids`; missing ones are left out."""
        ...

    def cues(self, after: int, limit: int = 10_000) -> list[Cue]:
        """As `IntentionStore.cues`."""
        ...

    def opened(self, ids: Sequence[bytes]) -> list[Offer]:
        """Return the open occurrences of some intentions, newest first."""
        ...

    def offered(self, before: int, ceiling: float | None, limit: int) -> tuple[list[Offer], int]:
        """Return the occurrences to be offered by a time, and how many there are in all.

        By importance descending and then by registration.
        """
        ...


class IntentionStore(Protocol):
    """The part of a store that keeps the future. Erasing a unit removes what was read from it."""

    async def intend(self, ref: BankRef, batch: IntentionBatch) -> IntentionsApplied:
        """Write one batch durably; creates the bank when it is new.

        Raises:
            Conflict: an intention has another version; nothing was written.
        """
        ...

    async def intentions_by_id(self, ref: BankRef, ids: Sequence[bytes]) -> list[Intention]:
        """Return intentions in the order of `ids`; missing ones are left out."""
        ...

    async def intentions(
        self, ref: BankRef, wanted: IntentionFilter, limit: int = 100, offset: int = 0
    ) -> list[Intention]:
        """Return intentions in the order of registration."""
        ...

    async def intention_count(self, ref: BankRef, wanted: IntentionFilter) -> int:
        """Count intentions."""
        ...

    async def intentions_due(
        self, ref: BankRef, before: int, ceiling: float | None, limit: int = 1_000
    ) -> list[Intention]:
        """Return active intentions whose `next_due` is at or before a time, soonest first."""
        ...

    async def intentions_on(
        self, ref: BankRef, events: Sequence[str], ceiling: float | None, limit: int = 10_000
    ) -> list[Intention]:
        """Return active intentions that wait for one of these events, exact and case-sensitive."""
        ...

    async def intentions_unindexed(
        self, ref: BankRef, ceiling: float | None, limit: int = 10_000
    ) -> list[Intention]:
        """Return active intentions that no index finds.

        Composite ones, contexts without a vector, and standing ones: recurring time triggers
        without a rule and a cooldown, which after their first time are due whenever asked for.
        """
        ...

    async def cues(self, ref: BankRef, after: int, limit: int = 10_000) -> list[Cue]:
        """Return the vectors of context triggers changed after a place, in order of place."""
        ...

    async def cues_stale(self, generation: int, limit: int = 1_000) -> list[tuple[BankRef, bytes]]:
        """Return intentions of all tenants whose cue wants embedding, by bank.

        Those that wait for the embedder (generation -1), and those of another generation than this
        one; without those that have ended.
        """
        ...

    async def banks_due(self, before: int, limit: int = 100) -> list[BankRef]:
        """Return banks with an intention due, or an occurrence to send, by a time; of all tenants.

        Standing intentions do not count; see `intentions_unindexed`.
        """
        ...

    async def next_due(self) -> int | None:
        """Return the soonest time at which `banks_due` has something, over all tenants."""
        ...

    async def offers(
        self,
        ref: BankRef,
        *,
        ready_before: int | None = None,
        states: Collection[OccurrenceState] | None = None,
        intention_ids: Sequence[bytes] | None = None,
        ceiling: float | None = None,
        limit: int = 1_000,
        offset: int = 0,
    ) -> list[Offer]:
        """Return occurrences with their intentions.

        With `ready_before` those to be offered by then, by importance descending and then by
        registration; else all, newest first.
        """
        ...

    async def to_send(self, ref: BankRef, before: int, limit: int = 1_000) -> list[Offer]:
        """Return the occurrences to be sent by a time, soonest first; see `sent`."""
        ...

    async def offers_since(
        self,
        ref: BankRef,
        after: tuple[int, bytes],
        before: int,
        ceiling: float | None,
        limit: int = 1_000,
    ) -> list[Offer]:
        """Return occurrences to be offered by a time, beyond a place in (`ready_at`, id) order.

        For streams: one that is to be offered again comes again, with its new time.
        """
        ...

    async def offer_places(
        self, ref: BankRef, before: int, limit: int = 10_000
    ) -> list[tuple[int, bytes]]:
        """Return where the occurrences to be offered by a time stand, in (`ready_at`, id) order.

        Whatever their ranks: fetch them to see who may know.
        """
        ...

    async def offer_count(self, ref: BankRef, ready_before: int, ceiling: float | None) -> int:
        """Count the occurrences to be offered by a time."""
        ...

    async def offers_by_id(self, ref: BankRef, ids: Sequence[bytes]) -> list[Offer]:
        """Return occurrences with their intentions, in the order of `ids`."""
        ...

    async def events(
        self, ref: BankRef, names: Sequence[str] | None, since: int, limit: int = 1_000
    ) -> list[Event]:
        """Return events that happened at or after a time, oldest first; None: of any name."""
        ...

    async def events_by_id(self, ref: BankRef, ids: Sequence[str]) -> list[Event]:
        """Return events by their ids, in the order of `ids`; missing ones are left out."""
        ...

    async def events_trim(self, ref: BankRef, before: int) -> int:
        """Drop events received before a time; return how many went."""
        ...
