"""What facts claim: slots as a text tells them, placed in time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from ...nouns.clock import DAY_US
from ...nouns.memory import BankRef, Claim, Stance, Unit
from ...reading.slots import Context, Table
from ...reading.types import DateRelation, DateSpan, SlotClaim

RECENT_US = 60 * DAY_US
"""An event told of within this time after it is news: it counts from when it was told, so that it
comes after what was said in between. An older one is history and counts from its own date."""

_NEAR_TURNS = 4  # how many turns on a correction or an "it" may still mean what was said

Tables = Callable[[BankRef], Awaitable[Table]]  # the slots of a bank


class Contexts:
    """What each speaker of a document said just before."""

    def __init__(self) -> None:
        self._said: dict[tuple[object, ...], tuple[int, Context]] = {}

    def of(self, unit: Unit) -> Context:
        """Return what whoever said a source had said before it; sources come in order."""
        key = (unit.document_id, unit.speaker, unit.role)
        turn, context = self._said.get(key, (unit.turn, Context()))
        if unit.turn - turn > _NEAR_TURNS:
            context = Context()
        self._said[key] = unit.turn, context
        return context


def placed(claims: Sequence[SlotClaim], said: int, *, undated: bool) -> tuple[Claim, ...]:
    """Return claims as facts keep them.

    Args:
        claims: of one statement.
        said: when it was said, in microseconds.
        undated: nobody knows when.
    """
    return tuple(_placed(claim, said, undated) for claim in claims)


def _placed(claim: SlotClaim, said: int, undated: bool) -> Claim:
    at, since, until, dated = said, None, None, False
    date = claim.date
    if date is not None and claim.stance is Stance.HELD:
        since, until = _held(date, said)
    elif date is not None and date.relation is DateRelation.SINCE:
        since = date.start
        if said < since:  # "from May my rent is 950": until then it is what it was
            at, dated = since, True
    elif date is not None and claim.event and date.start <= said:
        since = date.start
        if said - min(date.end, said) > RECENT_US:
            at, dated = date.start, True
    return Claim(
        claim.key,
        claim.value,
        claim.stance,
        at,
        since,
        until,
        news=claim.news,
        timed=not undated or dated,
        dated=dated,
        loose=claim.loose,
        many=claim.many,
    )


def _held(date: DateSpan, said: int) -> tuple[int | None, int | None]:
    """Return from and until when something held that is told with a date."""
    if date.last is not None and date.last <= said:
        return date.start, date.last
    if date.relation in (DateRelation.UNTIL, DateRelation.BEFORE) and date.start <= said:
        return None, date.start
    if date.relation is DateRelation.WITHIN and date.end <= said:
        return date.start, date.end
    return None, None
