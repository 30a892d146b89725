"""What reading hands over: turns, passages, dates and facts found in a text."""

from __future__ import annotations

from dataclasses import dataclass

from ..nouns.memory import Modality, Polarity, Precision, Role


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


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A date or time named in a text, resolved to the half-open interval [start, end).

    Times in microseconds; a day is its local midnight to the next in the reference's zone.
    """

    start: int
    end: int
    precision: Precision
    span: Span


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement read from a turn. `text` stands in the turn word for word at `span`."""

    text: str
    span: Span
    subject: str | None
    polarity: Polarity
    modality: Modality
    date: DateSpan | None
    names: tuple[str, ...] = ()
