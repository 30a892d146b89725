"""Wires the house once: a store, an embedder, the verbs, and the work in the background."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Mapping
from typing import Any

from ._version import __version__
from .finding.indexes import Indexes
from .finding.terms import Analyzer
from .keeping.opening import open_store, store_folder
from .keeping.store import Store
from .keeping.worker import Worker, without_context
from .models.cache import CachedQueries
from .models.factory import embedder_of
from .models.outbound import Outbound
from .models.reranker import make_reranker
from .nouns.clock import Clock, SystemClock
from .nouns.errors import InvalidInput
from .nouns.ids import IdMaker
from .nouns.memory import DEFAULT_TENANT, BankRef, Job
from .reading.dates.making import date_finder
from .reading.installed_spacy import make_name_finder
from .settings import Settings
from .verbs.access.gate import Gate
from .verbs.access.keys import Keys
from .verbs.admission.desk import desk_of
from .verbs.answering import Answering
from .verbs.audit import Audit, AuditLog
from .verbs.bank_config import BankConfigs
from .verbs.banks import SWEEP_DROPPED, Banks
from .verbs.browse import Browse
from .verbs.check import Check
from .verbs.consolidate import CONSOLIDATE, Consolidate
from .verbs.curate import Curate
from .verbs.curating.corrections import Corrector
from .verbs.decay import DECAY
from .verbs.decaying.schedule import keep_decaying
from .verbs.directives import Directives
from .verbs.distil import Distil
from .verbs.dry_run import DryRun
from .verbs.entities import Entities
from .verbs.expiry import keep_expiring
from .verbs.forget import SWEEP, Forget
from .verbs.graph import Graph
from .verbs.items import Items
from .verbs.knowledge import Knowledge
from .verbs.memories import Memories
from .verbs.mental_models import REFRESH, MentalModels
from .verbs.meters import RETAINED_FACTS, RETAINED_ITEMS, Meters
from .verbs.modelling.delta import DeltaWriter
from .verbs.modelling.schedule import SCHEDULED, keep_scheduled
from .verbs.modelling.shelf import Shelf
from .verbs.operations import Operations
from .verbs.prime import Prime
from .verbs.recall import Recall
from .verbs.recalling.across import Across
from .verbs.recalling.reranking import Reranking
from .verbs.recalling.watching import RecallWatch
from .verbs.reflect import Reflect
from .verbs.reminding.events import TRIM
from .verbs.reminding.future import Future
from .verbs.reminding.recue import keep_cued, recue
from .verbs.reprocess import REPROCESS, Reprocess
from .verbs.retain import Limits, Progress, Retain, Retained
from .verbs.retaining.deepen import READ, Deepen
from .verbs.retaining.embedding import check_generation, keep_embedded, reembed
from .verbs.retaining.facts import FactReader
from .verbs.retaining.guarding import Guard
from .verbs.retaining.model_facts import ModelReader
from .verbs.retaining.queued import RETAIN, QueuedRetain
from .verbs.retaining.resolver import Resolver
from .verbs.retaining.rewriting import Rewriter
from .verbs.retaining.units import Drafter
from .verbs.revise import MOVED_OUT
from .verbs.sessions import Sessions
from .verbs.stats import Stats
from .verbs.status import BANKS_SHOWN, Status, status
from .verbs.telling.outbox import Outbox
from .verbs.telling.wiring import Telling
from .verbs.templates import Templates
from .verbs.thinking.wiring import make_minds
from .verbs.transferring.export import EXPORT, Export
from .verbs.transferring.files import FILE_RETAIN, Files
from .verbs.transferring.importing import IMPORT, Import
from .verbs.transferring.uploads import Uploads
from .verbs.truth import Truth


class App:
    """An open memory: the verbs as attributes, ready to call.

    Make one with `App.open`; close it when done.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        embedder: CachedQueries | None,
        generation: int,
        clock: Clock,
    ) -> None:
        ids = IdMaker(clock)
        analyzer = Analyzer(settings.language)
        dates = date_finder(settings.date_languages, settings.date_country)
        names = make_name_finder(settings.nlp)
        self.settings = settings
        self.store = store
        self.embedder = embedder
        self.clock = clock
        self.meters = Meters()
        self.indexes = Indexes(
            store_folder(settings) / "index" / store.identity,
            embedder.dim if embedder else 0,
            settings.index_memory_mb * 1024 * 1024,
            seals=store.seals,
        )
        self.future = Future(
            store,
            embedder,
            analyzer,
            ids=ids,
            clock=clock,
            generation=generation,
            event_days=settings.event_days,
        )
        self.remind, self.check, self.due = self.future.remind, self.future.check, self.future.due
        self.events, self.occurrences = self.future.events, self.future.occurrences
        self.once, self.calendars = self.future.once, self.future.calendars
        intending = self.future.intending if settings.retain_intentions else None
        drafter = Drafter(analyzer, ids, dates)
        self.outbox = Outbox(store, ids=ids, clock=clock)
        self.configs = BankConfigs(store, settings, clock=clock)
        self.minds = make_minds(settings, store, self.meters, ids=ids, clock=clock)
        self.deepen = self._deepen(Rewriter(analyzer, dates), ids, generation)
        guard = Guard(settings.sensitive, settings.sensitive_kinds)
        self.retain = Retain(
            store,
            embedder,
            drafter,
            ids=ids,
            clock=clock,
            limits=Limits(settings.max_items, settings.max_content_bytes),
            generation=generation,
            on_done=self._count,
            outbox=self.outbox,
            intend=intending,
            tables=self.configs.slots,
            deepen=self.deepen,
            guard=guard,
            names=names,
        )
        self.dry_run = DryRun(
            store,
            drafter,
            FactReader(ids, self.configs.slots, names),
            clock=clock,
            max_bytes=settings.max_content_bytes,
        )
        self.queued = QueuedRetain(store, self.retain, ids=ids, clock=clock)
        self.recall = Recall(
            store,
            self.indexes,
            embedder,
            analyzer,
            dates,
            clock=clock,
            max_query_chars=settings.max_query_chars,
            generation=generation,
            reranking=_reranking(settings),
            watch=RecallWatch(self.meters, settings.slow_recall_ms, with_text=settings.log_text),
        )
        self.across = Across(self.recall, store)
        self.reflect = Reflect(
            self.recall, analyzer, dates, clock=clock, max_query_chars=settings.max_query_chars
        )
        self.prime = Prime(
            store,
            self.indexes,
            embedder,
            clock=clock,
            max_query_chars=settings.max_query_chars,
            generation=generation,
        )
        self.truth = Truth(store, self.recall, clock=clock)
        self.browse = Browse(store)
        self.graph = Graph(store)
        rewriter, reader, resolver = (
            Rewriter(analyzer, dates),
            FactReader(ids, self.configs.slots, names),
            Resolver(store),
        )
        self.curate = Curate(
            store,
            Corrector(embedder, rewriter, reader, resolver, ids=ids, generation=generation),
            clock=clock,
            generation=generation,
            intend=intending,
            guard=guard,
        )
        self.reprocess = Reprocess(
            store,
            rewriter,
            reader,
            resolver,
            ids=ids,
            clock=clock,
            generation=generation,
            intend=intending,
        )
        self.forget = Forget(store, self.indexes, ids=ids, clock=clock)
        self.memories = Memories(
            store,
            self.indexes,
            embedder,
            rewriter,
            self.curate,
            self.forget,
            ids=ids,
            clock=clock,
            generation=generation,
            embedder_failed=self.retain.embedder_failed,
            knows=self.recall.knows if settings.wire_cut_off else None,
            guard=guard,
        )
        self.sessions = Sessions(store, ids=ids, clock=clock)
        self.items = Items(
            store, self.memories.remember, self.recall, ids=ids, clock=clock, guard=guard
        )
        self._derive(ids)
        self._manage(ids)
        self._admit(ids)
        self.telling = Telling(
            store,
            Outbound(allow_private=settings.webhook_allow_private),
            self.occurrences,
            self.future.composites,
            ids=ids,
            clock=clock,
            chance=random.random,
            user_agent=f"remembrancer/{__version__}",
            lease_s=settings.worker_lease_s,
        )
        self.webhooks, self.replay = self.telling.webhooks, self.telling.replay
        self.courier, self.watch = self.telling.courier, self.telling.watch
        self._transfer(ids)
        self.worker = Worker(
            store,
            {
                FILE_RETAIN: self.files.run,
                EXPORT: self.exports.run,
                IMPORT: self.imports.run,
                SWEEP: without_context(self._sweep),
                SWEEP_DROPPED: without_context(self.banks.sweep_dropped),
                RETAIN: self.queued.run,
                REPROCESS: self.reprocess.run,
                MOVED_OUT: without_context(self.memories.revise.finish_move),
                TRIM: without_context(self.events.trim),
                DECAY: self.memories.decay.run,
            },
            clock=clock,
            slots=settings.worker_slots,
            lease_us=int(settings.worker_lease_s * 1_000_000),
        )
        self._generation = generation
        self._upkeep: list[asyncio.Task[None]] = []

    @classmethod
    async def open(
        cls,
        settings: Settings,
        *,
        clock: Clock | None = None,
        background: bool = True,
        watch: bool = False,
    ) -> App:
        """Open the store and check that its vectors are the embedder's.

        Args:
            settings: where and how.
            clock: the time; the machine's by default.
            background: do upkeep here, and queued work unless `settings.worker` is off.
            watch: in the background, make and send what falls due, unless `settings.watch` is off.

        Raises:
            StoreError, StoreTooNew: the data cannot be used.
            ModelMismatch: the store was embedded with another model.
            ModelUnavailable: the configured embedder, or the pipeline for names, is not there.
        """
        clock = clock or SystemClock()
        embedder = await embedder_of(settings)
        store = open_store(settings, clock)
        await store.open()
        try:
            generation = await check_generation(store, embedder)
            number = generation.number if generation else 0
            app = cls(settings, store, embedder, number, clock)
        except BaseException:
            await store.close()
            raise
        if background:
            if settings.worker:
                app.worker.start()
                app.thinker.start()
                app.courier.start()
            if watch and settings.watch:
                app.watch.start()
            app._start_upkeep()
        return app

    async def close(self) -> None:
        """End background work and close everything; what was acknowledged stays."""
        for task in self._upkeep:
            task.cancel()
        await asyncio.gather(*self._upkeep, return_exceptions=True)
        await self.memories.subscriptions.stop()
        await self.watch.stop()
        await self.courier.stop()
        await self.thinker.stop()
        await self.worker.stop()
        await self.minds.close()
        await self.audit_log.close()
        await self.keys.close()
        self.prime.close()
        self.memories.strategies.close()
        await self.indexes.close()
        await self.store.close()
        await self.recall.close()
        if self.embedder is not None:
            await self.embedder.close()

    def checking(self) -> Check:
        """Return `check` for an application of its own, in which any `now` counts."""
        return self.future.checking(trusts_now=True)

    async def status(
        self, tenant: str = DEFAULT_TENANT, *, limit: int = BANKS_SHOWN, offset: int = 0
    ) -> Status:
        """Report what is here; see `verbs.status`."""
        return await status(
            self.store, self.indexes, self.embedder, __version__, tenant, limit, offset
        )

    def _manage(self, ids: IdMaker) -> None:
        """Make the verbs about banks, entities and what was queued."""
        store, clock = self.store, self.clock
        self.entities = Entities(store, ids=ids, clock=clock)
        self.operations = Operations(store, clock=clock)
        self.banks = Banks(store, self.indexes, self.configs, self.settings, ids=ids, clock=clock)
        self.templates = Templates(self.banks, self.directives, self.shelf, self.mental_models)
        self.stats = Stats(store, self.indexes, clock=clock)

    def _admit(self, ids: IdMaker) -> None:
        """Make what knows who may do what, and who did."""
        store, settings, clock = self.store, self.settings, self.clock
        audit = Audit(ids=ids, clock=clock)
        self.audit_log = AuditLog(store, self.configs, audit, clock=clock)
        self.keys = Keys(store, audit, ids=ids, clock=clock, random_bytes=os.urandom)
        self.gate = Gate(self.keys, settings)
        self.desk = desk_of(settings, self.meters)

    def _transfer(self, ids: IdMaker) -> None:
        """Make the verbs that take files in and hand them out."""
        store, settings, clock = self.store, self.settings, self.clock
        uploads = Uploads(store, clock=clock)
        self.files = Files(
            self.retain,
            uploads,
            ids=ids,
            clock=clock,
            max_content_bytes=settings.max_content_bytes,
        )
        self.exports = Export(
            store,
            ids=ids,
            clock=clock,
            max_bytes=settings.max_upload_bytes,
            random_bytes=os.urandom,
        )
        self.imports = Import(store, self.retain, uploads, ids=ids, clock=clock)

    def _derive(self, ids: IdMaker) -> None:
        """Make the verbs whose answers are derived from memories, and kept."""
        store, clock, remember = self.store, self.clock, self.memories.remember
        self.distil = Distil(store, self.memories.insights, self.minds)
        self.directives = Directives(store, ids=ids, clock=clock)
        self.shelf = Shelf(store)
        self.answering = Answering(
            self.reflect, self.minds, self.configs, self.directives, self.shelf, clock=clock
        )
        self.mental_models = MentalModels(
            store,
            self.shelf,
            self.answering,
            remember,
            DeltaWriter(store, self.reflect, self.minds, self.directives),
            ids=ids,
            clock=clock,
        )
        self.knowledge = Knowledge(store, self.shelf, self.mental_models, ids=ids, clock=clock)
        self.consolidate = Consolidate(
            store,
            remember,
            self.minds,
            self.configs,
            self.outbox,
            ids=ids,
            clock=clock,
            then=self.mental_models.after_consolidation,
        )

        # Of its own, so that slow answers of models hold up no other work.
        self.thinker = Worker(
            store,
            {
                READ: self.deepen.run,
                CONSOLIDATE: self.consolidate.run,
                REFRESH: self.mental_models.run,
                SCHEDULED: self.mental_models.schedule.run,
            },
            clock=self.clock,
            slots=self.settings.llm_concurrency,
            lease_us=int(self.settings.worker_lease_s * 1_000_000),
        )

    def _deepen(self, rewriter: Rewriter, ids: IdMaker, generation: int) -> Deepen:
        return Deepen(
            self.store,
            self.minds,
            rewriter,
            ModelReader(ids),
            Resolver(self.store),
            self.configs,
            ids=ids,
            clock=self.clock,
            generation=generation,
            then=self._consolidate,
        )

    async def _consolidate(self, ref: BankRef) -> None:
        await self.consolidate.after_reading(ref)

    def _count(self, done: Retained) -> None:
        self.meters.add(RETAINED_ITEMS, done.items)
        self.meters.add(RETAINED_FACTS, done.facts)

    async def _sweep(self, job: Job) -> Mapping[str, Any]:
        await self.forget.sweep(job.ref)
        return {}

    def _start_upkeep(self) -> None:
        work = []
        if self.settings.worker and self.settings.decay_interval_s:
            decay, interval_s = self.memories.decay, self.settings.decay_interval_s
            work.append(keep_decaying(decay, interval_s, self.worker.wake, clock=self.clock))
        if self.settings.worker:
            work.append(keep_scheduled(self.mental_models.schedule))
            work.append(keep_expiring(self.store, clock=self.clock))
        if self.embedder is not None:
            failed = self.retain.embedder_failed
            work.append(keep_embedded(self.store, self.embedder, self._generation, failed))
            failed = self.remind.embedder_failed
            work.append(keep_cued(self.store, self.embedder, self._generation, failed))
        self._upkeep = [asyncio.create_task(each) for each in work]


async def reembed_store(settings: Settings, progress: Progress | None = None) -> int:
    """Move a store to the embedder that the settings name; return how many units were embedded.

    Raises:
        InvalidInput: the settings name no embedder.
    """
    embedder = await embedder_of(settings)
    if embedder is None:
        raise InvalidInput("name the embedder to move to: --embedder", field="embedder")
    store = open_store(settings, SystemClock())
    await store.open()
    try:
        done = await reembed(store, embedder, progress)
        active = next(g for g in await store.generations() if g.active)
        await recue(store, embedder, active.number)
        return done
    finally:
        await store.close()
        await embedder.close()


def _reranking(settings: Settings) -> Reranking | None:
    key = settings.reranker_key
    reranker = make_reranker(
        settings.reranker,
        url=settings.reranker_url,
        api_key=key.get_secret_value() if key else None,
    )
    if reranker is None:
        return None
    return Reranking(reranker, settings.reranker_candidates, settings.reranker_s)
