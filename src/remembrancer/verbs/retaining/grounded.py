"""A statement that rules did not read: whether a source states it, and the fact it becomes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...nouns.ids import IdMaker
from ...nouns.memory import Layer, Modality, Polarity, Role, Unit, UnitRow
from ...reading.asking.grounding import Fault, ungrounded
from ...reading.facts import read_statements
from ...reading.sameness import key_of
from ...reading.types import DateSpan, Span, Statement
from .units import Source

READ_BY = "read_by"
"""In a fact's attributes: the model that read it, or that its caller handed it in."""

_QUESTIONS = ("?", "？", "؟")


def by_model(fact: Unit) -> bool:
    """Tell whether a model or a caller read a fact: reading by rules again says nothing of it."""
    return fact.attributes is not None and READ_BY in fact.attributes


def near(source: Source, span: Span) -> list[DateSpan]:
    """Return the dates that a source names in a span of its text."""
    return [d for d in source.dates if d.span.start < span.end and span.start < d.span.end]


def shown_with(unit: Unit, before: Sequence[str]) -> tuple[str, ...]:
    """Return what a fact of a source may take words, names and numbers from."""
    return (unit.text, unit.speaker or "", unit.note or "", *before, *unit.entities, _WHO)


def fault_in(
    unit: Unit,
    text: str,
    span: Span,
    hidden: Sequence[Span],
    before: Sequence[str],
    dates: Sequence[DateSpan],
) -> Fault | None:
    """Return why a fact may not be kept of a source, or None.

    Args:
        unit: the source.
        text: the fact.
        span: where the source states it.
        hidden: what in the source nobody told.
        before: the texts said before it.
        dates: those that it names in the span.
    """
    if any(h.start < span.end and span.start < h.end for h in hidden):
        return Fault.HIDDEN
    if _asks(unit.text, span) or text.endswith(_QUESTIONS):
        return Fault.QUESTION
    fault = ungrounded(text, shown_with(unit, before), dates=dates)
    if fault is not None:
        return fault
    quoted = unit.text[span.start : span.end]
    denied = _denies(quoted, _statement(quoted, unit)) or _negates(_leading(unit.text, span))
    if denied != _denies(text, _statement(text, unit)):
        return Fault.POLARITY
    return None


def fact_row(
    ids: IdMaker,
    source: Source,
    text: str,
    span: Span,
    entities: tuple[str, ...],
    attributes: Mapping[str, Any],
) -> UnitRow:
    """Make a fact of a source that rules did not read; its dates are those of the span."""
    unit, dates = source.row.unit, near(source, span)
    date = dates[0] if len(dates) == 1 else None
    statement = _statement(unit.text[span.start : span.end], unit) or _statement(text, unit)
    new = Unit(
        id=ids.new(),
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
        attributes=attributes,
        metadata=unit.metadata,
        tags=unit.tags,
        entities=entities,
        occurred_start=date.start if date else None,
        occurred_end=date.end if date else None,
        precision=date.precision if date else None,
        offset_min=unit.offset_min,
    )
    return UnitRow(new, same=key_of(new, dates, f"{source.before}\n{unit.text[: span.start]}"))


_LEADING = 4  # words before a quotation that may deny it
_CLAUSE = re.compile(
    r"[.!?…,;:\n。！？、，]|\b(?:but|and|aber|und|mais|et|pero|y|mas|e)\b", re.IGNORECASE
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


def _leading(text: str, span: Span) -> str:
    """Return the words of the same clause just before a quotation, which it may leave out."""
    clause = _CLAUSE.split(text[: span.start])[-1]
    return " ".join(clause.split()[-_LEADING:])


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
