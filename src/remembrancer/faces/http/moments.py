"""Times on the wire: ISO 8601 in, with the caller's UTC offset kept, and ISO 8601 out."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import Annotated, Any, NamedTuple

from pydantic import PlainValidator, WithJsonSchema

from ...nouns.clock import iso, to_us

_FIRST_YEAR, _LAST_YEAR = 2, 9998  # a zone or a "next year" must not lead out of the calendar


class Moment(NamedTuple):
    """A time in microseconds since 1970, and the UTC offset in minutes that it was given with."""

    us: int
    offset_min: int | None


def read_moment(value: Any) -> Moment | None:
    """Read a time; None for null and the empty text.

    Raises:
        ValueError: it is none.
    """
    if value is None or isinstance(value, Moment):
        return value
    if not isinstance(value, str):
        raise ValueError("must be a time as text, such as 2024-01-15T10:30:00Z")
    text = value.strip()
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            "is not an ISO 8601 time: write it like 2024-01-15T10:30:00Z or "
            "2024-01-15T10:30:00+02:00"
        ) from None
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise ValueError(f"its year must lie between {_FIRST_YEAR} and {_LAST_YEAR}")
    offset = moment.utcoffset()
    return Moment(to_us(moment), None if offset is None else int(offset.total_seconds() // 60))


class Unset(Enum):
    """That nobody knows when something was said."""

    UNSET = "unset"


def read_said(value: Any) -> Moment | None:
    """Read when something was said; the word `unset` is no time, too."""
    said = read_said_or_unset(value)
    return None if isinstance(said, Unset) else said


def read_said_or_unset(value: Any) -> Moment | Unset | None:
    """Read when something was said; None for now."""
    if isinstance(value, Unset):
        return value
    if isinstance(value, str) and value.strip().lower() == Unset.UNSET.value:
        return Unset.UNSET
    return read_moment(value)


_TIME = {"type": "string", "format": "date-time"}
WhenSaid = Annotated[
    Moment | None,
    PlainValidator(read_said),
    WithJsonSchema({"anyOf": [_TIME, {"enum": ["", "unset"]}, {"type": "null"}]}),
]
WhenSaidIfEver = Annotated[
    Moment | Unset | None,
    PlainValidator(read_said_or_unset),
    WithJsonSchema({"anyOf": [_TIME, {"enum": ["", "unset"]}, {"type": "null"}]}),
]
When = Annotated[
    Moment | None,
    PlainValidator(read_moment),
    WithJsonSchema({"anyOf": [_TIME, {"type": "null"}]}),
]


def spell(us: int | None, offset_min: int | None = None) -> str | None:
    """Spell a time; None when there is none, or when it lies outside the calendar."""
    if us is None:
        return None
    try:
        return iso(us, offset_min)
    except OverflowError:
        return None
