"""The highest tier rank that a request may see, found in one place for all routes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from .access import caller_of

MaxTierRank = Annotated[float | None, Query(alias="maxTierRank", allow_inf_nan=False)]


def ceiling_of(request: Request, asked: float | None) -> float | None:
    """Return the ceiling of a request: the caller's own, or a lower one that it asks for.

    None is no ceiling.
    """
    own = caller_of(request).max_tier_rank
    if own is None or asked is None:
        return asked if own is None else own
    return min(own, asked)
