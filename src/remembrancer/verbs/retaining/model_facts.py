"""What a language model read, made into facts: what stands in the source, and is not known yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...nouns.folding import fold_name
from ...nouns.ids import IdMaker
from ...nouns.memory import Unit, UnitRow
from ...nouns.text import clean
from ...reading.asking.fact_prompt import MOST_FACTS, ReadFact
from ...reading.asking.grounding import Fault, find_quote
from ...reading.plain_words import plain_words
from ...reading.types import Span
from .facts import pasted
from .given import MOST_NAMES, NAME_CHARS
from .grounded import READ_BY, fact_row, fault_in, near, shown_with
from .units import Source


@dataclass(slots=True)
class Told:
    """The facts, and why others were not taken."""

    rows: list[UnitRow] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


class ModelReader:
    """Checks and makes facts; `ids` is passed in."""

    def __init__(self, ids: IdMaker) -> None:
        self._ids = ids

    def __call__(
        self,
        sources: Sequence[Source],
        answer: Sequence[ReadFact],
        known: Sequence[Unit],
        befores: Mapping[bytes, Sequence[str]],
        read_by: str,
    ) -> Told:
        """Return what may be kept of an answer.

        Args:
            sources: as the model was shown them, numbered from 1.
            answer: what it said.
            known: facts that are kept of these sources.
            befores: by source, the texts said before it, which the model was shown, too.
            read_by: who says so, kept with each fact.
        """
        told = Told()
        hidden = pasted(sources)
        said = {(fact.source_id, _folded(fact.text)) for fact in known}
        for fact in answer[:MOST_FACTS]:
            if not 1 <= fact.source <= len(sources):
                told.refused[Fault.NO_SOURCE] += 1
                continue
            source = sources[fact.source - 1]
            unit = source.row.unit
            mine = [each for each in known if each.source_id == unit.id]
            before = befores.get(unit.id, ())
            row = self._row(source, fact, hidden[fact.source - 1], mine, before, read_by)
            if isinstance(row, Fault):
                told.refused[row] += 1
            elif (unit.id, _folded(row.unit.text)) in said:
                told.refused[Fault.KNOWN] += 1
            else:
                said.add((unit.id, _folded(row.unit.text)))
                told.rows.append(row)
        told.refused["too_many"] += max(0, len(answer) - MOST_FACTS)
        told.refused = +told.refused
        return told

    def _row(
        self,
        source: Source,
        fact: ReadFact,
        hidden: Sequence[Span],
        known: Sequence[Unit],
        before: Sequence[str],
        read_by: str,
    ) -> UnitRow | Fault:
        unit = source.row.unit
        text = " ".join(clean(fact.text).split())
        span = find_quote(fact.quote, unit.text)
        if not text or span is None:
            return Fault.NO_QUOTE
        dates = near(source, span)
        fault = fault_in(unit, text, span, hidden, before, dates)
        if fault is not None:
            return fault
        if _says_no_more(text, span, known, unit.text):
            return Fault.KNOWN
        whole = fold_name(" ".join(shown_with(unit, before)))
        entities = tuple(
            dict.fromkeys(
                name
                for each in fact.entities[:MOST_NAMES]
                if (name := clean(each).strip()[:NAME_CHARS])
                and fold_name(name) in fold_name(text)
                and fold_name(name) in whole
                and any(sign.isupper() or not sign.isascii() for sign in name)
            )
        )
        return fact_row(self._ids, source, text, span, entities, {READ_BY: read_by})


def _says_no_more(text: str, span: Span, known: Sequence[Unit], source: str) -> bool:
    """Tell whether a fact of the rules covers the quotation and all that the statement says."""
    words = set(plain_words(text))
    for fact in known:
        if fact.start < span.end and span.start < fact.end:
            there = set(plain_words(fact.text)) | set(plain_words(source[fact.start : fact.end]))
            if words <= there:
                return True
    return False


def _folded(text: str) -> str:
    return " ".join(plain_words(text)) or text.casefold()
