"""Dates by how far they are off: "two weeks ago", "in three days", "a week before May 7"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from ...nouns.memory import Precision
from ..types import DateRelation
from . import words as w
from .context import Context, ReadDate
from .counts import (
    BEFORE,
    WORKDAY,
    Quantity,
    at_distances,
    beside,
    quantities,
    shift_all,
)
from .intervals import (
    CLOCK_UNITS,
    Found,
    Interval,
    day_at,
    exact_shift,
    floor,
    midnight,
    precision_of,
    shift,
    unit_at,
)

_AFTER: Final = frozenset({"after", "following", "past", "from"})
_THAT: Final = frozenset({"that", "this", "then"})
_CLOSING: Final = frozenset({"", ".", "!", "?", ",", ";", "that", "then"})
_LESS: Final = frozenset({("less", "than"), ("fewer", "than"), ("at", "most"), ("up", "to")})
_MORE: Final = frozenset({("more", "than"), ("at", "least")})
# What makes "in a week" a rate or a record: "twice in a week", "the most in a month".
_RATES: Final = frozenset(
    {"once", "twice", "times", "most", "many", "much", "best", "often", "per", "ever"}
)


def counted(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "two weeks ago", "3 days from now", "a week before May 7", "two days after Easter"."""
    first = quantities(c, i)
    if first is None:
        return None
    parts, j = first
    found = _from_now(c, i, parts, j) or _from_told(c, parts, j) or _from_day(c, i, parts, j)
    if found is None:
        found = _from_anchor(c, i, parts, j, read)
    return _on_weekday(c, parts, *found) if found else None


def _from_now(c: Context, i: int, parts: Sequence[Quantity], j: int) -> Found | None:
    """Read what follows a count from this moment: "ago", "from now", "hence"."""
    amount, word = parts[0], c.word(j)
    sign, end = 0, j
    if word == "ago" or (word == "back" and amount.unit not in CLOCK_UNITS):
        sign, end = -1, j + 1
    elif word == "hence" or (word == "from" and c.word(j + 1) == "now"):
        sign, end = 1, j + (1 if word == "hence" else 2)
    elif word == "later" and c.word(j + 1) != "than" and amount.unit not in CLOCK_UNITS:
        if c.antecedent is not None and not amount.unit[1:].isdigit():
            return _all_beside(day_at(c.antecedent.date()), parts, 1), j + 1
        if c.bias(i) == "past" and not c.present:
            return None  # later than what is told, which has no date
        sign, end = 1, j + 1
    if not sign:
        return None
    found = at_distances(c, parts, sign)
    if _less(c, i):
        aware = found.start.tzinfo is not None
        now = c.reference if aware else midnight(c.now.date())
        edges = sorted((found.start if found.nominal is None else found.nominal, now))
        return Interval(edges[0], edges[1], found.precision), end
    beside_ = _ago_from(c, parts, end) if sign < 0 else None
    if beside_:
        return beside_
    if c.word(end) == "today" and found.nominal is not None:
        return day_at(found.nominal.date()), end + 1
    return _bounded(c, i, found, sign), end


def _ago_from(c: Context, parts: Sequence[Quantity], k: int) -> Found | None:
    """Read what a distance back is told from: "a year ago yesterday", "3 years ago this month"."""
    if any(p.unit in CLOCK_UNITS or p.unit == WORKDAY or p.unit[1:].isdigit() for p in parts):
        return None
    if c.word(k) in {"yesterday", "tomorrow"}:
        day = midnight(c.now.date()) + timedelta(days=w.DAY_WORDS[c.word(k)])
        return day_at(shift_all(day, parts, -1).date()), k + 1
    step = {"this": 0, "last": -1, "next": 1}.get(c.word(k))
    unit = w.UNITS.get(c.word(k + 1))
    if step is None or unit not in {"week", "month"} or parts[0].unit not in {"year", "month"}:
        return None
    return unit_at(shift_all(shift(floor(c.now, unit), step, unit), parts, -1), unit), k + 2


def _from_told(c: Context, parts: Sequence[Quantity], j: int) -> Found | None:
    """Read "two days earlier", "a week before", "3 days after that" of the day told before."""
    word = c.word(j)
    sign = -1 if word in {"earlier", "before"} else 1 if word in {"after", "afterwards"} else 0
    ends = c.word(j + 1) in _CLOSING
    if not sign or not ends or c.antecedent is None or parts[0].unit[1:].isdigit():
        return None
    if parts[0].unit in CLOCK_UNITS:
        return None
    end = j + 2 if c.word(j + 1) in _THAT else j + 1
    return _all_beside(day_at(c.antecedent.date()), parts, sign), end


def _from_day(c: Context, i: int, parts: Sequence[Quantity], j: int) -> Found | None:
    """Read "a week today", "two weeks tomorrow", "a fortnight on Friday": told of what comes."""
    unit, word = parts[0].unit, c.word(j)
    if unit not in {"week", "fortnight"} or len(parts) > 1 or c.bias(i) == "past":
        return None
    if word in {"today", "tomorrow"} and c.bias(i) == "future":
        day = c.now + timedelta(days=w.DAY_WORDS[word])
        return day_at(shift(day, parts[0].least, unit).date()), j + 1
    if word != "on" or c.word(j + 1) not in w.FULL_WEEKDAYS:
        return None
    days = (w.WEEKDAYS[c.word(j + 1)] - c.now.weekday()) % 7 or 7
    return day_at(shift(c.now + timedelta(days=days), parts[0].least, unit).date()), j + 2


def _from_anchor(
    c: Context, i: int, parts: Sequence[Quantity], j: int, read: ReadDate
) -> Found | None:
    """Read "a week before May 7", "3 days after Easter", "in two weeks since 2011"."""
    word, amount = c.word(j), parts[0]
    if word in {"ended", "ending"}:
        return _ended(c, parts, j, read)
    sign = -1 if word in BEFORE or word == "prior" else 1
    after = _AFTER | ({"since"} if c.word(i - 1) == "in" else set())
    if word not in BEFORE | after | {"prior"} or amount.unit[1:].isdigit():
        return None
    anchor = _anchor(c, j + 2 if word == "prior" and c.word(j + 1) == "to" else j + 1, read)
    if anchor is None:
        return None
    if word == "from" and c.word(anchor[1] - 1) in w.WEEKDAYS and anchor[0].end <= c.now:
        week = timedelta(weeks=1)  # "two weeks from Friday" is told of the Friday to come
        ahead_ = replace(anchor[0], start=anchor[0].start + week, end=anchor[0].end + week)
        anchor = ahead_, anchor[1]
    if c.word(i - 1) == "the" and _several(parts) and word not in {"from", "past"}:
        day = anchor[0]
        far = shift_all(day.start if sign < 0 else day.end, parts, sign)
        ends = (far, day.start) if sign < 0 else (day.end, far)
        return Interval(*ends, precision_of(parts[-1].unit)), anchor[1]
    found = _all_beside(anchor[0], parts, sign)
    if _less(c, i):
        edge, near = found.start, anchor[0].start
        return Interval(min(edge, near), max(edge, near), found.precision), anchor[1]
    return _bounded(c, i, found, sign), anchor[1]


def _several(parts: Sequence[Quantity]) -> bool:
    """Whether counts make a stretch of time: "the two weeks before", not "the day before"."""
    plain = all(p.unit != WORKDAY and p.unit not in CLOCK_UNITS for p in parts)
    return plain and parts[0].least > 1 and not parts[0].unit[1:].isdigit()


def _ended(c: Context, parts: Sequence[Quantity], j: int, read: ReadDate) -> Found | None:
    """Read "the three months ended 30 June 2024"."""
    day = read(c, j + 2 if c.word(j + 1) == "on" else j + 1)
    if day is None or day[0].precision is not Precision.DAY or not _several(parts):
        return None
    start = shift_all(day[0].end, parts, -1)
    return Interval(start, day[0].end, precision_of(parts[-1].unit)), day[1]


def _anchor(c: Context, k: int, read: ReadDate) -> Found | None:
    k = k + 1 if c.word(k) == "the" else k
    k = k + 1 if c.word(k) == "year" and c.digits(k + 1) else k
    if c.digits(k) == 4 and c.word(k - 1) == "year":
        return unit_at(midnight(c.now.date()).replace(year=c.number(k) or 1), "year"), k + 1
    return read(c, k)


def _all_beside(anchor: Interval, parts: Sequence[Quantity], sign: int) -> Interval:
    base, *rest = parts
    found = beside(anchor, base, sign)
    for part in rest:
        found = beside(found, part, sign)
    return found


def _on_weekday(c: Context, parts: Sequence[Quantity], found: Interval, j: int) -> Found:
    """Read "in two weeks on Friday": that day of the week counted to.

    Of months and years it is the first such day from the day counted to on.
    """
    k = j + 1 if c.word(j) in {"on", ","} else j
    day = w.WEEKDAYS.get(c.word(k)) if c.word(k) in w.FULL_WEEKDAYS else None
    if day is None or found.start.tzinfo is not None or (k > j and c.word(j) == ","):
        return found, j
    unit = parts[0].unit
    if unit == WORKDAY or unit in CLOCK_UNITS or found.relation is not DateRelation.WITHIN:
        return found, j
    counted_to = found.nominal or found.start
    if unit in {"day", "week", "fortnight"}:
        return day_at((floor(counted_to, "week") + timedelta(days=day)).date()), k + 1
    days = (day - counted_to.weekday()) % 7
    return day_at((counted_to + timedelta(days=days)).date()), k + 1


def _less(c: Context, i: int) -> bool:
    """Whether "less than", "no more than" stands before the count at token `i`."""
    two = (c.word(i - 2), c.word(i - 1))
    denied = two == ("more", "than") and c.word(i - 3) in {"no", "not"}
    return two in _LESS or denied or (c.word(i - 1) == "under" and c.word(i - 2) == "in")


def _bounded(c: Context, i: int, found: Interval, sign: int) -> Interval:
    """Apply "more than", "at least" before a counted date: before it, or after it."""
    least = (c.word(i - 2), c.word(i - 1)) in _MORE
    if not least and not (c.word(i - 1) == "over" and sign < 0):
        return found
    return replace(found, relation=DateRelation.BEFORE if sign < 0 else DateRelation.AFTER)


def ahead(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "in two weeks", "within three days", "in a year's time"; after a past verb, nothing."""
    k, side = _measure(c, i)
    if c.word(i) == "within" and c.word(k) == "the":
        return _within_unit(c, k + 1)
    first = quantities(c, k)
    if first is None:
        return None
    parts, j = first
    amount = parts[0]
    if amount.unit[1:].isdigit() and (c.bias(i) == "past" or c.word(i) == "within"):
        return None
    marked = False
    if c.word(j) in {"'", "’"}:
        j += 2 if c.word(j + 1) == "s" else 1
    if c.word(j) == "time":
        marked, j = True, j + 1
    if c.word(i) == "within" and c.word(j) in {"of", "after", "before", "from"}:
        return _around(c, parts, j, read)
    if c.word(j) == "since":
        return counted(c, k, read)
    if c.word(j) in {"of", "ago", "before", "after", "-", "from", "row"}:
        return None
    bias = c.bias(i)
    vague = amount.article and not side and c.word(j - 1) != "half"
    if not marked and (bias == "past" or (vague and not _told_ahead(c, i, j, bias))):
        return None
    if c.word(i) == "within" or side == "less":
        found = _until(c, parts)
        return (found, j) if found else None
    found = at_distances(c, parts, 1)
    if side == "more":
        return replace(found, relation=DateRelation.AFTER), j
    return _on_weekday(c, parts, found, j)


def _measure(c: Context, i: int) -> tuple[int, str]:
    """Read "less than", "over" behind "in": where its count begins and which side is meant."""
    two = (c.word(i + 1), c.word(i + 2))
    if two in _LESS:
        return i + 3, "less"
    if two in _MORE:
        return i + 3, "more"
    if c.word(i + 1) == "under":
        return i + 2, "less"
    if c.word(i + 1) in {"about", "around", "exactly", "roughly", "approximately"}:
        return i + 2, ""
    return i + 1, ""


def _told_ahead(c: Context, i: int, j: int, bias: str | None) -> bool:
    """Whether "in a week" at tokens `i` to `j` is a day to come rather than a rate."""
    if bias == "future" or c.word(i) == "within":
        return True
    rated = any(c.word(t) in _RATES for t in range(max(i - 8, 0), i))
    greeted = (c.word(i - 2), c.word(i - 1)) in {("see", "you"), ("talk", "to"), ("be", "back")}
    return greeted or (not rated and c.word(j) in {"time", "from"})


def _until(c: Context, parts: Sequence[Quantity]) -> Interval | None:
    """Return the time from now, or today, until a count of units from it."""
    amount = parts[0]
    if amount.unit == WORKDAY:
        return None
    if parts[-1].unit in CLOCK_UNITS:
        end = exact_shift(c.reference, amount.most, amount.unit).start
        if len(parts) > 1:
            end = shift_all(c.reference, parts, 1)
        return Interval(c.reference, end, precision_of(parts[-1].unit))
    today = midnight(c.now.date())
    far = shift_all(shift(today, amount.most, amount.unit), parts[1:], 1)
    return Interval(today, far, precision_of(parts[-1].unit))


def _within_unit(c: Context, k: int) -> Found | None:
    """Read "within the hour", "within the week": from now, or today, to its end."""
    unit = w.UNITS.get(c.word(k))
    if unit is None or c.word(k).endswith("s") or c.word(k + 1) in {"of", "before", "after"}:
        return None
    if unit in CLOCK_UNITS:
        far = exact_shift(c.reference, 1, unit).start
        return Interval(c.reference, far, precision_of(unit)), k + 1
    today = midnight(c.now.date())
    return replace(unit_at(c.now, unit), start=today), k + 1


def _around(c: Context, parts: Sequence[Quantity], j: int, read: ReadDate) -> Found | None:
    """Read "within two weeks of May 7", "within 3 days after Easter"."""
    side = c.word(j)
    anchor = _anchor(c, j + 1, read)
    if anchor is None or anchor[0].start.tzinfo is not None:
        return None
    if parts[-1].unit in CLOCK_UNITS or any(p.unit == WORKDAY for p in parts):
        return None
    day = anchor[0]
    low = day.start if side in {"after", "from"} else shift_all(day.start, parts, -1)
    high = day.end if side == "before" else shift_all(day.end, parts, 1)
    precision = max(day.precision, Precision.DAY, key=list(Precision).index)
    return Interval(low, high, precision), anchor[1]
