"""Registers what a retained text says is to be done later, linked to the memory that says it."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from ...keeping.intentions import IntentionBatch, OccurrenceMove
from ...keeping.store import Store
from ...nouns.clock import DAY_US, Clock
from ...nouns.errors import InvalidInput
from ...nouns.ids import IdMaker
from ...nouns.intention import OPEN, Intention, IntentionState, OccurrenceState
from ...nouns.memory import BankRef, Unit
from ...reading.intending import FoundIntention, find_intentions
from ..remind import MOST_AT_ONCE, Remind
from ..reminding.holding import held, resumed
from ..reminding.reminders import (
    KEPT_STATES,
    Reminder,
    as_reminder,
    check_possible,
    intention_of,
)
from .derived import Told, carried, derived_id, free, is_derived, is_known, own_id, says
from .repeated import firsts, said_near

ACTIVE_FROM = 0.8
"""The confidence from which one is active at once."""
PROPOSED_FROM = 0.5
"""The confidence from which one is registered, for somebody to confirm it."""
LATE_US = DAY_US
"""A time further back than this is over: nobody wants reminders of an old chat."""
STALE_US = 30 * DAY_US
"""What was said longer ago, and waits for an event or a topic, is left out for the same reason."""
TOPIC_THRESHOLD = 0.65
"""For a topic of a few words, which turns about it are less like than a sentence would be: with
bge-small they reach .68 to .86, turns about something else .36 to .59."""

log = logging.getLogger(__name__)


class Intending:
    """Finds and registers; everything it needs is passed in."""

    def __init__(self, store: Store, remind: Remind, *, ids: IdMaker, clock: Clock) -> None:
        self._store = store
        self._remind = remind
        self._ids = ids
        self._clock = clock

    async def __call__(self, ref: BankRef, units: Sequence[Unit]) -> list[bytes]:
        """Register the intentions of stored units; return the ids of those that were not known.

        The id of each follows from its unit and its place in the text, so that reading a unit
        again registers nothing twice. A unit that is gone gets none.
        """
        found = await self._told_first(ref, units)
        carried_over = await self._carried_over(ref, found)
        reminders = [t.reminder for t in found if not is_known(t.reminder, carried_over[t.unit.id])]
        made: list[bytes] = []
        for first in range(0, len(reminders), MOST_AT_ONCE):
            some = reminders[first : first + MOST_AT_ONCE]
            made += (await self._remind(ref, some, orphans=True)).new
        return sorted(made)

    async def moved(
        self, ref: BankRef, gone: Sequence[Unit], fresh: Sequence[Unit]
    ) -> IntentionBatch | None:
        """Return what keeps the intentions of units that go and that the new ones still say.

        To be written with both; None when there is nothing of the kind.
        """
        if not gone or not fresh:
            return None
        stored = await self._remind.of_sources(ref, [unit.id for unit in gone])
        stored = [i for i in stored if is_derived(i)]
        if not stored:
            return None
        sources = {i.source_id for i in stored}
        was: list[Told] = []
        now: list[Told] = []
        old = [unit for unit in gone if unit.id in sources]
        await asyncio.to_thread(self._find, old, was, late=True)
        await asyncio.to_thread(self._find, fresh, now, late=True)
        at = self._clock.now_us()
        put = [resumed(i, at) for i in carried(stored, was, now)]  # no new unit is taken out
        return IntentionBatch(put=put) if put else None

    async def again(
        self, ref: BankRef, units: Sequence[Unit], corrected: Collection[bytes] = ()
    ) -> IntentionBatch | None:
        """Read stored units again; return what to write with them, None when nothing differs.

        What was read from them before and is said no more goes, unless it was acknowledged or has
        ended: that stays, and what is left of it is called off. What is said as before stays as it
        is, and so does what somebody has changed in a unit that is not among the `corrected` ones.

        The bank must stand at the same revision when it is written as before this was called.
        """
        told: list[Told] = []
        failed = await asyncio.to_thread(self._find, units, told, late=True)
        read = [each.reminder for each in told]
        units = [unit for unit in units if unit.id not in failed]
        stored = await self._remind.of_sources(ref, [unit.id for unit in units])
        stored = [i for i in stored if is_derived(i)]
        said = _said_still(stored, read, corrected)
        gone = [i for i in stored if i.id not in said and i.state in KEPT_STATES]
        over = [i for i in gone if i.fired_count]
        remove = {i.id for i in gone if not i.fired_count}
        put = [*self._called_off(over), *await self._unknown(ref, units, stored, said, remove)]
        if not remove and not put:
            return None
        moves = [
            OccurrenceMove(o.id, OccurrenceState.DISMISSED, None, OPEN)
            for o in await self._remind.open_of(ref, [i.id for i in over])
        ]
        return IntentionBatch(remove=sorted(remove), put=put, moves=moves)

    async def curated(
        self, ref: BankRef, unit: Unit, twins: Sequence[bytes], *, said: bool, invalid: bool | None
    ) -> IntentionBatch | None:
        """Return what to write with a correction of a memory; None when nothing differs.

        Args:
            ref: the bank.
            unit: as it is after it.
            twins: ids of those that are taken out and brought back with it.
            said: whether its text has changed.
            invalid: True when it is taken out, or out already; False when it is brought back.
        """
        future = await self.again(ref, [unit], corrected={unit.id}) if said else None
        if invalid is None:
            return future
        future = future or IntentionBatch()
        settled = {*future.remove, *(i.id for i in future.put)}
        found = await self._remind.of_sources(ref, [unit.id, *twins])
        stored = [i for i in found if is_derived(i) and i.id not in settled]
        if invalid:
            future = await self._held(ref, stored, future)
        else:
            future = self._resumed(stored, future)
        return future if future.remove or future.put or future.moves else None

    async def _held(
        self, ref: BankRef, stored: Sequence[Intention], future: IntentionBatch
    ) -> IntentionBatch:
        now = self._clock.now_us()
        opened = await self._remind.open_of(ref, [i.id for i in stored])
        ids = {o.intention_id for o in opened}
        put = [held(i, now, opened=i.id in ids) for i in (*stored, *future.put)]
        known = {i.id: i for i in stored}
        return replace(
            future,
            put=[i for i in put if i != known.get(i.id)],
            moves=[
                *future.moves,
                *(OccurrenceMove(o.id, OccurrenceState.DISMISSED, None, OPEN) for o in opened),
            ],
        )

    def _resumed(self, stored: Sequence[Intention], future: IntentionBatch) -> IntentionBatch:
        now = self._clock.now_us()
        back = [(i, resumed(i, now)) for i in stored]
        return replace(future, put=[*future.put, *(new for old, new in back if new != old)])

    async def _unknown(
        self,
        ref: BankRef,
        units: Sequence[Unit],
        stored: Sequence[Intention],
        said: Collection[bytes],
        remove: Collection[bytes],
    ) -> list[Intention]:
        """Return what units say and what is not kept of them."""
        fresh = await self._told_first(ref, units)
        kept = [i for i in stored if i.id not in remove]
        ids = {i.id for i in kept} | {own_id(i) for i in kept}
        places = {own_id(i) for i in kept if i.id in said}
        known = {says(as_reminder(i)) for i in kept}
        new = [t for t in fresh if t.own not in places and says(t.reminder) not in known]
        # Where one stood that has been acknowledged, the new one needs an id of its own.
        return await self._remind.drafts([replace(t.reminder, id=free(t.own, ids)) for t in new])

    async def _told_first(self, ref: BankRef, units: Sequence[Unit]) -> list[Told]:
        """Return what units say, without what was said a few turns before."""
        found: list[Told] = []
        await asyncio.to_thread(self._find, units, found)
        if not found:
            return []
        near = await self._store.read(ref, lambda reader: said_near(reader, found))
        return await asyncio.to_thread(self._without_repeats, found, near)

    def _without_repeats(
        self, found: Sequence[Told], near: Mapping[bytes, Sequence[Unit]]
    ) -> list[Told]:
        of_units: defaultdict[bytes, list[Told]] = defaultdict(list)
        for told in found:
            of_units[told.unit.id].append(told)
        kept: list[Told] = []
        for unit_id, told_there in of_units.items():
            before: list[Told] = []
            self._find(near.get(unit_id, ()), before, late=True)
            kept += firsts(told_there, before)
        return kept

    async def _carried_over(
        self, ref: BankRef, found: Sequence[Told]
    ) -> Mapping[bytes, list[Intention]]:
        """Return by unit what was kept of an older version; the rest is known by its id."""
        kept: defaultdict[bytes, list[Intention]] = defaultdict(list)
        sources = sorted({told.unit.id for told in found})
        for each in await self._remind.of_sources(ref, sources) if sources else ():
            if each.source_id is not None and own_id(each) != each.id:
                kept[each.source_id].append(each)
        return kept

    def _called_off(self, over: Sequence[Intention]) -> list[Intention]:
        now = self._clock.now_us()
        return [
            replace(i, state=IntentionState.CANCELLED, next_due=None, updated_at=now) for i in over
        ]

    def _find(self, units: Sequence[Unit], found: list[Told], *, late: bool = False) -> set[bytes]:
        """Add what units say to `found`; return those that could not be read."""
        now = self._clock.now_us()
        failed: set[bytes] = set()
        for unit in units:
            try:
                found += list(self._of(unit, now, late))
            except Exception:  # whatever it was, the text itself is kept
                log.exception("unit %s could not be read for intentions", unit.id.hex())
                failed.add(unit.id)
        return failed

    def _of(self, unit: Unit, now: int, late: bool) -> Iterator[Told]:
        """Yield what a unit says; with `late` also what comes too late to be registered."""
        found = find_intentions(
            unit.text, said_at=unit.mentioned_at, role=unit.role, offset_min=unit.offset_min
        )
        places: Counter[tuple[int, int]] = Counter()
        for each in found:
            place = (each.span.start, each.span.end)
            number = places[place]
            places[place] += 1
            if each.confidence < PROPOSED_FROM:
                continue
            reminder = _reminder(each, unit, derived_id(unit.id, (*place, number)))
            told = Told(reminder, unit, unit.text[each.span.start : each.span.end])
            if late:
                yield told
                continue
            if _over(each, unit, now):
                continue
            try:
                check_possible(intention_of(reminder, now, self._ids), now)
            except InvalidInput as error:
                log.info("an intention of unit %s was left out: %s", unit.id.hex(), error.code)
                continue
            yield told


def _said_still(
    stored: Sequence[Intention], said: Sequence[Reminder], corrected: Collection[bytes]
) -> set[bytes]:
    """Return the ids of those that the texts still say."""
    told = {says(r) for r in said}
    places = {r.id for r in said}
    return {
        i.id
        for i in stored
        if says(as_reminder(i)) in told
        or (own_id(i) in places and i.version > 1 and i.source_id not in corrected)
    }


def _over(found: FoundIntention, unit: Unit, now: int) -> bool:
    if found.when is None:
        return unit.mentioned_at < now - STALE_US
    return found.when.recurrence is None and found.when.at < now - LATE_US


def _reminder(found: FoundIntention, unit: Unit, own: bytes) -> Reminder:
    when = found.when
    active = found.confidence >= ACTIVE_FROM
    return Reminder(
        content=found.content,
        trigger_type=found.trigger_type,
        id=own,
        trigger_at=None if when is None else when.at,
        recurrence=None if when is None else when.recurrence,
        trigger_event=found.event,
        cue_text=found.cue,
        similarity_threshold=None if found.cue is None else TOPIC_THRESHOLD,
        importance=found.importance,
        source_id=unit.id,
        state=IntentionState.ACTIVE if active else IntentionState.PROPOSED,
    )
