"""Embedding generations: whose vectors a store holds, and which units lack one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ..nouns.memory import BankRef
from .batch import VectorPatch


class PendingUnit(NamedTuple):
    """A unit that the active embedder has not embedded yet."""

    ref: BankRef
    unit_id: bytes


@dataclass(frozen=True, slots=True)
class Generation:
    """One embedding model's vectors in a store; vectors of two generations are never mixed.

    `fingerprint` is the embedder's identity: model, file hash, dimension, pooling, prefix.
    """

    number: int
    fingerprint: Mapping[str, Any]
    active: bool


class GenerationStore(Protocol):
    """The part of a store that keeps embedding generations apart."""

    async def generations(self) -> list[Generation]:
        """Return the embedding generations, oldest first."""
        ...

    async def generation_begin(self, fingerprint: Mapping[str, Any]) -> Generation:
        """Return the generation of this fingerprint, made when new; the first one is active."""
        ...

    async def generation_pending(
        self, number: int, limit: int = 256, after: PendingUnit | None = None
    ) -> list[PendingUnit]:
        """Return units without a vector of generation `number`, over all tenants and banks.

        Units with a `source_id` need none and are left out.
        """
        ...

    async def generation_pending_count(self, number: int) -> int:
        """Count the units without a vector of generation `number`."""
        ...

    async def generation_vectors(
        self, ref: BankRef, number: int, vectors: Sequence[VectorPatch]
    ) -> None:
        """Write vectors of generation `number`. Those of the active one go through the feed."""
        ...

    async def generation_activate(self, number: int) -> bool:
        """Make a generation the active one and drop the others' vectors.

        Returns False, changing nothing, while units without a vector of it remain.
        """
        ...
