"""Dates told from the reference: "yesterday", "right now", "the week before last"."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from ...nouns.memory import Precision
from ..types import DateRelation
from . import words as w
from .context import Context, ReadDate
from .dayparts import part_of
from .intervals import (
    CLOCK_UNITS,
    Found,
    Interval,
    day_at,
    floor,
    precision_of,
    shift,
    unit_at,
)
from .moving import is_moved_to


def named_day(c: Context, i: int) -> Found | None:
    """Read today, yesterday, tomorrow, tonight."""
    word = c.word(i)
    if word in w.TONIGHT:
        return part_of(c.now, "night"), i + 1
    if word == "current" and c.word(i + 1) in {"date", "day"}:
        return day_at(c.now.date()), i + 2
    days = w.DAY_WORDS.get(word)
    return (day_at((c.now + timedelta(days=days)).date()), i + 1) if days is not None else None


PRESENT_STARTS: Final = frozenset(
    {"right", "at", "as", "now", "to", "currently", "presently", "just", "asap"}
)
_PRESENT: Final = (
    ("right", "now"),
    ("at", "present"),
    ("at", "the", "moment"),
    ("at", "this", "time"),
    ("at", "this", "moment"),
    ("at", "this", "minute"),
    ("at", "this", "very", "moment"),
    ("at", "the", "present", "time"),
    ("at", "the", "present", "moment"),
    ("at", "the", "present"),
    ("as", "of", "now"),
    ("as", "soon", "as", "possible"),
    ("just", "now"),
    ("currently",),
    ("presently",),
    ("asap",),
    ("now",),
)
CLOSING: Final = frozenset({"", ".", "!", "?", ",", ";"})


def present(c: Context, i: int) -> Found | None:
    """Read "right now", "at present", and "now" where it ends a clause; only when asked for."""
    if not c.present or c.word(i) not in PRESENT_STARTS:
        return None
    if c.word(i) == "to":
        dated = c.word(i + 1) == "date" and c.word(i + 2) in CLOSING
        today = replace(day_at(c.now.date()), relation=DateRelation.UNTIL)
        return (today, i + 2) if dated else None
    for phrase in _PRESENT:
        j = i + len(phrase)
        alone = phrase == ("now",)
        if tuple(c.words[i:j]) == phrase and (c.word(j) in CLOSING or not alone):
            if alone and c.opens_sentence(i):
                return None  # "Now, let us see"
            start = c.reference.replace(microsecond=0)
            return Interval(start, start + timedelta(seconds=1), Precision.SECOND), j
    return None


def unit_relation(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read "(the) week before last", "day after tomorrow", "week of May 7", "the weekend"."""
    unit = w.UNITS.get(c.word(i))
    if unit is None or unit in CLOCK_UNITS:
        return None
    to = i + 2 if c.word(i + 1) == "-" else i + 1
    if unit in {"week", "month", "quarter", "year"} and c.word(to) == "to":
        end = to + 2 if c.word(to + 1) == "-" else to + 1
        if c.word(end) == "date":
            begun, today = floor(c.now, unit), day_at(c.now.date())
            return Interval(begun, today.end, precision_of(unit), last=today.start), end + 1
        return None
    if c.word(i - 1) == "fiscal":
        return None
    if unit == "week" and c.digits(i + 1):
        return None
    beside = day_beside(c, i) or _ended(c, i, unit, read)
    if beside:
        return beside
    side, j = c.word(i + 1), i + 2
    night = c.word(i) == "night"
    if (side, c.word(j)) in {("before", "last"), ("after", "next")}:
        if c.word(i).endswith("s"):
            return None
        found = unit_at(shift(floor(c.now, unit), -2 if side == "before" else 2, unit), unit)
        return (part_of(found.start, "night") if night else found), j + 1
    several = side == "of" and c.word(i).endswith("s")
    if side in {"before", "after", "of", "following"} and not several:
        anchor = read(c, j + 1 if c.word(j) == "the" else j)
        if anchor and anchor[0].start.tzinfo is None:
            near = _unit_beside(anchor[0], unit, side)
            return (part_of(near.start, "night") if night else near), anchor[1]
    if unit == "weekend" and c.word(i - 1) == "the":
        if c.word(i - 2) not in _WEEKEND_AFTER and not is_moved_to(c.words, i):
            return None
        step = -1 if c.bias(i) == "past" and c.now.weekday() < 5 else 0
        return unit_at(shift(floor(c.now, unit), step, unit), unit), i + 1
    return None


_WEEKEND_AFTER: Final = frozenset(
    {"over", "at", "on", "for", "during", "this", "through", "by", "before", "until", "till"}
    | {"after", "since", "from", "in"}
)


def day_beside(c: Context, i: int) -> Found | None:
    """Read "the day before", "the next day" of what was told last, else of the reference.

    Of the reference only where the sentence does not tell of the past: there it is another day.
    """
    if c.word(i) != "day":
        return None
    step = {"next": 1, "following": 1, "previous": -1}.get(c.word(i - 1), 0)
    j = i + 1
    if not step and c.word(j) in {"before", "after"} and c.word(j + 1) in CLOSING:
        step, j = (-1 if c.word(j) == "before" else 1), j + 1
    plain = step and j == i + 1 and c.word(j) in CLOSING  # "next day", at the end of a clause
    if not step or not (plain or "the" in {c.word(i - 1), c.word(i - 2)}):
        return None
    told = c.antecedent
    if told is None and (step > 0) and c.bias(i) == "past" and not c.present:
        return None
    base = told if told is not None else c.now
    return day_at((base + timedelta(days=step)).date()), j


def _ended(c: Context, i: int, unit: str, read: ReadDate) -> Found | None:
    """Read "the quarter ended 30 June 2024", "the year ending 31 March"."""
    if c.word(i + 1) not in {"ended", "ending"} or unit not in {"month", "quarter", "year"}:
        return None
    day = read(c, i + 3 if c.word(i + 2) == "on" else i + 2)
    if day is None or day[0].precision is not Precision.DAY:
        return None
    return Interval(shift(day[0].end, -1, unit), day[0].end, precision_of(unit)), day[1]


def _unit_beside(anchor: Interval, unit: str, side: str) -> Interval:
    if side == "of":
        return unit_at(anchor.start, unit)
    back = side == "before"
    edge = anchor.start if back else anchor.end
    if unit in {"week", "fortnight"}:
        other = shift(edge, -1 if back else 1, unit)
        return Interval(min(edge, other), max(edge, other), Precision.WEEK)
    inside = edge - timedelta(microseconds=1) if back else edge
    found = unit_at(shift(inside, 0, unit), unit)
    if back and found.end > anchor.start:
        found = unit_at(shift(found.start, -1, unit), unit)
    elif not back and found.start < anchor.end:
        found = unit_at(shift(found.start, 1, unit), unit)
    return found
