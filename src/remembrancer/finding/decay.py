"""How the worth of a memory decays when it is not used, as HEBBS counts it.

decay = importance * 2^(-age / half-life) * (1 + log2(1 + min(accesses, cap)) / log2(1 + cap))
"""

from __future__ import annotations

import math

from .composite import REINFORCEMENT_CAP

HALF_LIFE_DAYS = 30.0


def decayed(importance: float, *, age_us: int, access_count: int, half_life_us: float) -> float:
    """Return what a memory is worth now: its importance at first, up to twice that when used.

    Args:
        importance: 0 to 1.
        age_us: microseconds since it was last used or changed; below 0 counts as 0.
        access_count: how often it was used.
        half_life_us: microseconds in which an unused memory loses half its worth.
    """
    used = min(access_count, REINFORCEMENT_CAP)
    factor = 1 + math.log2(1 + used) / math.log2(1 + REINFORCEMENT_CAP)
    return float(importance * 2.0 ** (-max(0, age_us) / half_life_us) * factor)
