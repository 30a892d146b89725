"""What a tenant has in the database, to see that nobody else has changed it."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

from remembrancer.nouns.ids import bank_key


def rows(folder: Path, tenant: str) -> dict[str, str]:
    """Return a hash of every table's rows that belong to banks of a tenant."""
    with closing(sqlite3.connect(folder / "memory.db")) as db:
        named = db.execute("SELECT bank_key, name FROM bank WHERE tenant = ?", (tenant,)).fetchall()
        assert all(key == bank_key(tenant, name) for key, name in named)
        mine = {key for key, _ in named}
        tables = [
            name
            for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not name.startswith("sqlite_")
        ]
        found = {}
        for table in tables:
            cursor = db.execute(f"SELECT * FROM {table}")
            columns = [column[0] for column in cursor.description]
            if "bank_key" not in columns:
                continue
            at = columns.index("bank_key")
            kept = sorted(repr(row) for row in cursor if row[at] in mine)
            found[table] = hashlib.sha256("\n".join(kept).encode()).hexdigest()
    assert {"bank", "unit", "record", "intention"} <= found.keys()
    return found
