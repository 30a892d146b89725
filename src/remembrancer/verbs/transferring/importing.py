"""Documents from an archive into a bank: each retained as it was, with its times.

The archive is checked when it is handed in, and read in the background, a document at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import IO, Any, Literal

from ...keeping.store import Store
from ...keeping.worker import JobContext
from ...nouns.clock import Clock
from ...nouns.errors import Conflict, InvalidInput
from ...nouns.ids import IdMaker
from ...nouns.memory import BankRef, Job, JobState
from ..retain import Retain
from ..retaining.units import content_hash
from .archive import Packed, Reader
from .uploads import Uploads

IMPORT = "import"
"""The kind of its jobs."""

OnConflict = Literal["skip", "replace", "error"]
"""What happens to a document whose name is taken; with `error` nothing is imported then."""


class Import:
    """Queues imports and runs them."""

    def __init__(
        self, store: Store, retain: Retain, uploads: Uploads, *, ids: IdMaker, clock: Clock
    ) -> None:
        self._store = store
        self._retain = retain
        self._uploads = uploads
        self._ids = ids
        self._clock = clock

    async def enqueue(self, ref: BankRef, file: IO[bytes], on_conflict: OnConflict) -> Job:
        """Check an archive, keep it and queue its import; durable when it returns.

        Raises:
            InvalidInput, TooLarge: it is no archive, or not fit to be imported; nothing was kept.
            Conflict: `error` was asked for, and a document of the archive is there.
        """
        reader = await asyncio.to_thread(Reader, file)
        if on_conflict == "error":
            await self._refuse_known(ref, reader)
        job_id, now = self._ids.new(), self._clock.now_us()

        def jobs(parts: Sequence[int]) -> list[Job]:
            payload = {"parts": parts[0], "on_conflict": on_conflict}
            return [
                Job(
                    job_id,
                    ref,
                    IMPORT,
                    JobState.PENDING,
                    now,
                    now,
                    payload=payload,
                    items=len(reader.entries),
                )
            ]

        [job] = await self._uploads.enqueue(ref, [(job_id, file)], jobs)
        return job

    async def run(self, job: Job, context: JobContext) -> Mapping[str, Any]:
        """Import an archive; run again, it goes on where it was."""
        on_conflict: OnConflict = job.payload["on_conflict"]
        imported = skipped = replaced = 0
        try:
            async with self._uploads.open(job, job.payload["parts"]) as file:
                reader = await asyncio.to_thread(Reader, file)
                if on_conflict == "error":
                    await self._refuse_known(job.ref, reader)
                for number, entry in enumerate(reader.entries):
                    packed = await asyncio.to_thread(reader.read, entry)
                    what = await self._put(job.ref, packed, on_conflict, context)
                    imported += what == "imported"
                    replaced += what == "replaced"
                    skipped += what == "skipped"
                    await context.progress("documents", number + 1, len(reader.entries))
        except InvalidInput:
            await self._uploads.drop(job, context.fence)  # nobody will ever import it
            raise
        return {
            "items": imported + replaced,
            "documents_count": imported + replaced + skipped,
            "documents_imported": imported,
            "documents_replaced": replaced,
            "documents_skipped": skipped,
        }

    async def _put(
        self, ref: BankRef, packed: Packed, on_conflict: OnConflict, context: JobContext
    ) -> str:
        async with self._store.snapshot(ref) as view:
            there = await view.document(packed.name) is not None
        if there and on_conflict == "skip":
            return "skipped"
        try:
            await self._retain(ref, packed.items, fence=context.fence)
        except InvalidInput as error:
            raise InvalidInput(
                f"document {packed.name!r}: {error.message}", field="file", limit=error.limit
            ) from None
        return "replaced" if there else "imported"

    async def _refuse_known(self, ref: BankRef, reader: Reader) -> None:
        """Refuse an archive of which a document is there with another content."""
        for entry in reader.entries:
            async with self._store.snapshot(ref) as view:
                document = await view.document(entry.name)
            if document is None:
                continue
            packed = await asyncio.to_thread(reader.read, entry)
            items = await asyncio.to_thread(self._retain.check, packed.items)
            if document.content_hash != content_hash(items):
                raise Conflict(
                    f"document {entry.name!r} is there already; import with on_conflict=skip or "
                    "replace",
                    field="on_conflict",
                )
