"""The writers: lanes that each run one transaction at a time, and the turns of banks for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar, cast
from weakref import WeakValueDictionary

from ...nouns.errors import StoreBusy, StoreError
from ...nouns.memory import BankRef, Job
from ..relational.db import Db
from ..relational.lanes import Lane
from .connection import PgDb

P = ParamSpec("P")
T = TypeVar("T")


class Writers:
    """Runs write transactions, those of different banks side by side.

    Those of one bank come one after the other, in the order they came: they would wait for each
    other in the database anyway, and hold connections meanwhile that other banks can use.
    """

    def __init__(self, lanes: Sequence[Lane], timeout_s: float) -> None:
        self._lanes = tuple(lanes)
        self._idle = list(lanes)
        self._free = asyncio.Semaphore(len(lanes))
        self._timeout_s = timeout_s
        self._turns: WeakValueDictionary[BankRef, asyncio.Lock] = WeakValueDictionary()
        self._under_way = 0
        self._none_left = asyncio.Event()
        self._closing = False

    async def run(
        self, work: Callable[Concatenate[Db, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `work(db, ...)` in a transaction; return once that is durable.

        Raises:
            StoreBusy: it was not begun within the time limit; nothing was written.
        """
        if self._closing:
            raise StoreError("the store is closed; open it again")
        self._under_way += 1
        try:
            return await self._run(_bank_of(args), lambda db: work(db, *args, **kwargs))
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._none_left.set()

    async def finish(self) -> None:
        """Take no more work, and return once all that was taken is done."""
        self._closing = True
        while self._under_way:
            self._none_left.clear()
            await self._none_left.wait()

    def stop(self) -> None:
        """End every lane."""
        for lane in self._lanes:
            lane.stop()

    async def _run(self, bank: BankRef | None, work: Callable[[Db], T]) -> T:
        turn = asyncio.Lock() if bank is None else self._turns.setdefault(bank, asyncio.Lock())
        await self._wait(turn)
        try:
            lane = self._idle.pop()
            try:
                return await lane.run(_write, work)
            finally:
                self._idle.append(lane)
                self._free.release()
        finally:
            turn.release()

    async def _wait(self, turn: asyncio.Lock) -> None:
        """Wait for the bank's turn and for a lane."""
        try:
            async with asyncio.timeout(self._timeout_s):
                await turn.acquire()
                try:
                    await self._free.acquire()
                except BaseException:
                    turn.release()
                    raise
        except TimeoutError:
            raise StoreBusy(
                f"more is being written than the database takes: no connection was free within "
                f"{self._timeout_s:g} s; try again later",
                limit=self._timeout_s,
            ) from None


def _write(db: Db, work: Callable[[Db], T]) -> T:
    return cast(PgDb, db).write(work)


def _bank_of(args: Sequence[Any]) -> BankRef | None:
    """Return the bank that a write is about, as far as its arguments tell; it only orders them."""
    for each in args:
        if isinstance(each, BankRef):
            return each
        if isinstance(each, Job):
            return each.ref
    return None
