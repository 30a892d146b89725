"""What was given to import: a file, a folder or a ZIP file, as files to read.

Nothing is unpacked to disk.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from ...nouns.errors import InvalidInput, NotFound, TooLarge
from ...reading.importing.types import File, Left
from .archive import MAX_FILES, check_directory

MAX_UNPACKED = 8 * 1024 * 1024 * 1024
"""Bytes that are read of one ZIP file, unpacked, in all."""

MAX_RATIO = 200
"""A member that unpacks to more than so many times its size is a bomb: JSON comes to about 10."""

_RATIO_FROM = 16 * 1024 * 1024  # a small file of blanks is no danger
_ENCRYPTED = 0x1
_HIDDEN = (".", "__MACOSX")  # `.obsidian`, `.trash`, `.git`


@contextmanager
def given(path: Path) -> Iterator[Iterator[File | Left]]:
    """Open what was given; yields its files, and what of it is not read.

    Raises:
        NotFound: there is nothing at the path.
        InvalidInput, TooLarge: it is a ZIP file that is not fit to be read.
    """
    if path.is_dir():
        yield _folder(path)
    elif not path.is_file():
        raise NotFound(f"there is no file or folder {str(path)!r}", field="file")
    elif zipfile.is_zipfile(path):
        with path.open("rb") as file:
            check_directory(file)
            try:
                with zipfile.ZipFile(file) as opened:
                    yield _zip(opened)
            except (zipfile.BadZipFile, NotImplementedError) as error:
                raise InvalidInput(f"file: it is no ZIP file ({error})", field="file") from None
    else:
        yield iter([_file(path, path.name)])


def _file(path: Path, name: str) -> File:
    told = path.stat()
    return File(name, told.st_size, lambda: path.open("rb"), told.st_mtime_ns // 1_000)


def _folder(root: Path) -> Iterator[File | Left]:
    """Walk a folder in the order of names; links are not followed, hidden folders not entered."""
    count = 0
    for folder, inner, names in os.walk(root, followlinks=False):
        inner[:] = sorted(n for n in inner if not n.startswith(_HIDDEN))
        for name in sorted(names):
            path = Path(folder, name)
            told = path.relative_to(root).as_posix()
            if name.startswith(_HIDDEN):
                continue
            if not stat.S_ISREG(path.lstat().st_mode):
                yield Left(told, "a link, or no plain file: not followed")
                continue
            count += 1
            if count > MAX_FILES:
                raise TooLarge(
                    f"the folder holds more than {MAX_FILES} files: import parts of it",
                    field="file",
                    limit=MAX_FILES,
                )
            yield _file(path, told)


def _zip(opened: zipfile.ZipFile) -> Iterator[File | Left]:
    budget = _Budget()
    seen: set[str] = set()
    for info in opened.infolist():
        if info.is_dir():
            continue
        told = info.filename[:200]
        why = _unfit(info)
        if info.filename in seen:
            why = "a second file of that name"
        seen.add(info.filename)
        if why is not None:
            yield Left(told, why)
        elif not any(p.startswith(_HIDDEN) for p in PurePosixPath(info.filename).parts):
            yield File(info.filename, info.file_size, _Member(opened, info, budget).open)


def _unfit(info: zipfile.ZipInfo) -> str | None:
    """Return why a member is not read."""
    parts = info.filename.split("/")
    if info.filename.startswith("/") or "\\" in info.filename or ".." in parts or ":" in parts[0]:
        return "a path that leads out of the archive"
    if info.flag_bits & _ENCRYPTED:
        return "encrypted"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "a link: not followed"
    if info.file_size > max(_RATIO_FROM, info.compress_size * MAX_RATIO):
        return f"it unpacks to more than {MAX_RATIO} times its size"
    return None


class _Budget:
    """What may still be unpacked of an archive."""

    def __init__(self) -> None:
        self.left = MAX_UNPACKED


class _Member:
    def __init__(self, opened: zipfile.ZipFile, info: zipfile.ZipInfo, budget: _Budget) -> None:
        self._zip = opened
        self._info = info
        self._budget = budget

    def open(self) -> IO[bytes]:
        """Open it for reading forwards."""
        try:
            inner = self._zip.open(self._info)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise InvalidInput(
                f"file: {self._info.filename[:200]!r} cannot be unpacked ({error})", field="file"
            ) from None
        return cast(IO[bytes], _Counted(inner, self._info, self._budget))


class _Counted:
    """A member that is read, counted against what its entry says and what is left in all."""

    def __init__(self, inner: IO[bytes], info: zipfile.ZipInfo, budget: _Budget) -> None:
        self._inner = inner
        self._info = info
        self._budget = budget
        self._read = 0

    def read(self, size: int = -1) -> bytes:
        """Read up to so many bytes."""
        return self._count(self._unpacked(self._inner.read, size))

    def read1(self, size: int = -1) -> bytes:
        """Read up to so many bytes, as few calls below as can be."""
        return self.read(min(size, 1 << 16) if size >= 0 else 1 << 16)

    def readline(self, size: int = -1) -> bytes:
        """Read a line, or up to so many bytes of it."""
        return self._count(self._unpacked(self._inner.readline, size))

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def writable(self) -> bool:
        """Tell that it cannot be written."""
        return False

    def seekable(self) -> bool:
        """Tell that it is read forwards."""
        return False

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._inner.closed

    def flush(self) -> None:
        """Do nothing: nothing is written."""

    def close(self) -> None:
        """Close it."""
        self._inner.close()

    def __enter__(self) -> _Counted:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _unpacked(self, read: object, size: int) -> bytes:
        try:
            data: bytes = read(size)  # type: ignore[operator]
        except Exception as error:  # those of the unpackers have no common base
            raise InvalidInput(
                f"file: {self._info.filename[:200]!r} is damaged ({type(error).__name__})",
                field="file",
            ) from None
        return data

    def _count(self, data: bytes) -> bytes:
        self._read += len(data)
        self._budget.left -= len(data)
        if self._read > self._info.file_size or self._budget.left < 0:
            limit = self._info.file_size if self._budget.left >= 0 else MAX_UNPACKED
            raise TooLarge(
                f"file: {self._info.filename[:200]!r} unpacks to more than {limit} bytes",
                field="file",
                limit=limit,
            )
        return data
