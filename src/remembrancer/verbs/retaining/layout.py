"""Content to places: which turns and passages a document has, and in which chunk each stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...nouns.memory import Chunk, Role
from ...nouns.text import HOLES
from ...reading.chunks import place, range_at, split_chunks, stands_at
from ...reading.passages import count_words, split_passages
from ...reading.recalled import find_recalled, may_recall
from ...reading.turns import split_turns
from ...reading.types import Span, Turn

PART_WORDS = 10**9  # what a passage of a longer turn counts as: it never is a short turn

_WORD = re.compile(r"\w+")
_BETWEEN = "\n\n"  # stands between the paragraphs that are looked at together


@dataclass(frozen=True, slots=True)
class Said:
    """A source as the content says it: a turn, or a passage of a long one.

    `at` is None where the content tells no time. `start`/`end` are offsets into the chunk.
    """

    item: int
    text: str
    speaker: str | None
    role: Role
    at: int | None
    offset_min: int | None
    chunk: int
    turn: int
    part: int
    start: int
    end: int
    words: int

    @property
    def spoken(self) -> str:
        """What was said, after who said it."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


@dataclass(slots=True)
class Extent:
    """How much of a document there is: the chunks, turns and sources that one item made."""

    chunks: int = 0
    turns: int = 0
    sources: int = 0


@dataclass(slots=True)
class Layout:
    """A document's content, cut. `extents` has one for each item.

    `characters` are the letters and digits of the content, `covered` those that stand in a turn
    that became sources, or that a memory gave back.
    """

    chunks: list[Chunk] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    extents: list[Extent] = field(default_factory=list)
    characters: int = 0
    covered: int = 0

    @property
    def length(self) -> int:
        """Characters of the content."""
        return sum(len(chunk.text) for chunk in self.chunks)


def lay_out(contents: Sequence[str], after: Extent | None = None) -> Layout:
    """Cut the contents of one document's items.

    Args:
        contents: of each item; lines part them in the document.
        after: what the document has already, when they are appended to it.
    """
    layout = Layout()
    base = after or Extent()
    for number, content in enumerate(contents):
        lead = "\n" if number == 0 and base.chunks else ""
        end = "\n" if number < len(contents) - 1 else ""
        _lay_out_item(layout, number, f"{lead}{content}{end}", base)
    return layout


def _lay_out_item(layout: Layout, number: int, content: str, base: Extent) -> None:
    turns = split_turns(content)
    spans = split_chunks(content, turns)
    chunk = base.chunks + len(layout.chunks)
    turn_number = base.turns + sum(extent.turns for extent in layout.extents)
    layout.chunks += [
        Chunk(chunk + i, content[span.start : span.end]) for i, span in enumerate(spans)
    ]
    first = len(layout.said)
    kept: list[Turn] = []
    recalled = _recalled(turns)
    for at, turn in enumerate(turns):
        passages = [p for p in _passages(turn.text, recalled[at]) if not redacted(turn.text, p)]
        if passages or recalled[at]:
            kept.append(turn)
        stands = stands_at(content, turn)
        for part, passage in enumerate(passages):
            held = range_at(stands, turn, passage)
            spot = place(spans, held.start, held.end)
            text = turn.text[passage.start : passage.end]
            layout.said.append(
                Said(
                    number,
                    text,
                    turn.speaker,
                    turn.role,
                    turn.at,
                    turn.offset_min,
                    chunk + spot.chunk,
                    turn_number + at,
                    part,
                    spot.start,
                    spot.end,
                    count_words(text) if len(passages) == 1 else PART_WORDS,
                )
            )
    layout.extents.append(Extent(len(spans), len(turns), len(layout.said) - first))
    characters = _characters(content, 0, len(content))
    layout.characters += characters
    layout.covered += characters - sum(_characters(content, *gap) for gap in _gaps(content, kept))


def _recalled(turns: Sequence[Turn]) -> list[list[Span]]:
    """Return for each turn the blocks in it that a memory gave back.

    A block may run over the paragraphs of prose, so these are looked at together.
    """
    found: list[list[Span]] = []
    start = 0
    for end in range(1, len(turns) + 1):
        if end < len(turns) and _prose(turns[end - 1]) and _prose(turns[end]):
            continue
        texts = [turn.text for turn in turns[start:end]]
        blocks = find_recalled(_BETWEEN.join(texts)) if any(map(may_recall, texts)) else []
        at = first = 0
        for text in texts:
            stop = at + len(text)
            while first < len(blocks) and blocks[first].end <= at:
                first += 1
            last = first
            while last < len(blocks) and blocks[last].start < stop:
                last += 1
            mine = blocks[first:last]
            found.append([Span(max(b.start, at) - at, min(b.end, stop) - at) for b in mine])
            at = stop + len(_BETWEEN)
        start = end
    return found


def _prose(turn: Turn) -> bool:
    return (turn.speaker, turn.role) == (None, Role.NONE)


def _passages(text: str, left_out: Sequence[Span]) -> list[Span]:
    """Return the passages of what is told beside the blocks that are left out."""
    if not left_out:
        return split_passages(text)
    found: list[Span] = []
    at = 0
    for block in (*left_out, Span(len(text), len(text))):
        if _WORD.search(text, at, block.start):
            found += [
                Span(at + p.start, at + p.end) for p in split_passages(text[at : block.start])
            ]
        at = block.end
    return found


def redacted(text: str, span: Span) -> bool:
    """Tell whether a passage has no words left: what was erased must not become a memory again."""
    part = text[span.start : span.end]
    return any(hole in part for hole in HOLES) and _WORD.search(part) is None


def _gaps(content: str, turns: Sequence[Turn]) -> Iterator[tuple[int, int]]:
    at = 0
    for turn in turns:
        yield at, turn.start
        at = turn.end
    yield at, len(content)


def _characters(content: str, start: int, end: int) -> int:
    return sum(m.end() - m.start() for m in _WORD.finditer(content, start, end))
