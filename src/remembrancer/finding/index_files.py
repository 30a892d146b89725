"""How segment files lie on disk: as they are and memory-mapped, or sealed and read into memory.

A sealed file is a mark and blocks of at most 4 MB, each after its length. Each block is bound to
its file, its place in it and whether it is the last one, so that none can be left out or swapped.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..keeping.sealing import FileKey
from ..nouns.errors import Corrupt

_MARK = b"RMBSEAL1"
_BLOCK = 4 << 20
_LENGTH = 8

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing: for their owner alone."""
    if folder.exists():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    _give(folder)


def opened(path: Path, mode: str) -> Any:
    """Open a file to write it; a new one is made for its owner alone."""
    file = open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))  # noqa: SIM115
    _give(path)
    return file


def _give(path: Path) -> None:
    """Give what root makes to whom the folder belongs, so that a service can go on with it."""
    if os.geteuid() == 0:
        with suppress(OSError):  # a root that may not, as in some containers
            owner = path.parent.stat()
            os.chown(path, owner.st_uid, owner.st_gid)


def write(path: Path, pieces: Iterable[memoryview | bytes], key: FileKey | None) -> None:
    """Write a file durably: to a temporary one, fsynced, then renamed. With a key it is sealed.

    What could not be written whole is removed: on a full disk it would be in the way of rows.
    """
    temporary = path.with_suffix(".tmp")
    try:
        with opened(temporary, "wb") as out:
            if key is None:
                for piece in pieces:
                    out.write(piece)
            else:
                _write_sealed(out, path.name, pieces, key)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def read(path: Path, key: FileKey | None) -> Bytes:
    """Map a file, or with a key open it into memory.

    Raises:
        Corrupt: it is missing, or does not open.
    """
    try:
        if key is None:
            return np.memmap(path, dtype=np.uint8, mode="r")
        return _opened(path, key)
    except (OSError, ValueError) as error:
        raise Corrupt(f"index file {path.name} cannot be read: {error}") from error


def _write_sealed(
    out: BinaryIO, name: str, pieces: Iterable[memoryview | bytes], key: FileKey
) -> None:
    out.write(_MARK)
    waiting: bytes | None = None
    number = 0
    for block in _blocks(pieces):
        if waiting is not None:
            _put(out, key.seal(waiting, _about(name, number, last=False)))
            number += 1
        waiting = block
    _put(out, key.seal(waiting or b"", _about(name, number, last=True)))


def _put(out: BinaryIO, sealed: bytes) -> None:
    out.write(len(sealed).to_bytes(_LENGTH, "little"))
    out.write(sealed)


def _opened(path: Path, key: FileKey) -> Bytes:
    size = path.stat().st_size
    plain = np.empty(size, dtype=np.uint8)  # a little more than is needed
    end = number = 0
    with path.open("rb") as source:
        if source.read(len(_MARK)) != _MARK:
            raise Corrupt(f"index file {path.name} is not sealed")
        left = size - len(_MARK)
        while left > 0:
            length = int.from_bytes(source.read(_LENGTH), "little")
            left -= _LENGTH + length
            if length == 0 or left < 0:
                raise Corrupt(f"index file {path.name} is cut short")
            block = key.open(source.read(length), _about(path.name, number, last=left == 0))
            plain[end : end + len(block)] = np.frombuffer(block, dtype=np.uint8)
            end, number = end + len(block), number + 1
    return plain[:end]


def _blocks(pieces: Iterable[memoryview | bytes]) -> Iterator[bytes]:
    gathered = bytearray()
    for piece in pieces:
        for start in range(0, len(piece), _BLOCK):
            gathered += piece[start : start + _BLOCK]
            while len(gathered) >= _BLOCK:
                yield bytes(gathered[:_BLOCK])
                del gathered[:_BLOCK]
    if gathered:
        yield bytes(gathered)


def _about(name: str, number: int, *, last: bool) -> str:
    return f"{name}\0{number}\0{int(last)}"
