"""`read_when`, `find_whens`: the times and repeats to come that a text names, in English."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...nouns.clock import from_us
from ..dates.context import CUES, Context
from ..recurrence.zones import zone_of
from ..types import Span
from .listed import days_after, days_before_month
from .pieces import STARTS, collect, go_on
from .resolve import DEFAULT_HOUR, resolve_once, resolve_over
from .rules import resolve_repeat
from .types import Pieces, When

_CUES: Final = CUES | {
    *("every", "each", "daily", "weekly", "monthly", "yearly", "annually", "nightly", "hourly"),
    *("weekdays", "weekends", "weekday", "biweekly", "fortnightly", "quarterly", "everyday"),
    *("lunchtime", "eod", "cob", "eow", "eom", "at", "@", "thing"),
}
_FILLERS: Final = frozenset(
    "on at by in the a of for please around about from starting beginning , . ! ? ( ) ; : and then"
    " - sharp exactly not later than before it is make us see you this".split()
)
_MOST_CHARS: Final = 2_000


def read_when(
    text: str, now_us: int, zone: str, *, default_hour: int = DEFAULT_HOUR
) -> When | None:
    """Return the time or the repeat that a text names, None where it cannot be resolved.

    A time that is over rolls forward where the words allow it ("at 9", said at ten, is tomorrow);
    one that cannot ("yesterday", "5 May 2020") is none. Never a guess: a text that holds a second
    time, or digits or words of a date that could not be read, is None too. A local time that a
    clock change leaves out moves forward by the change, one that comes twice is the first.

    Args:
        text: English, or ISO 8601; at most its first 2,000 characters are read.
        now_us: when it was said, in microseconds.
        zone: the IANA zone it was said in.
        default_hour: the hour of a day that names none.

    Raises:
        InvalidInput: the zone is not known.
    """
    c = _context(text, now_us, zone)
    found = _scan(c, default_hour)
    if len(found) != 1:
        return None
    when, pieces = found[0]
    rest = [*range(pieces.first), *range(pieces.end, c.size)]
    words = [c.word(i) for i in rest if c.word(i) not in _FILLERS]
    if any(word in CUES or word[0].isdigit() for word in words):
        return None
    return when if not words else replace(when, confident=False)


def read_over(text: str, now_us: int, zone: str) -> int | None:
    """Return the instant, in microseconds, of the first time in a text that is over; else None.

    For texts that `read_when` resolves to nothing, to say why.

    Raises:
        InvalidInput: the zone is not known.
    """
    c = _context(text, now_us, zone)
    i = 0
    while i < c.size:
        pieces = _collect(c, i) if c.word(i) in STARTS or c.digits(i) else None
        if pieces is None:
            i += 1
            continue
        try:
            over = None if pieces.pattern is not None else resolve_over(c, pieces)
        except (OverflowError, ValueError):
            over = None
        if over is not None:
            return over
        i = max(pieces.end, i + 1)
    return None


def find_whens(
    text: str, now_us: int, zone: str, *, default_hour: int = DEFAULT_HOUR
) -> list[When]:
    """Return every time and repeat to come that a text names, in order, never overlapping.

    As `read_when`, but what stands around them is of no matter.

    Raises:
        InvalidInput: the zone is not known.
    """
    return [when for when, _ in _scan(_context(text, now_us, zone), default_hour)]


def _context(text: str, now_us: int, zone: str) -> Context:
    reference = from_us(now_us).astimezone(zone_of(zone))
    return Context(text[:_MOST_CHARS], reference, "future", day_first=False, tense=False)


def _scan(c: Context, hour: int) -> list[tuple[When, Pieces]]:
    found: list[tuple[When, Pieces]] = []
    if _CUES.isdisjoint(c.words) and not any("0" <= word[0] <= "9" for word in c.words):
        return found
    i = 0
    while i < c.size:
        if (c.word(i) not in STARTS and not c.digits(i)) or _inside(c, i):
            i += 1
            continue
        read = _read_at(c, i)
        for each in read:
            when = _resolve(c, each, hour)
            if when is not None:
                found.append((when, each))
        i = max(read[-1].end if read else 0, i + 1)
    return found


def _read_at(c: Context, i: int) -> list[Pieces]:
    """Return what begins at token `i`: one expression, or several days of a month."""
    led = days_before_month(c, i)
    pieces = None if led else _collect(c, i)
    if pieces is None:
        return led
    if pieces.clocks and not pieces.dated:  # "at 8 on 20 and 27 May"
        led = days_before_month(c, pieces.end)
        if led:
            return [replace(led[0], first=pieces.first, clocks=pieces.clocks), *led[1:]]
    more = days_after(c, pieces)
    return [pieces, *more[:-1], go_on(c, more[-1])] if more else [pieces]


def _inside(c: Context, i: int) -> bool:
    """Whether token `i` goes on from a number, a word or an amount: 1.2.3, v2, $5."""
    if not c.glued(i):
        return False
    before = c.word(i - 1)
    if c.digits(i):
        return before.isalnum() or before in {"$", "€", "£", "#", "_", ".", "/", ":"}
    return before in {"_", "'", "’", "-"} and c.glued(i - 1)


def _collect(c: Context, i: int) -> Pieces | None:
    try:
        return collect(c, i)
    except (OverflowError, ValueError):
        return None


def _resolve(c: Context, pieces: Pieces, hour: int) -> When | None:
    """Turn the parts of an expression into a time; None when it is over or says no day or hour."""
    first = pieces.first
    while c.word(first) in {",", "and", "then", "("}:
        first += 1
    span = Span(c.starts[first], c.ends[pieces.end - 1])
    try:
        if pieces.pattern is not None:
            repeated = resolve_repeat(c, pieces, hour)
            if repeated is None:
                return None
            return When(repeated[0], repeated[1], span, repeated[2], confident=True)
        once = resolve_once(c, pieces, hour)
    except (OverflowError, ValueError):
        return None
    dated = pieces.dated or pieces.starting is not None
    return When(once[0], None, span, once[1], once[2], dated) if once else None
