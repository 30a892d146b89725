"""Wipe the leftovers of moved cells from the unused middle of database pages.

`secure_delete` zeroes what a statement deletes. But when SQLite balances a tree it moves cells
between pages, and the old copies stay, out of its sight, between a page's cell pointers and its
first cell. Once such a cell is deleted, its text would still be on disk there. Layout of pages and
pointer maps: https://www.sqlite.org/fileformat2.html (sections 1.6 and 1.8).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...nouns.errors import StoreError
from .backup import truncate_log
from .connection import SqliteDb

_HEADERS = {2: 12, 5: 12, 10: 8, 13: 8}
"""Length of a page's header by its type: inner and leaf pages of indexes and tables."""
_TREE = (b"\x01", b"\x05")
"""Pointer map entries of the pages of trees: of their roots, and of the others."""
_PENDING_BYTE = 0x40000000
_READ_PAGES = 1_024


class Pages:
    """The database file as pages, read and written through SQLite's own file descriptor.

    Closing a descriptor of one's own would drop every lock that SQLite holds on the file for this
    process (POSIX). While `db` is open and has read, SQLite closes none of its descriptors either.
    """

    def __init__(self, db: SqliteDb, path: Path) -> None:
        self.size: int = db.sql("PRAGMA page_size").fetchone()[0]
        self.count: int = db.sql("PRAGMA page_count").fetchone()[0]
        self.file = _descriptor(path)
        self._span: int = self.size // 5 + 1
        self._pending = _PENDING_BYTE // self.size + 1

    def read(self, first: int, count: int = 1) -> bytes:
        """Return pages from number `first` on; the first page of a file is number 1."""
        return os.pread(self.file, count * self.size, (first - 1) * self.size)

    def map_of(self, page: int) -> int:
        """Return the number of the pointer map page that has the entry of `page`."""
        number = (page - 2) // self._span * self._span + 2
        return number + int(number == self._pending)

    def in_tree(self, page: int, entries: bytes) -> bool:
        """Tell from its pointer map page whether a page belongs to a tree."""
        place = 5 * (page - self.map_of(page) - 1)
        return place >= 0 and entries[place : place + 1] in _TREE

    def gap(self, body: bytes) -> tuple[int, int]:
        """Return where the unused middle of a tree page starts and ends."""
        header = _HEADERS.get(body[0])
        if header is None:
            return 0, 0
        start = header + 2 * int.from_bytes(body[3:5], "big")
        return start, int.from_bytes(body[5:7], "big") or 65_536


def dirty_pages(db: SqliteDb, path: Path) -> list[int]:
    """Return the numbers of the pages with leftovers; reads the whole file, takes no lock."""
    db.all("generation_list")  # starts SQLite's hold on the file
    pages = Pages(db, path)
    return [number for number, body in _tree_pages(pages) if _soiled(pages, body)]


def wipe(
    writer: SqliteDb, db: SqliteDb, path: Path, numbers: Sequence[int], deletions: int, wait_ms: int
) -> bool:
    """Wipe pages, under the write lock; False when the log is in use, for a page may be in it.

    `deletions` were noted before the pages were looked for; those noted since are left for the
    next time.

    The commit by `db`, a connection of its own, makes every other one forget its cached pages:
    a writer that had kept a page would bring its leftovers back.
    """
    if not truncate_log(writer, wait_ms):
        return False
    db.sql("BEGIN IMMEDIATE")
    try:
        if _log_size(path) > 0:
            return False
        pages = Pages(db, path)
        for number in numbers:
            if number <= pages.count:
                _wipe_page(pages, number)
        os.fsync(pages.file)
        db.run("deletions_wiped", deletions)
        db.sql("COMMIT")
    finally:
        if db.connection.in_transaction:
            db.sql("ROLLBACK")
    return True


def _wipe_page(pages: Pages, number: int) -> None:
    body = pages.read(number)
    if pages.in_tree(number, pages.read(pages.map_of(number))) and _soiled(pages, body):
        start, end = pages.gap(body)
        os.pwrite(pages.file, bytes(end - start), (number - 1) * pages.size + start)


def _soiled(pages: Pages, body: bytes) -> bool:
    start, end = pages.gap(body)
    return body.count(0, start, end) < end - start


def _tree_pages(pages: Pages) -> Iterator[tuple[int, bytes]]:
    """Yield number and body of every tree page but the first, which holds the schema alone."""
    entries, entries_of = b"", 0
    for first in range(2, pages.count + 1, _READ_PAGES):
        block = pages.read(first, min(_READ_PAGES, pages.count + 1 - first))
        for number in range(first, first + len(block) // pages.size):
            if (at := pages.map_of(number)) != entries_of:
                entries, entries_of = pages.read(at), at
            if pages.in_tree(number, entries):
                place = (number - first) * pages.size
                yield number, block[place : place + pages.size]


def _log_size(path: Path) -> int:
    log = path.with_name(f"{path.name}-wal")
    return log.stat().st_size if log.exists() else 0


def _descriptor(path: Path) -> int:
    """Return the descriptor by which SQLite has the file open for writing."""
    wanted = path.stat()
    for name in os.listdir("/dev/fd"):  # noqa: PTH208 - numbers are wanted, not paths
        try:
            found = os.fstat(int(name))
            mode = fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_ACCMODE
        except OSError:
            continue
        if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino) and mode == os.O_RDWR:
            return int(name)
    raise StoreError(f"{path} was moved or replaced while in use; close the store and open it")
