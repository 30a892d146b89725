"""What the parsers of other programs' exports yield."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO

MAX_RECORD_BYTES = 32 * 1024 * 1024
"""The largest single record (a conversation, a mail, a line) that is read; larger ones are left.

Parsed, a record takes some seven times as much memory.
"""


NOT_UTF8 = "it is not UTF-8 text: convert it first, with iconv for example"


@dataclass(frozen=True, slots=True)
class Passage:
    """One text of a document. `at`: when it was said (microseconds), None: nobody knows."""

    text: str
    at: int | None = None
    offset_min: int | None = None
    note: str | None = None
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """A document to retain. The same export always gives it the same name."""

    name: str
    passages: tuple[Passage, ...]
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TakenNode:
    """An entity of a knowledge graph, with what was observed of it."""

    name: str
    kind: str
    observations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TakenRelation:
    """A directed relation of a knowledge graph."""

    source: str
    target: str
    kind: str


@dataclass(frozen=True, slots=True)
class TakenCalendar:
    """Entries of a calendar, a bounded number, which become intentions.

    `head` and `tail` are what stands around them, so that any of them are a calendar too.
    """

    head: bytes
    entries: tuple[bytes, ...]
    tail: bytes

    def text(self, entries: tuple[bytes, ...] | None = None) -> bytes:
        """Return the calendar, of all entries or of some."""
        return self.head + b"".join(self.entries if entries is None else entries) + self.tail


@dataclass(frozen=True, slots=True)
class Left:
    """Something that is not taken: where it stands, and why. `count`: how many such."""

    where: str
    why: str
    count: int = 1


Item = Taken | TakenNode | TakenRelation | TakenCalendar | Left


@dataclass(frozen=True, slots=True)
class File:
    """A file to read: its path within what was given, with slashes, and how to open it.

    `size` in bytes, unpacked. `at`: when it was changed (microseconds), where that is known.
    """

    path: str
    size: int
    open: Callable[[], IO[bytes]]
    at: int | None = None


Parser = Callable[[File], Iterator[Item]]
