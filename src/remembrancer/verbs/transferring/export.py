"""Documents out of a bank: written to an archive in the background, and fetched by a key.

An archive holds texts, so a forget reaches it: erasing anything in a bank drops the bank's archives
in the same transaction, and an export that runs meanwhile begins again. What was forgotten inside a
document is left out of it.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...keeping.batch import Batch
from ...keeping.records import COPIES, Blob, Record
from ...keeping.store import Store
from ...keeping.view import View
from ...keeping.worker import JobContext
from ...nouns.clock import Clock, iso
from ...nouns.errors import NotFound, RemembrancerError, TooLarge
from ...nouns.ids import IdMaker
from ...nouns.memory import BankRef, Document, Job, JobState, Op, Unit
from ...nouns.text import REDACTED
from ..retaining.delta import GIVEN
from ..retaining.given import GivenFact, given_of, is_given
from ..retaining.units import Item
from .archive import Buffer, Packed, Writer
from .uploads import PART_BYTES

EXPORT = "export"
"""The kind of its jobs."""

ARCHIVE = "archive"
"""The kind of the records of archives."""

KEPT_US = 24 * 3_600_000_000  # an archive can be fetched for a day
KEPT = 5  # archives of one bank
DOWNLOAD = "/v1/default/files/download/"  # the key comes after it
_TOKEN_BYTES = 32
_ATTEMPTS = 5  # when there is forgetting meanwhile
_PAGE = 100
_KEY = re.compile(r"([\w-]+)\.([0-9a-f]{32})\.([\w-]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive that can be fetched: its size in bytes, its name, and its bytes in order."""

    size: int
    filename: str
    parts: AsyncIterator[bytes]


class Export:
    """Queues exports, runs them, and hands out the archives."""

    def __init__(
        self,
        store: Store,
        *,
        ids: IdMaker,
        clock: Clock,
        max_bytes: int,
        random_bytes: Callable[[int], bytes],
    ) -> None:
        self._store = store
        self._ids = ids
        self._clock = clock
        self._max_bytes = max_bytes
        self._random = random_bytes

    async def enqueue(self, ref: BankRef, documents: Sequence[str] | None = None) -> Job:
        """Queue an export of some documents, or of all.

        Raises:
            NotFound: there is no document of a name.
        """
        async with self._store.snapshot(ref) as view:
            for name in documents or ():
                if await view.document(name) is None:
                    raise NotFound(f"document {name!r} does not exist", field="document_id")
        now = self._clock.now_us()
        payload = {"documents": None if documents is None else list(dict.fromkeys(documents))}
        job = Job(
            self._ids.new(),
            ref,
            EXPORT,
            JobState.PENDING,
            now,
            now,
            payload=payload,
            items=len(payload["documents"] or ()),
        )
        await self._store.apply(ref, Batch(jobs=[job]))
        return job

    async def run(self, job: Job, context: JobContext) -> Mapping[str, Any]:
        """Write an archive; it can be fetched from when this returns."""
        for _ in range(_ATTEMPTS):
            done = await self._write(job, context)
            if done is not None:
                return done
        raise RemembrancerError("the bank is being forgotten in; try again later")

    async def open(
        self, tenant: str, key: str, reaches: Callable[[str], bool] = lambda _: True
    ) -> Archive:
        """Open an archive by the key that its export has told; `reaches`: the banks it may be of.

        Raises:
            NotFound: there is none: a wrong key, or it has expired, or was dropped by a forget.
        """
        missing = NotFound(
            "there is no such file; archives go after a day, and when something is forgotten: "
            "export again",
            field="key",
        )
        bank, job, token = _read_key(key) or (None, "", "")
        if bank is None or not reaches(bank):
            raise missing
        ref, now = BankRef(tenant, bank), self._clock.now_us()
        head = await self._store.blob_get(ref, _place(job), now)
        told = json.loads(head) if head is not None else {}
        if not hmac.compare_digest(told.get("token", "").encode(), token.encode()):
            raise missing

        async def parts() -> AsyncIterator[bytes]:
            for number in range(told["parts"]):
                part = await self._store.blob_get(ref, f"{_place(job)}/{number}", now)
                if part is None:
                    raise missing
                yield part

        return Archive(told["bytes"], told["filename"], parts())

    async def _write(self, job: Job, context: JobContext) -> Mapping[str, Any] | None:
        """Write an archive; None when something was forgotten meanwhile."""
        ref, place = job.ref, _place(job.id.hex())
        names, revision = await self._names(job)
        now = self._clock.now_us()
        expires = now + KEPT_US
        buffer = Buffer()
        writer = Writer(buffer, ref.bank, now)
        await self._store.apply(ref, Batch(erase_blobs=[place], fence=context.fence))
        size = parts = 0

        async def put(least: int) -> None:
            nonlocal size, parts
            while len(buffer) >= least:
                part = buffer.take(PART_BYTES)
                size += len(part)
                if size > self._max_bytes:
                    await self._store.apply(ref, Batch(erase_blobs=[place], fence=context.fence))
                    raise TooLarge(
                        f"the archive is larger than {self._max_bytes} bytes: export fewer "
                        "documents, by document_id",
                        field="document_id",
                        limit=self._max_bytes,
                    )
                blob = Blob(f"{place}/{parts}", part, expires)
                await self._store.apply(ref, Batch(blobs=[blob], fence=context.fence))
                parts += 1

        for number, name in enumerate(names):
            packed = await self._packed(ref, name)
            if packed is not None:
                await asyncio.to_thread(writer.add, packed)
            await put(PART_BYTES)
            await context.progress("documents", number + 1, len(names))
        await asyncio.to_thread(writer.close)
        await put(1)
        token = base64.urlsafe_b64encode(self._random(_TOKEN_BYTES)).decode().rstrip("=")
        filename = f"documents-{(iso(now) or '')[:10]}.zip"
        head = {"token": token, "parts": parts, "bytes": size, "filename": filename}
        await self._finish(ref, context, Blob(place, json.dumps(head).encode(), expires), now)
        if await self._forgotten_since(ref, revision):
            return None
        key = _write_key(ref.bank, job.id.hex(), token)
        return {
            "items": writer.count,
            "documents_count": writer.count,
            "bytes": size,
            "filename": filename,
            "key": key,
            "url": f"{DOWNLOAD}{key}",
            "download_url": f"{DOWNLOAD}{key}",
            "expires_at": iso(expires),
        }

    async def _names(self, job: Job) -> tuple[list[str], int]:
        """Return the names of the documents to export, oldest update first, and the revision."""
        wanted = job.payload["documents"]
        async with self._store.snapshot(job.ref) as view:
            if wanted is not None:
                return list(wanted), view.revision
            names: list[str] = []
            while page := await view.documents(_PAGE, len(names)):
                names += [document.name for document in page]
            return names[::-1], view.revision

    async def _packed(self, ref: BankRef, name: str) -> Packed | None:
        """Read one document, in a snapshot of its own: a long one would hold up the log."""
        async with self._store.snapshot(ref) as view:
            document = await view.document(name)
            if document is None:
                return None
            items = await stored_items(view, document)
        if not items:
            return None
        return Packed(
            name=name,
            items=tuple(items),
            tags=document.tags,
            metadata=document.metadata,
            created_at=document.created_at,
            updated_at=document.updated_at,
        )

    async def _finish(self, ref: BankRef, context: JobContext, head: Blob, now: int) -> None:
        """Make an archive fetchable, and drop those that are too old or too many."""
        old = await self._store.records(ref, ARCHIVE, limit=1_000)
        going = [
            record.key
            for place, record in enumerate(old)
            if record.created_at + KEPT_US <= now or place >= KEPT - 1
        ]
        going = [key for key in going if key != head.key]
        await self._store.apply(
            ref,
            Batch(
                erase_records=[(ARCHIVE, key) for key in going],
                records=[Record(ARCHIVE, head.key, now, now)],
                erase_blobs=going,
                blobs=[head],
                fence=context.fence,
            ),
        )

    async def _forgotten_since(self, ref: BankRef, revision: int) -> bool:
        """Tell whether something was erased after a revision, or may have been.

        Whoever forgets after the archive has become fetchable drops it; whoever did before stands
        in the feed.
        """
        async with self._store.snapshot(ref) as view:
            while True:
                page = await view.changes(revision)
                if page is None or any(change.op is Op.ERASE for change in page.changes):
                    return True
                if page.complete:
                    return False
                revision = page.changes[-1].revision


async def stored_items(view: View, document: Document) -> list[Item]:
    """Return what was retained as a document, item by item, without what was forgotten of it.

    An item that named no time gets the one at which it was retained.
    """
    chunks = await view.chunks(document.id)
    text = "".join(chunk.text for chunk in chunks)
    starts = [0]
    for chunk in chunks:
        starts.append(starts[-1] + len(chunk.text))
    told: Sequence[Mapping[str, Any]] = (document.params or {}).get("items") or ()
    if sum(each["length"] for each in told) + max(len(told) - 1, 0) != len(text):
        told = [{"length": len(text)}]
    sources = await view.sources_of(document.id)
    by_start = sorted(((starts[u.chunk_index] + u.start, u) for u in sources), key=lambda s: s[0])
    given = await _given(view, told, sources)
    items: list[Item] = []
    at = place = 0
    for each in told:
        end = at + each["length"]
        while place < len(by_start) and by_start[place][0] < at:
            place += 1
        first = by_start[place][1] if place < len(by_start) and by_start[place][0] < end else None
        mine = [fact for start, u in by_start if at <= start < end for fact in given.get(u.id, ())]
        content = text[at:end].replace(REDACTED, "")
        if content.strip():
            item = _item(document, each, first, content)
            items.append(replace(item, facts=tuple(mine)) if GIVEN in each else item)
        at = end + 1  # the line feed between two items
    return items


async def _given(
    view: View, told: Sequence[Mapping[str, Any]], sources: Sequence[Unit]
) -> Mapping[bytes, Sequence[GivenFact]]:
    """Return the facts that callers handed in, by source."""
    found: dict[bytes, list[GivenFact]] = {}
    if not any(GIVEN in each for each in told):
        return found
    texts = {unit.id: unit.text for unit in sources}
    for fact in await view.facts_of(list(texts)):
        if is_given(fact) and fact.source_id in texts:
            found.setdefault(fact.source_id, []).append(given_of(fact, texts[fact.source_id]))
    return found


def _item(document: Document, told: Mapping[str, Any], first: Unit | None, content: str) -> Item:
    """Make an item of its content, what was told beside it, and the first memory made of it."""
    undated = bool(told.get("undated"))
    timestamp = told.get("timestamp")
    if timestamp is None and not undated:
        timestamp = document.updated_at if first is None else first.created_at
    return Item(
        content=content,
        timestamp=timestamp,
        offset_min=told.get("offset_min"),
        note=told.get("note"),
        metadata=document.metadata if first is None else first.metadata,
        document=document.name,
        tags=document.tags if first is None else first.tags,
        entities=tuple(told.get("entities") or ()),
        resolve_entities=told.get("resolve_entities", True),
        undated=undated,
        observation_scopes=told.get("observation_scopes"),
        strategy=told.get("strategy"),
    )


def _place(job: str) -> str:
    return f"{COPIES}export/{job}"


def _write_key(bank: str, job: str, token: str) -> str:
    name = base64.urlsafe_b64encode(bank.encode()).decode().rstrip("=")
    return f"{name}.{job}.{token}"


def _read_key(key: str) -> tuple[str, str, str] | None:
    """Return bank, job and token; None when it is no key."""
    match = _KEY.fullmatch(key)
    if match is None:
        return None
    name, job, token = match.groups()
    try:
        bank = base64.urlsafe_b64decode(name + "=" * (-len(name) % 4)).decode()
    except (binascii.Error, ValueError):
        return None
    return bank, job, token
