"""consolidate: what several memories come to together, kept as observations that follow them.

Groups of memories that are about one thing become observations, each with links to all that it was
made from. A group whose memories have not changed is not looked at again, so nothing new costs
nothing. A model, when one is there, says what a group comes to, and what it says must stand in the
memories; without one, or when it fails, the group is named by its own words. An observation whose
group has changed is made again under its id, with its history; one whose group is gone is retired.
Forgetting any memory that an observation was ever made from erases it (`INSIGHT_FROM`).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ..keeping.batch import Batch
from ..keeping.records import Record
from ..keeping.store import Store
from ..keeping.worker import JobContext
from ..models.llm.structured import ask_for
from ..models.llm.types import LlmFailed, Prompt
from ..nouns.clock import Clock, iso
from ..nouns.errors import Conflict
from ..nouns.ids import IdMaker
from ..nouns.memory import (
    SHOWN_ONLY,
    BankRef,
    Curation,
    Job,
    JobState,
    Kind,
    Layer,
    Link,
    LinkType,
    Unit,
)
from ..reading.asking.fact_prompt import Passage
from ..reading.asking.grounding import ungrounded
from ..reading.asking.observation_prompt import MOST, RULES, ObservedAnswer, observation_prompt
from ..reading.plain_words import plain_words
from .bank_config import BankConfigs
from .curate import entry
from .modelling.grouping import MOST_LINKS, Ground, Group, Standing, ground, title
from .remember import Remember
from .telling.outbox import Mail, Outbox
from .telling.webhooks import CONSOLIDATION_COMPLETED
from .thinking.minds import CONSOLIDATION, Minds, Task

CONSOLIDATE = "consolidation"
"""The kind of the jobs."""

STATE = "consolidation"
"""The kind of the record that tells which groups are done; it holds no text."""

MINE = "consolidated"
"""The attribute of observations that are made here."""

HISTORY = 50
_PROMPT_CHARS = 400  # of each memory
_LEAST_BASIS = 2
_SAME = 0.85  # share of words from which two observations of one group are one
_OVERLAP = 0.5  # share of its basis by which a standing observation is a group's
_TRIES = 20
_ANSWER_TOKENS = 1_000

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Said:
    """One observation to be kept: text, and the indexes of the members it rests on."""

    text: str
    basis: tuple[int, ...]
    by: str


@dataclass(frozen=True, slots=True)
class _Made:
    """What is written of one observation."""

    unit: Unit
    links: Sequence[Link]
    curation: Curation
    new: bool


@dataclass(slots=True)
class _Tally:
    created: int = 0
    updated: int = 0
    retired: int = 0
    unchanged: int = 0
    failed: int = 0
    refused: Counter[str] = field(default_factory=Counter)


class Consolidate:
    """Enqueues and, as the jobs' handler, does it; everything it needs is passed in."""

    def __init__(
        self,
        store: Store,
        remember: Remember,
        minds: Minds,
        configs: BankConfigs,
        outbox: Outbox,
        *,
        ids: IdMaker,
        clock: Clock,
        then: Callable[[BankRef], Awaitable[object]],
    ) -> None:
        self._store = store
        self._remember = remember
        self._minds = minds
        self._configs = configs
        self._outbox = outbox
        self._ids = ids
        self._clock = clock
        self._then = then  # called for a bank whose observations have changed

    async def enqueue(self, ref: BankRef) -> tuple[Job, bool]:
        """Have a bank consolidated; return the job, and whether one was waiting already."""
        waiting = await self._store.jobs(ref, state=JobState.PENDING, kind=CONSOLIDATE, limit=1)
        if waiting:
            return waiting[0], True
        now = self._clock.now_us()
        job = Job(self._ids.new(), ref, CONSOLIDATE, JobState.PENDING, now, now, priority=-1)
        await self._store.apply(ref, Batch(jobs=[job]))
        return job, False

    async def after_reading(self, ref: BankRef) -> None:
        """Have a bank consolidated after a model has read something new, unless it says no."""
        config = (await self._configs.of(ref)).overrides
        wanted = (config.get("enable_observations"), config.get("enable_auto_consolidation"))
        if self._minds.of(CONSOLIDATION) is not None and False not in wanted:
            await self.enqueue(ref)

    async def clear(self, ref: BankRef) -> int:
        """Erase all that was made here, and forget what was done; return how many went."""
        found = await self._store.read(ref, partial(ground, mine=MINE))
        gone = [s.unit.id for s in found.standing]
        if gone or await self.state(ref) is not None:
            await self._store.apply(ref, Batch(erase=gone, erase_records=[(STATE, STATE)]))
        return len(gone)

    async def recover(self, ref: BankRef) -> int:
        """Queue failed consolidations again; return how many."""
        failed = await self._store.jobs(ref, state=JobState.FAILED, kind=CONSOLIDATE, limit=100)
        now = self._clock.now_us()
        return sum([await self._store.job_retry(ref, job.id, now) for job in failed])

    async def state(self, ref: BankRef) -> Record | None:
        """Return the record of what is done; its `updated_at` is when it was last."""
        return await self._store.record(ref, STATE, STATE)

    async def run(self, job: Job, context: JobContext) -> Mapping[str, Any]:
        """Do a job; run again, it goes on where it was.

        Raises:
            BudgetSpent: there is no budget left now; what was done is kept.
        """
        ref = job.ref
        config = await self._configs.of(ref)
        task = self._minds.task(ref, CONSOLIDATION, trace=job.id)
        if config.overrides.get("enable_observations") is False:
            return {"skipped": "the bank's enable_observations is false"}
        record = await self.state(ref)
        done = dict(record.data["done"]) if record is not None else {}
        found = await self._store.read(ref, partial(ground, mine=MINE))
        tally = _Tally()
        current: dict[str, int] = {}
        claimed: set[bytes] = set()
        mission = str(config.overrides.get("observations_mission") or "")[:1_000]
        maker = task.name if task is not None else ""
        for number, group in enumerate(found.groups):
            await context.progress("consolidating", number, len(found.groups))
            mark = f"{group.mark}:{maker}"
            mine = _of_group(group, found.standing, claimed)
            claimed |= {each.unit.id for each in mine}
            if mark in done and (mine or not done[mark]):
                tally.unchanged += 1
                current[mark] = done[mark]
                continue
            said, sure = await self._said(task, group, mission, tally)
            if await self._keep(ref, context, group, said, mine, tally) and sure:
                current[mark] = done[mark] = len(said)
                await self._mark(ref, context, done)
        await self._retire(ref, context, found, claimed, tally)
        return await self._end(job, context, current, tally, task, found)

    async def _said(
        self, task: Task | None, group: Group, mission: str, tally: _Tally
    ) -> tuple[list[_Said], bool]:
        """Return what a group comes to, and whether that need not be asked again."""
        every = tuple(range(len(group.members)))
        plain = [_Said(title(group), every, "")]
        if task is None:
            return plain, True
        shown = [
            Passage(u.text[:_PROMPT_CHARS], u.speaker, None, (iso(u.mentioned_at) or "")[:10])
            for u in group.members
        ]
        task.scope = "consolidation"
        schema = ObservedAnswer.model_json_schema()
        prompt = Prompt(RULES, observation_prompt(shown, mission), schema, _ANSWER_TOKENS)
        try:
            answer = (await ask_for(task, prompt, ObservedAnswer, wasted=task.wasted)).value
        except LlmFailed as failed:
            log.warning("a group is consolidated without the model: %s", failed.message)
            tally.failed += 1
            return plain, False
        kept: list[_Said] = []
        for each in answer.observations[:MOST]:
            basis = tuple(sorted({n - 1 for n in each.based_on if 1 <= n <= len(every)}))
            members = [group.members[n] for n in basis]
            words = [t for u in members for t in (u.text, u.speaker or "", _day(u))]
            text = " ".join(each.text.split())
            fault = ungrounded(text, words, counts_to=len(every), shared=0, free=True)
            if len(basis) < _LEAST_BASIS or not text:
                tally.refused["no_basis"] += 1
            elif fault is not None:
                tally.refused[fault.value] += 1
            else:
                _merge(kept, _Said(text, basis, task.name))
        return kept, True

    async def _keep(
        self,
        ref: BankRef,
        context: JobContext,
        group: Group,
        said: Sequence[_Said],
        mine: Sequence[Standing],
        tally: _Tally,
    ) -> bool:
        """Write what a group comes to in the place of what it came to; False: it has changed."""
        for _ in range(_TRIES):
            async with self._store.snapshot(ref) as view:
                revision = view.revision
                there = {u.id: u for u in await view.units([u.id for u in group.members])}
                alive = {u.id for u in await view.units([s.unit.id for s in mine])}
            if any(there.get(u.id) != replace_access(u, there.get(u.id)) for u in group.members):
                return False
            left = [s for s in mine if s.unit.id in alive and not s.by_hand]
            made: list[_Made] = []
            for each in said:
                old = _best(each, left)
                if old is not None:
                    left.remove(old)
                made.append(self._made(group, each, old))
            units = [each.unit for each in made]
            links = [link for each in made for link in each.links]
            created = sum(each.new for each in made)
            sources = [self._remember.source(unit) for unit in units]
            batch = await self._remember.batch(
                sources,
                links,
                erase=[s.unit.id for s in left],
                unlink=[each.unit.id for each in made if not each.new],
                curations=[each.curation for each in made],
                expect_revision=revision,
                fence=context.fence,
            )
            try:
                await self._store.apply(ref, batch)
            except Conflict as conflict:
                if conflict.field != "expect_revision":
                    raise
                continue
            tally.created += created
            tally.updated += len(units) - created
            tally.retired += len(left)
            return True
        raise Conflict("the bank is written to all the time; the job will be tried again")

    def _made(self, group: Group, said: _Said, old: Standing | None) -> _Made:
        """Return an observation; an older one keeps its id, and its text goes into its history.

        Links lead to all that any text of it was made from, so that each is a reason to erase it.
        """
        now = self._clock.now_us()
        members = [group.members[n] for n in said.basis]
        ids = {u.id for u in group.members}
        past = sorted(old.ever - ids) if old is not None else []
        if len(past) + len(ids) > MOST_LINKS - 50:
            old, past = None, []  # too much to keep track of: begun anew, without history
        history = list(old.history) if old is not None else []
        if old is not None and old.unit.text != said.text:
            history.append(entry("consolidate", now, None, {"text": old.unit.text}))
        starts = [u.occurred_start or u.mentioned_at for u in members]
        ends = [u.occurred_end or u.mentioned_at for u in members]
        unit = Unit(
            id=old.unit.id if old else self._ids.new(),
            layer=Layer.OBSERVATION,
            text=said.text,
            created_at=old.unit.created_at if old else now,
            mentioned_at=max(u.mentioned_at for u in members),
            kind=Kind.OBSERVATION,
            attributes={
                MINE: said.by or "without a model",
                "proof_count": len(members),
                "first_at": min(u.mentioned_at for u in members),
                "last_at": max(u.mentioned_at for u in members),
            },
            tags=group.tags,
            entities=group.names,
            occurred_start=min(starts),
            occurred_end=max(ends),
            updated_at=now if old else None,
            importance=sum(u.importance for u in members) / len(members),
        )
        weights = {
            u.id: 1.0 if n in said.basis else SHOWN_ONLY for n, u in enumerate(group.members)
        }
        weights |= dict.fromkeys(past, SHOWN_ONLY)
        links = [Link(unit.id, i, LinkType.INSIGHT_FROM, w) for i, w in weights.items()]
        data = {"history": history[-HISTORY:]}
        return _Made(unit, links, Curation(unit.id, False, data), new=old is None)

    async def _retire(
        self,
        ref: BankRef,
        context: JobContext,
        found: Ground,
        claimed: set[bytes],
        tally: _Tally,
    ) -> None:
        """Erase observations whose memories are about one thing no more."""
        # One whose memories are older than those that were read may still hold.
        gone = [
            s.unit.id
            for s in found.standing
            if s.unit.id not in claimed and not s.by_hand and (not s.basis or s.basis & found.ids)
        ]
        if gone:
            await self._store.apply(ref, Batch(erase=gone, fence=context.fence))
            tally.retired += len(gone)

    async def _mark(self, ref: BankRef, context: JobContext, done: Mapping[str, int]) -> None:
        now = self._clock.now_us()
        record = Record(STATE, STATE, now, now, {"done": dict(done)})
        await self._store.apply(ref, Batch(records=[record], fence=context.fence))

    async def _end(
        self,
        job: Job,
        context: JobContext,
        current: Mapping[str, int],
        tally: _Tally,
        task: Task | None,
        found: Ground,
    ) -> Mapping[str, Any]:
        used = task.usage if task is not None else None
        told: dict[str, Any] = {
            "memories_read": len(found.ids),
            "groups": len(found.groups),
            "groups_unchanged": tally.unchanged,
            "observations_created": tally.created,
            "observations_updated": tally.updated,
            "observations_deleted": tally.retired,
            "groups_without_model": tally.failed,
            "refused": dict(tally.refused),
            "model": task.name if task is not None else None,
            "usage": {
                "input_tokens": used.input if used else 0,
                "output_tokens": used.output if used else 0,
                "total_tokens": used.total if used else 0,
                "calls": used.calls if used else 0,
                "failed_calls": used.failed if used else 0,
            },
        }
        changed = tally.created + tally.updated + tally.retired
        mail = Mail()
        if changed:
            event = {k: told[k] for k in told if k.startswith("observations_")}
            mail = await self._outbox(
                job.ref, CONSOLIDATION_COMPLETED, event, operation=job.id, about=STATE
            )
        now = self._clock.now_us()
        state = Record(STATE, STATE, now, now, {"done": dict(current)})
        await self._store.apply(
            job.ref,
            Batch(records=[state, *mail.records], jobs=mail.jobs, fence=context.fence),
        )
        await self._then(job.ref)
        return told


def replace_access(unit: Unit, there: Unit | None) -> Unit:
    """Return a unit with another one's access counts, which change without it changing."""
    if there is None:
        return unit
    return replace(unit, access_count=there.access_count, last_accessed_at=there.last_accessed_at)


def _of_group(group: Group, standing: Sequence[Standing], claimed: set[bytes]) -> list[Standing]:
    """Return the observations that rest mostly on a group's memories."""
    ids = {u.id for u in group.members}
    return [
        s
        for s in standing
        if s.unit.id not in claimed and s.basis and len(s.basis & ids) >= _OVERLAP * len(s.basis)
    ]


def _best(said: _Said, olds: Sequence[Standing]) -> Standing | None:
    """Return the older observation that says most nearly the same."""
    if not olds:
        return None
    words = set(plain_words(said.text))
    return max(olds, key=lambda s: (_alike(words, set(plain_words(s.unit.text))), s.unit.id))


def _merge(kept: list[_Said], new: _Said) -> None:
    """Take an observation, or count it as more proof of one that says nearly the same."""
    words = set(plain_words(new.text))
    for n, each in enumerate(kept):
        if _alike(words, set(plain_words(each.text))) >= _SAME:
            kept[n] = replace(each, basis=tuple(sorted({*each.basis, *new.basis})))
            return
    kept.append(new)


def _alike(one: set[str], other: set[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def _day(unit: Unit) -> str:
    return (iso(unit.mentioned_at) or "")[:10]
