"""What may be asked of prime, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from ...finding.composite import ScoringWeights
from ...nouns.clock import DAY_US
from ...nouns.memory import Curation, Unit
from ..bank_config import Effective
from ..recalling.proof import ALONE, Proof
from ..recalling.truth import HOLDS, Truth

MOST = 200
"""Memories a prime returns at most; more is clamped."""


class Strategy(StrEnum):
    """Why a memory is in the answer."""

    TEMPORAL = "temporal"
    SIMILARITY = "similarity"


class Order(StrEnum):
    """How the answer is sorted."""

    SCORE = "score"  # pinned memories, then by composite score, the newest first among equals
    BLOCKS = "blocks"  # recent ones, oldest first; then similar ones by composite score


class Primed(NamedTuple):
    """One memory of the answer.

    `relevance` is the cosine to the cue, 0 without one and for what is not embedded. `rank` is the
    place in time among the recent ones, 0 the newest, for a temporal memory; None for a similar
    one. A `pinned` memory counts as temporal, and so does a `standing` one: an instruction or
    preference that is there whatever is asked. `proof` tells of the memories that say the same, for
    which it stands. `curation` is what people did to it, `basis` what it was derived from.
    `truth` tells whether it holds at the time primed for; what does not comes last.
    """

    unit: Unit
    score: float
    relevance: float
    strategy: Strategy
    rank: int | None = None
    proof: Proof = ALONE
    pinned: bool = False
    curation: Curation | None = None
    basis: tuple[bytes, ...] = ()
    truth: Truth = HOLDS
    standing: bool = False

    @property
    def lasts(self) -> bool:
        """Whether it stands among the standing instructions: pinned, or standing and holding."""
        return self.pinned or (self.standing and self.truth.holds)


@dataclass(frozen=True, slots=True)
class Context:
    """The answer: memories in the order asked for, and how many each strategy gave.

    `now` is the time that the answer holds for. `facts` are those read from the memories, when they
    were asked for; see `priming_text`. Without `intends` the bank has no intentions, so nothing can
    be due: whoever asks for that, too, is spared the question.
    """

    memories: tuple[Primed, ...]
    temporal_count: int
    similarity_count: int
    embed_ms: float = 0.0
    total_ms: float = 0.0
    degraded: str | None = None
    now: int = 0
    facts: Mapping[bytes, Sequence[Unit]] = field(default_factory=dict)
    intends: bool = True


@dataclass(frozen=True, slots=True)
class PrimeOptions:
    """What may be asked.

    Attributes:
        max_memories: at most; more than `MOST` counts as `MOST`.
        cue: what the conversation is about; None or blank: temporal only.
        weights: of the composite score.
        temporal_ratio: share of recent memories, 0 to 1; it counts only with a cue.
        window_us: how far back is recent. Older ones only fill up.
        order: of the answer.
        max_tokens: estimated tokens of all texts at most, None for no bound. Memories are taken in
            the order of score, pinned ones first; one that does not fit is passed over.
        reinforce: count this as a use of the memories returned.
        now: microseconds; None: the clock's. Ages are counted from it, and what was said later is
            not recent.
        facts: read the facts of the memories as well.
    """

    max_memories: int = 20
    cue: str | None = None
    weights: ScoringWeights = field(default_factory=ScoringWeights)
    temporal_ratio: float = 0.5
    window_us: int = 7 * DAY_US
    reinforce: bool = True
    order: Order = Order.SCORE
    max_tokens: int | None = None
    now: int | None = None
    facts: bool = False


@dataclass(frozen=True, slots=True)
class Chosen:
    """What one snapshot gives: the memories in order, and the facts read from them, if wanted.

    `intends`: whether the bank has intentions.
    """

    memories: list[Primed]
    intends: bool
    facts: Mapping[bytes, Sequence[Unit]] = field(default_factory=dict)


def defaults(
    config: Effective,
    max_memories: int | None = None,
    temporal_ratio: float | None = None,
    window_us: int | None = None,
) -> PrimeOptions:
    """Return options in which the bank's settings stand for what a call leaves open."""
    return PrimeOptions(
        max_memories=config.prime_max_memories if max_memories is None else max_memories,
        temporal_ratio=config.prime_temporal_ratio if temporal_ratio is None else temporal_ratio,
        window_us=int(config.prime_window_days * DAY_US) if window_us is None else window_us,
    )
