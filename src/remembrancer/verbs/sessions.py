"""sessions: the items of a conversation, any JSON, in the order in which they were added."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..keeping.batch import Batch
from ..keeping.records import Record
from ..keeping.store import Store
from ..nouns.clock import Clock
from ..nouns.errors import Conflict, InvalidInput, TooLarge
from ..nouns.ids import IdMaker
from ..nouns.memory import BankRef, Job, JobState
from ..nouns.text import clean
from .forget import SWEEP

MAX_ITEM_BYTES = 4_194_304
"""Of an item's JSON in UTF-8."""

MAX_NAME_BYTES = 1_000

_KIND = "session:"
_PAGE = 500
_TRIES = 100
_PAUSE_S = 0.02  # between tries, when others write to the bank


class Sessions:
    """The verb; everything it needs is passed in.

    An item is a record whose `created_at` is its number in the session, so that order does not
    hang on clocks. Every change is written only on the bank as it was read.
    """

    def __init__(self, store: Store, *, ids: IdMaker, clock: Clock) -> None:
        self._store = store
        self._ids = ids
        self._clock = clock

    async def add(self, ref: BankRef, name: str, items: Sequence[Mapping[str, Any]]) -> None:
        """Add items at the end, in one transaction.

        Raises:
            InvalidInput, TooLarge: nothing was added.
            Conflict: the bank changed too often meanwhile; nothing was added.
        """
        kind = _kind(name)
        for number, item in enumerate(items):
            _check(item, f"items[{number}]")
        for _ in range(_TRIES if items else 0):
            revision = await self._revision(ref)
            last = await self._store.records(ref, kind, limit=1)
            first, now = last[0].created_at + 1 if last else 1, self._clock.now_us()
            records = [
                Record(kind, f"{at:019d}", at, now, {"item": dict(item)})
                for at, item in enumerate(items, first)
            ]
            if await self._written(ref, Batch(records=records, expect_revision=revision)):
                return
        if items:
            raise _busy()

    async def items(
        self, ref: BankRef, name: str, limit: int | None = None
    ) -> list[Mapping[str, Any]]:
        """Return the items in order; with a limit the last ones."""
        kind = _kind(name)
        found: list[Record] = []
        end = await self._end(ref, kind)
        while limit is None or len(found) < limit:
            size = _PAGE if limit is None else min(_PAGE, limit - len(found))
            page = await self._store.records(ref, kind, until=end, limit=size)
            found += page
            if len(page) < size:
                break
            end = page[-1].created_at
        return [record.data["item"] for record in reversed(found)]

    async def pop(self, ref: BankRef, name: str) -> Mapping[str, Any] | None:
        """Take out the last item and return it; None when there is none.

        Raises:
            Conflict: the bank changed too often meanwhile; nothing was taken.
        """
        kind = _kind(name)
        for _ in range(_TRIES):
            revision = await self._revision(ref)
            last = await self._store.records(ref, kind, limit=1)
            if not last:
                return None
            batch = Batch(
                erase_records=[(kind, last[0].key)],
                jobs=[self._sweep(ref)],
                expect_revision=revision,
            )
            if await self._written(ref, batch):
                item: Mapping[str, Any] = last[0].data["item"]
                return item
        raise _busy()

    async def clear(self, ref: BankRef, name: str) -> int:
        """Erase all items that are there; return how many that were."""
        kind = _kind(name)
        end, gone = await self._end(ref, kind), 0
        while page := await self._store.records(ref, kind, until=end, limit=_PAGE):
            erased = [(kind, record.key) for record in page]
            await self._store.apply(ref, Batch(erase_records=erased, jobs=[self._sweep(ref)]))
            gone += len(page)
        return gone

    async def _end(self, ref: BankRef, kind: str) -> int:
        last = await self._store.records(ref, kind, limit=1)
        return last[0].created_at + 1 if last else 0

    async def _revision(self, ref: BankRef) -> int:
        async with self._store.snapshot(ref) as view:
            return view.revision

    async def _written(self, ref: BankRef, batch: Batch) -> bool:
        try:
            await self._store.apply(ref, batch)
        except Conflict:
            await asyncio.sleep(_PAUSE_S)
            return False
        return True

    def _sweep(self, ref: BankRef) -> Job:
        now = self._clock.now_us()
        job_id = self._ids.new()
        return Job(job_id, ref, SWEEP, JobState.PENDING, now, now, priority=1, listed=False)


def _kind(name: str) -> str:
    if not name or clean(name) != name:
        raise InvalidInput("session_id must be a text that is not empty", field="session_id")
    if len(name.encode()) > MAX_NAME_BYTES:
        raise TooLarge(
            f"session_id has more than {MAX_NAME_BYTES} bytes",
            field="session_id",
            limit=MAX_NAME_BYTES,
        )
    return f"{_KIND}{name}"


def _check(item: Any, where: str) -> None:
    if not isinstance(item, Mapping):
        raise InvalidInput(f"{where} must be an object", field=where)
    try:
        size = len(json.dumps(item, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{where} must be JSON: {error}", field=where) from None
    if size > MAX_ITEM_BYTES:
        raise TooLarge(
            f"{where} has {size} bytes as JSON; the limit is {MAX_ITEM_BYTES}",
            field=where,
            limit=MAX_ITEM_BYTES,
        )


def _busy() -> Conflict:
    return Conflict("the bank was changed by others all the while; nothing was changed, try again")
