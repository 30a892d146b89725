"""One SQLite connection: how it is opened, and how named queries are run on it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...nouns.errors import Corrupt, StoreBusy, StoreError, StoreFull
from ...nouns.folding import fold_name
from ..relational.db import MAX_IN, Asked, Db
from ..relational.sealing_db import SealingDb
from ..relational.vault import Vault

_STEPS = 20_000  # of SQLite's machine
_LEAST_FREE = 1 << 20
# With 4 MB the leaves of a bank of 100,000 turns drive out the pages above them: 71 reads an answer
# rather than 40.
_READ_PRAGMAS = ("query_only = ON", "cache_size = -16384")
_WRITE_PRAGMAS = (
    "synchronous = FULL",
    "secure_delete = ON",
    "cache_size = -8192",
    "wal_autocheckpoint = 2000",
    "journal_size_limit = 16777216",
)


class SqliteDb(Db):
    """A SQLite connection with the named queries."""

    def __init__(self, connection: sqlite3.Connection, queries: Mapping[str, str]) -> None:
        self.connection = connection
        self._queries = queries
        self._lists: dict[tuple[str, int], str] = {}

    def sql(self, text: str) -> sqlite3.Cursor:
        """Run a statement that is no named query: a pragma, or transaction control."""
        return self.connection.execute(text)

    def all(self, name: str, *params: Any) -> list[tuple[Any, ...]]:
        """Run a query and return its rows."""
        return self.connection.execute(self._queries[name], params).fetchall()

    def run(self, name: str, *params: Any) -> int:
        """Run a change and return the number of rows it touched."""
        return self.connection.execute(self._queries[name], params).rowcount

    def many(self, name: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run a change once a row and return the number of rows touched."""
        return max(self.connection.executemany(self._queries[name], rows).rowcount, 0)

    def later(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        """See `Db.later`: there is no round trip to save."""
        SqliteDb.many(self, name, rows)  # sealed already

    def all_in(
        self, name: str, values: Sequence[bytes | str], *params: Any
    ) -> list[tuple[Any, ...]]:
        """See `Db.all_in`."""
        rows: list[tuple[Any, ...]] = []
        for text, bound in self._expanded(name, values, params):
            rows += self.connection.execute(text, bound).fetchall()
        return rows

    def run_in(self, name: str, values: Sequence[bytes | str], *params: Any) -> int:
        """Run a change whose `{ids}` stands for `values`; return the number of rows touched."""
        return sum(
            self.connection.execute(text, bound).rowcount
            for text, bound in self._expanded(name, values, params)
        )

    def begin_snapshot(self, *asked: Asked) -> None:  # noqa: ARG002 - no round trip to save
        """Start a transaction that reads one state of the database throughout."""
        self.connection.execute("BEGIN")

    def end_snapshot(self) -> None:
        """End the snapshot, if one is open."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def commits(self) -> int:
        """Return a number that changes when another connection has committed."""
        version: int = self.connection.execute("PRAGMA data_version").fetchone()[0]
        return version

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def _expanded(
        self, name: str, values: Sequence[bytes | str], params: tuple[Any, ...]
    ) -> Iterable[tuple[str, tuple[Any, ...]]]:
        for start in range(0, len(values), MAX_IN):
            part = tuple(values[start : start + MAX_IN])
            # Few lengths make few statements, all of which stay prepared; a value that stands
            # twice in an IN list selects its row once.
            size = 1 << (len(part) - 1).bit_length()
            query = self._queries[name]
            text = self._lists.get((name, size))
            if text is None:
                marks = [f"?{n}" for n in range(len(params) + 1, len(params) + 1 + size)]
                text = query.replace("{ids}", ",".join(marks))
                text = text.replace("{rows}", ",".join(f"({mark})" for mark in marks))
                self._lists[name, size] = text
            filler = (None,) if "{rows}" in query else part[-1:]
            yield text, (*params, *part, *(filler * (size - len(part))))


class SealedSqliteDb(SealingDb, SqliteDb):
    """A SQLite connection that seals and opens by the way."""


def open_db(
    path: Path,
    queries: Mapping[str, str],
    *,
    write: bool,
    busy_s: float,
    vault: Vault | None = None,
) -> SqliteDb:
    """Open the database file; it must exist.

    Args:
        path: of the file.
        queries: by name.
        write: whether anything will be changed.
        busy_s: how long a lock is waited for.
        vault: the keys of a store that seals.
    """
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=busy_s,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    connection.create_function("holds", 2, _holds, deterministic=True)
    connection.create_function("fold_name", 1, fold_name, deterministic=True)
    for pragma in ("temp_store = MEMORY", *(_WRITE_PRAGMAS if write else _READ_PRAGMAS)):
        connection.execute(f"PRAGMA {pragma}")
    if vault is None:
        return SqliteDb(connection, queries)
    db = SealedSqliteDb(connection, queries)
    db.seal_with(vault)
    return db


def end_when(db: Db, abandoned: Callable[[], bool]) -> None:
    """Let a connection end its query once nobody waits for it: asked about once a millisecond."""
    assert isinstance(db, SqliteDb)
    db.connection.set_progress_handler(abandoned, _STEPS)


def _holds(text: str, folded: str) -> bool:
    """SQL function: whether a text holds a case-folded one, whatever its own case."""
    return folded in text.casefold()


def _full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _LEAST_FREE
    except OSError:
        return False


def translated(error: Exception, path: Path) -> Exception:
    """Turn a database error into one of ours, which says how to mend it; leave others alone."""
    if not isinstance(error, sqlite3.Error):
        return error
    text = str(error)
    if "locked" in text or "busy" in text:
        return StoreBusy(f"{path} is locked by another program; try again, or close that program")
    if "malformed" in text or "not a database" in text:
        return Corrupt(f"{path} is damaged ({text}); restore it from a backup")
    if "full" in text or ("I/O" in text and _full(path.parent)):  # its log cannot be made longer
        return StoreFull(f"the disk of {path} is full; free some space and try again")
    return StoreError(f"{path} cannot be used: {text}")
