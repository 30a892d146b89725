"""reprocess: read a document again, in the background.

Every source is read anew from its words: the dates in it, its keywords, its facts, whom it
mentions. What is found again keeps its id, so nothing that points to it is lost; what people
corrected or took out stays so, and what was forgotten stays forgotten.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..keeping.batch import Batch, EntityMention, VectorPatch
from ..keeping.intentions import IntentionBatch
from ..keeping.store import Store
from ..keeping.view import Reader
from ..keeping.worker import JobContext
from ..nouns.clock import Clock
from ..nouns.errors import Conflict
from ..nouns.ids import IdMaker
from ..nouns.memory import BankRef, Curation, Document, Entity, Job, JobState, Unit, UnitRow
from ..reading.names import KnownNames, prepare
from ..reading.slots import Table
from .browse import named
from .retaining.claims import Contexts
from .retaining.delta import GIVEN
from .retaining.facts import FactReader, ReadFacts
from .retaining.grounded import by_model
from .retaining.intending import Intending
from .retaining.reread import NAMED, reread
from .retaining.resolver import Resolver, Told
from .retaining.rewriting import Rewriter, dated, is_undated, reworded, told_with
from .retaining.units import Source

REPROCESS = "reprocess"
"""The kind of its jobs."""

BATCH = 64  # sources read a transaction
_TRIES = 100
_PAUSE_S = 0.02  # between tries, when others write to the bank
_KNOWN_NAMES = 100  # names of the bank, most mentioned first, that reading looks out for


_Seen = dict[bytes, tuple[Unit, ReadFacts]]  # by source: as it was read, and what it said


@dataclass(frozen=True, slots=True)
class _Page:
    """Some sources of a document as one snapshot has them."""

    revision: int
    generation: int
    document: Document
    rows: tuple[UnitRow, ...]
    facts: tuple[Unit, ...]
    curations: Mapping[bytes, Curation]
    near: Mapping[bytes, Unit]


class Reprocess:
    """Enqueues and, as the jobs' handler, does it; everything it needs is passed in."""

    def __init__(
        self,
        store: Store,
        rewriter: Rewriter,
        facts: FactReader,
        resolver: Resolver,
        *,
        ids: IdMaker,
        clock: Clock,
        generation: int,
        intend: Intending | None = None,
    ) -> None:
        self._store = store
        self._intend = intend  # what a text says is to be done later
        self._rewriter = rewriter
        self._facts = facts
        self._resolver = resolver
        self._ids = ids
        self._clock = clock
        self._generation = generation  # whose vectors are kept

    async def enqueue(self, ref: BankRef, name: str) -> Job:
        """Have a document read again; durable when it returns.

        Raises:
            NotFound: there is no document of that name.
        """
        document = await self._store.read(ref, partial(named, name=name))
        now = self._clock.now_us()
        job = Job(
            self._ids.new(),
            ref,
            REPROCESS,
            JobState.PENDING,
            now,
            now,
            payload={"document": document.name},
            document=document.name,
            items=1,
        )
        await self._store.apply(ref, Batch(jobs=[job]))
        return job

    async def run(self, job: Job, context: JobContext) -> Mapping[str, Any]:
        """Do a job; running it again comes to the same.

        Raises:
            NotFound: the document is gone.
            Conflict: the lease was lost, or the bank is written to all the time.
        """
        name = str(job.payload["document"])
        sources, known = await self._start(job.ref, name)
        facts = unread = 0
        for start in range(0, len(sources), BATCH):
            ids = [unit.id for unit in sources[start : start + BATCH]]
            read, failed = await self._page(job.ref, name, ids, known, context)
            facts, unread = facts + read, unread + failed
            await context.progress("reading", min(start + BATCH, len(sources)), len(sources))
        return {
            "items": 1,
            "document_ids": [name],
            "unit_ids_count": len(sources) + facts,
            "facts_count": facts,
            "unread_count": unread,
        }

    async def _start(self, ref: BankRef, name: str) -> tuple[list[Unit], KnownNames]:
        async with self._store.snapshot(ref) as view:
            document = await view.run(partial(named, name=name))
            sources = await view.sources_of(document.id)
            names = [entity.name for entity in await view.entities(limit=_KNOWN_NAMES)]
        speakers = {unit.speaker for unit in sources if unit.speaker}
        return list(sources), prepare({*names, *speakers})

    async def _page(
        self,
        ref: BankRef,
        name: str,
        ids: Sequence[bytes],
        known: KnownNames,
        context: JobContext,
    ) -> tuple[int, int]:
        """Read some sources again; return how many facts they say, and how many failed."""
        seen: _Seen = {}
        for _ in range(_TRIES):
            page = await self._store.read(ref, partial(_page, name=name, ids=ids))
            batch, facts, unread = await self._batch(ref, page, known, seen)
            try:
                await self._store.apply(ref, replace(batch, fence=context.fence))
            except Conflict as error:
                if error.field == "fence":
                    raise
                await asyncio.sleep(_PAUSE_S)
            else:
                return facts, unread
        raise Conflict("the bank is written to all the time; try again", field="document")

    async def _batch(
        self, ref: BankRef, page: _Page, known: KnownNames, seen: _Seen
    ) -> tuple[Batch, int, int]:
        sources = [self._source(page, row) for row in page.rows]
        table = await self._facts.table(ref)
        read, failed = await asyncio.to_thread(self._read, sources, known, table, seen)
        told = Told(speakers=frozenset(u.speaker for u in page.near.values() if u.speaker))
        read.mentions, read.facts = await self._resolver.read(ref, read.mentions, read.facts, told)
        texts = {row.unit.id: row.unit.text for row in page.rows}
        old = [f for f in page.facts if f.source_id not in failed and not by_model(f)]
        named = {
            row.unit.id: row.unit.entities
            for row in page.rows
            if (curation := page.curations.get(row.unit.id)) and curation.data.get(NAMED)
        }
        again = reread(read, old, texts, page.curations, named)
        invalid = {i for i, curation in page.curations.items() if curation.invalid}
        known_facts = {fact.id for fact in old}
        batch = Batch(
            erase=again.gone,
            unlink=[fact.id for fact in old],
            units=[*(s.row for s in sources), *again.rows],
            vectors=self._vectors(page),
            curations=[
                Curation(row.unit.id, True, {"by": "source"})
                for row in again.rows
                if row.unit.source_id in invalid and row.unit.id not in known_facts
            ],
            mentions=[*again.mentions, *self._given(page)],
            links=again.links,
            future=await self._future(ref, [s for s in sources if s.row.unit.id not in invalid]),
            expect_revision=page.revision,
            generation=self._generation,
        )
        return batch, len(again.rows), len(failed)

    async def _future(self, ref: BankRef, sources: Sequence[Source]) -> IntentionBatch | None:
        """Return what reading again changes of what is to be done later."""
        if self._intend is None:
            return None
        return await self._intend.again(ref, [source.row.unit for source in sources])

    def _source(self, page: _Page, row: UnitRow) -> Source:
        """Return a source with its words and, unless people set it, when it happened."""
        undated = is_undated(page.document, row.unit)
        also = reworded(row.unit, filter(by_model, page.facts))
        source = self._rewriter.source(row.unit, page.near, undated=undated, also=also)
        if GIVEN in told_with(page.document, row.unit):
            source = replace(source, given=())  # its facts are the caller's, and stay
        if row.unit.id in page.curations:
            return source
        unit = dated(row.unit, source.dates)
        return replace(source, row=replace(source.row, unit=unit))

    def _read(
        self, sources: Sequence[Source], known: KnownNames, table: Table, seen: _Seen
    ) -> tuple[ReadFacts, set[bytes]]:
        """Read facts, and tell whose reading failed; what is as it was is not read twice."""
        whole = ReadFacts()
        failed: set[bytes] = set()
        contexts = Contexts()
        for source in sources:
            unit = source.row.unit
            before, read = seen.get(unit.id, (None, None))
            if read is None or before != unit:
                read = self._facts.read([source], known, table, contexts)
                seen[unit.id] = unit, read
            whole.facts += read.facts
            whole.mentions += read.mentions
            whole.links += read.links
            if read.unread:
                failed.add(unit.id)
        return whole, failed

    def _vectors(self, page: _Page) -> list[VectorPatch]:
        """Keep the vectors that there are: the texts are the same."""
        if page.generation != self._generation:
            return []
        return [
            VectorPatch(row.unit.id, row.vector, row.window_vector)
            for row in page.rows
            if row.vector is not None
        ]

    def _given(self, page: _Page) -> list[EntityMention]:
        """Keep the mentions of entities that people or the caller named."""
        return [
            EntityMention(Entity(self._ids.new(), name), [row.unit.id])
            for row in page.rows
            for name in row.unit.entities
        ]


def _page(reader: Reader, name: str, ids: Sequence[bytes]) -> _Page:
    document = named(reader, name)
    rows = [row for row in reader.rows(ids) if row.unit.document_id == document.id]
    units = [row.unit for row in rows]
    first = reader.units([u.previous_id for u in units if u.previous_id])
    second = reader.units([u.previous_id for u in first if u.previous_id])
    facts = reader.read_from([u.id for u in units])
    return _Page(
        reader.revision,
        reader.generation,
        document,
        tuple(rows),
        tuple(facts),
        reader.curations([u.id for u in (*units, *facts)]),
        {u.id: u for u in (*second, *first, *units)},
    )
