"""recall: find what answers a question.

One snapshot, one index state at its revision, one search, then the rows of the best within a token
budget. An answer is a source with the facts read from it; a fact and its source are one answer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..finding.calibration import Calibration, calibration_of
from ..finding.indexes import Indexes
from ..finding.search import TOP, Arm, Candidates, Query, Search
from ..finding.state import IndexState
from ..finding.terms import Analyzer, words
from ..keeping.store import Store
from ..keeping.view import Reader, Recalled
from ..models.embedder import Embedder, Floats
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, RemembrancerError, TooLarge
from ..nouns.memory import BankRef, Role
from ..nouns.spans import traced
from ..nouns.text import clean
from ..reading.dates.making import DateFinder
from .recalling import neighbours
from .recalling.addressed import about_assistant
from .recalling.asked import asked_window
from .recalling.cutoff import FLOOR, checked, cut_off
from .recalling.echoes import Echoes, told_first
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
from .recalling.reranking import Reranking, within
from .recalling.snapshots import read_indexed
from .recalling.trace import Trace, trace
from .recalling.truth import Truth, current_first, heirs, opponents, seen_then, truths_of
from .recalling.watching import RecallWatch
from .retaining.embedding import MOVED

__all__ = ["Answer", "Arms", "MinScores", "Recall", "RecallOptions", "Recollection", "Timings"]

_NO_BOUND = 1 << 40  # tokens
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
        embedded = time.perf_counter()
        wide = self._wide(options)
        found = await self.search_bank(ref, question, vector, wide)
        spent = timings(started, embedded, found.rows_ms)
        answers, tokens = found.answers, found.tokens
        if self._reranking is not None:
            answers, unranked = await self._reranking(question, answers)
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
            included=found.included,
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
        return replace(options, limit=limit, max_tokens=_NO_BOUND)

    async def close(self) -> None:
        """Release the reranker."""
        if self._reranking is not None:
            await self._reranking.reranker.close()

    async def knows(self, ref: BankRef, cue: str) -> bool:
        """Tell whether a bank seems to know anything of a cue; see `recalling.cutoff`."""
        found = await self(ref, cue, RecallOptions(limit=1))
        return bool(found.answers) or not (found.cut or found.asked)

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
        options: RecallOptions,
    ) -> BankFound:
        """Search and fetch, in the thread of the snapshot."""
        degraded = None
        if vector is not None and reader.generation != self._generation:
            vector, degraded = None, MOVED
        started = time.perf_counter()
        query = self.query(question, vector, options)
        looking = Search(state, query)
        found = looking.found()
        searched = time.perf_counter()
        graph: list[tuple[bytes, float]] = []
        if options.related or options.trace:
            graph = related(reader, found.id_list(0, SEEDS))
        extra = [unit_id for unit_id, _ in graph] if options.related else []
        if extra:
            found = looking.found(extra=extra)
        expanded = time.perf_counter()
        echoes = Echoes(question)
        answers, tokens, folded, asked = _fetch(
            reader, _kept(reader, found, options, query.calibration), options, echoes
        )
        top = TOP
        while folded >= top // 2 and top < _WIDEST:  # what is said often crowds out the rest
            top *= 4
            found = looking.found(top, extra)
            answers, tokens, folded, asked = _fetch(
                reader, _kept(reader, found, options, query.calibration), options, echoes
            )
        told_at = next(
            t for t in (options.as_of, options.now, self._clock.now_us()) if t is not None
        )
        marked = truths_of(reader, [answer.unit for answer in answers], told_at)
        if marked:
            missing = [*heirs(reader, marked, told_at), *opponents(marked)]
            late = looking.scored(missing, top) if missing else None
            answers, tokens = _true(
                reader, answers, marked, late, told_at, options, set(query.words)
            )
        if options.neighbours:
            answers = neighbours.with_neighbours(reader, answers, options)
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
        relevant = _relevant(found, options, query.calibration)
        return BankFound(
            answers,
            found,
            tokens,
            reader.revision,
            rows_ms,
            degraded,
            included,
            told,
            embedded=vector is not None,
            cut=len(found.ids) - len(relevant.ids),
            asked=asked,
        )


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
    embedded: bool = False
    cut: int = 0
    asked: int = 0


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


def _relevant(
    found: Candidates, options: RecallOptions, calibration: Calibration | None
) -> Candidates:
    """Return the candidates that are relevant enough; what others lead to need not be like them."""
    floor = 0.0 if options.related else FLOOR
    return cut_off(found, options.min_relevance, calibration, floor)


def _kept(
    reader: Reader,
    found: Candidates,
    options: RecallOptions,
    calibration: Calibration | None = None,
) -> Candidates:
    """Return the candidates that the options let through; no cut-off without a calibration."""
    found = _relevant(found, options, calibration)
    if options.least is not None:
        found = found.only(_passing(found, options.least))
    if options.prefer_observations:
        found = _uncovered(reader, found, options.limit)
    return found


def _fetch(
    reader: Reader, found: Candidates, options: RecallOptions, echoes: Echoes | None = None
) -> tuple[tuple[Answer, ...], int, int, int]:
    """Fetch the rows of the best candidates that fit the limit and the token budget.

    One that does not fit is passed over, so that a long text does not end the answer; one that
    says the same as a better one is folded into it; one that only asks comes after all others, and
    is left out where there is a cut-off. Returns the answers, their tokens, how many candidates
    were folded, and how many were left out since they only ask.
    """
    answers: list[Answer] = []
    asking: list[Answer] = []
    cutting = found.relevance is not None and options.min_relevance != 0
    folded = 0
    fold = Fold(reader)
    left = options.max_tokens
    for start in range(0, len(found.ids), options.limit):
        ids = found.id_list(start, start + options.limit)
        rows = {row.unit.id: row for row in reader.recalled(ids)}
        unseen = _unseen(reader, rows, options.as_of)
        fold.look_up(ids)
        for number, unit_id in enumerate(ids, start):
            row = rows.get(unit_id)
            if row is None or unit_id in unseen:
                continue
            if fold.repeats(unit_id):
                folded += 1
                continue
            asks = echoes is not None and echoes(row)
            cost = payload_tokens(row.unit)
            if not asks and (cost > left or len(answers) == options.limit):
                continue
            relevance = _relevance(found, number)
            answer = Answer(*row, *_scores(found, number), relevance=relevance, asks=asks)
            fold.keep(unit_id)
            if asks:
                asking.append(answer)
                continue
            left -= cost
            answers.append(answer)
        if left < 1 or len(answers) == options.limit:
            break
    if not cutting:
        last, spent = within(asking, options.limit - len(answers), left)
        answers, left, asking = [*answers, *last], left - spent, []
    proofs = fold.proofs()
    if proofs:
        answers = [replace(a, proof=proofs.get(a.unit.id, a.proof)) for a in answers]
    return tuple(answers), options.max_tokens - left, folded, len(asking)


def _true(
    reader: Reader,
    answers: Sequence[Answer],
    truths: Mapping[bytes, Truth],
    late: Candidates | None,
    at: int,
    options: RecallOptions,
    asked: set[str],
) -> tuple[tuple[Answer, ...], int]:
    """Mark answers that do not hold, and put what holds in their place before them.

    `late` are those that are missing among the answers.
    """
    whole = [replace(a, truth=truths.get(a.unit.id, a.truth)) for a in answers]
    if late is not None:
        every = replace(options, limit=max(1, len(late.ids)), max_tokens=_NO_BOUND)
        more, *_ = _fetch(reader, _kept(reader, late, options), every)
        known = truths_of(reader, [answer.unit for answer in more], at)
        whole += [replace(a, truth=known.get(a.unit.id, a.truth)) for a in more]
    kept: list[Answer] = []
    left = options.max_tokens
    for answer in told_first(current_first(whole, asked)):
        cost = payload_tokens(answer.unit)
        if cost <= left and len(kept) < options.limit:
            left -= cost
            kept.append(answer)
    return tuple(kept), options.max_tokens - left


def _unseen(reader: Reader, rows: Mapping[bytes, Recalled], as_of: int | None) -> set[bytes]:
    """Return which memories were no part of what held then."""
    if as_of is None:
        return set()
    units = [row.unit for row in rows.values()]
    truths = truths_of(reader, units, as_of)
    return {u.id for u in units if not seen_then(u, truths.get(u.id), as_of)}


def _scores(found: Candidates, i: int) -> tuple[float, Arms]:
    text, window, cosine, window_cosine, *bonuses = found.arms[:, i].tolist()
    arms = Arms(text, window, _known(cosine), _known(window_cosine), *bonuses)
    return float(found.score[i]), arms


def _relevance(found: Candidates, i: int) -> float | None:
    return None if found.relevance is None else float(found.relevance[i])


def _known(cosine: float) -> float | None:
    return None if math.isnan(cosine) else cosine
