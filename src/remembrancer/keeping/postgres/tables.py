"""The tables of a PostgreSQL store as they are, for a move; see `keeping.moving`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import psycopg
from psycopg import sql

from ...nouns.errors import StoreBusy
from .. import moving
from ..moving import KEYS, Checkpoint
from ..relational.db import Row
from . import migrate, types
from .place import Place

Connection = psycopg.Connection[Row]

_MOVE = "moving"  # a table of one row, there while a move into this store is under way
_CURSOR = "moved"
_LOCK = 0x52656D656D627262  # of who moves into a database
_LEAST, _MOST = 16, 2_000  # rows fetched at once
_FETCH_BYTES = 4 << 20


class PgTables:
    """See `keeping.moving.Tables`. The connection reads one snapshot while it is an origin."""

    def __init__(self, connection: Connection, place: Place) -> None:
        self._connection = connection
        self._place = place
        self._types: dict[str, dict[str, str]] = {}

    @property
    def shown(self) -> str:
        """The database, without password."""
        return self._place.shown

    @property
    def identity(self) -> str:
        """The number of the database's own."""
        return f"postgresql:{migrate.identity(self._connection)}"

    def columns(self, table: str) -> list[str]:
        """Return the names of a table's columns."""
        return list(self._types_of(table))

    def tables(self) -> list[str]:
        """Return the names of all tables but those of a move."""
        found = self._connection.execute(
            "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND c.relname <> $2",
            [self._place.schema, _MOVE],
        )
        return [row[0] for row in found]

    def count(self, table: str) -> int:
        """Count a table's rows."""
        text = sql.SQL("SELECT COUNT(*) FROM {}").format(sql.Identifier(table))
        row = self._connection.execute(text).fetchone()
        assert row is not None
        return int(row[0])

    def rows(self, table: str, columns: Sequence[str], after: Row | None) -> Iterator[Row]:
        """Yield rows in the order of the key, from after a key on."""
        key = _names(KEYS[table])
        start: sql.Composable = sql.SQL("")
        if after is not None:
            marks = sql.SQL(", ").join(sql.SQL(f"${n}") for n in range(1, len(after) + 1))
            start = sql.SQL("WHERE ({}) > ({})").format(key, marks)
        text = sql.SQL("SELECT {} FROM {} {} ORDER BY {}").format(
            _names(columns), sql.Identifier(table), start, key
        )
        if self._connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
            with _transaction(self._connection):
                yield from self._fetched(text, after)
        else:
            yield from self._fetched(text, after)

    def meta(self) -> Mapping[str, int]:
        """Return the rows of `meta`."""
        found = self._connection.execute("SELECT name, value FROM meta").fetchall()
        return {str(name): int(value) for name, value in found}

    def checkpoint(self) -> Checkpoint | None:
        """Return how far a move into this store is."""
        if not under_way(self._connection, self._place):
            return None
        row = self._connection.execute(f"SELECT reached FROM {_MOVE}").fetchone()  # nosec B608
        return None if row is None else moving.parse(row[0])

    def begin(self) -> None:
        """Keep servers away from this store until `finish`."""
        self._connection.execute(f"CREATE TABLE IF NOT EXISTS {_MOVE} (reached text NOT NULL)")

    def put(
        self, table: str, columns: Sequence[str], rows: Sequence[Row], reached: Checkpoint
    ) -> None:
        """Add rows and say how far the move is, in one transaction."""
        kinds = self._types_of(table)
        text = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
            sql.Identifier(table), _names(columns)
        )
        with _transaction(self._connection):
            with self._connection.cursor() as cursor, cursor.copy(text) as copy:
                copy.set_types([kinds[name] for name in columns])
                for row in rows:
                    copy.write_row(row)
            self._connection.execute(f"DELETE FROM {_MOVE}")  # nosec B608
            self._connection.execute(
                f"INSERT INTO {_MOVE} VALUES ($1::text)",  # nosec B608
                [moving.spell(reached)],
            )

    def restart(self) -> None:
        """Delete all that was moved here."""
        with _transaction(self._connection):
            for table in (*KEYS, _MOVE):
                self._connection.execute(sql.SQL("TRUNCATE {}").format(sql.Identifier(table)))

    def finish(self, meta: Mapping[str, int]) -> None:
        """Set rows of `meta` and forget the move; let the planner know what is there."""
        with _transaction(self._connection):
            for name, value in meta.items():
                self._connection.execute(
                    "UPDATE meta SET value = $1 WHERE name = $2", [value, name]
                )
            self._connection.execute(f"DROP TABLE {_MOVE}")
        for table in KEYS:
            self._connection.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(table)))

    def _fetched(self, text: sql.Composed, after: Row | None) -> Iterator[Row]:
        """Yield the rows of a query, fetched in parts of about the same size in bytes."""
        declare = sql.SQL("DECLARE {} NO SCROLL CURSOR FOR {}").format(
            sql.Identifier(_CURSOR), text
        )
        self._connection.execute(declare, after or ())
        number = _LEAST
        try:
            with self._connection.cursor(binary=True) as cursor:
                while part := cursor.execute(f"FETCH {number} FROM {_CURSOR}").fetchall():
                    yield from part
                    size = sum(len(v) for row in part for v in row if isinstance(v, (str, bytes)))
                    wanted = number * _FETCH_BYTES // max(size, 1)
                    number = max(_LEAST, min(wanted, 2 * number, _MOST))
        finally:
            if self._connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS:
                self._connection.execute(f"CLOSE {_CURSOR}")

    def _types_of(self, table: str) -> dict[str, str]:
        if table not in self._types:
            found = self._connection.execute(
                "SELECT column_name::text, udt_name::text FROM information_schema.columns"
                " WHERE table_schema = $1 AND table_name = $2",
                [self._place.schema, table],
            )
            self._types[table] = {str(name): str(kind) for name, kind in found}
        return self._types[table]


@contextmanager
def origin(place: Place) -> Iterator[PgTables]:
    """Open the tables of one snapshot; nobody writes to them meanwhile."""
    connection = place.connect()
    try:
        types.register(connection)
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        for table in ("meta", *KEYS):
            connection.execute(sql.SQL("LOCK TABLE {} IN SHARE MODE").format(sql.Identifier(table)))
        # In the order of the key, without sorting all of a table first.
        connection.execute("SET LOCAL enable_sort = off")
        connection.execute("SET LOCAL enable_seqscan = off")
        yield PgTables(connection, place)
    finally:
        connection.close()


@contextmanager
def target(place: Place) -> Iterator[PgTables]:
    """Open the tables to fill them, made when they are not there; one process at a time."""
    connection = place.connect()
    try:
        migrate.migrate(connection, place)
        types.register(connection)
        row = connection.execute("SELECT pg_try_advisory_lock($1)", [_LOCK]).fetchone()
        if row != (True,):
            raise StoreBusy(f"another process is moving something into {place.shown}")
        yield PgTables(connection, place)
    finally:
        connection.close()


def under_way(connection: Connection, place: Place) -> bool:
    """Tell whether a move into this store is not finished."""
    row = connection.execute("SELECT to_regclass($1)", [f"{place.schema}.{_MOVE}"]).fetchone()
    return row != (None,)


@contextmanager
def _transaction(connection: Connection) -> Iterator[None]:
    with connection.transaction():
        connection.execute("SET LOCAL enable_sort = off")
        connection.execute("SET LOCAL enable_seqscan = off")
        yield


def _names(columns: Sequence[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))
