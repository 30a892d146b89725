"""Registers what a retained text says is to be done later, linked to the memory that says it."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ...keeping.intentions import IntentionBatch, OccurrenceMove
from ...nouns.clock import DAY_US, Clock
from ...nouns.errors import InvalidInput
from ...nouns.ids import IdMaker
from ...nouns.intention import OPEN, Intention, IntentionState, OccurrenceState
from ...nouns.memory import BankRef, Unit
from ...reading.intending import FoundIntention, find_intentions
from ..remind import MOST_AT_ONCE, Remind
from ..reminding.reminders import (
    KEPT_STATES,
    Reminder,
    as_reminder,
    check_possible,
    intention_of,
)

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
_PREFIX = 6  # bytes of an id that tell its time
_DERIVED = 8  # the version of ids that follow from a memory

log = logging.getLogger(__name__)


class Intending:
    """Finds and registers; everything it needs is passed in."""

    def __init__(self, remind: Remind, *, ids: IdMaker, clock: Clock) -> None:
        self._remind = remind
        self._ids = ids
        self._clock = clock

    async def __call__(self, ref: BankRef, units: Sequence[Unit]) -> list[bytes]:
        """Register the intentions of stored units; return the ids of those that were not known.

        The id of each follows from its unit and its place in the text, so that reading a unit
        again registers nothing twice. A unit that is gone gets none.
        """
        reminders: list[Reminder] = []
        await asyncio.to_thread(self._find, units, reminders)
        made: list[bytes] = []
        for first in range(0, len(reminders), MOST_AT_ONCE):
            some = reminders[first : first + MOST_AT_ONCE]
            made += (await self._remind(ref, some, orphans=True)).new
        return sorted(made)

    async def again(
        self, ref: BankRef, units: Sequence[Unit], corrected: Collection[bytes] = ()
    ) -> IntentionBatch | None:
        """Read stored units again; return what to write with them, None when nothing differs.

        What was read from them before and is said no more goes, unless it was acknowledged or has
        ended: that stays, and what is left of it is called off. What is said as before stays as it
        is, and so does what somebody has changed in a unit that is not among the `corrected` ones.

        The bank must stand at the same revision when it is written as before this was called.
        """
        read: list[Reminder] = []
        failed = await asyncio.to_thread(self._find, units, read, late=True)
        units = [unit for unit in units if unit.id not in failed]
        stored = await self._remind.of_sources(ref, [unit.id for unit in units])
        stored = [i for i in stored if _is_derived(i)]
        said = _said_still(stored, read, corrected)
        gone = [i for i in stored if i.id not in said and i.state in KEPT_STATES]
        over = [i for i in gone if i.fired_count]
        remove = {i.id for i in gone if not i.fired_count}
        put = [*self._called_off(over), *await self._unknown(units, stored, said, remove)]
        if not remove and not put:
            return None
        moves = [
            OccurrenceMove(o.id, OccurrenceState.DISMISSED, None, OPEN)
            for o in await self._remind.open_of(ref, [i.id for i in over])
        ]
        return IntentionBatch(remove=sorted(remove), put=put, moves=moves)

    async def _unknown(
        self,
        units: Sequence[Unit],
        stored: Sequence[Intention],
        said: Collection[bytes],
        remove: Collection[bytes],
    ) -> list[Intention]:
        """Return what units say and what is not kept of them."""
        fresh: list[Reminder] = []
        await asyncio.to_thread(self._find, units, fresh)
        kept = [i for i in stored if i.id not in remove]
        ids = {i.id for i in kept}
        told = {_says(as_reminder(i)) for i in kept}
        new = [r for r in fresh if r.id not in said and _says(r) not in told]
        # Where one stood that has been acknowledged, the new one needs an id of its own.
        return await self._remind.drafts([replace(r, id=_free(r.id, ids)) for r in new])

    def _called_off(self, over: Sequence[Intention]) -> list[Intention]:
        now = self._clock.now_us()
        return [
            replace(i, state=IntentionState.CANCELLED, next_due=None, updated_at=now) for i in over
        ]

    def _find(
        self, units: Sequence[Unit], found: list[Reminder], *, late: bool = False
    ) -> set[bytes]:
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

    def _of(self, unit: Unit, now: int, late: bool) -> Iterator[Reminder]:
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
            if late:
                yield reminder
                continue
            if _over(each, unit, now):
                continue
            try:
                check_possible(intention_of(reminder, now, self._ids), now)
            except InvalidInput as error:
                log.info("an intention of unit %s was left out: %s", unit.id.hex(), error.code)
                continue
            yield reminder


def _said_still(
    stored: Sequence[Intention], said: Sequence[Reminder], corrected: Collection[bytes]
) -> set[bytes]:
    """Return the ids of those that the texts still say."""
    told = {_says(r) for r in said}
    places = {r.id for r in said}
    return {
        i.id
        for i in stored
        if _says(as_reminder(i)) in told
        or (i.id in places and i.version > 1 and i.source_id not in corrected)
    }


def _says(told: Reminder) -> tuple[object, ...]:
    """Return what makes two reminders the same."""
    at = None if told.recurrence is not None else told.trigger_at
    what = (told.source_id, told.content, told.trigger_type)
    return (*what, at, told.recurrence, told.trigger_event, told.cue_text)


def _is_derived(intention: Intention) -> bool:
    """Tell whether an intention was read from its memory, rather than linked to it by somebody."""
    source, own = intention.source_id, intention.id
    return source is not None and own[:_PREFIX] == source[:_PREFIX] and own[6] >> 4 == _DERIVED


def derived_id(unit_id: bytes, place: Sequence[int]) -> bytes:
    """Return the id of what stands at a place of a unit: as old as the unit, always the same."""
    name = unit_id + b"".join(number.to_bytes(4, "big") for number in place)
    made = bytearray(unit_id[:_PREFIX] + hashlib.blake2b(name, digest_size=10).digest())
    made[6] = made[6] & 0x0F | _DERIVED << 4  # UUIDv8: of our own making
    made[8] = made[8] & 0x3F | 0x80
    return bytes(made)


def _free(wanted: bytes | None, taken: Collection[bytes]) -> bytes:
    """Return an id that is not taken, always the same one."""
    assert wanted is not None  # what is read from a text has one
    number, own = 0, wanted
    while own in taken:
        number += 1
        own = derived_id(wanted, (number,))
    return own


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
