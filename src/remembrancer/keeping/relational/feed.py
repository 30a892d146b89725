"""Keeps a bank's feed from growing for ever.

Whoever is further behind than the bank has units reads those sooner than the feed, so no more than
that is kept of it.
"""

from __future__ import annotations

from .db import Db
from .view import State

LEAST = 50_000  # entries that stay, however small the bank is
EVERY = 512  # revisions from one look to the next
AT_ONCE = 100_000  # entries deleted in one transaction, but for the rest of a revision


def shorten(db: Db, key: int, state: State) -> None:
    """Drop the oldest entries beyond what is of use; looks now and then alone."""
    if state.revision % EVERY:
        return
    keep = max(LEAST, state.sources + state.facts + state.observations)
    surplus = db.one("change_newest", key, keep)
    if surplus is None:
        return
    many = db.one("change_oldest", key, AT_ONCE)
    up_to = surplus[0] - 1 if many is None else min(surplus[0] - 1, many[0])
    db.run("change_trimmed", key, up_to)
    db.run("change_trim", key, up_to)
