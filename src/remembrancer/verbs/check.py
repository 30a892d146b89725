"""check: what is due now, by time, by events told, by what is talked about.

Tier first: what is ranked above the caller's ceiling is not looked at and not consumed. Then what
is due is planned (`plan`), and written together with the lease or the consumption in one
transaction; whoever comes second plans anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple, Protocol

from ..keeping.intentions import IntentionBatch, OccurrenceMove, Offer
from ..keeping.store import Store
from ..keeping.view import Reader
from ..models.embedder import Floats
from ..nouns.clock import Clock
from ..nouns.errors import Conflict, InvalidInput
from ..nouns.ids import IdMaker
from ..nouns.intention import OPEN, Intention, Occurrence, OccurrenceState, TriggerType
from ..nouns.memory import BankRef
from ..nouns.spans import traced
from .reminding.occurrences import MOST_LEASE_S, SECOND_US, ended
from .reminding.plan import GRACE_US, Hit, Plan, Planner

MOST_OFFERS = 1_000
MOST_EVENTS = 1_000
_MOST_DUE = 10_000  # intentions planned in one check, the soonest first
_MOST_OPEN = 100_000  # occurrences of composite intentions
_TRIES = 8
_PEEKS = 2  # times that a look is taken again because something was written meanwhile
_EARLY = "now is later than the server's clock: that counts only for peek"


class Mode(StrEnum):
    """What becomes of what is handed over."""

    LEASE = "lease"  # the caller's for a while: acknowledged, or offered again
    CONSUME = "consume"  # done with handing it over
    PEEK = "peek"  # nothing is written


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What is known now.

    `now` in microseconds, None: the clock's. `events` are names of what just happened. `text` and
    `vector` are what is talked about; a text alone is embedded. `ceiling`: the highest rank that
    the caller may see, None for all.
    """

    now: int | None = None
    events: Sequence[str] = ()
    text: str | None = None
    vector: Floats | None = None
    ceiling: float | None = None
    mode: Mode = Mode.LEASE
    lease_s: float = 60.0
    limit: int = 100


@dataclass(frozen=True, slots=True)
class Due:
    """One thing that is due: the occurrence as handed over, and how late it is."""

    occurrence: Occurrence
    intention: Intention
    late: bool
    late_us: int


@dataclass(frozen=True, slots=True)
class Checked:
    """What is due, by importance and then in the order of registration."""

    due: tuple[Due, ...]
    remaining: int  # due too, beyond the limit; they stay due
    now: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contexts:
    """What the context brings up: those that match, those whose context has ended.

    `ahead`: cues of a later revision than the snapshot's were compared.
    """

    hits: Sequence[Hit] = ()
    ended: Sequence[Intention] = ()
    warnings: Sequence[str] = ()
    ahead: bool = False


class ContextFinder(Protocol):
    """Finds the intentions that a text or its vector brings up."""

    async def prepare(
        self, ref: BankRef, text: str | None, vector: Floats | None
    ) -> tuple[Floats | None, Sequence[str]]:
        """Make ready to look; return the vector to look for, and warnings."""
        ...

    def look(
        self,
        reader: Reader,
        ref: BankRef,
        text: str | None,
        vector: Floats | None,
        ceiling: float | None,
        now: int,
        unindexed: Sequence[Intention],
    ) -> Contexts:
        """Return what matches at or above its threshold; in the thread of the snapshot.

        `unindexed` are the bank's intentions that no index finds.
        """
        ...


class CompositeFinder(Protocol):
    """Finds the composite intentions whose conditions hold."""

    async def __call__(
        self, ref: BankRef, options: CheckOptions, now: int, unindexed: Sequence[Intention]
    ) -> Contexts:
        """Return those that hold now, and the recurring ones that have ceased to."""
        ...


class _Look(NamedTuple):
    """What one snapshot shows: what may fire, and what is open."""

    revision: int
    due: Sequence[Intention]
    waiting: Sequence[Intention]
    unindexed: Sequence[Intention]
    found: Contexts
    opened: Sequence[Offer]  # of all these
    offered: Sequence[Offer]  # to be handed over, the most important first
    offered_count: int


@dataclass(slots=True)
class _Choice:
    """What is handed over of a plan and of what was open before."""

    chosen: list[Offer] = field(default_factory=list)
    remaining: int = 0


class Check:
    """The verb; everything it needs is passed in.

    `trusts_now`: a `now` after the clock's counts in every mode (in the process of a test or an
    application), not only for peeking. `most`: the highest limit of one check.
    """

    def __init__(
        self,
        store: Store,
        contexts: ContextFinder,
        composites: CompositeFinder,
        *,
        ids: IdMaker,
        clock: Clock,
        trusts_now: bool = False,
        most: int = MOST_OFFERS,
    ) -> None:
        self._store = store
        self._contexts = contexts
        self._composites = composites
        self._ids = ids
        self._clock = clock
        self._trusts_now = trusts_now
        self._most = most

    @traced("check")
    async def __call__(self, ref: BankRef, options: CheckOptions | None = None) -> Checked:
        """Return what is due, and lease or consume it.

        Raises:
            InvalidInput: a limit is broken.
            Conflict: others kept changing the same intentions.
        """
        options = options or CheckOptions()
        _check(options, self._most)
        now = self._now(options)
        early = [] if options.now is None or options.now == now else [_EARLY]
        vector, odd = await self._contexts.prepare(ref, options.text, options.vector)
        for attempt in range(_TRIES):
            look = await self._store.read(ref, partial(self._look, ref, options, vector, now))
            plan, found = await self._plan(ref, look, options, now)
            warnings = [*early, *odd, *found]
            choice = _choose(look, plan, options, now)
            if options.mode is Mode.PEEK:
                if attempt < _PEEKS and await self._mixed(ref, look):
                    continue
                return _told(choice.chosen, choice.remaining, now, warnings)
            batch = self._handing(plan, choice.chosen, options, now)
            try:
                applied = await self._store.intend(ref, batch)
            except Conflict:
                continue
            put = {i.id: i for i in batch.put}
            moved = {o.id: o for o in (*applied.created, *applied.moved)}
            handed = [
                Offer(moved[o.occurrence.id], _as_put(o.intention, put))
                for o in choice.chosen
                if o.occurrence.id in moved
            ]
            return _told(handed, choice.remaining, now, warnings)
        raise Conflict("the intentions are changed by others all the time; try again")

    async def _mixed(self, ref: BankRef, look: _Look) -> bool:
        """Tell whether what was read does not belong together; a write would have noticed."""
        if look.found.ahead:
            return True
        if not any(i.trigger_type is TriggerType.COMPOSITE for i in look.unindexed):
            return False
        bank = await self._store.bank(ref)
        return look.revision != (0 if bank is None else bank.revision)

    def _now(self, options: CheckOptions) -> int:
        clock = self._clock.now_us()
        if options.now is None:
            return clock
        if self._trusts_now or options.mode is Mode.PEEK:
            return options.now
        return min(options.now, clock)

    def _look(
        self,
        ref: BankRef,
        options: CheckOptions,
        vector: Floats | None,
        now: int,
        reader: Reader,
    ) -> _Look:
        """Read all that a check needs, in one snapshot and in its thread."""
        ceiling = options.ceiling
        due, waiting, unindexed = reader.intentions_checked(now, options.events, ceiling, _MOST_DUE)
        found = self._contexts.look(reader, ref, options.text, vector, ceiling, now, unindexed)
        # A bare name says nothing of the payload that some ask for.
        waiting = [
            i for i in waiting if i.trigger_type is TriggerType.EVENT and not i.options.get("where")
        ]
        hits = (h.intention for h in found.hits)
        ids = list({i.id for i in (*due, *_standing(unindexed, now), *waiting, *hits)})
        opened = reader.opened(ids) if ids else []
        offered, count = reader.offered(now, ceiling, options.limit)
        return _Look(reader.revision, due, waiting, unindexed, found, opened, offered, count)

    async def _plan(
        self, ref: BankRef, look: _Look, options: CheckOptions, now: int
    ) -> tuple[Plan, Sequence[str]]:
        found = look.found
        composed = await self._composites(ref, options, now, look.unindexed)
        opened = [*look.opened]
        if composed.hits:
            ids = list({h.intention.id for h in composed.hits})
            opened += await self._store.offers(
                ref, states=OPEN, intention_ids=ids, limit=_MOST_OPEN
            )
        told = [Hit(i, None, now, {"event": i.trigger_event}) for i in look.waiting]
        open_ones = {o.intention.id: o.occurrence for o in opened}
        planner = Planner(self._ids, now, open_ones, [o.occurrence for o in opened])
        planner.due(look.due)
        planner.standing(_standing(look.unindexed, now))
        planner.hits([*told, *found.hits, *composed.hits])
        planner.rearm([*found.ended, *composed.ended])
        return planner.plan, [*found.warnings, *composed.warnings]

    def _handing(
        self, plan: Plan, chosen: Sequence[Offer], options: CheckOptions, now: int
    ) -> IntentionBatch:
        """Return the plan with the lease or consumption of what is chosen, as one write."""
        clock = self._clock.now_us()
        state, ready_at = OccurrenceState.LEASED, max(now, clock) + _us(options.lease_s)
        until: int | None = ready_at
        changed = dict(plan.changed)
        if options.mode is Mode.CONSUME:
            state, until = OccurrenceState.ACKED, None
            for offer in chosen:
                latest = changed.get(offer.intention.id, offer.intention)
                changed[latest.id] = replace(ended(latest, acked=True), updated_at=now)
        taken = {offer.occurrence.id: offer.occurrence for offer in chosen}
        made = [
            # One that is new is made as it is handed over, rather than made and moved.
            replace(o, state=state, ready_at=until, token=1, attempts=1, updated_at=clock)
            if taken.pop(o.id, None) is not None
            else o
            for o in plan.occurrences
        ]
        moves = [
            OccurrenceMove(o.id, state, until, OPEN, o.token, lease=True) for o in taken.values()
        ]
        return replace(
            plan.batch(), put=list(changed.values()), occurrences=made, moves=[*plan.moves, *moves]
        )


def _standing(unindexed: Sequence[Intention], now: int) -> list[Intention]:
    """Return those that are due whenever asked for."""
    return [
        i for i in unindexed if i.trigger_type is TriggerType.TIME and (i.trigger_at or 0) <= now
    ]


def _choose(look: _Look, plan: Plan, options: CheckOptions, now: int) -> _Choice:
    """Take the most important of what was open before and what is planned."""
    going = {m.id for m in plan.moves if m.ready_at is None}
    before = [
        Offer(o.occurrence, plan.now_of(o.intention))
        for o in look.offered
        if o.occurrence.id not in going
    ]
    made = [
        Offer(o, plan.changed[o.intention_id])
        for o in plan.occurrences
        if o.ready_at is not None and o.ready_at <= now
    ]
    offers = sorted(
        [*before, *made],
        key=lambda o: (-o.intention.importance, o.intention.id, o.occurrence.due_at),
    )
    chosen = offers[: options.limit]
    return _Choice(chosen, max(0, look.offered_count - len(going) + len(made) - len(chosen)))


def _as_put(intention: Intention, put: Mapping[bytes, Intention]) -> Intention:
    """Return an intention as it stands after a write."""
    written = put.get(intention.id)
    return intention if written is None else replace(written, version=written.version + 1)


def _us(seconds: float) -> int:
    return int(seconds * SECOND_US)


def _told(offers: Sequence[Offer], remaining: int, now: int, warnings: Sequence[str]) -> Checked:
    due = tuple(_due(offer, now - offer.occurrence.due_at) for offer in offers)
    return Checked(due, remaining, now, tuple(warnings))


def _due(offer: Offer, late_us: int) -> Due:
    return Due(offer.occurrence, offer.intention, late_us > GRACE_US, late_us)


def _check(options: CheckOptions, most: int) -> None:
    limits: Mapping[str, tuple[Any, float, float]] = {
        "limit": (options.limit, 1, most),
        "lease": (options.lease_s, 1, MOST_LEASE_S),
        "events": (len(options.events), 0, MOST_EVENTS),
    }
    for name, (value, least, limit) in limits.items():
        if not least <= value <= limit:
            raise InvalidInput(f"{name} must be {least} to {limit}", field=name, limit=limit)
