"""Which intentions what is talked about brings up: by vector, and by words where there is none."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

from ...finding.cues import EXACT, THRESHOLD, Cues, Matched
from ...finding.terms import Analyzer
from ...keeping.intentions import Cue
from ...keeping.store import Store
from ...keeping.view import Reader
from ...models.embedder import Embedder, Floats
from ...nouns.errors import ModelUnavailable
from ...nouns.intention import Intention, IntentionState, TriggerType
from ...nouns.memory import BankRef
from ..check import Contexts
from .occurrences import withheld
from .plan import Hit

CACHE_BYTES = 512 * 1024 * 1024
"""Cues held in memory, of all banks; the least recently used bank goes first."""
_PAGE = 10_000


class ContextIndex:
    """Finds context triggers of a bank; everything it needs is passed in.

    A text is embedded like the cues. A cue without a vector, or a text that cannot be embedded now,
    is compared by words: the share of the cue's words, stemmed and without stop words, that stand
    in the text.

    A bank's cues are loaded outside of snapshots, since that takes a while; from then on each look
    takes in what has changed up to its own snapshot.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        analyzer: Analyzer,
        *,
        cache_bytes: int = CACHE_BYTES,
        generation: int | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._analyzer = analyzer
        self._cache_bytes = cache_bytes
        self._generation = generation  # whose vectors `embedder` makes; None: of all
        self._cues: OrderedDict[BankRef, Cues] = OrderedDict()
        self._stale: dict[BankRef, set[bytes]] = {}  # cues of another model: compared by words
        self._loading = asyncio.Lock()
        self._lock = threading.Lock()  # looks come from the threads of snapshots

    async def prepare(
        self, ref: BankRef, text: str | None, vector: Floats | None
    ) -> tuple[Floats | None, Sequence[str]]:
        """Load the bank's cues, and embed a text where there is something to compare it with.

        Returns the vector to look for, and warnings.
        """
        if text is None and vector is None:
            return None, ()
        warnings: list[str] = []
        if ref not in self._cues:
            await self._load(ref)
        wanted = vector is None and text is not None and self._embedder is not None
        if wanted and await self._store.read(ref, self._any(ref)):
            vector = await self._embed(text or "", warnings)
        return vector, warnings

    def look(
        self,
        reader: Reader,
        ref: BankRef,
        text: str | None,
        vector: Floats | None,
        ceiling: float | None,
        now: int,
        unindexed: Sequence[Intention],
    ) -> Contexts:
        """Return what matches at or above its threshold, and what has ended."""
        if text is None and vector is None:
            return Contexts()
        warnings: list[str] = []
        hits: list[Hit] = []
        ended: list[Intention] = []
        ahead = False
        if vector is not None:
            with self._lock:
                cues = self._index(reader, ref)
                matched = cues.match(vector)
                ahead = cues.place > reader.revision
            hits = self._hits(reader, matched, ceiling, now)
            over = reader.intentions_by_id(matched.ended) if matched.ended else []
            ended = [i for i in over if not i.armed and not withheld(i, ceiling)]
            if matched.mismatched:
                warnings.append(
                    f"{matched.mismatched} cues have another dimension than the {len(vector)} of "
                    "the context; they cannot fire until they are embedded anew"
                )
        if text is not None:
            every = vector is None
            hits += self._by_words(reader, ref, text, ceiling, now, unindexed, every=every)
        return Contexts(hits, ended, warnings, ahead)

    async def embed(self, text: str) -> Floats | None:
        """Embed a context; None when that cannot be done now."""
        return await self._embed(text, [])

    def overlap(self, cue: str, text: str) -> float:
        """Return the share of a cue's words that stand in a text, 0 to 1."""
        wanted = set(self._analyzer.terms(cue))
        if not wanted:
            return 0.0
        return len(wanted & set(self._analyzer.terms(text))) / len(wanted)

    async def _embed(self, text: str, warnings: list[str]) -> Floats | None:
        if self._embedder is None:
            return None
        try:
            vectors: Floats = await self._embedder.embed([text])
        except ModelUnavailable as error:
            warnings.append(f"compared by words alone: {error.message}")
            return None
        first: Floats = vectors[0]
        return first

    async def _load(self, ref: BankRef) -> None:
        """Read a bank's cues, a page at a time, unless they are held by now."""
        async with self._loading:
            if ref in self._cues:
                return
            cues = Cues()
            while page := await self._store.cues(ref, cues.place, _PAGE):
                with self._lock:
                    usable = [self._usable(ref, cue) for cue in page]
                if len(page) <= EXACT:  # not worth a thread
                    cues.take(usable)
                else:
                    await asyncio.to_thread(cues.take, usable)
            with self._lock:
                self._cues.setdefault(ref, cues)

    def _index(self, reader: Reader, ref: BankRef) -> Cues:
        """Return the cues of a bank, not older than the snapshot. The caller holds the lock."""
        cues = self._held(ref)
        while cues.place < reader.revision and (page := reader.cues(cues.place, _PAGE)):
            cues.take([self._usable(ref, cue) for cue in page])
        cues.place = max(cues.place, reader.revision)
        held = sum(each.nbytes for each in self._cues.values())
        while len(self._cues) > 1 and held > self._cache_bytes:
            oldest, dropped = self._cues.popitem(last=False)
            self._stale.pop(oldest, None)
            held -= dropped.nbytes
        return cues

    def _held(self, ref: BankRef) -> Cues:
        cues = self._cues.setdefault(ref, Cues())
        self._cues.move_to_end(ref)
        return cues

    def _usable(self, ref: BankRef, cue: Cue) -> Cue:
        """Pass over a cue of another model: its numbers mean something else."""
        stale = self._stale.setdefault(ref, set())
        if self._generation is None or cue.generation in (0, self._generation) or not cue.active:
            stale.discard(cue.intention_id)
            return cue
        stale.add(cue.intention_id)
        return cue._replace(active=False)

    def _any(self, ref: BankRef) -> Callable[[Reader], bool]:
        """Return work that tells whether the bank has a cue to compare a vector with."""

        def work(reader: Reader) -> bool:
            with self._lock:
                return len(self._index(reader, ref)) > 0

        return work

    def _hits(self, reader: Reader, matched: Matched, ceiling: float | None, now: int) -> list[Hit]:
        similarity = {m.intention_id: m.similarity for m in matched.matches}
        found = reader.intentions_by_id(list(similarity)) if similarity else []
        return [
            _hit(i, similarity[i.id], now)
            for i in found
            if i.state is IntentionState.ACTIVE
            and i.trigger_type is TriggerType.CONTEXT
            and i.armed
            and not withheld(i, ceiling)
        ]

    def _by_words(
        self,
        reader: Reader,
        ref: BankRef,
        text: str,
        ceiling: float | None,
        now: int,
        unindexed: Sequence[Intention],
        *,
        every: bool,
    ) -> list[Hit]:
        """Compare by words the cues that have no vector, or all when the text has none."""
        with self._lock:
            more = sorted(self._stale.get(ref, ()))[:_PAGE]
            if every:
                more += self._index(reader, ref).ids(_PAGE)
        found = [*unindexed]
        if more:
            found += (
                i
                for i in reader.intentions_by_id(more)
                if i.state is IntentionState.ACTIVE and not withheld(i, ceiling)
            )
        shares = ((i, self.overlap(i.cue_text or "", text)) for i in _armed(found))
        return [_hit(i, share, now) for i, share in shares if share >= _floor(i)]


def _armed(found: Sequence[Intention]) -> list[Intention]:
    return [i for i in found if i.trigger_type is TriggerType.CONTEXT and i.armed and i.cue_text]


def _floor(intention: Intention) -> float:
    """Return the least share of words; a threshold of 0 or less would let everything through."""
    floor = intention.similarity_threshold
    return THRESHOLD if floor is None else max(floor, 0.01)


def _hit(intention: Intention, similarity: float, now: int) -> Hit:
    data = {"similarity": round(similarity, 6)}
    return Hit(intention, None, now, data, disarm=intention.recurring)
