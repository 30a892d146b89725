"""The Store protocol's intentions over SQL."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...nouns.intention import Event, Intention, OccurrenceState
from ...nouns.memory import BankRef
from ..intentions import Cue, IntentionBatch, IntentionFilter, IntentionsApplied, Offer
from . import intentions
from .calls import Calls


class IntentionCalls(Calls):
    """See `keeping.intentions.IntentionStore`."""

    async def intend(self, ref: BankRef, batch: IntentionBatch) -> IntentionsApplied:
        """Write one batch durably; creates the bank when it is new."""
        return await self._write(intentions.write, ref, batch, self._clock.now_us())

    async def intentions_by_id(self, ref: BankRef, ids: Sequence[bytes]) -> list[Intention]:
        """Return intentions in the order of `ids`; missing ones are left out."""
        return await self._read(intentions.by_id, ref, ids)

    async def intentions(
        self, ref: BankRef, wanted: IntentionFilter, limit: int = 100, offset: int = 0
    ) -> list[Intention]:
        """Return intentions in the order of registration."""
        return await self._read(intentions.listing, ref, wanted, limit, offset)

    async def intention_count(self, ref: BankRef, wanted: IntentionFilter) -> int:
        """Count intentions."""
        return await self._read(intentions.count, ref, wanted)

    async def intentions_due(
        self, ref: BankRef, before: int, ceiling: float | None, limit: int = 1_000
    ) -> list[Intention]:
        """Return active intentions whose `next_due` is at or before a time, soonest first."""
        return await self._read(intentions.due, ref, before, ceiling, limit)

    async def intentions_on(
        self, ref: BankRef, events: Sequence[str], ceiling: float | None, limit: int = 10_000
    ) -> list[Intention]:
        """Return active intentions that wait for one of these events."""
        return await self._read(intentions.waiting, ref, events, ceiling, limit)

    async def intentions_unindexed(
        self, ref: BankRef, ceiling: float | None, limit: int = 10_000
    ) -> list[Intention]:
        """Return active intentions that no index finds."""
        return await self._read(intentions.unindexed, ref, ceiling, limit)

    async def cues(self, ref: BankRef, after: int, limit: int = 10_000) -> list[Cue]:
        """Return the vectors of context triggers changed after a place, in order of place."""
        return await self._read(intentions.cues, ref, after, limit)

    async def cues_stale(self, generation: int, limit: int = 1_000) -> list[tuple[BankRef, bytes]]:
        """Return intentions of all tenants whose cue wants embedding, by bank."""
        return await self._read(intentions.cues_stale, generation, limit)

    async def banks_due(self, before: int, limit: int = 100) -> list[BankRef]:
        """Return banks with an intention due, or an occurrence to send, by a time."""
        return await self._read(intentions.banks_due, before, limit)

    async def next_due(self) -> int | None:
        """Return the soonest time at which `banks_due` has something."""
        return await self._read(intentions.next_due)

    async def offers(
        self,
        ref: BankRef,
        *,
        ready_before: int | None = None,
        states: Collection[OccurrenceState] | None = None,
        intention_ids: Sequence[bytes] | None = None,
        ceiling: float | None = None,
        limit: int = 1_000,
        offset: int = 0,
    ) -> list[Offer]:
        """Return occurrences with their intentions."""
        return await self._read(
            intentions.offers,
            ref,
            ready_before,
            states,
            intention_ids,
            ceiling,
            limit,
            offset,
        )

    async def to_send(self, ref: BankRef, before: int, limit: int = 1_000) -> list[Offer]:
        """Return the occurrences to be sent by a time, soonest first."""
        return await self._read(intentions.to_send, ref, before, limit)

    async def offers_since(
        self,
        ref: BankRef,
        after: tuple[int, bytes],
        before: int,
        ceiling: float | None,
        limit: int = 1_000,
    ) -> list[Offer]:
        """Return occurrences to be offered by a time, in order and after a place in it."""
        return await self._read(intentions.offers_since, ref, after, before, ceiling, limit)

    async def offer_places(
        self, ref: BankRef, before: int, limit: int = 10_000
    ) -> list[tuple[int, bytes]]:
        """Return where the occurrences to be offered by a time stand, in order."""
        return await self._read(intentions.offer_places, ref, before, limit)

    async def offer_count(self, ref: BankRef, ready_before: int, ceiling: float | None) -> int:
        """Count the occurrences to be offered by a time."""
        return await self._read(intentions.offer_count, ref, ready_before, ceiling)

    async def offers_by_id(self, ref: BankRef, ids: Sequence[bytes]) -> list[Offer]:
        """Return occurrences with their intentions, in the order of `ids`."""
        return await self._read(intentions.offers_by_id, ref, ids)

    async def events(
        self, ref: BankRef, names: Sequence[str] | None, since: int, limit: int = 1_000
    ) -> list[Event]:
        """Return events that happened at or after a time, oldest first."""
        return await self._read(intentions.events, ref, names, since, limit)

    async def events_by_id(self, ref: BankRef, ids: Sequence[str]) -> list[Event]:
        """Return events by their ids, in the order of `ids`; missing ones are left out."""
        return await self._read(intentions.events_by_id, ref, ids)

    async def events_trim(self, ref: BankRef, before: int) -> int:
        """Drop events received before a time; return how many went."""
        return await self._write(intentions.events_trim, ref, before)
