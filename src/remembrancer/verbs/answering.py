"""reflect with a language model: evidence first, then an answer that rests on it, checked.

What is searched, and what may be said, is decided before a model is asked. It answers from the
evidence alone: an answer that names somebody, or a number, that no evidence names is asked for
once more and then dropped for the quoted answer, as is every failure. Without a model, or without
evidence, the quoted answer is the answer.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..models.llm.structured import ask_for
from ..models.llm.types import NONE, LlmFailed, Prompt, Usage
from ..nouns.clock import Clock, iso
from ..nouns.errors import BudgetSpent, Conflict
from ..nouns.memory import BankRef, Layer, Polarity, Precision, Unit
from ..nouns.text import clean, estimate_tokens
from ..reading.asking.answer_prompt import (
    RULES,
    WITH_OBJECT,
    AnswerReply,
    Evidence,
    answer_prompt,
)
from ..reading.asking.grounding import ungrounded
from ..reading.plain_words import plain_words
from ..reading.types import DateSpan, Span
from .bank_config import BankConfigs
from .directives import Directive, Directives
from .modelling.shelf import Shelf, Shown
from .recall import Answer
from .reflect import Reflect, Reflection, ReflectOptions
from .reflecting.fitting import misfit, missing
from .reflecting.response_schema import Shape, read_schema
from .thinking.minds import REFLECT, Minds, Task

EVIDENCE_TOKENS = 12_000  # of all memories in one prompt
_MODELS = 3  # mental models shown
_LEAST_SHARED = 2  # words of the question that a mental model must hold
_TRIES = 2

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asking:
    """What shapes an answer beside the question.

    `tags` are those of the request: they choose directives. `every_directive`: all active ones
    hold. `models`: mental models are looked at, but for those of `without`.
    """

    tags: Collection[str] = ()
    every_directive: bool = False
    models: bool = True
    without: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer. `found` is what the quoted one would be, with text and basis of this one.

    `shown` and `shown_models` are what a model was shown: what it says may rest on any of that;
    `models` are those mental models that it names.
    `by_model`: a model wrote the text. `degraded`: why none did though one is there. `calls` are
    the scope and milliseconds of each question to it.
    """

    found: Reflection
    usage: Usage = NONE
    by_model: bool = False
    models: tuple[Shown, ...] = ()
    directives: tuple[Directive, ...] = ()
    shown: tuple[Answer, ...] = ()
    shown_models: tuple[Shown, ...] = ()
    calls: tuple[tuple[str, int], ...] = ()
    degraded: str | None = None


class Answering:
    """The verb; everything it needs is passed in."""

    def __init__(
        self,
        reflect: Reflect,
        minds: Minds,
        configs: BankConfigs,
        directives: Directives,
        shelf: Shelf,
        *,
        clock: Clock,
    ) -> None:
        self._reflect = reflect
        self._minds = minds
        self._configs = configs
        self._directives = directives
        self._shelf = shelf
        self._clock = clock

    async def __call__(
        self,
        ref: BankRef,
        question: str,
        options: ReflectOptions | None = None,
        asking: Asking | None = None,
    ) -> Answered:
        """Answer a question from one bank.

        Raises:
            InvalidInput: as `Reflect`.
        """
        options, asking = options or ReflectOptions(), asking or Asking()
        task = self._minds.task(ref, REFLECT)
        found = await self._reflect(ref, question, replace(options, related=task is not None))
        directives = await self._directives.told(ref, asking.tags, every=asking.every_directive)
        if task is None:
            return Answered(found, directives=directives)
        models = await self._models(ref, found.asked, asking)
        shown = within(found.answers, EVIDENCE_TOKENS)
        if not shown and not models:
            return Answered(found, directives=directives)
        done = Answered(
            found, models=models, directives=directives, shown=shown, shown_models=models
        )
        try:
            done = await self._ask(ref, question, options, task, done)
        except (LlmFailed, BudgetSpent, Conflict) as failed:
            log.warning("reflect goes without the model: %s", failed.message)
            done = replace(
                done, models=(), degraded=f"answered without the model: {failed.message}"
            )
        return replace(done, usage=task.usage, calls=tuple(task.times_ms))

    async def _ask(
        self, ref: BankRef, question: str, options: ReflectOptions, task: Task, done: Answered
    ) -> Answered:
        shape = read_schema(options.schema) if options.schema is not None else None
        config = await self._configs.of(ref)
        evidence = [
            *(Evidence(s.content or "", "model", note=s.model.name) for s in done.shown_models),
            *map(evidence_of, done.shown),
        ]
        text = answer_prompt(
            found_question(question, options),
            evidence,
            directives=[d.content for d in done.directives],
            mission=config.reflect_mission,
            disposition={
                "skepticism": config.disposition_skepticism,
                "literalism": config.disposition_literalism,
                "empathy": config.disposition_empathy,
            },
            schema=options.schema,
        )
        rules = RULES + (WITH_OBJECT if shape is not None else "")
        task.scope = "reflect_answer"
        fault = ""
        for _ in range(_TRIES):
            asked = text + (f"\n{fault}" if fault else "")
            schema = AnswerReply.model_json_schema()
            prompt = Prompt(rules, asked, schema, options.max_tokens + 200)
            reply = (await ask_for(task, prompt, AnswerReply, wasted=task.wasted)).value
            wrong = await asyncio.to_thread(
                _wrong, reply, shape, question, evidence, done, options.max_tokens
            )
            if wrong is None:
                return _taken(reply, shape, done)
            task.wasted()
            fault = f"Your last answer was not taken: {wrong}. Say only what the memories say."
        raise LlmFailed(
            f"{task.name} gave no answer that rests on the memories: {wrong}",
            reason="unsound",
            usage=task.usage,
        )

    async def _models(self, ref: BankRef, question: str, asking: Asking) -> tuple[Shown, ...]:
        """Return the mental models that speak of what is asked, the best first."""
        if not asking.models:
            return ()
        tags = set(asking.tags)
        every = [
            m
            for m in await self._shelf.all(ref)
            if m.id not in asking.without and (not tags or not m.tags or tags & set(m.tags))
        ]
        if not every:
            return ()
        words = set(plain_words(question))
        scored = []
        for shown in await self._shelf.shown(ref, every):
            said = set(plain_words(f"{shown.model.name} {shown.content or ''}"))
            if shown.content and len(words & said) >= min(_LEAST_SHARED, len(words)):
                scored.append((-len(words & said), shown.model.id, shown))
        return tuple(shown for *_, shown in sorted(scored, key=lambda s: s[:2])[:_MODELS])


def found_question(question: str, options: ReflectOptions) -> str:
    """Return the question as a model is asked it, after what it is asked about."""
    return f"{options.context}\n{question}" if options.context else question


def _taken(reply: AnswerReply, shape: Shape | None, done: Answered) -> Answered:
    first = len(done.shown_models)
    used = [
        n - 1 - first for n in dict.fromkeys(reply.used) if first < n <= first + len(done.shown)
    ]
    cited = {n - 1 for n in reply.used if 1 <= n <= first}
    structured = reply.object if shape is not None else None
    found = replace(
        done.found,
        text=clean(reply.answer).strip(),
        based_on=tuple(done.shown[n] for n in used),
        structured=structured,
        missing=missing(shape, structured or {}) if shape is not None else (),
    )
    models = tuple(m for n, m in enumerate(done.shown_models) if n in cited)
    return replace(done, found=found, by_model=True, models=models)


def _wrong(
    reply: AnswerReply,
    shape: Shape | None,
    question: str,
    evidence: Sequence[Evidence],
    done: Answered,
    max_tokens: int,
) -> str | None:
    """Return what is wrong with an answer, or None."""
    if not reply.answer.strip():
        return "it is empty"
    if estimate_tokens(reply.answer) > max_tokens:
        return f"it is longer than {max_tokens} tokens"
    said = [
        part
        for each in evidence
        for part in (each.text, each.speaker, each.said, each.happened, each.note)
        if part
    ]
    shown = (*said, question, *(d.content for d in done.directives))
    dates = [date for each in done.shown for date in dates_of(each.unit)]
    spoken = [("the answer", reply.answer)]
    if shape is not None:
        fault = misfit(shape, reply.object)
        if fault is not None:
            return fault
        spoken += [("object", text) for text in _texts(reply.object)]
    for where, text in spoken:
        fault_found = ungrounded(
            text, shown, dates=dates, shared=0, counts_to=len(evidence), free=True
        )
        if fault_found is not None:
            return f"{where} has an {fault_found.value.replace('_', ' ')}"
    return None


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _texts(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner)]
    if value is None or isinstance(value, bool):
        return []
    return [value if isinstance(value, str) else json.dumps(value)]


def dates_of(unit: Unit) -> list[DateSpan]:
    """Return the days of a memory: when it was said, and when it happened."""
    found = [(unit.mentioned_at, unit.mentioned_at + 1)]
    if unit.occurred_start is not None:
        found.append((unit.occurred_start, unit.occurred_end or unit.occurred_start + 1))
    return [DateSpan(a, max(b, a + 1), Precision.DAY, Span(0, 0)) for a, b in found]


def evidence_of(answer: Answer) -> Evidence:
    """Return a memory as a model is shown it."""
    unit = answer.unit
    more = [f.text for f in answer.facts if f.text not in unit.text]
    state = None if answer.truth.holds else "superseded"
    if unit.polarity is Polarity.NEGATED:
        state = "denied" if state is None else f"denied, {state}"
    return Evidence(
        "\n".join([unit.text, *more]),
        "observation" if unit.layer is Layer.OBSERVATION else "memory",
        speaker=unit.speaker,
        said=_day(unit.mentioned_at),
        happened=_day(unit.occurred_start),
        note=unit.note,
        state=state,
    )


def _day(at: int | None) -> str | None:
    return (iso(at) or "")[:10] or None if at is not None else None


def within(answers: Sequence[Answer], tokens: int) -> tuple[Answer, ...]:
    """Return the best answers that fit; one that does not is passed over."""
    kept: list[Answer] = []
    for each in answers:
        size = estimate_tokens(evidence_of(each).text) + 30
        if size <= tokens:
            tokens -= size
            kept.append(each)
    return tuple(kept)
