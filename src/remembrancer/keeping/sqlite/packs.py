"""Files of blocks, each under its SHA-256. A file is written once, and then read or replaced whole.

Layout: a mark, the blocks one after another, their index (32 bytes of hash and 4 of length each),
and an end: the number of blocks, the hash of the index, the mark again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple

from ...nouns.errors import Corrupt
from ..durable import sync

PART = ".part"
"""What the name of a file ends with until it is whole."""

_MARK = b"RMBPACK1"
_ENTRY = struct.Struct(">32sI")
_END = struct.Struct(">Q32s8s")


class Place(NamedTuple):
    """Where a block stands."""

    pack: Path
    offset: int
    length: int


class PackWriter:
    """Writes a pack beside its place; `finish` puts it there. Left without, nothing remains."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._part = path.with_name(path.name + PART)
        self._index: list[bytes] = []
        self._file: IO[bytes] | None = None
        self.bytes = 0

    def __enter__(self) -> PackWriter:
        """Begin; the file is made with the first block."""
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Remove what was not finished."""
        if self._file is not None:
            with contextlib.suppress(OSError):  # what is buffered may not fit on the disk
                self._file.close()
            self._file = None
        self._part.unlink(missing_ok=True)

    @property
    def blocks(self) -> int:
        """How many there are in it."""
        return len(self._index)

    def add(self, digest: bytes, block: bytes) -> None:
        """Write a block."""
        if self._file is None:
            self._part.unlink(missing_ok=True)
            self._part.touch(mode=0o600)
            self._file = self._part.open("wb")
            self._file.write(_MARK)
        self._file.write(block)
        self._index.append(_ENTRY.pack(digest, len(block)))
        self.bytes += len(block)

    def finish(self) -> None:
        """Put the pack in its place, durably; one without blocks is none."""
        if self._file is None:
            return
        index = b"".join(self._index)
        self._file.write(index)
        self._file.write(_END.pack(len(self._index), hashlib.sha256(index).digest(), _MARK))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._file = None
        self._part.replace(self._path)
        sync(self._path.parent)


def index_of(pack: Path) -> list[tuple[bytes, Place]]:
    """Return the hashes of a pack's blocks, and where each stands.

    Raises:
        Corrupt: the index is not as it was written.
    """
    try:
        with pack.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _END.size))
            number, digest, mark = _END.unpack(file.read(_END.size))
            start = size - _END.size - number * _ENTRY.size
            if mark != _MARK or start < len(_MARK):
                raise ValueError
            file.seek(start)
            index = file.read(number * _ENTRY.size)
            if hashlib.sha256(index).digest() != digest:
                raise ValueError
    except FileNotFoundError:
        raise
    except (OSError, ValueError, struct.error) as error:
        raise Corrupt(f"{pack} is damaged: its index does not read") from error
    found = []
    offset = len(_MARK)
    for name, length in _ENTRY.iter_unpack(index):
        found.append((name, Place(pack, offset, length)))
        offset += length
    return found


class Blocks:
    """Reads blocks by their hashes out of all packs of a folder; of two the later pack's counts.

    Attributes:
        unread: packs whose index does not read; their blocks count as missing.
    """

    def __init__(self, folder: Path) -> None:
        self._places: dict[bytes, Place] = {}
        self._open: tuple[Path, IO[bytes]] | None = None
        self.unread: list[Path] = []
        self.packs: dict[Path, list[tuple[bytes, Place]]] = {}
        for pack in sorted(folder.glob("*.pack")):
            try:
                self.packs[pack] = index_of(pack)
            except Corrupt:
                self.unread.append(pack)
                continue
            self._places.update(self.packs[pack])

    def __enter__(self) -> Blocks:
        """Begin to read."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what is open."""
        if self._open is not None:
            self._open[1].close()
            self._open = None

    @property
    def places(self) -> Mapping[bytes, Place]:
        """Where each block stands."""
        return self._places

    def raw(self, place: Place) -> bytes:
        """Return what stands there, right or wrong."""
        if self._open is None or self._open[0] != place.pack:
            self.__exit__()
            self._open = place.pack, place.pack.open("rb")
        file = self._open[1]
        file.seek(place.offset)
        return file.read(place.length)

    def read(self, digest: bytes) -> bytes | None:
        """Return a block that is as it was written; None: it is missing or damaged."""
        place = self._places.get(digest)
        if place is None:
            return None
        try:
            block = self.raw(place)
        except OSError:
            return None
        return block if hashlib.sha256(block).digest() == digest else None

    def damaged(self) -> Iterator[tuple[bytes, bool]]:
        """Read every block; yield its hash, and whether it is damaged."""
        for digest in self._places:
            yield digest, self.read(digest) is None
