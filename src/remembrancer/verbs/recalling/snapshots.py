"""Reading a bank's rows and its index at one revision."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from ...finding.indexes import Indexes
from ...finding.state import IndexState
from ...keeping.store import Store
from ...keeping.view import Reader
from ...nouns.errors import RemembrancerError
from ...nouns.memory import BankRef

T = TypeVar("T")

_REOPEN = 50  # snapshots tried when the index of another reader is ahead each time


async def read_indexed(
    store: Store, indexes: Indexes, ref: BankRef, work: Callable[[Reader, IndexState], T]
) -> T:
    """Run work on a snapshot and the index at its revision, in the thread of the snapshot.

    In one hop when the index is up to date, as it is between writes; else the index is brought up
    to the snapshot first.
    """
    state = indexes.current(ref)
    if state is not None:
        known = state

        def fast(reader: Reader) -> tuple[T] | None:
            fits = (reader.revision, reader.generation) == (known.revision, known.generation)
            return (work(reader, known),) if fits else None

        done = await store.read(ref, fast)
        if done is not None:
            return done[0]
    for _ in range(_REOPEN):
        async with store.snapshot(ref) as view:
            found = await indexes.state_for(ref, view)
            if found is not None:
                return await view.run(partial(_turned, work, found))
    raise RemembrancerError("the bank changes faster than it can be read; try again")


def _turned(work: Callable[[Reader, IndexState], T], state: IndexState, reader: Reader) -> T:
    return work(reader, state)
