"""`time_field`, `start_date`, `end_date`: a span of time that a list is narrowed to."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query

from ...keeping.browse import During, UnitTime
from .errors import Fault, Refused
from .moments import read_moment

TimeField = Annotated[
    Literal["created_at", "updated_at", "mentioned_at", "occurred_start", "occurred_end"] | None,
    Query(description="By which time; `created_at` when only dates are given."),
]
StartDate = Annotated[str | None, Query(description="ISO 8601, inclusive.")]
EndDate = Annotated[str | None, Query(description="ISO 8601, exclusive.")]
WINDOW = ("time_field", "start_date", "end_date")
"""Their names."""


def window(
    time_field: str | None,
    start: str | None,
    end: str | None,
    *,
    unnamed: UnitTime = UnitTime.CREATED,
) -> During | None:
    """Read a window; None when there is none. `unnamed` is meant when only dates are given.

    Raises:
        Refused: a date is none, or the window ends before it starts.
    """
    since, until = _moment(start, "start_date"), _moment(end, "end_date")
    if time_field is None and since is None and until is None:
        return None
    if since is not None and until is not None and since > until:
        raise _refused("start_date must not lie after end_date", "start_date")
    return During(UnitTime(time_field or unnamed), since, until)


def _moment(value: str | None, name: str) -> int | None:
    try:
        moment = read_moment(value)
    except ValueError as error:
        raise _refused(f"{name} {error}", name) from None
    return None if moment is None else moment.us


def _refused(why: str, name: str) -> Refused:
    return Refused(422, Fault(why, where="query", path=(name,)))
