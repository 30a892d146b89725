"""What makes the PostgreSQL store run on Citus, too: held against its tables and its queries."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from remembrancer.keeping.postgres.across import ACROSS, EVERYWHERE
from remembrancer.keeping.postgres.migrate import scripts
from remembrancer.keeping.postgres.spread import BY_BANK, TABLES
from remembrancer.keeping.postgres.spread import EVERYWHERE as SMALL
from remembrancer.keeping.queries import Queries
from remembrancer.keeping.relational.banks import _EMPTIED

QUERIES = Queries.load("remembrancer.keeping.postgres")
_FILES = files("remembrancer.keeping.postgres").joinpath("sql").iterdir()
_PARTS = set(re.findall(r"\{(\w+)\}", "".join(f.read_text() for f in _FILES)))
STATEMENTS = sorted(name for name, text in QUERIES.items() if text and name not in _PARTS)
OF_NO_TABLE = {"database_size", "commit_soon"}
_TABLE = re.compile(r"\b(FROM|JOIN|USING|UPDATE|INTO)\s+([a-z_]+)\b(?:\s+(?:AS\s+)?([a-z_]+)\b)?")
_NO_ALIAS = {"where", "set", "on", "join", "left", "order", "group", "limit", "values", "select"}
_OWN = re.compile(r"\b(?:VALUES \(|SELECT )(?:\$1\b|bank_key\b|u\.bank_key\b)")


def _strayed(text: str) -> list[str]:
    """Return the tables of banks in a query for which it does not say which bank."""
    strays = []
    for how, table, alias in _TABLE.findall(text):
        if table not in BY_BANK:
            continue
        if how == "INTO":
            fits = re.search(rf"INTO {table} \(bank_key\b", text) and _OWN.search(text)
        elif alias and alias.lower() not in _NO_ALIAS:
            fits = re.search(rf"\b{alias}\.bank_key = \$\d", text) or (
                how == "UPDATE" and re.search(r"\bbank_key = \$\d", text)
            )
        else:
            fits = re.search(rf"(?<![.\w])(?:{table}\.)?bank_key = \$\d", text)
        if not fits:
            strays.append(table)
    return strays


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_query_names_the_bank_of_each_table_or_its_reason(name: str) -> None:
    text = QUERIES[name]
    tables = {table for _, table, _ in _TABLE.findall(text)}
    assert not re.search(r"SKIP LOCKED|NOTIFY|LISTEN|nextval|advisory", text, re.IGNORECASE)
    if name in ACROSS:
        assert _strayed(text), f"{name} is about one bank: take it from the list"
    elif name in EVERYWHERE:
        assert tables <= {*SMALL, "g"}
    elif name in OF_NO_TABLE:
        assert not tables & set(TABLES)
    else:
        assert tables & set(BY_BANK)
        assert _strayed(text) == []


def test_the_lists_name_queries_that_there_are() -> None:
    assert {*ACROSS, *EVERYWHERE, *OF_NO_TABLE} <= set(STATEMENTS)
    assert all(len(reason) > 5 for reason in (*ACROSS.values(), *EVERYWHERE.values()))


def test_the_check_finds_a_query_that_strays() -> None:
    assert _strayed("SELECT 1 FROM unit u WHERE u.bank_key = $1") == []
    assert _strayed("SELECT 1 FROM unit u JOIN link l ON l.target = u.unit_id") == ["unit", "link"]
    assert _strayed("SELECT 1 FROM unit WHERE unit_id = $1") == ["unit"]
    assert _strayed("INSERT INTO unit (unit_id) VALUES ($1)") == ["unit"]


def test_every_table_is_kept_by_bank_or_everywhere() -> None:
    ddl = re.sub(r"--.*", "", "\n".join(scripts()))
    found = dict(re.findall(r"CREATE TABLE (\w+) \((.*?)\n\)", ddl, re.DOTALL))
    assert set(found) == set(TABLES)
    for table in BY_BANK:
        columns = [line.strip() for line in found[table].strip().splitlines()]
        assert columns[0].startswith("bank_key bigint"), table
        key = re.search(r"PRIMARY KEY \((\w+)", found[table])
        assert "PRIMARY KEY" in columns[0] or (key and key.group(1) == "bank_key"), table
    for table, columns in re.findall(r"CREATE UNIQUE INDEX \w+ ON (\w+) \(([^)]*)\)", ddl):
        assert table in BY_BANK
        assert columns.startswith("bank_key,")
    refused = r"REFERENCES|CREATE TRIGGER|FUNCTION|SERIAL|GENERATED|EXTENSION|UNIQUE \("
    assert not re.search(refused, ddl, re.IGNORECASE)


def test_dropping_a_bank_empties_each_of_its_tables() -> None:
    assert set(_EMPTIED) == set(BY_BANK)
    for table in BY_BANK:
        assert QUERIES[f"drop_{table}"] == f"DELETE FROM {table} WHERE bank_key = $1"


def test_both_dialects_have_the_same_queries() -> None:
    sqlite = set(Queries.load("remembrancer.keeping.sqlite"))
    own = {
        "bank_lock", "commit_soon", "database_size", "job_values", "settle_banks",
        "settle_others", "settle_pending", "settle_vectors", "unsettled", "unsettled_done",
    }  # fmt: skip
    assert set(QUERIES) - sqlite == own
    assert sqlite - set(QUERIES) == {"deletions", "deletions_wiped", "truth_of_facts"}
