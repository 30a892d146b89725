"""due: what a context should remind of: what is due, and what is leased and not acknowledged."""

from __future__ import annotations

from ...keeping.store import Store
from ...nouns.intention import OccurrenceState
from ...nouns.memory import BankRef
from ..check import Check, CheckOptions, Due, Mode
from .plan import GRACE_US

MOST = 50
"""Told at most, the most important first."""


class DueNow:
    """The verb; everything it needs is passed in. It changes nothing."""

    def __init__(self, store: Store, check: Check) -> None:
        self._store = store
        self._check = check

    async def __call__(
        self, ref: BankRef, text: str | None = None, ceiling: float | None = None
    ) -> list[Due]:
        """Return what is due or leased, by importance and then in the order of registration.

        `text` is what is talked about; it may bring up more.
        """
        options = CheckOptions(text=text or None, ceiling=ceiling, mode=Mode.PEEK, limit=MOST)
        found = await self._check(ref, options)
        leased = await self._store.offers(
            ref, states={OccurrenceState.LEASED}, ceiling=ceiling, limit=MOST
        )
        held = {d.occurrence.id for d in found.due}
        due = [*found.due]
        for occurrence, intention in leased:
            if occurrence.id not in held:
                late = found.now - occurrence.due_at
                due.append(Due(occurrence, intention, late > GRACE_US, late))
        due.sort(key=lambda d: (-d.intention.importance, d.intention.id, d.occurrence.due_at))
        return due[:MOST]
