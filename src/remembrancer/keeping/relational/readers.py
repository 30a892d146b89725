"""The pool of reader lanes: a snapshot holds one lane, and later ones wait their turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Concatenate, ParamSpec, TypeVar

from ...nouns.memory import BankRef
from ...nouns.turns import Turns
from ..view import Reader
from .db import Db
from .lanes import Lane
from .view import RowReader, RowView, State, read_state

P = ParamSpec("P")
T = TypeVar("T")


class Readers:
    """Lanes for snapshots, given out round robin by tenant.

    A lane that was used last is used next, so idle ones stay unopened.
    """

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self._idle = list(lanes)
        self._lanes = tuple(lanes)
        self._turns = Turns(len(lanes))

    async def take(self) -> Lane:
        """Return a lane of one's own, after waiting for it when all are taken."""
        await self._turns.take()
        return self._idle.pop()

    def give(self, lane: Lane) -> None:
        """Return a lane to the pool."""
        self._idle.append(lane)
        self._turns.give()

    async def run(
        self, work: Callable[Concatenate[Db, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `work(db, ...)` on a lane."""
        lane = await self.take()
        try:
            return await lane.run(work, *args, **kwargs)
        finally:
            self.give(lane)

    async def read(self, ref: BankRef, work: Callable[[Reader], T]) -> T:
        """Run work on a snapshot of its own, in one hop; it ends when the answer is on its way."""
        lane = await self.take()
        try:
            return await lane.run_then(_end, _read, ref, work)
        finally:
            self.give(lane)

    def stop(self) -> None:
        """End every lane."""
        for lane in self._lanes:
            lane.stop()


class Snapshot:
    """The `with` block of a view: a read transaction on a lane of the pool."""

    def __init__(self, readers: Readers, ref: BankRef) -> None:
        self._readers = readers
        self._ref = ref
        self._lane: Lane | None = None

    async def __aenter__(self) -> RowView:
        """Start the transaction and read the bank's state in it, in one hop."""
        lane = await self._readers.take()
        try:
            state = await lane.run(_begin, self._ref)
        except BaseException:
            self._end(lane)
            raise
        self._lane = lane
        return RowView(self._ref, lane, state)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the transaction; nobody waits for that, since a lane works in order."""
        if self._lane is not None:
            self._end(self._lane)
            self._lane = None

    def _end(self, lane: Lane) -> None:
        lane.post(_end)
        self._readers.give(lane)


def _read(db: Db, ref: BankRef, work: Callable[[Reader], T]) -> T:
    return work(RowReader(db, ref.key, _begin(db, ref)))


def _begin(db: Db, ref: BankRef) -> State:
    db.begin_snapshot(("bank_state", None, (ref.key,)))
    return read_state(db, ref)


def _end(db: Db) -> None:
    db.end_snapshot()
