"""recall: find what answers a question.

One snapshot, one index state at its revision, one search, then the rows of the best within a token
budget. An answer is a source with the facts read from it; a fact and its source are one answer.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from ..finding.indexes import Indexes
from ..finding.search import Candidates, Query, Weights, search
from ..finding.state import IndexState
from ..finding.tagging import TagFilter
from ..finding.terms import Analyzer, words
from ..keeping.store import Store
from ..keeping.view import Reader
from ..models.embedder import Embedder, Floats
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, RemembrancerError, TooLarge
from ..nouns.memory import BankRef, Kind, Role, Unit
from ..nouns.text import clean, estimate_tokens
from .embedding import MOVED
from .snapshots import read_indexed
from .units import DateFinder

# A question about what the assistant said; any other is taken to be about the user.
_ABOUT_ASSISTANT = re.compile(
    r"\byou\s+(?:ever\s+|also\s+|just\s+)?(?:recommend|suggest|say|said|tell|told|mention|explain"
    r"|give|gave|list|propose|advise|describe|answer|write|wrote|show|provide|offer)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Arms:
    """Why an answer was found: each arm's raw value, in the order of `finding.search.Arm`.

    None where the unit is not embedded.
    """

    keyword: float
    window_keyword: float
    cosine: float | None
    window_cosine: float | None
    speaker: float
    role: float
    time: float


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: a unit, the facts read from it, its document's name, and its fused score."""

    unit: Unit
    facts: tuple[Unit, ...]
    document: str | None
    score: float
    arms: Arms


@dataclass(frozen=True, slots=True)
class Timings:
    """Where the time went, in milliseconds."""

    embed_ms: float
    search_ms: float
    rows_ms: float
    total_ms: float


@dataclass(frozen=True, slots=True)
class Recollection:
    """The answers, best first, and what they were cut from."""

    answers: tuple[Answer, ...]
    considered: int  # candidates before the cut
    tokens: int  # estimated tokens of the answers' texts
    revision: int
    timings: Timings
    degraded: str | None = None  # why an arm was missing, for people


@dataclass(frozen=True, slots=True)
class RecallOptions:
    """What may be asked besides the question. Times in microseconds."""

    limit: int = 20
    max_tokens: int = 4096
    kinds: Collection[Kind] | None = None
    tags: TagFilter | None = None
    now: int | None = None  # when the question is asked; None: the clock's now
    offset_min: int | None = None  # the asker's UTC offset
    since: int | None = None  # prefer what happened or was said from here
    until: int | None = None
    weights: Weights = field(default_factory=Weights)
    vector: Floats | None = None  # use this instead of embedding the question


class Recall:
    """The verb; everything it needs is passed in."""

    def __init__(
        self,
        store: Store,
        indexes: Indexes,
        embedder: Embedder | None,
        analyzer: Analyzer,
        find_dates: DateFinder,
        *,
        clock: Clock,
        max_query_chars: int,
        generation: int,
    ) -> None:
        self._store = store
        self._indexes = indexes
        self._embedder = embedder
        self._analyzer = analyzer
        self._find_dates = find_dates
        self._clock = clock
        self._max_query_chars = max_query_chars
        self._generation = generation  # whose vectors `embedder` makes

    async def __call__(
        self, ref: BankRef, question: str, options: RecallOptions | None = None
    ) -> Recollection:
        """Answer a question from one bank; a bank that does not exist has no answers.

        Raises:
            InvalidInput: an empty or over-long question, or a limit below 1.
        """
        options = options or RecallOptions()
        question = self._check(question, options)
        started = time.perf_counter()
        vector, degraded = await self._embed(question, options)
        embedded = time.perf_counter()
        found = await read_indexed(
            self._store,
            self._indexes,
            ref,
            lambda reader, state: self._answer(reader, state, question, vector, options),
        )
        ended = time.perf_counter()
        timings = Timings(
            embed_ms=(embedded - started) * 1e3,
            search_ms=(ended - embedded) * 1e3 - found.rows_ms,
            rows_ms=found.rows_ms,
            total_ms=(ended - started) * 1e3,
        )
        return Recollection(
            found.answers,
            considered=found.considered,
            tokens=found.tokens,
            revision=found.revision,
            timings=timings,
            degraded=degraded or found.degraded,
        )

    def _check(self, question: str, options: RecallOptions) -> str:
        question = clean(question)
        if not any(c.isalnum() for c in question):
            raise InvalidInput("query must hold at least one word", field="query", limit=1)
        if len(question) > self._max_query_chars:
            raise TooLarge(
                f"query has {len(question)} characters; the limit is {self._max_query_chars}: "
                "ask a shorter question",
                field="query",
                limit=self._max_query_chars,
            )
        if options.limit < 1:
            raise InvalidInput("limit must be at least 1", field="limit", limit=1)
        if options.max_tokens < 1:
            raise InvalidInput("max_tokens must be at least 1", field="max_tokens", limit=1)
        return question

    async def _embed(
        self, question: str, options: RecallOptions
    ) -> tuple[Floats | None, str | None]:
        """Return the question's vector, or why there is none."""
        if options.vector is not None or self._embedder is None:
            return options.vector, None
        try:
            return await self._embedder.embed_query(question), None
        except RemembrancerError as error:
            return None, f"searched by words alone: {error.message}"

    def _query(self, question: str, vector: Floats | None, options: RecallOptions) -> Query:
        since, until = options.since, options.until
        if since is None and until is None:
            now = options.now if options.now is not None else self._clock.now_us()
            dates = self._find_dates(question, now, options.offset_min)
            if dates:
                since, until = dates[0].start, dates[0].end
        asked = words(question)
        return Query(
            words=asked,
            terms=self._analyzer.terms_of(asked),
            vector=vector,
            role=Role.ASSISTANT if _ABOUT_ASSISTANT.search(question) else Role.USER,
            since=since,
            until=until,
            kinds=[int(k) for k in options.kinds] if options.kinds is not None else None,
            tags=options.tags,
            weights=options.weights,
        )

    def _answer(
        self,
        reader: Reader,
        state: IndexState,
        question: str,
        vector: Floats | None,
        options: RecallOptions,
    ) -> _Found:
        """Search and fetch, in the thread of the snapshot."""
        degraded = None
        if vector is not None and reader.generation != self._generation:
            vector, degraded = None, MOVED
        found = search(state, self._query(question, vector, options))
        searched = time.perf_counter()
        answers, tokens = _fetch(reader, found, options)
        rows_ms = (time.perf_counter() - searched) * 1e3
        return _Found(answers, len(found.ids), tokens, reader.revision, rows_ms, degraded)


class _Found(NamedTuple):
    """What the thread of the snapshot hands back."""

    answers: tuple[Answer, ...]
    considered: int
    tokens: int
    revision: int
    rows_ms: float
    degraded: str | None


def _fetch(
    reader: Reader, found: Candidates, options: RecallOptions
) -> tuple[tuple[Answer, ...], int]:
    """Fetch the rows of the best candidates that fit the limit and the token budget.

    One that does not fit is passed over, so that a long text does not end the answer.
    """
    answers: list[Answer] = []
    left = options.max_tokens
    for start in range(0, len(found.ids), options.limit):
        ids = found.id_list(start, start + options.limit)
        rows = {row.unit.id: row for row in reader.recalled(ids)}
        for number, unit_id in enumerate(ids, start):
            row = rows.get(unit_id)
            cost = estimate_tokens(row.unit.text) if row else 0
            if row is None or cost > left:
                continue
            left -= cost
            answers.append(Answer(*row, *_scores(found, number)))
            if len(answers) == options.limit:
                return tuple(answers), options.max_tokens - left
        if left < 1:
            break
    return tuple(answers), options.max_tokens - left


def _scores(found: Candidates, i: int) -> tuple[float, Arms]:
    text, window, cosine, window_cosine, *bonuses = found.arms[:, i].tolist()
    arms = Arms(text, window, _known(cosine), _known(window_cosine), *bonuses)
    return float(found.score[i]), arms


def _known(cosine: float) -> float | None:
    return None if math.isnan(cosine) else cosine
