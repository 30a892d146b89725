"""Which of the claims about one attribute hold when: a pure function of the claims.

It does not depend on the order in which they were written, so whatever comes, goes or is dated
anew, the same claims always come to the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ..nouns.memory import Claim, Stance

SAME_TIME_US = 10_000_000
"""Claims of different documents this near to each other are of one time: microseconds below it
keep the order of turns that were told one time."""


class Settled(NamedTuple):
    """What follows for a claim: from when it holds, until when, what ended it, what it is against.

    None: as far as is known. Times in microseconds.
    """

    begins: int | None = None
    ends: int | None = None
    ended_by: bytes | None = None
    against: bytes | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """A claim with the fact that makes it, its number there, and its place; `settled` is stored."""

    unit_id: bytes
    number: int
    claim: Claim
    said: int
    document_id: bytes | None
    start: int
    settled: Settled = field(default_factory=Settled)

    @property
    def order(self) -> tuple[object, ...]:
        """What claims are sorted by: time, and where they stand in a text."""
        claim = self.claim
        place = (self.said, self.document_id or b"", self.start, self.unit_id, self.number)
        return (claim.at, claim.news, *place)


def settle(claims: Sequence[Placed]) -> list[Placed]:
    """Return the claims of one slot in the order of time, each with what follows for it.

    A value that holds ends others that held before; a denial ends the value that it denies. Both
    stay open, against each other, where time does not tell which came later: two documents of one
    time, or one of which nobody knows the time.
    """
    line = _Line()
    for placed in sorted(claims, key=lambda p: p.order):
        line.take(placed)
    return line.done()


class _Line:
    """Claims taken so far; `_open` are the places of those that hold, or deny."""

    def __init__(self) -> None:
        self._all: list[Placed] = []
        self._open: list[int] = []

    def take(self, placed: Placed) -> None:
        claim = placed.claim
        mine = len(self._all)
        begins = claim.since if claim.since is not None else claim.at
        if claim.stance is Stance.HELD:
            self._held(placed)
            return
        against: bytes | None = None
        still: list[int] = []
        for at in self._open:
            other = self._all[at]
            if not _clash(claim, other.claim):
                still.append(at)
            elif _unsettled(placed, other):
                still.append(at)
                against = against or other.unit_id
                if other.settled.against is None:
                    settled = other.settled._replace(against=placed.unit_id)
                    self._all[at] = replace(other, settled=settled)
            elif other.unit_id == placed.unit_id:
                still.append(at)
            else:
                self._end(at, max(begins, _begins(other)), placed.unit_id)
        self._all.append(replace(placed, settled=Settled(begins, claim.until, None, against)))
        self._open = still
        if claim.until is None:
            self._open.append(mine)

    def _held(self, placed: Placed) -> None:
        """Take what held once: it ends what still says so, and ended when another value began."""
        claim = placed.claim
        still: list[int] = []
        began: list[int] = []
        for at in self._open:
            other = self._all[at].claim
            same = other.stance is Stance.HOLDS and agree(claim, other)
            if same and not _unsettled(placed, self._all[at]):
                self._end(at, max(claim.until or claim.at, _begins(self._all[at])), placed.unit_id)
                continue
            still.append(at)
            if other.stance is Stance.HOLDS and not (same or claim.many):
                began.append(_begins(self._all[at]))
        self._open = still
        ends = claim.until if claim.until is not None else min([claim.at, *began])
        since = claim.since if claim.since is None or claim.since <= ends else ends
        self._all.append(replace(placed, settled=Settled(since, ends)))

    def _end(self, at: int, ends: int, by: bytes) -> None:
        other = self._all[at]
        settled = other.settled._replace(ends=ends, ended_by=by)
        self._all[at] = replace(other, settled=settled)

    def done(self) -> list[Placed]:
        """Return all; what was ended is against nothing any more."""
        found = {p.unit_id: p for p in self._all if p.settled.ends is None}
        return [
            replace(p, settled=p.settled._replace(against=None))
            if p.settled.against is not None
            and (p.settled.ends is not None or p.settled.against not in found)
            else p
            for p in self._all
        ]


def agree(one: Claim, other: Claim) -> bool:
    """Tell whether two claims name the same value."""
    if one.value == other.value:
        return True
    if not (one.loose and other.loose) or one.news:
        return False
    mine, theirs = set(one.value.split()), set(other.value.split())
    return bool(mine and theirs) and (mine <= theirs or theirs <= mine)


def _clash(claim: Claim, other: Claim) -> bool:
    """Tell whether a claim ends another one that held before."""
    if claim.stance is Stance.HOLDS and other.stance is Stance.HOLDS:
        return not (claim.many or agree(claim, other))
    if claim.stance is Stance.HOLDS:
        return not other.value or agree(claim, other)
    if other.stance is Stance.HOLDS:
        return not claim.value or agree(replace(claim, news=False), other)
    return False


def _begins(placed: Placed) -> int:
    begins = placed.settled.begins
    return placed.claim.at if begins is None else begins


def _unsettled(placed: Placed, other: Placed) -> bool:
    """Tell whether time does not say which of two came later."""
    mine, theirs = placed.claim, other.claim
    same_text = placed.document_id is not None and placed.document_id == other.document_id
    if same_text or (mine.news and not theirs.news):
        return False
    if not (mine.timed and theirs.timed):
        return True
    return abs(mine.at - theirs.at) < SAME_TIME_US
