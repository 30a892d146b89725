"""What a time or a repeat in words is read into."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from ...nouns.memory import Precision
from ...nouns.recurrence import Recurrence
from ..dates.clock import Clock
from ..dates.intervals import Interval
from ..types import Span


@dataclass(frozen=True, slots=True)
class When:
    """A time to come, or a repeat.

    `at` is the instant in microseconds, of a repeat its first occurrence; both lie after the
    moment of asking. `precision` is what the words say: a day that names no hour stays a day though
    `at` has one. `confident` is false where a day had to be assumed ("in a few days", "this week")
    or where the text says more than was read. `dated` is false of an hour alone.
    """

    at: int
    recurrence: Recurrence | None
    span: Span
    precision: Precision
    confident: bool
    dated: bool = True


@dataclass(frozen=True, slots=True)
class Pattern:
    """What repeats: every `interval` units, on certain days of them."""

    unit: str  # minute, hour, day, week, month, year
    interval: int = 1
    days: tuple[int, ...] = ()  # weekdays, Monday 0
    nth: int | None = None  # which of those weekdays in the month, -1 the last
    month_days: tuple[int, ...] = ()  # -1 the last
    month: int | None = None
    part: str = ""  # of the day


@dataclass(slots=True)
class Pieces:
    """The parts of one expression, as they stand in the text: tokens [first, end)."""

    first: int
    end: int = 0
    pattern: Pattern | None = None
    clocks: list[Clock] = field(default_factory=list)
    part: str = ""
    date: Interval | None = None
    date_tokens: tuple[int, int] = (0, 0)
    exact: datetime | None = None  # an ISO time, aware or local
    instant: int | None = None  # microseconds
    day: datetime | None = None  # a local day that was counted out
    until: Interval | None = None
    starting: Interval | None = None
    lasting: tuple[int, str] | None = None
    count: int | None = None
    before: bool = False  # "before Friday"
    limit: bool = False  # "by six"
    vague: bool = False
    precision: Precision | None = None

    @property
    def timed(self) -> bool:
        """Whether it says a time of the day."""
        return bool(self.clocks or self.part or self.instant or self.exact) or bool(
            self.date and self.date.part
        )

    @property
    def dated(self) -> bool:
        """Whether it says a day, or days."""
        return bool(self.pattern or self.date or self.exact or self.day) or self.instant is not None
