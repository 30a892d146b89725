"""Repeats in words: "every other Friday", "weekdays", "the last day of each month"."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..dates import words as w
from ..dates.context import Context
from ..dates.months import ordinal
from .types import Pattern

WORKDAYS: Final = (0, 1, 2, 3, 4)
WEEKEND: Final = (5, 6)
_EVERY: Final = frozenset({"every", "each"})
_ADVERBS: Final = {
    "daily": Pattern("day"),
    "everyday": Pattern("day"),
    "nightly": Pattern("day", part="night"),
    "hourly": Pattern("hour"),
    "weekly": Pattern("week"),
    "biweekly": Pattern("week", 2),
    "fortnightly": Pattern("week", 2),
    "monthly": Pattern("month"),
    "quarterly": Pattern("month", 3),
    "yearly": Pattern("year"),
    "annually": Pattern("year"),
}
_WORKDAY_NAMES: Final = frozenset({"weekday", "weekdays", "workday", "workdays"})
_WORKING: Final = frozenset({"working", "business", "work", "school"})
_PLURAL_PARTS: Final = {part + "s": part for part in ("morning", "afternoon", "evening", "night")}
_STEPS: Final = {  # a unit of the text as a step of a rule
    "minute": ("minute", 1),
    "hour": ("hour", 1),
    "day": ("day", 1),
    "week": ("week", 1),
    "fortnight": ("week", 2),
    "month": ("month", 1),
    "quarter": ("month", 3),
    "year": ("year", 1),
}
STARTS: Final = (
    _EVERY
    | set(_ADVERBS)
    | set(w.PLURAL_WEEKDAYS)
    | set(w.WEEKDAYS)
    | set(w.ORDINALS)
    | {"weekdays", "weekends", "workdays", "once", "bi", "last", "weekday"}
)

# A repeat and the token after it.
Read = tuple[Pattern, int]


def read_repeat(c: Context, i: int) -> Read | None:
    """Read a repeat at token `i`, None where there is none."""
    found = _bare(c, i)
    return left_out(c, *_days_after(c, *found), bare=True) if found else None


def _bare(c: Context, i: int) -> Read | None:
    word = c.word(i)
    if word in _EVERY:
        return _every(c, i + 1)
    if word == "bi" and c.word(i + 1) == "-" and c.word(i + 2) == "weekly":
        return _ADVERBS["biweekly"], i + 3
    if word == "once":
        return _once(c, i)
    if word in _ADVERBS:
        return _ADVERBS[word], i + 1
    if word in {"weekdays", "workdays"}:
        return Pattern("week", days=WORKDAYS), i + 1
    if word == "weekends":
        return Pattern("week", days=WEEKEND), i + 1
    if word == "weekday" and c.word(i + 1) in _PLURAL_PARTS:
        return Pattern("week", days=WORKDAYS, part=_PLURAL_PARTS[c.word(i + 1)]), i + 2
    return _of_each_month(c, i) or _plural_days(c, i) or _working_week(c, i)


def _once(c: Context, i: int) -> Read | None:
    """Read "once a week", "once every two days", "once daily"."""
    after = c.word(i + 1)
    if after in _EVERY:
        return _every(c, i + 2)
    if after in {"a", "an", "per"}:
        unit = _STEPS.get(w.UNITS.get(c.word(i + 2), ""))
        return (Pattern(*unit), i + 3) if unit else None
    return (_ADVERBS[after], i + 2) if after in _ADVERBS else None


def _every(c: Context, i: int) -> Read | None:
    """Read what follows "every"."""
    if c.word(i) == "single":
        i += 1
    step, j = _step(c, i)
    word = c.word(j)
    working = word in _WORKING and c.word(j + 1) in {"day", "days"}
    if working or word in _WORKDAY_NAMES:
        if step != 1:  # no rule spells every other working day
            return _nth_weekday(c, i)
        return Pattern("week", days=WORKDAYS), j + 1 + working
    if word in {"weekend", "weekends"}:
        return Pattern("week", step, days=WEEKEND), j + 1
    if (
        j == i
        or c.word(i) in w.ORDINALS | {"last": -1}
        or c.word(j - 1) in {"st", "nd", "rd", "th"}
    ):
        special = _nth_weekday(c, i) or _month_day(c, i) or _yearly(c, i)
        if special:
            return special
    yearly = _yearly(c, i)
    if yearly:
        return yearly
    if step < 1:
        return None
    if word == "half" and c.word(j + 1) in {"hour", "an"}:
        end = j + 2 if c.word(j + 1) == "hour" else j + 3
        return (Pattern("minute", 30), end) if c.word(end - 1) == "hour" else None
    if word in w.DAY_PARTS:
        return Pattern("day", step, part=word), j + 1
    if word in w.WEEKDAYS or word in w.PLURAL_WEEKDAYS:
        days, end = weekday_list(c, j)
        part = c.word(end)
        if part in w.DAY_PARTS:
            return Pattern("week", step, days=days, part=part), end + 1
        return Pattern("week", step, days=days), end
    unit = _STEPS.get(w.UNITS.get(word, ""))
    if unit is None or word in {"night", "nights"}:
        return None
    return Pattern(unit[0], unit[1] * step), j + 1


def _step(c: Context, i: int) -> tuple[int, int]:
    """Read how many units one step is, 1 when nothing says so; and the token after it."""
    word = c.word(i)
    if word in {"other", "alternate"}:
        return 2, i + 1
    if word == "couple" and c.word(i + 1) == "of":
        return 2, i + 2
    if c.digits(i):
        suffix = c.word(i + 1) in {"st", "nd", "rd", "th"} and c.glued(i + 1)
        return c.number(i, 4) or 0, i + 2 if suffix else i + 1
    if word in w.NUMBERS:
        return w.NUMBERS[word], i + 1
    if word in w.TENS:
        more = c.word(i + 2) if c.word(i + 1) == "-" else c.word(i + 1)
        units = w.NUMBERS.get(more, 99)
        if units < 10:
            return w.TENS[word] + units, i + (3 if c.word(i + 1) == "-" else 2)
        return w.TENS[word], i + 1
    if word in w.ORDINALS:
        return w.ORDINALS[word], i + 1
    return 1, i


def _month_end(c: Context, j: int) -> int:
    """Return the token after "of the month", "of each month", "in a month"; `j` without one."""
    if c.word(j) not in {"of", "in"}:
        return j
    k = j + 2 if c.word(j + 1) in _EVERY | {"the", "a"} else j + 1
    return k + 1 if c.word(k) == "month" else j


def _nth_weekday(c: Context, i: int) -> Read | None:
    """Read "first Monday (of the month)", "last Friday", "third Thursday of the month"."""
    place = _place(c, i)
    if place is None:
        return None
    nth, j = place
    days, j = _kind_of_day(c, j)
    end = _month_end(c, j)
    # "every second Friday" is every other one, unless a month is named
    if not days or nth > 5 or (end == j and nth not in {1, -1}):
        return None
    return Pattern("month", days=days, nth=nth), end


def _kind_of_day(c: Context, j: int) -> tuple[tuple[int, ...], int]:
    """Read "Friday", "working day", "weekday": the days of the week and the token after."""
    word = c.word(j)
    if word in {"weekday", "workday"}:
        return WORKDAYS, j + 1
    if word in {"working", "business"} and c.word(j + 1) == "day":
        return WORKDAYS, j + 2
    return ((w.WEEKDAYS[word],), j + 1) if word in w.WEEKDAYS else ((), j)


def _place(c: Context, i: int) -> tuple[int, int] | None:
    if c.word(i) == "last":
        return -1, i + 1
    spelled = ordinal(c, i)
    return (spelled[0], spelled[1]) if spelled and spelled[2] else None


def _month_day(c: Context, i: int) -> Read | None:
    """Read "15th", "1st and 15th of the month", "last day of the month" after "every"."""
    if c.word(i) == "last" and c.word(i + 1) == "day" and _month_end(c, i + 2) > i + 2:
        return Pattern("month", month_days=(-1,)), _month_end(c, i + 2)
    days, j = _ordinals(c, i)
    if not days:
        return None
    end = _month_end(c, j)
    bare = end == j and c.digits(i) and c.word(j) not in w.UNITS and c.word(j) not in w.WEEKDAYS
    if end > j or (bare and c.word(j) not in {"of"} | set(w.MONTHS)):
        return Pattern("month", month_days=days), end
    return None


def _ordinals(c: Context, i: int, *, figures: bool = False) -> tuple[tuple[int, ...], int]:
    """Read "1st", "1st and 15th", "5th, 15th and 25th" and the token after; "1" with `figures`."""
    days: list[int] = []
    j = i
    while True:
        k = j + 1 if days and c.word(j) in {",", "and", "&"} else j
        k = k + 1 if days and c.word(k) == "and" else k
        k = k + 1 if c.word(k) == "the" else k
        spelled = ordinal(c, k)
        if spelled is None or not (spelled[2] or figures) or (days and k == j):
            return tuple(days), j
        days.append(spelled[0])
        j = spelled[1]


def _yearly(c: Context, i: int) -> Read | None:
    """Read "3 March", "March 3rd", "3rd of March", "3 and 10 March" after "every"."""
    month = w.MONTHS.get(c.word(i))
    if month is not None:
        days, end = _ordinals(c, i + 1, figures=True)
        if not days:
            return Pattern("year", month=month, month_days=(1,)), i + 1
        return Pattern("year", month=month, month_days=days), end
    days, j = _ordinals(c, i, figures=True)
    if not days:
        return None
    j += c.word(j) == "of"
    month = w.MONTHS.get(c.word(j))
    return (Pattern("year", month=month, month_days=days), j + 1) if month else None


def _of_each_month(c: Context, i: int) -> Read | None:
    """Read "1st and 15th of every month", "last Friday of each month", "last day of the month"."""
    place = _place(c, i)
    if place is None:
        return None
    days, j = _ordinals(c, i)
    if place[0] == -1 and c.word(place[1]) == "day":
        days, j = (-1,), place[1] + 1
    elif c.word(place[1]) == "day" and len(days) == 1:
        j = place[1] + 1
    weekdays, end = _kind_of_day(c, place[1])
    j = end if weekdays else j
    if c.word(j) not in {"of", "in"} or c.word(j + 1) not in _EVERY:
        return None
    if c.word(j + 2) == "month":
        if weekdays:
            return Pattern("month", days=weekdays, nth=place[0]), j + 3
        return (Pattern("month", month_days=days), j + 3) if days else None
    month = w.MONTHS.get(c.word(j + 2))
    if month and days and not weekdays:
        return Pattern("year", month=month, month_days=days), j + 3
    return None


def _plural_days(c: Context, i: int) -> Read | None:
    """Read "Mondays", "Mondays and Thursdays", "Sunday evenings"."""
    word = c.word(i)
    if word in w.WEEKDAYS and c.word(i + 1) in _PLURAL_PARTS:
        part = _PLURAL_PARTS[c.word(i + 1)]
        return Pattern("week", days=(w.WEEKDAYS[word],), part=part), i + 2
    if word not in w.PLURAL_WEEKDAYS:
        return None
    days, end = weekday_list(c, i)
    return Pattern("week", days=days), end


def _working_week(c: Context, i: int) -> Read | None:
    """Read "Monday to Friday", "Mon-Fri": each day of the range, every week."""
    first = w.WEEKDAYS.get(c.word(i))
    last = w.WEEKDAYS.get(c.word(i + 2))
    if first is None or last is None or c.word(i + 1) not in {"to", "through", "-", "–", "thru"}:
        return None
    if last <= first + 1:
        return None
    return Pattern("week", days=tuple(range(first, last + 1))), i + 3


def weekday_list(c: Context, i: int) -> tuple[tuple[int, ...], int]:
    """Read "Monday, Wednesday and Friday": the days and the token after them."""
    days: list[int] = []
    j = i
    while True:
        k = j
        while days and c.word(k) in {",", "and", "&", "/", "on", "every"} and k < j + 3:
            k += 1
        word = c.word(k)
        day = w.WEEKDAYS.get(word, w.PLURAL_WEEKDAYS.get(word))
        if day is None or (days and k == j):
            return tuple(sorted(set(days))), j
        days.append(day)
        j = k + 1


def _days_after(c: Context, pattern: Pattern, j: int) -> Read:
    """Add the days that follow a repeat: "weekly on Tuesday", "every month on the 1st and 15th"."""
    if c.word(j) == ",":
        return pattern, j
    k = j + 1 if c.word(j) == "on" else j
    if k == j:
        return pattern, j
    if pattern.unit == "week" and not pattern.days:
        days, end = weekday_list(c, k)
        return (replace(pattern, days=days), end) if days else (pattern, j)
    if pattern.unit == "day" and pattern.interval == 1 and c.word(k) in {"weekdays", "workdays"}:
        return replace(pattern, unit="week", days=WORKDAYS), k + 1
    if pattern.unit != "month" or pattern.month_days or pattern.days:
        return pattern, j
    k = k + 1 if c.word(k) == "the" else k
    if c.word(k) == "last" and c.word(k + 1) == "day":
        return replace(pattern, month_days=(-1,)), _month_end(c, k + 2)
    place = _place(c, k)
    days, end = _kind_of_day(c, place[1]) if place else ((), k)
    if place and days:
        return replace(pattern, days=days, nth=place[0]), _month_end(c, end)
    listed, end = _ordinals(c, k)
    return (replace(pattern, month_days=listed), end) if listed else (pattern, j)


def left_out(c: Context, pattern: Pattern, j: int, *, bare: bool = False) -> Read:
    """Take days out: "every day except Sunday", "daily but not on weekends".

    `bare`: "but" alone does so, too: "every day but Sunday".
    """
    k = j + 1 if c.word(j) == "," else j
    if c.word(k) == "but" and c.word(k + 1) in {"not", "never"}:
        k += 2
    elif c.word(k) in {"except", "excluding"}:
        k += 2 if c.word(k + 1) == "for" else 1
    elif (bare and c.word(k) == "but") or (c.word(k) == "not" and c.word(k + 1) == "on"):
        k += 1
    else:
        return pattern, j
    k = k + 1 if c.word(k) in {"on", "the"} and c.word(k - 1) != "but" else k
    out, end = weekday_list(c, k)
    if c.word(k) in {"weekends", "weekend"}:
        out, end = WEEKEND, k + 1
    every_day = pattern.unit == "day" and pattern.interval == 1
    days = tuple(d for d in (range(7) if every_day else pattern.days) if d not in out)
    if not out or not days or pattern.nth is not None:
        return pattern, j
    return replace(pattern, unit="week", days=days), end
