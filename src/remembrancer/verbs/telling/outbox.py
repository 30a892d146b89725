"""What goes out when something has happened: made to be written with the happening itself.

A delivery and the job that sends it commit in one batch with the change they tell of: neither is
lost, and none tells of a change that was not made. What is sent holds ids and counts, never the
text of a memory, for it could not be taken back by a forget.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...keeping.records import Record
from ...keeping.store import Store
from ...nouns.clock import Clock, iso
from ...nouns.ids import IdMaker, to_uuid
from ...nouns.memory import BankRef, Job, JobState
from .webhooks import Webhook, delivery_kind, webhooks_of

DELIVER = "deliver"
"""The kind of the jobs that send."""


@dataclass(frozen=True, slots=True)
class Mail:
    """Records and jobs for a batch; none when nobody wants to know."""

    records: list[Record] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)


class Outbox:
    """Makes mail; everything it needs is passed in."""

    def __init__(self, store: Store, *, ids: IdMaker, clock: Clock) -> None:
        self._store = store
        self._ids = ids
        self._clock = clock

    async def wanted(self, ref: BankRef, event: str) -> list[Webhook]:
        """Return the webhooks that want to know of an event; one short read."""
        return [
            webhook
            for webhook in await webhooks_of(self._store, ref)
            if webhook.enabled and event in webhook.event_types
        ]

    async def __call__(
        self,
        ref: BankRef,
        event: str,
        data: Mapping[str, Any],
        *,
        operation: bytes | None = None,
        about: str = "",
        status: str = "completed",
        wanted: Sequence[Webhook] | None = None,
    ) -> Mail:
        """Return what is to be written in the batch that makes an event happen.

        Args:
            ref: the bank.
            event: one of `webhooks.EVENTS`.
            data: ids, counts and options; no text of a memory.
            operation: the job that did it, if one did. Its event is made once, though the job may
                run again: the ids are functions of `operation`, `event` and `about`.
            about: tells events of one operation apart.
            status: how it ended.
            wanted: what `wanted` has returned, when it was asked before.
        """
        mail = Mail()
        if wanted is None:
            wanted = await self.wanted(ref, event)
        if not wanted:
            return mail
        now = self._clock.now_us()
        event_id = self._ids.new() if operation is None else derived(operation, event, about)
        body = json.dumps(
            {
                "event": event,
                "event_id": to_uuid(event_id),
                "bank_id": ref.bank,
                "operation_id": to_uuid(operation) if operation else None,
                "status": status,
                "timestamp": iso(now),
                "data": data,
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )
        for webhook in wanted:
            key = to_uuid(derived(event_id, webhook.id))
            kind = delivery_kind(webhook.id)
            if operation is not None and await self._store.record(ref, kind, key) is not None:
                continue
            told = {
                "webhook_id": webhook.id,
                "url": webhook.url,
                "event_type": event,
                "status": "pending",
                "attempts": 0,
                "next_retry_at": now,
            }
            mail.records.append(Record(kind, key, now, now, told))
            payload = {
                "webhook": webhook.id,
                "delivery": key,
                "event": event,
                "event_id": to_uuid(event_id),
                "body": body,
                "attempt": 1,
            }
            mail.jobs.append(delivery_job(self._ids.new(), ref, now, payload))
        return mail


def derived(*parts: bytes | str) -> bytes:
    """Return an id that is a function of its parts, the first of which is an id itself."""
    hasher = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        hasher.update(len(data).to_bytes(4, "big") + data)
    return hasher.digest()


def delivery_job(
    job_id: bytes, ref: BankRef, now: int, payload: Mapping[str, Any], *, run_after: int = 0
) -> Job:
    """Return the job of one attempt to send."""
    return Job(
        job_id,
        ref,
        DELIVER,
        JobState.PENDING,
        now,
        now,
        payload=payload,
        run_after=run_after,
        listed=False,
    )
