"""A date from one to another: "from 4 August to 9 August", "Monday to Friday", "now until 5 pm"."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from ...nouns.memory import Precision
from . import words as w
from .clock import TO
from .context import Context, ReadDate
from .counts import at_distances, quantities
from .intervals import Found, Interval, day_at, join, midnight, shift
from .moving import MOVES

QUALIFIERS: Final = w.LAST | w.NEXT | w.THIS
CLOCK: Final = frozenset({Precision.SECOND, Precision.MINUTE, Precision.HOUR})
_OPENERS: Final = frozenset({"from", "between"})
_DASHES: Final = frozenset({"-", "–", "—", "through", "thru"})
_JOINERS: Final = (("up", "to"), ("up", "until"), ("and", "until"), ("and", "till"), ("on", "to"))
_MOVED_REACH: Final = 6  # tokens
MONTHS_A_YEAR: Final = 12
_YEAR_DIGITS: Final = 4
_WEEK: Final = timedelta(days=7)


def _opener(c: Context, i: int) -> str:
    """Return "from" or "between" where it opens a range at token `i`: "between the years ..."."""
    k = i - 1
    while c.word(k) in {"the", "year", "years"} and k > i - 3:
        k -= 1
    return c.word(k) if c.word(k) in _OPENERS else ""


def _joined(c: Context, i: int, j: int) -> int | None:
    """Return where the end of a range that begins at tokens `i` to `j` may stand, None if none."""
    if (c.word(j), c.word(j + 1)) in _JOINERS:
        return j + 2
    if c.word(j) in TO or (c.word(j) == "and" and _opener(c, i) == "between"):
        return j + 1
    return None


def to_clock(c: Context, i: int, first: Interval, j: int, read: ReadDate) -> Found:
    """Add the end of a range between two times: "from 3 pm today to 5 pm tomorrow".

    `read` reads a time with or without its day.
    """
    timed = first.precision in CLOCK and not first.part and first.start.tzinfo is None
    k = _joined(c, i, j)
    if not timed or k is None:
        return first, j
    second = read(c, k)
    if second is None or second[0].precision not in CLOCK or second[0].start.tzinfo is not None:
        return first, j
    dated = any(c.word(t) in w.DAY_WORDS or c.digits(t) > 2 for t in range(j + 1, second[1]))
    dated = dated or any(c.word(t) in w.WEEKDAYS for t in range(j + 1, second[1]))
    stamped = c.digits(i) == _YEAR_DIGITS and j > i + 1
    opened = bool(_opener(c, i)) or c.word(j) in _DASHES or dated or stamped
    last = second[0]
    if not dated:
        day = midnight(first.start.date()) - midnight(last.start.date())
        last = replace(last, start=last.start + day, end=last.end + day)
        if last.start <= first.start and last.start.hour < 12:
            half_day = timedelta(hours=12)
            last = replace(last, start=last.start + half_day, end=last.end + half_day)
    if not opened or last.start <= first.start:
        return first, j
    return replace(first, end=last.start, last=last.start), second[1]


def from_now(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "now until 5 pm", "between now and Friday": from today, or from now to a time.

    `read` reads a date or a time.
    """
    joined = c.word(i + 1) in TO or (c.word(i + 1) == "and" and c.word(i - 1) == "between")
    if c.word(i) != "now" or not joined:
        return None
    k = i + 3 if c.word(i + 2) == "the" else i + 2
    second = read(c, k) or _later(c, k)
    if second is None:
        return None
    last, end = second
    timed = last.precision in CLOCK
    start = c.reference if last.start.tzinfo else c.now
    if not timed:
        start = midnight(c.now.date())
    bound = last.nominal if last.edge and last.nominal else last.start
    if bound <= start and timed and not last.start.tzinfo:
        late = bound + timedelta(hours=12)
        bound = late if late > start else bound + timedelta(days=1)
    if bound <= start and c.word(end - 1) in w.WEEKDAYS:
        bound += _WEEK
    if bound <= start:
        return None
    whole = not timed and not last.edge
    stop = bound + (last.end - last.start) if whole else bound
    return Interval(start, stop, last.precision, last=bound), end


def _later(c: Context, k: int) -> Found | None:
    """Read "3 minutes later" behind "from now until"."""
    counted = quantities(c, k)
    if counted is None or c.word(counted[1]) != "later":
        return None
    return at_distances(c, counted[0], 1), counted[1] + 1


def ranged(c: Context, i: int, first: Interval, j: int, read: ReadDate) -> Found:
    """Add the end of a range: "4 August to 9 August", "January 12 - 22/1", "Monday to Friday"."""
    opened = bool(_opener(c, i)) or c.word(i - 3) in _OPENERS
    k = _joined(c, i, j)
    if k is None and c.word(j) == "/" and c.digits(i) == c.digits(j + 1) == _YEAR_DIGITS:
        k = j + 1
    if k is None or first.start.tzinfo is not None:
        return first, j
    years = any(c.digits(t) == 4 for t in range(i, j))
    clear = opened or years or c.digits(i) > 0 or c.word(j) in _DASHES or c.word(j) == "/"
    clear = clear or c.word(i) in w.MONTHS or c.word(i) in {"q", "h"} or k > j + 1
    if not clear and (c.before(i) == "on" or _moved(c, i)):
        return first, j  # "moved it on Monday to Friday"
    k = k + 1 if c.word(k) == "the" else k
    k = k + 1 if c.word(k) == "year" and c.digits(k + 1) == _YEAR_DIGITS else k
    order = c.day_first
    if c.word(i + 1) in {"/", "-"} and (c.number(i, 2) or 0) > MONTHS_A_YEAR:
        c.day_first = True  # the second date is written as the first: "24/12/2024 to 2/1/2025"
    second = _now(c, k) or read(c, k)
    c.day_first = order
    if second is None or second[0].start.tzinfo is not None:
        return first, j
    last, end = second
    if c.word(k) in _NOWS:
        if first.start >= last.start:
            return first, j
        return replace(join(first, last) or first, end=last.start, last=None), end
    if not clear and not (_days(c, i, j) and (last.precision is Precision.DAY or last.part)):
        return first, j
    first, last = _fitted(c, (i, j), first, (k, end), last)
    both = join(first, last)
    return (both, end) if both else (first, j)


def _moved(c: Context, i: int) -> bool:
    """Whether a verb of moving stands shortly before token `i`."""
    near = range(max(i - _MOVED_REACH, 0), i)
    return any(c.word(t).startswith(MOVES) for t in near)


def _days(c: Context, i: int, j: int) -> bool:
    """Whether tokens `i` to `j` name a day by a weekday or from today."""
    return any(c.word(t) in w.WEEKDAYS or c.word(t) in w.DAY_WORDS for t in range(i, j))


def _fitted(
    c: Context, told: tuple[int, int], first: Interval, until: tuple[int, int], last: Interval
) -> tuple[Interval, Interval]:
    """Set what one end of a range leaves open by the other end."""
    (i, j), (k, end) = told, until
    dated = any(c.digits(t) == 4 for t in range(k, end))
    fixed = any(c.digits(t) == 4 or c.word(t) in QUALIFIERS for t in range(i, j))
    bare_last = end == k + 1 and c.word(k) in w.WEEKDAYS
    if bare_last:
        return first, _following(first, last)
    if j == i + 1 and c.word(i) in w.WEEKDAYS and c.word(k) in w.WEEKDAYS:
        back = (last.start.weekday() - first.start.weekday()) % 7 or 7
        return day_at((last.start - timedelta(days=back)).date()), last
    if dated and not fixed and _placed(c, i, j):
        gap = last.start.year - first.start.year
        moved = _years(first, gap)
        first = _years(first, gap - 1) if moved.start > last.start else moved
    elif not dated and _year_told(c, i, j) and not _told(c, k, end):
        same = _years(last, first.start.year - last.start.year)
        last = _years(same, 1) if same.start < first.start else same
    elif last.end <= first.start:
        week = c.word(k) in w.WEEKDAYS or c.word(k - 1) in w.WEEKDAYS
        if week:
            last = replace(last, start=last.start + _WEEK, end=last.end + _WEEK)
        elif not dated:
            same = _years(last, first.start.year - last.start.year)
            last = _years(same, 1) if same.end <= first.start else same
    if not dated and not fixed and _bare(c, i, j) and _bare(c, k, end):
        first, last = _holding(c, first, last)
    return first, last


def _year_told(c: Context, i: int, j: int) -> bool:
    """Whether tokens `i` to `j` name a year and more: "June 3, 2024"."""
    return j > i + 1 and any(c.digits(t) == _YEAR_DIGITS for t in range(i, j))


def _told(c: Context, k: int, end: int) -> bool:
    """Whether tokens `k` to `end` name a day or month that has its year from now."""
    named = any(c.word(t) in w.MONTHS or c.word(t) == "/" for t in range(k, end))
    return not named or any(c.word(t) in QUALIFIERS for t in range(k, end))


def _placed(c: Context, i: int, j: int) -> bool:
    """Whether tokens `i` to `j` name a place in a year: a month, a day, a quarter."""
    named = (c.word(t) in w.MONTHS or c.word(t) in w.ORDINALS or c.digits(t) for t in range(i, j))
    return any(named)


def _following(first: Interval, last: Interval) -> Interval:
    """Return the first weekday like `last` after `first`."""
    days = (last.start.weekday() - first.start.weekday()) % 7 or 7
    return day_at((first.start + timedelta(days=days)).date())


def _bare(c: Context, i: int, j: int) -> bool:
    """Whether tokens `i` to `j` are a month by its name alone."""
    return c.word(i) in w.MONTHS and all(c.word(t) == "." for t in range(i + 1, j))


def _holding(c: Context, first: Interval, last: Interval) -> tuple[Interval, Interval]:
    """Return a range of months of this year or the last when today lies in it, else as it is."""
    for back in (0, 1, 2):
        moved = _years(first, -back), _years(last, -back)
        if moved[0].start <= c.now < moved[1].end:
            return moved
    return first, last


_NOWS: Final = frozenset({"now", "date", "present"})


def _now(c: Context, k: int) -> Found | None:
    """Read "now", "date", "the present" as the end of a range."""
    if c.word(k) not in _NOWS or (c.word(k) == "present" and c.word(k + 1).isalpha()):
        return None
    return Interval(c.now, c.now + timedelta(minutes=1), Precision.MINUTE), k + 1


def _years(interval: Interval, count: int) -> Interval:
    return replace(
        interval,
        start=shift(interval.start, count, "year"),
        end=shift(interval.end, count, "year"),
        nominal=shift(interval.nominal, count, "year") if interval.nominal else None,
    )
