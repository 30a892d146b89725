"""prime: the context that a conversation should start with.

A blend of recent and of similar memories of one entity (a bank), ranked by composite score. Pinned
memories and standing instructions come first. The half that lacks candidates is filled by the
other, and by memories older than the window, so that the answer is full whenever the bank has
enough.
"""

from __future__ import annotations

import asyncio
import time

from ..finding.indexes import Indexes
from ..finding.state import IndexState
from ..keeping.store import Store
from ..keeping.view import Reader
from ..models.embedder import Embedder, Floats
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, RemembrancerError, TooLarge
from ..nouns.memory import BankRef
from ..nouns.spans import traced
from ..nouns.text import clean
from .priming.blend import Cue, blend
from .priming.rows import KEPT_S, NewestRows
from .priming.types import MOST, Chosen, Context, Order, Primed, PrimeOptions, Strategy, defaults
from .recalling.snapshots import read_indexed
from .retaining.embedding import MOVED

__all__ = [
    "MOST",
    "Context",
    "Order",
    "Prime",
    "PrimeOptions",
    "Primed",
    "Strategy",
    "defaults",
]


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
        self._rows = NewestRows(time.monotonic)
        self._expiry: asyncio.TimerHandle | None = None

    @traced("prime")
    async def __call__(self, ref: BankRef, options: PrimeOptions | None = None) -> Context:
        """Prime from one bank; one that does not exist gives an empty context.

        Raises:
            InvalidInput: a ratio outside 0 to 1, a negative number of memories, an over-long cue.
        """
        options = options or PrimeOptions()
        cue = self._check(options)
        started = time.perf_counter()
        clock = self._clock.now_us()
        now = clock if options.now is None else options.now
        vector, degraded = await self._embed(cue)
        embedded = time.perf_counter()
        chosen, moved = await read_indexed(
            self._store,
            self._indexes,
            ref,
            lambda reader, state: self._blended(reader, state, vector, ref, options, now),
        )
        degraded = degraded or moved
        self._expire_later()
        memories = chosen.memories
        if options.reinforce and memories:
            await self._store.touch(ref, [m.unit.id for m in memories], clock)
        temporal = sum(m.strategy is Strategy.TEMPORAL for m in memories)
        ended = time.perf_counter()
        return Context(
            tuple(memories),
            temporal,
            len(memories) - temporal,
            embed_ms=(embedded - started) * 1e3,
            total_ms=(ended - started) * 1e3,
            degraded=degraded,
            now=now,
            facts=chosen.facts,
            intends=chosen.intends,
        )

    def close(self) -> None:
        """Let go of the rows kept in memory."""
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        self._rows.clear()

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
        if options.max_tokens is not None and options.max_tokens < 0:
            raise InvalidInput("max_tokens must be at least 0", field="max_tokens", limit=0)
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

    def _blended(
        self,
        reader: Reader,
        state: IndexState,
        vector: Floats | None,
        ref: BankRef,
        options: PrimeOptions,
        now: int,
    ) -> tuple[Chosen, str | None]:
        moved = None
        if vector is not None and reader.generation != self._generation:
            vector, moved = None, MOVED
        return blend(reader, ref, self._rows, Cue(vector, state), options, now), moved

    def _expire_later(self) -> None:
        """See to it that rows that nobody primes again go from memory."""
        if self._expiry is None:
            loop = asyncio.get_running_loop()
            self._expiry = loop.call_later(KEPT_S, self._expire)

    def _expire(self) -> None:
        self._expiry = None
        if self._rows.expire():
            self._expire_later()
