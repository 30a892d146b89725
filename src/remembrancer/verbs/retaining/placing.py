"""Finds which source states each fact that a caller hands in, and refuses those that none does."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...nouns.clock import DAY_US
from ...nouns.folding import fold_name
from ...nouns.memory import Layer, Unit, UnitRow
from ...reading.asking.grounding import Fault, find_quote
from ...reading.dates.making import DateFinder
from ...reading.plain_words import plain_words
from ...reading.sentences import split_sentences
from ...reading.types import DateSpan, Span
from .facts import pasted
from .given import GivenFact, PlacedFact, RefusedFact
from .grounded import fault_in, shown_with
from .layout import Said
from .units import Item, Source, dates_in, said_at

_TRIED = 5  # places at which one fact may stand
_BEFORE = 2  # sources said before one, that may tell who is meant
_BEFORE_CHARS = 500
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
_NOWHERE = "\x00"  # stands in no text, so that no quotation runs over two


@dataclass(slots=True)
class Placed:
    """By source, in order, the facts that stand in it; None where rules are to read."""

    facts: list[tuple[PlacedFact, ...] | None] = field(default_factory=list)
    refused: list[RefusedFact] = field(default_factory=list)


class Placer:
    """Places facts; it is told how dates are found."""

    def __init__(self, find_dates: DateFinder) -> None:
        self._find_dates = find_dates

    def __call__(
        self, items: Sequence[Item], said: Sequence[Said], starts: Sequence[int], first: int = 0
    ) -> Placed | None:
        """Place the facts of a document's items; None when none of them has any.

        Args:
            items: of the document.
            said: its sources, as `layout` cuts them.
            starts: for each of these, when it was retained first (microseconds).
            first: number of the first one in its document.
        """
        if all(item.facts is None for item in items):
            return None
        placed = Placed([() if items[each.item].facts is not None else None for each in said])
        for number, item in enumerate(items):
            if not item.facts:
                continue
            at = [i for i, each in enumerate(said) if each.item == number]
            units = [_unit(said[i], item, first + i, starts[i]) for i in at]
            found: dict[int, list[PlacedFact]] = {}
            places = _Places(units, item, self._find_dates)
            for order, fact in enumerate(item.facts):
                where = places.find(fact)
                if isinstance(where, Fault):
                    placed.refused.append(RefusedFact(number, order, where.value))
                else:
                    found.setdefault(at[where[0]], []).append(PlacedFact(fact, where[1]))
            for i, facts in found.items():
                placed.facts[i] = tuple(facts)
        return placed


class _Places:
    """Where facts may stand in the sources of one item."""

    def __init__(self, units: Sequence[Unit], item: Item, find_dates: DateFinder) -> None:
        self._units = units
        self._item = item
        self._find_dates = find_dates
        self._dates: dict[int, tuple[DateSpan, ...]] = {}
        self._hidden = pasted([Source(UnitRow(unit), item=0) for unit in units])
        flat = [_flat(unit.text) for unit in units]
        self._whole = _NOWHERE.join(flat)
        self._starts = [0]
        for text in flat:
            self._starts.append(self._starts[-1] + len(text) + 1)
        self._holding: dict[str, list[int]] = {}  # by word, the sources that hold it
        for number, unit in enumerate(units):
            for word in set(plain_words(unit.text)):
                self._holding.setdefault(word, []).append(number)

    def find(self, fact: GivenFact) -> tuple[int, Span] | Fault:
        """Return the number of the source that states a fact, and where; or why none does."""
        first: Fault | None = None
        for number, span in self._candidates(fact):
            fault = self._fault(fact, number, span)
            if fault is None:
                return number, span
            first = first or fault
        return first or Fault.NO_QUOTE

    def _candidates(self, fact: GivenFact) -> Iterator[tuple[int, Span]]:
        """Yield places, the likeliest first: the words themselves, then what shares most words."""
        found = False
        for number in self._quoting(fact.quote or fact.text):
            span = find_quote(fact.quote or fact.text, self._units[number].text)
            if span is not None:
                found = True
                yield number, span
        if found or (fact.quote and find_quote(fact.quote, self._item.content) is None):
            return
        words = set(plain_words(fact.text))
        shared = Counter(n for word in words for n in self._holding.get(word, ()))
        best = sorted(shared.items(), key=lambda each: (-each[1], each[0]))
        for number, _ in best[:_TRIED]:
            text = self._units[number].text
            yield number, _nearest(text, words)

    def _quoting(self, quote: str) -> Iterator[int]:
        wanted, at, last = _flat(quote.strip().strip('"“”')), 0, -1
        for _ in range(_TRIED):
            at = self._whole.find(wanted, at) if wanted else -1
            if at < 0:
                return
            number = bisect_right(self._starts, at) - 1
            if number != last:
                yield number
            last, at = number, at + 1

    def _fault(self, fact: GivenFact, number: int, span: Span) -> Fault | None:
        unit = self._units[number]
        before = [u.text[:_BEFORE_CHARS] for u in self._units[max(0, number - _BEFORE) : number]]
        if number not in self._dates:
            self._dates[number] = dates_in(self._find_dates, unit, self._item.undated)
        dates = self._dates[number]
        near = [d for d in dates if d.span.start < span.end and span.start < d.span.end]
        fault = fault_in(unit, fact.text, span, self._hidden[number], before, near)
        if fault is not None:
            return fault
        if fact.occurred_start is not None and not self._happened(fact, unit, dates):
            return Fault.DATE
        whole = fold_name(" ".join((fact.text, *shown_with(unit, before))))
        return None if all(fold_name(name) in whole for name in fact.entities) else Fault.NAME

    def _happened(self, fact: GivenFact, unit: Unit, dates: Sequence[DateSpan]) -> bool:
        """Tell whether the source tells the date of a fact, or it is the day of telling."""
        start = fact.occurred_start or 0
        end = max(fact.occurred_end or 0, start + 1)
        told = [(date.start, date.end) for date in dates]
        if not self._item.undated:
            told.append((unit.mentioned_at - DAY_US, unit.mentioned_at + DAY_US))
        return any(a < end and start < b for a, b in told)


def _unit(said: Said, item: Item, number: int, start: int) -> Unit:
    """Return a source as far as facts are held against it."""
    return Unit(
        id=number.to_bytes(16, "big"),
        layer=Layer.SOURCE,
        text=said.text,
        created_at=start,
        mentioned_at=said_at(said, item, number, start),
        document_id=bytes(16),
        turn=said.turn,
        part=said.part,
        speaker=said.speaker,
        role=said.role,
        note=item.note,
        entities=item.entities,
        offset_min=said.offset_min if said.at is not None else item.offset_min,
    )


def _flat(text: str) -> str:
    return " ".join(text.translate(_QUOTES).lower().split())


def _nearest(text: str, words: set[str]) -> Span:
    """Return the sentence that shares most of some words."""
    spans = split_sentences(text) or [Span(0, len(text))]
    return max(spans, key=lambda s: len(words & set(plain_words(text[s.start : s.end]))))
