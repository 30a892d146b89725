"""recall: find what answers a question.

One snapshot, one index state at its revision, one search, then the rows of the best within a token
budget. An answer is a source with the facts read from it; a fact and its source are one answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..finding.calibration import Calibration, calibration_of
from ..finding.indexes import Indexes
from ..finding.search import TOP, Candidates, Query, Search
from ..finding.state import IndexState
from ..finding.terms import Analyzer, words
from ..keeping.store import Store
from ..keeping.view import Reader
from ..models.embedder import Embedder, Floats
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, RemembrancerError, TooLarge
from ..nouns.memory import BankRef, Role
from ..nouns.spans import traced
from ..nouns.text import clean
from ..reading.dates.making import DateFinder
from .recalling import neighbours
from .recalling.addressed import about_assistant
from .recalling.answers import NO_BOUND, broad, kept, picked, relevant, telling_first, with_current
from .recalling.asked import asked_window
from .recalling.cutoff import checked
from .recalling.echoes import Echoes, told_first
from .recalling.included import Fetched, Include, Included, cut, fetch
from .recalling.recollection import (
    Answer,
    Arms,
    MinScores,
    RecallOptions,
    Recollection,
    Timings,
)
from .recalling.related import SEEDS, related
from .recalling.reranking import Reranking, within
from .recalling.snapshots import read_indexed
from .recalling.trace import Trace, trace
from .recalling.truth import as_asked, current_first, heirs, opponents, truths_of
from .recalling.users import Put, about_all, as_user, notes_of_user
from .recalling.watching import RecallWatch
from .retaining.embedding import MOVED

__all__ = ["Answer", "Arms", "MinScores", "Recall", "RecallOptions", "Recollection", "Timings"]

_WIDEST = 3_200  # candidates of an arm at most, where many say the same


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
        reranking: Reranking | None = None,
        watch: RecallWatch | None = None,
    ) -> None:
        self._watch = watch
        self._reranking = reranking
        self._store = store
        self._indexes = indexes
        self._embedder = embedder
        self._analyzer = analyzer
        self._find_dates = find_dates
        self._clock = clock
        self._max_query_chars = max_query_chars
        self._generation = generation  # whose vectors `embedder` makes

    def calibration(self, embedded: bool) -> Calibration | None:
        """Return what tells how relevant candidates are: with a vector, or by words alone."""
        if not embedded or self._embedder is None:
            return calibration_of(None)
        return calibration_of(str(self._embedder.fingerprint["model"]))

    @traced("recall")
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
        own = await self.as_user(question, options)
        embedded = time.perf_counter()
        wide = self._wide(options)
        found = await self.search_bank(ref, question, vector, wide, own)
        spent = timings(started, embedded, found.rows_ms)
        answers, tokens = found.answers, found.tokens
        if self._reranking is not None:
            answers, unranked = await self._reranking(question, answers)
            answers = tuple(told_first(current_first(answers, set(words(question)))))
            answers, tokens = within(answers, options.limit, options.max_tokens)
            degraded = degraded or unranked
        answers, tokens = neighbours.fitted(answers, tokens, options.max_tokens)
        done = Recollection(
            answers,
            considered=len(found.candidates.ids),
            tokens=tokens,
            revision=found.revision,
            timings=spent,
            degraded=degraded or found.degraded,
            included=_included(answers, found.fetched, options.include),
            trace=found.trace,
            known=found.candidates.known,
            embedded=found.embedded,
            cut=found.cut,
            asked=found.asked,
        )
        self.told([ref], question, options, done, started)
        return done

    def told(
        self,
        refs: Sequence[BankRef],
        question: str,
        options: RecallOptions,
        found: Recollection,
        started: float,
    ) -> None:
        """Tell who watches of a recall that began at `started` (of `time.perf_counter`)."""
        if self._watch is not None:
            total_ms = (time.perf_counter() - started) * 1e3
            self._watch.told(refs, question, options, found, total_ms)

    def _wide(self, options: RecallOptions) -> RecallOptions:
        """Return options that bring all that the reranker is to read."""
        if self._reranking is None:
            return options
        limit = max(options.limit, self._reranking.candidates)
        return replace(options, limit=limit, max_tokens=NO_BOUND)

    async def close(self) -> None:
        """Release the reranker."""
        if self._reranking is not None:
            await self._reranking.reranker.close()

    def asks(self, question: str) -> Callable[[str], bool]:
        """Return what tells whether a question asks of a text: whether they share a word."""
        return self._analyzer.shares(question)

    async def knows(self, ref: BankRef, cue: str) -> bool:
        """Tell whether a bank seems to know anything of a cue; see `recalling.cutoff`."""
        found = await self(ref, cue, RecallOptions(limit=1))
        return bool(found.answers) or not (found.cut or found.asked)

    async def search_bank(
        self,
        ref: BankRef,
        question: str,
        vector: Floats | None,
        options: RecallOptions,
        own: Put | None = None,
    ) -> BankFound:
        """Search one bank for a question that was checked and embedded.

        `own` is what `as_user` says: it is asked of banks in which the user speaks.
        """
        everything = about_all(own.question if own else question)

        def answer(reader: Reader, state: IndexState) -> BankFound:
            asked = Put(question, vector)
            if own is not None and not notes_of_user(state, self._analyzer):
                asked = own
            return self._answer(reader, state, *asked, options, everything)

        return await read_indexed(self._store, self._indexes, ref, answer)

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
        checked(options.min_relevance)
        neighbours.checked(options.neighbours)
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

    async def as_user(self, question: str, options: RecallOptions) -> Put | None:
        """Return a question about the user as they would put it; None for any other."""
        own = as_user(question)
        if own == question:
            return None
        vector, _ = await self.embed(own, options)
        return Put(own, vector)

    def query(self, question: str, vector: Floats | None, options: RecallOptions) -> Query:
        """Return what is searched for."""
        since, until = options.since, options.until
        if since is None and until is None:
            now = options.now if options.now is not None else self._clock.now_us()
            dates = self._find_dates(question, now, options.offset_min)
            if dates:
                since, until = asked_window(dates)
        asked = words(question)
        terms = self._analyzer.terms_of(asked)
        return Query(
            words=asked,
            terms=terms,
            vector=vector,
            role=Role.ASSISTANT if about_assistant(question) else Role.USER,
            since=since,
            until=until,
            kinds=[int(k) for k in options.kinds] if options.kinds is not None else None,
            tags=options.tags,
            weights=options.weights,
            term_weights=dict(zip(terms, self._analyzer.weights(terms), strict=True)),
            calibration=self.calibration(vector is not None),
            telling=self._analyzer.telling(asked),
            doubtful=self._analyzer.doubtful(asked),
            neighbours=self._analyzer.neighbours,
        )

    def _answer(
        self,
        reader: Reader,
        state: IndexState,
        question: str,
        vector: Floats | None,
        asked_for: RecallOptions,
        everything: bool,
    ) -> BankFound:
        """Search and fetch, in the thread of the snapshot."""
        options = broad(asked_for) if everything else asked_for
        degraded = None
        if vector is not None and reader.generation != self._generation:
            vector, degraded = None, MOVED
        started = time.perf_counter()
        query = self.query(question, vector, options)
        if everything:  # whatever there is answers
            query = replace(query, calibration=None)
        looking = Search(state, query)
        found = looking.found()
        searched = time.perf_counter()
        graph: list[tuple[bytes, float]] = []
        if options.related or options.trace:
            graph = related(reader, found.id_list(0, SEEDS))
        extra = [unit_id for unit_id, _ in graph] if options.related else []
        if options.as_of is not None:  # what was said later would stand before all of it
            known_then = replace(query, said_by=options.as_of)
            extra += Search(state, known_then).found().id_list()
        if extra:
            found = looking.found(extra=extra)
        expanded = time.perf_counter()
        echoes = Echoes(question)
        answers, tokens, folded, asked = picked(
            reader, kept(reader, found, options, query.calibration), options, echoes
        )
        top = TOP
        while folded >= top // 2 and top < _WIDEST:  # what is said often crowds out the rest
            top *= 4
            found = looking.found(top, extra)
            answers, tokens, folded, asked = picked(
                reader, kept(reader, found, options, query.calibration), options, echoes
            )
        if everything:
            options = asked_for
            answers, tokens = telling_first(answers, options)
        told_at = next(
            t for t in (options.as_of, options.now, self._clock.now_us()) if t is not None
        )
        marked = truths_of(reader, [answer.unit for answer in answers], told_at)
        asks = self.asks(question)
        for answer in answers:
            told_of = marked.get(answer.unit.id)
            if told_of is not None:
                marked[answer.unit.id] = as_asked(told_of, answer.facts, asks)
        late = None
        if marked:
            missing = [*heirs(reader, marked, told_at), *opponents(marked)]
            late = looking.scored(missing, top) if missing else None
            answers, tokens = with_current(
                reader, answers, marked, late, told_at, options, set(query.words)
            )
        if options.neighbours:
            answers = neighbours.with_neighbours(reader, answers, options)
        include, told = options.include, None
        fetched = fetch(reader, answers, include) if include is not None else None
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
        return BankFound(
            answers,
            found,
            tokens,
            reader.revision,
            rows_ms,
            degraded,
            fetched,
            told,
            embedded=vector is not None,
            cut=len(found.ids) - len(relevant(found, options, query.calibration).ids),
            asked=asked,
            late=late,
        )


class BankFound(NamedTuple):
    """What the thread of the snapshot hands back.

    `late` are candidates that came in since they hold in the place of others.
    """

    answers: tuple[Answer, ...]
    candidates: Candidates
    tokens: int
    revision: int
    rows_ms: float
    degraded: str | None
    fetched: Fetched | None
    trace: Trace | None
    embedded: bool = False
    cut: int = 0
    asked: int = 0
    late: Candidates | None = None


def _included(
    answers: Sequence[Answer], fetched: Fetched | None, include: Include | None
) -> Included | None:
    """Return what comes with the answers that are left, of what was fetched for more of them."""
    if fetched is None or include is None:
        return None
    return cut(answers, {None: fetched}, include)


def timings(started: float, embedded: float, rows_ms: float) -> Timings:
    """Return where the time since `started` (of `time.perf_counter`) went."""
    ended = time.perf_counter()
    return Timings(
        embed_ms=(embedded - started) * 1e3,
        search_ms=(ended - embedded) * 1e3 - rows_ms,
        rows_ms=rows_ms,
        total_ms=(ended - started) * 1e3,
    )
