"""What was read from a memory: how it is told from what people linked, and known again."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from ...nouns.intention import Intention
from ...nouns.memory import Unit
from ..reminding.reminders import Reminder, as_reminder

READ_AS = "read_as"
"""In the options of one that was carried over to a newer version of its text: the id read there."""
_PREFIX = 6  # bytes of an id that tell its time
_DERIVED = 8  # the version of ids that follow from a memory
_ORDER_US = 10_000_000  # the microseconds that keep the order of units stay below this


@dataclass(frozen=True, slots=True)
class Told:
    """What a unit says is to be done, and the words that say it."""

    reminder: Reminder
    unit: Unit
    words: str

    @property
    def own(self) -> bytes:
        """The id that follows from the unit and the place."""
        assert self.reminder.id is not None  # what is read from a text has one
        return self.reminder.id

    def marks(self) -> Iterable[Hashable]:
        """Return by what another version of the unit is known to say the same.

        By its words, too: each unit is said a microsecond after the one before it, so that 'in an
        hour' moves with its place, and what nobody dated is said when it is sent.
        """
        yield says(self.reminder)[1:]
        what = (self.reminder.content, self.reminder.trigger_type, self.words)
        yield (*what, self.unit.mentioned_at // 1_000_000)
        if 0 <= self.unit.mentioned_at - self.unit.created_at < _ORDER_US:
            yield (*what, "now")


def says(told: Reminder) -> tuple[Hashable, ...]:
    """Return what makes two reminders the same; first of which unit it is."""
    at = None if told.recurrence is not None else told.trigger_at
    what = (told.source_id, told.content, told.trigger_type)
    return (*what, at, told.recurrence, told.trigger_event, told.cue_text)


def own_id(intention: Intention) -> bytes:
    """Return the id of what its memory says at its place; its own, unless it was carried over."""
    kept = intention.options.get(READ_AS)
    return intention.id if kept is None else bytes.fromhex(kept)


def is_derived(intention: Intention) -> bool:
    """Tell whether an intention was read from its memory, rather than linked to it by somebody."""
    source, own = intention.source_id, own_id(intention)
    return source is not None and own[:_PREFIX] == source[:_PREFIX] and own[6] >> 4 == _DERIVED


def derived_id(unit_id: bytes, place: Sequence[int]) -> bytes:
    """Return the id of what stands at a place of a unit: as old as the unit, always the same."""
    name = unit_id + b"".join(number.to_bytes(4, "big") for number in place)
    made = bytearray(unit_id[:_PREFIX] + hashlib.blake2b(name, digest_size=10).digest())
    made[6] = made[6] & 0x0F | _DERIVED << 4  # UUIDv8: of our own making
    made[8] = made[8] & 0x3F | 0x80
    return bytes(made)


def free(wanted: bytes, taken: Collection[bytes]) -> bytes:
    """Return an id that is not taken, always the same one."""
    number, own = 0, wanted
    while own in taken:
        number += 1
        own = derived_id(wanted, (number,))
    return own


def is_known(told: Reminder, stored: Sequence[Intention]) -> bool:
    """Tell whether something stored is what a unit says: at that place, or in as many words."""
    return any(told.id == own_id(i) or says(told) == says(as_reminder(i)) for i in stored)


def carried(
    stored: Sequence[Intention], was: Sequence[Told], now: Sequence[Told]
) -> list[Intention]:
    """Return those of units that go which the new ones still say, linked to these.

    They keep their ids with all that has become of them; also what people have changed stays, as
    long as the text says what it was read from.
    """
    keys = _keys(stored, was)
    by_key: defaultdict[Hashable, list[Intention]] = defaultdict(list)
    for each in stored:
        for key in keys[each.id]:
            by_key[key].append(each)
    used: set[bytes] = set()
    made: list[Intention] = []
    for told in now:
        found = (i for key in told.marks() for i in by_key[key] if i.id not in used)
        if (same := next(found, None)) is not None:
            used.add(same.id)
            options = {**same.options, READ_AS: told.own.hex()}
            made.append(replace(same, source_id=told.unit.id, options=options))
    return made


def _keys(
    stored: Sequence[Intention], was: Sequence[Told]
) -> Mapping[bytes, AbstractSet[Hashable]]:
    said = {told.own: set(told.marks()) for told in was}
    return {i.id: {says(as_reminder(i))[1:]} | said.get(own_id(i), set()) for i in stored}
