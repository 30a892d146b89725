"""reflect: an answer in words, without a language model.

A recall, then what the answers say, quoted by day; and, when a schema is given, an object filled
from the same statements. Nothing is written that nobody has said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..finding.calibration import SMALLEST
from ..finding.tagging import TagNode
from ..finding.terms import Analyzer, words
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput
from ..nouns.memory import BankRef, Kind
from ..nouns.spans import traced
from ..reading.dates.making import DateFinder
from .recall import Recall
from .recalling.cutoff import quotable
from .recalling.recollection import Answer, RecallOptions, Recollection
from .recalling.users import about_all, as_user
from .reflecting.composing import compose
from .reflecting.filling import Filler
from .reflecting.response_schema import Shape, read_schema
from .reflecting.statements import Statement, relevant, statements_of

_RECALL_TOKENS = 100_000  # the text's own budget cuts


@dataclass(frozen=True, slots=True)
class ReflectOptions:
    """What may be asked besides the question.

    `context` is added to the question for the search. `schema` is a JSON Schema of an object, see
    `response_schema`. `now` is when it is asked (microseconds; None: the clock's): what "last week"
    means, what no longer holds, and what has passed. `offset_min` is the asker's from UTC.
    """

    limit: int = 10  # memories recalled at most
    max_tokens: int = 4096  # of the text, estimated
    kinds: Collection[Kind] | None = None
    tags: TagNode | None = None
    context: str | None = None
    schema: Mapping[str, Any] | None = None
    now: int | None = None
    offset_min: int | None = None
    min_relevance: float | None = None  # as of recall; 0: answer however unlikely it is
    related: bool = False  # look at what the best memories lead to, too


@dataclass(frozen=True, slots=True)
class Reflection:
    """The answer.

    `based_on` are the memories that the text quotes, best first. `structured` is None without a
    schema; `missing` names its required properties that nothing fits. `answers` are the memories
    that may bear on the question.
    """

    text: str
    based_on: tuple[Answer, ...]
    structured: dict[str, Any] | None
    missing: tuple[str, ...]
    asked: str  # what was searched for
    recalled: Recollection
    answers: tuple[Answer, ...] = ()


class Reflect:
    """The verb; everything it needs is passed in."""

    def __init__(
        self,
        recall: Recall,
        analyzer: Analyzer,
        find_dates: DateFinder,
        *,
        clock: Clock,
        max_query_chars: int,
    ) -> None:
        self._recall = recall
        self._analyzer = analyzer
        self._find_dates = find_dates
        self._clock = clock
        self._max_query_chars = max_query_chars

    @traced("reflect")
    async def __call__(
        self, ref: BankRef, question: str, options: ReflectOptions | None = None
    ) -> Reflection:
        """Answer a question in words from one bank.

        Raises:
            InvalidInput: what a recall refuses, a schema that is none, max_tokens below 1.
        """
        options = options or ReflectOptions()
        if options.max_tokens < 1:
            raise InvalidInput("max_tokens must be at least 1", field="max_tokens", limit=1)
        shape = read_schema(options.schema) if options.schema is not None else None
        asked = _with_context(question, options.context, self._max_query_chars)
        now = self._clock.now_us() if options.now is None else options.now
        recalled = await self._recall(
            ref,
            asked,
            RecallOptions(
                limit=options.limit,
                max_tokens=_RECALL_TOKENS,
                kinds=options.kinds,
                tags=options.tags,
                now=now,
                offset_min=options.offset_min,
                min_relevance=options.min_relevance,
                related=options.related,
            ),
        )
        cuts = options.min_relevance != 0
        weighed = cuts and recalled.considered >= SMALLEST  # below, relevance was not measured
        known = quotable(recalled.known, self._recall.calibration(recalled.embedded))
        answers = recalled.answers if known or not cuts else ()
        written = await asyncio.to_thread(
            self._written, question, answers, shape, options.max_tokens, now, weighed
        )
        return Reflection(*written, asked, recalled, answers)

    def _written(
        self,
        question: str,
        answers: Sequence[Answer],
        shape: Shape | None,
        max_tokens: int,
        now: int,
        weighed: bool,
    ) -> tuple[str, tuple[Answer, ...], dict[str, Any] | None, tuple[str, ...]]:
        """Return the text, what it rests on, the object, and what it misses."""
        terms = frozenset(self._terms(question))
        everything = about_all(as_user(question))
        if everything:
            answers = [answer for answer in answers if answer.facts] or answers
        else:
            answers = relevant(answers, terms, self._terms, weighed=weighed)
        statements = statements_of(answers, terms, self._terms, now, every=everything)
        text, used = compose(question, statements, max_tokens)
        based_on = tuple({s.answer.unit.id: s.answer for s in used}.values())
        if shape is None:
            return text, based_on, None, ()
        filler = Filler(self._terms, self._dated, terms)
        every = statements_of(answers, terms, self._terms, now, every=True)
        structured = filler.fill(shape, every)
        return text, based_on, structured, tuple(filler.missing)

    def _terms(self, text: str) -> list[int]:
        return self._analyzer.terms_of(words(text))

    def _dated(self, statement: Statement) -> list[tuple[int, int]]:
        found = self._find_dates(statement.text, statement.said_at, statement.offset_min)
        return [(date.span.start, date.span.end) for date in found]


def _with_context(question: str, context: str | None, limit: int) -> str:
    """Return a question with its context after it, as much of that as fits the limit."""
    room = limit - len(question) - 1
    if not context or room < 1:
        return question
    return f"{question}\n{context[:room]}"
