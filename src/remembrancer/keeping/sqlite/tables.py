"""The tables of a SQLite store as they are, for a move; see `keeping.moving`.

Statements are put together from names of tables and columns that the schema holds (hence "nosec");
values are always parameters.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .. import moving
from ..moving import KEYS, Checkpoint, Row
from .connection import SqliteDb, translated

_MOVE = "moving"  # a table of one row, there while a move into this store is under way


class SqliteTables:
    """See `keeping.moving.Tables`. `db` is in a transaction of its own while it is an origin."""

    def __init__(self, db: SqliteDb, path: Path) -> None:
        self._db = db
        self._path = path

    @property
    def shown(self) -> str:
        """The file."""
        return str(self._path)

    @property
    def identity(self) -> str:
        """The file, by its path and by its number on the disk."""
        return f"sqlite:{self._path.resolve()}:{self._path.stat().st_ino}"

    def columns(self, table: str) -> list[str]:
        """Return the names of a table's columns."""
        return [row[1] for row in self._db.sql(f"PRAGMA table_info({table})")]

    def tables(self) -> list[str]:
        """Return the names of all tables but those of a move."""
        found = self._db.sql("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        names = [name for (name,) in found if not name.startswith("sqlite_")]
        return [name for name in names if name != _MOVE]

    def count(self, table: str) -> int:
        """Count a table's rows."""
        with self._telling():
            found = self._db.sql(f"SELECT COUNT(*) FROM {table}").fetchone()  # nosec B608
        number: int = found[0]
        return number

    def rows(self, table: str, columns: Sequence[str], after: Row | None) -> Iterator[Row]:
        """Yield rows in the order of the key, from after a key on."""
        key = ", ".join(KEYS[table])
        marks = ", ".join("?" * len(KEYS[table]))
        start = "" if after is None else f"WHERE ({key}) > ({marks})"
        text = f"SELECT {', '.join(columns)} FROM {table} {start} ORDER BY {key}"  # nosec B608
        with self._telling():
            yield from self._db.connection.execute(text, after or ())

    def meta(self) -> Mapping[str, int]:
        """Return the rows of `meta`."""
        return dict(self._db.sql("SELECT name, value FROM meta"))

    def checkpoint(self) -> Checkpoint | None:
        """Return how far a move into this store is."""
        if not under_way(self._db):
            return None
        row = self._db.sql(f"SELECT reached FROM {_MOVE}").fetchone()  # nosec B608
        return None if row is None else moving.parse(row[0])

    def begin(self) -> None:
        """Keep servers away from this store until `finish`."""
        self._db.sql(f"CREATE TABLE IF NOT EXISTS {_MOVE} (reached TEXT NOT NULL)")

    def put(
        self, table: str, columns: Sequence[str], rows: Sequence[Row], reached: Checkpoint
    ) -> None:
        """Add rows and say how far the move is, in one transaction."""
        marks = ", ".join("?" * len(columns))
        with _transaction(self._db):
            self._db.connection.executemany(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})",  # nosec B608
                rows,
            )
            self._db.sql(f"DELETE FROM {_MOVE}")  # nosec B608
            self._db.connection.execute(f"INSERT INTO {_MOVE} VALUES (?)", [moving.spell(reached)])  # nosec B608

    def restart(self) -> None:
        """Delete all that was moved here."""
        with _transaction(self._db):
            for table in (*KEYS, _MOVE):
                self._db.sql(f"DELETE FROM {table}")  # nosec B608

    def finish(self, meta: Mapping[str, int]) -> None:
        """Set rows of `meta` and forget the move."""
        with _transaction(self._db):
            for name, value in meta.items():
                self._db.connection.execute(
                    "UPDATE meta SET value = ? WHERE name = ?", [value, name]
                )
            self._db.sql(f"DROP TABLE {_MOVE}")

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Say of which of the two stores an error is: both are open meanwhile."""
        try:
            yield
        except sqlite3.Error as exc:
            raise translated(exc, self._path) from exc


def under_way(db: SqliteDb) -> bool:
    """Tell whether a move into this store is not finished."""
    found = db.connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", [_MOVE])
    return found.fetchone() is not None


@contextmanager
def _transaction(db: SqliteDb) -> Iterator[None]:
    db.sql("BEGIN IMMEDIATE")
    try:
        yield
        db.sql("COMMIT")
    except BaseException:
        if db.connection.in_transaction:
            db.sql("ROLLBACK")
        raise
