"""The composite score of HEBBS: relevance, recency, importance, reinforcement.

score = w_relevance * relevance + w_recency * recency + w_importance * importance
        + w_reinforcement * reinforcement, each term in [0, 1].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from ..nouns.clock import DAY_US
from ..nouns.errors import InvalidInput

MAX_AGE_US = 30 * DAY_US  # recency falls linearly to 0 over this
REINFORCEMENT_CAP = 100  # accesses at which reinforcement reaches 1


@dataclass(frozen=True, slots=True)
class ScoringWeights:
    """Weights of the four terms; 0 for `max_age_us` or `reinforcement_cap` means the default."""

    w_relevance: float = 0.5
    w_recency: float = 0.2
    w_importance: float = 0.2
    w_reinforcement: float = 0.1
    max_age_us: int = 0
    reinforcement_cap: int = 0

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if not math.isfinite(value) or value < 0:
                raise InvalidInput(
                    f"scoring_weights.{f.name} must be a finite number of at least 0",
                    field=f"scoring_weights.{f.name}",
                    limit=0,
                )


def composite(
    weights: ScoringWeights,
    *,
    relevance: float,
    age_us: int,
    importance: float,
    access_count: int,
) -> float:
    """Return the composite score; a memory from the future counts as new."""
    max_age = weights.max_age_us or MAX_AGE_US
    cap = weights.reinforcement_cap or REINFORCEMENT_CAP
    recency = 1.0 if age_us <= 0 else max(0.0, 1.0 - age_us / max_age)
    reinforcement = min(1.0, math.log2(1 + access_count) / math.log2(1 + cap))
    return (
        weights.w_relevance * min(1.0, max(0.0, relevance))
        + weights.w_recency * recency
        + weights.w_importance * min(1.0, max(0.0, importance))
        + weights.w_reinforcement * reinforcement
    )
