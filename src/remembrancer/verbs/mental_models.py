"""Mental models: standing answers to standing questions, refreshed from the bank's memories.

A refresh asks the question as `reflect` does, with a model or without, and keeps the answer as an
observation with links to every memory that it was made from or could be (see `modelling.shelf`).
In mode `delta` it changes what new memories change (`modelling.delta`). `modelling.schedule`
refreshes by the clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..finding.tagging import TagFilter, TagMatch, TagNode
from ..keeping.batch import Batch
from ..keeping.store import Store
from ..keeping.worker import JobContext
from ..nouns.clock import Clock
from ..nouns.errors import Conflict, InvalidInput, TooLarge
from ..nouns.ids import IdMaker, to_uuid
from ..nouns.memory import SHOWN_ONLY, BankRef, Job, JobState, Kind, Layer, Link, LinkType, Unit
from ..nouns.names import one_at_a_time
from ..nouns.text import clean
from .answering import Answered, Answering, Asking
from .modelling.delta import Delta, DeltaWriter
from .modelling.schedule import Schedule
from .modelling.schedule import check as check_schedule
from .modelling.shelf import MOST, VERSIONS, MentalModel, Shelf, Shown, hidden, record_of
from .reflect import ReflectOptions
from .remember import Remember

REFRESH = "refresh_mental_model"
"""The kind of the jobs."""

WRITTEN, UNCHANGED = "content_written", "content_unchanged"
NOTHING = "content_preserved_no_new_facts"
FAILED = "refresh_failed_delta_not_applied"

NAME_CHARS = 256
QUERY_CHARS = 8_000
LEAST_TOKENS, MOST_TOKENS = 256, 8_192
_LIMIT = 30  # memories looked at
_TRIES = 5
_ID = re.compile(r"[\w.~-]{1,128}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a refresh would write, and from what. `delta` tells of bringing up to date, if asked."""

    shown: Shown
    answered: Answered
    outcome: str
    delta: Delta | None = None

    @property
    def mode(self) -> str:
        """How it was written: `full` or `delta`."""
        whole = self.delta is None or self.delta.answered is None or self.delta.why is not None
        return "full" if whole else "delta"

    @property
    def content(self) -> str:
        """The new text; empty when nothing is known."""
        return self.answered.found.text if self.answered.shown or self.known else ""

    @property
    def known(self) -> bool:
        """Whether anything is known that bears on the question."""
        return bool(self.answered.found.based_on)


class MentalModels:
    """The verbs; everything they need is passed in."""

    def __init__(
        self,
        store: Store,
        shelf: Shelf,
        answering: Answering,
        remember: Remember,
        bring: DeltaWriter,
        *,
        ids: IdMaker,
        clock: Clock,
    ) -> None:
        self._store = store
        self._bring = bring
        self.schedule = Schedule(store, shelf, self._job, self._rested, clock=clock)
        self._shelf = shelf
        self._answering = answering
        self._remember = remember
        self._ids = ids
        self._clock = clock

    async def create(
        self,
        ref: BankRef,
        name: str,
        source_query: str,
        *,
        key: str | None = None,
        tags: Sequence[str] = (),
        max_tokens: int = 2048,
        trigger: Mapping[str, Any] | None = None,
        with_records: Sequence[Any] = (),
    ) -> tuple[MentalModel, Job]:
        """Keep a new one and have it refreshed; the bank is made when it is new.

        `with_records` are written in the same transaction.

        Raises:
            InvalidInput, TooLarge: nothing was kept.
            Conflict: there is one of this id.
        """
        if key is not None and not _ID.fullmatch(key):
            raise InvalidInput(
                "id must be 1 to 128 letters, digits, '-', '_', '.', '~'", field="id"
            )
        if key is not None and await self._shelf.find(ref, key) is not None:
            raise Conflict(f"there is a mental model {key!r} already", field="id")
        if await self._shelf.count(ref) >= MOST:
            raise TooLarge(f"the bank has {MOST} mental models, which is the limit", limit=MOST)
        now = self._clock.now_us()
        new = MentalModel(
            key or to_uuid(self._ids.new()),
            _checked(name, "name", NAME_CHARS),
            _checked(source_query, "source_query", QUERY_CHARS),
            tuple(tags),
            max_tokens,
            dict(trigger or {}),
            created_at=now,
            updated_at=now,
        )
        check_schedule(new.trigger, now)
        job = self._job(ref, new.id)
        records = [record_of(new), *with_records]
        jobs = [job, *self.schedule.jobs(ref, new)]
        await self._store.apply(ref, Batch(records=records, jobs=jobs))
        return new, job

    async def update(self, ref: BankRef, key: str, changes: Mapping[str, Any]) -> MentalModel:
        """Change what one is; what it says stays until it is refreshed.

        Raises:
            NotFound, InvalidInput, TooLarge: nothing was changed.
        """
        old = await self._shelf.get(ref, key)
        told = dict(changes)
        for name, most in (("name", NAME_CHARS), ("source_query", QUERY_CHARS)):
            if name in told:
                told[name] = _checked(told[name], name, most)
        if "tags" in told:
            told["tags"] = tuple(told["tags"])
        now = self._clock.now_us()
        new = replace(old, **told, updated_at=now)
        check_schedule(new.trigger, now)
        jobs = self.schedule.jobs(ref, new)
        await self._store.apply(ref, Batch(records=[record_of(new)], jobs=jobs))
        return new

    async def delete(self, ref: BankRef, key: str) -> None:
        """Delete one with all that it says and said.

        Raises:
            NotFound: there is none of this id.
        """
        await self._shelf.delete(ref, await self._shelf.get(ref, key))

    async def clear(self, ref: BankRef, key: str) -> MentalModel:
        """Erase what one says and said.

        Raises:
            NotFound: there is none of this id.
        """
        return await self._shelf.clear(ref, await self._shelf.get(ref, key), self._clock.now_us())

    async def enqueue(self, ref: BankRef, key: str) -> Job:
        """Have one refreshed; durable when it returns.

        Raises:
            NotFound: there is none of this id.
        """
        job = self._job(ref, (await self._shelf.get(ref, key)).id)
        await self._store.apply(ref, Batch(jobs=[job]))
        return job

    async def after_consolidation(self, ref: BankRef) -> int:
        """Have those refreshed that ask for it then, and are stale; return how many."""
        wanted = [
            m
            for m in await self._shelf.all(ref)
            if m.trigger.get("refresh_after_consolidation") and self._rested(m)
        ]
        stale = [s.model.id for s in await self._shelf.shown(ref, wanted) if s.stale]
        if stale:
            await self._store.apply(ref, Batch(jobs=[self._job(ref, key) for key in stale]))
        return len(stale)

    async def candidate(self, ref: BankRef, key: str) -> Candidate:
        """Say what a refresh would write, and write nothing.

        Raises:
            NotFound: there is none of this id.
        """
        model = await self._shelf.get(ref, key)
        [shown] = await self._shelf.shown(ref, [model])
        return await self._candidate(ref, shown)

    async def run(self, job: Job, context: JobContext) -> Mapping[str, Any]:
        """Do a refresh; run again, it comes to the same.

        Raises:
            NotFound: the mental model is gone.
            Conflict: what it rests on changed all the time.
        """
        key = str(job.payload["mental_model_id"])
        for _ in range(_TRIES):
            model = await self._shelf.get(job.ref, key)
            async with self._store.snapshot(job.ref) as view:
                seen = view.revision
            [shown] = await self._shelf.shown(job.ref, [model])
            found = await self._candidate(job.ref, shown)
            try:
                await self._keep(job.ref, context, found, seen)
            except Conflict as conflict:
                if conflict.field != "expect_revision":
                    raise
                continue
            used = found.answered.usage
            return {
                "mental_model_id": key,
                "operation_type": REFRESH,
                "outcome": found.outcome,
                "failure_reason": "delta_ops_failed" if found.outcome == FAILED else None,
                "effective_mode": found.mode,
                "by_model": found.answered.by_model,
                "degraded": _degraded(found),
                "usage": {
                    "input_tokens": used.input,
                    "output_tokens": used.output,
                    "total_tokens": used.total,
                    "calls": used.calls,
                    "failed_calls": used.failed,
                },
            }
        raise Conflict("the bank is written to all the time; the job will be tried again")

    async def _candidate(self, ref: BankRef, shown: Shown) -> Candidate:
        model = shown.model
        trigger = model.trigger
        match = TagMatch(trigger.get("tags_match") or "any")
        tags: TagNode | None = TagFilter(model.tags, match) if model.tags else None
        kinds = [Kind[each.upper()] for each in trigger.get("fact_types") or ()] or None
        options = ReflectOptions(limit=_LIMIT, max_tokens=model.max_tokens, kinds=kinds, tags=tags)
        delta = None
        if trigger.get("mode") == "delta":
            delta = await self._bring(ref, shown, options)
            if delta.answered is not None and delta.why is None:
                return Candidate(shown, delta.answered, _outcome(shown, delta), delta)
        without = {model.id, *(trigger.get("exclude_mental_model_ids") or ())}
        asking = Asking(model.tags, False, not trigger.get("exclude_mental_models"), without)
        answered = await self._answering(ref, model.source_query, options, asking)
        if not answered.found.based_on and not answered.by_model:
            outcome = NOTHING
        elif answered.found.text == shown.content:
            outcome = UNCHANGED
        else:
            outcome = WRITTEN
        if delta is not None and delta.answered is not None:
            answered = replace(
                answered,
                usage=delta.answered.usage + answered.usage,
                calls=(*delta.answered.calls, *answered.calls),
            )
        return Candidate(shown, answered, outcome, delta)

    async def _keep(self, ref: BankRef, context: JobContext, found: Candidate, seen: int) -> None:
        now = self._clock.now_us()
        model, answered = found.shown.model, found.answered
        used = answered.usage
        told = replace(
            model,
            outcome=found.outcome,
            usage={"input_tokens": used.input, "output_tokens": used.output},
            updated_at=now,
        )
        if found.outcome != FAILED:  # what failed leaves it as stale as it was
            told = replace(told, seen=seen, refreshed_at=now, asked=model.source_query)
        if found.outcome != WRITTEN:
            records = [record_of(told)]
            await self._store.apply(ref, Batch(records=records, fence=context.fence))
            return
        based_on = {a.unit.id: a.unit for a in answered.found.based_on}
        every = {**{a.unit.id: a.unit for a in answered.shown}, **based_on}
        # A model was shown texts of other mental models: those rest on memories, too.
        models = [bytes.fromhex(s.model.unit) for s in answered.shown_models if s.model.unit]
        past = dict(found.delta.kept) if found.delta is not None and found.mode == "delta" else {}
        rests = {*every, *models, *past}
        async with self._store.snapshot(ref) as view:
            revision = view.revision
            there = {u.id for u in await view.units(list(rests))}
        if there != rests:
            raise Conflict("what it rests on has gone", field="expect_revision")
        unit = Unit(
            id=self._ids.new(),
            layer=Layer.OBSERVATION,
            text=answered.found.text,
            created_at=now,
            mentioned_at=now,
            kind=Kind.OBSERVATION,
            attributes={"mental_model_id": model.id},
            tags=model.tags,
        )
        weights = {**dict.fromkeys((*models, *every), SHOWN_ONLY), **past}
        weights |= dict.fromkeys(based_on, 1.0)
        links = [Link(unit.id, i, LinkType.INSIGHT_FROM, w) for i, w in weights.items()]
        versions = tuple(v for v in (model.unit, *model.versions) if v)
        seen_at = max((u.mentioned_at for u in every.values()), default=model.seen_at)
        told = replace(told, unit=unit.id.hex(), versions=versions[:VERSIONS], seen_at=seen_at)
        batch = await self._remember.batch(
            [self._remember.source(unit)],
            links,
            curations=[hidden(unit.id)],
            erase=[bytes.fromhex(v) for v in versions[VERSIONS:]],
            records=[record_of(told)],
            expect_revision=revision,
            fence=context.fence,
        )
        await self._store.apply(ref, batch)

    def _rested(self, model: MentalModel) -> bool:
        least = model.trigger.get("min_refresh_interval_seconds") or 0
        last = model.refreshed_at or 0
        return self._clock.now_us() - last >= least * 1_000_000

    def _job(self, ref: BankRef, key: str) -> Job:
        now = self._clock.now_us()
        payload = {"mental_model_id": key}
        return Job(
            self._ids.new(),
            ref,
            REFRESH,
            JobState.PENDING,
            now,
            now,
            payload=payload,
            document=one_at_a_time(f"{REFRESH}/{key}"),
            items=1,
        )


def _degraded(found: Candidate) -> str | None:
    failed = found.delta.failed if found.delta is not None else None
    return failed or found.answered.degraded


def _outcome(shown: Shown, delta: Delta) -> str:
    if delta.failed is not None:
        return FAILED
    if delta.nothing:
        return NOTHING
    text = delta.answered.found.text if delta.answered is not None else ""
    return WRITTEN if delta.applied and text != shown.content else UNCHANGED


def _checked(value: str, field: str, most: int) -> str:
    value = clean(value).strip()
    if not value:
        raise InvalidInput(f"{field} must not be empty", field=field, limit=1)
    if len(value) > most:
        raise TooLarge(
            f"{field} has {len(value)} characters; the limit is {most}", field=field, limit=most
        )
    return value
