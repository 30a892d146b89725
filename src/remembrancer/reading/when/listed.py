"""Days of one month in a row: "20 and 27 May", "May 3, 10 and 17"."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from ..dates import words as w
from ..dates.context import Context
from ..dates.intervals import Interval, day_at
from ..dates.months import is_counted, ordinal
from .days import safe_date
from .types import Pieces

_JOINTS: Final = frozenset({",", "and", "&"})
_LEADS: Final = frozenset({"on", "the"})
_ENDS: Final = w.AFTER_DAY | frozenset(".!?;)") | _JOINTS | {"please", "remind", "that", "every"}
_MOST: Final = 12  # days in a row

# A day of the month: where it begins with what leads to it, where its number stands, and its end.
_Day = tuple[int, int, int]


def days_before_month(c: Context, i: int) -> list[Pieces]:
    """Read the days before the last one of "20 and 27 May", which is read as any other date."""
    if c.word(i - 1) in {"between", "from"} or (c.word(i) not in _LEADS and not c.digits(i)):
        return []
    numbers = _numbers(c, i)
    if len(numbers) < 2 or len(numbers) > _MOST:
        return []
    last = safe_date(c, numbers[-1][1], "")
    if last is None or not last[0].is_day or last[1] <= numbers[-1][2]:
        return []  # no month follows
    month = next((n for n in range(numbers[-1][2], last[1]) if c.word(n) in w.MONTHS), None)
    if month is None or month > numbers[-1][2] + 1:
        return []
    return _placed(c, numbers[:-1], last[0], (numbers[-1][1], last[1]))


def days_after(c: Context, before: Pieces) -> list[Pieces]:
    """Read the days after the first one of "May 20 and 27", "the 20th and 27th"."""
    low, high = before.date_tokens
    if before.date is None or not before.date.is_day or before.timed or before.pattern:
        return []
    first = ordinal(c, high - 1) or ordinal(c, high - 2)
    if before.end != high or first is None or first[1] != high:
        return []
    month = any(c.word(n) in w.MONTHS for n in range(low, high - 1))
    if before.date.start.day != first[0] or not (month or (first[2] and c.word(low - 1) == "the")):
        return []
    begin = _after_joint(c, high)
    numbers = _numbers(c, begin) if begin > high else []
    while numbers and not _ends(c, numbers[-1], bare=month):
        numbers.pop()
    if len(numbers) > _MOST or (numbers and _number(c, numbers[0]) <= first[0]):
        return []
    return _placed(c, numbers, before.date, (low, high) if month else None)


def _numbers(c: Context, i: int) -> list[_Day]:
    """Return the days of the month that stand in a row, rising, each with a joint before it."""
    found: list[_Day] = []
    k = i
    while True:
        at = k
        while c.word(at) in _LEADS and at < k + 2:
            at += 1
        spelled = ordinal(c, at) if c.digits(at) else None
        if spelled is None or c.digits(at) > 2 or is_counted(c, spelled[1], plurals=False):
            break
        found.append((k, at, spelled[1]))
        after = _after_joint(c, spelled[1])
        if after == spelled[1]:
            break
        k = after
    rising = all(_number(c, a) < _number(c, b) for a, b in pairwise(found))
    return found if rising else []


def _number(c: Context, day: _Day) -> int:
    return c.number(day[1], 2) or 0


def _after_joint(c: Context, k: int) -> int:
    while c.word(k) in _JOINTS:
        k += 1
    return k


def _ends(c: Context, day: _Day, *, bare: bool) -> bool:
    """Whether a number counts nothing, as in "May 20 and 27 guests"; `bare`: it may be no 27th."""
    return c.word(day[2]) in _ENDS and (bare or day[2] > day[1] + 1)


def _placed(
    c: Context, numbers: list[_Day], like: Interval, tokens: tuple[int, int] | None
) -> list[Pieces]:
    """Return days of the same month; `tokens` are those that name it."""
    found: list[Pieces] = []
    for first, at, after in numbers:
        try:
            day = like.start.date().replace(day=_number(c, (first, at, after)))
        except ValueError:
            return []
        found.append(Pieces(first, after, date=day_at(day), date_tokens=tokens or (at, after)))
    return found
