"""What a newer version of a document keeps of the older one: sources that still say the same.

A source stays when its text, its speaker and what else its reading rests on are the same: when it
was said and whether names are resolved. Its place, its neighbours and what it is told beside the
text may differ: it is moved, not read again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from ...keeping.view import View
from ...nouns.memory import Document, Unit
from ...reading.alignment import align
from .given import PlacedFact, is_given, stays
from .layout import Extent, Layout
from .spoken import old_window
from .units import Item, OldSource, said_at

GIVEN = "given"  # in what a document was told of an item: its facts came from the caller
READING = "reading"  # in a document's params: tokens of who still reads it, see `keeping.batch`
ID_DIGITS = 32  # of an id, that a token begins with
_ORDER_US = 10_000_000  # the microseconds that keep the order stay below this

_Key = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored document as a newer version needs it.

    Attributes:
        document: its row.
        sources: its source units, in order.
        unread: ids of those whose facts were never read, because a reader was killed.
        curated: ids of those that people have changed, with the texts that stand in their chunks.
        facts: by source, those that stand there, where callers handed any in.
        corrected: ids of the sources of facts that people have changed.
    """

    document: Document
    sources: Sequence[Unit]
    unread: AbstractSet[bytes]
    curated: Mapping[bytes, str]
    facts: Mapping[bytes, Sequence[Unit]] = field(default_factory=dict)
    corrected: AbstractSet[bytes] = frozenset()


async def load(view: View, document: Document, *, given: bool = False) -> Stored:
    """Read what a newer version of a document is compared with; `given`: its caller has facts."""
    sources = await view.sources_of(document.id)
    curated = await view.curations([unit.id for unit in sources])
    texts = {c.index: c.text for c in await view.chunks(document.id)} if curated else {}
    facts: dict[bytes, list[Unit]] = {}
    corrected: set[bytes] = set()
    if given or any(GIVEN in told for told in _told_items(document)):
        for fact in await view.facts_of([unit.id for unit in sources]):
            facts.setdefault(fact.source_id or b"", []).append(fact)
        ids = {fact.id: source for source, some in facts.items() for fact in some}
        corrected = {ids[i] for i in await view.curations(list(ids))}
    return Stored(
        document,
        sources,
        await _unread(view, document, sources),
        {u.id: texts.get(u.chunk_index, "")[u.start : u.end] for u in sources if u.id in curated},
        facts,
        corrected,
    )


def readers_of(document: Document) -> tuple[str, ...]:
    """Return the tokens of who reads a document at the moment, or was killed doing so."""
    return tuple((document.params or {}).get(READING, ()))


def extent_of(document: Document) -> Extent | None:
    """Return how much of a document there is, from what retain noted; None when it did not."""
    total = Extent()
    for told in _told_items(document):
        if "sources" not in told:
            return None
        total.chunks += told["chunks"]
        total.turns += told["turns"]
        total.sources += told["sources"]
    return total


def match(
    stored: Stored, items: Sequence[Item], layout: Layout, now: int
) -> list[OldSource | None]:
    """Return for each source of the new version the stored one that it is, or None."""
    told = _Told(stored.document)
    olds = [_old_key(unit, told, unit.text) for unit in stored.sources]
    news: list[_Key] = []
    for number, said in enumerate(layout.said):
        item = items[said.item]
        at = _when(said_at(said, item, number, now), item.timestamp, now)
        offset = said.offset_min if said.at is not None else item.offset_min
        how = (item.undated, item.resolve_entities)
        news.append((said.text, said.speaker, int(said.role), at, offset, *how))
    found = align(olds, news)
    _match_curated(stored, told, news, found)
    return _old_sources(stored, told, items, layout, found)


def with_facts(
    stored: Stored,
    olds: Sequence[OldSource | None],
    given: Sequence[tuple[PlacedFact, ...] | None],
) -> list[OldSource | None]:
    """Return the matches without those of whose source other facts are handed in than before.

    What people have changed stays, and what was never read is read anyway.
    """
    told = _Told(stored.document)
    return [
        old if old is None or _stays(stored, told, old, new) else None
        for old, new in zip(olds, given, strict=True)
    ]


def _stays(stored: Stored, told: _Told, old: OldSource, new: tuple[PlacedFact, ...] | None) -> bool:
    unit = old.unit
    if old.unread or old.curated or unit.id in stored.corrected:
        return True
    before = GIVEN in told.of(unit)
    if new is None or not before:
        return new is None and not before
    return stays([f for f in stored.facts.get(unit.id, ()) if is_given(f)], new)


def _match_curated(
    stored: Stored, told: _Told, news: Sequence[_Key], found: list[int | None]
) -> None:
    """Match units whose texts people have changed by the texts they had."""
    if not stored.curated:
        return
    used = {at for at in found if at is not None}
    left = {
        _old_key(unit, told, stored.curated[unit.id]): at
        for at, unit in enumerate(stored.sources)
        if unit.id in stored.curated and at not in used
    }
    for number, key in enumerate(news):
        if found[number] is None:
            found[number] = left.pop(key, None)


def _old_sources(
    stored: Stored,
    told: _Told,
    items: Sequence[Item],
    layout: Layout,
    found: Sequence[int | None],
) -> list[OldSource | None]:
    by_id = {unit.id: unit for unit in stored.sources}
    before: dict[bytes, bytes | None] = {}
    last: Unit | None = None
    for unit in stored.sources:
        same_item = last is not None and told.number(last) == told.number(unit)
        before[unit.id] = last.id if last is not None and same_item else None
        last = unit
    return [
        None
        if at is None
        else _old_source(stored, told, by_id, before, stored.sources[at], items[said.item])
        for said, at in zip(layout.said, found, strict=True)
    ]


def _old_source(
    stored: Stored,
    told: _Told,
    by_id: Mapping[bytes, Unit],
    before: Mapping[bytes, bytes | None],
    unit: Unit,
    item: Item,
) -> OldSource:
    window, follows = old_window(unit, by_id)
    return OldSource(
        unit,
        window,
        follows,
        before[unit.id],
        curated=unit.id in stored.curated,
        renamed=tuple(told.of(unit).get("entities", ())) != item.entities,
        unread=unit.id in stored.unread,
    )


async def _unread(view: View, document: Document, sources: Sequence[Unit]) -> set[bytes]:
    """Return the sources that a reader which is gone has left: made by it, and without facts."""
    tokens = readers_of(document)
    if not tokens:
        return set()
    first = min(tokens)[:ID_DIGITS]
    ids = [unit.id for unit in sources if unit.id.hex() >= first]
    return set(ids) - {fact.source_id for fact in await view.facts_of(ids) if fact.source_id}


def _told_items(document: Document) -> list[Mapping[str, Any]]:
    return list((document.params or {}).get("items", ()))


class _Told:
    """What the items of a stored document were told beside their content."""

    def __init__(self, document: Document) -> None:
        self._items = _told_items(document)
        self._numbers = list(_spread(told.get("chunks", 0) for told in self._items))

    def number(self, unit: Unit) -> int:
        """Return the number of the item that holds a unit."""
        there = unit.chunk_index < len(self._numbers)
        return self._numbers[unit.chunk_index] if there else -1

    def of(self, unit: Unit) -> Mapping[str, Any]:
        """Return what the item that holds a unit was told."""
        number = self.number(unit)
        return self._items[number] if number >= 0 else {}


def _spread(counts: Iterable[int]) -> Iterable[int]:
    for number, count in enumerate(counts):
        yield from [number] * count


def _old_key(unit: Unit, told: _Told, text: str) -> _Key:
    item = told.of(unit)
    at = _when(unit.mentioned_at, item.get("timestamp"), unit.created_at)
    how = (item.get("undated", False), item.get("resolve_entities", True))
    return (text, unit.speaker, int(unit.role), at, unit.offset_min, *how)


def _when(mentioned_at: int, timestamp: int | None, now: int) -> tuple[str, int]:
    """Return what told a source's time: its item, the clock, or the content itself."""
    start = now if timestamp is None else timestamp
    if 0 <= mentioned_at - start < _ORDER_US:
        return ("now", 0) if timestamp is None else ("item", timestamp)
    return ("content", mentioned_at)
