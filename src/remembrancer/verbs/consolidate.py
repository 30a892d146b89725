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
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..keeping.batch import Batch
from ..keeping.records import Record
from ..keeping.store import Store
from ..keeping.worker import JobContext
from ..nouns.clock import Clock
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
from ..nouns.names import one_at_a_time
from .bank_config import BankConfigs
from .curate import entry
from .modelling.grouping import (
    MOST_LINKS,
    Ground,
    Group,
    Standing,
    basis_of,
    ground,
    of_group,
    standing_now,
    standing_on,
    unclaimed,
)
from .modelling.saying import Said, Tally, best, said_of
from .modelling.scopes import Scope, scope_of
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
_TRIES = 20

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Made:
    """What is written of one observation."""

    unit: Unit
    links: Sequence[Link]
    curation: Curation
    new: bool


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

    async def enqueue(
        self, ref: BankRef, scopes: Sequence[Sequence[str]] | None = None
    ) -> tuple[Job, bool]:
        """Have a bank consolidated; return the job, and whether one was waiting already.

        `scopes`: only observations with one of these sets of tags are made, changed or retired.
        """
        told = None if scopes is None else sorted({scope_of(each) for each in scopes})
        payload = {} if told is None else {"scopes": [list(each) for each in told]}
        waiting = await self._store.jobs(ref, state=JobState.PENDING, kind=CONSOLIDATE, limit=10)
        for each in waiting:
            whole = await self._store.job(ref, each.id)
            if whole is not None and dict(whole.payload) in ({}, payload):
                return whole, True
        now = self._clock.now_us()
        job = Job(
            self._ids.new(),
            ref,
            CONSOLIDATE,
            JobState.PENDING,
            now,
            now,
            payload=payload,
            priority=-1,
            document=one_at_a_time(CONSOLIDATE),
        )
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
        told = job.payload.get("scopes")
        only = None if told is None else {scope_of(each) for each in told}
        found = await self._store.read(ref, partial(ground, mine=MINE, only=only))
        tally = Tally()
        current: dict[str, int] = {} if only is None else dict(done)
        scopes = {group.tags for group in found.groups}
        claimed: set[bytes] = set()
        mission = str(config.overrides.get("observations_mission") or "")[:1_000]
        maker = task.name if task is not None else ""
        for number, group in enumerate(found.groups):
            await context.progress("consolidating", number, len(found.groups))
            mark = f"{group.mark}:{maker}"
            mine = of_group(group, found.standing, claimed, scopes)
            claimed |= {each.unit.id for each in mine}
            if mark in done and (mine or not done[mark]):
                tally.unchanged += 1
                current[mark] = done[mark]
                continue
            said, sure = await said_of(task, group, mission, tally)
            others = claimed - {each.unit.id for each in mine}
            if await self._keep(ref, context, group, said, (others, scopes), tally) and sure:
                current[mark] = done[mark] = len(said)
                await self._mark(ref, context, done)
        await self._retire(ref, context, found, claimed, tally)
        return await self._end(job, context, current, tally, task, found)

    async def _keep(
        self,
        ref: BankRef,
        context: JobContext,
        group: Group,
        said: Sequence[Said],
        taken: tuple[Set[bytes], Set[Scope]],
        tally: Tally,
    ) -> bool:
        """Write what a group comes to in the place of what it came to; False: it has changed.

        What it came to is looked up anew, so that nobody else's is doubled. `taken`: observations
        of groups before it, and the scopes of all.
        """
        for _ in range(_TRIES):
            async with self._store.snapshot(ref) as view:
                revision = view.revision
                there = {u.id: u for u in await view.units([u.id for u in group.members])}
                standing = await view.run(partial(standing_on, mine=MINE, members=group.members))
            mine = of_group(group, standing, taken[0], taken[1])
            if any(there.get(u.id) != replace_access(u, there.get(u.id)) for u in group.members):
                return False
            left = [s for s in mine if not s.by_hand]
            made: list[_Made] = []
            for each in said:
                old = best(each, left)
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

    def _made(self, group: Group, said: Said, old: Standing | None) -> _Made:
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
        claimed: Set[bytes],
        tally: Tally,
    ) -> None:
        """Erase observations whose memories are about one thing no more."""
        gone = unclaimed(found, claimed)
        for _ in range(_TRIES):
            if not gone:
                return
            # Looked at once more: meanwhile they may have come to rest on other memories.
            async with self._store.snapshot(ref) as view:
                revision = view.revision
                now = await view.run(partial(standing_now, ids=gone))
            gone = [each for each in gone if now.get(each, frozenset()) == basis_of(found, each)]
            batch = Batch(erase=gone, fence=context.fence, expect_revision=revision)
            try:
                await self._store.apply(ref, batch)
            except Conflict as conflict:
                if conflict.field != "expect_revision":
                    raise
                continue
            tally.retired += len(gone)
            return
        raise Conflict("the bank is written to all the time; the job will be tried again")

    async def _mark(self, ref: BankRef, context: JobContext, done: Mapping[str, int]) -> None:
        now = self._clock.now_us()
        record = Record(STATE, STATE, now, now, {"done": dict(done)})
        await self._store.apply(ref, Batch(records=[record], fence=context.fence))

    async def _end(
        self,
        job: Job,
        context: JobContext,
        current: Mapping[str, int],
        tally: Tally,
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
