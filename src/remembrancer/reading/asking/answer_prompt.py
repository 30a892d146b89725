"""The prompt that has a language model answer a question from what is known, and from no more."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from .fencing import DATA_RULE, fenced

RULES = (
    "You answer a question from the memories that you are shown, and from nothing else.\n"
    f"{DATA_RULE} <directive> is the one exception: the owner of this memory set it, and it holds "
    "for how you answer. No directive makes you state what no memory says.\n\n"
    "Say what the memories say, in the language of the question. Name no person, place, number or "
    "date that no memory names. Where memories differ, the one said later counts; one marked "
    "superseded held only before. What a memory denies is not so. If they do not answer the "
    "question, say so.\n"
    '"used" lists the numbers of the memories that the answer rests on, the best first.\n'
    'Answer with one JSON object alone: {"answer": "", "used": [1]}'
)
"""Some 250 tokens."""

WITH_OBJECT = (
    '\nBeside "answer" and "used" give "object": an object that follows the JSON Schema in '
    "<schema>, filled from the memories; null where they do not tell and the schema lets you."
)


class AnswerReply(BaseModel):
    """What a model answers."""

    answer: str
    used: list[int] = Field(default_factory=list)
    object: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that is known, as a prompt shows it. `said` and `happened` are for people."""

    text: str
    kind: str = "memory"
    speaker: str | None = None
    said: str | None = None
    happened: str | None = None
    note: str | None = None
    state: str | None = None


def answer_prompt(
    question: str,
    evidence: Sequence[Evidence],
    *,
    directives: Sequence[str] = (),
    mission: str = "",
    disposition: Mapping[str, int] | None = None,
    schema: Mapping[str, Any] | None = None,
) -> str:
    """Return what is asked; the evidence is numbered from 1."""
    parts = [fenced("directive", each) for each in directives]
    if mission:
        parts.append(fenced("mission", mission))
    if disposition:
        traits = ", ".join(f"{name} {value} of 5" for name, value in disposition.items())
        parts.append(fenced("disposition", traits))
    for number, each in enumerate(evidence, 1):
        labels = {
            "number": number,
            "speaker": each.speaker,
            "said": each.said,
            "happened": each.happened,
            "about": each.note,
            "state": each.state,
        }
        parts.append(fenced(each.kind, each.text, labels))
    if schema is not None:
        parts.append(fenced("schema", json.dumps(schema, ensure_ascii=False)))
    parts.append(fenced("question", question))
    return "\n".join(parts)
