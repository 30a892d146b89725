"""Statements: what recalled memories say, one by one, with who said it and when."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from ...nouns.memory import Layer, Modality, Polarity, Precision, Unit
from ...reading.sentences import split_sentences
from ..recalling.recollection import Answer

KNOWN_COSINE = 0.65
KNOWN_TERMS = 0.5
"""From where an answer of unknown relevance counts as one: its cosine, or the share of the
question's words in it."""

QUOTED = 0.05
"""Relevance from which on an answer is quoted, once the bank is taken to know one."""

_WHOLE_CHARS = 300  # a memory up to here is quoted whole when no statement of it fits
_NARROW = 2  # terms from which on a question tells statements apart
_ASKS = ("?", "？", "؟")
_SPACE = re.compile(r"\s+")

TermsOf = Callable[[str], Collection[int]]


@dataclass(frozen=True, slots=True)
class Statement:
    """What somebody said. Times in microseconds; `ended` when it held until a time now past.

    `past`: it spoke of what was to come, and that is over by now.
    """

    text: str
    answer: Answer
    speaker: str | None
    said_at: int
    occurred_start: int | None
    occurred_end: int | None
    precision: Precision | None
    offset_min: int | None
    negated: bool
    modality: Modality
    ended: int | None
    entities: tuple[str, ...]
    terms: frozenset[int]
    past: bool = False


def relevant(
    answers: Iterable[Answer],
    asked: Collection[int],
    terms_of: TermsOf,
    *,
    weighed: bool = True,
) -> list[Answer]:
    """Return the answers that bear on a question; see `QUOTED` and `KNOWN_COSINE`.

    Args:
        answers: of a recall.
        asked: the question's terms.
        terms_of: the terms of a text.
    """
    wanted = set(asked)
    kept = []
    for answer in answers:
        if weighed and answer.relevance is not None:
            if answer.relevance >= QUOTED:
                kept.append(answer)
            continue
        unit = answer.unit
        shared = wanted & set(terms_of(f"{unit.speaker or ''} {unit.text} {unit.note or ''}"))
        near = answer.arms.cosine is not None and answer.arms.cosine >= KNOWN_COSINE
        if near or (wanted and len(shared) >= KNOWN_TERMS * len(wanted)):
            kept.append(answer)
    return kept


def statements_of(
    answers: Sequence[Answer],
    asked: Collection[int],
    terms_of: TermsOf,
    now: int,
    *,
    every: bool = False,
) -> list[Statement]:
    """Return what some answers say, best first, each thing once.

    Of an answer these are the facts read from it and its other sentences, as far as they share a
    word with the question; when none does, its whole text. What no longer holds is left out,
    unless nothing else is left.

    Args:
        answers: best first.
        asked: the question's terms.
        terms_of: the terms of a text.
        now: what holds then.
        every: all facts and sentences, whatever the question.
    """
    found: dict[str, Statement] = {}
    for answer in answers:
        read = _read(answer, terms_of, now)
        if not every:
            read = _fitting(answer, read, set(asked), terms_of, now)
        for statement in read:
            found.setdefault(_key(statement), statement)
    holding = [s for s in found.values() if s.ended is None]
    return holding or list(found.values())


def one_line(text: str) -> str:
    """Return a text with its line breaks and runs of space as single spaces."""
    return _SPACE.sub(" ", text).strip()


def _fitting(
    answer: Answer,
    read: list[Statement],
    asked: Collection[int],
    terms_of: TermsOf,
    now: int,
) -> list[Statement]:
    # A question of one word is about all there is.
    fitting = [s for s in read if len(asked) < _NARROW or s.terms & frozenset(asked)]
    if fitting or len(read) < 2 or len(answer.unit.text) > _WHOLE_CHARS:
        return fitting or read
    return [_statement(answer, answer.unit, answer.unit.text, terms_of, now)]


def _read(answer: Answer, terms_of: TermsOf, now: int) -> list[Statement]:
    """Return the facts of an answer and its sentences that are in none, in order; no questions."""
    unit = answer.unit
    facts = [f for f in answer.facts if f.source_id == unit.id]
    found = [
        (fact.start, _statement(answer, fact, fact.text, terms_of, now))
        for fact in facts
        if fact.modality is not Modality.ASKED
    ]
    for span in split_sentences(unit.text):
        text = unit.text[span.start : span.end]
        told = any(fact.start < span.end and fact.end > span.start for fact in facts)
        if not told and not text.rstrip().endswith(_ASKS):
            found.append((span.start, _statement(answer, unit, text, terms_of, now)))
    return [statement for _, statement in sorted(found, key=lambda each: each[0])]


def _statement(answer: Answer, unit: Unit, words: str, terms_of: TermsOf, now: int) -> Statement:
    dated = unit.layer is not Layer.SOURCE or words == unit.text
    ended = unit.valid_until is not None and unit.valid_until <= now
    text = one_line(words)
    said_at = answer.unit.mentioned_at
    ahead = unit.occurred_start is not None and unit.occurred_start > said_at
    past = dated and ahead and (unit.occurred_end or unit.occurred_start or 0) <= now
    return Statement(
        text=text,
        answer=answer,
        speaker=answer.unit.speaker,
        said_at=said_at,
        occurred_start=unit.occurred_start if dated else None,
        occurred_end=unit.occurred_end if dated else None,
        precision=unit.precision if dated else None,
        offset_min=answer.unit.offset_min,
        negated=unit.polarity is Polarity.NEGATED,
        modality=unit.modality,
        ended=unit.valid_until if ended else None,
        entities=unit.entities,
        terms=frozenset(terms_of(text)),
        past=past,
    )


def _key(statement: Statement) -> str:
    """Return what makes two statements the same one."""
    words = re.findall(r"\w+", statement.text.casefold())
    return f"{statement.speaker or ''}\n{' '.join(words)}"
