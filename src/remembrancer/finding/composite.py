"""The composite score of HEBBS: relevance, recency, importance, reinforcement.

score = w_relevance * relevance + w_recency * recency + w_importance * importance
        + w_reinforcement * reinforcement, each term in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import NamedTuple

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


class Scored(NamedTuple):
    """What the score of one memory depends on; `said_at` in microseconds, `uses` counts accesses.

    Relevance and importance count from 0 to 1 and are cut off outside.
    """

    relevance: float
    said_at: int
    importance: float
    uses: int


def scores(weights: ScoringWeights, now: int, memories: Iterable[Scored]) -> list[float]:
    """Return the composite scores of memories at a time; one from the future counts as new."""
    max_age = weights.max_age_us or MAX_AGE_US
    cap = math.log2(1 + (weights.reinforcement_cap or REINFORCEMENT_CAP))
    w_relevance, w_recency = weights.w_relevance, weights.w_recency
    w_importance, w_reinforcement = weights.w_importance, weights.w_reinforcement
    found = []
    for relevance, said_at, importance, uses in memories:
        age = now - said_at
        found.append(
            w_relevance * (0.0 if relevance < 0 else 1.0 if relevance > 1 else relevance)
            + w_recency * (1.0 if age <= 0 else 1.0 - age / max_age if age < max_age else 0.0)
            + w_importance * (0.0 if importance < 0 else 1.0 if importance > 1 else importance)
            + w_reinforcement * (min(1.0, math.log2(1 + uses) / cap) if uses else 0.0)
        )
    return found


def composite(
    weights: ScoringWeights,
    *,
    relevance: float,
    age_us: int,
    importance: float,
    access_count: int,
) -> float:
    """Return the composite score of one memory; one from the future counts as new."""
    return scores(weights, age_us, [Scored(relevance, 0, importance, access_count)])[0]
