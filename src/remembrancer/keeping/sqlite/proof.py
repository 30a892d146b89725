"""Proof that a copy holds what the store held at one moment: sums over keyed hashes of all rows.

The sums are those that `keeping.moving` compares two stores by. They are written beside the copy,
with the key, so that whoever restores it can tell that every row is there as it was.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...nouns.errors import Corrupt
from ..moving import KEYS, digest
from .connection import SqliteDb
from .tables import SqliteTables

SUFFIX = ".sums.json"
"""What the name of the file beside a copy ends with."""

_FORMAT = 1
_KEY_BYTES = 32

Sums = dict[str, list[Any]]
"""By table: number of rows, and the sum of their hashes as hexadecimal."""


class Known(NamedTuple):
    """What is known of a copy: the hash of its file, and the sums by a key."""

    sha256: str
    key: bytes
    tables: Mapping[str, Any]


def beside(copy: Path) -> Path:
    """Return where the sums of a copy are."""
    return copy.with_name(f"{copy.name}{SUFFIX}")


def new_key() -> bytes:
    """Return a key for the hashes: without it they would tell of a text whether it was there."""
    return secrets.token_bytes(_KEY_BYTES)


def sums(db: SqliteDb, path: Path, key: bytes, among: Iterable[str] = KEYS) -> Sums:
    """Read all rows of the tables that are moved; of one moment if `db` is in a transaction.

    `among`: the tables of a copy that may be older than some tables.
    """
    tables = SqliteTables(db, path)
    found: Sums = {}
    for table in (each for each in KEYS if each in among):
        rows, total = digest(tables, table, sorted(tables.columns(table)), key)
        found[table] = [rows, f"{total:064x}"]
    return found


def compared(expected: Mapping[str, Any], found: Sums, shown: str) -> int:
    """Return how many rows are as they should be.

    Raises:
        Corrupt: some are not.
    """
    for table, told in found.items():
        if list(expected.get(table, ())) != told:
            raise Corrupt(f"{shown}: the rows of table {table} are not those that were copied")
    return sum(rows for rows, _ in found.values())


def spelled(known: Known) -> str:
    """Return what is written beside a copy."""
    told = {"sha256": known.sha256, "key": known.key.hex(), "tables": known.tables}
    return json.dumps({"format": _FORMAT, **told}, indent=1) + "\n"


def read(copy: Path) -> Known | None:
    """Return what is written beside a copy; None: there is nothing.

    Raises:
        Corrupt: it does not read.
    """
    path = beside(copy)
    if not path.exists():
        return None
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Corrupt(f"{path} does not read as the sums of a copy") from error
    return parsed(told, path)


def parsed(told: Any, where: Path) -> Known | None:
    """Return what a JSON object says of a copy; None of none.

    Raises:
        Corrupt: it is no such object.
    """
    if told is None:
        return None
    try:
        return Known(str(told["sha256"]), bytes.fromhex(told["key"]), dict(told["tables"]))
    except (ValueError, KeyError, TypeError) as error:
        raise Corrupt(f"{where} does not read as the sums of a copy") from error


def sha256_of(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
