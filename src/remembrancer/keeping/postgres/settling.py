"""Let every bank follow a change of the embedding generations, one bank at a time.

A generation that begins or ends is first seen by all in `generation`, and each bank's rows follow
in a transaction of that bank: so nobody waits for a change of the whole store. A writer that began
before holds its bank, which is settled after it; one that begins later sees the generations as they
are. What a crash leaves undone is done when the next process opens the store.
"""

from __future__ import annotations

from ..relational.db import Db

BEFORE_ALL = -(1 << 63)
"""The key that banks are read after first. (That one bank in 2^64 has it is not provided for.)"""

_PAGE = 1_000


def unsettled(db: Db) -> int:
    """Return how many changes of the generations some bank may not have followed yet."""
    count: int = db.value("unsettled")
    return count


def banks(db: Db, after: int) -> list[int]:
    """Return the keys of the next banks after one."""
    return [row[0] for row in db.all("settle_banks", after, _PAGE)]


def settle(db: Db, key: int) -> None:
    """Let one bank follow: vectors of former generations go, units wait for those that are new."""
    db.lock_bank(key)
    for name in ("settle_vectors", "settle_others", "settle_pending"):
        db.run(name, key)


def done(db: Db, count: int) -> None:
    """Note that all banks have followed, unless there were more changes meanwhile."""
    db.run("unsettled_done", count)
