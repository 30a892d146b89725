"""What can be read of what holds, in one snapshot of one bank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from .timeline import Placed


class FactTruth(NamedTuple):
    """From when and until when a fact's claim holds, and what speaks against it.

    `slot`, `value`, `stance` and `many` are the claim's (see `nouns.memory.Claim`). `ended_by` and
    `against` are facts, `ended_in` and `against_in` the sources that they were read from. Times in
    microseconds; None: as far as is known.
    """

    fact_id: bytes
    slot: str
    value: str
    stance: int
    many: bool
    begins: int | None
    ends: int | None
    ended_by: bytes | None
    ended_in: bytes | None
    against: bytes | None
    against_in: bytes | None


class TruthReader(Protocol):
    """The part of a snapshot's reader that knows what holds. Its methods block."""

    def truths(self, ids: Sequence[bytes]) -> Mapping[bytes, tuple[FactTruth, ...]]:
        """Return what the facts read from sources claim; sources without claims are left out."""
        ...

    def holders(self, slots: Sequence[str], at: int) -> Mapping[str, bytes]:
        """Return by slot the source of the last claim that holds at a time.

        Of a claim that a value holds, else of one that denies; a slot without is left out.
        """
        ...

    def claims_of(self, ids: Sequence[bytes]) -> list[Placed]:
        """Return the claims of facts."""
        ...

    def slot_claims(self, slot: str) -> list[Placed]:
        """Return the claims of a slot, the newest first, 1,000 at most."""
        ...
