"""Parts that a period is cut into: its start, middle and end, its halves and thirds."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Literal

from ...nouns.memory import Precision
from .intervals import Interval, shift

_MIDDLE_DAYS: Final = (10, 21)  # mid-May: from the 10th to the 20th
_EDGE: Final = timedelta(hours=2)  # of a part of a day
_SHORT: Final = timedelta(days=1)


def half(whole: Interval, which: Literal["early", "late"]) -> Interval:
    """Return the first or the second half of an interval: of a month its first 15 days, of a week
    Monday to Wednesday or Thursday to Sunday, of a year six months, of the rest half its length.
    """
    length = whole.end - whole.start
    days = {Precision.MONTH: 15, Precision.WEEK: 3}.get(whole.precision)
    if whole.precision is Precision.YEAR:
        cut = shift(whole.start, 6, "month")
    else:
        whole_days = timedelta(days=days) if days and days < length.days else length / 2
        cut = whole.start + whole_days
    if not whole.start < cut < whole.end:
        return whole
    return replace(whole, end=cut) if which == "early" else replace(whole, start=cut)


def third(whole: Interval, which: Literal["early", "mid", "late"]) -> Interval:
    """Return the first, middle or last third of an interval, cut at months or days."""
    if whole.precision is Precision.MONTH and which == "mid":
        first, last = (whole.start.replace(day=day) for day in _MIDDLE_DAYS)
        return replace(whole, start=first, end=last)
    unit = "month" if whole.precision in {Precision.YEAR, Precision.SEASON} else "day"
    if whole.precision is Precision.DECADE:
        unit = "year"
    count = 0
    while shift(whole.start, count, unit) < whole.end:
        count += 1
    first_cut, second = round(count / 3), round(2 * count / 3)
    cuts = {"early": (0, first_cut), "mid": (first_cut, second), "late": (second, count)}
    low, high = cuts[which]
    if high <= low:
        return whole
    end = shift(whole.start, high, unit)
    return replace(whole, start=shift(whole.start, low, unit), end=min(end, whole.end))


def tip(whole: Interval, which: Literal["early", "late"]) -> Interval:
    """Return what "early" or "late" in an interval covers: a third, of what is shorter a half."""
    if whole.precision in {Precision.MONTH, Precision.WEEK, Precision.DAY}:
        return half(whole, which)
    return third(whole, which)


def edge(whole: Interval, which: Literal["start", "mid", "end"]) -> Interval:
    """Return what "the start of" an interval covers, with the moment that it is as a bound."""
    point = {"start": whole.start, "mid": half(whole, "late").start, "end": whole.end}[which]
    if which == "mid":
        found = third(whole, "mid")
    elif whole.precision is Precision.DAY:
        hours = timedelta(hours=6)
        first, last = min(whole.start + hours, whole.end), max(whole.end - hours, whole.start)
        found = replace(whole, end=first) if which == "start" else replace(whole, start=last)
    else:
        found = tip(whole, "early" if which == "start" else "late")
    return replace(found, nominal=point, edge=which)


def cut_at(whole: Interval, today: datetime, word: str) -> Interval:
    """Return what "earlier" or "later" in a period that holds today means.

    That is its first or its second half, as far as it lies behind or before today.
    """
    if word == "earlier":
        ended = min(half(whole, "early").end, today)
        return replace(whole, end=ended if ended > whole.start else whole.end)
    begun = max(half(whole, "late").start, today)
    return replace(whole, start=begun if begun < whole.end else whole.start)


def edge_of(part: Interval, word: str) -> Interval:
    """Return the first or the last two hours of a part of a day: "early", "late" or neither."""
    if part.end - part.start <= _EDGE or part.end - part.start > _SHORT:
        return part
    if word in {"early", "earlier"}:
        return replace(part, end=part.start + _EDGE)
    return replace(part, start=part.end - _EDGE) if word in {"late", "later"} else part
