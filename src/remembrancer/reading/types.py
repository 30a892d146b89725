"""What reading hands over: turns, passages, dates and facts found in a text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..nouns.memory import Modality, Polarity, Precision, Role, Stance


@dataclass(frozen=True, slots=True)
class Turn:
    """One contribution to a conversation, or one paragraph of a text that is none.

    `text` is what was said, verbatim (JSON escapes undone). `start`/`end` is the range of the
    content that holds it; for JSON messages that is the whole message object.
    """

    text: str
    start: int
    end: int
    speaker: str | None = None
    role: Role = Role.NONE
    at: int | None = None  # microseconds; None: take the item's timestamp
    offset_min: int | None = None
    name: str | None = None  # the message's own id, when it has one


@dataclass(frozen=True, slots=True)
class Span:
    """A range of characters, end exclusive."""

    start: int
    end: int


class DateRelation(StrEnum):
    """Which side of a named date is meant."""

    WITHIN = "within"
    BEFORE = "before"  # what lies before it begins
    UNTIL = "until"  # up to its end
    SINCE = "since"  # from its beginning on
    AFTER = "after"  # what begins when it is over


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A date or time named in a text, resolved to the half-open interval [start, end).

    Times in microseconds; a day is its local midnight to the next in the reference's zone. The
    interval is always the named date itself, so "since May" is May with the relation SINCE;
    `window` is what is meant. `last` is where the second of two named dates begins ("May to
    July": July), None where one is named alone. `nominal` is the exact day counted to ("in two
    months": that day of the month), where people who count so mean the whole `precision` around
    it; of "the end of May" and its like it is the moment at which that lies.
    """

    start: int
    end: int
    precision: Precision
    span: Span
    relation: DateRelation = DateRelation.WITHIN
    last: int | None = None
    nominal: int | None = None

    @property
    def window(self) -> tuple[int | None, int | None]:
        """What is meant, half-open; None where it has no bound."""
        match self.relation:
            case DateRelation.BEFORE:
                return None, self.start
            case DateRelation.UNTIL:
                return None, self.end
            case DateRelation.SINCE:
                return self.start, None
            case DateRelation.AFTER:
                return self.end, None
        return self.start, self.end


SELF = "self"
"""Whose slot it is when whoever speaks has no name."""


@dataclass(frozen=True, slots=True)
class SlotClaim:
    """One value of one slot as a text tells it; all names are folded.

    `subject` is whose it is, `SELF` for a speaker without a name. `event`: the text tells of a
    change that took place at `date`, rather than of what holds. `news`, `loose` and `many` are
    those of `nouns.memory.Claim`.
    """

    subject: str
    slot: str
    value: str
    stance: Stance
    news: bool = False
    loose: bool = False
    many: bool = False
    event: bool = False
    date: DateSpan | None = None

    @property
    def key(self) -> str:
        """The slot's key within its bank."""
        return f"{self.subject}\n{self.slot}"


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement read from a turn. `text` stands in the turn word for word at `span`.

    `claims` are what it says of attributes.
    """

    text: str
    span: Span
    subject: str | None
    polarity: Polarity
    modality: Modality
    date: DateSpan | None
    names: tuple[str, ...] = ()
    claims: tuple[SlotClaim, ...] = ()
