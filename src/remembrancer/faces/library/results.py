"""What the library's verbs return: plain frozen objects with text ids and aware datetimes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from typing import Any, overload

from ...nouns.clock import from_us
from ...nouns.ids import to_uuid
from ...nouns.memory import Polarity, Unit
from ...verbs.answering import Answered
from ...verbs.check import Due
from ...verbs.forget import Receipt
from ...verbs.prime import Context, Primed
from ...verbs.recall import Answer, Arms, Recollection, Timings
from ...verbs.recalling.explain import explain, explain_cut, ranks_of
from ...verbs.recalling.truth import HOLDS, Truth
from ...verbs.retain import Retained
from ...verbs.retaining.given import RefusedFact
from ...verbs.truth import Held

Period = tuple[datetime, datetime]  # half-open


@dataclass(frozen=True, slots=True)
class Kept:
    """What retain did: how many sources (turns and passages), facts and entities were stored.

    `ids` are those of all memories stored. `unchanged` are the documents that were there already
    with the same content. `unread` sources have no facts because reading them failed, and
    `unembedded` ones wait for the embedder; both are findable by their words. `duplicates` are the
    facts that say what was known. Of the documents' `chunks`, `chunks_read` held something new;
    the others were kept as they are. `coverage` is the share of the letters and digits told that
    stand in memories, 0 to 1. `refused` are the facts handed in that do not stand in the content.
    `reading` are the ids of operations in which a language model is yet to read it.
    """

    items: int
    documents: tuple[str, ...]
    unchanged: tuple[str, ...]
    ids: tuple[str, ...]
    sources: int
    facts: int
    entities: int
    unread: int
    unembedded: int
    revision: int
    duplicates: int = 0
    chunks: int = 0
    chunks_read: int = 0
    chunks_kept: int = 0
    coverage: float = 1.0
    refused: tuple[RefusedFact, ...] = ()
    reading: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Erased:
    """What forget did: the memories (facts included) and documents erased, the ids not found."""

    ids: tuple[str, ...]
    documents: tuple[str, ...]
    missing: tuple[str, ...]
    revision: int


@dataclass(frozen=True, slots=True)
class Reflected:
    """An answer in words. `based_on` are the memories that the text quotes or rests on.

    `structured` is the object filled from what is known, None without a schema; `missing` names
    its required properties that nothing known fits. `by_model`: a language model wrote the text;
    `degraded` says why none did though one is there. `tokens` is what models used.
    """

    text: str
    based_on: tuple[Found, ...]
    structured: dict[str, Any] | None
    missing: tuple[str, ...]
    by_model: bool = False
    degraded: str | None = None
    tokens: int = 0

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement read from a memory; its text stands there word for word."""

    id: str
    text: str
    subject: str | None
    negated: bool
    modality: str
    occurred: Period | None
    valid_from: datetime | None = None  # from when what it says held, as far as is known
    valid_until: datetime | None = None
    superseded_by: tuple[str, ...] = ()  # memories
    contradicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeldValue:
    """One value of an attribute, as one fact tells it.

    `subject` is whose attribute it is ("self": of whoever speaks without a name), `slot` which one.
    `stance`: the fact says that the value `holds`, that it does not (`denied`), or that it `held`
    once. `id` is the fact's, `memory_id` that of the memory it was read from, `superseded_by` and
    `contradicts` are those of other facts. `holds` tells whether it does now, or at the time asked
    about.
    """

    id: str
    memory_id: str
    text: str
    subject: str
    slot: str
    value: str
    stance: str
    said_at: datetime
    valid_from: datetime | None
    valid_until: datetime | None
    superseded_by: str | None
    contradicts: str | None
    holds: bool


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory: a turn or passage, verbatim, with what is known of it.

    `occurred` is the time that its text speaks of, when it names one. `turn` counts the turns of
    its document, `part` the passages of a long turn. `document` is the document's name.
    """

    id: str
    text: str
    speaker: str | None
    role: str
    said_at: datetime
    occurred: Period | None
    precision: str | None
    turn: int
    part: int
    document: str | None = None
    note: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """One answer of a recall. `why` holds each arm's raw value.

    `bank` is its bank in a recall over several, else None. `holds` is False for a memory all of
    whose claims were superseded, from `valid_until` on; `superseded_by` names the memories that did
    so, or that superseded a part of a memory that holds. `contradicts` names those that say
    otherwise where time does not tell which is right. `relevance` is the probability that it bears
    on the question; None where the embedding model was not measured. `before` and `after` are what
    was said right before and after it, without facts, where `neighbours` were asked for.
    """

    memory: Memory
    score: float
    why: Arms
    bank: str | None = None
    holds: bool = True
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    superseded_by: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    relevance: float | None = None
    before: tuple[Memory, ...] = ()
    after: tuple[Memory, ...] = ()

    @property
    def text(self) -> str:
        """The memory's text."""
        return self.memory.text

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.memory.id


class Answers(Sequence[Found]):
    """The answers of a recall, best first, and how they came about.

    Attributes:
        considered: candidates before the cut.
        tokens: estimated tokens of the answers' texts.
        revision: the bank's revision that was searched.
        timings: where the time went, in milliseconds.
        degraded: why an arm was missing, or None.
        known: the probability that the bank has an answer at all; None where the embedding model
            was not measured, and over several banks. An empty answer with a low one means "nothing
            known".
        cut_off: in words, what was left out as not relevant; None when nothing was.
    """

    def __init__(self, of: Recollection) -> None:
        self._raw = of.answers
        self._shaped: tuple[Found, ...] | None = None  # when first looked at
        self.considered = of.considered
        self.tokens = of.tokens
        self.revision = of.revision
        self.timings: Timings = of.timings
        self.degraded = of.degraded
        self.known = of.known
        self.cut_off = explain_cut(of)
        self._trace = of.trace

    def explain(self) -> list[str]:
        """Return in words why each answer is there, in their order."""
        ranks = ranks_of(self._trace)
        return [explain(answer, ranks.get(answer.unit.id)) for answer in self._raw]

    @overload
    def __getitem__(self, index: int) -> Found: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Found, ...]: ...

    def __getitem__(self, index: int | slice) -> Found | tuple[Found, ...]:
        return self._answers[index]

    def __len__(self) -> int:
        return len(self._raw)

    def __iter__(self) -> Iterator[Found]:
        return iter(self._answers)

    def __repr__(self) -> str:
        return f"Answers({list(self._answers)!r})"

    @property
    def _answers(self) -> tuple[Found, ...]:
        if self._shaped is None:
            self._shaped = tuple(_found(a) for a in self._raw)
        return self._shaped


@dataclass(frozen=True, slots=True)
class PrimedMemory:
    """One memory of a primed context."""

    memory: Memory
    score: float
    relevance: float
    strategy: str  # temporal or similarity
    pinned: bool = False
    holds: bool = True  # False: all that it says of was superseded
    valid_until: datetime | None = None
    superseded_by: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The memory's text."""
        return self.memory.text


@dataclass(frozen=True, slots=True)
class DueReminder:
    """Something to do now: due, or leased by somebody and not acknowledged."""

    id: str  # of the intention
    occurrence_id: str
    content: str
    importance: float
    due_at: datetime
    late: bool
    missed: int  # earlier instances that it stands for, too
    state: str


@dataclass(frozen=True, slots=True)
class PrimedContext:
    """What prime returns: memories in the order asked for; `text` when it was asked for."""

    memories: tuple[PrimedMemory, ...]
    temporal_count: int
    similarity_count: int
    embed_ms: float
    total_ms: float
    degraded: str | None
    due: tuple[DueReminder, ...] = ()  # what is to be done now; nothing of it is consumed
    text: str | None = None


def kept_of(done: Retained) -> Kept:
    """Shape what retain did."""
    return Kept(
        done.items,
        tuple(done.documents),
        tuple(done.unchanged),
        tuple(to_uuid(i) for i in done.unit_ids),
        done.sources,
        done.facts,
        done.entities,
        done.unread,
        done.unembedded,
        done.revision,
        done.duplicates,
        done.chunks,
        done.chunks_read,
        done.chunks_kept,
        done.coverage,
        tuple(done.refused),
        tuple(to_uuid(i) for i in done.reading_jobs),
    )


def erased_of(receipt: Receipt) -> Erased:
    """Shape a receipt."""
    return Erased(
        tuple(to_uuid(i) for i in receipt.erased),
        receipt.documents,
        tuple(to_uuid(i) for i in receipt.missing),
        receipt.revision,
    )


def answers_of(found: Recollection) -> Answers:
    """Shape a recollection."""
    return Answers(found)


def reflected_of(answered: Answered) -> Reflected:
    """Shape an answer in words."""
    found = answered.found
    based_on = tuple(_found(answer) for answer in found.based_on)
    return Reflected(
        found.text,
        based_on,
        found.structured,
        found.missing,
        answered.by_model,
        found.recalled.degraded or answered.degraded,
        answered.usage.total,
    )


def context_of(context: Context, due: Sequence[Due] = (), text: str | None = None) -> PrimedContext:
    """Shape a primed context."""
    return PrimedContext(
        tuple(_primed(m) for m in context.memories),
        context.temporal_count,
        context.similarity_count,
        context.embed_ms,
        context.total_ms,
        context.degraded,
        tuple(_due(d) for d in due),
        text,
    )


def _due(due: Due) -> DueReminder:
    return DueReminder(
        id=to_uuid(due.intention.id),
        occurrence_id=to_uuid(due.occurrence.id),
        content=due.intention.content,
        importance=due.intention.importance,
        due_at=from_us(due.occurrence.due_at),
        late=due.late,
        missed=due.occurrence.missed,
        state=str(due.occurrence.state),
    )


def memory_of(unit: Unit, facts: Sequence[Unit] = (), document: str | None = None) -> Memory:
    """Shape a unit and the facts read from it."""
    return Memory(
        id=to_uuid(unit.id),
        text=unit.text,
        speaker=unit.speaker,
        role=unit.role.name.lower(),
        said_at=_moment(unit.mentioned_at, unit),
        occurred=_occurred(unit),
        precision=unit.precision.value if unit.precision else None,
        turn=unit.turn,
        part=unit.part,
        document=document,
        note=unit.note,
        tags=unit.tags,
        metadata=dict(unit.metadata or {}),
        facts=tuple(_fact(f) for f in facts),
    )


def _found(answer: Answer) -> Found:
    unit, truth = answer.unit, answer.truth
    memory = memory_of(unit, answer.facts, answer.document)
    if truth.facts:
        facts = tuple(_fact(f, truth.facts.get(f.id, HOLDS)) for f in answer.facts)
        memory = replace(memory, facts=facts)
    return Found(
        memory,
        answer.score,
        answer.arms,
        answer.bank,
        truth.holds,
        *_validity(truth, unit),
        tuple(map(to_uuid, truth.superseded_by)),
        tuple(map(to_uuid, truth.contradicts)),
        answer.relevance,
        tuple(memory_of(near, document=answer.document) for near in answer.before),
        tuple(memory_of(near, document=answer.document) for near in answer.after),
    )


def held_of(held: Held) -> HeldValue:
    """Shape one value of an attribute."""
    fact = held.fact
    return HeldValue(
        id=to_uuid(fact.id),
        memory_id=to_uuid(held.memory_id),
        text=fact.text,
        subject=held.subject,
        slot=held.slot,
        value=held.value,
        stance=held.stance.name.lower(),
        said_at=_moment(fact.mentioned_at, fact),
        valid_from=_perhaps(held.valid_from, fact),
        valid_until=_perhaps(held.valid_until, fact),
        superseded_by=to_uuid(held.superseded_by) if held.superseded_by else None,
        contradicts=to_uuid(held.contradicts) if held.contradicts else None,
        holds=held.holds,
    )


def _validity(truth: Truth, unit: Unit) -> tuple[datetime | None, datetime | None]:
    return _perhaps(truth.valid_from, unit), _perhaps(truth.valid_until, unit)


def _perhaps(us: int | None, unit: Unit) -> datetime | None:
    return None if us is None else _moment(us, unit)


def _primed(primed: Primed) -> PrimedMemory:
    return PrimedMemory(
        memory_of(primed.unit),
        primed.score,
        primed.relevance,
        primed.strategy.value,
        primed.pinned,
        primed.truth.holds,
        _perhaps(primed.truth.valid_until, primed.unit),
        tuple(map(to_uuid, primed.truth.superseded_by)),
    )


def _fact(unit: Unit, truth: Truth = HOLDS) -> Fact:
    return Fact(
        id=to_uuid(unit.id),
        text=unit.text,
        subject=unit.subject,
        negated=unit.polarity is Polarity.NEGATED,
        modality=unit.modality.value,
        occurred=_occurred(unit),
        valid_from=_perhaps(unit.valid_from, unit),
        valid_until=_perhaps(unit.valid_until, unit),
        superseded_by=tuple(map(to_uuid, truth.superseded_by)),
        contradicts=tuple(map(to_uuid, truth.contradicts)),
    )


def _occurred(unit: Unit) -> Period | None:
    if unit.occurred_start is None or unit.occurred_end is None:
        return None
    return _moment(unit.occurred_start, unit), _moment(unit.occurred_end, unit)


def _moment(us: int, unit: Unit) -> datetime:
    """Return a time in the zone offset that the caller used."""
    return from_us(us).astimezone(timezone(timedelta(minutes=unit.offset_min or 0)))
