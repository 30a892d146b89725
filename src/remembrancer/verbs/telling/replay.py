"""replay: send a delivery anew that was given up, or that somebody wants to have again."""

from __future__ import annotations

from dataclasses import replace

from ...keeping.batch import Batch
from ...keeping.records import Record
from ...keeping.store import Store
from ...nouns.clock import Clock
from ...nouns.errors import Conflict, InvalidInput, NotFound
from ...nouns.ids import parse_id
from ...nouns.intention import OPEN
from ...nouns.memory import BankRef
from .push import Attempt, push_job
from .webhooks import INTENTION_DUE, Webhooks, delivery_kind


class Replay:
    """The verb; everything it needs is passed in."""

    def __init__(self, store: Store, webhooks: Webhooks, *, clock: Clock) -> None:
        self._store = store
        self._webhooks = webhooks
        self._clock = clock

    async def __call__(
        self, ref: BankRef, webhook_id: str, delivery_id: str, ceiling: float | None = None
    ) -> Record:
        """Queue a delivery of a due intention, with all its attempts; return its record.

        Raises:
            NotFound: there is no such webhook or delivery (or it is of what is ranked above the
                ceiling), or the intention is gone.
            InvalidInput: it tells of something else, whose body is not kept.
            Conflict: it is on its way, the webhook is disabled, or the occurrence has ended.
        """
        webhook = await self._webhooks.get(ref, webhook_id)
        record = await self._store.record(ref, delivery_kind(webhook.id), delivery_id)
        if record is None or await self._webhooks.hidden(ref, [record], ceiling):
            raise NotFound(f"delivery {delivery_id!r} does not exist", field="delivery_id")
        if record.data["event_type"] != INTENTION_DUE:
            raise InvalidInput(
                f"a delivery of {record.data['event_type']} cannot be replayed: what it held is "
                f"not kept; those of {INTENTION_DUE} can",
                field="delivery_id",
            )
        if record.data["status"] == "pending":
            raise Conflict("the delivery is on its way already", field="delivery_id")
        if not webhook.enabled:
            raise Conflict("the webhook is disabled: enable it first", field="webhook_id")
        occurrence_id = parse_id(record.data["occurrence_id"])
        offers = await self._store.offers_by_id(ref, [occurrence_id])
        if not offers:
            raise NotFound("the intention was removed since", field="delivery_id")
        state = offers[0].occurrence.state
        if state not in OPEN:
            raise Conflict(f"the occurrence is {state} already", field="delivery_id")
        return await self._queue(ref, record, webhook.id, occurrence_id)

    async def _queue(
        self, ref: BankRef, record: Record, webhook_id: str, occurrence_id: bytes
    ) -> Record:
        now = self._clock.now_us()
        number = record.data.get("round", 0) + 1
        anew = {"status": "pending", "attempts": 0, "next_retry_at": now, "round": number}
        record = replace(record, updated_at=now, data={**record.data, **anew})
        attempt = Attempt(webhook_id, occurrence_id.hex(), record.key, round=number)
        job = push_job(ref, attempt, now, now)
        await self._store.apply(ref, Batch(records=[record], jobs=[job]))
        return record
