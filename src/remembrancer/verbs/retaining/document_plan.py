"""What retaining one document will write: new, over the one that is there, or after its end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...keeping.batch import Batch, DocumentWrite, EntityMention, KeptUnit
from ...keeping.store import Store
from ...nouns.clock import Clock
from ...nouns.ids import IdMaker
from ...nouns.memory import BankRef, Document, Entity, Unit
from .delta import ID_DIGITS, READING, Stored, extent_of, load, match, readers_of, with_facts
from .enrich import Written
from .given import RefusedFact
from .given_notes import with_facts_again, with_note
from .layout import Extent, Layout, lay_out
from .placing import Placed, Placer
from .resolver import Resolver, told_of
from .units import Draft, Drafter, Item, content_hash


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """One document's first transaction, and what is to be read afterwards.

    Attributes:
        batch: the document with its chunks, units and what else changes at once.
        written: what is to be read and embedded; None: nothing.
        new: ids of new sources.
        chunks: of the whole document.
        read: indexes of chunks in which something is read.
        telling: indexes of those in which a kept source has facts.
        characters, covered: of the new content, see `layout.Layout`.
        given: how many facts its caller handed in; None: none of its items has any.
        refused: those of them that were not taken; `item` counts the document's.
        gone: sources of an older version that this one does not keep.
    """

    batch: Batch
    written: Written | None
    new: Sequence[bytes]
    chunks: int
    read: frozenset[int]
    telling: frozenset[int]
    characters: int
    covered: int
    given: int | None = None
    refused: Sequence[RefusedFact] = ()
    gone: Sequence[Unit] = ()


class DocumentPlanner:
    """Makes plans; everything it needs is passed in."""

    def __init__(
        self, store: Store, drafter: Drafter, resolver: Resolver, *, ids: IdMaker, clock: Clock
    ) -> None:
        self._store = store
        self._drafter = drafter
        self._resolver = resolver
        self._placer = Placer(drafter.find_dates)
        self._ids = ids
        self._clock = clock

    async def replace(
        self, ref: BankRef, name: str, items: Sequence[Item], *, whole: bool = False
    ) -> DocumentPlan | None:
        """Plan a document that takes the place of what has its name; None when nothing differs.

        Args:
            ref: the bank.
            name: of the document.
            items: its content.
            whole: keep nothing of the older one, and expect nothing of it.
        """
        async with self._store.snapshot(ref) as view:
            document = await view.document(name)
            if document is not None and not readers_of(document):
                told = await asyncio.to_thread(content_hash, items)
                if document.content_hash == told:
                    return None
            given = any(item.facts is not None for item in items)
            stored = None
            stood: Sequence[Unit] = ()
            if document is not None and not whole:
                stored = await load(view, document, given=given)
                stood = stored.sources
            elif document is not None:
                stood = await view.sources_of(document.id)
        layout = await asyncio.to_thread(lay_out, [item.content for item in items])
        now = self._clock.now_us()
        row = self._document(name, items, layout, now, document, extends=False)
        draft, placed = await asyncio.to_thread(self._draft, row.id, items, layout, now, stored)
        row = with_note(row, items, placed)
        expect = document.content_hash if document is not None else ""
        write = DocumentWrite(
            row,
            layout.chunks,
            None if whole else expect,
            keep=draft.keep,
            moved=draft.moved,
        )
        plan = await self._plan(ref, write, draft, layout, self._token(draft), items, stored)
        kept = {*draft.keep, *(each.unit.id for each in draft.moved)}
        gone = [unit for unit in stood if unit.id not in kept]
        return replace(_counted(plan, items, placed), gone=gone)

    async def append(
        self, ref: BankRef, name: str, items: Sequence[Item], *, job: str | None = None
    ) -> DocumentPlan | None:
        """Plan what is put after the end of a document, which may be new.

        Args:
            ref: the bank.
            name: of the document.
            items: what is appended.
            job: on whose behalf. When it has appended before, there is nothing to do: None; or, if
                it was broken off, only what is left to read.
        """
        async with self._store.snapshot(ref) as view:
            document = await view.document(name)
            token = None if document is None or job is None else _token_of(document, job)
            if document is not None and token is not None:
                if token not in readers_of(document):
                    return None
                stored = await load(view, document)
                return await asyncio.to_thread(self._resumed, stored, token, items, job)
            after = None if document is None else extent_of(document)
            if document is not None and after is None:
                chunks = await view.chunks(document.id)
                after = _measured(await view.sources_of(document.id), len(chunks))
        layout = await asyncio.to_thread(lay_out, [item.content for item in items], after)
        now = self._clock.now_us()
        row = self._document(name, items, layout, now, document, extends=True)
        first = after.sources if after is not None else 0
        starts = [now] * len(layout.said)
        placed = await asyncio.to_thread(self._placer, items, layout.said, starts, first)
        draft = await asyncio.to_thread(
            self._drafter.draft,
            row.id,
            items,
            layout.said,
            now,
            first=first,
            given=placed.facts if placed is not None else (),
        )
        row = with_note(row, items, placed)
        token = self._token(draft)
        if job is not None:
            row = _noted(row, len(items), job, token or "")
        expect = document.content_hash if document is not None else ""
        write = DocumentWrite(row, layout.chunks, expect, extends=document is not None)
        plan = await self._plan(ref, write, draft, layout, token, items, None)
        plan = _counted(plan, items, placed)
        return replace(plan, chunks=plan.chunks + after.chunks) if after is not None else plan

    def _draft(
        self,
        document_id: bytes,
        items: Sequence[Item],
        layout: Layout,
        now: int,
        stored: Stored | None,
    ) -> tuple[Draft, Placed | None]:
        old = [] if stored is None else match(stored, items, layout, now)
        starts = [now if each is None else each.unit.created_at for each in old]
        placed = self._placer(items, layout.said, starts or [now] * len(layout.said))
        given = placed.facts if placed is not None else [None] * len(layout.said)
        if stored is not None:
            old = with_facts(stored, old, given)
        draft = self._drafter.draft(document_id, items, layout.said, now, old=old, given=given)
        return draft, placed

    def _token(self, draft: Draft) -> str | None:
        """Make the token of a reading: the id that what it reads begins with, and one of its own.

        None when there is nothing to read.
        """
        if not draft.sources and not draft.windows:
            return None
        own = self._ids.new().hex()
        return f"{min((s.row.unit.id.hex() for s in draft.sources), default=own)}-{own}"

    def _document(
        self,
        name: str,
        items: Sequence[Item],
        layout: Layout,
        now: int,
        old: Document | None,
        *,
        extends: bool,
    ) -> Document:
        """Make a document's row, over the older one's or beside what that says."""
        told = {k: v for item in items for k, v in (item.metadata or {}).items()}
        params: dict[str, Any] = {
            "items": [_told(i, e) for i, e in zip(items, layout.extents, strict=True)],
            "characters": layout.characters,
            "covered": layout.covered,
        }
        tags: Iterable[str] = (tag for item in items for tag in item.tags)
        length, before = layout.length, ""
        if extends and old is not None:
            stood = dict(old.params or {})
            for key, value in params.items():
                stood[key] = stood[key] + value if key in stood else value
            params, told = stood, {**(old.metadata or {}), **told}
            tags = (*old.tags, *tags)
            length, before = length + old.length, old.content_hash
        return Document(
            id=self._ids.new() if old is None else old.id,
            name=name,
            content_hash=content_hash(items, before),
            created_at=now if old is None else old.created_at,
            updated_at=now,
            length=length,
            tags=tuple(dict.fromkeys(tags)),
            metadata=told or None,
            params=params,
        )

    def _resumed(
        self, stored: Stored, token: str, items: Sequence[Item], job: str | None
    ) -> DocumentPlan:
        """Plan the rest of a reading that was broken off."""
        first = token[:ID_DIGITS]
        others = (other[:ID_DIGITS] for other in readers_of(stored.document))
        end = min((other for other in others if other > first), default="g")
        wanted = {i for i in stored.unread if first <= i.hex() < end}
        document = stored.document
        sources = self._drafter.again(stored.sources, wanted)
        sources = with_facts_again(self._placer, stored.document, sources, items, job)
        written = Written(
            document.name,
            document.id,
            document.content_hash,
            token,
            sources,
            told=told_of(items, sources),
        )
        chunks = max((unit.chunk_index + 1 for unit in stored.sources), default=0)
        read = frozenset(s.row.unit.chunk_index for s in sources)
        return DocumentPlan(Batch(), written, [], chunks, read, frozenset(), 0, 0)

    async def _plan(
        self,
        ref: BankRef,
        write: DocumentWrite,
        draft: Draft,
        layout: Layout,
        token: str | None,
        items: Sequence[Item],
        stored: Stored | None,
    ) -> DocumentPlan:
        """Put a plan together; what it takes of the facts of kept units is looked up."""
        read = frozenset(s.row.unit.chunk_index for s in draft.sources)
        beside = [unit for unit in _kept(draft, stored) if unit.chunk_index in read]
        wanted = {unit.id for unit, _ in draft.resaid} | {unit.id for unit in beside}
        facts: dict[bytes, list[Unit]] = {}
        if wanted:
            async with self._store.snapshot(ref) as view:
                for fact in await view.facts_of(sorted(wanted)):
                    facts.setdefault(fact.source_id or b"", []).append(fact)
        if draft.resaid:
            write = replace(write, moved=self._resaid(draft, facts))
        told = told_of(items, draft.sources)
        sources, told = await self._resolver.given(ref, draft.sources, told)
        written = None
        if token is not None:
            document = write.document
            readers = (document.params or {}).get(READING, ())
            params = {**(document.params or {}), READING: [*readers, token]}
            write = replace(write, document=replace(document, params=params))
            written = Written(
                document.name,
                document.id,
                document.content_hash,
                token,
                sources,
                draft.windows,
                told=told,
            )
        new = [source.row for source in sources if not source.stored]
        return DocumentPlan(
            Batch(documents=[write], units=new, mentions=self._renamed(draft.renamed)),
            written,
            [row.unit.id for row in new],
            len(layout.chunks),
            read,
            frozenset(unit.chunk_index for unit in beside if unit.id in facts),
            layout.characters,
            layout.covered,
        )

    def _resaid(self, draft: Draft, facts: Mapping[bytes, Sequence[Unit]]) -> list[KeptUnit]:
        """Add to the kept units that say something else by now what they say."""
        moved = {kept.unit.id: kept for kept in draft.moved}
        for unit, before in draft.resaid:
            same = self._drafter.same_of(unit, before, facts.get(unit.id, ()))
            moved[unit.id] = replace(moved.get(unit.id) or KeptUnit(unit), same=same)
        return list(moved.values())

    def _renamed(self, units: Sequence[Unit]) -> list[EntityMention]:
        """Return the mentions by units that are told other entities."""
        named: dict[str, list[bytes]] = {}
        for unit in units:
            for name in unit.entities:
                named.setdefault(name, []).append(unit.id)
        return [EntityMention(Entity(self._ids.new(), name), ids) for name, ids in named.items()]


def _counted(plan: DocumentPlan, items: Sequence[Item], placed: Placed | None) -> DocumentPlan:
    if placed is None:
        return plan
    given = sum(len(item.facts or ()) for item in items)
    return replace(plan, given=given, refused=placed.refused)


def _kept(draft: Draft, stored: Stored | None) -> list[Unit]:
    if stored is None:
        return []
    keep = set(draft.keep)
    kept = [unit for unit in stored.sources if unit.id in keep]
    return kept + [each.unit for each in draft.moved]


def _told(item: Item, extent: Extent) -> dict[str, Any]:
    """Return what a document's row says of an item, so that it can be read again."""
    told: dict[str, Any] = {
        "length": len(item.content),
        "timestamp": item.timestamp,
        "offset_min": item.offset_min,
        "note": item.note,
        "chunks": extent.chunks,
        "turns": extent.turns,
        "sources": extent.sources,
    }
    if item.entities:
        told["entities"] = list(item.entities)
    if item.undated:
        told["undated"] = True
    if not item.resolve_entities:
        told["resolve_entities"] = False
    if item.observation_scopes is not None:
        told["observation_scopes"] = item.observation_scopes
    if item.strategy is not None:
        told["strategy"] = item.strategy
    return told


def _noted(row: Document, count: int, job: str, token: str) -> Document:
    """Note at the last items of a document that a job has appended them."""
    params = dict(row.params or {})
    items = list(params["items"])
    items[-count:] = [{**told, "job": job, "token": token} for told in items[-count:]]
    return replace(row, params={**params, "items": items})


def _token_of(document: Document, job: str) -> str | None:
    """Return the token of what a job has appended; None when it has appended nothing."""
    items = (document.params or {}).get("items", ())
    return next((told["token"] for told in items if told.get("job") == job), None)


def _measured(sources: Sequence[Unit], chunks: int) -> Extent:
    turns = max((unit.turn + 1 for unit in sources), default=0)
    return Extent(chunks, turns, len(sources))
