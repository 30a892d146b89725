"""recall: find what answers a question.

One snapshot, one index state at its revision, one search, then the rows of the best within a token
budget. An answer is a source with the facts read from it; a fact and its source are one answer.
"""

from __future__ import annotations

import math
import re
import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..finding.indexes import Indexes
from ..finding.search import Arm, Candidates, Query, search
from ..finding.state import IndexState
from ..finding.terms import Analyzer, words
from ..keeping.store import Store
from ..keeping.view import Reader
from ..models.embedder import Embedder, Floats
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, RemembrancerError, TooLarge
from ..nouns.memory import BankRef, Role
from ..nouns.text import clean
from .recalling.included import Included, cut, fetch, sources_of
from .recalling.proof import Fold
from .recalling.recollection import (
    Answer,
    Arms,
    MinScores,
    RecallOptions,
    Recollection,
    Timings,
    payload_tokens,
)
from .recalling.related import SEEDS, related
from .recalling.snapshots import read_indexed
from .recalling.trace import Trace, trace
from .retaining.embedding import MOVED
from .retaining.units import DateFinder

__all__ = ["Answer", "Arms", "MinScores", "Recall", "RecallOptions", "Recollection", "Timings"]

# A question about what the assistant said; any other is taken to be about the user.
_ABOUT_ASSISTANT = re.compile(
    r"\byou\s+(?:ever\s+|also\s+|just\s+)?(?:recommend|suggest|say|said|tell|told|mention|explain"
    r"|give|gave|list|propose|advise|describe|answer|write|wrote|show|provide|offer)",
    re.IGNORECASE,
)


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
        question = self.checked(question, options)
        started = time.perf_counter()
        vector, degraded = await self.embed(question, options)
        embedded = time.perf_counter()
        found = await self.search_bank(ref, question, vector, options)
        spent = timings(started, embedded, found.rows_ms)
        return Recollection(
            found.answers,
            considered=len(found.candidates.ids),
            tokens=found.tokens,
            revision=found.revision,
            timings=spent,
            degraded=degraded or found.degraded,
            included=found.included,
            trace=found.trace,
        )

    async def search_bank(
        self, ref: BankRef, question: str, vector: Floats | None, options: RecallOptions
    ) -> BankFound:
        """Search one bank for a question that was checked and embedded."""
        return await read_indexed(
            self._store,
            self._indexes,
            ref,
            lambda reader, state: self._answer(reader, state, question, vector, options),
        )

    def checked(self, question: str, options: RecallOptions) -> str:
        """Return a question as it is asked.

        Raises:
            InvalidInput: it or an option cannot be taken.
        """
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

    async def embed(
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
    ) -> BankFound:
        """Search and fetch, in the thread of the snapshot."""
        degraded = None
        if vector is not None and reader.generation != self._generation:
            vector, degraded = None, MOVED
        started = time.perf_counter()
        query = self._query(question, vector, options)
        found = search(state, query)
        searched = time.perf_counter()
        graph: list[tuple[bytes, float]] = []
        if options.related or options.trace:
            graph = related(reader, found.id_list(0, SEEDS))
            if options.related and graph:
                found = search(state, query, extra=[unit_id for unit_id, _ in graph])
        expanded = time.perf_counter()
        kept = found
        if options.least is not None:
            kept = kept.only(_passing(kept, options.least))
        if options.prefer_observations:
            kept = _uncovered(reader, kept, options.limit)
        answers, tokens = _fetch(reader, kept, options)
        include, included, told = options.include, None, None
        if include is not None:
            included = cut(answers, {None: fetch(reader, answers, include)}, include)
        if options.trace:
            told = trace(
                reader,
                query,
                found,
                graph,
                graph_ranked=options.related,
                search_s=searched - started,
                graph_s=expanded - searched,
            )
        rows_ms = (time.perf_counter() - expanded) * 1e3
        return BankFound(answers, found, tokens, reader.revision, rows_ms, degraded, included, told)


class BankFound(NamedTuple):
    """What the thread of the snapshot hands back."""

    answers: tuple[Answer, ...]
    candidates: Candidates
    tokens: int
    revision: int
    rows_ms: float
    degraded: str | None
    included: Included | None
    trace: Trace | None


def timings(started: float, embedded: float, rows_ms: float) -> Timings:
    """Return where the time since `started` (of `time.perf_counter`) went."""
    ended = time.perf_counter()
    return Timings(
        embed_ms=(embedded - started) * 1e3,
        search_ms=(ended - embedded) * 1e3 - rows_ms,
        rows_ms=rows_ms,
        total_ms=(ended - started) * 1e3,
    )


def _passing(found: Candidates, least: MinScores) -> NDArray[np.bool_]:
    """Return which candidates reach the lowest scores; a missing score passes."""
    mask = np.ones(len(found.ids), dtype=bool)
    for value, scores in (
        (least.semantic, found.arms[Arm.VECTOR]),
        (least.keyword, found.arms[Arm.TEXT]),
        (least.final, found.score),
    ):
        if value is not None:
            mask &= ~(scores < value)
    return mask


def _uncovered(reader: Reader, found: Candidates, limit: int) -> Candidates:
    """Take out what an observation among the best `limit` was derived from."""
    ids = found.id_list()
    rests = sources_of(reader, reader.units(ids[:limit]))
    said = {unit_id for each in rests.values() for unit_id in each}
    if not said:
        return found
    # A fact is found through its source.
    said |= {u.source_id for u in reader.units(sorted(said)) if u.source_id is not None}
    return found.only(np.array([unit_id not in said for unit_id in ids], dtype=bool))


def _fetch(
    reader: Reader, found: Candidates, options: RecallOptions
) -> tuple[tuple[Answer, ...], int]:
    """Fetch the rows of the best candidates that fit the limit and the token budget.

    One that does not fit is passed over, so that a long text does not end the answer; one that
    says the same as a better one is folded into it.
    """
    answers: list[Answer] = []
    fold = Fold(reader)
    left = options.max_tokens
    for start in range(0, len(found.ids), options.limit):
        ids = found.id_list(start, start + options.limit)
        rows = {row.unit.id: row for row in reader.recalled(ids)}
        fold.look_up(ids)
        for number, unit_id in enumerate(ids, start):
            row = rows.get(unit_id)
            if row is None or fold.repeats(unit_id):
                continue
            cost = payload_tokens(row.unit)
            if cost > left or len(answers) == options.limit:
                continue
            left -= cost
            answers.append(Answer(*row, *_scores(found, number)))
            fold.keep(unit_id)
        if left < 1 or len(answers) == options.limit:
            break
    proofs = fold.proofs()
    if proofs:
        answers = [replace(a, proof=proofs.get(a.unit.id, a.proof)) for a in answers]
    return tuple(answers), options.max_tokens - left


def _scores(found: Candidates, i: int) -> tuple[float, Arms]:
    text, window, cosine, window_cosine, *bonuses = found.arms[:, i].tolist()
    arms = Arms(text, window, _known(cosine), _known(window_cosine), *bonuses)
    return float(found.score[i]), arms


def _known(cosine: float) -> float | None:
    return None if math.isnan(cosine) else cosine
