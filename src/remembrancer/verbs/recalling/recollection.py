"""What recall takes besides the question, and what it gives back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from ...finding.search import Weights
from ...finding.tagging import TagNode
from ...models.embedder import Floats
from ...nouns.memory import Kind, Unit
from .included import Include, Included
from .proof import ALONE, Proof
from .trace import Trace
from .truth import HOLDS, Truth

_DATE_BYTES = 20  # of a date as a prompt shows it, such as 2024-01-15T10:30:00Z
_TOKEN_BYTES = 4  # see `nouns.text.estimate_tokens`


@dataclass(frozen=True, slots=True)
class Arms:
    """Why an answer was found: each arm's raw value, in the order of `finding.search.Arm`.

    None where the unit is not embedded.
    """

    keyword: float
    window_keyword: float
    cosine: float | None
    window_cosine: float | None
    speaker: float
    role: float
    time: float
    length: float = 0.0
    standing: float = 0.0


class Answer(NamedTuple):
    """One answer: a unit, the facts read from it, its document's name, and its fused score.

    `bank` is its bank's name in a recall over several banks, else None. `proof` tells of the
    memories of its bank that say the same, for which it stands. `truth` tells whether it holds.
    `relevance` is the probability that it bears on the question, None where the embedding model was
    not measured (see `finding.calibration`). `asks`: it only asks, see `recalling.echoes`.
    `before` and `after` are what was said right before and after it, in order, where that was asked
    for.
    """

    unit: Unit
    facts: tuple[Unit, ...]
    document: str | None
    score: float
    arms: Arms
    bank: str | None = None
    proof: Proof = ALONE
    truth: Truth = HOLDS
    relevance: float | None = None
    asks: bool = False
    before: tuple[Unit, ...] = ()
    after: tuple[Unit, ...] = ()


@dataclass(frozen=True, slots=True)
class Timings:
    """Where the time went, in milliseconds."""

    embed_ms: float
    search_ms: float
    rows_ms: float
    total_ms: float


@dataclass(frozen=True, slots=True)
class Recollection:
    """The answers, best first, and what they were cut from."""

    answers: tuple[Answer, ...]
    considered: int  # candidates before the cut
    tokens: int  # estimated tokens of the answers and their neighbours, see `payload_tokens`
    revision: int  # 0 over several banks
    timings: Timings
    degraded: str | None = None  # why an arm was missing, for people
    included: Included | None = None  # when asked for
    trace: Trace | None = None  # when asked for
    known: float | None = None  # the probability that the bank has an answer at all
    embedded: bool = False  # whether meanings were compared, rather than words alone
    cut: int = 0  # candidates left out for their relevance
    asked: int = 0  # candidates left out since they only ask


@dataclass(frozen=True, slots=True)
class MinScores:
    """The lowest scores of an answer, inclusive; None: any.

    `semantic` is compared with the cosine of the text, `keyword` with its BM25, `final` with the
    fused score. A score that is missing (a unit that is not embedded) passes.
    """

    semantic: float | None = None
    keyword: float | None = None
    final: float | None = None


@dataclass(frozen=True, slots=True)
class RecallOptions:
    """What may be asked besides the question. Times in microseconds."""

    limit: int = 20
    max_tokens: int = 4096  # of all answers, see `payload_tokens`
    kinds: Collection[Kind] | None = None
    tags: TagNode | None = None
    now: int | None = None  # when the question is asked; None: the clock's now
    as_of: int | None = None  # what held then, rather than now
    offset_min: int | None = None  # the asker's UTC offset
    since: int | None = None  # prefer what happened or was said from here
    until: int | None = None
    weights: Weights = field(default_factory=Weights)
    vector: Floats | None = None  # use this instead of embedding the question
    least: MinScores | None = None
    min_relevance: float | None = None  # 0: no cut-off; None: the default one, see `cutoff`
    prefer_observations: bool = False  # leave out what an observation among the answers says
    related: bool = False  # consider what the best ones lead to, too; see `verbs.recalling.related`
    include: Include | None = None
    trace: bool = False
    neighbours: int = 0  # units before and after each answer that come along


def payload_tokens(unit: Unit) -> int:
    """Estimate the tokens that a unit takes in a prompt: its text, context, speaker and dates."""
    size = len(unit.text.encode()) + _DATE_BYTES
    if unit.note:
        size += len(unit.note.encode())
    if unit.speaker:
        size += len(unit.speaker.encode())
    if unit.occurred_start is not None:
        size += 2 * _DATE_BYTES
    return -(-size // _TOKEN_BYTES)
