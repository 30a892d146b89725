"""No query that names ids walks a whole bank to find them."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from pathlib import Path

import pytest

from remembrancer.keeping.queries import Queries
from remembrancer.keeping.sqlite.store import FILE, SqliteStore
from remembrancer.nouns.clock import SystemClock

QUERIES = Queries.load("remembrancer.keeping.sqlite")
BY_IDS = sorted(
    name
    for name, text in QUERIES.items()
    if re.search(r"IN \(\{ids\}\)|\{rows\}", text) and name != "job_poll"  # its ids are kinds
)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> sqlite3.Connection:
    folder: Path = tmp_path_factory.mktemp("plans")

    async def create() -> None:
        store = SqliteStore(folder, clock=SystemClock())
        await store.open()
        await store.close()

    asyncio.run(create())
    return sqlite3.connect(folder / FILE)


@pytest.mark.parametrize("name", BY_IDS)
def test_ids_are_looked_up(database: sqlite3.Connection, name: str) -> None:
    text = QUERIES[name].replace("{ids}", ",".join(["x'00'"] * 40))
    text = text.replace("{rows}", ",".join(["(x'00')"] * 40))
    text = re.sub(r"\?\d*", "1", text)
    plan = database.execute(f"EXPLAIN QUERY PLAN {text}").fetchall()
    steps = [row[3] for row in plan]
    searches = [s for s in steps if s.startswith(("SEARCH", "SCAN"))]
    whole = [s for s in searches if s.endswith("(bank_key=?)") or s.startswith("SCAN unit")]
    assert searches
    assert whole == [], "\n".join(steps)


def test_what_waits_for_no_index_has_an_index_of_its_own(database: sqlite3.Connection) -> None:
    text = re.sub(r"\?\d*", "1", QUERIES["intention_unindexed"])
    plan = database.execute(f"EXPLAIN QUERY PLAN {text}").fetchall()
    assert [row[3] for row in plan] == ["SEARCH i USING INDEX intention_unindexed (bank_key=?)"]
