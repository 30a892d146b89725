"""Sources made anew from the units that are kept: their words, their windows, their dates.

Retaining makes them from a whole document (`units.Drafter`); this makes those of single sources
whose text has changed, or whose predecessor's has, and comes to the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...finding.terms import Analyzer, pack
from ...nouns.memory import Document, Unit, UnitRow
from ...reading.dates.making import DateFinder
from ...reading.passages import count_words
from ...reading.sameness import key_of
from ...reading.types import DateSpan
from .spoken import WINDOW_WORDS, labels, old_window, spoken_text
from .units import Source

_FAR_US = 500 * 86_400 * 1_000_000  # no relative date is the same so much later


def is_undated(document: Document | None, unit: Unit) -> bool:
    """Tell whether a unit is from an item of which nobody knows when it was said."""
    return bool(told_with(document, unit).get("undated"))


def told_with(document: Document | None, unit: Unit) -> Mapping[str, Any]:
    """Return what the item that holds a unit was told beside its content."""
    chunk = unit.chunk_index
    for told in (document.params or {}).get("items", ()) if document else ():
        chunk -= told.get("chunks", 0)
        if chunk < 0:
            found: Mapping[str, Any] = told
            return found
    return {}


class Rewriter:
    """Makes sources from units; everything it needs is passed in."""

    def __init__(self, analyzer: Analyzer, find_dates: DateFinder) -> None:
        self._analyzer = analyzer
        self._find_dates = find_dates

    def source(
        self,
        unit: Unit,
        near: Mapping[bytes, Unit],
        *,
        undated: bool = False,
        also: Sequence[str] = (),
    ) -> Source:
        """Return a unit as a source: its words, its window, the dates in it.

        Args:
            unit: as it is to be kept; its own dates are left as they are.
            near: the turns before it, at least the two that its window may hold, by id.
            undated: only dates that need no day to count from are dates.
            also: other texts that it is found by: facts of it that people put into other words.
        """
        ids, follows = old_window(unit, near)
        before = spoken_text(near[ids[-1]]) if follows else ""
        window = [near[i] for i in ids if _short(near[i])] if _short(unit) else []
        dates = self.dates(unit, undated=undated)
        terms = self._analyzer.terms(spoken_text(unit))
        terms += [term for text in also for term in self._analyzer.terms(text)]
        earlier = [term for each in window for term in self._analyzer.terms(spoken_text(each))]
        own = pack([*terms, *labels(unit)])
        row = UnitRow(
            unit,
            terms=own,
            window_terms=pack([*earlier, *terms]) if earlier else own,
            same=key_of(unit, dates, before),
        )
        whole = follows and bool(window) and window[-1].id == ids[-1]
        return Source(row, dates, before, whole, undated=undated)

    def dates(self, unit: Unit, *, undated: bool = False) -> tuple[DateSpan, ...]:
        """Find the dates in a text; in an undated one those that need no day to count from."""
        found = self._find_dates(unit.text, unit.mentioned_at, unit.offset_min)
        if undated and found:
            later = self._find_dates(unit.text, unit.mentioned_at + _FAR_US, unit.offset_min)
            found = [date for date in found if date in later]
        return tuple(found)


def dated(unit: Unit, dates: Sequence[DateSpan]) -> Unit:
    """Return a source that happened when its text says: at the first of its dates."""
    return replace(
        unit,
        occurred_start=dates[0].start if dates else None,
        occurred_end=dates[0].end if dates else None,
        precision=dates[0].precision if dates else None,
    )


def reworded(source: Unit, facts: Iterable[Unit]) -> tuple[str, ...]:
    """Return the texts of a source's facts that do not stand in it: people corrected them."""
    mine = (fact for fact in facts if fact.source_id == source.id)
    return tuple(fact.text for fact in mine if fact.text not in source.text)


def fact_same(fact: Unit, source: Source) -> bytes | None:
    """Return the key of what a fact says, as `facts.FactReader` makes it."""
    dates = [d for d in source.dates if d.span.start >= fact.start and d.span.end <= fact.end]
    return key_of(fact, dates, f"{source.before}\n{source.row.unit.text[: fact.start]}")


def _short(unit: Unit) -> bool:
    return count_words(unit.text) <= WINDOW_WORDS
