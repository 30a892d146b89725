"""API keys as rows: what is kept of one, and how it is read back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...keeping.records import Record
from ...nouns.caller import Caller, Permission, Rate
from .key_options import KeyOptions

KEY, SECRET, USED = "api_key", "api_key_secret", "api_key_used"
"""Kinds of records: keys by id, ids of keys by the hash of a secret, last uses by id."""


@dataclass(frozen=True, slots=True)
class Key:
    """An API key without its secret. Times in microseconds.

    Attributes:
        last_used_at: known to five minutes.
        hashes: SHA-256 of its secrets as hex, and until when each is valid (None: no end).
    """

    id: str
    options: KeyOptions
    created_at: int
    revoked_at: int | None = None
    rotated_at: int | None = None
    last_used_at: int | None = None
    hashes: Mapping[str, int | None] = field(default_factory=dict, repr=False)

    def ended(self, digest: str, now: int) -> bool:
        """Return whether the secret of a hash is taken no more, be it with the key itself."""
        if self.revoked_at is not None or digest not in self.hashes:
            return True
        ends = (self.options.expires_at, self.hashes[digest])
        return any(end is not None and now >= end for end in ends)

    def caller(self, digest: str) -> Caller:
        """Return who calls with it; `digest` is of the secret that came."""
        o = self.options
        return Caller(
            o.tenant,
            o.permissions,
            o.banks,
            o.max_tier_rank,
            self.id,
            o.name,
            o.expires_at,
            o.rates,
            digest,
        )


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key with its secret, which is never told again."""

    key: Key
    secret: str = field(repr=False)


def digest_of(secret: str) -> str:
    """Return the hash under which a secret is kept: SHA-256 as hex."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def secret_row(digest: str, key_id: str, now: int) -> Record:
    """Return the row that leads from a secret's hash to its key."""
    return Record(SECRET, digest, now, now, {"key": key_id})


def key_row(key: Key, now: int) -> Record:
    """Return a key's row."""
    o = key.options
    data: dict[str, Any] = {
        "name": o.name,
        "tenant": o.tenant,
        "permissions": sorted(o.permissions),
        "banks": list(o.banks),
        "max_tier_rank": o.max_tier_rank,
        "expires_at": o.expires_at,
        "rates": {name: [r.per_second, r.burst] for name, r in o.rates.items()},
        "revoked_at": key.revoked_at,
        "rotated_at": key.rotated_at,
        "hashes": dict(key.hashes),
    }
    return Record(KEY, key.id, key.created_at, now, data)


def read_key(row: Record) -> Key:
    """Read a key's row."""
    d: Mapping[str, Any] = row.data
    options = KeyOptions(
        name=d["name"],
        tenant=d["tenant"],
        permissions=frozenset(Permission(p) for p in d["permissions"]),
        banks=tuple(d["banks"]),
        max_tier_rank=d["max_tier_rank"],
        expires_at=d["expires_at"],
        rates={Permission(name): Rate(*pair) for name, pair in d["rates"].items()},
    )
    return Key(
        row.key,
        options,
        row.created_at,
        d["revoked_at"],
        d["rotated_at"],
        hashes=d["hashes"],
    )
