"""Adds to a document that is written what reading its sources gives: facts, names and vectors."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ...keeping.batch import Batch, Reading, VectorPatch, WindowPatch
from ...keeping.store import Store
from ...models.embedder import Embedder
from ...models.vectors import quantise
from ...nouns.errors import Conflict, RemembrancerError
from ...nouns.memory import BankRef, Job
from ...nouns.turns import let_others
from ...reading.names import KnownNames
from ..telling.outbox import Mail, Outbox
from ..telling.webhooks import RETAIN_COMPLETED, Webhook
from .deepen import Deepen
from .delta import readers_of
from .facts import FactReader, ReadFacts, count_known
from .intending import Intending
from .resolver import Resolver, Told
from .units import Source

BATCH = 128  # sources read and embedded a transaction
_AGAIN = 20  # times that a batch is tried again because its document has changed

Progress = Callable[[int, int], None]  # units done, units in all
Window = tuple[bytes, str]  # a unit's id and the text of its window

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Written:
    """A document whose sources are stored and wait to be read.

    Attributes:
        name: of the document.
        document_id: its id.
        content_hash: that it has.
        token: of this reading, see `keeping.batch.Reading`.
        sources: to read and embed; taken out as they are done, so that memory is freed.
        windows: of stored units, to embed.
        told: what was told of the names in it.
    """

    name: str
    document_id: bytes
    content_hash: str
    token: str
    sources: list[Source] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    told: Told = field(default_factory=Told)


@dataclass(slots=True)
class Enriched:
    """What was added so far."""

    unit_ids: list[bytes] = field(default_factory=list)  # of the facts
    duplicates: int = 0  # facts that say what was known
    unread: int = 0
    unembedded: int = 0
    revision: int = 0
    names: set[str] = field(default_factory=set)
    chunks: set[int] = field(default_factory=set)  # indexes of those that gave facts
    intention_ids: list[bytes] = field(default_factory=list)
    jobs: list[bytes] = field(default_factory=list)  # ids of those that read with a model


class Enricher:
    """Reads and embeds; everything it needs is passed in."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        facts: FactReader,
        resolver: Resolver,
        *,
        generation: int,
        outbox: Outbox | None = None,
        intend: Intending | None = None,
        deepen: Deepen | None = None,
    ) -> None:
        self._store = store
        self._intend = intend  # what a text says is to be done later
        self._deepen = deepen  # what a language model is to read, too
        self._outbox = outbox  # told in the transaction that completes a document
        self._resolver = resolver
        self._embedder = embedder
        self._facts = facts
        self._generation = generation  # whose vectors `embedder` makes
        self.embedder_failed = asyncio.Event()  # set when units were left for later

    async def __call__(
        self,
        ref: BankRef,
        written: Written,
        known: KnownNames,
        *,
        fence: tuple[bytes, int] | None = None,
        progress: Progress | None = None,
    ) -> Enriched:
        """Read and embed a document's sources, some at a time, each time in one transaction.

        Ends early when somebody else has put the document again: they read what is left.

        Raises:
            Conflict: the job of `fence` has lost its lease.
        """
        done = Enriched()
        try:
            await self._all(ref, written, known, done, fence, progress)
        except asyncio.CancelledError:  # by a deadline: what is left waits for the embedder
            self.embedder_failed.set()
            raise
        return done

    async def _all(
        self,
        ref: BankRef,
        written: Written,
        known: KnownNames,
        done: Enriched,
        fence: tuple[bytes, int] | None,
        progress: Progress | None,
    ) -> None:
        total = len(written.sources)
        while written.sources or written.windows:
            await let_others()
            sources, windows = written.sources[:BATCH], written.windows[:BATCH]
            del written.sources[:BATCH], written.windows[:BATCH]
            if not await self._some(ref, written, sources, windows, known, done, fence):
                break
            if progress is not None:
                progress(total - len(written.sources), total)

    async def mail(
        self,
        ref: BankRef,
        name: str,
        fence: tuple[bytes, int] | None,
        facts: int = 0,
        wanted: Sequence[Webhook] | None = None,
    ) -> Mail:
        """Return what tells webhooks that a document is retained, for the batch that completes it.

        Args:
            ref: the bank.
            name: of the document.
            fence: of the job on whose behalf, if any.
            facts: how many were read.
            wanted: the webhooks that want to know, when that is known.
        """
        if self._outbox is None:
            return Mail()
        told = {"document_id": name, "facts_count": facts}
        operation = fence[0] if fence is not None else None
        return await self._outbox(
            ref, RETAIN_COMPLETED, told, operation=operation, about=name, wanted=wanted
        )

    def _deeper(self, ref: BankRef, sources: Sequence[Source]) -> list[Job]:
        return [] if self._deepen is None else self._deepen.jobs(ref, sources)

    async def _wanted(self, ref: BankRef, last: bool) -> list[Webhook]:
        """Look up who wants to know, while the last sources of a document are read."""
        if self._outbox is None or not last:
            return []
        return await self._outbox.wanted(ref, RETAIN_COMPLETED)

    async def _some(
        self,
        ref: BankRef,
        written: Written,
        sources: Sequence[Source],
        windows: Sequence[Window],
        known: KnownNames,
        done: Enriched,
        fence: tuple[bytes, int] | None,
    ) -> bool:
        """Do some sources; False when the document is somebody else's by now."""
        if self._intend is not None:
            units = [source.row.unit for source in sources]
            done.intention_ids += await self._intend(ref, units)
        table = await self._facts.table(ref)
        for _ in range(_AGAIN):
            last = not (written.sources or written.windows)
            read, vectors, wanted = await asyncio.gather(
                asyncio.to_thread(self._facts.read, sources, known, table),
                self._embed(sources, windows),
                self._wanted(ref, last),
            )
            read.mentions, read.facts = await self._resolver.read(
                ref, read.mentions, read.facts, written.told
            )
            duplicates = await count_known(self._store, ref, read.facts)
            facts = len(done.unit_ids) + len(read.facts)
            mail = await self.mail(ref, written.name, fence, facts, wanted) if last else Mail()
            deeper = self._deeper(ref, sources)
            batch = Batch(
                units=read.facts,
                vectors=vectors[0] if vectors else (),
                windows=vectors[1] if vectors else (),
                mentions=read.mentions,
                links=read.links,
                jobs=[*mail.jobs, *deeper],
                records=mail.records,
                generation=self._generation,
                fence=fence,
                reading=Reading(written.document_id, written.token, written.content_hash, last),
            )
            try:
                applied = await self._store.apply(ref, batch)
            except Conflict as conflict:
                if conflict.field != "reading":
                    raise
                left = await self._left(ref, written, sources)
                if left is None:
                    return False
                sources, windows = left, ()
                continue
            _count(done, read, duplicates, applied.revision)
            done.unembedded += len(sources) if vectors is None else 0
            done.jobs += [job.id for job in deeper]
            return True
        raise Conflict(
            f"document {written.name!r} is being changed too often to read it", field="reading"
        )

    async def _left(
        self, ref: BankRef, written: Written, sources: Sequence[Source]
    ) -> list[Source] | None:
        """Return what is left to read of a document that lost units; None when it is not ours.

        What was said before a source is left out where it may be what went.
        """
        async with self._store.snapshot(ref) as view:
            document = await view.document(written.name)
            units = {u.id: u for u in await view.units([s.row.unit.id for s in sources])}
        if (
            document is None
            or document.id != written.document_id
            or written.token not in readers_of(document)
        ):
            return None
        written.content_hash = document.content_hash
        left: list[Source] = []
        for source in sources:
            unit = units.get(source.row.unit.id)
            if unit is None:
                continue
            same = source.follows and unit.previous_id == source.row.unit.previous_id
            row = replace(source.row, unit=unit)
            before = source.before if same else ""
            left.append(replace(source, row=row, before=before, follows=same))
        written.windows.clear()  # their texts may hold what went; their own vectors do
        return left

    async def _embed(
        self, sources: Sequence[Source], windows: Sequence[Window]
    ) -> tuple[list[VectorPatch], list[WindowPatch]] | None:
        """Embed sources and windows; None when the embedder fails, and the sources wait for it."""
        if self._embedder is None:
            return [], []
        try:
            return await embed_sources(self._embedder, sources, windows)
        except RemembrancerError:
            log.warning("embedding failed; the units stay findable by words", exc_info=True)
            self.embedder_failed.set()
            return None


async def embed_sources(
    embedder: Embedder, sources: Sequence[Source], windows: Sequence[Window] = ()
) -> tuple[list[VectorPatch], list[WindowPatch]]:
    """Embed sources, each alone and, where it has one, in its window; and further windows."""
    texts = [source.embed_text for source in sources]
    near = [text for source in sources if (text := source.window_text) is not None]
    vectors = quantise(await embedder.embed([*texts, *near, *(text for _, text in windows)]))
    window = iter(vectors[len(texts) :])
    patches = [
        VectorPatch(source.row.unit.id, vector, next(window) if source.follows else None)
        for source, vector in zip(sources, vectors, strict=False)
    ]
    return patches, [WindowPatch(unit_id, next(window)) for unit_id, _ in windows]


def _count(done: Enriched, read: ReadFacts, duplicates: int, revision: int) -> None:
    done.duplicates += duplicates
    done.unread += read.unread
    done.revision = revision
    done.names.update(mention.entity.name for mention in read.mentions)
    done.unit_ids += [row.unit.id for row in read.facts]
    done.chunks.update(row.unit.chunk_index for row in read.facts)
