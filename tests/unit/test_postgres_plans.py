"""No query of PostgreSQL's walks a whole bank, or all banks, unless it is one of those listed.

Plans are made for parameters that are not known, as those of prepared statements are, over tables
that statistics call large: `BANKS` banks of equal size. A scan walks unless its index is entered by
more than the bank's key, holds only rows of one kind, or is read in its order up to a limit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from remembrancer.keeping.postgres.folding import folded
from remembrancer.keeping.postgres.spread import BY_BANK
from remembrancer.keeping.queries import Queries

RAW = Queries.load("remembrancer.keeping.postgres")
BANKS, ROWS = 50_000, 50_000_000  # of each table, as statistics tell
_PARTS = {"browse_page", "job_values"}
# Columns that say few different things; all others are taken to tell rows apart.
_FEW = set(
    "layer kind role polarity modality precision op state batch listed kept priority"
    " type trigger_type standing tenant invalid explicit stance flags number cue_generation".split()
)
EXPLAINED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
NAMES = sorted(n for n, text in RAW.items() if text.startswith(EXPLAINED) and n not in _PARTS)

_PEOPLE = "asked by people and dashboards, seldom, of one bank"
_TOTALS = "asked by people and dashboards, of all banks' own rows; no memory is read"
_UPKEEP = "after a change of the embedding model"
WALKS = {
    "alias_list": "people look for a text in names that are sealed",
    "browse_narrow": "people look for a text in memories, or for several things at once",
    "browse_repeats": _PEOPLE,
    "document_during": "people look by one of two times",
    "document_during_count": "people look by one of two times",
    "document_like_count": "people look for a text in names",
    "entity_search": "people look for a text in names",
    "entity_search_count": "people look for a text in names",
    "intention_count": _PEOPLE,
    "intention_cues_stale": _UPKEEP,
    "job_count": _PEOPLE,
    "occurrence_list": _PEOPLE,
    "occurrence_since": "of a bank's intentions, while a third of what may wait is taken to wait; "
    "with the times at hand a few are, and looked up",
    "priming_intends": "EXISTS: ends at the first row",
    "settle_others": _UPKEEP,
    "settle_pending": _UPKEEP,
    "settle_vectors": _UPKEEP,
    "stats_all_jobs": _TOTALS,
    "stats_all_units": _TOTALS,
    "stats_created_at": _PEOPLE,
    "stats_distinct": _PEOPLE,
    "stats_jobs": _PEOPLE,
    "stats_links": _PEOPLE,
    "stats_memories": _TOTALS,
    "stats_mentions": _PEOPLE,
    "stats_occurred_start": _PEOPLE,
    "stats_scopes": _PEOPLE,
    "stats_tags": _PEOPLE,
    "stats_units": _PEOPLE,
    **{f"drop_{table}": "the whole bank goes" for table in BY_BANK if table != "bank"},
}
"""Why each of these may walk."""

Plan = dict[str, Any]


@pytest.fixture(scope="module")
def tables(postgres: Any) -> Iterator[psycopg.Connection[Any]]:
    """A connection to tables that look large."""
    space = postgres.migrated()
    with psycopg.connect(space.url, autocommit=True) as connection:
        connection.execute(f"SET search_path = {space.schema}")
        for table in BY_BANK:
            enlarge(connection, table)
        connection.execute("SET plan_cache_mode = force_generic_plan")
        yield connection
    postgres.drop(space)


def enlarge(connection: psycopg.Connection[Any], table: str) -> None:
    """Put a few rows into a table, and let statistics say that there are many."""
    columns = connection.execute(
        "SELECT attname, atttypid::regtype::text, attnotnull FROM pg_attribute"
        f" WHERE attrelid = '{table}'::regclass AND attnum > 0"
    ).fetchall()
    values = {"bytea": "decode(lpad(to_hex(n), 8, '0'), 'hex')", "text": "'t' || n"}
    made = []
    for _, kind, always in columns:
        value = values.get(kind, "n")
        made.append(value if always else f"CASE n WHEN 1 THEN {value} END")
    connection.execute(
        f"INSERT INTO {table} SELECT {', '.join(made)} FROM generate_series(1, 20) n"
    )
    for name, *_ in columns:
        distinct = 20 if name in _FEW else -1
        if name == "bank_key" and table != "bank":
            distinct = BANKS
        connection.execute(f"ALTER TABLE {table} ALTER COLUMN {name} SET (n_distinct = {distinct})")
    connection.execute(f"ANALYZE {table}")
    rows = BANKS if table == "bank" else ROWS
    connection.execute(f"UPDATE pg_class SET reltuples = {rows} WHERE oid = '{table}'::regclass")


def plan_of(connection: psycopg.Connection[Any], query: str) -> Plan:
    """Return the plan of a query for parameters that are not known."""
    text = folded({"": query}, connection.info.server_version)[""]
    number = 1 + max((int(n) for n in re.findall(r"\$(\d+)", text)), default=0)
    text = text.replace("{ids}", f"${number}").replace("{rows}", f"${number}::bytea[]")
    connection.execute(f"PREPARE asked AS {text}")
    try:
        given = connection.execute(
            "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'asked'"
        ).fetchone()
        assert given is not None
        nothing = f"({', '.join(['NULL'] * given[0])})" if given[0] else ""
        [(found,)] = connection.execute(f"EXPLAIN (FORMAT JSON) EXECUTE asked{nothing}").fetchall()
    finally:
        connection.execute("DEALLOCATE asked")
    made: Plan = found[0]["Plan"]
    return made


def walks(connection: psycopg.Connection[Any], plan: Plan, limited: bool = False) -> Iterator[str]:
    """Yield the scans of a plan that walk a bank or all of them, as texts."""
    kind = plan["Node Type"]
    if kind == "Limit":
        limited = True
    elif kind in {"Sort", "Incremental Sort", "Aggregate", "WindowAgg", "Hash", "Bitmap Heap Scan"}:
        limited = False
    if kind == "Seq Scan" and plan["Relation Name"] in BY_BANK:
        yield f"{kind} on {plan['Relation Name']}"
    elif kind in {"Index Scan", "Index Only Scan", "Bitmap Index Scan"} and not limited:
        condition = plan.get("Index Cond", "")
        if of_many(connection, plan["Index Name"], condition):
            yield f"{kind} of {plan['Index Name']} by {condition}"
    for each in plan.get("Plans", ()):
        yield from walks(connection, each, limited)


def of_many(connection: psycopg.Connection[Any], index: str, condition: str) -> bool:
    """Tell whether a condition leaves as much of an index as a bank has, or more.

    One that leaves out the first column does, though the index may be skipped through; an index of
    rows of one kind alone, such as those that are due, is taken to be small.
    """
    row = connection.execute(
        "SELECT indrelid::regclass::text, indpred IS NULL, ARRAY(SELECT"
        " pg_get_indexdef(indexrelid, n, true) FROM generate_series(1, indnkeyatts) n)"
        f" FROM pg_index WHERE indexrelid = '{index}'::regclass"
    ).fetchone()
    assert row is not None
    table, whole, columns = row
    if table not in BY_BANK or not whole:
        return False
    by = [bool(re.search(rf"(?<!\w){re.escape(each)}(?!\w)", condition)) for each in columns]
    if columns[0] != "bank_key" or len(columns) == 1:
        return not by[0]
    return not (by[0] and by[1])


@pytest.mark.parametrize("name", NAMES)
def test_a_query_walks_no_bank_unless_it_is_listed(
    tables: psycopg.Connection[Any], name: str
) -> None:
    plan = plan_of(tables, RAW[name])
    found = list(walks(tables, plan))
    if name in WALKS:
        assert found, f"{name} walks nothing any more: take it from the list"
    else:
        assert found == [], json.dumps(plan, indent=1)


def test_none_that_names_ids_is_listed() -> None:
    assert set(WALKS) <= set(NAMES)
    assert not [name for name in WALKS if re.search(r"\{ids\}|\{rows\}", RAW[name])]


@pytest.mark.parametrize(
    ("query", "walked"),
    [
        ("SELECT unit_id FROM unit WHERE bank_key = $1 AND text = $2", "unit_"),
        ("SELECT unit_id FROM unit WHERE text = $1", "Seq Scan on unit"),
        ("SELECT count FROM access WHERE unit_id = $1", "access"),
        ("SELECT text FROM unit WHERE bank_key = $1 AND unit_id = $2", None),
    ],
)
def test_the_check_sees_what_walks(
    tables: psycopg.Connection[Any], query: str, walked: str | None
) -> None:
    found = list(walks(tables, plan_of(tables, query)))
    assert found == [] if walked is None else walked in found[0]
