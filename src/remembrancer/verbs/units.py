"""Content to units: reads items into a document, its chunks and its source units.

A source is a turn, or a passage of a long one. Short turns also carry the words of up to two short
turns before them, and are embedded once more after the one before: on chats between people this
finds answers whose words stand in the question before them, and long turns, where it would do
harm, stand alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..finding.terms import Analyzer, pack
from ..nouns.ids import IdMaker
from ..nouns.memory import Chunk, Document, Kind, Layer, Role, Unit, UnitRow
from ..reading.chunks import passage_range, place, split_chunks
from ..reading.passages import count_words, split_passages
from ..reading.turns import split_turns
from ..reading.types import DateSpan, Turn

WINDOW_WORDS = 60  # a turn above this stands alone
WINDOW_TURNS = 2  # turns before, in the keyword window

DateFinder = Callable[[str, int, int | None], list[DateSpan]]  # text, reference us, offset


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to retain.

    `content` is text, a chat as text, Markdown, or JSON messages. `timestamp` (microseconds) is
    when it was said; None: now. `offset_min` is the caller's UTC offset, for local dates.
    """

    content: str
    timestamp: int | None = None
    offset_min: int | None = None
    note: str | None = None
    metadata: Mapping[str, str] | None = None
    document: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A source unit with what the next steps need: the texts to embed and the dates in it."""

    row: UnitRow
    embed_text: str
    window_text: str | None
    dates: tuple[DateSpan, ...] = ()


@dataclass(slots=True)
class Draft:
    """A document ready to be written."""

    document: Document
    chunks: list[Chunk] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Spoken:
    """What a window needs of an earlier turn."""

    unit_id: bytes
    text: str
    terms: list[int]
    words: int


def content_hash(items: Sequence[Item]) -> str:
    """Hash everything about items that shapes their units: the same hash, nothing to do."""
    told = [
        [i.content, i.timestamp, i.offset_min, i.note, i.metadata, i.tags, i.entities]
        for i in items
    ]
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()


class Drafter:
    """Makes drafts; everything it needs is passed in."""

    def __init__(self, analyzer: Analyzer, ids: IdMaker, find_dates: DateFinder) -> None:
        self._analyzer = analyzer
        self._ids = ids
        self._find_dates = find_dates

    def draft(self, name: str, items: Sequence[Item], now: int) -> Draft:
        """Read the items of one document, in order."""
        document = Document(
            id=self._ids.new(),
            name=name,
            content_hash=content_hash(items),
            created_at=now,
            updated_at=now,
            length=sum(len(i.content) for i in items),
            tags=tuple(dict.fromkeys(tag for i in items for tag in i.tags)),
            metadata={k: v for i in items for k, v in (i.metadata or {}).items()} or None,
            params=_params(items),
        )
        draft = Draft(document)
        for i, item in enumerate(items):
            content = item.content + ("\n" if i < len(items) - 1 else "")
            self._read_item(draft, replace(item, content=content), now)
        return draft

    def _read_item(self, draft: Draft, item: Item, now: int) -> None:
        turns = split_turns(item.content)
        spans = split_chunks(item.content, turns)
        first = len(draft.chunks)
        draft.chunks += [
            Chunk(first + i, item.content[s.start : s.end]) for i, s in enumerate(spans)
        ]
        said_at = now if item.timestamp is None else item.timestamp
        number = draft.sources[-1].row.unit.turn + 1 if draft.sources else 0
        before: list[_Spoken] = []
        for turn in turns:
            at = said_at if turn.at is None else turn.at
            # A microsecond a turn keeps the order of what was said at one time.
            at += len(draft.sources) if turn.at is None else 0
            passages = split_passages(turn.text)
            for part, passage in enumerate(passages):
                held = passage_range(item.content, turn, passage)
                spot = place(spans, held.start, held.end)
                unit = Unit(
                    id=self._ids.new(),
                    layer=Layer.SOURCE,
                    text=turn.text[passage.start : passage.end],
                    created_at=now,
                    mentioned_at=at,
                    kind=Kind.EXPERIENCE if turn.role is Role.ASSISTANT else Kind.WORLD,
                    document_id=draft.document.id,
                    chunk_index=first + spot.chunk,
                    turn=number,
                    part=part,
                    start=spot.start,
                    end=spot.end,
                    speaker=turn.speaker,
                    role=turn.role,
                    note=item.note,
                    metadata=item.metadata,
                    tags=item.tags,
                    entities=item.entities,
                    offset_min=turn.offset_min if turn.at is not None else item.offset_min,
                )
                draft.sources.append(self._source(unit, turn, before, len(passages) == 1))
            number += 1

    def _source(self, unit: Unit, turn: Turn, before: list[_Spoken], whole: bool) -> Source:
        """Complete a source: its dates, its words, its window."""
        dates = tuple(self._find_dates(unit.text, unit.mentioned_at, unit.offset_min))
        if dates:
            unit = replace(
                unit,
                occurred_start=dates[0].start,
                occurred_end=dates[0].end,
                precision=dates[0].precision,
            )
        text = f"{turn.speaker}: {unit.text}" if turn.speaker else unit.text
        terms = self._analyzer.terms(text)
        spoken = _Spoken(unit.id, text, terms, count_words(unit.text) if whole else 10**9)
        window = _window(spoken, before)
        before.append(spoken)
        del before[:-WINDOW_TURNS]
        if not window:
            return Source(UnitRow(unit, pack(terms)), text, None, dates)
        near = window[-1]
        follows = near is before[-2]  # the turn just before is short too
        words = [term for w in window for term in w.terms] + terms
        return Source(
            UnitRow(
                replace(unit, previous_id=near.unit_id),
                terms=pack(terms),
                window_terms=pack(words),
            ),
            text,
            f"{near.text}\n{text}" if follows else None,
            dates,
        )


def _window(spoken: _Spoken, before: Sequence[_Spoken]) -> list[_Spoken]:
    """Return the short turns before a short turn."""
    if spoken.words > WINDOW_WORDS:
        return []
    return [b for b in before[-WINDOW_TURNS:] if b.words <= WINDOW_WORDS]


def _params(items: Sequence[Item]) -> dict[str, Any]:
    """Keep what retain was told beside the content, so that a document can be read again."""
    return {
        "items": [
            {
                "length": len(i.content),
                "timestamp": i.timestamp,
                "offset_min": i.offset_min,
                "note": i.note,
            }
            for i in items
        ]
    }
