"""What must be true: what was acknowledged, and what may be done or not."""

from __future__ import annotations

from dataclasses import dataclass, field

Content = tuple[str, ...]  # the words of a document's parts, in order; () is no document


def word(seed: int, number: int) -> str:
    """Return a word that stands in nothing else, of letters alone."""
    value, letters = seed * 1_000 + number, ""
    while value:
        value, digit = divmod(value, 20)
        letters += "bcdfghklmnprstvwzaei"[digit]
    return f"qx{letters}oyo"


def said(token: str) -> str:
    """Return a text about a word."""
    return f"The {token} stands in the red shed behind the mill."


@dataclass
class Document:
    """A document: what it may hold by now."""

    allowed: set[Content] = field(default_factory=lambda: {()})
    queued: bool = False  # something is to be done with it later
    asked: bool = False  # something asked of it, and not answered, may still be done

    @property
    def open(self) -> bool:
        """Whether it is to be left alone until all is quiet."""
        return self.queued or self.asked

    def sure(self) -> Content | None:
        """What it holds, if only one thing is possible."""
        return next(iter(self.allowed)) if len(self.allowed) == 1 and not self.open else None

    def put(self, content: Content, acknowledged: bool) -> None:
        """Take its place, or perhaps."""
        self.allowed = {content} if acknowledged else self.allowed | {content}

    def extended(self, token: str, acknowledged: bool) -> None:
        """Stand at its end once, or perhaps."""
        longer = {(*c, token) for c in self.allowed}
        self.allowed = longer if acknowledged else self.allowed | longer


@dataclass
class Reminder:
    """An intention. Times are milliseconds."""

    due: int | None  # None: at an event
    kept: bool  # acknowledged
    event: str = ""
    fires: bool = True  # it has a time, or its event was acknowledged after it was
    may_fire: bool = True  # or that event was sent
    seen: int = 0
    acked: bool = False
    occurrences: set[str] = field(default_factory=set)


@dataclass
class Memory:
    """A memory told by itself. `allowed`: the words it may be about; "" is none."""

    id: str
    allowed: set[str]


@dataclass
class World:
    """All of a round, and what it found wrong, by kind."""

    seed: int
    documents: dict[str, Document] = field(default_factory=dict)
    reminders: dict[str, Reminder] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)
    operations: dict[str, str] = field(default_factory=dict)  # acknowledged ones, and what they do
    forgotten: set[str] = field(default_factory=set)  # words of what was acknowledged as forgotten
    leases: list[tuple[str, int]] = field(default_factory=list)  # occurrences and tokens, not acked
    acknowledged: int = 0
    unknown: int = 0
    refused: int = 0
    wrong: dict[str, list[str]] = field(default_factory=dict)
    failed_operations: int = 0

    def document(self, name: str) -> Document:
        """The document of a name, known or not."""
        return self.documents.setdefault(name, Document())

    def count(self, status: int) -> bool:
        """Count an answer; return whether it was acknowledged."""
        good = 200 <= status < 300
        self.acknowledged += good
        self.unknown += not good and (status == 0 or status >= 500)
        self.refused += 400 <= status < 500
        return good

    def blame(self, kind: str, what: str) -> None:
        """Note something that must not be: lost, half, early, twice, stuck, mismatch or leak."""
        self.wrong.setdefault(kind, []).append(what)

    def gone(self) -> set[str]:
        """Words that must stand nowhere: forgotten for sure, and of nothing that may be there."""
        there = {t for d in self.documents.values() for c in d.allowed for t in c}
        there |= {t for m in self.memories.values() for t in m.allowed if t}
        return self.forgotten - there
