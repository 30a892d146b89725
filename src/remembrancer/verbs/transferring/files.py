"""Files to documents: kept as they come, read and retained in the background.

Each file is a document of its own. Its bytes are kept until it has been read, then dropped: the
text is the document.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import IO, Any

from ...keeping.worker import JobContext
from ...nouns.clock import Clock
from ...nouns.errors import InvalidInput, TooLarge
from ...nouns.ids import IdMaker, to_uuid
from ...nouns.memory import BankRef, Job, JobState
from ...nouns.text import clean
from ...reading.file_text import SNIFFED_BYTES, FileKind, kind_of, read_text
from ...reading.office import NAME as MARKITDOWN
from ...reading.office import installed, read_office
from ..retain import Retain
from ..retaining.units import Item
from .uploads import Uploads

FILE_RETAIN = "file_retain"
"""The kind of its jobs."""

BUILTIN = "builtin"
PARSERS = (BUILTIN, MARKITDOWN)
MAX_FILES = 10  # of one call
MAX_NAME_CHARS = 255


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was handed in.

    `item` is what is retained but for its content. `parsers` are tried in turn; none: whichever
    can read it.
    """

    name: str
    media_type: str
    size: int
    file: IO[bytes]
    item: Item
    parsers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a file is read: what it is and by which parsers, in turn."""

    kind: FileKind
    parsers: tuple[str, ...]


class Files:
    """Takes files and, as the job's handler, retains them."""

    def __init__(
        self,
        retain: Retain,
        uploads: Uploads,
        *,
        ids: IdMaker,
        clock: Clock,
        max_content_bytes: int,
    ) -> None:
        self._retain = retain
        self._uploads = uploads
        self._ids = ids
        self._clock = clock
        self._max_content_bytes = max_content_bytes

    async def enqueue(self, ref: BankRef, uploads: Sequence[Upload]) -> list[Job]:
        """Keep files and queue a job for each; durable when it returns.

        Raises:
            InvalidInput, TooLarge: names the file and what is wrong; nothing was kept.
        """
        _check_count(uploads)
        plans = [await self._plan(n, upload) for n, upload in enumerate(uploads)]
        job_ids = [self._ids.new() for _ in uploads]
        # The name is fixed here, so that a job run twice writes one document.
        items = [
            replace(u.item, content="", document=u.item.document or f"file_{to_uuid(i)}")
            for u, i in zip(uploads, job_ids, strict=True)
        ]
        _check_documents(items)
        now = self._clock.now_us()

        def jobs(parts: Sequence[int]) -> list[Job]:
            return [
                Job(
                    job_id,
                    ref,
                    FILE_RETAIN,
                    JobState.PENDING,
                    now,
                    now,
                    payload={
                        "filename": upload.name,
                        "kind": plan.kind.value,
                        "parsers": plan.parsers,
                        "parts": count,
                        "item": asdict(item),
                    },
                    document=item.document,
                    items=1,
                )
                for job_id, upload, plan, item, count in zip(
                    job_ids, uploads, plans, items, parts, strict=True
                )
            ]

        files = [(i, upload.file) for i, upload in zip(job_ids, uploads, strict=True)]
        return await self._uploads.enqueue(ref, files, jobs)

    async def run(self, job: Job, context: JobContext) -> Mapping[str, Any]:
        """Read one file and retain it; run again, it retains the same."""
        payload = job.payload
        try:
            async with self._uploads.open(job, payload["parts"]) as file:
                text = await self._read(file, payload)
        except InvalidInput:
            await self._uploads.drop(job, context.fence)  # nobody will ever read it
            raise
        raw = payload["item"]
        item = Item(
            **{
                **raw,
                "content": text,
                "tags": tuple(raw["tags"]),
                "entities": tuple(raw["entities"]),
            }
        )
        done = await self._retain(job.ref, [item], fence=context.fence)
        return {
            "items": 1,
            "filename": payload["filename"],
            "document_ids": done.documents,
            "unit_ids_count": len(done.unit_ids),
            "facts_count": done.facts,
            "unchanged": done.unchanged,
            "unread_count": done.unread,
        }

    async def _read(self, file: IO[bytes], payload: Mapping[str, Any]) -> str:
        """Read a file by the first of its parsers that can."""
        kind, name = FileKind(payload["kind"]), payload["filename"]
        failed: InvalidInput | None = None
        for parser in payload["parsers"]:
            try:
                text = clean(await self._parse(parser, kind, file))
            except InvalidInput as error:
                failed = error
                continue
            if not text.strip():
                failed = InvalidInput("there is no text in it", field="files")
                continue
            if len(text.encode()) > self._max_content_bytes:
                raise TooLarge(
                    f"{name} holds more than {self._max_content_bytes} bytes of text: split it "
                    "into smaller ones",
                    field="files",
                    limit=self._max_content_bytes,
                )
            return text
        assert failed is not None
        raise InvalidInput(f"{name}: {failed.message}", field="files", limit=failed.limit)

    async def _parse(self, parser: str, kind: FileKind, file: IO[bytes]) -> str:
        if parser == MARKITDOWN:
            return await read_office(file, _ending(kind), self._max_content_bytes)
        await asyncio.to_thread(file.seek, 0)
        data = await asyncio.to_thread(file.read)
        return await asyncio.to_thread(read_text, data, kind)

    async def _plan(self, number: int, upload: Upload) -> _Plan:
        where, shown = f"files[{number}]", upload.name[:MAX_NAME_CHARS]
        if not upload.size:
            raise InvalidInput(f"{where} ({shown}) is empty", field=where, limit=1)
        unknown = [parser for parser in upload.parsers if parser not in PARSERS]
        if unknown:
            raise InvalidInput(
                f"there is no parser {unknown[0][:50]!r}; there are {', '.join(PARSERS)}",
                field="parser",
            )
        await asyncio.to_thread(upload.file.seek, 0)
        head = await asyncio.to_thread(upload.file.read, SNIFFED_BYTES)
        kind = kind_of(upload.name, upload.media_type, head)
        if kind is None:
            raise InvalidInput(
                f"{where} ({shown}) is of a kind that cannot be read; these can: "
                "text, Markdown, JSON, JSONL, CSV, HTML, PDF, DOCX, PPTX, XLSX",
                field=where,
            )
        plan = _Plan(kind, _able(kind, upload.parsers))
        if not plan.parsers:
            raise InvalidInput(f"{where} ({shown}): {_mend(kind)}", field=where)
        if plan.parsers == (BUILTIN,) and upload.size > self._max_content_bytes:
            raise TooLarge(
                f"{where} ({shown}) has {upload.size} bytes; the limit of a {kind.value} file is "
                f"{self._max_content_bytes}: split it into smaller ones",
                field=where,
                limit=self._max_content_bytes,
            )
        return plan


def _able(kind: FileKind, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return which of the wanted parsers can read a kind of file here, in their order."""
    can = {BUILTIN: kind.plain, MARKITDOWN: installed()}
    # Who asks for markitdown wants the text; what is text already needs no help.
    if kind.plain and MARKITDOWN in wanted and not installed():
        return (BUILTIN,)
    default = (BUILTIN,) if kind.plain else (MARKITDOWN,)
    return tuple(dict.fromkeys(parser for parser in wanted or default if can[parser]))


def _mend(kind: FileKind) -> str:
    if not installed():
        return f"{kind.name} files need another package: pip install 'remembrancer[files]'"
    return f"{kind.name} files are read by the parser {MARKITDOWN}"


def _ending(kind: FileKind) -> str:
    return "txt" if kind is FileKind.TEXT else kind.value


def _check_count(uploads: Sequence[Upload]) -> None:
    if not uploads:
        raise InvalidInput("files must hold at least one file", field="files", limit=1)
    if len(uploads) > MAX_FILES:
        raise TooLarge(
            f"files holds {len(uploads)} files; the limit is {MAX_FILES} a request: send them in "
            "several",
            field="files",
            limit=MAX_FILES,
        )


def _check_documents(items: Sequence[Item]) -> None:
    names = [item.document for item in items]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput(
            f"two files have the document_id {twice!r}: each file is a document of its own",
            field="files_metadata",
        )
