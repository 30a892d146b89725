"""`find_dates`: every date named in a text, as intervals of UTC microseconds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime

from ...nouns.errors import InvalidInput
from ...nouns.memory import Precision
from ..types import DateRelation, DateSpan, Span
from . import words as w
from .clock import AT, read_clock_range
from .context import Context, Prefer, has_cue
from .foreign import find_lexicons, has_foreign_cue, read_foreign
from .foreign_words import Lexicon
from .holidays import DEFAULT_COUNTRY
from .intervals import Found, Interval, to_bounds, to_moment
from .other import find_other
from .parser import STARTS, read
from .relations import relation_of


def find_dates(
    text: str,
    reference: datetime,
    *,
    languages: Sequence[str] = ("en",),
    prefer: Prefer = "nearest",
    day_first: bool = False,
    present: bool = False,
    country: str = DEFAULT_COUNTRY,
) -> list[DateSpan]:
    """Return the dates and times that a text names, in order, never overlapping.

    A preposition is told beside the date: "since May" is May with the relation SINCE (English
    alone; see `DateSpan.window`). What repeats
    ("every Friday") and what only lasts ("for three years") is no date. Pure and deterministic;
    no text raises; the time is linear in the length of the text.

    Args:
        text: any text.
        reference: the aware moment at which it was said; its zone is the local zone.
        languages: ISO 639-1 codes to read: "en" in full; es, fr, de, it, pt and nl for common
            phrases and numeric dates; others as far as dateparser knows them, in the first
            `other.MAX_SEARCHED` characters that may hold a date; unknown ones are passed over.
        prefer: what a date that could lie on either side means ("Friday", "7 May"): "nearest"
            follows the tense of the sentence (what something was moved to is ahead, and so is a
            weekday that the present plans), and without one takes the last such weekday but the
            nearest such day of the year.
        day_first: read 5/7/2023 as 5 July; always so when another language than "en" comes
            first.
        present: read words for this very moment ("right now", "at present") and for the running
            day, week and so on ("the day", "to date") as dates, too; and let the moment of telling
            stand for a date told before where none was ("that week", "two days later").
        country: whose holidays are meant, in ISO 3166-1 (`holidays.COUNTRIES`).

    Raises:
        InvalidInput: `reference` is naive.
    """
    if reference.tzinfo is None:
        raise InvalidInput(
            "reference must be an aware datetime; attach the speaker's zone", field="reference"
        )
    found: list[DateSpan] = []
    if "en" in languages and (present or has_cue(text)):
        c = Context(text, reference, prefer, day_first=day_first, present=present, country=country)
        found = _scan(c, None)
    if any(code != "en" for code in languages):
        first = day_first or languages[0] != "en"
        c = Context(text, reference, prefer, day_first=first, tense=False)
        for lexicon in find_lexicons(languages):
            if has_foreign_cue(c, lexicon):
                found = _merge(found, _scan(c, lexicon))
        for others in find_other(text, reference, languages, prefer):
            found = _fill(found, others)
    return found


def _scan(c: Context, lexicon: Lexicon | None) -> list[DateSpan]:
    """Read a text from left to right, in English or by the table of another language."""
    spans: list[DateSpan] = []
    i = 0
    while i < c.size:
        word = c.words[i]
        digits = "0" <= word[0] <= "9"
        if (lexicon is None and not digits and word not in STARTS) or _inside_word(c, i):
            i += 1
            continue
        if lexicon is None and word in w.REPEATS:
            i = _skip_repeat(c, i)
            continue
        found = _safe(c, i, lexicon)
        if found is None:
            i += 1
            continue
        interval, end = found
        bounds = _bounds(c, found)
        if bounds and interval.precision is Precision.DAY and interval.start.tzinfo is None:
            c.antecedent = interval.start
        if bounds and not (lexicon is None and _repeats(c, end)):
            first = i - 1 if c.word(i - 1) == "the" else i
            span = Span(c.starts[first], c.ends[end - 1])
            english = lexicon is None and interval.relation is DateRelation.WITHIN
            relation = relation_of(c, first, end) if english else interval.relation
            if relation is DateRelation.WITHIN and interval.precision is Precision.DAY and english:
                ends = c.before(first) in {"through", "thru"} and interval.last is None
                relation = DateRelation.UNTIL if ends else relation
            if interval.edge == "end" and relation is DateRelation.BEFORE:
                relation = DateRelation.UNTIL  # "before the end of May": all of May counts
            spans.append(_dated(c, interval, bounds, span, relation))
        i = max(end, i + 1)
    return spans


def _dated(
    c: Context, interval: Interval, bounds: tuple[int, int], span: Span, relation: DateRelation
) -> DateSpan:
    zone = c.reference.tzinfo
    last = to_moment(interval.last, zone) if zone else None
    nominal = to_moment(interval.nominal, zone) if zone else None
    return DateSpan(*bounds, interval.precision, span, relation, last, nominal)


def _bounds(c: Context, found: Found) -> tuple[int, int] | None:
    """Return the interval in UTC microseconds, None where the calendar or the zone has none."""
    try:
        return to_bounds(found[0], c.reference.tzinfo) if c.reference.tzinfo else None
    except (OverflowError, ValueError):
        return None


def _safe(c: Context, i: int, lexicon: Lexicon | None) -> Found | None:
    """Read at token `i`; a date that no calendar has (30 February, the year 10000) is none."""
    try:
        return read(c, i) if lexicon is None else read_foreign(c, lexicon, i)
    except (OverflowError, ValueError):
        return None


def _inside_word(c: Context, i: int) -> bool:
    """Whether token `i` continues a number, a word or an identifier: 1.2.3, 10,000, v2, x_7."""
    if not c.glued(i):
        return False
    before = c.word(i - 1)
    if not c.digits(i):
        if before == ".":  # "datetime.today"
            return c.glued(i - 1) and c.word(i - 2).isalpha() and c.raw(i).islower()
        return before == "_" or (before.isalnum() and not c.digits(i - 1))
    if before in {"$", "€", "£", "#", "_", "+", "=", "&"}:
        return True
    if before.isalnum():
        return not (before in w.MONTHS or before in {"q", "h"})
    return before in {".", ",", ":", "/", "-"} and c.glued(i - 1) and c.digits(i - 2) > 0


def _skip_repeat(c: Context, i: int) -> int:
    """Return the token after "every other Friday at 9": what repeats is no date."""
    j = i + 1
    while j < i + 4 and (c.word(j) in {"other", "single", "few", "second"} or c.digits(j)):
        j += 1
    while c.word(j) in w.UNITS or c.word(j) in w.WEEKDAYS or c.word(j) in w.DAY_PARTS:
        j += 1
        listed = j
        while c.word(listed) in {",", "and", "or", "&"} and listed < j + 2:
            listed += 1
        if c.word(j - 1) in w.WEEKDAYS and c.word(listed) in w.WEEKDAYS:
            j = listed  # "every Monday, Wednesday, and Friday"
    if c.word(j) in w.MONTHS or c.word(j) in w.SEASONS:
        j += 1
    k = j + 1 if c.word(j) in AT else j
    try:
        clock = read_clock_range(c, k, bare=k > j)
    except (OverflowError, ValueError):
        clock = None
    return clock[1] if clock else max(j, i + 1)


def _repeats(c: Context, end: int) -> bool:
    """Whether what follows makes a date a repeated one: "3 pm every day", "Friday nights"."""
    after = c.word(end)
    if after == "of" and c.word(end + 1) in {"every", "each"}:
        return True
    return after in w.REPEATS | {"nights", "mornings", "evenings", "afternoons"}


def _merge(own: list[DateSpan], others: list[DateSpan]) -> list[DateSpan]:
    """Return both lists in order; where two overlap the longer stays, the own one in a tie."""
    taken: list[DateSpan] = []
    for span in sorted([*own, *others], key=lambda found: found.span.start):  # stable: own first
        last = taken[-1].span if taken else None
        if last is None or last.end <= span.span.start:
            taken.append(span)
        elif span.span.end - span.span.start > last.end - last.start:
            taken[-1] = span
    return taken


def _fill(own: list[DateSpan], others: list[DateSpan]) -> list[DateSpan]:
    """Return both lists in order, without the others that overlap one's own."""
    starts = [found.span.start for found in own]
    kept = list(own)
    for other in others:
        k = bisect_right(starts, other.span.start)
        free = k == 0 or own[k - 1].span.end <= other.span.start
        if free and (k == len(own) or own[k].span.start >= other.span.end):
            kept.append(other)
    return sorted(kept, key=lambda found: found.span.start)
