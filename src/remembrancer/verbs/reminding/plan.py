"""What fires: from intentions and what is known now to occurrences. Pure; nothing is written.

Each occurrence has a slot that follows from why it was made, so that two processes that plan the
same make one. While an occurrence of an intention is open, further ones are folded into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...keeping.intentions import IntentionBatch, OccurrenceMove
from ...nouns.ids import IdMaker
from ...nouns.intention import (
    OPEN,
    Intention,
    IntentionState,
    Occurrence,
    OccurrenceState,
    TriggerType,
)
from ...reading.recurrence import first_after, occurrences
from .conditions import Condition, read_condition
from .options import Misfire, cooldown_us, misfire_of, ready_from, recurrence_of

MOST_MISSED = 1_000
"""Missed instances counted one by one; beyond, the count is a lower bound."""
MOST_MADE = 100
"""Instances made at once where all missed ones are wanted; the rest is folded into the last."""
MOVED = "moved"
"""In the options of a one-shot that is due at another time than before: tells its slot from those
that it had, so that it may come back to a time."""
GRACE_US = 60_000_000
"""How late an instance may be before it counts as missed."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An intention whose event happened, or whose context came up.

    `slot` tells one such cause from another; None makes a new one each time.
    """

    intention: Intention
    slot: str | None
    due_at: int
    data: Mapping[str, Any] = field(default_factory=dict)
    disarm: bool = False  # a recurring context: not again before the context has ended


@dataclass(slots=True)
class Plan:
    """Occurrences to make, intentions to put, and moves of occurrences that exist."""

    occurrences: list[Occurrence] = field(default_factory=list)
    changed: dict[bytes, Intention] = field(default_factory=dict)
    moves: list[OccurrenceMove] = field(default_factory=list)

    def batch(self) -> IntentionBatch:
        """Return the plan as one write."""
        return IntentionBatch(
            put=list(self.changed.values()), occurrences=self.occurrences, moves=self.moves
        )

    def now_of(self, intention: Intention) -> Intention:
        """Return an intention as the plan leaves it."""
        return self.changed.get(intention.id, intention)


class Planner:
    """Makes plans at a moment."""

    def __init__(
        self,
        ids: IdMaker,
        now: int,
        opened: Mapping[bytes, Occurrence],
        every: Sequence[Occurrence] = (),
    ) -> None:
        """Begin a plan.

        Args:
            ids: makes the ids of occurrences.
            now: microseconds.
            opened: an open occurrence of each intention that has one.
            every: all open occurrences of these intentions, where some may have several.
        """
        self._ids = ids
        self._now = now
        self._opened = dict(opened)
        self._every: dict[bytes, dict[bytes, Occurrence]] = {}
        for each in (*opened.values(), *every):
            self._every.setdefault(each.intention_id, {})[each.id] = each
        self.plan = Plan()

    def due(self, found: Sequence[Intention]) -> None:
        """Plan intentions whose `next_due` has come; which composite ones hold, `hits` tell."""
        for intention in found:
            if self._expire(intention):
                continue
            if intention.trigger_type is TriggerType.TIME and not intention.standing:
                self._time(intention)
            elif intention.trigger_type is TriggerType.COMPOSITE:
                self._change(intention, next_due=next_look(intention, self._now))

    def standing(self, found: Sequence[Intention]) -> None:
        """Plan intentions that are due whenever asked for."""
        for intention in found:
            if intention.id not in self.plan.changed and intention.standing:
                self._once(intention)

    def hits(self, found: Sequence[Hit]) -> None:
        """Plan intentions whose event happened or whose context came up."""
        for hit in found:
            intention = self.plan.now_of(hit.intention)
            if self._expire(intention) or self._rests(intention):
                continue
            if not intention.recurring and intention.id in self._opened:
                continue  # it is offered already, and there is no further instance of it
            slot = hit.slot if hit.slot is not None else f"once:{self._ids.new().hex()}"
            fired = self._fire(intention, [(slot, hit.due_at)], 0, hit.data)
            if fired and hit.disarm and intention.recurring:
                self._change(self.plan.now_of(intention), armed=False)

    def rearm(self, found: Sequence[Intention]) -> None:
        """Let recurring contexts that have ended fire again."""
        for intention in found:
            self._change(self.plan.now_of(intention), armed=True)

    def _time(self, intention: Intention) -> None:
        rule = recurrence_of(intention)
        if rule is None:
            self._once(intention)
            return
        assert intention.next_due is not None
        instants, more = _instants(rule, intention.next_due - 1, self._now)
        following = first_after(rule, self._now)
        if instants and not self._rests(intention):
            self._recur(intention, instants, more)
        due = _soonest(following, intention)
        self._change(self.plan.now_of(intention), next_due=due)
        if due is None and intention.id not in self._opened:  # its last times were passed over
            self._change(self.plan.now_of(intention), state=IntentionState.DONE)

    def _once(self, intention: Intention) -> None:
        """One time, or, recurring without a rule, whenever it is asked for from then on."""
        at = intention.trigger_at if intention.trigger_at is not None else self._now
        if not intention.recurring:
            slot = f"{at}{intention.options.get(MOVED, '')}"
            self._fire(intention, [(slot, at)], 0, {})
            self._change(self.plan.now_of(intention), next_due=_soonest(None, intention))
            return
        if intention.id not in self._opened and not self._rests(intention):
            self._fire(intention, [(f"{at}#{self._ids.new().hex()}", at)], 0, {})
        rest = cooldown_us(intention)
        following = self._now + rest if rest else None
        self._change(self.plan.now_of(intention), next_due=_soonest(following, intention))

    def _recur(self, intention: Intention, instants: Sequence[int], more: bool) -> None:
        match misfire_of(intention):
            case Misfire.ALL:
                made, folded = instants[:MOST_MADE], instants[MOST_MADE:]
                self._fire(intention, [(str(at), at) for at in made], len(folded), {})
            case Misfire.SKIP:
                at = instants[-1]
                if self._now - at <= GRACE_US:
                    self._fire(intention, [(str(at), at)], 0, {})
            case Misfire.LATEST:
                at = instants[-1]
                data = {"missed_more": True} if more else {}
                self._fire(intention, [(str(at), at)], len(instants) - 1, data)

    def _fire(
        self,
        intention: Intention,
        slots: Sequence[tuple[str, int]],
        missed: int,
        data: Mapping[str, Any],
    ) -> bool:
        """Make occurrences, or fold them into the open one; True when any was made."""
        opened = self._opened.get(intention.id)
        if opened is not None:
            folded = len(slots) + missed
            self.plan.moves.append(
                OccurrenceMove(opened.id, opened.state, opened.ready_at, OPEN, missed=folded)
            )
            return False
        ready = ready_from(intention, self._now)
        quiet = ready != self._now
        for number, (slot, due_at) in enumerate(slots):
            last = number == len(slots) - 1
            self.plan.occurrences.append(
                Occurrence(
                    id=self._ids.new(),
                    intention_id=intention.id,
                    slot=slot,
                    due_at=due_at,
                    created_at=self._now,
                    updated_at=self._now,
                    # Not later than it is due: who checks at that very time finds it.
                    ready_at=ready if quiet else min(ready, due_at),
                    missed=missed if last else 0,
                    data=data,
                )
            )
        self._opened[intention.id] = self.plan.occurrences[-1]
        self._change(self.plan.now_of(intention), last_fired_at=self._now)
        return True

    def _rests(self, intention: Intention) -> bool:
        last, rest = intention.last_fired_at, cooldown_us(intention)
        return last is not None and rest > 0 and self._now < last + rest

    def _expire(self, intention: Intention) -> bool:
        if intention.expires_at is None or intention.expires_at > self._now:
            return False
        self._change(intention, state=IntentionState.EXPIRED, next_due=None)
        self._opened.pop(intention.id, None)
        self.plan.moves += (
            OccurrenceMove(each, OccurrenceState.EXPIRED, None, OPEN)
            for each in self._every.pop(intention.id, ())
        )
        return True

    def _change(self, intention: Intention, **changes: Any) -> None:
        changed = replace(intention, updated_at=self._now, **changes)
        self.plan.changed[intention.id] = changed


def next_look(intention: Intention, after: int) -> int | None:
    """Return when an intention must be looked at next, beyond `after`: its time, or its end."""
    if intention.trigger_type is TriggerType.COMPOSITE:
        return _soonest(_next_turn(intention, after), intention)
    if intention.trigger_type is not TriggerType.TIME:
        return intention.expires_at
    rule = recurrence_of(intention)
    if rule is not None:
        return _soonest(first_after(rule, after), intention)
    return _soonest(intention.trigger_at, intention)


def first_look(intention: Intention, now: int) -> int | None:
    """Return when a new intention must be looked at: a composite one at once, if it may hold."""
    if intention.trigger_type is TriggerType.COMPOSITE and _condition(intention).unprompted:
        return _soonest(now, intention)
    return next_look(intention, now - 1)


def _next_turn(intention: Intention, after: int) -> int | None:
    """Return when the passing of time may make a composite one hold, or cease to."""
    condition = _condition(intention)
    if not condition.unprompted:
        return None
    rested = (intention.last_fired_at or after) + cooldown_us(intention)
    turns = (condition.turn(after), rested if rested > after else None)
    return min((at for at in turns if at is not None), default=None)


def _condition(intention: Intention) -> Condition:
    return read_condition(intention.options["condition"])


def _soonest(at: int | None, intention: Intention) -> int | None:
    times = [t for t in (at, intention.expires_at) if t is not None]
    return min(times, default=None)


def _instants(rule: Any, after: int, now: int) -> tuple[list[int], bool]:
    """Return a rule's instants in (after, now], the last one included, and whether more were."""
    found = occurrences(rule, after, MOST_MISSED + 1)
    passed = [at for at in found if at <= now]
    if len(passed) <= MOST_MISSED:
        return passed, False
    # So many that only the last is looked for: from ever closer to now.
    return [*passed[:-1], _last(rule, passed[-1], now)], True


def _last(rule: Any, found: int, now: int) -> int:
    for back in _steps(now - found):
        late = [at for at in occurrences(rule, now - back, MOST_MISSED) if at <= now]
        if late:
            return late[-1] if len(late) < MOST_MISSED else _last(rule, late[-1], now)
    return found


def _steps(most: int) -> Iterator[int]:
    step = 60_000_000
    while step < most:
        yield step
        step *= 8
    yield most
