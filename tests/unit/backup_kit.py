"""What the tests of copies and backups compare: the digests of all rows of a database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from remembrancer.keeping.batch import UnitRow
from remembrancer.keeping.moving import KEYS, digest
from remembrancer.keeping.sqlite.tables import SqliteTables
from remembrancer.nouns.clock import SystemClock
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import BankRef, Layer, Unit

KEY = b"k" * 32
REF = BankRef("default", "bank")


class Db:
    """A connection as `SqliteTables` wants it."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.sql = self.connection.execute


def sums_of(path: Path) -> tuple[int, list[object]]:
    """Return the bank's revision and the digests of all tables, of one moment."""
    db = Db(path)
    with closing(db.connection):
        db.sql("BEGIN")
        found = db.sql("SELECT MAX(revision) FROM bank").fetchone()[0]
        tables = SqliteTables(db, path)
        return found or 0, [digest(tables, t, sorted(tables.columns(t)), KEY) for t in KEYS]


def units(ids: IdMaker, number: int) -> list[UnitRow]:
    """Make memories."""
    now = SystemClock().now_us()
    return [
        UnitRow(Unit(ids.new(), Layer.SOURCE, f"The mill number {n} turns.", now, now))
        for n in range(number)
    ]
