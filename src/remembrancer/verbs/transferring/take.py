"""import: files, folders and exports of other programs into a bank.

Each document has a name of its own that the same export always gives it, so an import that was
broken off, or run again, finds what is there and takes nothing twice.
"""

from __future__ import annotations

import asyncio
import zipfile
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

from ...keeping.store import Store
from ...nouns.errors import InvalidInput
from ...nouns.memory import BankRef
from ...nouns.names import UNNAMED, bank_ref
from ...reading.importing.detect import PARSERS, Format, format_of
from ...reading.importing.types import File, Left
from ..reminding.ics import Calendars
from ..retain import Retain
from .archive import MANIFEST, Reader, check_directory
from .bank_in import BankIn, check
from .given import given
from .putting import GraphKeeper, Putter
from .report import Report

T = TypeVar("T")

_AHEAD = 16  # things parsed before they are put
_NOTES = (Format.MARKDOWN, Format.OBSIDIAN)
_ANOTHER = (
    "a document of that name is there with other contents: forget it first, or import into another "
    "bank"
)
_NOTE_ENDINGS = (".md", ".markdown", ".txt")

Progress = Callable[[int, str], None]
"""Called with how many things were looked at, and in which file."""


class Take:
    """The verb; everything it needs is passed in."""

    def __init__(
        self,
        store: Store,
        retain: Retain,
        calendars: Calendars,
        *,
        keep_graph: GraphKeeper | None = None,
    ) -> None:
        self._store = store
        self._retain = retain
        self._calendars = calendars
        self._keep_graph = keep_graph

    async def __call__(
        self,
        ref: BankRef,
        path: Path,
        *,
        wanted: Format | None = None,
        tags: Sequence[str] = (),
        anew: bool = False,
        as_named: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Report:
        """Import a file, a folder or a ZIP file; memory does not grow with its length.

        Args:
            ref: the bank.
            path: what to import.
            wanted: its format; None: each file's own, as far as it can be told.
            tags: for every document, beside its own.
            anew: also documents of which something was forgotten; else they are left.
            as_named: an exported bank goes into the bank of its own name, not into `ref`.
            dry_run: only say what would be taken.
            progress: told of each thing.

        Raises:
            NotFound: there is nothing at the path.
            InvalidInput, TooLarge: it cannot be read, or is a bomb; what came before it is kept.
        """
        putter = Putter(
            self._store,
            self._retain,
            self._calendars,
            ref,
            keep_graph=self._keep_graph,
            tags=tags,
            anew=anew,
            as_named=as_named,
            dry_run=dry_run,
        )
        if wanted is Format.ARCHIVE or (wanted is None and await asyncio.to_thread(_is_own, path)):
            await self._archive(path, putter, progress)
            return putter.report
        seen = 0
        with given(path) as files:
            while (file := await asyncio.to_thread(next, files, None)) is not None:
                if isinstance(file, Left):
                    putter.report.leave(file)
                else:
                    seen = await self._file(ref, file, wanted, putter, seen, progress)
        await putter.finish()
        return putter.report

    async def _file(
        self,
        ref: BankRef,
        file: File,
        wanted: Format | None,
        putter: Putter,
        seen: int,
        progress: Progress | None,
    ) -> int:
        """Import one file; return how many things were looked at so far."""
        found = wanted or await asyncio.to_thread(format_of, file)
        if found is None or (wanted in _NOTES and not file.path.lower().endswith(_NOTE_ENDINGS)):
            putter.report.leave(Left(file.path, "of no format that is known here"))
            return seen
        putter.report.formats[found.value] += 1
        if found is Format.BANK:
            await self._bank(ref, file, putter, progress)
            return seen
        items = PARSERS[found](file)
        while batch := await asyncio.to_thread(_some, items):
            for item in batch:
                await putter.put(item)
                seen += 1
                if progress is not None:
                    progress(seen, file.path)
        return seen

    async def _bank(
        self, ref: BankRef, file: File, putter: Putter, progress: Progress | None
    ) -> None:
        report = putter.report
        with file.open() as opened:
            if not opened.seekable():
                raise InvalidInput("file: unpack the export of a bank first", field="file")
            head = await asyncio.to_thread(check, opened)
            if putter.dry_run:
                report.memories += head.units
                return
            if putter.as_named:
                named = head.bank if head.bank == UNNAMED else bank_ref(head.bank).bank
                ref = BankRef(ref.tenant, named)
            tell = None if progress is None else lambda done, _: progress(done, file.path)
            loaded = await BankIn(self._store)(ref, opened, tell)
        report.documents += loaded.documents
        report.unchanged += len(loaded.there)
        for name in loaded.others:
            report.leave(Left(name, _ANOTHER))
        report.memories += loaded.units
        report.intentions += loaded.intentions
        report.unembedded += 0 if loaded.vectors else loaded.units

    async def _archive(self, path: Path, putter: Putter, progress: Progress | None) -> None:
        with path.open("rb") as file:
            reader = await asyncio.to_thread(Reader, file)
            putter.report.formats[Format.ARCHIVE.value] += 1
            for number, entry in enumerate(reader.entries, 1):
                packed = await asyncio.to_thread(reader.read, entry)
                await putter.document(packed.name, packed.items)
                if progress is not None:
                    progress(number, entry.file)


def _some(items: Iterator[T]) -> list[T]:
    return list(islice(items, _AHEAD))


def _is_own(path: Path) -> bool:
    """Tell whether a file is an archive of documents as `archive` writes it."""
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    try:
        with path.open("rb") as file:
            check_directory(file)
            with zipfile.ZipFile(file) as opened:
                return MANIFEST in opened.NameToInfo
    except zipfile.BadZipFile:
        return False
