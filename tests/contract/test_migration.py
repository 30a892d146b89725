"""A store of the first schema opens with everything in it."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

from remembrancer.keeping.sqlite import migrate
from remembrancer.keeping.sqlite.store import FILE, SqliteStore
from remembrancer.nouns.clock import FixedClock
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
