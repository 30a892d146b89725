"""Collects the parts of one expression: repeat, day, hour, from when and until when."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...nouns.clock import to_us
from ...nouns.memory import Precision
from ..dates import words as w
from ..dates.clock import AT, Clock, read_clock_range
from ..dates.context import Context
from ..dates.counts import Quantity, quantity
from ..dates.intervals import CLOCK_UNITS, Found, Interval, exact_shift, midnight
from ..dates.parser import STARTS as DATE_STARTS
from ..dates.parser import read_date
from . import repeats
from .days import ahead, day_in_month, day_of_month, end_of, read_iso, safe_date
from .limits import onward, read_limit
from .resolve import resolve_once
from .types import Pieces

_JOINERS: Final = frozenset({",", "on", "the", "in", "for", "of", "and", "then", "("}) | AT
# Hours that "tomorrow after lunch" stands for; alone such words name no time.
_MEALS: Final = {
    ("after", "breakfast"): 9,
    ("before", "lunch"): 11,
    ("after", "lunch"): 13,
    ("after", "school"): 15,
    ("before", "dinner"): 17,
    ("after", "work"): 18,
    ("after", "dinner"): 20,
    ("before", "work"): 8,
    ("before", "bed"): 22,
}
# When a working day is over; no standard says so.
END_OF_DAY_H: Final = 17
_END_OF_DAY: Final = Clock(END_OF_DAY_H * 3600, (END_OF_DAY_H + 1) * 3600, Precision.HOUR)
STARTS: Final = (
    repeats.STARTS
    | DATE_STARTS
    | {"after", "end", "eod", "cob", "eow", "eom", "later", "at", "@", "by", "before", "the", "on"}
    | {"around", "about", "starting", "beginning", "from", "until", "till", "two", "first"}
)


def collect(c: Context, i: int) -> Pieces | None:
    """Return the expression that begins at token `i`, with all that belongs to it."""
    pieces = go_on(c, Pieces(first=i, end=i))
    return pieces if pieces.end > i else None


def go_on(c: Context, pieces: Pieces) -> Pieces:
    """Read what follows an expression and belongs to it."""
    j = pieces.end
    while j < c.size:
        k, joiner = j, ""
        while k < c.size and c.word(k) in _JOINERS and k < j + 3 and not _opens(c, k, pieces):
            joiner = c.word(k) if c.word(k) not in {"the", ","} else joiner
            k += 1
        end = _piece(c, k, joiner, pieces)
        if end is None:
            break
        pieces.end = j = end
    return pieces


def _opens(c: Context, k: int, pieces: Pieces) -> bool:
    """Whether the joiner at `k` itself begins a piece: "in two hours", "for ten days"."""
    word = c.word(k)
    if word in {"in", "after", "before", "for", "from"}:
        return _piece(c, k, "", pieces, dry=True) is not None
    return False


def _piece(c: Context, k: int, joiner: str, into: Pieces, *, dry: bool = False) -> int | None:
    """Read one piece at token `k` into `into`; return the token after it."""
    if k >= c.size:
        return None
    target = Pieces(first=k) if dry else into
    if dry:
        target.pattern, target.date, target.day = into.pattern, into.date, into.day
    for reader in (read_iso, _counted, _repeat, _left_out, read_limit, _ends, _part, _clock, _date):
        end = reader(c, k, joiner, target)
        if end is not None:
            return end
    return None


def _counted(c: Context, k: int, joiner: str, into: Pieces) -> int | None:
    """Read "in 20 minutes", "two hours from now", "in a month", "ten minutes before 4 pm"."""
    if into.dated:
        return None
    word = c.word(k)
    led = word in {"in", "within", "after"}
    j = k + 2 if led and c.word(k + 1) in {"about", "around"} else k + led
    spelled = quantity(c, j)
    if spelled is None or spelled[0].unit[1:].isdigit():
        return None
    amount, end = spelled
    after = c.word(end)
    more = quantity(c, end + 1) if after == "and" else None
    if more and more[0].unit in CLOCK_UNITS and amount.unit in {"hour", "minute", "day"} and led:
        seconds = sum(_seconds(part) for part in (amount, more[0]))
        whole = seconds % 60 == 0
        amount = Quantity(seconds // 60 if whole else seconds, 0, "minute" if whole else "second")
        amount, end = replace(amount, most=amount.least), more[1]
        after = c.word(end)
    longer = more is not None and led and not CLOCK_UNITS.intersection((amount.unit, more[0].unit))
    if more and longer:
        after, end = c.word(more[1]), more[1]
    if after in {"'", "’"}:
        end += 2 if c.word(end + 1) == "s" else 1
    if c.word(end) == "time":
        end += 1
    elif after == "from" and c.word(end + 1) in {"now", "today"}:
        led, end = True, end + 2
    elif after == "hence":
        led, end = True, end + 1
    elif after in {"before", "after", "past", "from", "prior", "ago"}:
        side = -1 if after in {"before", "prior"} else 1
        return _beside(c, end, amount, side, into) if joiner != "for" else None
    if not led or joiner == "for" or c.word(end) in {"of", "-"}:
        return None
    placed = _place(c, amount, into, end)
    if placed is not None and longer and more and into.day is not None:
        into.day = ahead(into.day, more[0].least, more[0].unit)  # "in 3 weeks and 2 days"
    return placed


def _seconds(amount: Quantity) -> int:
    return amount.least * {"day": 86_400, "hour": 3600, "minute": 60, "second": 1}[amount.unit]


def _place(c: Context, amount: Quantity, into: Pieces, end: int) -> int | None:
    count = (amount.least + amount.most) // 2
    if not 0 < count < 100_000:
        return None
    into.vague = amount.least != amount.most
    if amount.unit in CLOCK_UNITS:
        found = exact_shift(c.reference, count, amount.unit)
        into.instant, into.precision = to_us(found.start), found.precision
        return end
    into.day = ahead(midnight(c.now.date()), count, amount.unit)
    into.precision = Precision.DAY
    return end


def _beside(c: Context, j: int, amount: Quantity, side: int, into: Pieces) -> int | None:
    """Read "ten minutes before 4 pm tomorrow": what comes after the count must have an hour."""
    if amount.unit not in CLOCK_UNITS or c.word(j) == "ago":
        return None
    j += 2 if c.word(j) == "prior" else 1
    clock = read_clock_range(c, j, bare=True)
    anchor = collect(c, j) if clock is None else collect_from(c, j, clock)
    if anchor is None or not anchor.timed or anchor.pattern or anchor.instant is not None:
        return None
    found = resolve_once(c, anchor)
    if found is None:
        return None
    step = _seconds(Quantity(amount.least, amount.most, amount.unit)) * 1_000_000
    into.instant, into.precision = found[0] + side * step, Precision.MINUTE
    return anchor.end


def collect_from(c: Context, i: int, clock: tuple[Clock, int]) -> Pieces:
    """Return the expression that begins with a clock time already read at token `i`."""
    pieces = Pieces(first=i, end=clock[1], clocks=[clock[0]])
    k = clock[1] + 1 if c.word(clock[1]) in {"on", ","} else clock[1]
    end = _piece(c, k, "on", pieces)
    pieces.end = end or pieces.end
    return pieces


def _repeat(c: Context, k: int, _joiner: str, into: Pieces) -> int | None:
    if c.word(k) not in repeats.STARTS and not c.digits(k):
        return None
    if into.pattern or into.instant is not None or into.exact:
        return None
    if c.word(k - 1) == "and" and into.date and into.date.is_day:
        return None  # "tomorrow and every Monday"
    found = repeats.read_repeat(c, k)
    if found is None:
        return None
    into.pattern = found[0]
    return found[1]


def _left_out(c: Context, k: int, _joiner: str, into: Pieces) -> int | None:
    """Read days that a repeat leaves out after its hour: "every day at 8, except Sundays"."""
    if into.pattern is None:
        return None
    into.pattern, end = repeats.left_out(c, into.pattern, k)
    return end if end > k else None


def _ends(c: Context, k: int, _joiner: str, into: Pieces) -> int | None:
    """Read the ends of periods: "end of day", "EOD", "close of business", "end of the month"."""
    if into.timed:
        return None
    j = k
    if c.word(k) in {"eod", "cob"}:
        j = k + 1
    elif c.word(k) in {"end", "close"} and c.word(k + 1) == "of":
        j = k + 3 if c.word(k + 2) in {"the", "this"} else k + 2
        j = j + 1 if c.word(j) in {"day", "business"} else k
        j = j + 1 if j > k and c.word(j) == "day" else j
    if j > k:
        into.clocks.append(_END_OF_DAY)
        return j
    found = None if into.dated else end_of(c, k)
    if found is None:
        return None
    into.date, into.date_tokens = found[0], (k, found[1])
    return found[1]


def _part(c: Context, k: int, joiner: str, into: Pieces) -> int | None:
    """Read a part of the day: "in the morning", "at night", "first thing", "at lunchtime"."""
    word = c.word(k)
    part = into.part or (into.date.part if into.date else "")
    if (word, c.word(k + 1)) == ("first", "thing") and part in {"", "morning"}:
        into.part = "morning"
        told = [c.word(n) for n in range(k + 2, k + 5)] == ["in", "the", "morning"]
        return k + 5 if told else k + 2
    if part:
        return None
    meal = _MEALS.get((word, c.word(k + 1)))
    if meal is not None and into.dated and not into.clocks:
        into.clocks.append(Clock(meal * 3600, (meal + 1) * 3600, Precision.HOUR))
        return k + 2
    if word not in w.DAY_PARTS or c.word(k + 1) == "of":
        return None
    led = (joiner == "in" and c.word(k - 1) == "the") or (joiner == "at" and word != "morning")
    if not led and not into.clocks and not into.dated and not (joiner == "by" or k == 0):
        return None
    into.part = word
    return k + 1


def _clock(c: Context, k: int, joiner: str, into: Pieces) -> int | None:
    if into.instant is not None or into.exact or _is_ordinal(c, k):
        return None
    another = bool(into.clocks)
    if another and not (c.word(k - 1) in {"and", ","} or (into.pattern and c.word(k - 1) == "at")):
        return None
    bare = joiner in AT - {"between", "from"} or bool(into.clocks)
    if joiner in {"between", "from"} or c.word(k - 1) in {"between", "from"}:
        bare = True
    found = read_clock_range(c, k, bare=bare)
    if found is None:
        return None
    clock, end = found
    if not clock.sure and clock.end - clock.start <= 3600 and c.word(k - 1) in {"from", "between"}:
        return None  # "from 10 to 100 users"
    digital = c.word(k + 1) == ":"
    if another and not into.pattern and not _hours_of_repeat(c, k):
        return None  # "at 9 and 10 people"; "at 9 and at noon" are two times
    placed = into.dated or k == 0 or c.word(k - 1) == "for" or _names_day(c, end)
    if not (clock.sure or bare or (digital and placed)):
        return None
    if c.digits(k) == 4 and not digital and not clock.sure:
        return None  # "at 2026"
    into.clocks.append(clock)
    into.before = into.before or joiner == "before"
    into.limit = into.limit or joiner in {"before", "by"}
    return end


def _is_ordinal(c: Context, k: int) -> bool:
    """Whether a day rather than an hour stands at token `k`: "by the 5th"."""
    return c.digits(k) > 0 and c.word(k + 1) in {"st", "nd", "rd", "th"} and c.glued(k + 1)


def _hours_of_repeat(c: Context, k: int) -> bool:
    """Whether hours in a row end before a repeat: "at 8 and 20 every day"."""
    found = read_clock_range(c, k, bare=True)
    while found is not None:
        j = found[1]
        if c.word(j) in {",", "and", "&"}:
            j += 1
        if repeats.read_repeat(c, j) is not None:
            return True
        j += c.word(j) in {"and", "at"}
        found = read_clock_range(c, j, bare=True) if j > found[1] else None
    return False


def _names_day(c: Context, k: int) -> bool:
    return c.word(k) in {"on", "every", "each"} | w.TONIGHT | set(w.DAY_WORDS) | set(w.WEEKDAYS)


def _date(c: Context, k: int, joiner: str, into: Pieces) -> int | None:
    if into.date and into.date.precision is Precision.MONTH and into.date_tokens[1] < k:
        return day_in_month(c, k, into)
    if into.date or into.day or into.instant is not None or into.exact:
        return None
    if c.word(k) not in DATE_STARTS and not c.digits(k):
        return None
    if c.word(k) == "later" and c.word(k + 1) == "today":
        found: Found | None = read_date(c, k + 1)
    else:
        found = safe_date(c, k, joiner) or day_of_month(c, k)
    if found is None or found[0].end <= found[0].start:
        return None
    if _another_day(c, k, found[0], into):
        return None
    into.date, into.date_tokens = found[0], (k, found[1])
    into.before = into.before or joiner == "before"
    return onward(c, found[1]) if joiner == "from" else found[1]


def _another_day(c: Context, k: int, found: Interval, into: Pieces) -> bool:
    """Whether a day goes with the next hour: "every Monday at 9 and Friday at 10"."""
    pattern = into.pattern
    days = pattern is not None and bool(pattern.days or pattern.month_days)
    return days and found.is_day and c.word(k - 1) in {"and", ","} and into.timed
