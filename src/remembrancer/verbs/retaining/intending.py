"""Registers what a retained text says is to be done later, linked to the memory that says it."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Iterator, Sequence

from ...nouns.clock import DAY_US, Clock
from ...nouns.errors import InvalidInput
from ...nouns.ids import IdMaker
from ...nouns.intention import IntentionState
from ...nouns.memory import BankRef, Unit
from ...reading.intending import FoundIntention, find_intentions
from ..remind import MOST_AT_ONCE, Remind
from ..reminding.reminders import Reminder, check_possible, intention_of

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
        reminders = await asyncio.to_thread(self._find, units)
        made: list[bytes] = []
        for first in range(0, len(reminders), MOST_AT_ONCE):
            some = reminders[first : first + MOST_AT_ONCE]
            made += (await self._remind(ref, some, orphans=True)).new
        return sorted(made)

    def _find(self, units: Sequence[Unit]) -> list[Reminder]:
        now = self._clock.now_us()
        found: list[Reminder] = []
        for unit in units:
            try:
                found += self._of(unit, now)
            except Exception:  # whatever it was, the text itself is kept
                log.exception("unit %s could not be read for intentions", unit.id.hex())
        return found

    def _of(self, unit: Unit, now: int) -> Iterator[Reminder]:
        found = find_intentions(
            unit.text, said_at=unit.mentioned_at, role=unit.role, offset_min=unit.offset_min
        )
        places: Counter[tuple[int, int]] = Counter()
        for each in found:
            place = (each.span.start, each.span.end)
            number = places[place]
            places[place] += 1
            if each.confidence < PROPOSED_FROM or _over(each, unit, now):
                continue
            reminder = _reminder(each, unit, derived_id(unit.id, (*place, number)))
            try:
                check_possible(intention_of(reminder, now, self._ids), now)
            except InvalidInput as error:
                log.info("an intention of unit %s was left out: %s", unit.id.hex(), error.code)
                continue
            yield reminder


def derived_id(unit_id: bytes, place: Sequence[int]) -> bytes:
    """Return the id of what stands at a place of a unit: as old as the unit, always the same."""
    name = unit_id + b"".join(number.to_bytes(4, "big") for number in place)
    made = bytearray(unit_id[:_PREFIX] + hashlib.blake2b(name, digest_size=10).digest())
    made[6] = made[6] & 0x0F | 0x80  # UUIDv8: of our own making
    made[8] = made[8] & 0x3F | 0x80
    return bytes(made)


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
