"""What is done about keys and about what was written before a store sealed: in transactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...nouns.errors import StoreError
from ..sealing import DataKey, Sealer, WrappedKey
from .db import Db, Row
from .sealed_columns import COLUMNS, NAMES
from .sealed_values import is_sealed, seal
from .sealing_db import SealingDb
from .sealing_queries import columns_of, tables
from .vault import Place

HOUSE = ""
"""The tenant of the house's own banks; its key is the first one of a store that seals."""

_ROWS = 1_000
"""Rows of one table that a transaction seals."""

Step = tuple[str, Row | None]
"""A table of a bank, and the key after which it goes on there; None: from its beginning."""


def check(db: Db, sealer: Sealer | None, shown: str) -> None:
    """Refuse a store whose keys do not open.

    Raises:
        StoreError: it is sealed and no key is given, or another one than it was sealed with.
        Corrupt: a wrapped key was changed.
    """
    kept = {tenant: WrappedKey(*key) for tenant, *key in db.all("tenant_key_list")}
    if sealer is None:
        if kept:
            raise StoreError(
                f"{shown} is sealed: give its key by REMEMBRANCER_ENCRYPTION_KEY or "
                "REMEMBRANCER_ENCRYPTION_KEY_FILE"
            )
        return
    strange = sum(not sealer.knows(key) for key in kept.values())
    if strange:
        raise StoreError(
            f"{shown} was sealed with another encryption key than the one given ({strange} of "
            f"{len(kept)} data keys do not open): give that one, or both by commas, the newest "
            "first"
        )
    for tenant, key in list(kept.items())[:1]:
        sealer.unwrap(tenant, key)


def begin(db: Db, sealer: Sealer) -> None:
    """Make the first key of a store, by which another one is refused from then on."""
    if not db.all("tenant_key_of", HOUSE):
        db.run("tenant_key_insert", HOUSE, *sealer.new_key(HOUSE))


def rewrap(db: Db, sealer: Sealer) -> int:
    """Wrap each data key by the newest key; return how many were."""
    count = 0
    for tenant, *kept in db.all("tenant_key_list"):
        new = sealer.rewrap(tenant, WrappedKey(*kept))
        if new is not None:
            count += db.run("tenant_key_wrap", tenant, new.id, new.wrapped)
    return count


def erase(db: Db, tenant: str) -> bool:
    """Delete a tenant's data key."""
    gone = db.run("tenant_key_delete", tenant) > 0
    if gone:
        db.run("deletions_note")
    return gone


def banks_of(db: Db, tenant: str, limit: int) -> list[str]:
    """Return the names of a tenant's banks, without opening anything."""
    return [row[0] for row in db.all("tenant_banks", tenant, limit)]


def banks_after(db: Db, key: int, limit: int) -> list[Place]:
    """Return the next banks in the order of their keys."""
    return [Place(t, k, bool(s)) for k, t, _, s in db.all("bank_after", key, limit)]


def count(db: Db) -> int:
    """Count the rows that may hold something to be sealed."""
    return sum(db.value(f"seal_count_{table}") for table in tables())


def seal_names(db: SealingDb, key: int) -> int:
    """Seal all names of a bank, so that look-ups find them sealed from then on; return how many.

    In one transaction: half of them would be found neither way.
    """
    db.lock_bank(key)
    place = db.place(key)
    if place is None or place.named:
        return 0
    sealed = 0
    for table in tables():
        if not _names_in(table):
            continue
        step: Step | None = (table, None)
        while step is not None:
            _, more, step = _page(db, place, step, names=True)
            sealed += more
    db.run("bank_sealed", key)
    db.run("deletions_note")
    return sealed


def seal_more(db: SealingDb, key: int, step: Step) -> tuple[int, int, Step | None]:
    """Seal some rows of a bank; return how many were looked at, how many sealed, what is next.

    Small tables go together: one transaction goes on until it has looked at its share.
    """
    db.lock_bank(key)
    place = db.place(key)
    if place is None:
        return 0, 0, None
    looked = sealed = 0
    following: Step | None = step
    while following is not None and looked < _ROWS:
        table = following[0]
        seen, changed, following = _page(db, place, following, names=False)
        looked, sealed = looked + seen, sealed + changed
        if following is None:
            left = tables()[tables().index(table) + 1 :]
            following = (left[0], None) if left else None
    if sealed:
        db.run("deletions_note")
    return looked, sealed, following


def first_step() -> Step:
    """Return where a bank begins."""
    return tables()[0], None


def _page(db: SealingDb, place: Place, step: Step, *, names: bool) -> tuple[int, int, Step | None]:
    """Seal one page of a table; return rows looked at, rows sealed, where to go on in it."""
    table, after = step
    if after is None:
        rows = db.plain_all(f"seal_first_{table}", place.key, _ROWS)
    else:
        rows = db.plain_all(f"seal_after_{table}", place.key, *after, _ROWS)
    columns = [f"{table}.{name}" for name in columns_of(table)]
    width = len(rows[0]) - len(columns) if rows else 0
    changed = []
    for row in rows:
        new = _row(db, place, columns, row[width:], names=names)
        if new is not None:
            changed.append((*new, place.key, *row[:width]))
    db.many(f"seal_put_{table}", changed)
    whole = len(rows) == _ROWS and width > 0
    return len(rows), len(changed), (table, rows[-1][:width]) if whole else None


def _row(
    db: SealingDb, place: Place, columns: Sequence[str], values: Sequence[Any], *, names: bool
) -> list[Any] | None:
    """Return a row's columns sealed; None: nothing in it is left to seal."""
    new = list(values)
    for n, (column, value) in enumerate(zip(columns, values, strict=True)):
        if (COLUMNS[column] in NAMES) == names and value and not is_sealed(column, value):
            new[n] = seal(_key(db, place), column, value, place.about(column))
    return new if new != list(values) else None


def _key(db: SealingDb, place: Place) -> DataKey:
    key = db.key_of(place, make=True)
    assert key is not None
    return key


def _names_in(table: str) -> bool:
    return any(COLUMNS[f"{table}.{name}"] in NAMES for name in columns_of(table))
