"""Puts what parsers yield into a bank, each thing once, and notes what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...keeping.records import FORGOTTEN, forgotten_key
from ...keeping.store import Store
from ...nouns.errors import InvalidInput
from ...nouns.memory import BankRef, Document
from ...nouns.text import ERASED, clean
from ...reading.importing.types import Item, Left, Taken, TakenCalendar, TakenNode, TakenRelation
from ..reminding.ics import Calendars
from ..retain import Retain
from ..retaining.units import Item as Content
from .report import Report

_GRAPH = 200  # nodes or relations handed on together


class GraphKeeper(Protocol):
    """Keeps a knowledge graph in a bank, so that the tools for it show it."""

    async def __call__(
        self, nodes: Sequence[TakenNode], relations: Sequence[TakenRelation]
    ) -> tuple[int, int]:
        """Keep what is not there; return how many things came new and how many were there."""
        ...


class Putter:
    """One import into one bank."""

    def __init__(
        self,
        store: Store,
        retain: Retain,
        calendars: Calendars,
        ref: BankRef,
        *,
        keep_graph: GraphKeeper | None,
        tags: Sequence[str],
        anew: bool,
        as_named: bool,
        dry_run: bool,
    ) -> None:
        self.report = Report()
        self._store = store
        self._retain = retain
        self._calendars = calendars
        self._ref = ref
        self._keep_graph = keep_graph
        self._tags = tuple(tags)
        self._anew = anew
        self.as_named = as_named
        self.dry_run = dry_run
        self._seen: set[int] = set()  # hashes of the names of documents
        self._nodes: list[TakenNode] = []
        self._relations: list[TakenRelation] = []

    async def put(self, item: Item) -> None:
        """Put one thing."""
        match item:
            case Left():
                self.report.leave(item)
            case Taken():
                await self.document(item.name, self._contents(item))
            case TakenCalendar():
                await self._calendar(item)
            case TakenNode():
                self._nodes.append(item)
            case TakenRelation():
                self._relations.append(item)
        if len(self._nodes) + len(self._relations) >= _GRAPH:
            await self.finish()

    async def document(self, name: str, contents: Sequence[Content]) -> None:
        """Put a document, unless it is there, or something in it was forgotten since."""
        if hash(name) in self._seen:
            self.report.leave(Left(name, "a second document of that name"))
            return
        self._seen.add(hash(name))
        if self.dry_run:
            self.report.documents += 1
            return
        async with self._store.snapshot(self._ref) as view:
            there = await view.document(name)
        if not self._anew and await self._forgotten(name, there):
            self.report.leave(Left(name, "something of it was forgotten: --anew imports it again"))
            return
        try:
            done = await self._retain(self._ref, contents)
        except InvalidInput as error:
            self.report.leave(Left(name, error.message))
            return
        if done.unchanged:
            self.report.unchanged += 1
            return
        self.report.documents += there is None
        self.report.replaced += there is not None
        self.report.memories += done.sources
        self.report.unembedded += done.unembedded

    async def _forgotten(self, name: str, there: Document | None) -> bool:
        """Tell whether a document was forgotten, as a whole or something of it."""
        if there is not None:
            return there.content_hash.startswith(ERASED)
        return await self._store.record(self._ref, FORGOTTEN, forgotten_key(name)) is not None

    async def finish(self) -> None:
        """Put what is held."""
        nodes, relations = self._nodes, self._relations
        if not nodes and not relations:
            return
        self._nodes, self._relations = [], []
        if self.dry_run:
            self.report.graph += sum(1 + len(node.observations) for node in nodes)
            self.report.graph += len(relations)
            return
        if self._keep_graph is None:
            raise InvalidInput("format: there is nothing here that keeps a knowledge graph")
        try:
            await self._keep(self._keep_graph, nodes, relations)
        except InvalidInput:  # what is wrong with one of them leaves the others
            for node in nodes:
                await self._keep_one(self._keep_graph, node.name, [node], [])
            for each in relations:
                await self._keep_one(self._keep_graph, each.source, [], [each])

    async def _keep_one(
        self,
        keeper: GraphKeeper,
        name: str,
        nodes: Sequence[TakenNode],
        relations: Sequence[TakenRelation],
    ) -> None:
        try:
            await self._keep(keeper, nodes, relations)
        except InvalidInput as error:
            self.report.leave(Left(name, error.message))

    async def _keep(
        self, keeper: GraphKeeper, nodes: Sequence[TakenNode], relations: Sequence[TakenRelation]
    ) -> None:
        new, there = await keeper(nodes, relations)
        self.report.graph += new
        self.report.graph_there += there

    def _contents(self, item: Taken) -> list[Content]:
        return [
            Content(
                passage.text,
                timestamp=passage.at,
                offset_min=passage.offset_min,
                note=passage.note,
                metadata=item.metadata or None,
                document=item.name,
                tags=(*item.tags, *self._tags),
                entities=passage.entities,
                undated=passage.at is None,
            )
            for passage in item.passages
            if clean(passage.text).strip()
        ]

    async def _calendar(self, item: TakenCalendar) -> None:
        if self.dry_run:
            self.report.intentions += len(item.entries)
            return
        try:
            await self._load(item.text())
        except InvalidInput:  # what is wrong with one of them leaves the others
            for entry in item.entries:
                try:
                    await self._load(item.text((entry,)))
                except InvalidInput as error:
                    self.report.leave(Left("an entry of a calendar", error.message))

    async def _load(self, calendar: bytes) -> None:
        done = await self._calendars.load(self._ref, calendar)
        self.report.intentions += done.new
        self.report.intentions_there += len(done.intentions) - done.new
        for skipped in done.skipped:
            self.report.leave(Left(skipped.uid or "an entry", skipped.reason))
