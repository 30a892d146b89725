"""What the claims of one fact say apart from each other, and how long the fact holds by that.

"I live in Rome and work at Google" says two things: the one can end without the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from ..nouns.memory import ASIDE, Stance

_THING, _HABITS = "thing:", ("diet", "does:")
_ONE = {"relationship": "partner"}  # "I'm married to Ann"
_WIDER = "uses"  # of "I use Helix as my editor": said of the editor as well

Span = tuple[int | None, int | None]


class Said(Protocol):
    """What is needed of a claim; see `nouns.memory.Claim`."""

    @property
    def slot(self) -> str:
        """Subject and attribute."""
        ...

    @property
    def value(self) -> str:
        """What the attribute is said to be."""
        ...

    @property
    def stance(self) -> int:
        """What is said of the value."""
        ...


class _Told(NamedTuple):
    """A claim of a fact, by its place among them."""

    at: int
    whose: str
    name: str
    value: str
    stance: int

    @property
    def part(self) -> tuple[str, ...]:
        """What claims that end together share."""
        if self.stance == Stance.DENIED:  # who left Google may have worked or lived there
            return self.whose, "", self.value
        name = _ONE.get(self.name, self.name)
        return (self.whose, name) if name in _ONE.values() else (self.whose, name, self.value)


def parts(claims: Sequence[Said]) -> list[list[int]]:
    """Return the places of the claims of a fact, by what ends together.

    Denials count only where nothing is said to hold. What held once is left out: it stays true.
    A claim that only carries what another one is about belongs to that one.
    """
    if len(claims) == 1:  # as most often
        return [] if claims[0].stance == Stance.HELD else [[0]]
    told = [
        _Told(at, *claim.slot.partition("\n")[::2], claim.value, claim.stance)
        for at, claim in enumerate(claims)
        if claim.stance != Stance.HELD
    ]
    own = [claim for claim in told if not claim.name.startswith(ASIDE)]
    if not own:  # "I gave up meat"
        return [[claim.at for claim in told]] if told else []
    if any(claim.stance == Stance.HOLDS for claim in own):
        told, own = ([c for c in some if c.stance == Stance.HOLDS] for some in (told, own))
    found: dict[tuple[str, ...], list[int]] = {}
    for claim in told:
        chief = _chief(claim, own)
        found.setdefault(() if chief is None else chief.part, []).append(claim.at)
    return list(found.values())


def together(spans: Iterable[Span]) -> Span:
    """Return from and until when all hold of what ends together."""
    begins, ends = _known(spans)
    return max(begins, default=None), min(ends, default=None)


def hull(spans: Sequence[Span]) -> Span:
    """Return from the first until the last time at which any of several parts holds."""
    begins, ends = _known(spans)
    return min(begins, default=None), max(ends) if 0 < len(ends) == len(spans) else None


def _known(spans: Iterable[Span]) -> tuple[list[int], list[int]]:
    whole = list(spans)
    return [b for b, _ in whole if b is not None], [e for _, e in whole if e is not None]


def _chief(claim: _Told, own: Sequence[_Told]) -> _Told | None:
    """Return the claim to whose part another one belongs; None: to none of them."""
    mine = [other for other in own if other.whose == claim.whose]
    if claim.name.startswith(ASIDE):
        about = _about(claim, mine)
        return None if about is None else _chief(about, own)
    if claim.name == _WIDER:
        return next((o for o in mine if o.name != _WIDER and o.value == claim.value), claim)
    return claim


def _about(claim: _Told, mine: Sequence[_Told]) -> _Told | None:
    """Return what a claim carries the object of, or the diet."""
    before = [other for other in mine if other.at < claim.at]
    if not claim.name.startswith(_THING):
        before = [other for other in before if other.name.startswith(_HABITS)]
        return before[-1] if before else None
    thing = claim.name.removeprefix(_THING)
    named = next((other for other in mine if other.value == thing), None)
    return named or (before[-1] if before else None)
