"""The prompt that has a language model bring a kept text up to date, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from .answer_prompt import Evidence
from .fencing import DATA_RULE, fenced

MOST_CHANGES = 30
"""Taken of one answer; more are left aside."""

RULES = (
    "You keep a text up to date that answers a standing question. You are shown the text, cut into "
    "numbered <block>s, and memories that are new or have changed since it was written.\n"
    f"{DATA_RULE} <directive> is the one exception: the owner of this memory set it, and it holds "
    "for how you write.\n\n"
    "Change only what the memories change, and leave every other block as it is. Say only what "
    "the memories or the blocks say; name no person, place, number or date that neither names. "
    "Where they differ, the memory said later counts. Write in the language of the text. If "
    "nothing in it has to change, the list is empty.\n"
    'Each change has "op": "replace" (a block, by "text"), "insert_after" (a block; 0: before the '
    'first) or "delete" (a block that the memories show to be wrong); "block": its number; "text": '
    'the new block; "used": the numbers of the memories that it rests on.\n'
    "Answer with one JSON object alone: "
    '{"changes": [{"op": "replace", "block": 1, "text": "", "used": [1]}]}'
)
"""Some 300 tokens."""


class Change(BaseModel):
    """One change, as a model tells it."""

    op: Literal["replace", "insert_after", "delete"]
    block: int
    text: str = ""
    used: list[int] = Field(default_factory=list)


class DeltaReply(BaseModel):
    """What a model answers."""

    changes: list[Change]


def delta_prompt(
    question: str,
    blocks: Sequence[str],
    evidence: Sequence[Evidence],
    *,
    directives: Sequence[str] = (),
) -> str:
    """Return what is asked; blocks and evidence are numbered from 1."""
    parts = [fenced("directive", each) for each in directives]
    parts += [fenced("block", each, {"number": n}) for n, each in enumerate(blocks, 1)]
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
    parts.append(fenced("question", question))
    return "\n".join(parts)
