"""Half-open intervals of local wall time and the calendar arithmetic on them."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Literal

from ...nouns.clock import to_us
from ...nouns.memory import Precision
from ..types import DateRelation

Bias = Literal["past", "future"]

_FIXED = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "fortnight": timedelta(weeks=2),
    "weekend": timedelta(weeks=1),
}
_MONTHS = {"month": 1, "quarter": 3, "season": 3, "year": 12, "decade": 120, "century": 1200}
CLOCK_UNITS = frozenset({"second", "minute", "hour"})
_PRECISION = {
    "fortnight": Precision.WEEK,
    "weekend": Precision.WEEK,
    "quarter": Precision.SEASON,
    "century": Precision.DECADE,
}
# What a vague count ("a few days") is known to: one step coarser than its unit.
_VAGUE = {
    "day": Precision.WEEK,
    "week": Precision.MONTH,
    "fortnight": Precision.MONTH,
    "weekend": Precision.MONTH,
    "month": Precision.SEASON,
    "quarter": Precision.YEAR,
    "year": Precision.DECADE,
}


@dataclass(frozen=True, slots=True)
class Interval:
    """A half-open interval; naive times are wall time in the reference's zone.

    `part` names the part of the day when there is one, so that "tonight at 7" can mean 19:00.
    `edge` tells that the start, the middle or the end of something longer was named. `relation`,
    `last` and `nominal` are those of `DateSpan`.
    """

    start: datetime
    end: datetime
    precision: Precision
    part: str = ""
    relation: DateRelation = DateRelation.WITHIN
    last: datetime | None = None
    nominal: datetime | None = None
    edge: Literal["", "start", "mid", "end"] = ""

    @property
    def is_day(self) -> bool:
        """Whether it is one day, or part of one, that a clock time can still be added to."""
        return (self.precision is Precision.DAY and not self.edge) or bool(self.part)


# A date and the token after it.
Found = tuple[Interval, int]


def midnight(day: date) -> datetime:
    """Return the first moment of a day, naive."""
    return datetime(day.year, day.month, day.day)


def precision_of(unit: str) -> Precision:
    """Return the precision that a unit of time stands for."""
    return _PRECISION.get(unit) or Precision(unit)


def vague_precision(unit: str) -> Precision:
    """Return the precision of an inexact count of a unit."""
    return _VAGUE.get(unit) or precision_of(unit)


def shift(moment: datetime, count: int, unit: str) -> datetime:
    """Move a moment by `count` units; a month's end is kept inside its month.

    Raises:
        OverflowError, ValueError: the result lies outside the years 1 to 9999.
    """
    if unit in _FIXED:
        return moment + count * _FIXED[unit]
    months = moment.year * 12 + moment.month - 1 + count * _MONTHS[unit]
    year, month = months // 12, months % 12 + 1
    if not 1 <= year <= 9999:
        raise OverflowError("outside the calendar")
    return moment.replace(year=year, month=month, day=min(moment.day, monthrange(year, month)[1]))


def floor(moment: datetime, unit: str) -> datetime:
    """Return the start of the unit of the calendar that holds `moment` (weeks start on Monday)."""
    if unit in CLOCK_UNITS:
        return moment
    start = midnight(moment.date())
    if unit in {"week", "fortnight"}:
        return start - timedelta(days=start.weekday())
    if unit == "weekend":
        return start + timedelta(days=5 - start.weekday())
    if unit == "month":
        return start.replace(day=1)
    if unit in {"quarter", "season"}:
        # Seasons begin in December, March, June, September; quarters a month later.
        back = start.month % 3 if unit == "season" else (start.month - 1) % 3
        return shift(start.replace(day=1), -back, "month")
    if unit in {"year", "decade", "century"}:
        size = {"year": 1, "decade": 10, "century": 100}[unit]
        return datetime(max(start.year - start.year % size, 1), 1, 1)
    return start


def unit_at(moment: datetime, unit: str) -> Interval:
    """Return the unit of the calendar that holds `moment`; a clock unit starts at it exactly."""
    start = floor(moment, unit)
    if unit == "weekend":
        return Interval(start, start + timedelta(days=2), Precision.WEEK)
    size = "week" if unit == "fortnight" else unit
    return Interval(start, shift(start, 1, size), precision_of(unit))


def day_at(day: date) -> Interval:
    """Return one day."""
    return unit_at(midnight(day), "day")


def month_at(year: int, month: int) -> Interval:
    """Return one month."""
    return unit_at(datetime(year, month, 1), "month")


def year_at(year: int) -> Interval:
    """Return one year."""
    return unit_at(datetime(year, 1, 1), "year")


def season_at(year: int, first_month: int) -> Interval:
    """Return the season that begins in `first_month` of `year`."""
    return unit_at(datetime(year, first_month, 1), "season")


def join(first: Interval, last: Interval) -> Interval | None:
    """Return the interval from the start of one to the end of another, None when it is empty."""
    if (first.start.tzinfo is None) != (last.end.tzinfo is None) or first.start >= last.end:
        return None
    order = list(Precision)
    start = first.nominal if first.edge and first.nominal else first.start
    nominal = last.nominal if last.edge in {"start", "mid"} else None
    if start >= last.end:
        return None
    return Interval(
        start,
        last.end,
        max(first.precision, last.precision, key=order.index),
        last.part,
        last=None if last.edge == "end" else nominal or last.start,
    )


def choose(options: Iterable[Interval], now: datetime, bias: Bias | None) -> Interval | None:
    """Return the option that `bias` asks for: the last begun, the first not over, or the nearest.

    Ties go to the past.
    """
    listed = list(options)
    if bias == "past":
        past = [o for o in listed if o.start <= now]
        return max(past, key=lambda o: o.start, default=None)
    if bias == "future":
        return min((o for o in listed if o.end > now), key=lambda o: o.start, default=None)

    def distance(option: Interval) -> tuple[timedelta, datetime]:
        gap = max(option.start - now, now - option.end, timedelta(0))
        return gap, option.start

    return min(listed, key=distance, default=None)


def to_moment(moment: datetime | None, zone: tzinfo) -> int | None:
    """Return a moment in UTC microseconds; a naive one is wall time in `zone`."""
    if moment is None:
        return None
    return to_us(moment if moment.tzinfo else moment.replace(tzinfo=zone))


def to_bounds(interval: Interval, zone: tzinfo) -> tuple[int, int] | None:
    """Return an interval in UTC microseconds, or None where no such time exists.

    A wall time that a clock change skips is read with the offset before the change, one that
    comes twice is the first (PEP 495, fold 0). Intervals shorter than a day keep their length.
    """
    start, end = interval.start, interval.end
    if start.tzinfo is None:
        first = to_us(start.replace(tzinfo=zone))
        if end - start < timedelta(days=1):
            last = first + (end - start) // timedelta(microseconds=1)
        else:
            last = to_us(end.replace(tzinfo=zone))
    else:
        first, last = to_us(start), to_us(end)
    return (first, last) if first < last else None


def exact_shift(reference: datetime, count: int, unit: str) -> Interval:
    """Return a clock unit `count` units from an aware reference, in elapsed (not wall) time."""
    start = reference.astimezone(UTC) + count * _FIXED[unit]
    return Interval(start, start + _FIXED[unit], precision_of(unit))
