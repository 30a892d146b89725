"""prime: the context that a conversation should start with.

A blend of recent and of similar memories of one entity (a bank), ranked by composite score. The
half that lacks candidates is filled by the other, and by memories older than the window, so that
the answer is full whenever the bank has enough.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import StrEnum

from ..finding.composite import ScoringWeights, composite
from ..finding.indexes import Indexes
from ..finding.similar import cosines_of, most_similar
from ..finding.state import IndexState
from ..keeping.store import Store
from ..keeping.view import Reader
from ..models.embedder import Embedder, Floats
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, RemembrancerError, TooLarge
from ..nouns.memory import BankRef, Layer, Unit
from ..nouns.text import clean
from .embedding import MOVED
from .proof import ALONE, Fold, Proof
from .snapshots import read_indexed

MOST = 200  # memories a prime returns at most; more is clamped
_MOST_POOL = 1_000  # candidates of each strategy looked at, at most


class Strategy(StrEnum):
    """Why a memory is in the answer."""

    TEMPORAL = "temporal"
    SIMILARITY = "similarity"


@dataclass(frozen=True, slots=True)
class Primed:
    """One memory of the answer.

    `relevance` is the cosine to the cue, 0 without one. `rank` is the place among the recent ones,
    0 the newest, for a temporal memory; None for a similar one. `proof` tells of the memories that
    say the same, for which it stands.
    """

    unit: Unit
    score: float
    relevance: float
    strategy: Strategy
    rank: int | None = None
    proof: Proof = ALONE


@dataclass(frozen=True, slots=True)
class Context:
    """The answer: memories by composite score, and how many each strategy gave."""

    memories: tuple[Primed, ...]
    temporal_count: int
    similarity_count: int
    embed_ms: float = 0.0
    total_ms: float = 0.0
    degraded: str | None = None


@dataclass(frozen=True, slots=True)
class PrimeOptions:
    """What may be asked. `window_us` bounds what counts as recent; `cue` None or empty: temporal
    only.
    """

    max_memories: int = 20
    cue: str | None = None
    weights: ScoringWeights = field(default_factory=ScoringWeights)
    temporal_ratio: float = 0.5
    window_us: int = 7 * 86_400_000_000
    reinforce: bool = True


class Prime:
    """The verb; everything it needs is passed in."""

    def __init__(
        self,
        store: Store,
        indexes: Indexes,
        embedder: Embedder | None,
        *,
        clock: Clock,
        max_query_chars: int,
        generation: int,
    ) -> None:
        self._store = store
        self._indexes = indexes
        self._embedder = embedder
        self._clock = clock
        self._max_query_chars = max_query_chars
        self._generation = generation  # whose vectors `embedder` makes

    async def __call__(self, ref: BankRef, options: PrimeOptions | None = None) -> Context:
        """Prime from one bank; one that does not exist gives an empty context.

        Raises:
            InvalidInput: a ratio outside 0 to 1, a negative number of memories, an over-long cue.
        """
        options = options or PrimeOptions()
        cue = self._check(options)
        started = time.perf_counter()
        now = self._clock.now_us()
        vector, degraded = await self._embed(cue)
        embedded = time.perf_counter()
        limit = min(options.max_memories, MOST)
        if vector is None:
            memories = await self._store.read(
                ref, lambda reader: _blend(reader, None, None, limit, options, now)
            )
        else:
            memories, moved = await read_indexed(
                self._store,
                self._indexes,
                ref,
                lambda reader, state: self._similar(reader, state, vector, limit, options, now),
            )
            degraded = degraded or moved
        if options.reinforce and memories:
            await self._store.touch(ref, [m.unit.id for m in memories], now)
        temporal = sum(m.strategy is Strategy.TEMPORAL for m in memories)
        ended = time.perf_counter()
        return Context(
            tuple(memories),
            temporal,
            len(memories) - temporal,
            embed_ms=(embedded - started) * 1e3,
            total_ms=(ended - started) * 1e3,
            degraded=degraded,
        )

    def _check(self, options: PrimeOptions) -> str | None:
        if options.max_memories < 0:
            raise InvalidInput("max_memories must be at least 0", field="max_memories", limit=0)
        if not 0 <= options.temporal_ratio <= 1:
            raise InvalidInput(
                "temporal_ratio must be between 0 (all similar) and 1 (all recent)",
                field="temporal_ratio",
                limit=1,
            )
        if options.window_us <= 0:
            raise InvalidInput(
                "recency_window_us must be above 0", field="recency_window_us", limit=0
            )
        cue = clean(options.cue or "").strip()
        if len(cue) > self._max_query_chars:
            raise TooLarge(
                f"similarity_cue has {len(cue)} characters; the limit is {self._max_query_chars}",
                field="similarity_cue",
                limit=self._max_query_chars,
            )
        return cue or None

    async def _embed(self, cue: str | None) -> tuple[Floats | None, str | None]:
        if cue is None:
            return None, None
        if self._embedder is None:
            return None, "no embedder is configured: primed by time alone"
        try:
            return await self._embedder.embed_query(cue), None
        except RemembrancerError as error:
            return None, f"primed by time alone: {error.message}"

    def _similar(
        self,
        reader: Reader,
        state: IndexState,
        vector: Floats,
        limit: int,
        options: PrimeOptions,
        now: int,
    ) -> tuple[list[Primed], str | None]:
        if reader.generation != self._generation:
            return _blend(reader, None, None, limit, options, now), MOVED
        return _blend(reader, state, vector, limit, options, now), None


def _blend(
    reader: Reader,
    state: IndexState | None,
    vector: Floats | None,
    limit: int,
    options: PrimeOptions,
    now: int,
) -> list[Primed]:
    """Choose the memories, score them, and sort by score, newer first among equals."""
    if limit == 0:
        return []
    share = int(limit * options.temporal_ratio) if state is not None else limit
    since = now - options.window_us
    similar: list[tuple[bytes, float]] = []
    pool = limit  # of each, so that either half can fill in for the other
    while True:
        recent = reader.newest(pool, layer=Layer.SOURCE, until=now + 1)
        if state is not None and vector is not None:
            similar = most_similar(state, vector, pool)
        chosen: dict[bytes, Strategy] = {}
        fold = Fold(reader)
        fold.look_up([u.id for u in recent])
        fold.look_up([unit_id for unit_id, _ in similar])
        fresh = [u.id for u in recent if u.mentioned_at >= since]
        _fill(chosen, fold, fresh, Strategy.TEMPORAL, share)
        _fill(chosen, fold, [i for i, _ in similar], Strategy.SIMILARITY, limit)
        _fill(chosen, fold, [u.id for u in recent], Strategy.TEMPORAL, limit)
        if len(chosen) == limit or pool >= _MOST_POOL or max(len(recent), len(similar)) < pool:
            break
        pool *= 4  # much of it said the same
    proofs = fold.proofs()
    units = {u.id: u for u in recent}
    units |= {u.id: u for u in reader.units([i for i in chosen if i not in units])}
    relevance = dict(similar)
    if state is not None and vector is not None:
        relevance |= cosines_of(state, vector, [i for i in chosen if i not in relevance])
    ranks = {u.id: i for i, u in enumerate(recent)}
    temporal = sum(s is Strategy.TEMPORAL for s in chosen.values())
    memories = []
    for unit_id, strategy in chosen.items():
        unit = units[unit_id]
        cosine = max(0.0, relevance.get(unit_id, 0.0))
        rank = ranks[unit_id] if strategy is Strategy.TEMPORAL else None
        # Without a cue the place in time stands in for relevance (newest 1, falling by 1/n).
        counted = cosine if vector is not None else 1 - (rank or 0) / temporal
        score = composite(
            options.weights,
            relevance=counted,
            age_us=now - unit.mentioned_at,
            importance=unit.importance,
            access_count=unit.access_count,
        )
        proof = proofs.get(unit_id, ALONE)
        memories.append(Primed(unit, score, cosine, strategy, rank, proof))
    memories.sort(key=lambda m: (-m.score, -m.unit.mentioned_at, m.unit.id))
    return memories


def _fill(
    chosen: dict[bytes, Strategy], fold: Fold, ids: list[bytes], why: Strategy, limit: int
) -> None:
    """Add ids that are not chosen yet, and say what no chosen one says, until `limit` are."""
    for unit_id in ids:
        if len(chosen) >= limit:
            return
        if unit_id not in chosen and not fold.repeats(unit_id):
            chosen[unit_id] = why
            fold.keep(unit_id)
