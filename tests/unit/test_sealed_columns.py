"""The list of sealed columns holds for the tables and the named queries of both dialects."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from remembrancer.keeping.postgres.folding import folded
from remembrancer.keeping.queries import Queries
from remembrancer.keeping.relational.sealed_columns import COLUMNS, NAMES, ONE, OPEN, QUERIES
from remembrancer.keeping.relational.sealing_queries import queries
from remembrancer.keeping.sqlite.store import FILE, SqliteStore
from remembrancer.nouns.clock import SystemClock

TEXTS = {
    "sqlite": Queries.load("remembrancer.keeping.sqlite"),
    "postgres": folded(Queries.load("remembrancer.keeping.postgres"), 180_000),
}
_FILES = [
    f.read_text()
    for dialect in TEXTS
    for f in files(f"remembrancer.keeping.{dialect}").joinpath("sql").iterdir()
]
_PARTS = set(re.findall(r"\{(\w+)\}", "".join(_FILES)))
_TABLE = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO)\s+([a-z_]+)\b(?:\s+(?:AS\s+)?([a-z]+)\b)?")
_WORDS = {"where", "set", "on", "join", "left", "cross", "order", "group", "limit", "values", "c"}

NOT_NEEDED = {"postgres": {"truth_of_facts"}}  # of each dialect
UNTOUCHED = {
    "bank_count": "looks at the member that stays plain",
    "priming_pinned": "as bank_count",
    "job_forget_open": "clears the payload and sets a fixed error",
    "job_forget_ended": "as job_forget_open",
    "job_cancel": "clears the payload or keeps it",
    "job_cancel_children": "as job_cancel",
    "job_delete": "on PostgreSQL, deletes what a cleared payload leaves",
    "job_delete_children": "as job_delete",
    "job_retry": "clears the error and the progress",
    "job_retry_children": "as job_retry",
    "sameness_some": "compares keys, which are sealed alike",
    "sameness_unlean": "looks at the first bit, which stays",
    "browse_repeats": "counts equal keys, which are sealed alike",
    "browse_newest": "as browse_repeats",
    "stats_distinct": "as browse_repeats",
    "search_unwindow": "clears the column",
    "vector_unwindow": "clears the column",
}
"""Queries that name a sealed column and need nothing done, and why."""


def sealed_in(text: str) -> Iterator[str]:
    """Yield the sealed columns that a query names."""
    tables: dict[str, set[str]] = {}
    for table, alias in _TABLE.findall(text):
        tables.setdefault(table, {table}).add(alias if alias not in _WORDS else table)
    for column in COLUMNS:
        table, _, name = column.partition(".")
        for alias in tables.get(table, ()):
            if re.search(rf"\b{alias}\.{name}\b", text):
                yield column
        if table in tables and re.search(rf"(?<![.:'\w]){name}\b(?!\s*\()", text):
            yield column


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> sqlite3.Connection:
    folder: Path = tmp_path_factory.mktemp("columns")

    async def create() -> None:
        store = SqliteStore(folder, clock=SystemClock())
        await store.open()
        await store.close()

    asyncio.run(create())
    connection = sqlite3.connect(folder / FILE)
    connection.create_function("holds", 2, lambda *_: True)
    return connection


@pytest.mark.parametrize("dialect", TEXTS)
def test_every_query_that_names_a_sealed_column_is_listed(dialect: str) -> None:
    found = {n: sorted(set(sealed_in(t))) for n, t in TEXTS[dialect].items() if n not in _PARTS}
    assert [n for n, c in found.items() if c and n not in {*QUERIES, *UNTOUCHED}] == []
    missing = {*QUERIES, *UNTOUCHED} - set(TEXTS[dialect])
    assert missing == NOT_NEEDED.get(dialect, set())
    assert not set(QUERIES) & set(UNTOUCHED)


def test_the_check_finds_a_column() -> None:
    assert list(sealed_in("SELECT u.text FROM unit u WHERE u.bank_key = ?1")) == ["unit.text"]
    assert list(sealed_in("SELECT text FROM chunk")) == ["chunk.text"]
    assert list(sealed_in("SELECT unit_id, u.tags FROM unit u")) == []
    assert list(sealed_in("SELECT d.name FROM document d")) == []


@pytest.mark.parametrize("name", [n for n, what in QUERIES.items() if what.results])
def test_results_stand_where_the_list_says(database: sqlite3.Connection, name: str) -> None:
    text = TEXTS["sqlite"][name].replace("{ids}", "NULL").replace("{rows}", "(NULL)")
    cursor = database.execute(re.sub(r"\?\d*", "1", text))
    shown = [column[0] for column in cursor.description or ()]
    database.rollback()
    results, owner = QUERIES[name].results or {}, QUERIES[name].owner
    for place, column in results.items():
        assert re.search(rf"\b{column.partition('.')[2]}\b", shown[place]), (column, shown)
    if owner is not None:
        assert [shown[n] for n in owner] == ["tenant", "name"]


@pytest.mark.parametrize("dialect", TEXTS)
@pytest.mark.parametrize("name", [n for n, what in QUERIES.items() if what.params])
def test_parameters_stand_where_the_list_says(dialect: str, name: str) -> None:
    text = TEXTS[dialect][name]
    if dialect == "sqlite":
        numbers = iter(range(1, 100))
        text = re.sub(r"\?(?!\d)", lambda _: f"?{next(numbers)}", text)
    inserted = re.search(
        r"INTO \w+ \((.*?)\)\s+(?:VALUES \(|SELECT )(.*?)(?:\)|\s+WHERE)", text, re.S
    )
    for place, column in (QUERIES[name].params or {}).items():
        own, mark = column.partition(".")[2], rf"[?$]{place + 1}(?:::\w+)?"
        if inserted:
            names = [each.strip() for each in inserted[1].split(",")]
            values = re.sub(r"\(SELECT.*", "", inserted[2], flags=re.S)
            if name == "job_insert":  # counts its place in the queue between its values
                assert names.index(own) - names.index("payload") == place - 8, name
                continue
            assert re.fullmatch(mark, values.split(",")[names.index(own)].strip()), (name, column)
        else:
            assert re.search(rf"\b{own} = (?:CASE [^,]*|COALESCE\()?{mark}(?!\d)", text), (
                name,
                own,
            )


def test_the_lists_fit_together() -> None:
    used = {c for what in QUERIES.values() for c in (what.params or {}).values()}
    used |= {what.values for what in QUERIES.values() if what.values}
    assert used >= set(COLUMNS) - {"search.window_terms", "vector.window_codes"}
    assert {*OPEN, *ONE, *ONE.values()} <= set(COLUMNS)
    assert {COLUMNS[what.values] for what in QUERIES.values() if what.values} <= NAMES


def test_queries_that_seal_what_is_there_run(database: sqlite3.Connection) -> None:
    for text in queries("?").values():
        database.execute(re.sub(r"\?\d*", "1", text))
    database.rollback()
