"""Which of the claims about one attribute hold when: a pure function of the claims.

It does not depend on the order in which they were written, so whatever comes, goes or is dated
anew, the same claims always come to the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
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


class Placed(NamedTuple):
    """A claim with the fact that makes it, its number there, and its place; `settled` is stored."""

    unit_id: bytes
    number: int
    claim: Claim
    said: int
    document_id: bytes | None
    start: int
    settled: Settled = Settled()

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


def extend(standing: Sequence[Placed], new: Sequence[Placed]) -> list[Placed] | None:
    """Settle claims that come after all others of their slot by those of them that are open.

    `standing` are those that nothing has ended yet and that new ones may end, with what was found
    of them; no claim of the slot is against another. Returns both as `settle` would leave them
    among all claims of the slot; None where a new one is against another.
    """
    line = _Line()
    for placed in sorted(standing, key=lambda p: p.order):
        line.resume(placed)
    for placed in sorted(new, key=lambda p: p.order):
        line.take(placed)
    return None if line.disputed else line.done()


# What of an open claim tells which others it clashes with: its value, and whether that is loose.
_Said = tuple[str, bool]


class _Line:
    """Claims taken so far; `_open` are the places of those that hold, or deny, by what they say.

    A value that is told again and again is compared once, not once for each time. `disputed`: a
    claim taken is against another.
    """

    def __init__(self) -> None:
        self.disputed = False
        self._all: list[Placed] = []
        self._settled: list[Settled] = []  # what follows for each of them
        self._open: dict[Stance, dict[_Said, list[int]]] = {Stance.HOLDS: {}, Stance.DENIED: {}}

    def resume(self, placed: Placed) -> None:
        """Take an open claim that was settled before."""
        self._add(placed, placed.settled)
        self._leave_open(placed.claim)

    def take(self, placed: Placed) -> None:
        claim = placed.claim
        begins = claim.since if claim.since is not None else claim.at
        if claim.stance is Stance.HELD:
            self._held(placed)
            return
        against: bytes | None = None
        ended: set[int] = set()
        for at in self._clashing(claim):
            other = self._all[at]
            if _unsettled(placed, other):
                self.disputed = True
                against = against or other.unit_id
                if self._settled[at].against is None:
                    self._settled[at] = self._settled[at]._replace(against=placed.unit_id)
            elif other.unit_id != placed.unit_id:
                self._end(at, max(begins, self._begins(at)), placed.unit_id)
                ended.add(at)
        self._close(ended)
        self._add(placed, Settled(begins, claim.until, None, against))
        if claim.until is None:
            self._leave_open(claim)

    def _leave_open(self, claim: Claim) -> None:
        """Note that the claim added last is open."""
        said = self._open[claim.stance].setdefault(_said(claim), [])
        said.append(len(self._all) - 1)

    def _clashing(self, claim: Claim) -> list[int]:
        """Return the places of what a claim ends, in order."""
        holds, denied = self._open[Stance.HOLDS], self._open[Stance.DENIED]
        if claim.stance is Stance.DENIED:
            ended = self._agreeing(replace(claim, news=False), holds) if claim.value else [*holds]
            return sorted(at for said in ended for at in holds[said])
        found: list[int] = []
        if denied:
            nothing = [said for said in (("", False), ("", True)) if said in denied]
            again = {*nothing, *self._agreeing(claim, denied)}
            found += [at for said in again for at in denied[said]]
        if holds and not claim.many:  # of many, values do not end one another
            same = self._agreeing(claim, holds)
            if len(same) < len(holds):
                found += [at for said, places in holds.items() if said not in same for at in places]
        return sorted(found)

    def _agreeing(self, claim: Claim, among: Mapping[_Said, Sequence[int]]) -> list[_Said]:
        """Return what says the same value as a claim, see `agree`."""
        if claim.loose and not claim.news:
            return [s for s, places in among.items() if agree(claim, self._all[places[0]].claim)]
        return [said for said in ((claim.value, False), (claim.value, True)) if said in among]

    def _held(self, placed: Placed) -> None:
        """Take what held once: it ends what still says so, and ended when another value began."""
        claim = placed.claim
        began = [claim.at]
        ended: set[int] = set()
        holds = self._open[Stance.HOLDS]
        same = set(self._agreeing(claim, holds))
        for said, places in holds.items():
            if said in same:
                ended.update(at for at in places if not _unsettled(placed, self._all[at]))
            elif not claim.many:
                began += map(self._begins, places)
        for at in ended:
            self._end(at, max(claim.until or claim.at, self._begins(at)), placed.unit_id)
        self._close(ended)
        ends = claim.until if claim.until is not None else min(began)
        since = claim.since if claim.since is None or claim.since <= ends else ends
        self._add(placed, Settled(since, ends))

    def _close(self, ended: set[int]) -> None:
        if not ended:
            return
        claims = [self._all[at].claim for at in ended]
        for stance, said in {(claim.stance, _said(claim)) for claim in claims}:
            left = [at for at in self._open[stance].pop(said) if at not in ended]
            if left:
                self._open[stance][said] = left

    def _add(self, placed: Placed, settled: Settled) -> None:
        self._all.append(placed)
        self._settled.append(settled)

    def _begins(self, at: int) -> int:
        begins = self._settled[at].begins
        return self._all[at].claim.at if begins is None else begins

    def _end(self, at: int, ends: int, by: bytes) -> None:
        self._settled[at] = self._settled[at]._replace(ends=ends, ended_by=by)

    def done(self) -> list[Placed]:
        """Return all; what was ended is against nothing any more."""
        pairs = list(zip(self._all, self._settled, strict=True))
        if not self.disputed:  # as most often
            return [_with(p, settled) for p, settled in pairs]
        found = {p.unit_id for p, settled in pairs if settled.ends is None}
        return [
            _with(
                p,
                settled._replace(against=None)
                if settled.against is not None
                and (settled.ends is not None or settled.against not in found)
                else settled,
            )
            for p, settled in pairs
        ]


def _with(placed: Placed, settled: Settled) -> Placed:
    return placed if placed.settled == settled else placed._replace(settled=settled)


def _said(claim: Claim) -> _Said:
    return claim.value, claim.loose


def agree(one: Claim, other: Claim) -> bool:
    """Tell whether two claims name the same value."""
    if one.value == other.value:
        return True
    if not (one.loose and other.loose) or one.news:
        return False
    mine, theirs = set(one.value.split()), set(other.value.split())
    return bool(mine and theirs) and (mine <= theirs or theirs <= mine)


def _unsettled(placed: Placed, other: Placed) -> bool:
    """Tell whether time does not say which of two came later."""
    mine, theirs = placed.claim, other.claim
    same_text = placed.document_id is not None and placed.document_id == other.document_id
    if same_text or (mine.news and not theirs.news):
        return False
    if not (mine.timed and theirs.timed):
        return True
    if placed.said < mine.at and other.said < theirs.at:  # both were told before they began
        return abs(placed.said - other.said) < SAME_TIME_US
    return abs(mine.at - theirs.at) < SAME_TIME_US
