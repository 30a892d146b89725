"""Leaves out candidates that hardly bear on the question, and all of them when nothing is known."""

from __future__ import annotations

import numpy as np

from ...finding.calibration import Calibration
from ...finding.search import Candidates
from ...nouns.errors import InvalidInput

FLOOR = 0.0005
"""Relevance below which a candidate is left out by default: on chats it costs no answer."""


def checked(least: float | None) -> float | None:
    """Return a lowest relevance as it is asked for.

    Raises:
        InvalidInput: it is no probability.
    """
    if least is not None and not 0 <= least <= 1:
        raise InvalidInput(
            "min_relevance must be between 0 (no cut-off) and 1", field="min_relevance", limit=1
        )
    return least


def cut_off(
    found: Candidates,
    least: float | None,
    calibration: Calibration | None,
    floor: float = FLOOR,
) -> Candidates:
    """Return the candidates that are relevant enough.

    Args:
        found: candidates of a search; without their relevance all are kept.
        least: lowest relevance; None: those above `floor`, and none at all when it is less likely
            than the calibration's `answers` that any of them answers.
        calibration: what made the relevance.
    """
    if found.relevance is None or found.known is None or calibration is None or least == 0:
        return found
    if least is None and found.known < calibration.answers:
        return found.taken(np.empty(0, dtype=np.int64))
    return found.only(found.relevance >= (floor if least is None else least))


def quotable(known: float | None, calibration: Calibration | None) -> bool:
    """Tell whether what was found is likely enough to answer that it may be put into words."""
    return known is None or calibration is None or known >= calibration.quotes
