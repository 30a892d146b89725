"""What is done with an occurrence: acknowledged, put off, dismissed. Each answer comes once.

An answer that names the token of an old lease comes too late and changes nothing; one that asks for
what is so already succeeds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ...keeping.intentions import IntentionBatch, OccurrenceMove, Offer
from ...keeping.records import Record
from ...keeping.store import Store
from ...nouns.clock import Clock
from ...nouns.errors import Conflict, InvalidInput, NotFound
from ...nouns.ids import to_uuid
from ...nouns.intention import OPEN, Intention, IntentionState, OccurrenceState, TriggerType
from ...nouns.memory import BankRef

SECOND_US = 1_000_000
MOST_LEASE_S = 12 * 3600
MOST_SNOOZE_S = 366 * 86_400
_TRIES = 5


class Occurrences:
    """The verbs on occurrences; everything they need is passed in.

    Each takes the `token` that came with the lease, or None to answer whatever stands, and the
    caller's `ceiling`: what is ranked above it does not exist for the caller.
    """

    def __init__(self, store: Store, *, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def get(self, ref: BankRef, occurrence_id: bytes, ceiling: float | None = None) -> Offer:
        """Return an occurrence with its intention.

        Raises:
            NotFound: there is none (or it is above the ceiling).
        """
        offers = await self._store.offers_by_id(ref, [occurrence_id])
        if not offers or withheld(offers[0].intention, ceiling):
            raise NotFound(
                f"there is no occurrence {to_uuid(occurrence_id)} in this bank",
                field="occurrence_id",
            )
        return offers[0]

    async def ack(
        self, ref: BankRef, occurrence_id: bytes, token: int | None, ceiling: float | None
    ) -> Offer:
        """It was done, or shown: it is not offered again. A one-shot intention is done with it.

        Raises:
            NotFound: there is no such occurrence.
            Conflict: it ended otherwise, or the lease is another's by now.
        """
        return await self._end(ref, occurrence_id, OccurrenceState.ACKED, token, ceiling)

    async def taken(self, ref: BankRef, offer: Offer, records: Sequence[Record]) -> bool:
        """Acknowledge what a receiver has taken, in one write with the records that tell so.

        False when it has ended otherwise meanwhile; nothing is written then.
        """
        for _ in range(_TRIES):
            if offer.occurrence.state not in OPEN:
                return False
            move = OccurrenceMove(offer.occurrence.id, OccurrenceState.ACKED, None, OPEN)
            put = [ended(offer.intention, acked=True)]
            batch = IntentionBatch(put=put, moves=[move], records=records, strict=True)
            try:
                await self._store.intend(ref, batch)
            except Conflict:
                found = await self._store.offers_by_id(ref, [offer.occurrence.id])
                if not found:
                    return False
                offer = found[0]
                continue
            return True
        raise Conflict("the occurrence is changed by others all the time; try again")

    async def dismiss(
        self, ref: BankRef, occurrence_id: bytes, token: int | None, ceiling: float | None
    ) -> Offer:
        """It is not wanted: it ends, and a one-shot intention with it."""
        return await self._end(ref, occurrence_id, OccurrenceState.DISMISSED, token, ceiling)

    async def nack(
        self,
        ref: BankRef,
        occurrence_id: bytes,
        token: int | None,
        ceiling: float | None,
        delay_s: float = 0,
    ) -> Offer:
        """It could not be shown: it is offered again, at once or after a delay in seconds."""
        _check_span("delay", delay_s, 0, MOST_SNOOZE_S)
        ready = self._clock.now_us() + int(delay_s * SECOND_US)
        return await self._move(ref, occurrence_id, OccurrenceState.DUE, ready, token, ceiling)

    async def snooze(
        self,
        ref: BankRef,
        occurrence_id: bytes,
        token: int | None,
        ceiling: float | None,
        until: int,
    ) -> Offer:
        """It is to come back at a time in microseconds.

        Raises:
            InvalidInput: that time is past, or more than a year away.
        """
        now = self._clock.now_us()
        if not now < until <= now + MOST_SNOOZE_S * SECOND_US:
            raise InvalidInput(
                "until must lie in the future, at most a year away",
                field="until",
                limit=MOST_SNOOZE_S,
            )
        return await self._move(ref, occurrence_id, OccurrenceState.SNOOZED, until, token, ceiling)

    async def extend(
        self,
        ref: BankRef,
        occurrence_id: bytes,
        token: int | None,
        ceiling: float | None,
        lease_s: float,
    ) -> Offer:
        """Hold a lease for longer: so many seconds from now.

        Raises:
            Conflict: there is no lease any more.
        """
        _check_span("lease", lease_s, 1, MOST_LEASE_S)
        ready = self._clock.now_us() + int(lease_s * SECOND_US)
        states = {OccurrenceState.LEASED}
        return await self._move(
            ref, occurrence_id, OccurrenceState.LEASED, ready, token, ceiling, states
        )

    async def _end(
        self,
        ref: BankRef,
        occurrence_id: bytes,
        state: OccurrenceState,
        token: int | None,
        ceiling: float | None,
    ) -> Offer:
        for _ in range(_TRIES):
            offer = await self.get(ref, occurrence_id, ceiling)
            if offer.occurrence.state is state:
                return offer
            _check_open(offer, OPEN, token)
            move = OccurrenceMove(occurrence_id, state, None, OPEN, token)
            done = ended(offer.intention, acked=state is OccurrenceState.ACKED)
            batch = IntentionBatch(put=[done], moves=[move], strict=True)
            try:
                applied = await self._store.intend(ref, batch)
            except Conflict:
                continue
            return Offer(applied.moved[0], replace(done, version=done.version + 1))
        raise Conflict("the occurrence is changed by others all the time; try again")

    async def _move(
        self,
        ref: BankRef,
        occurrence_id: bytes,
        state: OccurrenceState,
        ready_at: int,
        token: int | None,
        ceiling: float | None,
        states: Collection[OccurrenceState] = OPEN,
    ) -> Offer:
        offer = await self.get(ref, occurrence_id, ceiling)
        _check_open(offer, states, token)
        move = OccurrenceMove(occurrence_id, state, ready_at, states, token)
        applied = await self._store.intend(ref, IntentionBatch(moves=[move]))
        if not applied.moved:  # changed since it was read
            offer = await self.get(ref, occurrence_id, ceiling)
            _check_open(offer, states, token)
            raise Conflict("the occurrence was changed meanwhile; try again")
        return Offer(applied.moved[0], offer.intention)


def ended(intention: Intention, *, acked: bool) -> Intention:
    """Return an intention after one of its occurrences was acknowledged or dismissed."""
    changes: Mapping[str, object] = {}
    ruled = "recurrence" in intention.options
    timed = intention.trigger_type is TriggerType.TIME
    over = ruled and timed and intention.next_due is None  # nothing of the rule is left
    if over or not (ruled or intention.recurring):
        changes = {"state": IntentionState.DONE, "next_due": None}
    count = intention.fired_count + (1 if acked else 0)
    return replace(intention, fired_count=count, **changes)  # type: ignore[arg-type]


def withheld(intention: Intention, ceiling: float | None) -> bool:
    """Tell whether an intention is ranked above a caller's ceiling (None: there is none)."""
    rank = intention.tier_rank
    return ceiling is not None and rank is not None and rank > ceiling


def _check_open(offer: Offer, states: Collection[OccurrenceState], token: int | None) -> None:
    found = offer.occurrence
    if found.state not in states:
        raise Conflict(f"the occurrence is {found.state} already", field="state")
    if token is not None and token != found.token:
        raise Conflict(
            f"the lease of token {token} has passed to another; the occurrence is {found.state}",
            field="token",
        )


def _check_span(name: str, seconds: float, least: float, most: float) -> None:
    if not least <= seconds <= most:
        raise InvalidInput(f"{name} must be {least} to {most} seconds", field=name, limit=most)
