"""Copies of the whole database, and the removal from disk of what was deleted."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...nouns.errors import Corrupt, StoreError
from .connection import SqliteDb

_VACUUM_PAGES = 2_000
"""Free pages given back to the file system at a time: about 8 MB, so writers wait little."""


def backup(db: SqliteDb, source: Path, target: Path) -> Mapping[str, Any]:
    """Copy the database to a file, or into a folder under the same name, while it is in use.

    The copy is checked and on disk before it takes the target's name.
    """
    path = target / source.name if target.is_dir() else target
    if path.resolve() == source.resolve():
        raise StoreError("a backup cannot replace the store itself; name another place")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        part.touch(mode=0o600)
        units = _copy(db, part)
        _sync(part)
        part.replace(path)
        _sync(path.parent)
    finally:
        part.unlink(missing_ok=True)
    return {"path": str(path), "bytes": path.stat().st_size, "units": units}


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
