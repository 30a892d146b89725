"""Queued retain: durable at once, done in the background by whichever process gets to it.

Each document is a job of its own, so that one that fails leaves the others alone; several of one
request are the children of one parent, which nobody works on.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ...keeping.batch import Batch
from ...keeping.store import Store
from ...keeping.worker import JobContext
from ...nouns.clock import Clock
from ...nouns.errors import Conflict
from ...nouns.ids import IdMaker, to_uuid
from ...nouns.memory import BankRef, Job, JobState, Layer
from ..retain import Retain, Retained
from .given import GivenFact
from .units import Item

RETAIN = "retain"
BATCH_RETAIN = "batch_retain"


class QueuedRetain:
    """Enqueues retains and, as the job's handler, runs them."""

    def __init__(self, store: Store, retain: Retain, *, ids: IdMaker, clock: Clock) -> None:
        self._store = store
        self._retain = retain
        self._ids = ids
        self._clock = clock

    async def enqueue(
        self, ref: BankRef, items: Sequence[Item], *, operation_id: bytes | None = None
    ) -> Job:
        """Check items and keep them as a job; durable when it returns.

        Items of one document become one job; several documents become a parent with a child
        each, in one transaction.

        Args:
            ref: the bank.
            items: what to retain.
            operation_id: the job's id, 16 bytes. When it is known already, the job that has it is
                returned and nothing is queued, whatever the items are.

        Raises:
            InvalidInput, TooLarge: as `Retain`; nothing was stored.
            Conflict: `operation_id` belongs to another bank of the tenant, or to work of another
                kind.
        """
        if operation_id is not None and (old := await self._known(ref, operation_id)) is not None:
            return old
        checked = await asyncio.to_thread(self._retain.check, items)
        jobs = self._jobs(ref, checked, operation_id or self._ids.new())
        await self._store.apply(ref, Batch(jobs=jobs))
        if operation_id is None:
            return jobs[0]
        return await self._known(ref, operation_id) or jobs[0]

    async def run(self, job: Job, context: JobContext) -> Mapping[str, Any]:
        """Do a job; running it again changes nothing."""
        items = [_item(raw) for raw in job.payload["items"]]
        done = await self._retain(
            job.ref,
            items,
            lambda processed, total: context.note("reading", processed, total),
            fence=context.fence,
        )
        units, facts = await self._stored(job, done)
        return {
            "items": done.items,
            "document_ids": done.documents,
            "unchanged_document_ids": done.unchanged,
            "unit_ids_count": units,
            "facts_count": facts,
            "duplicates_count": done.duplicates,
            "chunks_count": done.chunks,
            "empty_chunks_count": len(done.empty_chunks),
            "extraction_errors_count": done.unread,
            "embedding_waits_count": done.unembedded,
            **_more(done),
        }

    async def _known(self, ref: BankRef, operation_id: bytes) -> Job | None:
        job = await self._store.job(ref, operation_id, payload=False)
        if job is not None and job.kind not in (RETAIN, BATCH_RETAIN):
            raise Conflict(
                f"this id belongs to an operation of type {job.kind}; choose another one",
                field="operation_id",
            )
        return job

    def _jobs(self, ref: BankRef, items: Sequence[Item], first: bytes) -> list[Job]:
        # The name is fixed here, so that a job run twice writes one document.
        unnamed = self._ids.new().hex()
        documents: dict[str, list[dict[str, Any]]] = {}
        for item in items:
            name = item.document or unnamed
            documents.setdefault(name, []).append({**asdict(item), "document": name})
        now = self._clock.now_us()
        if len(documents) == 1:
            [(name, members)] = documents.items()
            return [_job(first, ref, now, name, members)]
        parent = Job(
            first,
            ref,
            BATCH_RETAIN,
            JobState.PENDING,
            now,
            now,
            batch=True,
            items=len(items),
        )
        children = (
            _job(self._ids.new(), ref, now, name, members, parent=first, part=part)
            for part, (name, members) in enumerate(documents.items())
        )
        return [parent, *children]

    async def _stored(self, job: Job, done: Retained) -> tuple[int, int]:
        """Count units and facts, also those that an earlier attempt has stored.

        Of a document that stood there before the job was queued all are counted.
        """
        begun_before = job.fence > 1
        units, facts = (0, 0) if begun_before else (len(done.unit_ids), done.facts)
        async with self._store.snapshot(job.ref) as view:
            for name in done.documents if begun_before else done.unchanged:
                document = await view.document(name)
                found = [] if document is None else await view.units_of(document.id)
                mine = [unit for unit in found if unit.created_at >= job.created_at] or found
                units += len(mine)
                facts += sum(unit.layer is Layer.FACT for unit in mine)
        return units, facts


def _more(done: Retained) -> dict[str, Any]:
    """Return what only some retains have: facts handed in, jobs that read with a model."""
    told: dict[str, Any] = {}
    if done.given is not None:
        told["facts_given_count"] = done.given
        told["facts_refused"] = dict(Counter(each.reason for each in done.refused))
    if done.reading_jobs:
        told["reading_operation_ids"] = [to_uuid(i) for i in done.reading_jobs]
    return told


def _item(raw: Mapping[str, Any]) -> Item:
    told = {**raw, "tags": tuple(raw["tags"]), "entities": tuple(raw["entities"])}
    if raw.get("facts") is not None:
        told["facts"] = tuple(
            GivenFact(**{**fact, "entities": tuple(fact["entities"])}) for fact in raw["facts"]
        )
    return Item(**told)


def _job(
    job_id: bytes,
    ref: BankRef,
    now: int,
    document: str,
    items: list[dict[str, Any]],
    **more: Any,
) -> Job:
    return Job(
        job_id,
        ref,
        RETAIN,
        JobState.PENDING,
        now,
        now,
        payload={"items": items},
        document=document,
        items=len(items),
        **more,
    )
