"""What a language model read, made into facts: what stands in the source, and is not known yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...nouns.folding import fold_name
from ...nouns.ids import IdMaker
from ...nouns.memory import Layer, Modality, Polarity, Role, Unit, UnitRow
from ...nouns.text import clean
from ...reading.asking.fact_prompt import MOST_FACTS, ReadFact
from ...reading.asking.grounding import Fault, find_quote, ungrounded
from ...reading.facts import read_statements
from ...reading.plain_words import plain_words
from ...reading.sameness import key_of
from ...reading.types import DateSpan, Span, Statement
from .facts import pasted
from .units import Source

READ_BY = "read_by"
"""In a fact's attributes: the model that read it."""

_MOST_NAMES = 20  # of one fact
_NAME_CHARS = 100
_QUESTIONS = ("?", "？", "؟")


def by_model(fact: Unit) -> bool:
    """Tell whether a language model read a fact: reading by rules again says nothing of it."""
    return fact.attributes is not None and READ_BY in fact.attributes


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
        if any(h.start < span.end and span.start < h.end for h in hidden):
            return Fault.HIDDEN
        if _asks(unit.text, span) or text.endswith(_QUESTIONS):
            return Fault.QUESTION
        dates = [d for d in source.dates if d.span.start < span.end and span.start < d.span.end]
        shown = (unit.text, unit.speaker or "", unit.note or "", *before, *unit.entities, _WHO)
        fault = ungrounded(text, shown, dates=dates)
        if fault is not None:
            return fault
        quoted = _statement(unit.text[span.start : span.end], unit)
        read = _statement(text, unit)
        if _denies(unit.text[span.start : span.end], quoted) != _denies(text, read):
            return Fault.POLARITY
        if _says_no_more(text, span, known, unit.text):
            return Fault.KNOWN
        new = self._unit(source, text, span, dates, quoted or read, fact.entities, shown, read_by)
        return UnitRow(new, same=key_of(new, dates, f"{source.before}\n{unit.text[: span.start]}"))

    def _unit(
        self,
        source: Source,
        text: str,
        span: Span,
        dates: Sequence[DateSpan],
        statement: Statement | None,
        names: Sequence[str],
        shown: Sequence[str],
        read_by: str,
    ) -> Unit:
        unit = source.row.unit
        date = dates[0] if len(dates) == 1 else None
        whole = fold_name(" ".join(shown))
        entities = tuple(
            dict.fromkeys(
                name
                for each in names[:_MOST_NAMES]
                if (name := clean(each).strip()[:_NAME_CHARS])
                and fold_name(name) in fold_name(text)
                and fold_name(name) in whole
                and any(sign.isupper() or not sign.isascii() for sign in name)
            )
        )
        return Unit(
            id=self._ids.new(),
            layer=Layer.FACT,
            text=text,
            created_at=unit.created_at,
            mentioned_at=unit.mentioned_at,
            kind=unit.kind,
            document_id=unit.document_id,
            chunk_index=unit.chunk_index,
            turn=unit.turn,
            part=unit.part,
            start=span.start,
            end=span.end,
            source_id=unit.id,
            speaker=unit.speaker,
            role=unit.role,
            subject=statement.subject if statement else None,
            polarity=statement.polarity if statement else _polarity(text),
            modality=statement.modality if statement else Modality.ASSERTED,
            note=unit.note,
            attributes={READ_BY: read_by},
            metadata=unit.metadata,
            tags=unit.tags,
            entities=entities,
            occurred_start=date.start if date else None,
            occurred_end=date.end if date else None,
            precision=date.precision if date else None,
            offset_min=unit.offset_min,
        )


_WHO = "user assistant"  # whom "I" may be called where a speaker has no name
_NOT = frozenset(
    "not never no none nobody nothing neither nor without cannot can't don't doesn't didn't isn't "
    "aren't wasn't weren't won't wouldn't hasn't haven't hadn't couldn't shouldn't "
    "nicht kein keine nie pas jamais aucun no nunca não nunca non mai niet geen".split()
)


def _statement(text: str, unit: Unit) -> Statement | None:
    found = read_statements(
        text,
        speaker=unit.speaker,
        role=Role.NONE if unit.role is Role.NONE else Role.USER,
        known=(),
        dates=lambda _: [],
    )
    return found[0] if found else None


def _denies(text: str, statement: Statement | None) -> bool:
    return (statement is not None and statement.polarity is Polarity.NEGATED) or _negates(text)


def _negates(text: str) -> bool:
    words = text.lower().replace("’", "'").split()
    return any(word.strip(".,;:!?()\"'") in _NOT for word in words) or any(
        sign in text for sign in "不没未非"
    )


def _polarity(text: str) -> Polarity:
    return Polarity.NEGATED if _negates(text) else Polarity.AFFIRMED


def _asks(text: str, span: Span) -> bool:
    """Tell whether the sentence that a quotation ends in is a question."""
    rest = text[span.start : span.end].rstrip() + text[span.end : span.end + 200]
    inner = text[span.start : span.end].rstrip("\"”' ")
    if inner.endswith(_QUESTIONS):
        return True
    if inner.endswith((".", "!", "。")):
        return False
    tail = rest[len(text[span.start : span.end].rstrip()) :]
    ends = [at for sign in (*_QUESTIONS, ".", "!", "。", "\n") if (at := tail.find(sign)) >= 0]
    return bool(ends) and tail[min(ends)] in _QUESTIONS


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
