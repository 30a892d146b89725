"""eval: how well a language model reads and answers here, and what that takes.

Each case is a chat with what it states, what it does not, and questions. It is retained in a bank
of its own; then what the rules read, and what the model added, is compared with what it states.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from ..keeping.store import Store
from ..keeping.worker import Worker
from ..nouns.errors import InvalidInput
from ..nouns.memory import BankRef, JobState, Layer, Unit
from .answering import Answering
from .retain import Retain
from .retaining.deepen import READ
from .retaining.grounded import READ_BY
from .retaining.units import Item
from .thinking.minds import Minds
from .thinking.traces import Wanted

MOST_CASES = 10_000


@dataclass(frozen=True, slots=True)
class Case:
    """A chat. Each of `facts` are words that one fact holds; `absent` stand in none.

    `questions` are pairs of a question and words that its answer holds.
    """

    chat: str
    facts: tuple[tuple[str, ...], ...] = ()
    absent: tuple[str, ...] = ()
    questions: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(slots=True)
class Score:
    """What came of the cases."""

    cases: int = 0
    turns: int = 0
    expected: int = 0
    found_by_rules: int = 0
    found_with_model: int = 0
    facts_by_rules: int = 0
    facts_by_model: int = 0
    absent_kept: int = 0  # facts that hold what no fact should
    unread: int = 0  # cases that the model did not read
    questions: int = 0
    right: int = 0
    by_model: int = 0  # answers that the model wrote
    refused: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)


def read_cases(text: str | None = None) -> list[Case]:
    """Read cases, a JSON object a line; those that come with this package by default.

    Raises:
        InvalidInput: a line is none.
    """
    if text is None:
        text = files(__package__).joinpath("evaluating", "cases.jsonl").read_text("utf-8")
    found: list[Case] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            raw: Mapping[str, Any] = json.loads(line)
            found.append(
                Case(
                    str(raw["chat"]),
                    tuple(tuple(map(str, words)) for words in raw.get("facts", ())),
                    tuple(map(str, raw.get("absent", ()))),
                    tuple(
                        (str(q["ask"]), tuple(map(str, q["expect"])))
                        for q in raw.get("questions", ())
                    ),
                )
            )
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(
                f"line {number} is no case ({error!r}): give an object with chat, facts, absent "
                "and questions",
                field="cases",
            ) from None
    if not 1 <= len(found) <= MOST_CASES:
        raise InvalidInput(
            f"there are {len(found)} cases; give 1 to {MOST_CASES}", field="cases", limit=MOST_CASES
        )
    return found


class Evaluate:
    """Tries a model; everything it needs is passed in."""

    def __init__(
        self, store: Store, retain: Retain, thinker: Worker, answering: Answering, minds: Minds
    ) -> None:
        self._store = store
        self._retain = retain
        self._thinker = thinker
        self._answering = answering
        self._minds = minds

    async def __call__(self, cases: Sequence[Case]) -> Score:
        """Try all cases, one after the other, in an empty store."""
        score = Score()
        for number, case in enumerate(cases):
            await self._one(BankRef("default", f"case-{number}"), case, score)
        return score

    async def _one(self, ref: BankRef, case: Case, score: Score) -> None:
        score.cases += 1
        done = await self._retain(ref, [Item(case.chat, document="chat")])
        score.turns += done.sources
        await self._thinker.drain()
        facts = await self._facts(ref)
        model = [f.text for f in facts if f.attributes and READ_BY in f.attributes]
        rules = [f.text for f in facts if not (f.attributes and READ_BY in f.attributes)]
        score.facts_by_rules += len(rules)
        score.facts_by_model += len(model)
        for words in case.facts:
            score.expected += 1
            score.found_by_rules += any(_holds(text, words) for text in rules)
            score.found_with_model += any(_holds(text, words) for text in (*rules, *model))
        score.absent_kept += sum(_holds(text, [w]) for w in case.absent for text in model)
        jobs = await self._store.jobs(ref, kind=READ, limit=100)
        score.unread += any(job.state is not JobState.COMPLETED for job in jobs)
        for job in jobs:
            result = job.result or {}
            score.refused.update(result.get("refused", {}))
        for question, words in case.questions:
            answered = await self._answering(ref, question)
            score.questions += 1
            score.right += _holds(answered.found.text, words)
            score.by_model += answered.by_model
        for record in await self._minds.traces.all(ref, Wanted()):
            names = ("input_tokens", "output_tokens", "cached_tokens", "calls", "failed_calls")
            for name in names:
                score.tokens[name] += record.data[name]
                score.tokens[f"{record.data['operation']}_{name}"] += record.data[name]

    async def _facts(self, ref: BankRef) -> list[Unit]:
        async with self._store.snapshot(ref) as view:
            document = await view.document("chat")
            units = [] if document is None else await view.units_of(document.id)
        return [unit for unit in units if unit.layer is Layer.FACT]


def _holds(text: str, words: Sequence[str]) -> bool:
    low = text.casefold()
    return all(word.casefold() in low for word in words)
