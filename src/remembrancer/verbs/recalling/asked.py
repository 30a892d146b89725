"""Which time a question asks about, by the dates that it names."""

from __future__ import annotations

from collections.abc import Sequence

from ...reading.types import DateRelation, DateSpan

FIRST_US = -(1 << 62)  # before any time that can be kept
LAST_US = 1 << 62

_OPENING = frozenset({DateRelation.SINCE, DateRelation.AFTER})
_CLOSING = frozenset({DateRelation.UNTIL, DateRelation.BEFORE})


def asked_window(dates: Sequence[DateSpan]) -> tuple[int, int]:
    """Return the half-open interval in microseconds that a question asks about.

    Its first date counts; with "since" it is open to the future, with "before" to the past, and
    "since May and before July" is both.

    Args:
        dates: at least one, in order.
    """
    first, *rest = dates
    since, until = first.window
    if rest and first.relation in _OPENING and rest[0].relation in _CLOSING:
        until = rest[0].window[1]
    elif rest and first.relation in _CLOSING and rest[0].relation in _OPENING:
        since = rest[0].window[0]
    low = FIRST_US if since is None else since
    high = LAST_US if until is None else until
    return (low, high) if low < high else (first.start, first.end)
