"""Copies of the whole database, and the removal from disk of what was deleted."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...nouns.errors import Corrupt, InvalidInput, StoreError
from . import proof
from .connection import SqliteDb

_VACUUM_PAGES = 2_000
"""Free pages given back to the file system at a time: about 8 MB, so writers wait little."""


def backup(db: SqliteDb, source: Path, target: Path, *, verify: bool) -> Mapping[str, Any]:
    """Copy the database to a file, or into a folder under the same name, while it is in use.

    The copy is checked and on disk before it takes the target's name. To verify, every row of it is
    compared with the store at that moment, and the sums are written beside it.
    """
    path = target / source.name if target.is_dir() else target
    if path.resolve() == source.resolve():
        raise StoreError("a backup cannot replace the store itself; name another place")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        part.touch(mode=0o600)
        db.begin_snapshot()
        db.sql("SELECT 1 FROM meta").fetchone()  # which begins it: else copying would read another
        units = _copy(db, part)
        told: dict[str, Any] = {"path": str(path), "units": units}
        proof.beside(path).unlink(missing_ok=True)  # of a copy that was there before
        if verify:
            told |= _prove(db, source, part, proof.beside(path))
        _sync(part)
        part.replace(path)
        _sync(path.parent)
    finally:
        db.end_snapshot()
        part.unlink(missing_ok=True)
    return {**told, "bytes": path.stat().st_size}


def _prove(db: SqliteDb, source: Path, copy: Path, target: Path) -> Mapping[str, Any]:
    """Compare a copy with the snapshot that it was made in, and write the sums of both."""
    key = proof.new_key()
    with _reading(copy) as copied:
        held = proof.sums(copied, copy, key)
    rows = proof.compared(proof.sums(db, source, key), held, str(copy))
    target.touch(mode=0o600)
    target.write_text(proof.spelled(copy, key, held), encoding="utf-8")
    _sync(target)
    return {"rows": rows, "sha256": proof.sha256_of(copy)}


def restore(source: Path, target: Path) -> Mapping[str, Any]:
    """Bring a copy back to where no store is yet; with its sums beside it every row is compared.

    Raises:
        StoreError: there is a store, or no copy.
        InvalidInput: the copy is one of another kind of store.
        Corrupt: the copy is not as it was written; nothing is left of the attempt.
    """
    if source.is_dir():
        raise InvalidInput(
            f"{source} is a folder, as copies of PostgreSQL are: name the database with --store",
            field="store",
        )
    # A log or an index of another store would be taken for that of the copy.
    left = [target, target.with_name(f"{target.name}-wal"), target.with_name("index")]
    if found := next((each for each in left if each.exists()), None):
        raise StoreError(f"{found} is there: name a folder that holds nothing, with --data")
    if not source.is_file():
        raise StoreError(f"{source} is no copy of a store: name the file that `backup` wrote")
    known = proof.read(source)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        part.touch(mode=0o600)
        shutil.copyfile(source, part)
        if known is not None and proof.sha256_of(part) != known[0]:
            raise Corrupt(f"{source} is damaged: it is not what was written; take another copy")
        with _reading(part) as db:
            verdict = db.sql("PRAGMA integrity_check(1)").fetchone()[0]
            if verdict != "ok":
                raise Corrupt(f"{source} does not pass its check: {verdict}")
            units: int = db.sql("SELECT COUNT(*) FROM unit").fetchone()[0]
            told: dict[str, Any] = {"path": str(target), "units": units}
            if known is not None:
                held = proof.sums(db, part, known[1])
                told["rows"] = proof.compared(known[2], held, str(source))
        _sync(part)
        part.replace(target)
        _sync(target.parent)
    finally:
        part.unlink(missing_ok=True)
    return {**told, "bytes": target.stat().st_size}


@contextmanager
def _reading(path: Path) -> Iterator[SqliteDb]:
    """Open a copy to read it, as nobody else does."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None
    )
    try:
        yield SqliteDb(connection, {})
    finally:
        connection.close()


def _copy(db: SqliteDb, part: Path) -> int:
    copy = sqlite3.connect(part, isolation_level=None)
    try:
        # All pages in one step: a copy in several starts afresh whenever someone writes.
        db.connection.backup(copy, pages=-1)
        # One file without a log beside it, so that it can be moved about.
        copy.execute("PRAGMA journal_mode = DELETE")
        verdict = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if verdict != "ok":
            raise Corrupt(f"the copy does not pass its check: {verdict}")
        units: int = copy.execute("SELECT COUNT(*) FROM unit").fetchone()[0]
        return units
    finally:
        copy.close()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def vacuum(db: SqliteDb) -> bool:
    """Give some free pages back to the file system; True while more remain."""
    db.sql(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})").fetchall()
    left: int = db.sql("PRAGMA freelist_count").fetchone()[0]
    return left > 0


def truncate_log(db: SqliteDb, wait_ms: int) -> bool:
    """Move the write-ahead log into the database and empty it; False while readers hold it."""
    before = db.sql("PRAGMA busy_timeout").fetchone()[0]
    db.sql(f"PRAGMA busy_timeout = {wait_ms}").fetchall()
    try:
        busy: int = db.sql("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        db.sql(f"PRAGMA busy_timeout = {before}").fetchall()
    return not busy
