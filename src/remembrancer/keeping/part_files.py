"""Files and folders written beside the place they will take, and the removal of those left over.

Whoever writes a part holds a lock on it. One that nobody locks is of a process that is gone; it may
hold a plain copy of what was forgotten since, so it is deleted.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

_PART = re.compile(r"(.+)\.(?:\d+|[0-9a-f]{32})\.part(?:-journal|-wal|-shm)?")
_BESIDE = ("-journal", "-wal", "-shm")  # what SQLite writes beside a database


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Make an empty file that is to become `path`; it is removed at the end if it did not.

    What killed processes left of the same is removed first.
    """
    with _written_by(path, _file) as part:
        yield part


@contextmanager
def writing_folder(path: Path) -> Iterator[Path]:
    """As `writing`, of an empty folder."""
    with _written_by(path, _folder) as part:
        yield part


def clear(path: Path) -> list[Path]:
    """Delete what was left of writing `path`; return what may not be deleted by this user."""
    return [part for part in _parts(path.parent, path.name) if not _cleared(part)]


def left(folder: Path) -> list[Path]:
    """Return the parts in a folder that nobody seems to write, of whatever file."""
    return [part for part in _parts(folder, None) if not _written(part)]


def _parts(folder: Path, name: str | None) -> list[Path]:
    """Return the parts of a file, or (None) of any; also those of which only a log is left."""
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError:
        return []
    found = {match[0]: match for each in names if (match := _PART.fullmatch(each))}
    mine = [whole for whole, match in found.items() if name in (None, match[1])]
    return sorted({folder / f"{whole.rpartition('.part')[0]}.part" for whole in mine})


@contextmanager
def _written_by(path: Path, make: Callable[[Path], int]) -> Iterator[Path]:
    clear(path)
    part, handle = _made(path, make)
    try:
        yield part
    finally:
        _remove(part)
        os.close(handle)


def _made(path: Path, make: Callable[[Path], int]) -> tuple[Path, int]:
    while True:
        part = path.with_name(f"{path.name}.{uuid4().hex}.part")
        handle = make(part)
        with suppress(OSError):  # of a file system without locks; there none is deleted either
            fcntl.flock(handle, fcntl.LOCK_EX)
        if part.exists():
            return part, handle
        os.close(handle)  # taken for one left over before it was locked


def _file(part: Path) -> int:
    return os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def _folder(part: Path) -> int:
    while True:
        part.mkdir(mode=0o700)
        with suppress(FileNotFoundError):  # taken for one left over before it was opened
            return os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _cleared(part: Path) -> bool:
    try:
        access = os.O_RDONLY if part.is_dir() else os.O_RDWR  # no folder opens for writing
        handle = os.open(part, access | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        with suppress(OSError):
            _remove(part)
        return True
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(part)
    except BlockingIOError:
        return True  # somebody writes it
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _written(part: Path) -> bool:
    try:
        handle = os.open(part, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def _remove(part: Path) -> None:
    if part.is_dir():
        shutil.rmtree(part)
        return
    for end in (*_BESIDE, ""):
        part.with_name(f"{part.name}{end}").unlink(missing_ok=True)
