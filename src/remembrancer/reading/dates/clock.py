"""Clock times: "6 pm", "18:30", "half past seven", "noon", "from 5 to 7 pm"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta, timezone
from typing import Final

from ...nouns.memory import Precision
from . import words as w
from .context import Context
from .intervals import Interval, midnight

DAY_S: Final = 86_400
TO: Final = frozenset({"to", "-", "–", "—", "until", "till", "til", "through", "thru"})
AT: Final = frozenset({"at", "@", "around", "about", "by", "from", "between", "before", "after"})
_CONTEXT: Final = AT | TO | {"since", "and", "or", "past", "starting", "starts", "(", "is", ","}
_SIZE: Final = {Precision.SECOND: 1, Precision.MINUTE: 60, Precision.HOUR: 3600}
_FRACTIONS: Final = {"quarter": 15, "half": 30, "five": 5, "ten": 10, "fifteen": 15, "twenty": 20}
_FIVES: Final = frozenset({"five", "ten", "twenty"})  # "at five to seven"


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day in seconds from midnight; `loose` when it may be morning or afternoon.

    `ranged` tells that its end was named, too.
    """

    start: int
    end: int
    precision: Precision
    loose: bool = False
    sure: bool = True  # reads as a time even where nothing says so
    zone: int | None = None  # minutes east of UTC
    ranged: bool = False


def clock_of(hour: int, minute: int = 0, second: int = 0, *, unit: Precision) -> Clock | None:
    """Return a clock time as long as its unit, or None when there is no such time."""
    if hour > 24 or minute > 59 or second > 59 or (hour == 24 and (minute or second)):
        return None
    start = hour % 24 * 3600 + minute * 60 + second
    return Clock(start, start + _SIZE[unit], unit)


def in_half(clock: Clock, half: str) -> Clock:
    """Return a loose 12-hour time set into the "am" or the "pm" half."""
    hour, rest = divmod(clock.start, 3600)
    if not 1 <= hour <= 12:
        return replace(clock, loose=False)
    start = (hour % 12 + (12 if half == "pm" else 0)) * 3600 + rest
    return replace(clock, start=start, end=start + clock.end - clock.start, loose=False, sure=True)


def _meridiem(c: Context, i: int) -> tuple[str, int]:
    """Read "am", "pm", "a.m." at token `i`: the half, and the token after it."""
    word = c.word(i)
    if word in {"am", "pm"}:
        return word, i + 1
    if word in {"a", "p"} and c.word(i + 1) == "." and c.word(i + 2) == "m" and c.glued(i + 2):
        return word + "m", i + 4 if c.word(i + 3) == "." and c.glued(i + 3) else i + 3
    if word == "p" and c.glued(i):
        return "pm", i + 1
    return "", i


def _tail(c: Context, clock: Clock, i: int) -> tuple[Clock, int]:
    """Read what may follow a clock time: half of the day, "o'clock", a zone."""
    half, j = _meridiem(c, i)
    if half and clock.start >= 13 * 3600:
        half = ""
    if half:
        clock = in_half(replace(clock, loose=True), half)
    elif c.word(i) == "oclock" or (c.word(i) == "o" and c.word(i + 2) == "clock"):
        after = i + 1 if c.word(i) == "oclock" else i + 3
        half, j = _meridiem(c, after)
        clock = in_half(replace(clock, loose=True), half) if half else replace(clock, sure=True)
    if c.word(j) == "sharp" or (c.word(j) == "ish" and c.glued(j)):
        j += 1
    zone = w.ZONES.get(c.word(j))
    if zone is not None and c.raw(j).isupper() and (clock.sure or not clock.loose):
        clock, j = replace(clock, zone=zone, sure=True), j + 1
    words = (c.word(j), c.word(j + 1), c.word(j + 2))
    if words[:2] == ("at", "night"):
        part, k = "night", j + 2
    elif words[:2] == ("in", "the") and words[2] in w.DAY_PARTS:
        part, k = words[2], j + 3
    else:
        return clock, j
    return in_part(clock, part), k


def in_part(clock: Clock, part: str) -> Clock:
    """Return a time as it is meant within a part of the day: "tonight at 8" is 20:00.

    Twelve in the evening or at night ends that day: it starts 24 hours and more from midnight.
    """
    if not clock.loose:
        return clock
    if part in {"evening", "night"} and clock.start // 3600 == 12:
        start, end = clock.start + DAY_S // 2, clock.end + DAY_S // 2
        return replace(clock, start=start, end=end, loose=False, sure=True)
    late = part in {"afternoon", "evening", "lunchtime"}
    return in_half(clock, "pm" if late or (part == "night" and clock.start >= 5 * 3600) else "am")


def _hour_word(c: Context, i: int) -> int | None:
    hour = c.number(i, 2)
    if hour is None:
        hour = w.NUMBERS.get(c.word(i))
    return hour if hour is not None and hour <= 24 else None


def _beside_day(c: Context, i: int) -> bool:
    """Whether "8.30" at token `i` is a time: behind "at" and beside a day."""
    if c.word(i - 1) != "at" or c.word(i + 3) in w.MEASURES or c.word(i + 3) == "%":
        return False
    before, after = c.word(i - 2), c.word(i + 3)
    days = (w.DAY_WORDS, w.WEEKDAYS, w.MONTHS)
    beside = any(before in words or after in words for words in days)
    return beside or before.isdigit() or after == "on"


def _digital(c: Context, i: int) -> tuple[Clock, int] | None:
    """Read hh:mm[:ss]."""
    hour, minute = c.number(i, 2), c.number(i + 2, 2)
    dotted = c.word(i + 1) == "." and bool(_meridiem(c, i + 3)[0])
    dotted = dotted or (
        c.word(i + 1) == "h" and not (c.glued(i + 3) and c.word(i + 3).isalnum())
    )  # "15h30"
    dotted = dotted or (c.word(i + 1) == "." and _beside_day(c, i))
    if (c.word(i + 1) != ":" and not dotted) or not (c.glued(i + 1) and c.glued(i + 2)):
        return None
    if hour is None or minute is None or c.digits(i + 2) != 2:
        return None
    j, second, unit = i + 3, 0, Precision.MINUTE
    if c.word(j) == ":" and c.glued(j) and c.digits(j + 1):
        if c.digits(j + 1) != 2 or not c.glued(j + 1):
            return None
        second, unit = c.number(j + 1) or 0, Precision.SECOND
        j += 2
    if c.word(j) in {":", "/"} and c.glued(j) and c.glued(j + 1):
        return None
    clock = clock_of(hour, minute, second, unit=unit)
    if clock is None:
        return None
    padded = c.digits(i) == 2
    plain = padded or c.before(i) in _CONTEXT
    clock = replace(clock, loose=1 <= hour <= 12 and c.word(i)[0] != "0", sure=plain)
    return _tail(c, clock, j)


def _spoken(c: Context, i: int) -> tuple[Clock, int] | None:
    """Read "half past seven", "quarter to eight", "20 minutes past six"."""
    if c.word(i) in w.NUMBERS or (c.digits(i) and c.before(i) == "at"):
        j = i + 2 if c.word(i + 1) == "-" else i + 1
        spoken = _hour_word(c, i)
        pair = w.TENS.get(c.word(j), 0) + w.NUMBERS.get(c.word(j), 0) * (c.word(j) not in w.UNITS)
        if spoken and spoken <= 12 and 10 <= pair < 60 and c.word(j) != "-":
            j += 1
            k = j + 1 if c.word(j) == "-" else j
            if pair % 10 == 0 and pair >= 20 and w.NUMBERS.get(c.word(k), 99) < 10:
                pair, j = pair + w.NUMBERS[c.word(k)], k + 1
            if c.word(j) not in w.UNITS:
                start = spoken * 3600 + pair * 60
                sure = c.before(i) == "at"
                return _tail(c, Clock(start, start + 60, Precision.MINUTE, True, sure), j)
    return _past_or_to(c, i)


def _past_or_to(c: Context, i: int) -> tuple[Clock, int] | None:
    """Read "half past seven", "20 minutes past six", "quarter to eight", "at five to seven"."""
    minute = _FRACTIONS.get(c.word(i)) or c.number(i, 2)
    j = i + 1
    if c.word(i) == "twenty" and c.word(j + (c.word(j) == "-")) == "five":
        minute, j = 25, j + 1 + (c.word(j) == "-")
    if minute is None or not 0 < minute < 60:
        return None
    named = c.word(i) in {"quarter", "half"}
    if c.word(j) in {"minutes", "min", "mins"}:
        named, j = True, j + 1
    # "from five to seven" is a range, and "five to seven people" a count
    led = c.before(i) in {"at", "by"} and c.word(i) in _FIVES and _ends_hour(c, j + 2)
    side, hour = c.word(j), _hour_word(c, j + 1)
    sides = {"past", "to"} if named or led else {"past"}
    if side not in sides or hour is None or not 1 <= hour <= 12:
        return None
    start = hour * 3600 + (minute if side == "past" else -minute) * 60
    if start < 3600:
        start += DAY_S // 2  # "ten to one" is 12:50
    return _tail(c, Clock(start, start + 60, Precision.MINUTE, loose=True), j + 2)


def read_clock(c: Context, i: int, *, bare: bool = False) -> tuple[Clock, int] | None:
    """Read one clock time at token `i`: the time and the token after it.

    `bare` allows an hour alone ("tomorrow at 9").
    """
    word = c.word(i)
    if word in {"noon", "midday", "noonish"}:
        return Clock(DAY_S // 2, DAY_S // 2 + 3600, Precision.HOUR), i + 1
    if word == "midnight":
        return Clock(0, 3600, Precision.HOUR), i + 1
    middle = _middle(c, i)
    if middle:
        return middle
    found = _digital(c, i) or _spoken(c, i)
    if found or c.word(i + 1) == ":":
        return found
    if c.digits(i) in {3, 4}:
        return _packed(c, i)
    hour = _hour_word(c, i)
    if hour is None:
        return None
    clock = clock_of(hour, unit=Precision.HOUR)
    if clock is None:
        return None
    clock = replace(clock, loose=1 <= hour <= 12 and word[0] != "0", sure=False)
    done, j = _tail(c, clock, i + 1)
    if done.sure or (bare and _ends_hour(c, j)):
        return done, j
    return None


_MIDDLES: Final = {"morning": 10, "afternoon": 14, "day": 12}


def _middle(c: Context, i: int) -> tuple[Clock, int] | None:
    """Read "midmorning", "mid-afternoon", "mid day"."""
    word, j = c.word(i), i + 1
    if not word.startswith("mid"):
        return None
    if word == "mid":
        j = j + 1 if c.word(j) == "-" else j
        word, j = f"mid{c.word(j)}", j + 1
    hour = _MIDDLES.get(word[3:])
    return (Clock(hour * 3600, (hour + 1) * 3600, Precision.HOUR), j) if hour else None


def _packed(c: Context, i: int) -> tuple[Clock, int] | None:
    """Read "1140 am", "1530 hours", "at 0930", "0930-1015"."""
    value = c.number(i) or 0
    packed = clock_of(value // 100, value % 100, unit=Precision.MINUTE)
    if packed is None:
        return None
    if _meridiem(c, i + 1)[0]:
        return _tail(c, replace(packed, loose=True), i + 1)
    if c.digits(i) != 4:
        return None
    if c.word(i + 1) in {"hours", "hrs", "hour"}:
        return packed, i + 2
    joiners = TO | {"and"}
    ahead = c.word(i + 1) in joiners and c.digits(i + 2) == 4
    paired = ahead or (c.word(i - 1) in joiners and c.digits(i - 2) == 4)
    beside = i + 2 if ahead else i - 2 if paired else i
    padded = "0" in {c.word(i)[0], c.word(beside)[0]}
    lead = c.word(i - 1 if beside >= i else i - 3)
    dated = lead in w.DAY_WORDS or lead in w.WEEKDAYS or lead in w.MONTHS or lead in {"", ",", "("}
    said = c.before(i) in {"at", "between", "from"} or lead in {"between", "from"}
    said = said or (paired and (dated or lead.isdigit()))
    behind = lead == "," and c.digits(i - 2) > 0
    said = said or (c.word(i)[0] == "0" and (behind or lead in w.WEEKDAYS or lead in w.DAY_WORDS))
    return (packed, i + 1) if padded and said else None


def _ends_hour(c: Context, j: int) -> bool:
    """Whether a bare hour may end before token `j`: no unit, measure or plural follows."""
    word = c.word(j)
    if word in w.MEASURES or word in w.UNITS or word in w.MONTHS or word in {"%", "$", "€", "/"}:
        return False
    if word in {".", ",", ":"} and c.glued(j) and c.glued(j + 1):
        return False
    return not (word.endswith("s") and len(word) > 2 and word not in w.NOT_PLURAL)


def read_clock_range(c: Context, i: int, *, bare: bool) -> tuple[Clock, int] | None:
    """Read "5 to 7 pm", "between 2:30 and 3", "10:00-11:30"; or one clock time."""
    joiners = TO | {"and"} if c.word(i - 1) == "between" else TO
    first = alone = read_clock(c, i, bare=bare)
    if first is None and c.word(i + 1) in joiners and _hour_word(c, i) is not None:
        hour = clock_of(_hour_word(c, i) or 0, unit=Precision.HOUR)
        first = (replace(hour, loose=hour.start > 0, sure=False), i + 1) if hour else None
    if first is None or c.word(first[1]) not in joiners:
        return first
    last = read_clock(c, first[1] + 1, bare=bare or first[0].sure)
    if last is None:
        return alone
    begin, end = first[0], last[0]
    if begin.loose and not end.loose:
        begin = in_half(begin, "pm" if end.start > DAY_S // 2 else "am")
        if begin.start > end.start:
            begin = replace(begin, start=(begin.start - DAY_S // 2) % DAY_S)
    elif begin.loose and end.loose:
        end = end if end.start > begin.start else in_half(end, "pm")
    elif end.loose and end.start <= begin.start:
        end = in_half(end, "pm")
    stop = end.start if end.start > begin.start else end.start + DAY_S
    finer = begin.precision if begin.precision is not Precision.HOUR else end.precision
    loose = begin.loose and end.loose
    sure = begin.sure or end.sure
    both = Clock(begin.start, stop, finer, loose=loose, sure=sure, zone=end.zone, ranged=True)
    return both, last[1]


def settle(clock: Clock) -> Clock:
    """Return a loose time at its likelier half: one to five is afternoon, the rest as written."""
    if clock.loose and 3600 <= clock.start < 6 * 3600:
        return in_half(clock, "pm")
    return replace(clock, loose=False)


def on_day(clock: Clock, day: date, part: str = "") -> Interval:
    """Return a clock time on a day, in the part of it that was named."""
    clock = settle(in_part(clock, part) if part else clock)
    start = midnight(day) + timedelta(seconds=clock.start)
    if part == "night" and not clock.loose and clock.start < 5 * 3600:
        start += timedelta(days=1)  # "Friday night at 1 am"
    end = start + timedelta(seconds=clock.end - clock.start)
    if clock.zone is not None:
        zone = timezone(timedelta(minutes=clock.zone))
        start, end = start.replace(tzinfo=zone), end.replace(tzinfo=zone)
    return Interval(start, end, clock.precision, last=end if clock.ranged else None)
