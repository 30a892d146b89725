"""The hash chain of audit entries: each holds the hash of itself and of the one before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .records import Record

AUDIT = "audit"
"""The kind of the records that are chained."""
HEAD_KIND, HEAD_KEY = "audit-chain", "head"
"""The record that tells where a bank's chain stands: its data are `n` (entries so far), `hash` (of
the newest), `trimmed` (entries dropped for age) and `older` (from before there was a chain).
"""
CHAIN = "chain"
"""The field of an entry's data that holds `n`, from 1, `prev` and `hash`."""
BEGIN = "0" * 64
"""What stands before the first entry."""


def linked(entry: Record, number: int, prev: str) -> Record:
    """Return an entry with its place in the chain."""
    chain = {"n": number, "prev": prev, "hash": hash_of(entry, number, prev)}
    return replace(entry, data={**entry.data, CHAIN: chain})


def hash_of(entry: Record, number: int, prev: str) -> str:
    """Return the SHA-256, in hex, of an entry at its place: of its fields as sorted JSON."""
    data = {name: value for name, value in entry.data.items() if name != CHAIN}
    told = json.dumps(
        [number, prev, entry.key, entry.created_at, data],
        sort_keys=True,
        separators=(",", ":"),
        default=_plain,
    )
    return hashlib.sha256(told.encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} cannot be hashed as JSON")
