"""Copies of the tables as files, of one moment, and what brings them back."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from ...nouns.errors import Corrupt, StoreError
from .. import part_files
from ..durable import sync
from ..moving import Progress
from ..relational.db import Row
from . import migrate
from .place import Place
from .spread import TABLES

Connection = psycopg.Connection[Row]

MANIFEST = "manifest.json"
_FORMAT = 1
_KEPT_HERE = ("schema", "identity")  # rows of `meta` that say which database it is
_READ_BYTES = 1 << 20


def backup(
    place: Place, target: Path, verify: bool = False, progress: Progress | None = None
) -> Mapping[str, Any]:
    """Copy all tables into a new folder, as they are at one moment, while they are in use.

    Files of a copy that is not complete are in a folder that ends with `.part`; the next backup to
    the same place removes what a killed one left. To verify, files are read again and compared with
    what was sent. `progress` is told how many tables are done.

    Raises:
        Corrupt: a file is not what was written.
        StoreError: the folder is there and holds something.
    """
    if target.is_dir() and any(target.iterdir()):
        raise StoreError(f"{target} is not empty; name a folder that is, or a new one")
    target.parent.mkdir(parents=True, exist_ok=True)
    with part_files.writing_folder(target) as part:
        connection = place.connect()
        try:
            manifest = _copy_out(connection, place, part, progress)
        finally:
            connection.close()
        for entry in manifest["tables"].values() if verify else ():
            if _digest(part / entry["file"]) != entry["sha256"]:
                raise Corrupt(f"{entry['file']} of the copy is not what was written to it")
        text = json.dumps(manifest, indent=1) + "\n"
        _write(part / MANIFEST, [text.encode()])
        sync(part)
        if target.is_dir():
            target.rmdir()
        part.rename(target)
        sync(target.parent)
    size = sum(file.stat().st_size for file in target.iterdir())
    units = manifest["tables"]["unit"]["rows"]
    return {"path": str(target), "bytes": size, "units": units}


def restore(place: Place, source: Path, progress: Progress | None = None) -> Mapping[str, Any]:
    """Bring a copy back into a database that holds nothing yet, in one transaction.

    `progress` is told how many tables are done.

    Raises:
        StoreError: the database holds banks already, or the copy is of another schema.
        Corrupt: a file is not as it was written; nothing was changed.
    """
    manifest = _manifest(source)
    tables = {name: source / _name(name) for name in manifest["tables"]}
    for name, path in tables.items():
        if _digest(path) != manifest["tables"][name]["sha256"]:
            raise Corrupt(f"{path} is damaged: it is not what was written; take another copy")
    connection = place.connect()
    try:
        schema = migrate.migrate(connection, place)
        if manifest["schema"] != schema:
            raise StoreError(
                f"{source} is of schema {manifest['schema']}, this version has {schema}: restore "
                "it with the version that made it, then migrate",
                limit=schema,
            )
        if missing := sorted(set(TABLES) - set(tables)):
            raise Corrupt(f"{source} is damaged: its {MANIFEST} names no {', '.join(missing)}")
        with connection.transaction():
            _copy_in(connection, place, manifest, tables, progress)
    finally:
        connection.close()
    size = sum(path.stat().st_size for path in tables.values())
    return {"path": str(source), "bytes": size, "units": manifest["tables"]["unit"]["rows"]}


def _manifest(source: Path) -> dict[str, Any]:
    """Return what a copy says of itself: its schema, and of each table what stands in the file."""
    try:
        told: dict[str, Any] = json.loads((source / MANIFEST).read_text())
        told["schema"] + 0
        for entry in told["tables"].values():
            entry["rows"] + 0, entry["sha256"] + "", [name + "" for name in entry["columns"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise Corrupt(f"{source} is no copy of a store: its {MANIFEST} does not read") from exc
    return told


def _name(table: str) -> str:
    return f"{table}.copy"


def _copy_out(
    connection: Connection, place: Place, folder: Path, progress: Progress | None
) -> dict[str, Any]:
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    tables: dict[str, Any] = {}
    for table in TABLES:
        columns = _columns(connection, place, table)
        what = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(
            sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(table)
        )
        path = folder / _name(table)
        with connection.cursor() as cursor:
            with cursor.copy(what) as rows:
                digest = _write(path, (bytes(block) for block in rows))
            count = cursor.rowcount
        tables[table] = {"file": path.name, "columns": columns, "rows": count, "sha256": digest}
        if progress is not None:
            progress(len(tables), len(TABLES))
    schema = migrate.version(connection, place)
    connection.execute("ROLLBACK")
    return {"format": _FORMAT, "schema": schema, "tables": tables}


def _copy_in(
    connection: Connection,
    place: Place,
    manifest: Mapping[str, Any],
    tables: Mapping[str, Path],
    progress: Progress | None,
) -> None:
    for number, table in enumerate(TABLES):
        if progress is not None:
            progress(number, len(TABLES))
        name = sql.Identifier(table)
        if table == "meta":
            kept = sql.SQL(", ").join(map(sql.Literal, _KEPT_HERE))
            connection.execute(sql.SQL("DELETE FROM meta WHERE name NOT IN ({})").format(kept))
        elif connection.execute(sql.SQL("SELECT 1 FROM {} LIMIT 1").format(name)).fetchone():
            raise StoreError(f"{place.shown} holds something already; restore into an empty one")
        columns = [sql.Identifier(each) for each in manifest["tables"][table]["columns"]]
        into = sql.SQL("COPY {} ({}) FROM STDIN").format(name, sql.SQL(", ").join(columns))
        with connection.cursor() as cursor, cursor.copy(into) as rows:
            for block in _blocks(tables[table]):
                rows.write(_without_kept(block) if table == "meta" else block)


def _without_kept(block: bytes) -> bytes:
    lines = block.splitlines(keepends=True)
    names = tuple(f"{name}\t".encode() for name in _KEPT_HERE)
    return b"".join(line for line in lines if not line.startswith(names))


def _columns(connection: Connection, place: Place, table: str) -> list[str]:
    found = connection.execute(
        "SELECT column_name FROM information_schema.columns"
        " WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position",
        [place.schema, table],
    )
    return [row[0] for row in found]


def _write(path: Path, blocks: Iterator[bytes] | list[bytes]) -> str:
    digest = hashlib.sha256()
    try:
        path.touch(mode=0o600, exist_ok=False)
        with path.open("wb") as file:
            for block in blocks:
                digest.update(block)
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
    except OSError as exc:
        raise StoreError(f"{path} cannot be written: {exc.strerror}") from exc
    return digest.hexdigest()


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    for block in _blocks(path):
        digest.update(block)
    return digest.hexdigest()


def _blocks(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while block := file.read(_READ_BYTES):
                yield block
    except OSError as exc:
        raise Corrupt(f"{path} cannot be read: {exc.strerror}") from exc
