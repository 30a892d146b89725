"""Sends what is in the outbox: signed, again after growing waits, at least once.

A receiver may get the same event twice (a crash after sending and before writing that down); its
`event_id` is the same then. The waits between attempts are those of Hindsight: 5 s, 5 min, 30 min,
2 h, 5 h.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...keeping.batch import Batch
from ...keeping.records import Record
from ...keeping.store import Store
from ...models.outbound import Answer, Outbound, Outgoing
from ...nouns.clock import Clock, iso
from ...nouns.errors import NotFound, RemembrancerError
from ...nouns.ids import IdMaker
from ...nouns.memory import BankRef, Job
from ...nouns.text import clean
from .outbox import delivery_job
from .webhooks import Webhook, Webhooks, delivery_kind

RETRY_AFTER_S = (5, 300, 1_800, 7_200, 18_000)
KEPT = 1_000  # deliveries of one webhook that can be looked up
_SLACK = 100  # more than that, before the oldest are dropped
_SIGNATURES = ("X-Hindsight-Signature", "X-Remembrancer-Signature")
_ERROR_CHARS = 500


class Deliveries:
    """Runs the jobs that send; everything it needs is passed in."""

    def __init__(
        self,
        store: Store,
        webhooks: Webhooks,
        outbound: Outbound,
        *,
        ids: IdMaker,
        clock: Clock,
        user_agent: str,
    ) -> None:
        self._store = store
        self._webhooks = webhooks
        self._outbound = outbound
        self._ids = ids
        self._clock = clock
        self._user_agent = user_agent

    async def run(self, job: Job) -> Mapping[str, Any]:
        """Make one attempt; when it fails and is not the last, the next one is queued.

        What came of it and the next attempt are written in one transaction, so that a crash at
        any place leads to another attempt, and to no second row of them.
        """
        payload = job.payload
        try:
            webhook = await self._webhooks.get(job.ref, payload["webhook"])
        except NotFound:
            return {"status": "dropped"}
        attempt: int = payload["attempt"]
        record = await self._store.record(job.ref, delivery_kind(webhook.id), payload["delivery"])
        if record is not None and record.data["attempts"] >= attempt:
            return {"status": record.data["status"]}  # written down before a crash
        if not webhook.enabled:
            told = {"status": "failed", "last_error": "the webhook is disabled"}
            await self._write(job, record, {**told, "next_retry_at": None})
            return {"status": "failed"}
        return await self._attempt(job, webhook, record, attempt)

    async def _attempt(
        self, job: Job, webhook: Webhook, record: Record | None, attempt: int
    ) -> Mapping[str, Any]:
        answer, error = await self._send(job, webhook)
        done = answer is not None and 200 <= answer.status < 300
        now = self._clock.now_us()
        wait = None
        if not done and attempt <= len(RETRY_AFTER_S):
            wait = now + RETRY_AFTER_S[attempt - 1] * 1_000_000
        status = "completed" if done else "failed" if wait is None else "pending"
        told = {
            "url": webhook.url,
            "status": status,
            "attempts": attempt,
            "next_retry_at": wait,
            "last_attempt_at": now,
            "last_error": error,
            "last_response_status": answer.status if answer else None,
            "last_response_body": clean(answer.body) if answer else None,
        }
        await self._write(job, record, told, again=wait)
        await self._trim(job.ref, webhook.id)
        return {"status": status, "attempt": attempt}

    async def _send(self, job: Job, webhook: Webhook) -> tuple[Answer | None, str | None]:
        """Send; return the answer, and what is wrong."""
        body: bytes = b"" if webhook.http.method == "GET" else job.payload["body"].encode()
        request = Outgoing(
            webhook.http.method,
            webhook.url,
            body,
            {**webhook.http.headers, **self._headers(job, webhook, body)},
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

    def _headers(self, job: Job, webhook: Webhook, body: bytes) -> Mapping[str, str]:
        headers = {
            "Content-Type": "application/json",
            "User-Agent": self._user_agent,
            "X-Remembrancer-Event": job.payload["event"],
            "X-Remembrancer-Event-Id": job.payload["event_id"],
            "X-Remembrancer-Delivery": job.payload["delivery"],
            "X-Remembrancer-Timestamp": iso(self._clock.now_us()) or "",
        }
        given = {name.lower() for name in webhook.http.headers}
        headers = {k: v for k, v in headers.items() if k.lower() not in given}
        if webhook.secret:
            headers |= dict.fromkeys(_SIGNATURES, signature(webhook.secret, body))
        return headers

    async def _write(
        self,
        job: Job,
        record: Record | None,
        told: Mapping[str, Any],
        *,
        again: int | None = None,
    ) -> None:
        now = self._clock.now_us()
        records = []
        if record is not None:  # else it is so old that it was dropped
            records = [replace(record, updated_at=now, data={**record.data, **told})]
        jobs = []
        if again is not None:
            payload = {**job.payload, "attempt": job.payload["attempt"] + 1}
            jobs = [delivery_job(self._ids.new(), job.ref, now, payload, run_after=again)]
        await self._store.apply(
            job.ref, Batch(records=records, jobs=jobs, fence=(job.id, job.fence))
        )

    async def _trim(self, ref: BankRef, webhook_id: str) -> None:
        kind = delivery_kind(webhook_id)
        if await self._store.record_count(ref, kind) > KEPT + _SLACK:
            await self._store.record_trim(ref, kind, KEPT)


def signature(secret: str, body: bytes) -> str:
    """Return the signature of a body: `sha256=` and the HMAC-SHA256 under the secret, in hex."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"
