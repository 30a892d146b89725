"""Bring a database's schema up to date: one process at a time, all or nothing."""

from __future__ import annotations

from importlib.resources import files

import psycopg
from psycopg import sql

from ...nouns.errors import StoreTooNew
from ..relational.db import Row
from . import spread
from .place import Place

Connection = psycopg.Connection[Row]

_LOCK = 0x52656D656D627261  # "Remembra": of everybody who migrates a database


def scripts() -> list[str]:
    """Return the migrations in order; the first brings an empty schema to number 1."""
    folder = files(__package__).joinpath("migrations")
    entries = sorted((e for e in folder.iterdir() if e.name.endswith(".sql")), key=lambda e: e.name)
    return [entry.read_text(encoding="utf-8") for entry in entries]


def version(connection: Connection, place: Place) -> int:
    """Return the number of the schema that the database has; 0: none."""
    there = connection.execute("SELECT to_regclass($1)", [f"{place.schema}.meta"]).fetchone()
    if there == (None,):
        return 0
    row = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    return 0 if row is None else int(row[0])


def identity(connection: Connection) -> str:
    """Return what tells the data of this database from that of any other."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'identity'").fetchone()
    assert row is not None
    return f"{row[0]:016x}"


def check(found: int, place: Place) -> None:
    """Refuse a schema beyond the last one known here.

    Raises:
        StoreTooNew: it is.
    """
    known = len(scripts())
    if found > known:
        raise StoreTooNew(
            f"{place.shown} has schema {found}, written by a newer version of Remembrancer; this "
            f"one knows schemas up to {known}: upgrade it, or name another database",
            limit=known,
        )


def migrate(connection: Connection, place: Place) -> int:
    """Run the migrations that the database lacks, in one transaction; return the schema number.

    Where the extension citus is installed, tables are spread over its nodes.

    Raises:
        StoreTooNew: the database has a schema beyond the last one known here.
    """
    steps = scripts()
    found = version(connection, place)
    check(found, place)
    if found == len(steps) and not spread.wanting(connection, place):
        return found
    # Of the session: a transaction that waited for it would not see what the other one has made.
    connection.execute("SELECT pg_advisory_lock($1::bigint)", [_LOCK])
    try:
        with connection.transaction():
            _make_schema(connection, place)
            found = version(connection, place)
            check(found, place)
            for script in steps[found:]:
                connection.execute(sql.SQL(script))
            connection.execute(
                "UPDATE meta SET value = $1 WHERE name = 'schema' AND value <> $1", [len(steps)]
            )
            spread.spread(connection, place)
    finally:
        if not connection.closed:
            connection.execute("SELECT pg_advisory_unlock($1::bigint)", [_LOCK])
    return len(steps)


def _make_schema(connection: Connection, place: Place) -> None:
    row = connection.execute(
        "SELECT 1 FROM pg_namespace WHERE nspname = $1", [place.schema]
    ).fetchone()
    if row is None:  # IF NOT EXISTS would ask for the right to create one, needed or not
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(place.schema)))
