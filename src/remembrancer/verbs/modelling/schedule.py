"""Refreshes of mental models by the clock: one durable job a model, for its next time.

The job that is due looks whether anything has changed since the model was written, queues a
refresh if so, and the job for the time after that, in one transaction. Its id follows from the
model, the rule and the time, so however many processes plan it, it is there once.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ...keeping.batch import Batch
from ...keeping.store import Store
from ...keeping.worker import JobContext
from ...nouns.clock import Clock
from ...nouns.errors import InvalidInput, RemembrancerError
from ...nouns.memory import BankRef, Job, JobState
from ...nouns.recurrence import Recurrence
from ...reading.recurrence.expand import check as check_rule
from ...reading.recurrence.expand import first_after
from .shelf import MENTAL_MODEL, MentalModel, Shelf, of_record

SCHEDULED = "mental_model_schedule"
"""The kind of the jobs."""

CRON, ZONE = "refresh_cron", "refresh_zone"
"""Names in a trigger; the zone is UTC when none is named."""

_BACK = timedelta(days=3)
_MOST = 100_000  # mental models looked at when a process starts
_AGAIN_S = 3_600.0  # between looks at all of them, for those that came in with an archive

log = logging.getLogger(__name__)


def check(trigger: Mapping[str, Any], now: int) -> None:
    """Refuse a trigger whose schedule cannot be used.

    Raises:
        InvalidInput: names its field.
    """
    if not trigger.get(CRON):
        return
    try:
        check_rule(_rule(trigger, now))
    except InvalidInput as error:
        name = ZONE if error.field in {"zone", "timezone"} else CRON
        raise InvalidInput(f"trigger.{name}: {error.message}", field=f"trigger.{name}") from None


def next_after(trigger: Mapping[str, Any], now: int) -> int | None:
    """Return when a trigger's schedule is due next, in microseconds; None: never."""
    return first_after(_rule(trigger, now), now) if trigger.get(CRON) else None


def _rule(trigger: Mapping[str, Any], now: int) -> Recurrence:
    start = datetime.fromtimestamp(now / 1e6, UTC).replace(tzinfo=None) - _BACK
    return Recurrence(trigger.get(ZONE) or "UTC", start, cron=trigger[CRON])


class Schedule:
    """Plans and, as the jobs' handler, does it; everything it needs is passed in.

    Args:
        store: where jobs are.
        shelf: where mental models are.
        refresh: makes the job that refreshes one.
        rested: tells whether one may be refreshed again already.
        clock: the time.
    """

    def __init__(
        self,
        store: Store,
        shelf: Shelf,
        refresh: Callable[[BankRef, str], Job],
        rested: Callable[[MentalModel], bool],
        *,
        clock: Clock,
    ) -> None:
        self._store = store
        self._shelf = shelf
        self._refresh = refresh
        self._rested = rested
        self._clock = clock

    def jobs(self, ref: BankRef, model: MentalModel, before: bytes | None = None) -> list[Job]:
        """Return the job for a model's next time; none when it has no schedule.

        `before`: the job that plans it, which is cleared away when this one runs.
        """
        now = self._clock.now_us()
        try:
            due = next_after(model.trigger, now)
        except InvalidInput:  # kept by an older version, which did not look
            log.warning("a mental model has a schedule that cannot be used")
            return []
        if due is None:
            return []
        payload = {
            "mental_model_id": model.id,
            "rule": _spelled(model.trigger),
            "before": before.hex() if before else None,
        }
        return [
            Job(
                _id_of(ref, model, due),
                ref,
                SCHEDULED,
                JobState.PENDING,
                now,
                now,
                payload=payload,
                run_after=due,
                listed=False,
            )
        ]

    async def run(self, job: Job, context: JobContext) -> Mapping[str, Any]:
        """Queue a refresh if anything has changed, and the next look; run again, it is the same."""
        ref, told = job.ref, job.payload
        if told.get("before"):
            await self._store.job_delete(ref, bytes.fromhex(told["before"]), self._clock.now_us())
        model = await self._shelf.find(ref, str(told["mental_model_id"]))
        if model is None or _spelled(model.trigger) != told["rule"]:
            return {"skipped": "it is not scheduled so any more"}
        [shown] = await self._shelf.shown(ref, [model])
        wanted = shown.stale and self._rested(model)
        jobs = self.jobs(ref, model, before=job.id)
        if wanted:
            jobs.append(self._refresh(ref, model.id))
        await self._store.apply(ref, Batch(jobs=jobs, fence=context.fence))
        return {"refreshed": wanted, "stale": shown.stale}

    async def plan(self) -> int:
        """Plan the next time of all mental models that have none planned; return how many."""
        count = 0
        for ref, record in await self._store.records_of(MENTAL_MODEL, _MOST):
            jobs = self.jobs(ref, of_record(record))
            if jobs and await self._store.job(ref, jobs[0].id, payload=False) is None:
                await self._store.apply(ref, Batch(jobs=jobs))
                count += 1
        return count


async def keep_scheduled(schedule: Schedule) -> None:
    """Plan what is not planned, now and each hour; ends when it is cancelled."""
    while True:
        try:
            await schedule.plan()
        except RemembrancerError:
            log.warning("refreshes of mental models could not be planned", exc_info=True)
        await asyncio.sleep(_AGAIN_S)


def _spelled(trigger: Mapping[str, Any]) -> list[str]:
    return [str(trigger.get(CRON) or ""), str(trigger.get(ZONE) or "UTC")]


def _id_of(ref: BankRef, model: MentalModel, due: int) -> bytes:
    """Return the id of the job of one time: a UUIDv7 that all processes agree on."""
    named = [ref.tenant, ref.bank, model.id, str(model.created_at), *_spelled(model.trigger)]
    told = "\x1f".join([*named, str(due)]).encode()
    tail = hashlib.blake2b(told, digest_size=10).digest()
    value = int.from_bytes((due // 1000).to_bytes(6, "big") + tail, "big")
    value = value & ~(0xF << 76) | (0x7 << 76)
    return (value & ~(0b11 << 62) | (0b10 << 62)).to_bytes(16, "big")
