"""`user_context`: one string for a prompt as Zep writes it: facts, each with when it held."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone, tzinfo
from functools import partial

from ...nouns.clock import from_us, to_us
from ...nouns.memory import Unit
from ...nouns.names import bank_ref
from ...reading.recurrence.zones import zone_of
from ...verbs.prime import PrimeOptions
from ...verbs.priming.types import Context, Primed
from ...verbs.recalling.truth import HOLDS
from ..library.blocking import Memory
from ..library.memory import AsyncMemory

MAX_MEMORIES = 20

_PRESENT = "present"
_ENDED = " [no longer true]"
_TAG = re.compile(r"<(?=\s*/?\s*(?:FACTS|INSTRUCTIONS)\b)", re.IGNORECASE)


def user_context(
    memory: Memory,
    *,
    bank: str = "default",
    cue: str | None = None,
    max_memories: int = MAX_MEMORIES,
    now: datetime | None = None,
    zone: str | None = None,
) -> str:
    """Return the context of a user's next turn as one string; see `user_context_async`."""
    work = partial(
        user_context_async, bank=bank, cue=cue, max_memories=max_memories, now=now, zone=zone
    )
    return memory.wait(work(memory.inner))


async def user_context_async(
    memory: AsyncMemory,
    *,
    bank: str = "default",
    cue: str | None = None,
    max_memories: int = MAX_MEMORIES,
    now: datetime | None = None,
    zone: str | None = None,
) -> str:
    """Return the context of a user's next turn as one string; empty when nothing is known.

    First instructions that stand, then facts, oldest first, each with the days from and until
    which it held; one whose range has ended is marked.

    Args:
        memory: an open memory.
        bank: the user's.
        cue: what the turn is about, such as its last messages; without one the newest come.
        max_memories: memories that facts are taken from, at most.
        now: the time that it is told at; now by default.
        zone: IANA name of the zone that days are of; by default that of whoever told the fact.

    Raises:
        InvalidInput: a value that cannot be taken.
    """
    options = PrimeOptions(
        max_memories=max_memories,
        cue=cue,
        now=None if now is None else to_us(now),
        facts=True,
    )
    context = await memory.app.prime(bank_ref(bank), options)
    return _written(context, None if zone is None else zone_of(zone))


def _written(context: Context, zone: tzinfo | None) -> str:
    standing = [m for m in context.memories if m.lasts]
    told = [(fact, m) for m in context.memories if not m.lasts for fact in _facts(context, m)]
    told.sort(key=lambda pair: (pair[0].mentioned_at, pair[0].id))
    parts = [
        _part("INSTRUCTIONS", "that stand", [_said(m.unit, m.unit) for m in standing]),
        _part(
            "FACTS",
            f"with the days on which they held; one with the mark{_ENDED} did so once",
            [_line(fact, m, context.now, zone) for fact, m in told],
        ),
    ]
    return "\n\n".join(filter(None, parts))


def _facts(context: Context, memory: Primed) -> Sequence[Unit]:
    """Return what a memory states; one without facts states its text."""
    return context.facts.get(memory.unit.id) or (memory.unit,)


def _part(name: str, about: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    shown = "\n".join(f"- {line}" for line in dict.fromkeys(lines))
    return f"<{name}> ({about})\n{shown}\n</{name}>"


def _line(fact: Unit, memory: Primed, now: int, zone: tzinfo | None) -> str:
    whole = fact.id == memory.unit.id
    truth = memory.truth.facts.get(fact.id, memory.truth if whole else HOLDS)
    starts = (truth.valid_from, fact.valid_from, fact.occurred_start, fact.mentioned_at)
    start = next(at for at in starts if at is not None)
    end = truth.valid_until if truth.valid_until is not None else fact.valid_until
    ended = not truth.holds or (end is not None and end <= now)
    offset_min = memory.unit.offset_min
    until = "?" if ended and end is None else _PRESENT
    if end is not None:
        until = _day(end, offset_min, zone)
    told = f"{_said(fact, memory.unit)} ({_day(start, offset_min, zone)} - {until})"
    return f"{told}{_ENDED}" if ended else told


def _said(fact: Unit, source: Unit) -> str:
    who = fact.speaker or source.speaker
    return _inside(f"{who}: {fact.text}" if who else fact.text)


def _inside(text: str) -> str:
    """Return a text as one line that cannot end the block it stands in, nor begin another."""
    return _TAG.sub("&lt;", " ".join(text.split()))


def _day(us: int, offset_min: int | None, zone: tzinfo | None) -> str:
    where = zone or timezone(timedelta(minutes=offset_min or 0))
    try:
        return from_us(us).astimezone(where).date().isoformat()
    except OverflowError:  # outside the calendar
        return "?"
