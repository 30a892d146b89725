"""Waits until a bank stands at a revision that a write has returned, or says that it does not."""

from __future__ import annotations

import asyncio

from ..keeping.store import Store
from ..nouns.errors import Conflict
from ..nouns.memory import BankRef

WAIT_S = 1.0
"""How long a reader waits for a revision at most."""

_FIRST_PAUSE_S = 0.005
_MOST_PAUSE_S = 0.1


async def reach(
    store: Store, ref: BankRef, revision: int | None, *, within_s: float = WAIT_S
) -> None:
    """Return once a bank is at a revision or beyond; at once for None.

    A snapshot that is opened then shows what that write has changed. Every process reads what is
    committed, so there is nothing to wait for unless the database is a copy that lags behind, or
    one that has lost the write.

    Raises:
        Conflict: it is not there within the time.
    """
    if revision is None:
        return
    pause = _FIRST_PAUSE_S
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within_s
    while True:
        bank = await store.bank(ref)
        found = 0 if bank is None else bank.revision
        if found >= revision:
            return
        if loop.time() >= deadline:
            raise Conflict(
                f"bank {ref.bank!r} is at revision {found}, and min_revision is {revision}: what "
                "was written has not come here yet; ask again",
                field="min_revision",
                limit=found,
            )
        await asyncio.sleep(pause)
        pause = min(2 * pause, _MOST_PAUSE_S)
