"""remind: register what the agent means to do, change it, remove it.

Nothing is kept that can never fire: a time that cannot be told, an event without a name and a
context without a cue are refused. The one exception is a cue whose embedding has to wait: it fires
by its words until then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ..keeping.intentions import IntentionBatch, IntentionFilter, OccurrenceMove
from ..keeping.store import Store
from ..models.embedder import Embedder
from ..nouns.clock import Clock
from ..nouns.errors import Conflict, InvalidInput, ModelUnavailable, NotFound, TooLarge
from ..nouns.ids import IdMaker, to_uuid
from ..nouns.intention import (
    OPEN,
    Intention,
    IntentionState,
    Occurrence,
    OccurrenceState,
    TriggerType,
)
from ..nouns.memory import BankRef
from ..nouns.spans import traced
from ..reading.recurrence import occurrences
from .reminding.occurrences import withheld
from .reminding.options import recurrence_of
from .reminding.plan import Plan, next_look
from .reminding.reminders import (
    KEPT_STATES,
    WAITS,
    Reminder,
    as_reminder,
    check_possible,
    intention_of,
    odd,
    of_item,
    packed,
)
from .reminding.retiming import had, looked_until, moved, time_of, timing

__all__ = ["Registered", "Remind", "Reminder"]

MOST_AT_ONCE = 5_000
MOST_PREVIEWED = 100
_MOST_OPEN = 100_000
_MOST_LINKED = 100_000
_TRIES = 5
_KEPT = ("id", "version", "created_at", "fired_count", "last_fired_at", "armed")


@dataclass(frozen=True, slots=True)
class Registered:
    """The intentions as they stand, in the order given, and what looked odd about them.

    `new` are the ids of those that were not known.
    """

    intentions: tuple[Intention, ...]
    warnings: tuple[str, ...] = ()
    new: frozenset[bytes] = frozenset()


class LookBack(Protocol):
    """Plans what new intentions get for events that were kept before them."""

    async def __call__(
        self, ref: BankRef, fresh: Sequence[Intention], now: int, seen: set[str]
    ) -> Plan:
        """Return the plan; ids of the events looked at are added to `seen`."""
        ...


class Remind:
    """The verb; everything it needs is passed in. `generation`: whose vectors `embedder` makes."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        *,
        ids: IdMaker,
        clock: Clock,
        generation: int,
        look_back: LookBack | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._ids = ids
        self._clock = clock
        self._generation = generation
        self._look_back = look_back
        self.embedder_failed = asyncio.Event()  # set when cues were left for later

    @traced("remind")
    async def __call__(
        self,
        ref: BankRef,
        reminders: Sequence[Reminder],
        *,
        ceiling: float | None = None,
        orphans: bool = False,
    ) -> Registered:
        """Register reminders, all or none; durable when it returns.

        `orphans`: leave out those whose unit is gone instead of refusing them.

        Raises:
            InvalidInput, TooLarge: names the field and its limit; nothing was stored.
            Conflict: an id belongs to what is ranked above the caller's ceiling.
        """
        if len(reminders) > MOST_AT_ONCE:
            raise TooLarge(
                f"{len(reminders)} reminders at once; the limit is {MOST_AT_ONCE}",
                field="items",
                limit=MOST_AT_ONCE,
            )
        if not orphans:
            await self._check_sources(ref, reminders)
        for _ in range(_TRIES):
            known = await self._known(ref, [r.id for r in reminders if r.id is not None])
            if any(withheld(i, ceiling) for i in known.values()):
                raise Conflict("an intention of this id exists; choose another id", field="id")
            now = self._clock.now_us()
            order, fresh = await asyncio.to_thread(self._fresh, reminders, known, now)
            try:
                stored = await self._register(ref, await self._embed(fresh), now)
            except Conflict:  # somebody registered one of them meanwhile
                continue
            found = known | {i.id: i for i in stored}
            return Registered(
                tuple(found[i] for i in order if i in found),
                tuple(w for r in reminders for w in odd(r, now)),
                frozenset(i.id for i in stored),
            )
        raise Conflict("the intentions are changed by others all the time; try again")

    async def drafts(self, reminders: Sequence[Reminder]) -> list[Intention]:
        """Return what reminders with ids of their own would be registered as; writes nothing."""
        now = self._clock.now_us()
        _, fresh = await asyncio.to_thread(self._fresh, reminders, {}, now)
        return await self._embed(fresh)

    async def of_sources(self, ref: BankRef, unit_ids: Sequence[bytes]) -> list[Intention]:
        """Return the intentions that are linked to some memories."""
        wanted = IntentionFilter(source_ids=unit_ids)
        return await self._store.intentions(ref, wanted, limit=_MOST_LINKED)

    async def open_of(self, ref: BankRef, ids: Sequence[bytes]) -> list[Occurrence]:
        """Return the open occurrences of intentions."""
        if not ids:
            return []
        offers = await self._store.offers(ref, states=OPEN, intention_ids=ids, limit=_MOST_OPEN)
        return [o.occurrence for o in offers]

    async def revise(
        self,
        ref: BankRef,
        intention_id: bytes,
        changes: Mapping[str, Any],
        ceiling: float | None = None,
    ) -> Intention:
        """Change fields of an intention, by their names in `Reminder`.

        The state may be `cancelled`, too: what is open of it ends. So it does when the time is
        changed: it is offered at the new one. One that has ended begins anew
        when it is given the state `active`, and a time that it has not had.

        Raises:
            NotFound: there is none (or it is above the ceiling).
            Conflict: it was changed meanwhile, or it has ended.
            InvalidInput: the intention could never fire so.
        """
        stored = await self.get(ref, intention_id, ceiling)
        now = self._clock.now_us()
        if changes.get("state") is IntentionState.CANCELLED:
            return await self._cancel(ref, stored, now)
        made = await self._revised(stored, changes, now)
        if timing(made) == timing(stored):
            made = replace(made, next_due=stored.next_due)
        else:
            seen = looked_until(stored, made, now)
            check_possible(made, now, seen + 1)
            if made.recurring and made.trigger_type is not TriggerType.COMPOSITE:
                made = replace(made, next_due=next_look(made, seen))
            elif had(stored, made):
                made = replace(made, next_due=made.expires_at)
        moves: list[OccurrenceMove] = []
        if time_of(made) != time_of(stored):
            made, moves = moved(stored, made, now), await self._dismissed(ref, stored)
        await self._store.intend(ref, IntentionBatch(put=[made], moves=moves))
        return replace(made, version=made.version + 1)

    async def get(
        self, ref: BankRef, intention_id: bytes, ceiling: float | None = None
    ) -> Intention:
        """Return an intention.

        Raises:
            NotFound: there is none (or it is above the ceiling).
        """
        found = await self._store.intentions_by_id(ref, [intention_id])
        if not found or withheld(found[0], ceiling):
            raise NotFound(
                f"there is no intention {to_uuid(intention_id)} in this bank", field="intention_id"
            )
        return found[0]

    async def listing(
        self,
        ref: BankRef,
        states: Collection[IntentionState] | None,
        limit: int,
        offset: int = 0,
        ceiling: float | None = None,
    ) -> tuple[list[Intention], int]:
        """Return a page of intentions in the order of registration, and how many there are."""
        wanted = IntentionFilter(states=states, ceiling=ceiling)
        found = await self._store.intentions(ref, wanted, limit, offset)
        return found, await self._store.intention_count(ref, wanted)

    async def remove(self, ref: BankRef, ids: Sequence[bytes], ceiling: float | None = None) -> int:
        """Erase intentions with their occurrences; return how many there were."""
        found = await self._store.intentions_by_id(ref, ids)
        mine = [i.id for i in found if not withheld(i, ceiling)]
        if not mine:
            return 0
        return (await self._store.intend(ref, IntentionBatch(remove=mine))).removed

    async def clear(self, ref: BankRef) -> int:
        """Erase every intention of a bank; return how many there were."""
        count = 0
        while found := await self._store.intentions(ref, IntentionFilter(), limit=1_000):
            ids = [i.id for i in found]
            count += (await self._store.intend(ref, IntentionBatch(remove=ids))).removed
        return count

    def preview(self, intention: Intention, limit: int = 5) -> list[int]:
        """Return when an intention fires next, in microseconds; empty for events and contexts.

        Raises:
            InvalidInput: `limit` is out of range.
        """
        if not 1 <= limit <= MOST_PREVIEWED:
            raise InvalidInput(
                f"limit must be 1 to {MOST_PREVIEWED}", field="limit", limit=MOST_PREVIEWED
            )
        if intention.trigger_type is not TriggerType.TIME:
            return []
        now = self._clock.now_us()
        rule = recurrence_of(intention)
        if rule is not None:
            return occurrences(rule, now, limit)
        at = intention.trigger_at
        return [at] if at is not None and (at > now or intention.recurring) else []

    async def _known(self, ref: BankRef, ids: Sequence[bytes]) -> dict[bytes, Intention]:
        found = await self._store.intentions_by_id(ref, ids) if ids else []
        return {i.id: i for i in found}

    def _fresh(
        self, reminders: Sequence[Reminder], known: Mapping[bytes, Intention], now: int
    ) -> tuple[list[bytes], list[Intention]]:
        """Return the ids in order, and the intentions that are not known."""
        order: list[bytes] = []
        fresh: dict[bytes, Intention] = {}
        for number, asked in enumerate(reminders):
            if asked.id is not None and (asked.id in known or asked.id in fresh):
                order.append(asked.id)
                continue
            with of_item(number, len(reminders) > 1):
                made = intention_of(asked, now, self._ids)
                check_possible(made, now)
            order.append(made.id)
            fresh[made.id] = made
        return order, list(fresh.values())

    async def _check_sources(self, ref: BankRef, reminders: Sequence[Reminder]) -> None:
        sources = {r.source_id for r in reminders if r.source_id is not None}
        if not sources:
            return
        async with self._store.snapshot(ref) as view:
            present = {u.id for u in await view.units(list(sources))}
        for number, asked in enumerate(reminders):
            if asked.source_id is not None and asked.source_id not in present:
                with of_item(number, len(reminders) > 1):
                    raise InvalidInput(
                        f"sourceTraceId {to_uuid(asked.source_id)} is no memory of this bank",
                        field="sourceTraceId",
                    )

    async def _register(
        self, ref: BankRef, fresh: Sequence[Intention], now: int
    ) -> list[Intention]:
        """Write new intentions, with what events kept before make of them; return what stands."""
        if not fresh:
            return []
        seen: set[str] = set()
        plan = await self._past(ref, fresh, now, seen)
        put = [plan.now_of(i) for i in fresh]
        await self._store.intend(ref, replace(plan.batch(), put=put))
        stored = [replace(i, version=i.version + 1) for i in put]
        if self._look_back is not None and (plan.occurrences or _looks_back(put)):
            # An event may have been kept after the look and before the write.
            plan = await self._past(ref, stored, now, seen)
            if plan.occurrences:
                await self._late(ref, plan)
        elif all(i.source_id is None for i in put):
            return stored
        return await self._store.intentions_by_id(ref, [i.id for i in put])

    async def _late(self, ref: BankRef, plan: Plan) -> None:
        try:
            await self._store.intend(ref, plan.batch())
        except Conflict:  # the event has found it itself
            return

    async def _past(
        self, ref: BankRef, fresh: Sequence[Intention], now: int, seen: set[str]
    ) -> Plan:
        if self._look_back is None:
            return Plan()
        return await self._look_back(ref, fresh, now, seen)

    async def _revised(self, stored: Intention, changes: Mapping[str, Any], now: int) -> Intention:
        asked = replace(as_reminder(stored), **changes)
        if stored.state not in KEPT_STATES and "state" not in changes:
            raise Conflict(
                f"the intention is {stored.state}: give it the state active and a new time",
                field="state",
            )
        if "recurrence" in changes and asked.recurrence is None and "recurring" not in changes:
            asked = replace(asked, recurring=False)
        made = intention_of(asked, now, self._ids)
        made = replace(made, **{name: getattr(stored, name) for name in _KEPT})
        if had(stored, made) and stored.state not in KEPT_STATES:
            raise InvalidInput(
                "it has fired at this triggerAt already: give another one", field="triggerAt"
            )
        same = asked.cue_text == stored.cue_text and "vector" not in changes
        if same and stored.cue_generation in (0, self._generation):
            return replace(made, cue=stored.cue, cue_generation=stored.cue_generation)
        [made] = await self._embed([made])
        return made

    async def _cancel(self, ref: BankRef, stored: Intention, now: int) -> Intention:
        moves = await self._dismissed(ref, stored)
        made = replace(stored, state=IntentionState.CANCELLED, next_due=None, updated_at=now)
        await self._store.intend(ref, IntentionBatch(put=[made], moves=moves))
        return replace(made, version=made.version + 1)

    async def _dismissed(self, ref: BankRef, stored: Intention) -> list[OccurrenceMove]:
        """Return the moves that end what is open of an intention."""
        opened = await self.open_of(ref, [stored.id])
        return [OccurrenceMove(o.id, OccurrenceState.DISMISSED, None, OPEN) for o in opened]

    async def _embed(self, fresh: list[Intention]) -> list[Intention]:
        """Embed the cues of context triggers; those that cannot be now wait for the embedder."""
        wanting = {i.id for i in fresh if i.cue is None and i.trigger_type is TriggerType.CONTEXT}
        if not wanting:
            return fresh
        texts = {i.id: i.cue_text or "" for i in fresh if i.id in wanting}
        vectors: dict[bytes, bytes | None] = {}
        if self._embedder is not None:
            try:
                made = await self._embedder.embed(list(texts.values()))
                vectors = {i: packed(v) for i, v in zip(texts, made, strict=True)}
            except ModelUnavailable:
                self.embedder_failed.set()
        return [
            replace(
                i,
                cue=vectors.get(i.id),
                cue_generation=self._generation if i.id in vectors else WAITS,
            )
            if i.id in wanting
            else i
            for i in fresh
        ]


def _looks_back(put: Sequence[Intention]) -> bool:
    return any(i.options.get("look_back_s") for i in put)
