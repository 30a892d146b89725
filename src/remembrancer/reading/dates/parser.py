"""One date expression at a token: the longest reading, with its time of day and its range."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from ...nouns.memory import Precision
from . import counts, months, numeric, parts, periods, relative, weekdays
from . import words as w
from .clock import AT, TO, Clock, on_day, read_clock_range
from .context import Context
from .extents import lasting, lasting_from
from .holidays import HOLIDAY_STARTS
from .intervals import CLOCK_UNITS, Found, Interval, choose, join, shift, third, tip, unit_at
from .relations import relation_before, relation_behind
from .relative import PRESENT_STARTS

MAX_DEPTH: Final = 3  # "a week before the day after the Friday before Christmas"
_COUNTERS: Final = frozenset(w.NUMBERS) | set(w.TENS) | set(w.VAGUE) | {"a", "an", "half"}
_QUALIFIERS: Final = w.LAST | w.NEXT | w.THIS
_PARTS: Final = w.EARLY | w.MIDDLE | w.LATE | {"earlier", "later"}
STARTS: Final = (
    frozenset(w.MONTHS)
    | set(w.WEEKDAYS)
    | set(w.UNITS)
    | set(w.SEASONS)
    | set(w.DAY_WORDS)
    | set(w.DAY_PARTS)
    | set(w.ORDINALS)
    | set(w.DECADES)
    | w.TONIGHT
    | HOLIDAY_STARTS
    | _COUNTERS
    | _QUALIFIERS
    | _PARTS
    | {"in", "within", "other", "q", "h", "noon", "midday", "noonish", "midnight", "quarter", "'"}
    | {"’", "‘", "dozen"}
    | w.REPEATS
    | PRESENT_STARTS
    | {"rest", "remainder", "eod", "eow", "eom", "eoq", "eoy"}
)


def read_date(c: Context, i: int, depth: int = 0) -> Found | None:
    """Return the longest date (without a clock time) that begins at token `i`, and its end."""
    if depth > MAX_DEPTH or not c.word(i):
        return None

    def inner(ctx: Context, at: int) -> Found | None:
        return read_date(ctx, at, depth + 1)

    best: Found | None = None
    word = c.word(i)
    tries: list[Found | None] = []
    if c.digits(i):
        tries += [numeric.numeric(c, i), months.day_first(c, i), periods.quarter(c, i)]
        tries += [periods.decade(c, i), periods.year(c, i), counts.counted(c, i, inner)]
        tries += [parts.nth_of(c, i, inner), relative.numbered(c, i), periods.century(c, i)]
    else:
        if word in w.MONTHS:
            tries.append(months.month_first(c, i))
        if word in {"nineteen", "twenty", "two", "eighteen"}:
            tries.append(periods.year(c, i))
        if word in w.ORDINALS or word in w.TENS:
            tries += [months.day_first(c, i), periods.quarter(c, i)]
            tries += [parts.nth_of(c, i, inner), periods.century(c, i)]
        if word == "first":
            tries.append(parts.some_of(c, i, inner))
        if word in w.NUMBERS or word in w.TENS:
            tries += [relative.numbered(c, i), months.day_first(c, i)]
        if word in w.WEEKDAYS:
            tries.append(weekdays.weekday(c, i, inner))
        if word in _QUALIFIERS:
            tries.append(relative.qualified(c, i, inner))
        if word in _COUNTERS or word in {"dozen", "hundred"}:
            tries.append(counts.counted(c, i, inner))
        if word in w.UNITS:
            tries.append(relative.unit_relation(c, i, inner))
        if word in w.SEASONS:
            tries.append(periods.season(c, i))
        if word in HOLIDAY_STARTS:
            tries.append(periods.holiday(c, i))
        if word in _PARTS:
            tries.append(_part_of_period(c, i, depth))
        if word in _REST:
            tries.append(_rest(c, i, depth))
        if word in _ENDING:
            tries.append(_ending(c, i))
        if word in w.DAY_PARTS:
            tries.append(_part_of_date(c, i, depth))
        if word in w.DECADES or word in {"'", "’"}:
            tries.append(periods.decade(c, i))
        tries.append(_by_word(c, i, word))
    for found in tries:
        if found and (best is None or found[1] > best[1]):
            best = found
    return _extend(c, i, *best) if best else None


def _by_word(c: Context, i: int, word: str) -> Found | None:
    if word in {"in", "within"}:
        return counts.ahead(c, i)
    if word in {"q", "h"}:
        return periods.quarter(c, i)
    if word == "other":
        return counts.other_day(c, i)
    return relative.named_day(c, i) or relative.present(c, i)


def edge_of(part: Interval, edge: str) -> Interval:
    """Return the first or the last two hours of a part of a day: "early", "late" or neither."""
    if edge == "early":
        return replace(part, end=part.start + _EDGE)
    return replace(part, start=part.end - _EDGE) if edge == "late" else part


_EDGE: Final = timedelta(hours=2)


def _extend(c: Context, i: int, found: Interval, j: int) -> Found:
    """Add what may follow a date: the weekday of a week, the part of a day."""
    if found.precision is Precision.WEEK:
        k = j + 1 if c.word(j) in {"on", ","} else j
        k = k + 1 if c.word(k) == "on" else k
        day = w.WEEKDAYS.get(c.word(k))
        if day is not None and c.word(k) not in {"sun", "sat"}:
            found, j = weekdays.in_week(found, day), k + 1
    if c.word(j - 1) in w.WEEKDAYS and found.precision is Precision.DAY:
        k = j + 1 if c.word(j) in {",", "("} else j
        if c.word(k) in w.MONTHS or c.digits(k):
            tries = (months.month_first(c, k), months.day_first(c, k), numeric.numeric(c, k))
            exact = next((t for t in tries if t and t[0].precision is Precision.DAY), None)
            if exact:
                closed = c.word(k - 1) == "(" and c.word(exact[1]) == ")"
                found, j = exact[0], exact[1] + closed
    if found.precision is Precision.DAY and found.end - found.start <= timedelta(days=1):
        k = j
        if c.word(k) in {"in", "at", ","}:
            k += 2 if c.word(k + 1) == "the" else 1
        edge = c.word(k) if c.word(k) in {"early", "late"} else c.word(i - 1)
        k = k + 1 if c.word(k) in {"early", "late", "mid", "-"} else k
        if c.word(k) in w.DAY_PARTS:
            return edge_of(relative.part_of(found.start, c.word(k)), edge), k + 1
    return found, j


def _part_of_period(c: Context, i: int, depth: int) -> Found | None:
    """Read "early May", "mid-2019", "end of the year", "earlier this month", "late last night"."""
    word, j = c.word(i), i + 1
    late_part = c.word(j) in w.THIS and c.word(j + 1) in w.DAY_PARTS
    if late_part and word in {"early", "late"}:
        return edge_of(relative.part_of(c.now, c.word(j + 1)), word), j + 2
    nouns = {"beginning", "start", "end", "middle", "first"}
    if word in nouns and (c.word(j) != "of" or word == "first"):
        return None
    if c.word(j) in {"of", "in", "-"}:
        j += 1
    if c.word(j) == "the":
        j += 1
    unit = w.UNITS.get(c.word(j))
    plain = unit and unit not in CLOCK_UNITS and c.word(j - 1) in {"the", "of"}
    inner = (unit_at(c.now, unit), j + 1) if plain and unit else read_date(c, j, depth + 1)
    if inner is None or inner[0].start.tzinfo is not None:
        return None
    period, end = inner
    if period.part and c.word(j) in w.TONIGHT | w.LAST:
        return edge_of(period, word), end
    if period.part or (period.precision is Precision.DAY and word not in {"end", "start"}):
        return period, end
    today = datetime(c.now.year, c.now.month, c.now.day)
    if word in {"earlier", "later"}:
        if not period.start <= today < period.end:
            return tip(period, "early" if word == "earlier" else "late"), end
        cut = replace(period, end=today) if word == "earlier" else replace(period, start=today)
        return (cut if cut.start < cut.end else period), end
    if word in w.MIDDLE:
        return third(period, "mid"), end
    which: Final = "early" if word in w.EARLY else "late"
    return tip(period, which), end


_REST: Final = frozenset({"rest", "remainder"})
_ENDING: Final = {"eod": "day", "eow": "week", "eom": "month", "eoq": "quarter", "eoy": "year"}


def _rest(c: Context, i: int, depth: int) -> Found | None:
    """Read "the rest of the week": from today, or of today from now, to its end."""
    if c.word(i - 1) != "the" or c.word(i + 1) != "of":
        return None
    k = i + 3 if c.word(i + 2) == "the" else i + 2
    unit = w.UNITS.get(c.word(k))
    plain = k == i + 3 and unit and unit not in CLOCK_UNITS
    inner = (unit_at(c.now, unit), k + 1) if plain and unit else read_date(c, k, depth + 1)
    if inner is None or not inner[0].start <= c.now < inner[0].end:
        return inner
    today = datetime(c.now.year, c.now.month, c.now.day)
    start = c.now if inner[0].end - inner[0].start <= timedelta(days=1) else today
    return replace(inner[0], start=start), inner[1]


def _ending(c: Context, i: int) -> Found | None:
    """Read "EOD", "eom": the end of the day, the month."""
    if not (c.raw(i).isupper() or c.word(i - 1) in {"by", "before", "until", "till"}):
        return None
    return tip(unit_at(c.now, _ENDING[c.word(i)]), "late"), i + 1


def _part_of_date(c: Context, i: int, depth: int) -> Found | None:
    """Read "the morning of May 7", "the night before Christmas" as a part of that day."""
    if c.word(i + 1) != "of":
        day = relative.named_day(c, i + 1)
        if day is None or day[0].part:
            return None
        return relative.part_of(day[0].start, c.word(i)), day[1]
    k = i + 3 if c.word(i + 2) == "the" else i + 2
    inner = read_date(c, k, depth + 1)
    if inner is None or inner[0].precision is not Precision.DAY:
        return None
    return relative.part_of(inner[0].start, c.word(i)), inner[1]


def read(c: Context, i: int) -> Found | None:
    """Return the longest expression at token `i`: a date, a time, both, or a range of them."""
    found = lasting_from(c, i, _plain) or _plain(c, i)
    return lasting(c, i, *found) if found else None


def _plain(c: Context, i: int) -> Found | None:
    timed = _time_first(c, i)
    dated = read_date(c, i)
    if dated:
        dated = _with_clock(c, *dated)
        dated = _to_clock(c, i, *dated)
        dated = _range(c, i, *dated)
    if timed and (dated is None or timed[1] >= dated[1]):
        return _to_clock(c, i, *timed)
    return dated


def _to_clock(c: Context, i: int, first: Interval, j: int) -> Found:
    """Add the end of a range between two times: "from 3 pm today to 5 pm tomorrow"."""
    timed = first.precision in _CLOCK and not first.part and first.start.tzinfo is None
    if not timed or c.word(j) not in TO:
        return first, j
    opened = c.before(i) in {"from", "between"} or c.word(j) in {"-", "–", "—"}
    day = read_date(c, j + 1) if opened else None
    second = (_with_clock(c, *day) if day else None) or (_time_first(c, j + 1) if opened else None)
    if second is None or second[0].precision not in _CLOCK or second[0].start <= first.start:
        return first, j
    return replace(first, end=second[0].start, last=None), second[1]


_CLOCK: Final = frozenset({Precision.SECOND, Precision.MINUTE, Precision.HOUR})


_TO_CLOCK: Final = AT | {"starting", "early", "morning", "sometime", "until", "till", "since"}


def _ends_hours(c: Context, j: int) -> bool:
    """Whether two bare hours may end before token `j`: nothing that they could count follows."""
    word = c.word(j)
    return word in w.DAY_WORDS or word in w.DATING or not word.isalnum() or word in {"am", "pm"}


def _with_clock(c: Context, found: Interval, j: int) -> Found:
    """Add the clock time that follows a day: "Friday at 9", "tomorrow, 8:00-9:30"."""
    if not found.is_day or found.end - found.start > timedelta(days=1):
        return found, j
    k = j + 1 if c.word(j) in {",", "(", "-"} else j
    while c.word(k) in _TO_CLOCK and k < j + 4:
        k += 1
    hours = k == j and c.digits(k) and c.word(k + 1) in {"-", "–", "to"} and c.digits(k + 2)
    hours = hours and _ends_hours(c, k + 3)
    clock = read_clock_range(c, k, bare=c.word(k - 1) in AT or bool(hours))
    if clock is None or (c.digits(k) == 4 and not clock[0].sure):
        return found, j
    timed = on_day(clock[0], found.start.date(), found.part)
    relation = relation_before(c, k) if k > j else None
    return (replace(timed, relation=relation) if relation else timed), clock[1]


def _time_first(c: Context, i: int) -> Found | None:
    """Read a clock time that comes first: "3 pm tomorrow", "at 6 on Friday", or one alone."""
    before = c.word(i - 1)
    clock = read_clock_range(c, i, bare=before in AT)
    if clock is None and c.digits(i) and c.word(i + 1) in {"-", "–", "to"} and c.digits(i + 2):
        named = c.word(i + 3) in w.DAY_WORDS or c.word(i + 3) in w.FULL_WEEKDAYS
        clock = read_clock_range(c, i, bare=True) if named else None
    if clock is None:
        return None
    time, j = clock
    behind = relation_behind(c, j)
    k = j = behind[1] if behind else j
    while c.word(k) in {"on", ",", "the", "of", "in", "for"} and k < j + 2:
        k += 1
    day = read_date(c, k) if c.word(k) in STARTS or c.digits(k) else None
    if day and day[0].is_day and day[0].end - day[0].start <= timedelta(days=1):
        timed = on_day(time, day[0].start.date(), day[0].part)
        relation = relation_before(c, i) or (behind[0] if behind else None)
        return (replace(timed, relation=relation) if relation else timed), day[1]
    if not time.sure or c.word(j) in w.REPEATS:
        return None
    named = c.word(i) in {"noon", "midday", "noonish", "midnight"}
    if named and before not in AT and before not in {"until", "till", "since"}:
        return None
    return _today(c, i, time), j


def _today(c: Context, i: int, time: Clock) -> Interval:
    """Place a time without a day: today, or the day before or after where the tense says so."""
    bias = c.bias(i)
    now = c.now
    if bias is None or time.zone is not None:
        return on_day(time, now.date())
    options = [on_day(time, (now + timedelta(days=k)).date()) for k in (-1, 0, 1)]
    return choose(options, now, bias) or options[1]


def _range(c: Context, i: int, first: Interval, j: int) -> Found:
    """Add the end of a range: "from 2 July to 10 July", "January 12 - 22/1", "Monday to Friday"."""
    opened = c.before(i) in {"from", "between"}
    joined = c.word(j) in TO or (c.word(j) == "and" and c.before(i) == "between")
    if not joined or first.start.tzinfo is not None:
        return first, j
    years = any(c.digits(t) == 4 for t in range(i, j))
    clear = opened or years or c.digits(i) > 0 or c.word(j) in {"-", "–", "—", "through"}
    if not clear and not (c.word(j) == "to" and c.word(i) in w.MONTHS):
        return first, j  # "moved it on Monday to Friday"
    k = j + 2 if c.word(j + 1) == "the" else j + 1
    second = _now(c, k) or read_date(c, k)
    if second is None or second[0].start.tzinfo is not None:
        return first, j
    last, end = second
    if c.word(k) == "now":
        return (
            (replace(join(first, last) or first, end=last.start, last=None), end)
            if (first.start < last.start)
            else (first, j)
        )
    dated = any(c.digits(t) == 4 for t in range(k, end))
    fixed = any(c.digits(t) == 4 or c.word(t) in _QUALIFIERS for t in range(i, j))
    if dated and not fixed and any(c.word(t) in w.MONTHS or c.digits(t) for t in range(i, j)):
        gap = last.start.year - first.start.year
        moved = _years(first, gap)
        first = _years(first, gap - 1) if moved.start > last.start else moved
    elif last.end <= first.start:
        week = c.word(k) in w.WEEKDAYS or c.word(k - 1) in w.WEEKDAYS
        if week:
            ahead = timedelta(days=7)
            last = replace(last, start=last.start + ahead, end=last.end + ahead)
        elif not dated:
            same = _years(last, first.start.year - last.start.year)
            last = _years(same, 1) if same.end <= first.start else same
    if not dated and not fixed and _bare(c, i, j) and _bare(c, k, end):
        first, last = _holding(c, first, last)
    both = join(first, last)
    return (both, end) if both else (first, j)


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


def _now(c: Context, k: int) -> Found | None:
    """Read "now" as the end of a range."""
    if c.word(k) != "now":
        return None
    return Interval(c.now, c.now + timedelta(minutes=1), Precision.MINUTE), k + 1


def _years(interval: Interval, count: int) -> Interval:
    return replace(
        interval,
        start=shift(interval.start, count, "year"),
        end=shift(interval.end, count, "year"),
    )
