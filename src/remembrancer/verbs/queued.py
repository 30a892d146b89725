"""Queued retain: durable at once, done in the background by whichever process gets to it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..keeping.batch import Batch
from ..keeping.store import Store
from ..nouns.clock import Clock
from ..nouns.ids import IdMaker
from ..nouns.memory import BankRef, Job, JobState
from .retain import Retain
from .units import Item

RETAIN = "retain"


class QueuedRetain:
    """Enqueues retains and, as the job's handler, runs them."""

    def __init__(self, store: Store, retain: Retain, *, ids: IdMaker, clock: Clock) -> None:
        self._store = store
        self._retain = retain
        self._ids = ids
        self._clock = clock

    async def enqueue(self, ref: BankRef, items: Sequence[Item]) -> Job:
        """Check items and keep them as a job; durable when it returns.

        Raises:
            InvalidInput, TooLarge: as `Retain`; nothing was stored.
        """
        checked = await asyncio.to_thread(self._retain.check, items)
        now = self._clock.now_us()
        # The name is fixed here, so that a job run twice writes one document.
        unnamed = self._ids.new().hex()
        payload = {"items": [{**asdict(i), "document": i.document or unnamed} for i in checked]}
        job = Job(self._ids.new(), ref, RETAIN, JobState.PENDING, now, now, payload=payload)
        await self._store.apply(ref, Batch(jobs=[job]))
        return job

    async def run(self, job: Job) -> Mapping[str, Any]:
        """Do a job; running it again changes nothing."""
        items = [
            Item(**{**raw, "tags": tuple(raw["tags"]), "entities": tuple(raw["entities"])})
            for raw in job.payload["items"]
        ]
        done = await self._retain(job.ref, items)
        return {
            "items": done.items,
            "document_ids": done.documents,
            "unit_ids_count": len(done.unit_ids),
            "facts_count": done.facts,
            "unchanged": done.unchanged,
            "unread_count": done.unread,
        }
