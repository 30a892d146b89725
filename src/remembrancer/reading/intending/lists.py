"""Reads several times that are told in a row: "on Monday and Friday at 7"."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Final

from ...nouns.clock import to_us
from ...nouns.memory import Precision
from ..dates.words import MONTHS
from ..recurrence.zones import local_of, zone_of
from ..types import Span
from ..when import When
from .line import Line

_JOINT: Final = re.compile(r"\s*(?:,\s*and\b|,|\band\b|&)\s*")
_FINE: Final = frozenset({Precision.HOUR, Precision.MINUTE, Precision.SECOND})
_DAY_ALONE: Final = re.compile(r"(?:on )?(?:the )?(\d{1,2})(?:st|nd|rd|th)?", re.IGNORECASE)
_WITH_MONTH: Final = re.compile(
    r"(?:on )?(?:the )?\d{1,2}(?:st|nd|rd|th)? (?:of )?([a-z]{3,9}\b(?:,? \d{4}\b)?)",
    re.IGNORECASE,
)
_MONTH_FIRST: Final = re.compile(
    r"(?:on )?([a-z]{3,9})\.? (?:the )?\d{1,2}(?:st|nd|rd|th)?$", re.IGNORECASE
)
_CLOCK: Final = re.compile(r"\bat\b|\d ?(?:am|pm|:)|\bnoon\b|\bmidnight\b")
_MOST: Final = 7  # times of one ask


@dataclass(frozen=True, slots=True)
class Listed:
    """Times in a row, in the order of the text; not `sure` where one of them may be read wrong."""

    whens: tuple[When, ...]
    end: int
    sure: bool = True


def read_listed(line: Line, at: int) -> Listed | None:
    """Return the times that begin at a place: one alone, or several joined by "and"."""
    row, last_joint = _row(line, at)
    if not row:
        return None
    if len(row) == 1:
        return Listed((row[0],), row[0].span.end)
    end = row[-1].span.end
    whole = line.read(line.text[row[0].span.start : end])
    if whole is not None and whole.confident:
        return Listed((replace(whole, span=Span(row[0].span.start, end)),), end)
    joined = "and" in last_joint or "&" in last_joint
    told = None if joined else _told_twice(line, row)
    if told is not None:
        return Listed((told,), end)
    settled = [_settled(line, row, place) for place in range(len(row))]
    whens = {w.at: w for w in (when or row[n] for n, when in enumerate(settled))}
    sure = joined and None not in settled and len(whens) == len(row)
    return Listed(tuple(whens.values()), end, sure and not _rule_then_once(row))


def _rule_then_once(row: list[When]) -> bool:
    """Whether a repeat may go on in what reads as once: "every Monday at 9 and Friday at 10"."""
    rules = [when.recurrence is not None for when in row]
    return any(first and not second for first, second in pairwise(rules))


def _row(line: Line, at: int) -> tuple[list[When], str]:
    """Return the times that stand in a row from a place on, and what joins the last two."""
    row: list[When] = []
    joint = ""
    when = line.when_at(at)
    while when is not None and not line.names_a_thing(when) and len(row) < _MOST:
        row.append(when)
        match = _JOINT.match(line.low, when.span.end)
        if match is None:
            break
        when = line.when_at(match.end())
        joint = match.group() if when is not None else joint
    return row, joint


def _told_twice(line: Line, row: list[When]) -> When | None:
    """Return what "tomorrow, Thursday, at 9" means: one day by two names."""
    if len(row) != 2 or any(when.recurrence is not None for when in row):
        return None
    first, second = row
    zone = zone_of(line.zone)
    same = local_of(first.at, zone).date() == local_of(second.at, zone).date()
    one = same and first.dated and second.dated
    one = one and first.precision is Precision.DAY and second.precision in _FINE
    return replace(second, span=Span(first.span.start, second.span.end)) if one else None


def _settled(line: Line, row: list[When], place: int) -> When | None:
    """Give one of several times the month, the day or the hour that is said of them together."""
    when = row[place]
    after = row[place + 1 :]
    if not when.dated and when.recurrence is None:
        return on_day_before(line, row[:place], when)
    words = _with_month(line, when, row[:place], after)
    hour = next((other for other in after if other.precision in _FINE), None)
    if hour is None and place and _CLOCK.search(_words(line, row[place - 1])):
        hour = row[place - 1]  # "at 7 on Monday and Tuesday"
    if when.precision is Precision.DAY and hour is not None and hour.dated:
        clock = f"{local_of(hour.at, zone_of(line.zone)):%H:%M}"
        shared = line.read(f"{words} at {clock}")
        return replace(shared, span=when.span, precision=hour.precision) if shared else None
    if words == _as_written(line, when):
        return when if when.confident else None
    again = line.read(words)
    return replace(again, span=when.span) if again else None


def _words(line: Line, when: When) -> str:
    return line.low[when.span.start : when.span.end]


def _as_written(line: Line, when: When) -> str:
    """Return the words of a time with their capitals: "may" in lower case may be a verb."""
    return line.text[when.span.start : when.span.end]


def _with_month(line: Line, when: When, before: list[When], after: list[When]) -> str:
    """Return the words of a day with its month: "the 20th and 27th of May", "May 20 and 27"."""
    words = _as_written(line, when)
    alone = _DAY_ALONE.fullmatch(words)
    if alone is None:
        return words
    named = [_WITH_MONTH.match(_as_written(line, other)) for other in after]
    named += [_MONTH_FIRST.match(_as_written(line, other)) for other in before]
    months = (m.group(1) for m in named if m and m.group(1).split()[0].lower() in MONTHS)
    month = next(months, None)
    if month:
        return f"{alone.group(1)} {month}"
    return f"the {words}" if words[:1].isdigit() else words


def on_day_before(line: Line, before: list[When], when: When) -> When | None:
    """Put an hour alone on the day before it: "tomorrow at 9 and at 17:30"."""
    if when.dated or not any(other.dated for other in before):
        return when
    day = before[-1]
    if day.recurrence is not None:
        return None
    zone = zone_of(line.zone)
    on, hour = local_of(day.at, zone), local_of(when.at, zone)
    at = to_us(datetime.combine(on.date(), hour.time()).replace(tzinfo=zone))
    return replace(when, at=at, dated=True) if at > day.at else None
