"""What was asked of language models, for people who run them: when, for what, how long, how much.

No trace holds a word of what was asked or answered, so there is nothing in it to forget.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...keeping.records import Record
from ...keeping.store import Store
from ...nouns.memory import BankRef

TRACE = "llm_request"
"""The kind of their records."""

KEPT = 1_000  # of one bank
MOST_READ = KEPT


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which to list; None: any. Times in microseconds."""

    status: str | None = None
    operation: str | None = None
    scope: str | None = None
    provider: str | None = None
    trace_id: str | None = None
    since: int | None = None
    until: int | None = None


class Traces:
    """Keeps and lists them; the store is passed in."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._added = 0

    async def add(
        self, ref: BankRef, key: str, begun: int, ended: int, data: Mapping[str, Any]
    ) -> None:
        """Keep a trace; of a bank that does not exist none is kept."""
        await self._store.record_add([(ref, Record(TRACE, key, begun, ended, data))])
        self._added += 1
        if self._added % 100 == 1:
            await self._store.record_trim(ref, TRACE, KEPT)

    async def page(
        self, ref: BankRef, wanted: Wanted, *, limit: int = 50, offset: int = 0
    ) -> tuple[list[Record], int]:
        """Return a page of a bank's traces, newest first, and how many there are."""
        found = [each for each in await self.all(ref, wanted) if _fits(each, wanted)]
        return found[offset : offset + limit], len(found)

    async def all(self, ref: BankRef, wanted: Wanted) -> list[Record]:
        """Return a bank's traces within the wanted times."""
        return await self._store.records(
            ref, TRACE, since=wanted.since, until=wanted.until, limit=MOST_READ
        )


def _fits(record: Record, wanted: Wanted) -> bool:
    asked = {name: getattr(wanted, name) for name in ("status", "operation", "scope", "provider")}
    asked["trace_id"] = wanted.trace_id
    return all(value is None or record.data.get(name) == value for name, value in asked.items())
