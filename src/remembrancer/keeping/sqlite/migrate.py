"""Create the database file and bring its schema up to date."""

from __future__ import annotations

import sqlite3
from importlib.resources import files
from pathlib import Path

from ...nouns.errors import StoreTooNew
from .connection import SqliteDb


def create(path: Path) -> None:
    """Create an empty database, readable by its owner alone, unless there is one."""
    path.touch(mode=0o600, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        if connection.execute("PRAGMA page_count").fetchone()[0] == 0:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


def scripts() -> list[str]:
    """Return the migrations in order; the first brings an empty file to schema 1."""
    folder = files(__package__).joinpath("migrations")
    entries = sorted((e for e in folder.iterdir() if e.name.endswith(".sql")), key=lambda e: e.name)
    return [entry.read_text(encoding="utf-8") for entry in entries]


def version(db: SqliteDb) -> int:
    """Return the schema number of the file."""
    number: int = db.sql("PRAGMA user_version").fetchone()[0]
    return number


def migrate(db: SqliteDb, path: Path) -> int:
    """Run the migrations that the file lacks, all in one transaction; return the schema number.

    Raises:
        StoreTooNew: the file has a schema beyond the last one known here.
    """
    steps = scripts()
    found = version(db)
    if found > len(steps):
        raise StoreTooNew(
            f"{path} has schema {found}, written by a newer version of Remembrancer; this one "
            f"knows schemas up to {len(steps)}: upgrade it, or choose another folder",
            limit=len(steps),
        )
    if found == len(steps):
        return found
    db.sql("BEGIN IMMEDIATE")
    try:
        for script in steps[found:]:
            for statement in statements(script):
                db.sql(statement)
        db.sql(f"PRAGMA user_version = {len(steps)}")
        db.sql("COMMIT")
    except BaseException:
        db.sql("ROLLBACK")
        raise
    return len(steps)


def statements(script: str) -> list[str]:
    """Split a script into its statements."""
    found: list[str] = []
    part = ""
    for line in script.splitlines(keepends=True):
        part += line
        if sqlite3.complete_statement(part):
            found.append(part)
            part = ""
    return found
