"""Dates in the languages that have no table here, found and read by the dateparser library.

Only there. On what the English rules leave unread, dateparser added 11 right dates against 98
wrong or false ones; in the six languages with a table (`foreign_words`) it returned nothing for
common phrases. So a caller must name a language, nothing is ever guessed, and even then the
library only proposes: its search says where a date may stand, each proposal is read again as
written in that language (the search itself reads 12.05.2023 in the American order), and the
guards below throw out bare lengths ("25 years"), bare numbers and half-read dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from ...nouns.memory import Precision
from ..types import DateSpan, Span
from .context import Prefer
from .foreign_words import LANGUAGES
from .intervals import Interval, choose, exact_shift, shift, to_bounds, unit_at, year_at
from .other_reader import (
    MARK,
    NUMBER,
    SHORTEST_NAME,
    UNSPACED,
    Answer,
    Read,
    make_reader,
    search,
    vocabulary,
)

MAX_SENTENCE: Final = 400  # characters handed to the library at once
MAX_SEARCHED: Final = 8_000  # characters of a text searched per language; what follows is unread
_MAX_MATCHES: Final = 24  # per sentence
_MAX_NUMBERS: Final = 48  # per sentence: with more it is a table, slow to search and no prose

_SENTENCE: Final = re.compile(r"(?:[^\n!?…。！？।.]|\.(?!\s)|(?<=\d)\.|\.(?=\s+\d))+")
_PIECE: Final = re.compile(rf"(?s).{{1,{MAX_SENTENCE}}}(?:[\s,;、，]|$)|.{{1,{MAX_SENTENCE}}}")
_FIRST_WORD: Final = re.compile(r"[^\W\d_]+\s+")
_LETTER: Final = re.compile(r"[^\W\d_]")
_CLOCK: Final = r"\d{1,2}:\d\d(?::\d\d)?"
_NUMERIC: Final = re.compile(
    rf"(?:(?:\d{{1,2}}([./-])\d{{1,2}}\1(?:\d\d){{1,2}}|\d{{4}}([./-])\d{{1,2}}\2\d{{1,2}})"
    rf"(?:[\s,]+{_CLOCK})?)|{_CLOCK}"
)
_MINUTES: Final = re.compile(r"\d[:.：h時时点點]\s*\d\d")
_NUMBER_BEFORE: Final = re.compile(r"(?<![\w.,:/-])\d{1,2}\.?\s+$")
_AFTER: Final = re.compile(r"(?<=\d)[日号號일]|\.?,?\s+(?:1[2-9]|2[01])\d\d(?![\w:/-]|[.,]\d)")
_BEFORE_CLOCK: Final = re.compile(r"[^\d\n,;()]{1,8}")  # "imorgon kl 15:00"
_STRIPPED: Final = " \t\r\n.,;:!?()[]\"'«»„“”-"
_OTHER_MONTH: Final = timedelta(days=45)
_UNITS: Final = {"day", "week", "month", "quarter", "year"}


def find_other(
    text: str, reference: datetime, languages: Iterable[str], prefer: Prefer
) -> Iterator[list[DateSpan]]:
    """Yield the dates found in each language that has no table here, in order, not overlapping.

    Unknown codes are passed over. At most `MAX_SEARCHED` characters of a text are searched, in
    sentences that hold a digit or a word of the language's calendar.

    Args:
        text: any text.
        reference: the aware moment at which it was said; its zone is the local zone.
        languages: language codes as dateparser has them ("pl", "ja", "zh").
        prefer: as for `find_dates`, without the tense.
    """
    for code in dict.fromkeys(languages):
        if code == "en" or code in LANGUAGES:
            continue
        words = vocabulary(code)
        if words is not None:
            yield list(_find(text, reference, code, words, prefer))


def _sentences(text: str, words: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield the start and text of each piece worth a search, until enough has been searched."""
    left = MAX_SEARCHED
    for sentence in _SENTENCE.finditer(text):
        for piece in _PIECE.finditer(text, sentence.start(), sentence.end()):
            found = piece.group()
            numbers = len(NUMBER.findall(found))
            if numbers > _MAX_NUMBERS or not (numbers or words.search(found.lower())):
                continue
            left -= len(found)
            if left < 0:
                return
            yield piece.start(), found


def _find(
    text: str, reference: datetime, code: str, words: re.Pattern[str], prefer: Prefer
) -> Iterator[DateSpan]:
    zone = reference.tzinfo
    read = make_reader(code)
    for offset, sentence in _sentences(text, words):
        for interval, span in _in_sentence(sentence, reference, code, read, prefer):
            try:
                bounds = to_bounds(interval, zone) if zone else None
            except (OverflowError, ValueError):
                continue
            if bounds:
                at = Span(offset + span.start, offset + span.end)
                yield DateSpan(bounds[0], bounds[1], interval.precision, at)


def _in_sentence(
    sentence: str, reference: datetime, code: str, read: Read, prefer: Prefer
) -> list[tuple[Interval, Span]]:
    taken: list[tuple[Interval, Span]] = []
    cursor = 0
    now = reference.replace(tzinfo=None, fold=0)
    for matched in search(sentence, code, now)[:_MAX_MATCHES]:
        place = _place(sentence, matched.strip(_STRIPPED), cursor)
        found = _resolve(sentence, place, reference, read, prefer) if place else None
        if found is None or found[1].start < cursor:
            continue
        joined = _join_clock(sentence, *taken[-1], *found) if taken else None
        if joined:
            taken[-1] = joined
        else:
            taken.append(found)
        cursor = found[1].end
    return taken


def _join_clock(
    sentence: str, day: Interval, first: Span, clock: Interval, last: Span
) -> tuple[Interval, Span] | None:
    """Set a clock time on the day named just before it, which the search reads apart."""
    timed = clock.precision in {Precision.HOUR, Precision.MINUTE} and clock.start.tzinfo is None
    if day.precision is not Precision.DAY or not timed:
        return None
    if not _BEFORE_CLOCK.fullmatch(sentence, first.end, last.start):
        return None
    start = datetime.combine(day.start.date(), clock.start.time())
    both = Interval(start, start + (clock.end - clock.start), clock.precision)
    return both, Span(first.start, last.end)


def _place(sentence: str, matched: str, cursor: int) -> Span | None:
    """Return where a match stands as words of its own, at or after `cursor`."""
    short = len(matched) < 3 and not any(c.isdigit() for c in matched)
    if short and not UNSPACED.search(matched):
        return None
    start = sentence.find(matched, cursor) if matched else -1
    while start >= 0:
        end = start + len(matched)
        if _edge(sentence, start) and _edge(sentence, end):
            return Span(start, end)
        start = sentence.find(matched, start + 1)
    return None


def _edge(sentence: str, i: int) -> bool:
    """Whether no word, number or version goes on across position `i`."""
    if i in {0, len(sentence)}:
        return True
    before, after = sentence[i - 1], sentence[i]
    if UNSPACED.match(before) or UNSPACED.match(after):
        return True
    if (before.isalnum() or before == "_") and (after.isalnum() or after == "_"):
        return False
    if after in ".,:/-" and before.isdigit():
        return not sentence[i + 1 : i + 2].isdigit()
    return not (before in ".,:/-" and after.isdigit() and sentence[i - 2 : i - 1].isdigit())


def _resolve(
    sentence: str, place: Span, reference: datetime, read: Read, prefer: Prefer
) -> tuple[Interval, Span] | None:
    """Read a match, with the numbers beside it that the search cut off ("7 | maja 1990")."""
    for span, whole in _variants(sentence, place):
        interval = _interval(sentence[span.start : span.end], reference, read, prefer)
        if interval and (whole or interval.precision is not Precision.MONTH):
            return interval, span
    return None


def _variants(sentence: str, place: Span) -> Iterator[tuple[Span, bool]]:
    """Yield the widest span first, and whether no number is left beside it.

    Last comes the match without its first word: the search may take one too many ("är imorgon").
    """
    before = _NUMBER_BEFORE.search(sentence, max(place.start - 8, 0), place.start)
    after = _AFTER.match(sentence, place.end)
    starts = [before.start(), place.start] if before else [place.start]
    ends = [after.end(), place.end] if after else [place.end]
    for start in starts:
        for end in ends:
            yield Span(start, end), start == starts[0] and end == ends[0]
    word = _FIRST_WORD.match(sentence, place.start, place.end)
    if word and word.end() < place.end:
        yield Span(word.end(), place.end), len(starts) == len(ends) == 1


def _interval(text: str, reference: datetime, read: Read, prefer: Prefer) -> Interval | None:
    """Return what a text says as an interval, None where it names no date of its own."""
    if not _LETTER.search(text) and not _NUMERIC.fullmatch(text):
        return None
    now = reference.replace(tzinfo=None, fold=0)
    base = now.replace(microsecond=MARK)
    past, future = read(text, base, "past"), read(text, base, "future")
    if past is None or future is None or past.unit != future.unit:
        return None
    try:
        if past.relative:
            return _from_now(past, base, reference) if past == future else None
        if _too_little(text, past, read, base):
            return None
        options = [_unit(answer, text) for answer in (past, future)]
    except (OverflowError, ValueError):
        return None
    if None in options:
        return None
    return _prefer([o for o in options if o], now, prefer)


def _too_little(text: str, answer: Answer, read: Read, base: datetime) -> bool:
    """Whether a text that is not told from now names too little: a day alone, a short name."""
    named = not any(c.isdigit() for c in text) and len(text.split()) == 1
    short = answer.unit == "month" or len(text) < SHORTEST_NAME
    if named and short and not UNSPACED.search(text):
        return True
    if answer.unit != "day":
        return False
    # 45 days on, a weekday falls 42 or 49 days later and a date stays: only a day of the
    # month keeps its number in another month.
    other = read(text, base + _OTHER_MONTH, "past")
    return other is None or (other.at.day == answer.at.day and other.at.month != answer.at.month)


def _from_now(answer: Answer, base: datetime, reference: datetime) -> Interval | None:
    """Return the interval of "yesterday", "3 hours ago"; elapsed time for units of the clock."""
    if answer.at.tzinfo is not None:
        return None
    if answer.unit != "time":
        return unit_at(answer.plain, answer.unit) if answer.unit in _UNITS else None
    seconds = round((answer.at - base).total_seconds())
    for unit, size in (("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds and seconds % size == 0:
            return exact_shift(reference, seconds // size, unit)
    return None


def _unit(answer: Answer, text: str) -> Interval | None:
    """Return the day, month or clock time of the calendar that an answer names."""
    at = answer.plain
    if answer.unit == "time":
        unit = "minute" if at.minute or _MINUTES.search(text) else "hour"
        return Interval(at, shift(at, 1, unit), Precision(unit))
    if answer.unit not in _UNITS or at.tzinfo is not None:
        return None
    return year_at(at.year) if answer.unit == "year" else unit_at(at, answer.unit)


def _prefer(options: list[Interval], now: datetime, prefer: Prefer) -> Interval | None:
    """Choose as `find_dates` does: the last such weekday, the nearest such date, today's hour."""
    past, future = options
    if prefer != "nearest":
        return past if prefer == "past" else future
    if past.start.tzinfo is not None or past == future:
        return past
    if past.precision in {Precision.HOUR, Precision.MINUTE}:
        today = [o for o in options if o.start.date() == now.date()]
        return today[0] if today else choose(options, now, None)
    if future.start - past.start <= timedelta(days=14):
        return past
    return choose(options, now, None)
