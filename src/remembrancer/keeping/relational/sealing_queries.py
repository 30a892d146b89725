"""Queries that seal what was written before, made from the list of sealed columns and the keys."""

from __future__ import annotations

from collections.abc import Mapping

from ..moving import KEYS
from .sealed_columns import COLUMNS


def tables() -> list[str]:
    """Return the tables that have sealed columns, in the order of a move."""
    found = {column.partition(".")[0] for column in COLUMNS}
    return [table for table in KEYS if table in found]


def columns_of(table: str) -> list[str]:
    """Return a table's sealed columns."""
    return [c.partition(".")[2] for c in COLUMNS if c.partition(".")[0] == table]


def queries(mark: str) -> Mapping[str, str]:
    """Return for each table `seal_count_…`, `seal_first_…`, `seal_after_…` and `seal_put_…`.

    They return how many rows there are; the key after `bank_key` and the sealed columns of the
    first rows of a bank, or of those after a key; and set these columns of a row.

    Args:
        mark: what stands before the number of a parameter: `?` or `$`.
    """
    made: dict[str, str] = {}
    for table in tables():
        key, columns = list(KEYS[table][1:]), columns_of(table)
        picked = ", ".join([*key, *columns])
        # All names are of the schema, hence "nosec".
        head = f"SELECT {picked} FROM {table} WHERE bank_key = {mark}1"  # nosec B608
        order = f" ORDER BY {', '.join(key)}" if key else ""
        limit = f" LIMIT {mark}{len(key) + 2}"
        made[f"seal_count_{table}"] = f"SELECT COUNT(*) FROM {table}"  # nosec B608
        made[f"seal_first_{table}"] = f"{head}{order} LIMIT {mark}2"
        if key:
            after = f"({', '.join(key)}) > ({_marks(mark, 2, len(key))})"
            made[f"seal_after_{table}"] = f"{head} AND {after}{order}{limit}"
        sets = ", ".join(f"{c} = {mark}{n}" for n, c in enumerate(columns, 1))
        where = " AND ".join(
            f"{k} = {mark}{n}" for n, k in enumerate(KEYS[table], len(columns) + 1)
        )
        made[f"seal_put_{table}"] = f"UPDATE {table} SET {sets} WHERE {where}"  # nosec B608
    return made


def with_sealing(known: Mapping[str, str], mark: str) -> dict[str, str]:
    """Return a dialect's queries with these."""
    return {**known, **queries(mark)}


def _marks(mark: str, first: int, count: int) -> str:
    return ", ".join(f"{mark}{n}" for n in range(first, first + count))
