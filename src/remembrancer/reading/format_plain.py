"""Reads turns from prose: paragraphs, with headings, lists and fenced code kept together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..nouns.memory import Role
from .markup import find_fences
from .passages import count_words
from .types import Span, Turn

_LINE = re.compile(r"[^\n]*\n?")
_HEADING = re.compile(r"#{1,6}[ \t]+\S|[^\n]{1,120}\n(?:={3,}|-{3,})[ \t]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]")
LIST_WORDS = 110  # a list stays one turn up to the passage limit


def plain_turns(content: str, start: int, end: int, role: Role) -> list[Turn]:
    """Return the paragraphs of content[start:end] as turns of `role`, with their ranges."""
    turns = []
    for block in _joined(content[start:end]):
        low, high = start + block.start, start + block.end
        turns.append(Turn(content[low:high], low, high, role=role))
    return turns


def _joined(text: str) -> Iterator[Span]:
    """Yield the blocks of `text`, headings joined to what follows and list items to the list."""
    held: Span | None = None
    words = 0
    heading = in_list = False  # what `held` is so far: headings only; a list
    for block in _blocks(text):
        size = count_words(text[block.start : block.end])
        item = _ITEM.match(text, block.start) is not None
        if held is not None and (
            (heading and words < LIST_WORDS) or (item and in_list and words + size <= LIST_WORDS)
        ):
            held, words = Span(held.start, block.end), words + size
        else:
            if held is not None:
                yield held
            held, words = block, size
            heading = True
        heading = heading and _is_heading(text, block)
        in_list = item or text[block.end - 1] == ":"
    if held is not None:
        yield held


def _is_heading(text: str, block: Span) -> bool:
    lines = text[block.start : block.end]
    underlined = lines[0] != "#"
    return _HEADING.match(lines) is not None and lines.count("\n") == int(underlined)


def _blocks(text: str) -> Iterator[Span]:
    """Yield fenced blocks, and what lies between them cut at blank lines and before headings."""
    at = 0
    for fence in find_fences(text):
        yield from _paragraphs(text, at, fence.start)
        yield fence
        at = fence.end
    yield from _paragraphs(text, at, len(text))


def _paragraphs(text: str, at: int, end: int) -> Iterator[Span]:
    first = last = -1  # the paragraph so far
    while at < end:
        match = _LINE.match(text, at, end)
        stop = match.end() if match else end
        line = text[at:stop].strip()
        if first >= 0 and (not line or (line[0] == "#" and _HEADING.match(line))):
            yield Span(first, last)
            first = -1
        if line:
            lead = len(text[at:stop]) - len(text[at:stop].lstrip())
            first = at + lead if first < 0 else first
            last = at + lead + len(line)
        at = stop
    if first >= 0:
        yield Span(first, last)
