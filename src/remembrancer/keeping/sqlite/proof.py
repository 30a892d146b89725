"""Proof that a copy holds what the store held at one moment: sums over keyed hashes of all rows.

The sums are those that `keeping.moving` compares two stores by. They are written beside the copy,
with the key, so that whoever restores it can tell that every row is there as it was.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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


def beside(copy: Path) -> Path:
    """Return where the sums of a copy are."""
    return copy.with_name(f"{copy.name}{SUFFIX}")


def new_key() -> bytes:
    """Return a key for the hashes: without it they would tell of a text whether it was there."""
    return secrets.token_bytes(_KEY_BYTES)


def sums(db: SqliteDb, path: Path, key: bytes) -> Sums:
    """Read all rows of the tables that are moved; of one moment if `db` is in a transaction."""
    tables = SqliteTables(db, path)
    found: Sums = {}
    for table in KEYS:
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


def spelled(copy: Path, key: bytes, found: Sums) -> str:
    """Return what is written beside a copy."""
    told = {"format": _FORMAT, "sha256": sha256_of(copy), "key": key.hex(), "tables": found}
    return json.dumps(told, indent=1) + "\n"


def read(copy: Path) -> tuple[str, bytes, dict[str, Any]] | None:
    """Return the hash of a copy's file, the key and the sums; None: there are none.

    Raises:
        Corrupt: they do not read.
    """
    path = beside(copy)
    if not path.exists():
        return None
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return str(told["sha256"]), bytes.fromhex(told["key"]), dict(told["tables"])
    except (ValueError, KeyError, TypeError) as error:
        raise Corrupt(f"{path} does not read as the sums of a copy") from error


def sha256_of(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
