"""What a group of memories comes to: a model's words where they hold, else the group's own."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ...models.llm.structured import ask_for
from ...models.llm.types import LlmFailed, Prompt
from ...nouns.clock import iso
from ...nouns.memory import Unit
from ...reading.asking.fact_prompt import Passage
from ...reading.asking.grounding import ungrounded
from ...reading.asking.observation_prompt import MOST, RULES, ObservedAnswer, observation_prompt
from ...reading.plain_words import plain_words
from ..thinking.minds import Task
from .grouping import Group, Standing, title

_PROMPT_CHARS = 400  # of each memory
_LEAST_BASIS = 2
_SAME = 0.85  # share of words from which two observations of one group are one
_ANSWER_TOKENS = 1_000

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Said:
    """One observation to be kept: text, and the indexes of the members it rests on."""

    text: str
    basis: tuple[int, ...]
    by: str


@dataclass(slots=True)
class Tally:
    """What a consolidation did."""

    created: int = 0
    updated: int = 0
    retired: int = 0
    unchanged: int = 0
    failed: int = 0
    refused: Counter[str] = field(default_factory=Counter)


async def said_of(
    task: Task | None, group: Group, mission: str, tally: Tally
) -> tuple[list[Said], bool]:
    """Return what a group comes to, and whether that need not be asked again.

    Args:
        task: asks the model; None: there is none.
        group: of memories.
        mission: what the bank's owner is interested in.
        tally: counts what failed and what was refused.
    """
    every = tuple(range(len(group.members)))
    plain = [Said(title(group), every, "")]
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
    kept: list[Said] = []
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
            _merge(kept, Said(text, basis, task.name))
    return kept, True


def best(said: Said, olds: Sequence[Standing]) -> Standing | None:
    """Return the older observation that says most nearly the same."""
    if not olds:
        return None
    words = set(plain_words(said.text))
    return max(olds, key=lambda s: (_alike(words, set(plain_words(s.unit.text))), s.unit.id))


def _merge(kept: list[Said], new: Said) -> None:
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
