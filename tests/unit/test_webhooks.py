"""Webhooks and what is sent to them: when, how often, signed how, and what a crash does."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.keeping.worker import Worker, without_context
from remembrancer.models.outbound import Answer, Forbidden, NotReached, Outgoing
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.errors import InvalidInput, NotFound
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import BankRef
from remembrancer.verbs.telling.deliveries import Deliveries
from remembrancer.verbs.telling.outbox import DELIVER, Outbox
from remembrancer.verbs.telling.webhooks import (
    CONSOLIDATION_COMPLETED,
    MAX_WEBHOOKS,
    RETAIN_COMPLETED,
    HttpConfig,
    Webhook,
    Webhooks,
)

NOW = 1_700_000_000_000_000
REF = BankRef("acme", "ada")
HOOK = Webhook("", "https://hooks.example/a", "a secret of some length", (RETAIN_COMPLETED,))
JOB = bytes(range(16))
OK = Answer(200, "thanks")


@dataclass
class Sender:
    """Stands for the network: gives prepared answers, and remembers what it was to send."""

    answers: list[Answer | Exception] = field(default_factory=list)
    sent: list[Outgoing] = field(default_factory=list)

    async def check(self, url: str) -> None:
        if "private" in url:
            raise Forbidden("url leads to a private place", field="url")

    async def send(self, request: Outgoing) -> Answer:
        self.sent.append(request)
        answer = self.answers.pop(0) if self.answers else OK
        if isinstance(answer, Exception):
            raise answer
        return answer


@dataclass
class House:
    """What delivers, with a clock that moves when told."""

    store: SqliteStore
    clock: FixedClock
    sender: Sender
    webhooks: Webhooks
    outbox: Outbox
    courier: Worker
    deliveries: Deliveries

    async def happen(self, event: str = RETAIN_COMPLETED, **more: Any) -> int:
        """Let something happen; return how many are told."""
        mail = await self.outbox(REF, event, {"document_id": "log"}, **more)
        await self.store.apply(REF, Batch(jobs=mail.jobs, records=mail.records))
        return len(mail.jobs)

    async def rows(self, webhook: Webhook) -> list[dict[str, Any]]:
        page = await self.webhooks.deliveries(REF, webhook.id, 50)
        return [dict(record.data) for record in page.records]


@pytest.fixture
def open_house(tmp_path: Path) -> Any:
    @asynccontextmanager
    async def opened() -> AsyncIterator[House]:
        clock = FixedClock(NOW)
        store = SqliteStore(tmp_path / "data", clock=clock)
        await store.open()
        ids, sender = IdMaker(clock), Sender()
        webhooks = Webhooks(store, sender, ids=ids, clock=clock)  # type: ignore[arg-type]
        deliveries = Deliveries(
            store,
            webhooks,
            sender,  # type: ignore[arg-type]
            ids=ids,
            clock=clock,
            user_agent="remembrancer/0",
        )
        courier = Worker(store, {DELIVER: without_context(deliveries.run)}, clock=clock)
        outbox = Outbox(store, ids=ids, clock=clock)
        try:
            yield House(store, clock, sender, webhooks, outbox, courier, deliveries)
        finally:
            await store.close()

    return opened


async def test_an_event_is_sent_once_and_signed(open_house: Any) -> None:
    async with open_house() as house:
        webhook = await house.webhooks.create(REF, HOOK)
        assert await house.happen(operation=JOB) == 1
        assert [row["status"] for row in await house.rows(webhook)] == ["pending"]
        assert await house.courier.drain() == 1
        [request] = house.sender.sent
        told = json.loads(request.body)
        assert told == {
            "event": RETAIN_COMPLETED,
            "event_id": told["event_id"],
            "bank_id": "ada",
            "operation_id": "00010203-0405-0607-0809-0a0b0c0d0e0f",
            "status": "completed",
            "timestamp": "2023-11-14T22:13:20Z",
            "data": {"document_id": "log"},
        }
        assert (request.method, request.url) == ("POST", HOOK.url)
        assert HOOK.secret is not None
        made = hmac.new(HOOK.secret.encode(), request.body, hashlib.sha256).hexdigest()
        assert request.headers["X-Hindsight-Signature"] == f"sha256={made}"
        assert request.headers["X-Remembrancer-Signature"] == f"sha256={made}"
        assert request.headers["X-Remembrancer-Event-Id"] == told["event_id"]
        assert request.headers["X-Remembrancer-Timestamp"] == "2023-11-14T22:13:20Z"
        [row] = await house.rows(webhook)
        assert (row["status"], row["attempts"], row["next_retry_at"]) == ("completed", 1, None)
        assert (row["last_response_status"], row["last_response_body"]) == (200, "thanks")
        house.clock.advance(timedelta(days=2))
        assert await house.courier.drain() == 0


async def test_what_fails_is_sent_again_after_growing_waits_and_then_given_up(
    open_house: Any,
) -> None:
    async with open_house() as house:
        webhook = await house.webhooks.create(REF, HOOK)
        answers = [Answer(503, "not now"), NotReached("no answer"), *[Answer(302, "")] * 4]
        house.sender.answers = list(answers)
        await house.happen()
        waits = [5, 300, 1_800, 7_200, 18_000]
        for attempt, wait in enumerate(waits, 1):
            assert await house.courier.drain() == 1
            [row] = await house.rows(webhook)
            assert (row["status"], row["attempts"]) == ("pending", attempt)
            assert row["next_retry_at"] == house.clock.us + wait * 1_000_000
            house.clock.advance(timedelta(seconds=wait, microseconds=-1))
            assert await house.courier.drain() == 0
            house.clock.advance(timedelta(microseconds=1))
        assert await house.courier.drain() == 1
        [row] = await house.rows(webhook)
        assert (row["status"], row["attempts"], row["next_retry_at"]) == ("failed", 6, None)
        assert row["last_error"] == "the answer has status 302"
        assert len({request.body for request in house.sender.sent}) == 1
        house.clock.advance(timedelta(days=2))
        assert await house.courier.drain() == 0


async def test_a_crash_after_sending_sends_the_same_event_again(open_house: Any) -> None:
    async with open_house() as house:
        await house.webhooks.create(REF, HOOK)
        await house.happen()
        [job] = await house.store.claim([DELIVER], NOW, 1_000)
        await house.sender.send(await _request_of(house, job))  # and then the process dies
        house.clock.advance(timedelta(seconds=1))
        assert await house.courier.drain() == 1
        first, second = house.sender.sent
        assert first.body == second.body


async def test_a_crash_after_writing_down_sends_nothing_again(open_house: Any) -> None:
    async with open_house() as house:
        webhook = await house.webhooks.create(REF, HOOK)
        house.sender.answers = [Answer(500, "")]
        await house.happen()
        [job] = await house.store.claim([DELIVER], NOW, 1_000)
        await house.deliveries.run(job)  # written down, and then the process dies
        house.clock.advance(timedelta(seconds=1))
        assert await house.courier.drain() == 1  # taken over, and found to be done
        assert len(house.sender.sent) == 1
        house.clock.advance(timedelta(seconds=4))
        assert await house.courier.drain() == 1
        assert [row["attempts"] for row in await house.rows(webhook)] == [2]


async def test_a_job_that_runs_again_tells_its_event_once(open_house: Any) -> None:
    async with open_house() as house:
        await house.webhooks.create(REF, HOOK)
        assert await house.happen(operation=JOB, about="log") == 1
        assert await house.happen(operation=JOB, about="log") == 0
        assert await house.happen(operation=JOB, about="diary") == 1


async def test_only_those_who_want_to_know_are_told(open_house: Any) -> None:
    async with open_house() as house:
        assert await house.happen() == 0
        await house.webhooks.create(REF, replace(HOOK, enabled=False))
        await house.webhooks.create(REF, replace(HOOK, event_types=(CONSOLIDATION_COMPLETED,)))
        await house.webhooks.create(BankRef("acme", "other"), HOOK)
        assert await house.happen() == 0
        assert await house.happen(CONSOLIDATION_COMPLETED) == 1


async def test_nothing_is_sent_to_a_webhook_that_was_deleted_or_disabled(open_house: Any) -> None:
    async with open_house() as house:
        gone = await house.webhooks.create(REF, HOOK)
        quiet = await house.webhooks.create(REF, HOOK)
        await house.happen()
        await house.webhooks.delete(REF, gone.id)
        await house.webhooks.update(REF, quiet.id, {"enabled": False})
        assert await house.courier.drain() == 2
        assert house.sender.sent == []
        [row] = await house.rows(quiet)
        assert (row["status"], row["last_error"]) == ("failed", "the webhook is disabled")
        with pytest.raises(NotFound):
            await house.rows(gone)
        assert await house.store.records(REF, f"delivery/{gone.id}") == []


async def test_an_address_that_has_become_private_is_told_as_the_error(open_house: Any) -> None:
    async with open_house() as house:
        webhook = await house.webhooks.create(REF, HOOK)
        house.sender.answers = [Forbidden("url leads to a private place", field="url")]
        await house.happen()
        await house.courier.drain()
        [row] = await house.rows(webhook)
        assert (row["status"], row["last_error"]) == ("pending", "url leads to a private place")


async def test_a_get_has_no_body_and_keeps_the_headers_that_were_asked_for(
    open_house: Any,
) -> None:
    async with open_house() as house:
        http = HttpConfig("GET", 7, {"Authorization": "Bearer x", "user-agent": "me"}, {"q": "1"})
        await house.webhooks.create(REF, replace(HOOK, secret=None, http=http))
        await house.happen()
        await house.courier.drain()
        [request] = house.sender.sent
        assert (request.method, request.body, request.timeout_s) == ("GET", b"", 7)
        assert request.params == {"q": "1"}
        assert request.headers["Authorization"] == "Bearer x"
        assert request.headers["user-agent"] == "me"
        assert "User-Agent" not in request.headers
        assert not [name for name in request.headers if name.endswith("Signature")]


async def test_a_secret_is_masked_and_stays_when_it_is_given_back_masked(open_house: Any) -> None:
    async with open_house() as house:
        made = await house.webhooks.create(REF, HOOK)
        assert made.masked_secret == "****ngth"
        assert replace(made, secret="short").masked_secret == "****"
        assert replace(made, secret=None).masked_secret is None
        same = await house.webhooks.update(REF, made.id, {"secret": "****ngth"})
        assert same.secret == HOOK.secret
        changed = await house.webhooks.update(REF, made.id, {"secret": "another"})
        assert (await house.webhooks.get(REF, made.id)).secret == changed.secret == "another"


async def test_deliveries_come_in_pages_without_gaps(open_house: Any) -> None:
    async with open_house() as house:
        webhook = await house.webhooks.create(REF, HOOK)
        for number in range(11):
            await house.happen()
            if number in (1, 2, 8):
                house.clock.advance(timedelta(seconds=1))
        whole = await house.webhooks.deliveries(REF, webhook.id, 200)
        assert (len(whole.records), whole.next_cursor) == (11, None)
        for limit in (1, 2, 3, 5, 11):
            keys: list[str] = []
            cursor = None
            while True:
                page = await house.webhooks.deliveries(REF, webhook.id, limit, cursor)
                keys += [record.key for record in page.records]
                cursor = page.next_cursor
                if cursor is None:
                    break
            assert keys == [record.key for record in whole.records]
        with pytest.raises(InvalidInput) as refused:
            await house.webhooks.deliveries(REF, webhook.id, 5, "elsewhere")
        assert refused.value.field == "cursor"


async def test_old_deliveries_are_dropped(open_house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remembrancer.verbs.telling.deliveries.KEPT", 3)
    monkeypatch.setattr("remembrancer.verbs.telling.deliveries._SLACK", 2)
    async with open_house() as house:
        webhook = await house.webhooks.create(REF, HOOK)
        for _ in range(9):
            await house.happen()
            await house.courier.drain()
            house.clock.advance(timedelta(seconds=1))
        assert 3 <= len(await house.rows(webhook)) <= 5


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"event_types": ("retain.completed", "retain.begun")}, "event_types"),
        ({"event_types": ()}, "event_types"),
        ({"url": "https://private.example/"}, "url"),
        ({"secret": "s" * 1025}, "secret"),
        ({"http": HttpConfig("DELETE")}, "http_config.method"),
        ({"http": HttpConfig(timeout_seconds=0)}, "http_config.timeout_seconds"),
        ({"http": HttpConfig(timeout_seconds=61)}, "http_config.timeout_seconds"),
        ({"http": HttpConfig(headers={"Host": "x"})}, "http_config.headers"),
        ({"http": HttpConfig(headers={"content-LENGTH": "1"})}, "http_config.headers"),
        ({"http": HttpConfig(headers={"X-Hindsight-Signature": "x"})}, "http_config.headers"),
        ({"http": HttpConfig(headers={"X-A": "b\r\nX-C: d"})}, "http_config.headers"),
        ({"http": HttpConfig(headers={"X A": "b"})}, "http_config.headers"),
        ({"http": HttpConfig(headers={"": "b"})}, "http_config.headers"),
        ({"http": HttpConfig(headers={"X-A": "ł"})}, "http_config.headers"),
        ({"http": HttpConfig(headers={f"X-{n}": "" for n in range(51)})}, "http_config.headers"),
        ({"http": HttpConfig(params={"a": "b" * 5_000})}, "http_config.params"),
    ],
)
async def test_what_cannot_be_called_is_refused(
    open_house: Any, changes: dict[str, Any], name: str
) -> None:
    async with open_house() as house:
        with pytest.raises(InvalidInput) as refused:
            await house.webhooks.create(REF, replace(HOOK, **changes))
        assert refused.value.field == name
        made = await house.webhooks.create(REF, HOOK)
        with pytest.raises(InvalidInput):
            await house.webhooks.update(REF, made.id, changes)
        assert await house.webhooks.list(REF) == [made]


async def test_a_bank_has_a_bounded_number_of_webhooks(open_house: Any) -> None:
    async with open_house() as house:
        for _ in range(MAX_WEBHOOKS):
            await house.webhooks.create(REF, HOOK)
        with pytest.raises(InvalidInput) as refused:
            await house.webhooks.create(REF, HOOK)
        assert refused.value.limit == MAX_WEBHOOKS


@pytest.mark.parametrize("webhook_id", ["", "no id", "00000000-0000-7000-8000-000000000000"])
async def test_webhooks_that_are_not_there(open_house: Any, webhook_id: str) -> None:
    async with open_house() as house:
        await house.webhooks.create(BankRef("acme", "other"), HOOK)
        for call in (house.webhooks.get, house.webhooks.delete):
            with pytest.raises(NotFound):
                await call(REF, webhook_id)


async def _request_of(house: House, job: Any) -> Outgoing:
    return Outgoing("POST", HOOK.url, job.payload["body"].encode())
