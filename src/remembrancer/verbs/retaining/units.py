"""Content to units: makes a document's source units, new ones and those that an older one keeps.

A source is a turn, or a passage of a long one. Short turns also carry the words of up to two short
turns before them, and are embedded once more after the one before: on chats between people this
finds answers whose words stand in the question before them, and long turns, where it would do
harm, stand alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ...finding.terms import Analyzer, pack
from ...keeping.batch import KeptUnit
from ...nouns.ids import IdMaker
from ...nouns.memory import Kind, Layer, Role, Unit, UnitRow
from ...reading.dates.making import DateFinder
from ...reading.sameness import key_of
from ...reading.types import DateSpan
from .given import GivenFact, PlacedFact
from .layout import Said
from .spoken import (
    WINDOW_TURNS,
    Spoken,
    follows_last,
    labels,
    old_window,
    said_before,
    spoken_text,
    window_of,
)

_FAR_US = 500 * 86_400 * 1_000_000  # no relative date is the same so much later


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to retain.

    `content` is text, a chat as text, Markdown, or JSON messages. `timestamp` (microseconds) is
    when it was said; None: now. `offset_min` is the caller's UTC offset, for local dates.
    `undated`: nobody knows when it was said, so "yesterday" in it is no date. `append`: add it to
    the document that is there instead of replacing it. `observation_scopes`: which observations it
    counts for (see `modelling.scopes`). `strategy` is kept with the document. `facts`: those that
    the caller has extracted, in the place of what rules and models would read; None: they read.
    """

    content: str
    timestamp: int | None = None
    offset_min: int | None = None
    note: str | None = None
    metadata: Mapping[str, str] | None = None
    document: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    entity_kinds: Mapping[str, str] | None = None  # what some of them are, by name
    resolve_entities: bool = True
    undated: bool = False
    append: bool = False
    observation_scopes: str | Sequence[Sequence[str]] | None = None
    strategy: str | None = None
    facts: tuple[GivenFact, ...] | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A source unit with what the next steps need.

    `dates` are those that its text names. `before` is what was said just before it, after who said
    it; it stands in the window too when `follows`. `stored`: the unit is there already. `item` is
    the number of the item that holds it, where that is known. `undated`: nobody knows when it was
    said. `given`: the facts that its caller handed in; None: they are to be read.
    """

    row: UnitRow
    dates: tuple[DateSpan, ...] = ()
    before: str = ""
    follows: bool = False
    stored: bool = False
    item: int | None = None
    undated: bool = False
    given: tuple[PlacedFact, ...] | None = None

    @property
    def embed_text(self) -> str:
        """The text to embed: what was said, after who said it."""
        return spoken_text(self.row.unit)

    @property
    def window_text(self) -> str | None:
        """The text to embed once more, after what was said before; None for one without."""
        return f"{self.before}\n{self.embed_text}" if self.follows else None


@dataclass(frozen=True, slots=True)
class OldSource:
    """A source of the stored document that a newer version keeps.

    `window` and `follows` are what its window was made of (see `windows`), `before` the id of the
    source before it. `curated`: people have changed it, so what it is told stays. `renamed`: the
    item that holds it is told other entities than before. `unread`: its facts were never read.
    """

    unit: Unit
    window: tuple[bytes, ...] = ()
    follows: bool = False
    before: bytes | None = None
    curated: bool = False
    renamed: bool = False
    unread: bool = False


@dataclass(slots=True)
class Draft:
    """Sources ready to be written.

    Attributes:
        sources: to be written, unless stored, and then read and embedded.
        keep: ids of stored units that stay as they are.
        moved: stored units that stay and change.
        windows: stored units whose window is to be embedded again, with its text.
        resaid: stored units whose `same` is to be made again, with what was said before them.
        renamed: stored units that are told other entities.
    """

    sources: list[Source] = field(default_factory=list)
    keep: list[bytes] = field(default_factory=list)
    moved: list[KeptUnit] = field(default_factory=list)
    windows: list[tuple[bytes, str]] = field(default_factory=list)
    resaid: list[tuple[Unit, str]] = field(default_factory=list)
    renamed: list[Unit] = field(default_factory=list)


def content_hash(items: Sequence[Item], before: str = "") -> str:
    """Hash everything about items that shapes their units: the same hash, nothing to do.

    Args:
        items: of one document, in order.
        before: the hash of the items before them; so appended items give the hash of all.
    """
    for i in items:
        told: list[Any] = [before, i.content, i.timestamp, i.offset_min, i.note, i.metadata]
        told += [
            i.tags,
            i.entities,
            i.entity_kinds,
            i.resolve_entities,
            i.undated,
            i.observation_scopes,
            i.strategy,
        ]
        if i.facts is not None:
            told.append([asdict(fact) for fact in i.facts])
        text = json.dumps(told, sort_keys=True, default=str)
        before = hashlib.sha256(text.encode()).hexdigest()
    return before


class Drafter:
    """Makes drafts; everything it needs is passed in."""

    def __init__(self, analyzer: Analyzer, ids: IdMaker, find_dates: DateFinder) -> None:
        self._analyzer = analyzer
        self._ids = ids
        self.find_dates = find_dates

    def draft(
        self,
        document_id: bytes,
        items: Sequence[Item],
        said: Sequence[Said],
        now: int,
        *,
        old: Sequence[OldSource | None] = (),
        first: int = 0,
        given: Sequence[tuple[PlacedFact, ...] | None] = (),
    ) -> Draft:
        """Make the units of what was said, in order.

        Args:
            document_id: of the document that holds them.
            items: of the document, as `said` numbers them.
            said: the sources, as `layout` cuts them.
            now: microseconds.
            old: for each of `said` the stored source that it is; empty: all are new.
            first: number of the first one in its document.
            given: for each of `said` the facts that were handed in; empty: none were.
        """
        draft = Draft()
        before: list[Spoken] = []
        item = -1
        for number, each in enumerate(said):
            if each.item != item:
                item, before = each.item, []
            kept = old[number] if old else None
            start = now if kept is None else kept.unit.created_at
            at = said_at(each, items[item], first + number, start)
            told = _Told(each, items[item], at, given[number] if given else None)
            if kept is None:
                self._add(draft, document_id, told, before, now)
            else:
                self._keep(draft, kept, told, before)
            del before[:-WINDOW_TURNS]
        return draft

    def again(self, units: Sequence[Unit], wanted: Set[bytes]) -> list[Source]:
        """Make sources of the wanted ones among stored units, a document's in order."""
        by_id = {unit.id: unit for unit in units}
        made: list[Source] = []
        last: Unit | None = None
        for unit in units:
            if unit.id in wanted:
                before = spoken_text(last) if last is not None else ""
                follows = old_window(unit, by_id)[1]
                row = UnitRow(unit)
                dates = self._stored_dates(unit)
                made.append(Source(row, dates, before, follows, stored=True))
            last = unit
        return made

    def same_of(self, unit: Unit, before: str, facts: Sequence[Unit]) -> dict[bytes, bytes | None]:
        """Return the keys of what a stored source and its facts say, made anew."""
        dates = self._stored_dates(unit)
        keys = {unit.id: key_of(unit, dates, before)}
        for fact in facts:
            mine = [d for d in dates if d.span.start >= fact.start and d.span.end <= fact.end]
            told = replace(fact, tags=unit.tags)
            keys[fact.id] = key_of(told, mine, f"{before}\n{unit.text[: fact.start]}")
        return keys

    def _add(
        self, draft: Draft, document_id: bytes, told: _Told, before: list[Spoken], now: int
    ) -> None:
        """Make a new unit."""
        said, item = told.said, told.item
        unit = Unit(
            id=self._ids.new(),
            layer=Layer.SOURCE,
            text=said.text,
            created_at=now,
            mentioned_at=told.at,
            kind=Kind.EXPERIENCE if said.role is Role.ASSISTANT else Kind.WORLD,
            document_id=document_id,
            chunk_index=said.chunk,
            turn=said.turn,
            part=said.part,
            start=said.start,
            end=said.end,
            speaker=said.speaker,
            role=said.role,
            note=item.note,
            metadata=item.metadata,
            tags=item.tags,
            entities=item.entities,
            offset_min=said.offset_min if said.at is not None else item.offset_min,
        )
        dates = self._dates(unit, item.undated)
        if dates:
            unit = replace(
                unit,
                occurred_start=dates[0].start,
                occurred_end=dates[0].end,
                precision=dates[0].precision,
            )
        spoken = Spoken(unit.id, said.turn, spoken_text(unit), said.words)
        window, last = window_of(spoken, before), said_before(before, said.turn)
        if window:
            unit = replace(unit, previous_id=window[-1].unit_id)
        row = UnitRow(
            unit,
            terms=pack([*self._terms(spoken), *labels(unit)]),
            window_terms=self._window_terms(spoken, window),
            same=key_of(unit, dates, last),
        )
        follows = follows_last(spoken, window)
        source = Source(
            row, dates, last, follows, item=said.item, undated=item.undated, given=told.given
        )
        draft.sources.append(source)
        before.append(spoken)

    def _keep(self, draft: Draft, old: OldSource, told: _Told, before: list[Spoken]) -> None:
        """Take over a stored unit, with what has changed about it."""
        said, item, unit = told.said, told.item, old.unit
        spoken = Spoken(unit.id, said.turn, spoken_text(unit), said.words)
        window, last = window_of(spoken, before), said_before(before, said.turn)
        follows = follows_last(spoken, window)
        ids = tuple(each.unit_id for each in window)
        renamed = old.renamed and not old.curated
        new = replace(
            unit,
            mentioned_at=told.at,
            chunk_index=said.chunk,
            turn=said.turn,
            part=said.part,
            start=said.start,
            end=said.end,
            previous_id=ids[-1] if ids else None,
            note=item.note,
            metadata=item.metadata,
            tags=item.tags,
            entities=item.entities if renamed else unit.entities,
        )
        other_window = (ids, follows) != (old.window, old.follows)
        if other_window:
            words = self._window_terms(spoken, window)
            words = words or pack([*self._terms(spoken), *labels(unit)])
            draft.moved.append(KeptUnit(new, words))
        elif new != unit:
            draft.moved.append(KeptUnit(new))
        else:
            draft.keep.append(unit.id)
        if old.unread:
            row = UnitRow(new)
            dates = self._dates(new, item.undated)
            source = Source(row, dates, last, follows, stored=True, item=said.item)
            draft.sources.append(replace(source, undated=item.undated, given=told.given))
        elif other_window and follows:
            draft.windows.append((unit.id, f"{window[-1].text}\n{spoken.text}"))
        beside = before[-1].unit_id if before else None
        if beside != old.before or new.tags != unit.tags:
            draft.resaid.append((new, last))
        if renamed:
            draft.renamed.append(new)
        before.append(spoken)

    def _dates(self, unit: Unit, undated: bool) -> tuple[DateSpan, ...]:
        return dates_in(self.find_dates, unit, undated)

    def _stored_dates(self, unit: Unit) -> tuple[DateSpan, ...]:
        """Find the dates in the text of a unit that was drafted; it keeps one when it has any."""
        return () if unit.occurred_start is None else self._dates(unit, False)

    def _terms(self, spoken: Spoken) -> list[int]:
        if spoken.terms is None:
            spoken.terms = self._analyzer.terms(spoken.text)
        return spoken.terms

    def _window_terms(self, spoken: Spoken, window: Sequence[Spoken]) -> bytes:
        if not window:
            return b""
        return pack([term for each in (*window, spoken) for term in self._terms(each)])


@dataclass(frozen=True, slots=True)
class _Told:
    """A source, the item it is from, when it was said, and the facts handed in of it."""

    said: Said
    item: Item
    at: int
    given: tuple[PlacedFact, ...] | None = None


def dates_in(find_dates: DateFinder, unit: Unit, undated: bool) -> tuple[DateSpan, ...]:
    """Find the dates in a text; in an undated one those that need no day to count from."""
    found = find_dates(unit.text, unit.mentioned_at, unit.offset_min)
    if undated and found:
        later = find_dates(unit.text, unit.mentioned_at + _FAR_US, unit.offset_min)
        found = [date for date in found if date in later]
    return tuple(found)


def said_at(said: Said, item: Item, number: int, now: int) -> int:
    """Return when a source was said; a microsecond each keeps the order of what has one time.

    Args:
        said: the source.
        item: that holds it.
        number: of the source in its document.
        now: when it was retained.
    """
    if said.at is not None:
        return said.at
    return (now if item.timestamp is None else item.timestamp) + number
