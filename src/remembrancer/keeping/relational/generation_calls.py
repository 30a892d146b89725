"""The Store protocol's embedding generations over SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...nouns.memory import BankRef
from ..batch import VectorPatch
from ..generations import Generation, PendingUnit
from . import generations
from .calls import Calls


class GenerationCalls(Calls):
    """See `keeping.generations.GenerationStore`."""

    async def generations(self) -> list[Generation]:
        """Return the embedding generations that the store keeps vectors of, oldest first."""
        return await self._read(generations.listing)

    async def generation_begin(self, fingerprint: Mapping[str, Any]) -> Generation:
        """Return the generation of this fingerprint, made when new; the first one is active."""
        return await self._write(generations.begin, fingerprint)

    async def generation_pending(
        self, number: int, limit: int = 256, after: PendingUnit | None = None
    ) -> list[PendingUnit]:
        """Return units without a vector of generation `number`, over all tenants and banks."""
        return await self._read(generations.pending, number, limit, after)

    async def generation_pending_count(self, number: int) -> int:
        """Count the units without a vector of generation `number`."""
        return await self._read(generations.pending_count, number)

    async def generation_vectors(
        self, ref: BankRef, number: int, vectors: Sequence[VectorPatch]
    ) -> None:
        """Write vectors of generation `number`. Those of the active one go through the feed.

        Raises:
            NotFound: there is no such generation (any more).
        """
        await self._write(generations.write, ref, number, vectors, self._clock.now_us())

    async def generation_activate(self, number: int) -> bool:
        """Make a generation the active one; the others go with their vectors.

        Returns False, changing nothing, while units without a vector of it remain.

        Raises:
            NotFound: there is no such generation (any more).
        """
        return await self._write(generations.activate, number)
