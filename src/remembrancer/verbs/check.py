"""check: what is due now, by time, by events told, by what is talked about.

Tier first: what is ranked above the caller's ceiling is not looked at and not consumed. Then what
is due is planned (`plan`), and written together with the lease or the consumption in one
transaction; whoever comes second plans anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from ..keeping.intentions import IntentionBatch, OccurrenceMove, Offer
from ..keeping.store import Store
from ..models.embedder import Floats
from ..nouns.clock import Clock
from ..nouns.errors import Conflict, InvalidInput
from ..nouns.ids import IdMaker
from ..nouns.intention import OPEN, Intention, Occurrence, OccurrenceState, TriggerType
from ..nouns.memory import BankRef
from .reminding.occurrences import MOST_LEASE_S, SECOND_US, ended
from .reminding.plan import GRACE_US, Hit, Plan, Planner

MOST_OFFERS = 1_000
MOST_EVENTS = 1_000
_MOST_DUE = 10_000  # intentions planned in one check, the soonest first
_MOST_OPEN = 100_000
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
    """What the context brings up: those that match, those whose context has ended."""

    hits: Sequence[Hit] = ()
    ended: Sequence[Intention] = ()
    warnings: Sequence[str] = ()


class ContextFinder(Protocol):
    """Finds the intentions that a text or its vector brings up."""

    async def __call__(
        self,
        ref: BankRef,
        text: str | None,
        vector: Floats | None,
        ceiling: float | None,
        now: int,
        unindexed: Sequence[Intention],
    ) -> Contexts:
        """Return what matches at or above its threshold.

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
        for attempt in range(_TRIES):
            revision = await self._revision(ref, options)
            plan, found = await self._plan(ref, options, now)
            warnings = [*early, *found]
            choice = await self._choose(ref, plan, options, now)
            if options.mode is Mode.PEEK:
                if attempt < _PEEKS and revision != await self._revision(ref, options):
                    continue  # what was read does not belong together
                return _told(choice.chosen, choice.remaining, now, warnings)
            until = max(now, self._clock.now_us()) + int(options.lease_s * SECOND_US)
            batch = _handing(plan, choice.chosen, options, now, until)
            try:
                applied = await self._store.intend(ref, batch)
            except Conflict:
                continue
            moved = {o.id: o for o in applied.moved}
            handed = [
                Offer(moved[o.occurrence.id], _as_put(o.intention, batch))
                for o in choice.chosen
                if o.occurrence.id in moved
            ]
            return _told(handed, choice.remaining, now, warnings)
        raise Conflict("the intentions are changed by others all the time; try again")

    async def _revision(self, ref: BankRef, options: CheckOptions) -> int | None:
        """Return the bank's revision where nothing is written that would notice a change."""
        if options.mode is not Mode.PEEK:
            return None
        bank = await self._store.bank(ref)
        return None if bank is None else bank.revision

    def _now(self, options: CheckOptions) -> int:
        clock = self._clock.now_us()
        if options.now is None:
            return clock
        if self._trusts_now or options.mode is Mode.PEEK:
            return options.now
        return min(options.now, clock)

    async def _plan(
        self, ref: BankRef, options: CheckOptions, now: int
    ) -> tuple[Plan, Sequence[str]]:
        due, waiting, unindexed = await self._store.intentions_checked(
            ref, now, options.events, options.ceiling, _MOST_DUE
        )
        found = await self._contexts(
            ref, options.text, options.vector, options.ceiling, now, unindexed
        )
        composed = await self._composites(ref, options, now, unindexed)
        # A bare name says nothing of the payload that some ask for.
        told = [
            Hit(i, None, now, {"event": i.trigger_event})
            for i in waiting
            if i.trigger_type is TriggerType.EVENT and not i.options.get("where")
        ]
        hits = [*told, *found.hits, *composed.hits]
        standing = [
            i
            for i in unindexed
            if i.trigger_type is TriggerType.TIME and (i.trigger_at or 0) <= now
        ]
        ids = list({i.id for i in (*due, *standing, *(h.intention for h in hits))})
        opened = (
            await self._store.offers(ref, states=OPEN, intention_ids=ids, limit=_MOST_OPEN)
            if ids
            else []
        )
        open_ones = {o.intention.id: o.occurrence for o in opened}
        planner = Planner(self._ids, now, open_ones, [o.occurrence for o in opened])
        planner.due(due)
        planner.standing(standing)
        planner.hits(hits)
        planner.rearm([*found.ended, *composed.ended])
        return planner.plan, [*found.warnings, *composed.warnings]

    async def _choose(self, ref: BankRef, plan: Plan, options: CheckOptions, now: int) -> _Choice:
        """Take the most important of what was open before and what is planned."""
        before = await self._store.offers(
            ref, ready_before=now, ceiling=options.ceiling, limit=options.limit
        )
        count = len(before)
        if count == options.limit:
            count = await self._store.offer_count(ref, now, options.ceiling)
        going = {m.id for m in plan.moves if m.ready_at is None}
        before = [o for o in before if o.occurrence.id not in going]
        made = [
            Offer(o, plan.changed[o.intention_id])
            for o in plan.occurrences
            if o.ready_at is not None and o.ready_at <= now
        ]
        offers = sorted(
            [*(Offer(o.occurrence, plan.now_of(o.intention)) for o in before), *made],
            key=lambda o: (-o.intention.importance, o.intention.id, o.occurrence.due_at),
        )
        chosen = offers[: options.limit]
        return _Choice(chosen, max(0, count - len(going) + len(made) - len(chosen)))


def _handing(
    plan: Plan, chosen: Sequence[Offer], options: CheckOptions, now: int, until: int
) -> IntentionBatch:
    """Return the plan with the lease or consumption of what is chosen, as one write."""
    batch = plan.batch()
    moves: list[OccurrenceMove] = []
    changed = dict(plan.changed)
    for offer in chosen:
        found = offer.occurrence
        if options.mode is Mode.CONSUME:
            state, ready_at = OccurrenceState.ACKED, None
            latest = changed.get(offer.intention.id, offer.intention)
            changed[offer.intention.id] = replace(ended(latest, acked=True), updated_at=now)
        else:
            state, ready_at = OccurrenceState.LEASED, until
        moves.append(OccurrenceMove(found.id, state, ready_at, OPEN, found.token, lease=True))
    return replace(batch, put=list(changed.values()), moves=[*batch.moves, *moves])


def _as_put(intention: Intention, batch: IntentionBatch) -> Intention:
    """Return an intention as it stands after a write."""
    for put in batch.put:
        if put.id == intention.id:
            return replace(put, version=put.version + 1)
    return intention


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
