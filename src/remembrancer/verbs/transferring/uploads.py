"""Bytes that a job works on: kept in parts beside it, gone when it is done with them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import IO

from ...keeping.batch import Batch
from ...keeping.records import Blob, of_job
from ...keeping.store import Store
from ...nouns.clock import Clock
from ...nouns.errors import NotFound
from ...nouns.memory import BankRef, Job

PART_BYTES = 4 * 1024 * 1024
_ORPHANED_US = 3_600_000_000  # parts whose job never came, because of a crash, may go then


class Uploads:
    """Keeps what was handed in for a job, and hands it out again."""

    def __init__(self, store: Store, *, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def enqueue(
        self,
        ref: BankRef,
        files: Sequence[tuple[bytes, IO[bytes]]],
        make: Callable[[Sequence[int]], Sequence[Job]],
    ) -> list[Job]:
        """Keep files and queue their jobs; durable when it returns, and nothing of it if it fails.

        Args:
            ref: the bank.
            files: the id of the job that gets it, and a file, read from its beginning.
            make: returns the jobs, told how many parts each file has.
        """
        counts: list[int] = []
        try:
            for job_id, file in files:
                counts.append(await self._put(ref, job_id, file))
            jobs = list(make(counts))
            await self._store.apply(ref, Batch(jobs=jobs))
        except BaseException:
            await asyncio.shield(self._drop(ref, [job_id for job_id, _ in files]))
            raise
        return jobs

    @asynccontextmanager
    async def open(self, job: Job, parts: int) -> AsyncIterator[IO[bytes]]:
        """Open what was kept for a job as a file that has no name.

        Raises:
            NotFound: it is not kept any more.
        """
        with await asyncio.to_thread(tempfile.TemporaryFile) as file:
            for number in range(parts):
                part = await self._store.blob_get(job.ref, f"{of_job(job.id)}{number}", 0)
                if part is None:
                    raise NotFound("what was uploaded is not kept any more: upload it again")
                await asyncio.to_thread(file.write, part)
            await asyncio.to_thread(file.seek, 0)
            yield file

    async def drop(self, job: Job, fence: tuple[bytes, int]) -> None:
        """Drop what was kept for a job that will never need it.

        Raises:
            Conflict: the job is in other hands.
        """
        await self._store.apply(job.ref, Batch(erase_blobs=[of_job(job.id)], fence=fence))

    async def _put(self, ref: BankRef, job_id: bytes, file: IO[bytes]) -> int:
        await asyncio.to_thread(file.seek, 0)
        number = 0
        while part := await asyncio.to_thread(file.read, PART_BYTES):
            expires = self._clock.now_us() + _ORPHANED_US
            await self._store.apply(
                ref, Batch(blobs=[Blob(f"{of_job(job_id)}{number}", part, expires)])
            )
            number += 1
        return number

    async def _drop(self, ref: BankRef, job_ids: Sequence[bytes]) -> None:
        await self._store.apply(ref, Batch(erase_blobs=[of_job(i) for i in job_ids]))
