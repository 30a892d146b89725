"""A store of every schema there ever was opens with everything in it; a newer one is refused."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from remembrancer.keeping.sqlite import migrate
from remembrancer.keeping.sqlite.connection import open_db
from remembrancer.keeping.sqlite.store import FILE, SqliteStore
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.errors import StoreTooNew
from remembrancer.nouns.ids import bank_key
from remembrancer.nouns.memory import BankRef


def test_a_store_of_the_first_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / FILE
    migrate.create(path)
    database = sqlite3.connect(path)
    for statement in migrate.statements(migrate.scripts()[0]):
        database.execute(statement)
    key = bank_key("default", "old")
    database.execute(
        "INSERT INTO bank (bank_key, tenant, name, revision, trimmed_to, created_at, updated_at,"
        " sources) VALUES (?, 'default', 'old', 1, 0, 5, 5, 1)",
        (key,),
    )
    database.execute(
        "INSERT INTO unit (bank_key, unit_id, layer, kind, role, mentioned_at, chunk_index, turn,"
        " part, start_char, end_char, polarity, created_at, text)"
        " VALUES (?, ?, 0, 0, 0, 5, 0, 0, 0, 0, 3, 1, 5, 'old words')",
        (key, bytes(15) + b"1"),
    )
    database.execute(
        "INSERT INTO job (bank_key, job_id, kind, state, created_at, updated_at, payload, attempts,"
        " run_after, fence, ready_at) VALUES (?, ?, 'read', 'pending', 5, 5, '{}', 0, 0, 0, 0)",
        (key, bytes(15) + b"2"),
    )
    database.execute("PRAGMA user_version = 1")
    database.commit()
    database.close()

    async def look() -> None:
        ref = BankRef("default", "old")
        store = SqliteStore(tmp_path, clock=FixedClock(10))
        await store.open()
        try:
            async with store.snapshot(ref) as view:
                assert [u.text for u in await view.newest(9)] == ["old words"]
            [job] = await store.claim(["read"], 10, 10)
            assert job.id == bytes(15) + b"2"
            assert (await store.health())["schema"] == len(migrate.scripts())
        finally:
            await store.close()

    asyncio.run(look())


NEWEST = len(migrate.scripts())
KEY = bank_key("default", "old")
ROWS = 3


def made(folder: Path, schema: int) -> Path:
    """Create a store as the version with that schema did."""
    folder.mkdir()
    path = folder / FILE
    migrate.create(path)
    with closing(open_db(path, {}, write=True, busy_s=5)) as database:
        database.sql("BEGIN")
        for script in migrate.scripts()[:schema]:
            for statement in migrate.statements(script):
                database.sql(statement)
        database.sql(f"PRAGMA user_version = {schema}")
        database.sql("COMMIT")
    return path


def fill(path: Path) -> None:
    """Put rows into every table: something into each column that must hold something."""
    with closing(sqlite3.connect(path)) as database, database:
        for table in tables(database):
            columns = [
                (name, kind)
                for _, name, kind, needed, default, key in database.execute(
                    f"PRAGMA table_info({table})"
                )
                if (needed and default is None) or key
            ]
            marks = ", ".join("?" * len(columns))
            names = ", ".join(name for name, _ in columns)
            for number in range(ROWS):
                values = [value(table, name, kind, number) for name, kind in columns]
                database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)


def value(table: str, name: str, kind: str, number: int) -> object:
    if name == "bank_key":
        return KEY ^ number if table == "bank" else KEY
    if kind == "INTEGER":
        return number + 1
    if kind == "BLOB":
        return f"{table} {name}".encode().ljust(31)[:15] + bytes([number])
    if name in ("payload", "body", "value", "attributes", "metadata"):
        return "{}"
    return {"kind": "read", "state": "pending"}.get(name, f"{name} {number}")


def tables(database: sqlite3.Connection) -> list[str]:
    """Return the tables but those whose rows say what the store is: `tenant_key` that it seals."""
    found = database.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        " AND name NOT IN ('meta', 'tenant_key') ORDER BY name"
    )
    return [name for (name,) in found]


def contents(path: Path) -> dict[str, tuple[list[str], list[tuple[object, ...]]]]:
    with closing(sqlite3.connect(path)) as database:
        return {
            table: (
                [row[1] for row in database.execute(f"PRAGMA table_info({table})")],
                database.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3").fetchall(),
            )
            for table in tables(database)
        }


def structure(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("PRAGMA user_version").fetchone() == (NEWEST,)
        found = database.execute("SELECT name, sql FROM sqlite_schema WHERE sql <> '' ORDER BY 1")
        return [(name, re.sub(r"\s+", " ", sql)) for name, sql in found]


async def opened(folder: Path) -> None:
    store = SqliteStore(folder, clock=FixedClock(10))
    await store.open()
    await store.close()


@pytest.mark.parametrize("schema", range(1, NEWEST))
def test_every_schema_is_brought_up_to_date_with_all_rows(tmp_path: Path, schema: int) -> None:
    path = made(tmp_path / "old", schema)
    fill(path)
    before = contents(path)
    assert all(len(rows) == ROWS for _, rows in before.values())
    asyncio.run(opened(tmp_path / "old"))
    after = contents(path)
    for table, (columns, rows) in before.items():
        now, found = after[table]
        places = [now.index(column) for column in columns]
        assert [tuple(row[place] for place in places) for row in found] == rows, table
    asyncio.run(opened(tmp_path / "new"))
    assert structure(path) == structure(tmp_path / "new" / FILE)


@pytest.mark.parametrize("schema", range(1, NEWEST + 1))
def test_an_older_version_refuses_what_a_newer_one_wrote(
    tmp_path: Path, schema: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path / "new", schema)
    fill(path)
    before = path.read_bytes()
    older = migrate.scripts()[: schema - 1]
    monkeypatch.setattr(migrate, "scripts", lambda: older)
    with pytest.raises(StoreTooNew, match=f"has schema {schema}, written by a newer version") as no:
        asyncio.run(opened(tmp_path / "new"))
    assert f"schemas up to {schema - 1}: upgrade it" in str(no.value)
    assert path.read_bytes() == before
