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
from dataclasses import asdict, dataclass, replace
from typing import Any

from ...keeping.batch import Batch
from ...keeping.intentions import Offer
from ...keeping.records import Record
from ...keeping.store import Store
from ...models.outbound import Answer, Outbound, Outgoing
from ...nouns.clock import Clock, iso
from ...nouns.errors import NotFound, RemembrancerError
from ...nouns.ids import to_uuid
from ...nouns.intention import OPEN
from ...nouns.memory import BankRef, Job, JobState
from ...nouns.text import clean
from ..reminding.occurrences import Occurrences, withheld
from ..reminding.plan import GRACE_US
from .outbox import Mail, derived
from .webhooks import INTENTION_DUE, Webhook, Webhooks, delivery_kind, record_of, webhooks_of

PUSH = "push"
"""The kind of the jobs that send."""
RETRY_AFTER_S = (5, 30, 120, 600, 3_600, 18_000)
JITTER = 0.2  # of a wait, up or down
KEPT = 1_000  # deliveries of one webhook that can be looked up
_SLACK = 100  # more than that, before the oldest are dropped
_GONE = 410
_ERROR_CHARS = 500


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a job is to send. `round` rises each time a delivery is replayed."""

    webhook: str
    occurrence: str  # in hex
    delivery: str
    attempt: int = 1
    round: int = 0

    def noted(self, record: Record) -> bool:
        """Tell whether what came of it is written down already."""
        known = (record.data.get("round", 0), record.data["attempts"])
        return known >= (self.round, self.attempt)


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
            await self._trim(ref, delivery_kind(webhook.id))
            for offer in offers:
                if withheld(offer.intention, webhook.ceiling):
                    continue
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
                mail.jobs.append(push_job(ref, Attempt(webhook.id, found.id.hex(), key), now, now))
        return mail

    async def _trim(self, ref: BankRef, kind: str) -> None:
        if await self._store.record_count(ref, kind) > KEPT + _SLACK:
            await self._store.record_trim(ref, kind, KEPT)

    async def run(self, job: Job) -> Mapping[str, Any]:
        """Make one attempt; when it fails and is not the last, the next one is queued."""
        attempt = Attempt(**job.payload)
        try:
            webhook = await self._webhooks.get(job.ref, attempt.webhook)
        except NotFound:
            return {"status": "dropped"}
        kind = delivery_kind(webhook.id)
        record = await self._store.record(job.ref, kind, attempt.delivery)
        if record is not None and attempt.noted(record):
            return {"status": record.data["status"]}  # written down before a crash
        offers = await self._store.offers_by_id(job.ref, [bytes.fromhex(attempt.occurrence)])
        if not webhook.enabled or not offers or not _is_for(webhook, offers[0]):
            told = {"status": "dropped", "next_retry_at": None}
            await self._note(job, attempt, webhook, record, told)
            return {"status": "dropped"}
        answer, error = await self._send(webhook, job.ref, attempt, offers[0])
        return await self._after(job, attempt, webhook, record, offers[0], answer, error)

    async def _after(
        self,
        job: Job,
        attempt: Attempt,
        webhook: Webhook,
        record: Record | None,
        offer: Offer,
        answer: Answer | None,
        error: str | None,
    ) -> Mapping[str, Any]:
        done = answer is not None and 200 <= answer.status < 300
        number = attempt.attempt
        now = self._clock.now_us()
        wait = None
        if not done and number <= len(RETRY_AFTER_S) and not _is_gone(answer):
            spread = 1 + JITTER * (2 * self._chance() - 1)
            wait = now + int(RETRY_AFTER_S[number - 1] * spread * 1_000_000)
        status = "completed" if done else "dead_letter" if wait is None else "pending"
        told = {
            "status": status,
            "attempts": number,
            "next_retry_at": wait,
            "last_attempt_at": now,
            "last_error": error,
            "last_response_status": answer.status if answer else None,
            "last_response_body": clean(answer.body) if answer else None,
        }
        noted = False
        if done and webhook.acknowledges:
            noted = await self._occurrences.taken(job.ref, offer, _told(record, told, now))
        if not noted:
            await self._note(job, attempt, webhook, record, told, again=wait)
        return {"status": status, "attempt": number}

    async def _send(
        self, webhook: Webhook, ref: BankRef, attempt: Attempt, offer: Offer
    ) -> tuple[Answer | None, str | None]:
        told = told_of(ref, offer, self._clock.now_us())
        body = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
        body = b"" if webhook.http.method == "GET" else body
        request = Outgoing(
            webhook.http.method,
            webhook.url,
            body,
            {**webhook.http.headers, **self._headers(webhook, attempt, offer, body)},
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

    def _headers(
        self, webhook: Webhook, attempt: Attempt, offer: Offer, body: bytes
    ) -> Mapping[str, str]:
        seconds = self._clock.now_us() // 1_000_000
        message_id = to_uuid(offer.occurrence.id)
        headers = {
            "Content-Type": "application/json",
            "User-Agent": self._user_agent,
            "X-Remembrancer-Event": INTENTION_DUE,
            "X-Remembrancer-Delivery": attempt.delivery,
            "webhook-id": message_id,
            "webhook-timestamp": str(seconds),
        }
        if webhook.secret:
            signed = standard_signature(webhook.secret, message_id, seconds, body)
            headers["webhook-signature"] = signed
        given = {name.lower() for name in webhook.http.headers}
        return {k: v for k, v in headers.items() if k.lower() not in given}

    async def _note(
        self,
        job: Job,
        attempt: Attempt,
        webhook: Webhook,
        record: Record | None,
        told: Mapping[str, Any],
        *,
        again: int | None = None,
    ) -> None:
        """Write down what came of an attempt, with the next one."""
        now = self._clock.now_us()
        records = _told(record, told, now)
        if told.get("last_response_status") == _GONE:
            records.append(record_of(replace(webhook, enabled=False, updated_at=now)))
        jobs = []
        if again is not None:
            following = replace(attempt, attempt=attempt.attempt + 1)
            jobs = [push_job(job.ref, following, now, again)]
        fence = (job.id, job.fence)
        await self._store.apply(job.ref, Batch(records=records, jobs=jobs, fence=fence))


def _told(record: Record | None, told: Mapping[str, Any], now: int) -> list[Record]:
    """Return a delivery's record as it is to be kept; none when it was dropped, being so old."""
    if record is None:
        return []
    return [replace(record, updated_at=now, data={**record.data, **told})]


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


def _is_for(webhook: Webhook, offer: Offer) -> bool:
    """Tell whether a webhook may be sent what is still open: its ceiling may have been lowered."""
    return offer.occurrence.state in OPEN and not withheld(offer.intention, webhook.ceiling)


def _is_gone(answer: Answer | None) -> bool:
    return answer is not None and answer.status == _GONE


def push_job(ref: BankRef, attempt: Attempt, now: int, run_after: int) -> Job:
    """Return the job of an attempt; its id follows from what it is, so that it is made once."""
    return Job(
        derived(
            bytes.fromhex(attempt.occurrence),
            attempt.delivery,
            f"{attempt.round}/{attempt.attempt}",
        ),
        ref,
        PUSH,
        JobState.PENDING,
        now,
        now,
        payload=asdict(attempt),
        run_after=run_after,
        listed=False,
    )
