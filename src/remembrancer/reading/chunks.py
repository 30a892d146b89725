"""Cuts a document into chunks, and finds the chunk of a turn or passage."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .passages import split_passages
from .types import Span, Turn


@dataclass(frozen=True, slots=True)
class Place:
    """Where a range of the content lies: a chunk, and the range inside that chunk."""

    chunk: int
    start: int
    end: int


def passage_range(content: str, turn: Turn, passage: Span) -> Span:
    """Return the range of `content` that holds a passage of `turn.text`.

    A turn's text ends where the turn ends, so the passage is found by counting back. The text of a
    JSON message does not stand in the content as it is: its range is the whole message.
    """
    return range_at(stands_at(content, turn), turn, passage)


def stands_at(content: str, turn: Turn) -> int | None:
    """Return where `turn.text` stands in `content`; None when it does not stand there as it is."""
    offset = turn.end - len(turn.text)
    return offset if offset >= turn.start and content.startswith(turn.text, offset) else None


def range_at(offset: int | None, turn: Turn, passage: Span) -> Span:
    """As `passage_range`, for an offset that `stands_at` gave once for all passages of a turn."""
    if offset is None:
        return Span(turn.start, turn.end)
    return Span(offset + passage.start, offset + passage.end)


def split_chunks(content: str, turns: Sequence[Turn], limit_chars: int = 3000) -> list[Span]:
    """Return contiguous ranges that, joined, are the whole content.

    Cuts fall at the starts of turns, or of passages of a turn over the limit, so a passage (as
    `split_passages` gives it for the whole turn) lies in one chunk. A chunk is at most about twice
    the limit, except where one JSON message is longer: that is kept whole.
    """
    if not content:
        return []
    chunks: list[Span] = []
    start = last = 0  # where the open chunk starts; the latest place where it may be cut
    for at in _cuts(content, turns, limit_chars):
        if at - start > limit_chars and last > start:
            chunks.append(Span(start, last))
            start = last
        last = at
    if len(content) - start > limit_chars and last > start:
        chunks.append(Span(start, last))
        start = last
    chunks.append(Span(start, len(content)))
    return chunks


def place(chunks: Sequence[Span], start: int, end: int) -> Place:
    """Return the chunk that holds [start, end) and the range inside it.

    A range that runs over its first chunk is cut off at that chunk's end.
    """
    index = max(0, bisect_right(chunks, start, key=_start) - 1)
    chunk = chunks[index]
    return Place(index, start - chunk.start, min(end, chunk.end) - chunk.start)


def _start(span: Span) -> int:
    return span.start


def _cuts(content: str, turns: Sequence[Turn], limit: int) -> Iterator[int]:
    """Yield, in order, the places where a chunk may begin."""
    at = 0
    for turn in turns:
        yield from range(at + limit, turn.start, limit)  # what stands between turns
        yield turn.start
        offset = stands_at(content, turn) if turn.end - turn.start > limit else None
        if offset is not None:
            for passage in split_passages(turn.text)[1:]:
                yield offset + passage.start
        at = turn.end
    yield from range(at + limit, len(content), limit)
