"""Sends due occurrences to the webhooks that wait for `intention.due`.

The body is made when it is sent, from what is stored then: an intention that was forgotten or done
meanwhile is not sent, and no queue keeps its text. Signed as Standard Webhooks has it
(standardwebhooks.com): `webhook-id` is the occurrence's and the same in each attempt. A 2xx answer
acknowledges the occurrence, unless the webhook asks otherwise; 410 disables the webhook. After the
last attempt the delivery is a dead letter, and the occurrence stays due for whoever checks.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..keeping.batch import Batch
from ..keeping.intentions import Offer
from ..keeping.records import Record
from ..keeping.store import Store
from ..models.outbound import Answer, Outbound, Outgoing
from ..nouns.clock import Clock, iso
from ..nouns.errors import Conflict, NotFound, RemembrancerError
from ..nouns.ids import to_uuid
from ..nouns.intention import OPEN
from ..nouns.memory import BankRef, Job, JobState
from ..nouns.text import clean
from .occurrences import Occurrences
from .outbox import Mail, derived
from .plan import GRACE_US
from .webhooks import INTENTION_DUE, Webhook, Webhooks, delivery_kind, record_of, webhooks_of

PUSH = "push"
"""The kind of the jobs that send."""
RETRY_AFTER_S = (5, 30, 120, 600, 3_600, 18_000)
JITTER = 0.2  # of a wait, up or down
_GONE = 410
_ERROR_CHARS = 500


class Push:
    """Makes the jobs that send occurrences, and runs them; everything it needs is passed in.

    `chance` gives numbers from 0 to 1, so that many retries do not fall together.
    """

    def __init__(
        self,
        store: Store,
        webhooks: Webhooks,
        outbound: Outbound,
        occurrences: Occurrences,
        *,
        clock: Clock,
        chance: Callable[[], float],
        user_agent: str,
    ) -> None:
        self._store = store
        self._webhooks = webhooks
        self._outbound = outbound
        self._occurrences = occurrences
        self._clock = clock
        self._chance = chance
        self._user_agent = user_agent

    async def __call__(self, ref: BankRef, offers: Sequence[Offer]) -> Mail:
        """Return records and jobs for the webhooks that wait for what is due.

        Ids follow from the occurrence and its time, so that two processes make one job.
        """
        mail = Mail()
        wanted = [
            webhook
            for webhook in await webhooks_of(self._store, ref)
            if webhook.enabled and INTENTION_DUE in webhook.event_types
        ]
        now = self._clock.now_us()
        for webhook in wanted:
            for offer in offers:
                found = offer.occurrence
                key = to_uuid(derived(found.id, webhook.id, str(found.ready_at)))
                told = {
                    "webhook_id": webhook.id,
                    "url": webhook.url,
                    "event_type": INTENTION_DUE,
                    "status": "pending",
                    "attempts": 0,
                    "next_retry_at": now,
                    "occurrence_id": to_uuid(found.id),
                }
                mail.records.append(Record(delivery_kind(webhook.id), key, now, now, told))
                mail.jobs.append(_job(ref, webhook.id, found.id.hex(), key, 1, now, now))
        return mail

    async def run(self, job: Job) -> Mapping[str, Any]:
        """Make one attempt; when it fails and is not the last, the next one is queued."""
        payload = job.payload
        try:
            webhook = await self._webhooks.get(job.ref, payload["webhook"])
        except NotFound:
            return {"status": "dropped"}
        occurrence_id = bytes.fromhex(payload["occurrence"])
        offers = await self._store.offers_by_id(job.ref, [occurrence_id])
        if not offers or offers[0].occurrence.state not in OPEN or not webhook.enabled:
            await self._note(job, webhook, {"status": "dropped", "next_retry_at": None})
            return {"status": "dropped"}
        answer, error = await self._send(webhook, job.ref, offers[0])
        return await self._after(job, webhook, offers[0], answer, error)

    async def _after(
        self,
        job: Job,
        webhook: Webhook,
        offer: Offer,
        answer: Answer | None,
        error: str | None,
    ) -> Mapping[str, Any]:
        done = answer is not None and 200 <= answer.status < 300
        attempt: int = job.payload["attempt"]
        now = self._clock.now_us()
        wait = None
        if not done and attempt <= len(RETRY_AFTER_S) and not _is_gone(answer):
            spread = 1 + JITTER * (2 * self._chance() - 1)
            wait = now + int(RETRY_AFTER_S[attempt - 1] * spread * 1_000_000)
        status = "completed" if done else "dead_letter" if wait is None else "pending"
        if done and webhook.acknowledges:
            await self._acknowledge(job.ref, offer)
        await self._note(
            job,
            webhook,
            {
                "status": status,
                "attempts": attempt,
                "next_retry_at": wait,
                "last_attempt_at": now,
                "last_error": error,
                "last_response_status": answer.status if answer else None,
                "last_response_body": clean(answer.body) if answer else None,
            },
            again=wait,
        )
        return {"status": status, "attempt": attempt}

    async def _acknowledge(self, ref: BankRef, offer: Offer) -> None:
        try:
            await self._occurrences.ack(ref, offer.occurrence.id, None, None)
        except (Conflict, NotFound):  # it ended otherwise while it was being sent
            return

    async def _send(
        self, webhook: Webhook, ref: BankRef, offer: Offer
    ) -> tuple[Answer | None, str | None]:
        body = json.dumps(
            told_of(ref, offer, self._clock.now_us()), ensure_ascii=False, separators=(",", ":")
        ).encode()
        seconds = self._clock.now_us() // 1_000_000
        message_id = to_uuid(offer.occurrence.id)
        headers = {
            **webhook.http.headers,
            "Content-Type": "application/json",
            "User-Agent": self._user_agent,
            "webhook-id": message_id,
            "webhook-timestamp": str(seconds),
        }
        if webhook.secret:
            signed = standard_signature(webhook.secret, message_id, seconds, body)
            headers["webhook-signature"] = signed
        request = Outgoing(
            webhook.http.method,
            webhook.url,
            body,
            headers,
            webhook.http.params,
            webhook.http.timeout_seconds,
        )
        try:
            answer = await self._outbound.send(request)
        except RemembrancerError as error:
            return None, error.message[:_ERROR_CHARS]
        if 200 <= answer.status < 300:
            return answer, None
        return answer, f"the answer has status {answer.status}"

    async def _note(
        self, job: Job, webhook: Webhook, told: Mapping[str, Any], *, again: int | None = None
    ) -> None:
        """Write down what came of an attempt, with the next one."""
        payload = job.payload
        now = self._clock.now_us()
        kind = delivery_kind(webhook.id)
        record = await self._store.record(job.ref, kind, payload["delivery"])
        records = []
        if record is not None:
            records = [replace(record, updated_at=now, data={**record.data, **told})]
        if told.get("last_response_status") == _GONE:
            records.append(record_of(replace(webhook, enabled=False, updated_at=now)))
        jobs = []
        if again is not None:
            attempt = payload["attempt"] + 1
            jobs = [
                _job(
                    job.ref,
                    webhook.id,
                    payload["occurrence"],
                    payload["delivery"],
                    attempt,
                    now,
                    again,
                )
            ]
        fence = (job.id, job.fence)
        await self._store.apply(job.ref, Batch(records=records, jobs=jobs, fence=fence))


def told_of(ref: BankRef, offer: Offer, now: int) -> dict[str, Any]:
    """Return what a receiver is told of a due occurrence."""
    found, intention = offer
    return {
        "type": INTENTION_DUE,
        "timestamp": iso(now),
        "data": {
            "bank_id": ref.bank,
            "occurrence_id": to_uuid(found.id),
            "intention_id": to_uuid(intention.id),
            "content": intention.content,
            "trigger_type": intention.trigger_type,
            "trigger_event": intention.trigger_event,
            "importance": intention.importance,
            "due_at": iso(found.due_at),
            "late": now - found.due_at > GRACE_US,
            "missed_count": found.missed,
            "source_id": to_uuid(intention.source_id) if intention.source_id else None,
            "payload": dict(found.data),
        },
    }


def standard_signature(secret: str, message_id: str, seconds: int, body: bytes) -> str:
    """Return `v1,` and the base64 of the HMAC-SHA256 over id, time and body.

    A secret that begins with `whsec_` holds the key in base64; any other is the key itself.
    """
    key = secret.encode()
    if secret.startswith("whsec_"):
        key = base64.b64decode(secret.removeprefix("whsec_") + "==")
    signed = b".".join([message_id.encode(), str(seconds).encode(), body])
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def _is_gone(answer: Answer | None) -> bool:
    return answer is not None and answer.status == _GONE


def _job(
    ref: BankRef,
    webhook_id: str,
    occurrence: str,
    delivery: str,
    attempt: int,
    now: int,
    run_after: int,
) -> Job:
    payload = {
        "webhook": webhook_id,
        "occurrence": occurrence,
        "delivery": delivery,
        "attempt": attempt,
    }
    return Job(
        derived(bytes.fromhex(occurrence), delivery, str(attempt)),
        ref,
        PUSH,
        JobState.PENDING,
        now,
        now,
        payload=payload,
        run_after=run_after,
        listed=False,
    )
