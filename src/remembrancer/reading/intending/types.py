"""An intention as it is found in a text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ...nouns.intention import TriggerType
from ..types import Span
from ..when import When

ACTIVE_FROM = 0.8
"""From this confidence on an intention can be active at once; below it is only proposed."""
UNSURE = 0.75
"""What a time is worth at most that may belong to something else."""


class Manner(StrEnum):
    """How the speaker put it."""

    ASK = "ask"  # "remind me to …"
    ORDER = "order"  # "when the build ends, check the log"
    PROMISE = "promise"  # "I'll remind you …"
    DUTY = "duty"  # "I have to …", "I'll …"
    WISH = "wish"  # "I'd like to …"


@dataclass(frozen=True, slots=True)
class FoundIntention:
    """What is to be done later, and what it waits for.

    Exactly one of `when`, `event` and `cue` is set, by `trigger_type`. `content` stands in the
    text word for word. `event` names what must happen by the content words of its clause, in lower
    case and in their order ("when the deploy finishes" is "deploy finishes", "after the meeting
    with Carl" is "meeting carl"): no articles, pronouns, auxiliaries, prepositions or times. `cue`
    is the topic as written. `span` is the sentence.
    """

    content: str
    trigger_type: TriggerType
    span: Span
    manner: Manner
    confidence: float
    importance: float
    when: When | None = None
    event: str | None = None
    cue: str | None = None
