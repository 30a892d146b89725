"""recall by strategies: what is like a cue, what is recent, what links lead to, what is analogous.

Each strategy finds memories of its own; they are joined, and ranked by composite score (see
`finding.composite`). One that fails says why, and the others are answered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from ..finding.composite import composite
from ..finding.indexes import Indexes
from ..finding.state import IndexState
from ..keeping.store import Store
from ..keeping.view import Reader
from ..models.embedder import Embedder, Floats
from ..nouns.caller import Caller
from ..nouns.clock import Clock
from ..nouns.errors import ModelUnavailable, NotFound, RemembrancerError
from ..nouns.memory import BankRef
from ..nouns.spans import traced
from .recalling.candidates import MOST, Hit, alike, best, linked, newest, placed
from .recalling.likely import Chosen, Likely
from .recalling.searches import (
    Answered,
    Asked,
    Failure,
    Reached,
    Search,
    Way,
    by_meaning,
    checked,
    named,
)
from .recalling.snapshots import read_indexed
from .recalling.turns import asked_in_turn
from .retaining.embedding import MOVED
from .tenant_banks import reached

__all__ = ["Answered", "Asked", "Failure", "Knows", "Reached", "Search", "Strategies", "Way"]


Knows = Callable[[BankRef, str], Awaitable[bool]]
"""Tells whether a bank seems to know anything of a cue."""


class Strategies:
    """The verb; everything it needs is passed in.

    With `knows` a bank that knows nothing of the cue has nothing that is like it.
    """

    def __init__(
        self,
        store: Store,
        indexes: Indexes,
        embedder: Embedder | None,
        *,
        clock: Clock,
        generation: int,
        knows: Knows | None = None,
    ) -> None:
        self._knows = knows
        self._store = store
        self._indexes = indexes
        self._embedder = embedder
        self._clock = clock
        self._generation = generation  # whose vectors `embedder` makes
        self._likely = Likely(store, generation=generation, dim=embedder.dim if embedder else 0)

    def close(self) -> None:
        """Forget what is kept of banks."""
        self._likely.close()

    @traced("recall by strategies")
    async def __call__(
        self, caller: Caller, cue: str, searches: Sequence[Search], asked: Asked | None = None
    ) -> Answered:
        """Recall from the banks that a caller reaches.

        Raises:
            InvalidInput: no strategy, an empty cue where one is needed, a bad parameter.
        """
        asked = asked or Asked()
        cue = checked(cue, searches, asked)
        vector, silent = await self._embed(cue, searches)
        found: dict[tuple[BankRef, bytes], list[Hit]] = {}
        failures: list[Failure] = []
        for search in searches:
            try:
                if vector is None and by_meaning(search, cue):
                    raise ModelUnavailable(silent or "no embedder is configured")
                hits = await self._hits(caller, cue, search, vector, asked, failures)
            except RemembrancerError as error:
                failures.append(Failure(search.way, error.message))
                continue
            for hit in hits:
                found.setdefault((hit.kept.ref, hit.kept.unit.id), []).append(hit)
        memories = self._ranked(list(found.values()), asked)
        if asked.reinforce:
            await self._touch(memories)
        return Answered(memories, failures)

    async def _embed(
        self, cue: str, searches: Sequence[Search]
    ) -> tuple[Floats | None, str | None]:
        if self._embedder is None or not any(by_meaning(s, cue) for s in searches):
            return None, None
        try:
            return await self._embedder.embed_query(cue), None
        except RemembrancerError as error:
            return None, error.message

    async def _hits(
        self,
        caller: Caller,
        cue: str,
        search: Search,
        vector: Floats | None,
        asked: Asked,
        failures: list[Failure],
    ) -> list[Hit]:
        limit = min(asked.top_k if search.top_k is None else search.top_k, MOST)
        if search.way is Way.CAUSAL:
            return await self._causal(caller, cue, search, vector, asked, limit, failures)
        chosen = await self._chosen(caller, search, vector)

        async def of(ref: BankRef, than: Sequence[Hit]) -> list[Hit]:
            if search.way is Way.TEMPORAL:
                recent = partial(newest, ref=ref, search=search, limit=limit, asked=asked)
                return best([*than, *await self._store.read(ref, recent)], limit)
            if vector is None:
                return []
            found = best([*than, *await self._similar(ref, vector, search, limit, asked)], limit)
            new = any(hit.kept.ref == ref for hit in found)
            return found if new and await self._worth(ref, cue, search) else list(than)

        hits, number = await asked_in_turn(chosen, of, limit)
        if number < chosen.total:
            failures.append(Failure(search.way, chosen.told(number)))
        return placed(hits) if search.way is Way.TEMPORAL else hits

    async def _chosen(self, caller: Caller, search: Search, vector: Floats | None) -> Chosen:
        """Return the banks to ask, in order."""
        if search.bank is not None:
            return Chosen([search.bank], 1)
        if vector is None or search.way is Way.TEMPORAL:
            return await self._likely.newest(caller)
        chosen = await self._likely.nearest(caller, vector)
        if search.way is not Way.ANALOGICAL:
            return chosen
        most = [search.alpha * cosine + 1 - search.alpha for cosine in chosen.bounds]
        return replace(chosen, bounds=most)

    async def _worth(self, ref: BankRef, cue: str, search: Search) -> bool:
        likeness = search.way is Way.SIMILARITY and any(map(str.isalnum, cue))
        return self._knows is None or not likeness or await self._knows(ref, cue)

    async def _similar(
        self, ref: BankRef, vector: Floats, search: Search, limit: int, asked: Asked
    ) -> list[Hit]:
        def work(reader: Reader, state: IndexState) -> list[Hit]:
            if reader.generation != self._generation:
                raise ModelUnavailable(MOVED)
            return alike(reader, state, ref, vector, search, limit, asked)

        return await read_indexed(self._store, self._indexes, ref, work)

    async def _causal(
        self,
        caller: Caller,
        cue: str,
        search: Search,
        vector: Floats | None,
        asked: Asked,
        limit: int,
        failures: list[Failure],
    ) -> list[Hit]:
        seed = search.seed or named(cue)
        if seed is not None:
            places = await reached(self._store, caller, [seed])
            ref = places.get(seed)
            if ref is None or (search.bank is not None and ref != search.bank):
                raise NotFound(f"there is no memory {seed.hex()} to begin with")
        else:
            nearest = replace(search, way=Way.SIMILARITY, since=None, until=None)

            async def of(ref: BankRef, than: Sequence[Hit]) -> list[Hit]:
                if vector is None:
                    return []
                return best([*than, *await self._similar(ref, vector, nearest, 1, asked)], 1)

            chosen = await self._chosen(caller, nearest, vector)
            hits, number = await asked_in_turn(chosen, of, 1)
            if not hits:
                raise NotFound("there is no memory to begin with")
            if number < chosen.total:
                failures.append(Failure(search.way, chosen.told(number)))
            ref, seed = hits[0].kept.ref, hits[0].kept.unit.id
        begin = seed
        return await self._store.read(
            ref, lambda reader: linked(reader, ref, begin, search, limit, asked)
        )

    def _ranked(self, found: Sequence[Sequence[Hit]], asked: Asked) -> list[Reached]:
        now = self._clock.now_us()
        memories = []
        for hits in found:
            kept = hits[0].kept
            relevance = max(hit.detail.relevance for hit in hits)
            score = composite(
                asked.weights,
                relevance=relevance,
                age_us=now - kept.unit.mentioned_at,
                importance=kept.unit.importance,
                access_count=kept.unit.access_count,
            )
            details = tuple(hit.detail for hit in hits)
            memories.append(Reached(kept, score, relevance, details))
        memories.sort(key=lambda m: (-m.score, -m.kept.unit.mentioned_at, m.kept.unit.id))
        told: dict[tuple[BankRef, str], Reached] = {}
        for memory in memories:  # of those with one text the best
            told.setdefault((memory.kept.ref, memory.kept.unit.text), memory)
        return list(told.values())[: min(asked.top_k, MOST)]

    async def _touch(self, memories: Sequence[Reached]) -> None:
        now = self._clock.now_us()
        used: dict[BankRef, list[bytes]] = {}
        for memory in memories:
            used.setdefault(memory.kept.ref, []).append(memory.kept.unit.id)
        for ref, ids in used.items():
            await self._store.touch(ref, ids, now)
