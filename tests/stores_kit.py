"""Where the servers of a test keep rows, and how a test looks at those rows.

REMEMBRANCER_TEST_STORE is `sqlite`, unless given, or `postgres`: then each data folder has a schema
of its own in the PostgreSQL server of the run, so that whoever opens the folder finds its rows.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import psycopg
from psycopg import sql

from postgres_kit import Server, Space

STORE = "REMEMBRANCER_TEST_STORE"
KINDS = ("sqlite", "postgres")
_URL = "REMEMBRANCER_TEST_URL"
_RUN = "REMEMBRANCER_TEST_RUN"


def chosen() -> str:
    """Return the kind of store that this run is about."""
    kind = os.environ.get(STORE, KINDS[0])
    assert kind in KINDS, f"{STORE} is one of {', '.join(KINDS)}"
    return kind


@contextmanager
def spaces(postgres: Server) -> Iterator[None]:
    """Let data folders have schemas on a server; those are dropped at the end."""
    os.environ[_URL], os.environ[_RUN] = postgres.url, uuid4().hex[:8]
    try:
        yield
    finally:
        with psycopg.connect(postgres.url, autocommit=True) as connection:
            named = connection.execute(
                "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s)", [_prefix()]
            ).fetchall()
        for (name,) in named:
            postgres.drop(postgres.named(name))
        del os.environ[_URL], os.environ[_RUN]


def space(folder: Path) -> Space:
    """Return the schema that a data folder has."""
    name = f"{_prefix()}{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]}"
    return Server(os.environ[_URL]).named(name)


def stored(folder: Path, kind: str | None = None) -> dict[str, str]:
    """Return the settings of a server that uses a folder: where its rows are, if not there."""
    return {"store": space(folder).setting} if (kind or chosen()) == "postgres" else {}


class KeptIn(NamedTuple):
    """The kind of store of a test's servers."""

    kind: str

    def __call__(self, folder: Path) -> dict[str, str]:
        """Return the settings of a server over a folder."""
        return stored(folder, self.kind)


class Rows:
    """The rows of a data folder, read past every server."""

    def __init__(self, folder: Path, kind: str | None = None) -> None:
        self._place = space(folder) if (kind or chosen()) == "postgres" else None
        self._connection: Any
        if self._place is None:
            self._connection = sqlite3.connect(folder / "memory.db")
            return
        self._connection = psycopg.connect(self._place.url, autocommit=True)
        self._connection.execute(
            sql.SQL("SET search_path = {}").format(sql.Identifier(self._place.schema))
        )

    def all(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query that both kinds of store know, and return its rows."""
        found: list[tuple[Any, ...]] = self._connection.execute(query).fetchall()
        return found

    def tables(self) -> dict[str, list[str]]:
        """Return the columns of each table, by its name."""
        names = [
            name
            for (name,) in self.all(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
                if self._place is None
                else "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
            )
            if not name.startswith("sqlite_")
        ]
        found = {}
        for name in names:
            cursor = self._connection.execute(f"SELECT * FROM {name} LIMIT 0")
            found[name] = [column[0] for column in cursor.description]
        return found

    def version(self) -> Any:
        """Return what is another one whenever something was committed by others."""
        query = (
            "PRAGMA data_version" if self._place is None else "SELECT pg_current_wal_insert_lsn()"
        )
        return self.all(query)

    def close(self) -> None:
        self._connection.close()


def rows_of(folder: Path, query: str, kind: str | None = None) -> list[tuple[Any, ...]]:
    """Run a query on the rows of a data folder."""
    with closing(Rows(folder, kind)) as rows:
        return rows.all(query)


def bytes_of(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what is kept: each file by its name, and each table whose rows are in none of them."""
    for path in folder.rglob("*"):
        # An index's segment is written beside and renamed.
        with suppress(IsADirectoryError, FileNotFoundError):
            yield path.name, path.read_bytes()
    if chosen() == "sqlite":
        return
    with closing(Rows(folder)) as rows:
        for table in rows.tables():
            values = [value for row in rows.all(f"SELECT * FROM {table}") for value in row]
            yield table, b"\n".join(v if isinstance(v, bytes) else str(v).encode() for v in values)


def _prefix() -> str:
    return f"test_{os.environ[_RUN]}_"
