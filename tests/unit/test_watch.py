"""Watching the clock and sending: once made, sent until it is taken, never early."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from remembrancer.finding.terms import Analyzer
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.keeping.worker import Worker, without_context
from remembrancer.models.outbound import Answer, NotReached, Outgoing
from remembrancer.nouns.clock import FixedClock, to_us
from remembrancer.nouns.errors import InvalidInput
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.intention import OccurrenceState, TriggerType
from remembrancer.nouns.memory import BankRef
from remembrancer.nouns.recurrence import Recurrence
from remembrancer.verbs.remind import Remind, Reminder
from remembrancer.verbs.reminding.composites import Composites
from remembrancer.verbs.reminding.contexts import ContextIndex
from remembrancer.verbs.reminding.occurrences import Occurrences
from remembrancer.verbs.telling.push import (
    PUSH,
    RETRY_AFTER_S,
    Attempt,
    Push,
    push_job,
    standard_signature,
)
from remembrancer.verbs.telling.replay import Replay
from remembrancer.verbs.telling.watch import Watch
from remembrancer.verbs.telling.webhooks import INTENTION_DUE, HttpConfig, Webhook, Webhooks

NOW = to_us(datetime(2026, 5, 4, 9))
REF = BankRef("default", "bank")
SECOND = 1_000_000


class Receiver:
    """Stands for the Internet: notes what is sent and answers as told."""

    def __init__(self) -> None:
        self.got: list[Outgoing] = []
        self.status = 204

    async def check(self, url: str) -> None:
        del url

    async def send(self, request: Outgoing) -> Answer:
        self.got.append(request)
        if self.status == 0:
            raise NotReached("nobody is there")
        return Answer(self.status, "")

    def contents(self) -> list[str]:
        return [json.loads(r.body)["data"]["content"] for r in self.got]


class House:
    def __init__(self, store: SqliteStore, clock: FixedClock) -> None:
        ids = IdMaker(clock)
        self.store, self.clock, self.receiver = store, clock, Receiver()
        self.remind = Remind(store, None, ids=ids, clock=clock, generation=0)
        self.occurrences = Occurrences(store, clock=clock)
        self.webhooks = Webhooks(store, self.receiver, ids=ids, clock=clock)  # type: ignore[arg-type]
        self.push = Push(
            store,
            self.webhooks,
            self.receiver,  # type: ignore[arg-type]
            self.occurrences,
            clock=clock,
            chance=lambda: 0.5,
            user_agent="test",
        )
        self.replay = Replay(store, self.webhooks, clock=clock)
        composites = Composites(store, ContextIndex(store, None, Analyzer()), None)
        self.watch = Watch(store, self.push, composites, ids=ids, clock=clock)
        self.worker = Worker(store, {PUSH: without_context(self.push.run)}, clock=clock)

    async def hook(self, **more: Any) -> Webhook:
        wanted = Webhook("", "https://a.example/x", "key", (INTENTION_DUE,), **more)
        return await self.webhooks.create(REF, wanted)

    async def register(self, content: str, **more: Any) -> bytes:
        more.setdefault("trigger_at", NOW + 60 * SECOND)
        made = await self.remind(REF, [Reminder(content, TriggerType.TIME, **more)])
        return made.intentions[0].id

    async def pass_time(self, **delta: float) -> None:
        self.clock.advance(timedelta(**delta))
        while await self.watch.look():
            pass
        await self.worker.drain()


@pytest.fixture
def run(tmp_path: Path) -> Callable[[Callable[[House], Awaitable[None]]], None]:
    def go(scene: Callable[[House], Awaitable[None]]) -> None:
        async def main() -> None:
            clock = FixedClock(NOW)
            store = SqliteStore(tmp_path, clock=clock)
            await store.open()
            try:
                await scene(House(store, clock))
            finally:
                await store.close()

        asyncio.run(main())

    return go


def test_it_is_sent_when_it_is_due_and_acknowledged_by_the_answer(run: Any) -> None:
    async def scene(h: House) -> None:
        await h.hook()
        await h.register("call Bob")
        await h.pass_time(seconds=59.9)
        assert h.receiver.got == []
        await h.pass_time(seconds=0.1)
        [sent] = h.receiver.got
        told = json.loads(sent.body)
        assert (told["type"], told["data"]["late"]) == ("intention.due", False)
        signed = f"{sent.headers['webhook-id']}.{sent.headers['webhook-timestamp']}.".encode()
        mac = hmac.new(b"key", signed + sent.body, hashlib.sha256).digest()
        assert sent.headers["webhook-signature"] == "v1," + base64.b64encode(mac).decode()
        assert sent.headers["webhook-id"] == told["data"]["occurrence_id"]
        [offer] = await h.store.offers(REF)
        assert offer.occurrence.state is OccurrenceState.ACKED
        await h.pass_time(days=9)
        assert len(h.receiver.got) == 1

    run(scene)


def test_what_is_ranked_above_a_webhook_is_never_sent_to_it(run: Any) -> None:
    async def scene(h: House) -> None:
        low = await h.hook(ceiling=2.0)
        await h.register("secret", tier_rank=5.0)
        await h.register("plain", tier_rank=2.0)
        await h.register("open")
        await h.pass_time(seconds=60)
        assert sorted(h.receiver.contents()) == ["open", "plain"]
        states = {o.intention.content: o.occurrence.state for o in await h.store.offers(REF)}
        assert states["secret"] is OccurrenceState.DUE
        h.receiver.status = 500
        await h.webhooks.update(REF, low.id, {"ceiling": None})
        await h.register("late", tier_rank=5.0, trigger_at=h.clock.now_us() + SECOND)
        await h.pass_time(seconds=1)
        assert h.receiver.contents().count("late") == 1
        await h.webhooks.update(REF, low.id, {"ceiling": 2.0})  # before it is sent again
        await h.pass_time(days=2)
        assert h.receiver.contents().count("late") == 1

    run(scene)


def test_a_failing_receiver_is_tried_again_and_again_then_given_up(run: Any) -> None:
    async def scene(h: House) -> None:
        hook = await h.hook()
        await h.register("call Bob")
        h.receiver.status = 0
        await h.pass_time(seconds=60)
        for number, wait in enumerate(RETRY_AFTER_S, 2):
            await h.pass_time(seconds=wait - 0.001)
            assert len(h.receiver.got) == number - 1
            await h.pass_time(seconds=0.001)
            assert len(h.receiver.got) == number
        assert len({r.headers["webhook-id"] for r in h.receiver.got}) == 1
        await h.pass_time(days=30)
        assert len(h.receiver.got) == len(RETRY_AFTER_S) + 1
        [record] = (await h.webhooks.deliveries(REF, hook.id, 9)).records
        assert record.data["status"] == "dead_letter"
        [offer] = await h.store.offers(REF)
        assert offer.occurrence.state is OccurrenceState.DUE

    run(scene)


def test_what_is_forgotten_or_done_meanwhile_is_not_sent(run: Any) -> None:
    async def scene(h: House) -> None:
        await h.hook()
        gone, done = await h.register("gone"), await h.register("done")
        h.receiver.status = 500
        await h.pass_time(seconds=60)
        assert sorted(h.receiver.contents()) == ["done", "gone"]
        await h.remind.remove(REF, [gone])
        [offer] = await h.store.offers(REF)
        assert offer.intention.id == done
        await h.occurrences.dismiss(REF, offer.occurrence.id, None, None)
        await h.pass_time(days=2)
        assert len(h.receiver.got) == 2

    run(scene)


def test_a_gone_receiver_is_disabled_and_one_without_acknowledging_leaves_it_due(run: Any) -> None:
    async def scene(h: House) -> None:
        hook = await h.hook(acknowledges=False)
        await h.register("call Bob")
        await h.pass_time(seconds=60)
        [offer] = await h.store.offers(REF)
        assert offer.occurrence.state is OccurrenceState.DUE
        h.receiver.status = 410
        await h.register("call Ann", trigger_at=NOW)
        await h.pass_time(seconds=1)
        assert not (await h.webhooks.get(REF, hook.id)).enabled

    run(scene)


def test_a_snoozed_one_is_sent_again_with_the_same_id(run: Any) -> None:
    async def scene(h: House) -> None:
        await h.hook(acknowledges=False)
        await h.register("call Bob")
        await h.pass_time(seconds=60)
        [offer] = await h.store.offers(REF)
        until = h.clock.now_us() + 600 * SECOND
        await h.occurrences.snooze(REF, offer.occurrence.id, None, None, until)
        await h.pass_time(seconds=599)
        assert len(h.receiver.got) == 1
        await h.pass_time(seconds=1)
        assert [r.headers["webhook-id"] for r in h.receiver.got] == 2 * [
            h.receiver.got[0].headers["webhook-id"]
        ]

    run(scene)


def test_two_watchers_make_and_send_each_once(run: Any) -> None:
    async def scene(h: House) -> None:
        await h.hook(acknowledges=False)
        for n in range(40):
            await h.register(f"n{n}")
        composites = Composites(h.store, ContextIndex(h.store, None, Analyzer()), None)
        other = Watch(h.store, h.push, composites, ids=IdMaker(h.clock), clock=h.clock)
        h.clock.advance(timedelta(seconds=61))
        await asyncio.gather(*(w.look() for w in (h.watch, other) * 4))
        await h.pass_time(seconds=0)
        assert len(await h.store.offers(REF)) == 40
        assert len(h.receiver.got) == 40

    run(scene)


def test_rules_go_on_by_themselves_and_idle_watchers_have_nothing_to_do(run: Any) -> None:
    async def scene(h: House) -> None:
        await h.hook()
        rule = Recurrence("Europe/Berlin", datetime(2026, 5, 4, 12), rrule="FREQ=DAILY;COUNT=3")
        await h.register("stretch", recurrence=rule, trigger_at=None)
        await h.register("breathe", recurring=True, trigger_at=NOW)
        for _ in range(10):
            await h.pass_time(hours=12)
        assert h.receiver.contents().count("stretch") == 3
        assert h.receiver.contents().count("breathe") == 1
        assert await h.store.next_due() is None

    run(scene)


def test_one_bank_that_fails_holds_up_no_other(run: Any, monkeypatch: Any) -> None:
    async def scene(h: House) -> None:
        other = BankRef("default", "another")
        for ref in (other, REF):
            asked = [Reminder("call Bob", TriggerType.TIME, trigger_at=NOW)]
            await h.remind(ref, asked)
        due = h.store.intentions_due

        async def failing(ref: BankRef, *more: Any) -> Any:
            if ref == other:
                raise RuntimeError("a rule that cannot be read")
            return await due(ref, *more)

        monkeypatch.setattr(h.store, "intentions_due", failing)
        assert await h.watch.look() == 1
        assert len(await h.store.offers(REF)) == 1
        assert await h.store.offers(other) == []

    run(scene)


def test_headers_of_ones_own_win_but_those_that_prove_it_is_us(run: Any) -> None:
    async def scene(h: House) -> None:
        with pytest.raises(InvalidInput):
            await h.hook(http=HttpConfig(headers={"Webhook-Id": "1"}))
        await h.hook(http=HttpConfig(headers={"content-type": "text/plain"}))
        await h.register("call Bob")
        await h.pass_time(seconds=60)
        [sent] = h.receiver.got
        assert [v for k, v in sent.headers.items() if k.lower() == "content-type"] == ["text/plain"]

    run(scene)


def test_an_attempt_that_is_written_down_is_not_made_again(run: Any) -> None:
    async def scene(h: House) -> None:
        hook = await h.hook(acknowledges=False)
        await h.register("call Bob")
        await h.pass_time(seconds=60)
        [record] = (await h.webhooks.deliveries(REF, hook.id, 9)).records
        occurrence = bytes.fromhex(record.data["occurrence_id"].replace("-", ""))
        attempt = Attempt(hook.id, occurrence.hex(), record.key)
        job = push_job(REF, attempt, NOW, NOW)
        assert await h.push.run(job) == {"status": "completed"}
        assert len(h.receiver.got) == 1
        await h.replay(REF, hook.id, record.key)
        await h.pass_time(seconds=1)
        assert len(h.receiver.got) == 2

    run(scene)


def test_a_secret_in_base64_is_the_key_itself() -> None:
    plain = standard_signature("secret", "id", 7, b"{}")
    spelled = "whsec_" + base64.b64encode(b"secret").decode().rstrip("=")
    assert standard_signature(spelled, "id", 7, b"{}") == plain
