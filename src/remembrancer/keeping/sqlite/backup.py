"""Copies of the whole database, and the removal from disk of what was deleted."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...nouns.errors import Corrupt, InvalidInput, StoreError, StoreTooNew
from .. import part_files
from ..durable import sync
from . import proof
from .connection import SqliteDb
from .repository import Progress, Repository, is_repository

_VACUUM_PAGES = 2_000
"""Free pages given back to the file system at a time: about 8 MB, so writers wait little."""

_COPY_PAGES = 4_000  # between two tellings of how far it is: about 16 MB


def backup(
    db: SqliteDb, source: Path, target: Path, *, verify: bool, progress: Progress | None = None
) -> Mapping[str, Any]:
    """Copy the database to a file, or into a folder under the same name, while it is in use.

    The copy is checked and on disk before it takes the target's name. To verify, every row of it is
    compared with the store at that moment, and the sums are written beside it.
    """
    path = target / source.name if target.is_dir() else target
    if path.resolve() == source.resolve():
        raise StoreError("a backup cannot replace the store itself; name another place")
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is no file, and would be replaced by one; name another place")
    path.parent.mkdir(parents=True, exist_ok=True)
    with snapshot_of(db, source, path, verify=verify, progress=progress) as (part, about):
        told: dict[str, Any] = {"path": str(path), "units": about["units"]}
        proof.beside(path).unlink(missing_ok=True)  # of a copy that was there before
        if verify:
            known = proof.Known(proof.sha256_of(part), about["key"], about["tables"])
            _write_sums(proof.beside(path), known)
            told |= {"rows": about["rows"], "sha256": known.sha256}
        sync(part)
        part.replace(path)
        sync(path.parent)
    return {**told, "bytes": path.stat().st_size}


@contextmanager
def snapshot_of(
    db: SqliteDb, source: Path, path: Path, *, verify: bool, progress: Progress | None
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Copy one moment to a part of `path`, and check it; the file is removed at the end.

    Yields the file, and of it `schema` and `units`; with `verify`, after all rows were compared,
    `rows`, `key` and `tables`, the sums by that key.
    """
    with part_files.writing(path) as part:
        try:
            db.begin_snapshot()
            db.sql("SELECT 1 FROM meta").fetchone()  # begins it: else copying would read another
            schema: int = db.sql("PRAGMA user_version").fetchone()[0]
            about: dict[str, Any] = {"schema": schema, "units": _copy(db, part, progress)}
            if verify:
                key = proof.new_key()
                with _reading(part) as copied:
                    held = proof.sums(copied, part, key)
                rows = proof.compared(proof.sums(db, source, key), held, str(part))
                about |= {"rows": rows, "key": key, "tables": held}
            db.end_snapshot()
            yield part, about
        finally:
            db.end_snapshot()


def restore(
    source: Path, target: Path, *, schema: int, name: str | None, progress: Progress | None
) -> Mapping[str, Any]:
    """Bring a copy back to where no store is yet; with its sums beside it every row is compared.

    Args:
        source: a file, the folder that holds it, or a folder of incremental backups.
        target: the database's file.
        schema: the newest one known here.
        name: which of a folder's backups; None: the newest.
        progress: told of each block of an incremental one.

    Raises:
        StoreError: there is a store, or no copy.
        StoreTooNew: the copy has a newer schema.
        InvalidInput: the copy is one of another kind of store.
        Corrupt: the copy is not as it was written; nothing is left of the attempt.
    """
    # A log or an index of another store would be taken for that of the copy.
    left = [target, target.with_name(f"{target.name}-wal"), target.with_name("index")]
    if found := next((each for each in left if each.exists()), None):
        raise StoreError(f"{found} is there: name a folder that holds nothing, with --data")
    shared = source.is_dir() and is_repository(source)
    if not shared and (source / target.name).is_file():
        source = _copy_in(source, target.name)
    if source.is_dir() and not shared:
        raise InvalidInput(
            f"{source} is a folder, as copies of PostgreSQL are: name the database with --store; "
            "it holds no incremental backups of a folder",
            field="store",
        )
    if name is not None and not shared:
        raise InvalidInput(f"{source} is one copy: leave out the name {name}", field="name")
    if not shared and not source.is_file():
        raise StoreError(f"{source} is no copy of a store: name the file that `backup` wrote")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    told: dict[str, Any] = {"path": str(target)}
    with part_files.writing(target) as part:
        if shared:
            repository = Repository(source)
            with repository.held(alone=False):
                told["backup"] = repository.chosen(name)
                manifest = repository.assemble(told["backup"], part, progress)
            sums = manifest.get("sums")
            known = proof.parsed(sums and {**sums, "sha256": manifest["sha256"]}, source)
        else:
            known = proof.read(source)
            shutil.copyfile(source, part)
            if known is not None and proof.sha256_of(part) != known.sha256:
                raise Corrupt(f"{source} is damaged: it is not what was written; take another copy")
        told |= _checked(part, known, source, schema)
        sync(part)
        part.replace(target)
        sync(target.parent)
    return {**told, "bytes": target.stat().st_size}


def _copy_in(folder: Path, name: str) -> Path:
    """Return the copy that `backup FOLDER` wrote."""
    if any((folder / each).exists() for each in (f"{name}-wal", "write.lock")):
        raise StoreError(
            f"{folder} is the folder of a store, and its file is no copy: make one with "
            "`remembrancer backup`"
        )
    return folder / name


def _checked(part: Path, known: proof.Known | None, source: Path, schema: int) -> dict[str, Any]:
    """Check a copy before it becomes a store; return `units`, and `rows` when there are sums."""
    with _reading(part) as db:
        verdict = db.sql("PRAGMA integrity_check(1)").fetchone()[0]
        if verdict != "ok":
            raise Corrupt(f"{source} does not pass its check: {verdict}")
        found: int = db.sql("PRAGMA user_version").fetchone()[0]
        if found > schema:
            raise StoreTooNew(
                f"{source} has schema {found}, written by a newer version of Remembrancer; this "
                f"one knows schemas up to {schema}: restore it with the version that wrote it, or "
                "upgrade",
                limit=schema,
            )
        told: dict[str, Any] = {"units": db.sql("SELECT COUNT(*) FROM unit").fetchone()[0]}
        if known is not None:
            held = proof.sums(db, part, known.key, known.tables)
            told["rows"] = proof.compared(known.tables, held, str(source))
        return told


def _write_sums(path: Path, known: proof.Known) -> None:
    path.touch(mode=0o600)
    path.write_text(proof.spelled(known), encoding="utf-8")
    sync(path)


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


def _copy(db: SqliteDb, part: Path, progress: Progress | None) -> int:
    copy = sqlite3.connect(part, isolation_level=None)
    try:
        # The snapshot is open, so all steps read one moment, whoever writes between them.
        db.connection.backup(
            copy,
            pages=_COPY_PAGES,
            progress=lambda _, left, total: progress(total - left, total) if progress else None,
        )
        # One file without a log beside it, so that it can be moved about.
        copy.execute("PRAGMA journal_mode = DELETE")
        verdict = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if verdict != "ok":
            raise Corrupt(
                f"what the store holds does not pass its check ({verdict}): run `remembrancer "
                "doctor`, and restore the last backup"
            )
        units: int = copy.execute("SELECT COUNT(*) FROM unit").fetchone()[0]
        return units
    finally:
        copy.close()


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
