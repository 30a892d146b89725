"""The prompt that has a language model say what several memories come to together."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from .fact_prompt import Passage
from .fencing import DATA_RULE, fenced

RULES = (
    "You are shown memories that are about one thing. Say what they come to together: at most "
    "three observations, each one or two sentences in the language of the memories.\n"
    f"{DATA_RULE}\n\n"
    "An observation rests on at least two memories and says what holds by the latest of them; say "
    "so where something has changed. Use only names, numbers and dates that stand in the "
    "memories. Judge nobody, guess nothing, advise nothing. A denial stays a denial. If the "
    "memories come to nothing together, the list is empty.\n"
    '"based_on" lists the numbers of the memories that an observation rests on.\n'
    "Answer with one JSON object alone: "
    '{"observations": [{"text": "", "based_on": [1, 2]}]}'
)
"""Some 220 tokens."""

MOST = 3


class Observed(BaseModel):
    """An observation as a model tells it."""

    text: str
    based_on: list[int] = Field(default_factory=list)


class ObservedAnswer(BaseModel):
    """What a model answers."""

    observations: list[Observed]


def observation_prompt(memories: Sequence[Passage], mission: str = "") -> str:
    """Return what is asked about some memories, numbered from 1, the oldest first."""
    parts = [fenced("interest", mission)] if mission else []
    for number, each in enumerate(memories, 1):
        labels = {"number": number, "speaker": each.speaker, "said": each.said}
        parts.append(fenced("memory", each.text, labels))
    return "\n".join(parts)
