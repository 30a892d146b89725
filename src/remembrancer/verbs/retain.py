"""retain: keep what was said, so that it can be found.

Each document goes in two steps. First the text itself: document, chunks and source units with
their words, in one durable transaction that takes the place of an older version and keeps what
still says the same; from then on it is findable and cannot be lost. Then what reading adds: facts,
mentions and vectors, a batch at a time. A crash between the two leaves units without vectors, which
`embed_pending` picks up, and a note at the document, so that retaining it again reads the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from ..keeping.batch import Applied, Batch
from ..keeping.store import Store
from ..models.embedder import Embedder
from ..nouns.clock import Clock
from ..nouns.errors import Conflict, InvalidInput, TooLarge
from ..nouns.ids import IdMaker
from ..nouns.memory import BankRef
from ..nouns.spans import traced
from ..nouns.text import clean
from ..nouns.turns import alone
from ..reading.names import KnownNames, prepare
from ..reading.naming import NameFinder
from .modelling.scopes import check as check_scopes
from .retaining.claims import Tables
from .retaining.deepen import Deepen
from .retaining.delta import extent_of
from .retaining.document_plan import DocumentPlan, DocumentPlanner
from .retaining.enrich import Enriched, Enricher
from .retaining.facts import KNOWN_NAMES, FactReader
from .retaining.given import RefusedFact
from .retaining.given import checked as checked_facts
from .retaining.given_notes import given_in
from .retaining.guarding import OPEN, Guard
from .retaining.intending import Intending
from .retaining.resolver import Resolver
from .retaining.units import Drafter, Item
from .telling.outbox import Mail, Outbox

Progress = Callable[[int, int], None]  # units done, units in all

ATTEMPTS = 3  # to put a document that others put at the same time
_RELINKS = 20  # times that it is tried because one of its intentions has changed


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one retain takes."""

    items: int
    content_bytes: int


@dataclass(slots=True)
class Retained:
    """What a retain did.

    `unit_ids` are those of new memories. `characters` are the letters and digits of the contents,
    `covered` those that stand in a memory.
    """

    items: int = 0
    documents: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)  # documents that stood there already
    unit_ids: list[bytes] = field(default_factory=list)
    sources: int = 0
    facts: int = 0
    duplicates: int = 0  # of the facts: those that say what was known
    unread: int = 0  # sources whose reading failed: kept and findable, without facts
    unembedded: int = 0  # sources that wait for the embedder
    chunks: int = 0  # of the documents
    chunks_read: int = 0  # in which something was new
    chunks_kept: int = 0  # in which nothing was
    empty_chunks: list[tuple[str, int]] = field(default_factory=list)  # read, and without facts
    characters: int = 0
    covered: int = 0
    revision: int = 0
    names: set[str] = field(default_factory=set)  # of the entities mentioned
    intention_ids: list[bytes] = field(default_factory=list)  # registered anew
    given: int | None = None  # facts that callers handed in; None: no item had any
    refused: list[RefusedFact] = field(default_factory=list)  # those of them that were not taken
    reading_jobs: list[bytes] = field(default_factory=list)  # that read with a language model yet

    @property
    def entities(self) -> int:
        """Number of entities mentioned."""
        return len(self.names)

    @property
    def coverage(self) -> float:
        """Share of the contents' letters and digits that stand in a memory, 0 to 1."""
        return self.covered / self.characters if self.characters else 1.0


class Retain:
    """The verb; everything it needs is passed in."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        drafter: Drafter,
        *,
        ids: IdMaker,
        clock: Clock,
        limits: Limits,
        generation: int,
        on_done: Callable[[Retained], None] | None = None,
        outbox: Outbox | None = None,
        intend: Intending | None = None,
        tables: Tables | None = None,
        deepen: Deepen | None = None,
        guard: Guard = OPEN,
        names: NameFinder | None = None,
    ) -> None:
        self._store = store
        self._guard = guard
        self._ids = ids
        self._limits = limits
        self._intend = intend  # what a text says is to be done later
        self._on_done = on_done  # told of each retain, for figures
        resolver = Resolver(store)
        self._planner = DocumentPlanner(store, drafter, resolver, ids=ids, clock=clock)
        self._enrich = Enricher(
            store,
            embedder,
            FactReader(ids, tables, names),
            resolver,
            generation=generation,
            outbox=outbox,
            intend=intend,
            deepen=deepen,
        )
        self._locks: WeakValueDictionary[tuple[BankRef, str], asyncio.Lock] = WeakValueDictionary()

    @property
    def embedder_failed(self) -> asyncio.Event:
        """Set when units were left for later."""
        return self._enrich.embedder_failed

    @traced("retain")
    async def __call__(
        self,
        ref: BankRef,
        items: Sequence[Item],
        progress: Progress | None = None,
        *,
        fence: tuple[bytes, int] | None = None,
    ) -> Retained:
        """Retain items; those that name the same document become one.

        Items without a document name share a new one. A document that is already there with the
        same content is left alone. With other content it is replaced, and what still says the same
        is kept: only the rest is read. Items with `append` are put after its end instead.

        `fence` is the job and its fence on whose behalf this runs: every write is refused with
        `Conflict` once its lease is lost, and what the job has appended is not appended again.

        Raises:
            InvalidInput, TooLarge: names the item, the field and the limit; nothing was stored.
            Conflict: others kept changing a document that was to be appended to.
        """
        items = await asyncio.to_thread(self.check, items)
        documents: dict[str, list[Item]] = {}
        numbers: dict[str, list[int]] = {}
        unnamed = self._ids.new().hex()
        for number, item in enumerate(items):
            documents.setdefault(item.document or unnamed, []).append(item)
            numbers.setdefault(item.document or unnamed, []).append(number)
        done = Retained(items=len(items))
        for name, members in documents.items():
            begun = len(done.refused)
            await self._retain_document(ref, name, members, done, progress, fence)
            for at, each in enumerate(done.refused[begun:], begun):
                done.refused[at] = replace(each, item=numbers[name][each.item])
        if self._on_done is not None:
            self._on_done(done)
        return done

    def check(self, items: Sequence[Item]) -> list[Item]:
        """Return the items cleaned, or refuse them all."""
        if not items:
            raise InvalidInput("items must hold at least one item", field="items", limit=1)
        if len(items) > self._limits.items:
            raise TooLarge(
                f"items holds {len(items)} items; the limit is {self._limits.items} a request: "
                "send them in several",
                field="items",
                limit=self._limits.items,
            )
        checked = [self._check_item(i, item) for i, item in enumerate(items)]
        modes: dict[str, bool] = {}
        for number, item in enumerate(checked):
            if item.document and modes.setdefault(item.document, item.append) != item.append:
                where = f"items[{number}].update_mode"
                raise InvalidInput(
                    f"{where} differs from that of another item of document {item.document!r}: "
                    "give them all the same",
                    field=where,
                )
        return checked

    def _check_item(self, number: int, item: Item) -> Item:
        where = f"items[{number}].content"
        size = len(item.content.encode("utf-8", "replace"))
        if size > self._limits.content_bytes:
            raise TooLarge(
                f"{where} has {size} bytes; the limit is {self._limits.content_bytes}: "
                "split it into several items",
                field=where,
                limit=self._limits.content_bytes,
            )
        content = clean(item.content)
        if not content.strip():
            raise InvalidInput(
                f"{where} is empty: give some text to remember", field=where, limit=1
            )
        document = clean(item.document) if item.document else None
        if item.append and not document:
            where = f"items[{number}].document_id"
            raise InvalidInput(
                f"{where} is needed to append: name the document that the content is added to",
                field=where,
            )
        cleaned = replace(
            item,
            content=content,
            note=clean(item.note) if item.note else None,
            document=document,
            tags=tuple(dict.fromkeys(clean(t) for t in item.tags if clean(t).strip())),
            entities=tuple(dict.fromkeys(clean(e) for e in item.entities if clean(e).strip())),
            metadata={clean(k): clean(v) for k, v in item.metadata.items()}
            if item.metadata
            else None,
            facts=None
            if item.facts is None
            else checked_facts(item.facts, f"items[{number}].facts"),
        )
        check_scopes(
            cleaned.tags, cleaned.observation_scopes, f"items[{number}].observation_scopes"
        )
        return self._guard.item(cleaned, f"items[{number}]")

    async def _retain_document(
        self,
        ref: BankRef,
        name: str,
        items: list[Item],
        done: Retained,
        progress: Progress | None,
        fence: tuple[bytes, int] | None,
    ) -> None:
        done.documents.append(name)
        # One document is put by one task at a time; other processes are told apart by its hash.
        lock = self._locks.setdefault((ref, name), asyncio.Lock())
        async with alone(lock):
            plan, revision = await self._put(ref, name, items, fence)
            done.revision = max(done.revision, revision)
            if plan is None:
                done.unchanged.append(name)
                await self._count_unchanged(ref, name, items, done)
                return
            _count_plan(done, plan)
            enriched = Enriched()
            if plan.written is not None:
                known = await self._known_names(ref, plan)
                enriched = await self._enrich(
                    ref, plan.written, known, fence=fence, progress=progress
                )
            _count_enriched(done, name, plan, enriched)

    async def _put(
        self, ref: BankRef, name: str, items: Sequence[Item], fence: tuple[bytes, int] | None
    ) -> tuple[DocumentPlan | None, int]:
        """Write a document's text; return what else is to be done (None: nothing differs).

        When somebody else has put it meanwhile, it is tried again; at last a document is replaced
        whatever it has become by then, but never appended to.
        """
        append = items[0].append
        for attempt in range(ATTEMPTS + 1):
            if append:
                job = fence[0].hex() if fence is not None else None
                plan = await self._planner.append(ref, name, items, job=job)
            else:
                whole = attempt == ATTEMPTS
                plan = await self._planner.replace(ref, name, items, whole=whole)
            if plan is None:
                break
            # With nothing left to read, this transaction completes the document.
            mail = Mail() if plan.written else await self._enrich.mail(ref, name, fence)
            batch = replace(
                plan.batch,
                jobs=[*plan.batch.jobs, *mail.jobs],
                records=[*plan.batch.records, *mail.records],
                fence=fence,
            )
            try:
                applied = await self._written(ref, plan, batch)
            except Conflict as conflict:
                if conflict.field != "expect_hash":
                    raise
                if append and attempt == ATTEMPTS - 1:
                    raise _changed_meanwhile(name) from None
                continue
            return plan, applied.revision
        mail = await self._enrich.mail(ref, name, fence)
        if mail.jobs:
            batch = Batch(jobs=mail.jobs, records=mail.records, fence=fence)
            return None, (await self._store.apply(ref, batch)).revision
        async with self._store.snapshot(ref) as view:
            return None, view.revision

    async def _written(self, ref: BankRef, plan: DocumentPlan, batch: Batch) -> Applied:
        """Write a document; what it still says is to be done later goes on as it stands."""
        fresh = [row.unit for row in batch.units]
        for attempt in range(_RELINKS):
            if self._intend is not None:
                future = await self._intend.moved(ref, plan.gone, fresh)
                batch = replace(batch, future=future)
            try:
                return await self._store.apply(ref, batch)
            except Conflict as conflict:  # one of them has fired, or was changed
                if conflict.field != "version" or attempt == _RELINKS - 1:
                    raise
        raise AssertionError("unreachable")

    async def _known_names(self, ref: BankRef, plan: DocumentPlan) -> KnownNames:
        """Return the names that reading looks out for."""
        async with self._store.snapshot(ref) as view:
            entities = await view.entities(limit=KNOWN_NAMES)
        names = {name for entity in entities for name in (entity.name, *entity.aliases)}
        sources = plan.written.sources if plan.written is not None else ()
        return prepare(names | {s.row.unit.speaker for s in sources if s.row.unit.speaker})

    async def _count_unchanged(
        self, ref: BankRef, name: str, items: Sequence[Item], done: Retained
    ) -> None:
        async with self._store.snapshot(ref) as view:
            document = await view.document(name)
        if document is None:
            return
        extent = extent_of(document)
        chunks = extent.chunks if extent is not None else 0
        done.chunks += chunks
        done.chunks_kept += chunks
        params = document.params or {}
        done.characters += params.get("characters", 0)
        done.covered += params.get("covered", 0)
        if any(item.facts is not None for item in items) and not items[0].append:
            given, refused = given_in(document, len(items))
            _count_given(done, given, refused)


def _changed_meanwhile(name: str) -> Conflict:
    return Conflict(
        f"document {name!r} was changed by others {ATTEMPTS} times while this was to be appended; "
        "nothing was appended, try again",
        field="document_id",
    )


def _count_plan(done: Retained, plan: DocumentPlan) -> None:
    written = plan.written
    done.sources += len(written.sources) if written is not None else 0
    done.unit_ids += plan.new
    done.chunks += plan.chunks
    done.chunks_read += len(plan.read)
    done.chunks_kept += plan.chunks - len(plan.read)
    done.characters += plan.characters
    done.covered += plan.covered
    if plan.given is not None:
        _count_given(done, plan.given, plan.refused)


def _count_given(done: Retained, given: int, refused: Sequence[RefusedFact]) -> None:
    done.given = (done.given or 0) + given
    done.refused += refused


def _count_enriched(done: Retained, name: str, plan: DocumentPlan, enriched: Enriched) -> None:
    done.revision = max(done.revision, enriched.revision)
    done.facts += len(enriched.unit_ids)
    done.duplicates += enriched.duplicates
    done.names |= enriched.names
    done.unread += enriched.unread
    done.unembedded += enriched.unembedded
    done.unit_ids += enriched.unit_ids
    done.intention_ids += enriched.intention_ids
    done.reading_jobs += enriched.jobs
    done.empty_chunks += ((name, i) for i in sorted(plan.read - plan.telling - enriched.chunks))
