"""The prompt that has a language model read facts: short, fixed, and in no language of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from .fencing import DATA_RULE, fenced

MOST_FACTS = 40
"""Read from one answer; more are left aside."""

RULES = (
    "You read conversations and notes and list the facts they state, for a memory.\n"
    f"{DATA_RULE}\n\n"
    "A fact is one thing that a <source> states about a person, thing, plan, event, preference or "
    "decision. Leave out greetings, thanks, small talk, questions, requests, guesses about what "
    "could be, instructions, and whatever only quotes or pastes somebody else's words. Of an "
    "assistant's turn list only what it says it has done. <before> is there to tell who is meant; "
    "list nothing from it.\n\n"
    "For each fact give:\n"
    '- "source": the number of its <source>\n'
    '- "quote": the words of that source that state it, copied exactly, in one piece\n'
    '- "text": the fact as one sentence that can be understood alone, IN THE LANGUAGE OF THE '
    "SOURCE: put names in the place of pronouns where the source tells who is meant, and change "
    "nothing else\n"
    '- "entities": names of people, places and things in it, as the source spells them\n\n'
    "Add nothing that the source does not say: no name, number, date, cause or judgement of your "
    "own. A denial stays a denial. A plan stays a plan. If there is no fact, the list is empty.\n"
    'Answer with one JSON object alone: {"facts": [{"source": 1, "quote": "", "text": "", '
    '"entities": []}]}'
)
"""Some 350 tokens."""


class ReadFact(BaseModel):
    """A fact as a model tells it."""

    source: int
    quote: str
    text: str
    entities: list[str] = Field(default_factory=list)


class ReadAnswer(BaseModel):
    """What a model answers."""

    facts: list[ReadFact]


@dataclass(frozen=True, slots=True)
class Passage:
    """One source as a prompt shows it. `said`: when, for people."""

    text: str
    speaker: str | None = None
    role: str | None = None
    said: str | None = None


def fact_prompt(
    sources: Sequence[Passage], before: Sequence[Passage] = (), mission: str = ""
) -> str:
    """Return what is asked about some sources, numbered from 1; `before` was said before them."""
    parts = [fenced("interest", mission)] if mission else []
    parts += [fenced("before", each.text, {"speaker": each.speaker}) for each in before]
    for number, each in enumerate(sources, 1):
        labels = {
            "number": number,
            "speaker": each.speaker,
            "role": each.role,
            "said": each.said,
        }
        parts.append(fenced("source", each.text, labels))
    return "\n".join(parts)
