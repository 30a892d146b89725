"""retain: keep what was said, so that it can be found.

Each document goes in two steps. First the text itself: document, chunks and source units with
their words, in one durable transaction that replaces an older version whole; from then on it is
findable and cannot be lost. Then what reading adds: facts, mentions and vectors, a batch at a time.
A crash between the two leaves units without vectors, which `embed_pending` picks up.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ..keeping.batch import Batch, DocumentWrite, EntityMention, VectorPatch
from ..keeping.store import Store
from ..models.embedder import Embedder
from ..models.vectors import quantise
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, RemembrancerError, TooLarge
from ..nouns.ids import IdMaker
from ..nouns.memory import BankRef, Entity, Layer, Unit, UnitRow
from ..nouns.text import clean
from ..reading.facts import read_statements
from ..reading.names import KnownNames, find_names, prepare
from .units import Draft, Drafter, Item, Source, content_hash

BATCH = 128  # sources read and embedded a transaction
_KNOWN_NAMES = 100  # names of the bank, most mentioned first, that reading looks out for

Progress = Callable[[int, int], None]  # units done, units in all

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one retain takes."""

    items: int
    content_bytes: int


@dataclass(slots=True)
class Retained:
    """What a retain did."""

    items: int = 0
    documents: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)  # documents that stood there already
    unit_ids: list[bytes] = field(default_factory=list)
    sources: int = 0
    facts: int = 0
    unread: int = 0  # sources whose reading failed: kept and findable, without facts
    unembedded: int = 0  # sources that wait for the embedder
    revision: int = 0
    names: set[str] = field(default_factory=set)  # of the entities mentioned

    @property
    def entities(self) -> int:
        """Number of entities mentioned."""
        return len(self.names)


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
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._drafter = drafter
        self._ids = ids
        self._clock = clock
        self._limits = limits
        self._generation = generation  # whose vectors `embedder` makes
        self.embedder_failed = asyncio.Event()  # set when units were left for later

    async def __call__(
        self, ref: BankRef, items: Sequence[Item], progress: Progress | None = None
    ) -> Retained:
        """Retain items; those that name the same document become one.

        Items without a document name share a new one. A document that is already there with the
        same content is left alone; with other content it is replaced.

        Raises:
            InvalidInput, TooLarge: names the item, the field and the limit; nothing was stored.
        """
        items = await asyncio.to_thread(self.check, items)
        documents: dict[str, list[Item]] = {}
        unnamed = self._ids.new().hex()
        for item in items:
            documents.setdefault(item.document or unnamed, []).append(item)
        done = Retained(items=len(items))
        for name, members in documents.items():
            await self._retain_document(ref, name, members, done, progress)
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
        return [self._check_item(i, item) for i, item in enumerate(items)]

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
        return replace(
            item,
            content=content,
            note=clean(item.note) if item.note else None,
            document=clean(item.document) if item.document else None,
            tags=tuple(dict.fromkeys(clean(t) for t in item.tags if clean(t).strip())),
            entities=tuple(dict.fromkeys(clean(e) for e in item.entities if clean(e).strip())),
            metadata={clean(k): clean(v) for k, v in item.metadata.items()}
            if item.metadata
            else None,
        )

    async def _retain_document(
        self,
        ref: BankRef,
        name: str,
        items: list[Item],
        done: Retained,
        progress: Progress | None,
    ) -> None:
        done.documents.append(name)
        async with self._store.snapshot(ref) as view:
            old = await view.document(name)
            known = {e.name for e in await view.entities(limit=_KNOWN_NAMES)}
            revision = view.revision
        if old is not None and old.content_hash == await asyncio.to_thread(content_hash, items):
            done.unchanged.append(name)
            done.revision = revision
            return
        now = self._clock.now_us()
        draft = await asyncio.to_thread(self._drafter.draft, name, items, now)
        if old is not None:
            draft.document = replace(draft.document, created_at=old.created_at)
        applied = await self._store.apply(
            ref,
            Batch(
                documents=[DocumentWrite(draft.document, draft.chunks)],
                units=[s.row for s in draft.sources],
            ),
        )
        done.revision = applied.revision
        done.sources += len(draft.sources)
        done.unit_ids += [s.row.unit.id for s in draft.sources]
        names = prepare(known | {s.row.unit.speaker for s in draft.sources if s.row.unit.speaker})
        for start in range(0, len(draft.sources), BATCH):
            await self._enrich(ref, draft, start, names, done)
            if progress is not None:
                progress(min(start + BATCH, len(draft.sources)), len(draft.sources))

    async def _enrich(
        self, ref: BankRef, draft: Draft, start: int, known: KnownNames, done: Retained
    ) -> None:
        """Read and embed one batch of sources and add what comes out."""
        sources = draft.sources[start : start + BATCH]
        (facts, mentions, unread), vectors = await asyncio.gather(
            asyncio.to_thread(self._read, sources, known), self._embed(sources)
        )
        if facts or mentions or vectors:
            applied = await self._store.apply(
                ref,
                Batch(
                    units=facts,
                    vectors=vectors or (),
                    mentions=mentions,
                    generation=self._generation,
                ),
            )
            done.revision = applied.revision
        done.facts += len(facts)
        done.names.update(mention.entity.name for mention in mentions)
        done.unread += unread
        done.unembedded += len(sources) if vectors is None else 0
        done.unit_ids += [row.unit.id for row in facts]

    async def _embed(self, sources: Sequence[Source]) -> list[VectorPatch] | None:
        """Embed sources; None when the embedder fails, and the sources wait for it."""
        if self._embedder is None:
            return []
        try:
            return await embed_sources(self._embedder, sources)
        except RemembrancerError:
            log.warning("embedding failed; the units stay findable by words", exc_info=True)
            self.embedder_failed.set()
            return None

    def _read(
        self, sources: Sequence[Source], known: KnownNames
    ) -> tuple[list[UnitRow], list[EntityMention], int]:
        """Read facts and names; a source whose reading fails is kept without."""
        facts: list[UnitRow] = []
        mentioned: dict[str, list[bytes]] = {}
        unread = 0
        for source in sources:
            unit = source.row.unit
            try:
                mine, names = self._read_one(source, known)
            except Exception:
                log.exception("reading a source failed; its text is kept")
                unread += 1
                continue
            facts += [UnitRow(fact) for fact in mine]
            for name in dict.fromkeys((*unit.entities, *names)):
                mentioned.setdefault(name, []).append(unit.id)
            for fact in mine:
                for name in fact.entities:
                    mentioned.setdefault(name, []).append(fact.id)
        entities = [
            EntityMention(Entity(self._ids.new(), name), ids) for name, ids in mentioned.items()
        ]
        return facts, entities, unread

    def _read_one(self, source: Source, known: KnownNames) -> tuple[list[Unit], list[str]]:
        unit = source.row.unit
        statements = read_statements(
            unit.text,
            speaker=unit.speaker,
            role=unit.role,
            known=known,
            dates=lambda _: list(source.dates),
        )
        names = [name for name, _ in find_names(unit.text, known)]
        if unit.speaker:
            names.insert(0, unit.speaker)
        facts = [
            Unit(
                id=self._ids.new(),
                layer=Layer.FACT,
                text=statement.text,
                created_at=unit.created_at,
                mentioned_at=unit.mentioned_at,
                kind=unit.kind,
                document_id=unit.document_id,
                chunk_index=unit.chunk_index,
                turn=unit.turn,
                part=unit.part,
                start=statement.span.start,
                end=statement.span.end,
                source_id=unit.id,
                speaker=unit.speaker,
                role=unit.role,
                subject=statement.subject,
                polarity=statement.polarity,
                modality=statement.modality,
                note=unit.note,
                metadata=unit.metadata,
                tags=unit.tags,
                entities=statement.names,
                occurred_start=statement.date.start if statement.date else None,
                occurred_end=statement.date.end if statement.date else None,
                precision=statement.date.precision if statement.date else None,
                offset_min=unit.offset_min,
            )
            for statement in statements
        ]
        return facts, names


async def embed_sources(embedder: Embedder, sources: Sequence[Source]) -> list[VectorPatch]:
    """Embed sources, each alone and, where it has one, in its window."""
    texts = [s.embed_text for s in sources]
    windows = [s.window_text for s in sources if s.window_text is not None]
    vectors = quantise(await embedder.embed([*texts, *windows]))
    window = iter(vectors[len(texts) :])
    return [
        VectorPatch(
            source.row.unit.id,
            vector,
            next(window) if source.window_text is not None else None,
        )
        for source, vector in zip(sources, vectors, strict=False)
    ]
