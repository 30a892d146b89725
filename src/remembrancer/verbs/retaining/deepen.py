"""Has a language model read what was retained, after the rules have: more facts, never fewer.

A document is durable, findable and read by the rules before any model is asked, and what the rules
read stays. Each batch of sources that is written brings one job along, in the same transaction, so
each turn is asked about once, however often its document grows. What the model says is held against
the source; what does not stand there is counted and not kept. A part that fails is asked about
again with the next attempt of the job, and until then the rules' facts stand alone.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...keeping.batch import Batch, EntityMention, VectorPatch
from ...keeping.records import Record
from ...keeping.store import Store
from ...keeping.worker import JobContext
from ...models.llm.structured import ask_for
from ...models.llm.types import LlmFailed, Prompt
from ...nouns.clock import Clock, iso
from ...nouns.errors import Conflict
from ...nouns.ids import IdMaker
from ...nouns.memory import BankRef, Document, Entity, Job, JobState, Role, Unit, UnitRow
from ...reading.asking.fact_prompt import RULES, Passage, ReadAnswer, ReadFact, fact_prompt
from ..bank_config import BankConfigs
from ..thinking.minds import RETAIN, Minds, Task
from .model_facts import ModelReader, Told
from .resolver import Resolver
from .resolver import Told as ToldNames
from .rewriting import Rewriter, is_undated, reworded
from .units import Source

READ = "read_with_model"
"""The kind of the jobs."""

PART = "llm_part"
"""The kind of the records that tell which sources of a job are done; they hold no text."""

PART_CHARS = 3_000  # of the sources of one question
_BEFORE = 2  # turns shown before them
_BEFORE_CHARS = 500  # of each
_MISSION_CHARS = 1_000
_TRIES = 20
_ANSWER_TOKENS = 2_048
_HOPELESS = frozenset({"auth", "refused", "unreachable"})


@dataclass(frozen=True, slots=True)
class _Page:
    """What is known of a part's sources in one snapshot."""

    revision: int
    generation: int
    rows: dict[bytes, UnitRow]
    facts: list[Unit]
    near: dict[bytes, Unit]
    documents: dict[bytes, Document]
    invalid: frozenset[bytes]
    mentions: Mapping[bytes, tuple[str, ...]]


class Deepen:
    """Makes the jobs and, as their handler, does them; everything it needs is passed in."""

    def __init__(
        self,
        store: Store,
        minds: Minds,
        rewriter: Rewriter,
        reader: ModelReader,
        resolver: Resolver,
        configs: BankConfigs,
        *,
        ids: IdMaker,
        clock: Clock,
        generation: int,
        then: Callable[[BankRef], Awaitable[None]] | None = None,
    ) -> None:
        self._store = store
        self._then = then  # called for a bank of which something new was read
        self._minds = minds
        self._rewriter = rewriter
        self._reader = reader
        self._resolver = resolver
        self._configs = configs
        self._ids = ids
        self._clock = clock
        self._generation = generation

    def jobs(self, ref: BankRef, sources: Sequence[Source]) -> list[Job]:
        """Return the job that reads some sources; none when no model is there for it."""
        said = (Role.SYSTEM, Role.TOOL)
        told = [
            s.row.unit.id.hex() for s in sources if s.row.unit.role not in said and s.given is None
        ]
        if self._minds.of(RETAIN) is None or not told:
            return []
        now = self._clock.now_us()
        return [
            Job(
                self._ids.new(),
                ref,
                READ,
                JobState.PENDING,
                now,
                now,
                payload={"sources": told},
                items=len(told),
                priority=-1,
            )
        ]

    async def run(self, job: Job, context: JobContext) -> Mapping[str, Any]:
        """Do a job; run again, it goes on where it was.

        Raises:
            LlmFailed: some parts got no usable answer.
            BudgetSpent: there is no budget left now.
        """
        task = self._minds.task(job.ref, RETAIN, trace=job.id)
        if task is None:
            return {"skipped": "no language model is configured"}
        wanted = [bytes.fromhex(each) for each in job.payload["sources"]]
        kept = await self._store.record(job.ref, PART, job.id.hex())
        state = _State.of(kept)
        parts = await self._parts(job.ref, [i for i in wanted if i not in state.done])
        failed: list[str] = []
        try:
            for number, part in enumerate(parts):
                await context.progress("reading with a model", number, len(parts))
                try:
                    await self._part(job, context, task, part, state)
                except LlmFailed as failure:
                    failed.append(failure.message)
                    if failure.reason in _HOPELESS:
                        failed += [failure.message] * (len(parts) - number - 1)
                        break
        finally:
            state.used(task)
            await self._note(job, context, state)
        if failed:
            raise LlmFailed(
                f"{len(failed)} of {len(parts)} parts were not read by the model; the facts that "
                f"the rules read stand. {failed[0]}",
                reason="broken",
            )
        done = Batch(erase_records=[(PART, job.id.hex())], fence=context.fence)
        await self._store.apply(job.ref, done)
        if self._then is not None:
            await self._then(job.ref)
        return state.told(task.name)

    async def _parts(self, ref: BankRef, ids: Sequence[bytes]) -> list[list[bytes]]:
        """Cut sources into what is asked about at once, in order."""
        async with self._store.snapshot(ref) as view:
            units = await view.units(ids)
        parts: list[list[bytes]] = []
        size, last = PART_CHARS, None
        for unit in units:
            if size + len(unit.text) > PART_CHARS or unit.document_id != last:
                parts.append([])
                size = 0
            parts[-1].append(unit.id)
            size += len(unit.text)
            last = unit.document_id
        return parts

    async def _part(
        self, job: Job, context: JobContext, task: Task, part: Sequence[bytes], state: _State
    ) -> None:
        page = await self._page(job.ref, part)
        sources = {i: self._source(page, row) for i, row in page.rows.items()}
        order = [sources[i] for i in part if i in sources and i not in page.invalid]
        answer: list[ReadFact] = []
        if order:
            answer = await self._asked(job.ref, task, order, page)
        for _ in range(_TRIES):
            told = await self._told(order, answer, page, task.name)
            done = [*state.done, *part]
            after = state.after(told, done)
            batch = await self._batch(job, context, page, sources, told, after)
            try:
                await self._store.apply(job.ref, batch)
            except Conflict as conflict:
                if conflict.field != "expect_revision":
                    raise
                # Who changed a source's text, or took it out, wins over what was read of it.
                page = await self._page(job.ref, part)
                texts = {s.row.unit.id: s.row.unit.text for s in order}
                sources = {i: self._source(page, row) for i, row in page.rows.items()}
                stands = [
                    s.row.unit.id in sources
                    and s.row.unit.id not in page.invalid
                    and sources[s.row.unit.id].row.unit.text == texts[s.row.unit.id]
                    for s in order
                ]
                numbers = {n + 1: sum(stands[: n + 1]) for n, ok in enumerate(stands) if ok}
                answer = [
                    replace_source(fact, numbers[fact.source])
                    for fact in answer
                    if fact.source in numbers
                ]
                order = [sources[s.row.unit.id] for s, ok in zip(order, stands, strict=True) if ok]
                continue
            state.take(after)
            return
        raise Conflict("the bank is written to all the time; the job will be tried again")

    async def _asked(
        self, ref: BankRef, task: Task, order: Sequence[Source], page: _Page
    ) -> list[ReadFact]:
        mission = str((await self._configs.of(ref)).overrides.get("retain_mission") or "")
        text = fact_prompt(
            [_passage(s.row.unit) for s in order],
            [_passage(u, _BEFORE_CHARS) for u in _before(order[0].row.unit, page.near)],
            mission[:_MISSION_CHARS],
        )
        task.scope = "retain_extract_facts"
        prompt = Prompt(RULES, text, ReadAnswer.model_json_schema(), _ANSWER_TOKENS)
        return (await ask_for(task, prompt, ReadAnswer, wasted=task.wasted)).value.facts

    async def _told(
        self, order: Sequence[Source], answer: Sequence[ReadFact], page: _Page, name: str
    ) -> Told:
        befores = {s.row.unit.id: [u.text for u in _before(s.row.unit, page.near)] for s in order}
        return await asyncio.to_thread(self._reader, order, answer, page.facts, befores, name)

    async def _page(self, ref: BankRef, part: Sequence[bytes]) -> _Page:
        async with self._store.snapshot(ref) as view:
            rows = {row.unit.id: row for row in await view.rows(part)}
            units = [row.unit for row in rows.values()]
            first = await view.units([u.previous_id for u in units if u.previous_id])
            second = await view.units([u.previous_id for u in first if u.previous_id])
            curations = await view.curations(list(rows))
            facts = await view.facts_of(list(rows))
            every = await view.recalled(list(rows))
            names = {r.unit.document_id: r.document for r in every if r.document}
            documents = {
                i: d
                for i, name in names.items()
                if i is not None and (d := await view.document(name)) is not None
            }
            return _Page(
                view.revision,
                view.generation,
                rows,
                facts,
                {u.id: u for u in (*second, *first, *units)},
                documents,
                frozenset(i for i, c in curations.items() if c.invalid),
                await view.run(lambda reader: reader.mentions(list(rows))),
            )

    def _source(self, page: _Page, row: UnitRow) -> Source:
        document = page.documents.get(row.unit.document_id or b"")
        return self._rewriter.source(row.unit, page.near, undated=is_undated(document, row.unit))

    async def _batch(
        self,
        job: Job,
        context: JobContext,
        page: _Page,
        sources: Mapping[bytes, Source],
        told: Told,
        after: _State,
    ) -> Batch:
        names: dict[str, list[bytes]] = {}
        for row in told.rows:
            for name in row.unit.entities:
                names.setdefault(name, []).append(row.unit.id)
        mentions = [
            EntityMention(Entity(self._ids.new(), name), ids) for name, ids in names.items()
        ]
        mentions, rows = await self._resolver.read(job.ref, mentions, told.rows, ToldNames())
        again, vectors, kept = self._found_again(page, sources, rows)
        return Batch(
            units=[*again, *rows],
            vectors=vectors,
            mentions=[*mentions, *kept],
            records=[self._record(job, after)],
            fence=context.fence,
            expect_revision=page.revision,
            generation=self._generation,
        )

    def _found_again(
        self, page: _Page, sources: Mapping[bytes, Source], rows: Sequence[UnitRow]
    ) -> tuple[list[UnitRow], list[VectorPatch], list[EntityMention]]:
        """Let sources be found by the words of their new facts: facts are found through them."""
        again: list[UnitRow] = []
        vectors: list[VectorPatch] = []
        mentions: list[EntityMention] = []
        for source_id in dict.fromkeys(row.unit.source_id for row in rows):
            old = page.rows.get(source_id or b"")
            if old is None:
                continue
            unit = old.unit
            facts = [*page.facts, *(row.unit for row in rows)]
            also = reworded(unit, facts)
            source = sources[unit.id]
            if also:
                source = self._rewriter.source(unit, page.near, undated=source.undated, also=also)
            again.append(
                replace(
                    old,
                    terms=source.row.terms,
                    window_terms=source.row.window_terms,
                    vector=None,
                    window_vector=None,
                )
            )
            if old.vector is not None and page.generation == self._generation:
                vectors.append(VectorPatch(unit.id, old.vector, old.window_vector))
            mentions += [
                EntityMention(Entity(self._ids.new(), name), [unit.id])
                for name in page.mentions.get(unit.id, unit.entities)
            ]
        return again, vectors, mentions

    def _record(self, job: Job, state: _State) -> Record:
        now = self._clock.now_us()
        return Record(PART, job.id.hex(), job.created_at, now, state.data())

    async def _note(self, job: Job, context: JobContext, state: _State) -> None:
        """Keep what was used, whatever came of it, so that the result of the job tells it all."""
        batch = Batch(records=[self._record(job, state)], fence=context.fence)
        with contextlib.suppress(Conflict):  # the job is somebody else's by now
            await self._store.apply(job.ref, batch)


class _State:
    """How far a job is: sources done, what was kept and refused, what was used."""

    def __init__(self) -> None:
        self.done: list[bytes] = []
        self.facts = 0
        self.refused: Counter[str] = Counter()
        self.usage: Counter[str] = Counter()

    @classmethod
    def of(cls, record: Record | None) -> _State:
        state = cls()
        if record is not None:
            state.done = [bytes.fromhex(each) for each in record.data["done"]]
            state.facts = record.data["facts"]
            state.refused = Counter(record.data["refused"])
            state.usage = Counter(record.data["usage"])
        return state

    def after(self, told: Told, done: Sequence[bytes]) -> _State:
        state = _State()
        state.done, state.facts = list(done), self.facts + len(told.rows)
        state.refused = self.refused + told.refused
        state.usage = self.usage
        return state

    def take(self, other: _State) -> None:
        self.done, self.facts, self.refused = other.done, other.facts, other.refused

    def used(self, task: Task) -> None:
        used = task.usage
        self.usage += Counter(
            input_tokens=used.input,
            output_tokens=used.output,
            cached_tokens=used.cached,
            thoughts_tokens=used.thoughts,
            calls=used.calls,
            failed_calls=used.failed,
        )

    def data(self) -> dict[str, Any]:
        return {
            "done": [each.hex() for each in self.done],
            "facts": self.facts,
            "refused": dict(self.refused),
            "usage": dict(self.usage),
        }

    def told(self, model: str) -> dict[str, Any]:
        usage = dict(self.usage)
        total = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
        return {
            "sources": len(self.done),
            "facts_count": self.facts,
            "refused": dict(self.refused),
            "model": model,
            "usage": {**usage, "total_tokens": total},
        }


def replace_source(fact: ReadFact, number: int) -> ReadFact:
    """Return a fact that names its source by another number."""
    return fact.model_copy(update={"source": number})


def _before(unit: Unit, near: Mapping[bytes, Unit]) -> list[Unit]:
    """Return the turns before a unit, oldest first."""
    found: list[Unit] = []
    at = unit.previous_id
    while at is not None and at in near and len(found) < _BEFORE:
        found.append(near[at])
        at = near[at].previous_id
    return found[::-1]


def _passage(unit: Unit, most: int | None = None) -> Passage:
    role = unit.role.name.lower() if unit.role is not Role.NONE else None
    return Passage(unit.text[:most], unit.speaker, role, _day(unit.mentioned_at))


def _day(at: int) -> str:
    return (iso(at) or "")[:10]
