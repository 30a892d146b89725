"""Banks asked one after the other, until the others can say nothing better."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from ...nouns.memory import BankRef
from .candidates import Hit
from .likely import Chosen


async def asked_in_turn(
    chosen: Chosen, of: Callable[[BankRef, Sequence[Hit]], Awaitable[list[Hit]]], limit: int
) -> tuple[list[Hit], int]:
    """Return the best candidates of banks, and how many banks were asked.

    Args:
        of: the best candidates of a bank and of those found so far.
        limit: as many are wanted. When they are found, and no bank from here on has a bound as high
            as the last of them, it ends.
    """
    hits: list[Hit] = []
    for number, ref in enumerate(chosen.refs):
        if chosen.bounds and len(hits) >= limit and hits[-1].key > chosen.bounds[number]:
            return hits, number
        hits = await of(ref, hits)
    return hits, len(chosen.refs)
