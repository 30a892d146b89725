"""The control page of a server process, and the library that obeys it (`shim.c`).

Without a C compiler there is no library: processes are then killed between calls only, and writes
fail by a limit on the size of files. The clock is read from the page either way.
"""

from __future__ import annotations

import mmap
import os
import random
import resource
import shutil
import struct
import subprocess
import time
from pathlib import Path

CLOCK, KILL_IN, FAIL_SYNC, FAIL_WRITE, FULL, UNDO, STALL, WRITES, SYNCS, HIT = range(10)
_HOST, _HOST_SIZE, _SIZE = 512, 64, 4096
_HEAD = struct.Struct("<iiqqq")
_SOURCE = Path(__file__).with_name("shim.c")


def compiled(folder: Path) -> Path | None:
    """Return the library, compiled into the folder; None where there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    library = folder / "shim.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", library, _SOURCE, "-ldl", "-lpthread"]
    return library if subprocess.run(command, check=False).returncode == 0 else None


class Control:
    """The page, as the test and the server process map it."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(_SIZE))
        with path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), _SIZE)
        self._words = memoryview(self._page).cast("q")

    def __getitem__(self, word: int) -> int:
        return self._words[word]

    def __setitem__(self, word: int, value: int) -> None:
        self._words[word] = value

    def host(self, name: str) -> None:
        """Let the process have this host name."""
        self._page[_HOST : _HOST + _HOST_SIZE] = name.encode().ljust(_HOST_SIZE, b"\0")

    def calm(self) -> None:
        """Let nothing fail any more; the clock and the name of the host stay."""
        for word in (KILL_IN, FAIL_SYNC, FAIL_WRITE, FULL, STALL):
            self[word] = 0

    def now_us(self) -> int:
        """The time as the process has it: this is its `Clock`."""
        return time.time_ns() // 1_000 + self[CLOCK]


def limit_files(pid: int, size: int | None) -> None:
    """Without the library: bound how long a file the process may write, or lift that."""
    hard = resource.RLIM_INFINITY
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard if size is None else size, hard))


def cut_power(undo: Path, dice: random.Random, *, tail: bool) -> int:
    """Take back writes of a process that was killed which no sync had made durable.

    Args:
        undo: what the library kept.
        dice: which of them; each is lost or not for itself, as disks do it.
        tail: lose all from the first one on, as where a log is cut short.

    Returns:
        how many were lost.
    """
    waiting: dict[str, list[tuple[int, int, bytes]]] = {}
    data = undo.read_bytes() if undo.exists() else b""
    place = 0
    while place + _HEAD.size <= len(data):
        kind, length, at, size, had = _HEAD.unpack_from(data, place)
        place += _HEAD.size
        path = data[place : place + length].decode()
        place += length
        if kind == ord("S"):
            waiting.pop(path, None)
            continue
        waiting.setdefault(path, []).append((at, size, data[place : place + had]))
        place += had
    lost = 0
    for path, writes in sorted(waiting.items()):
        if not Path(path).exists():
            continue
        first = dice.randrange(len(writes)) if tail else 0
        gone = [n for n in range(len(writes)) if (n >= first if tail else dice.random() < 0.6)]
        lost += len(gone)
        _take_back(path, writes, set(gone))
    return lost


def _take_back(path: str, writes: list[tuple[int, int, bytes]], gone: set[int]) -> None:
    """Undo all writes, the last first, then do those again that were not lost."""
    file = os.open(path, os.O_RDWR)
    try:
        kept: dict[int, bytes] = {}
        for number in range(len(writes) - 1, -1, -1):
            at, size, old = writes[number]
            kept[number] = os.pread(file, size, at)
            length = os.fstat(file).st_size
            os.pwrite(file, old, at)
            if len(old) < size and at + size >= length:
                os.ftruncate(file, at + len(old))
        for number, text in sorted(kept.items()):
            if number not in gone:
                os.pwrite(file, text, writes[number][0])
    finally:
        os.close(file)
