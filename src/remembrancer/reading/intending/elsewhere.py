"""Asks to be reminded in other languages than English: "Erinnere mich morgen an den Zahnarzt".

What names the ask itself is read, with one time or a plain repeat ("jeden Montag um 9 Uhr").
Promises, duties, events and topics are read in English alone.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from ...nouns.clock import from_us, to_us
from ...nouns.intention import TriggerType
from ...nouns.memory import Precision, Role
from ...nouns.recurrence import Recurrence
from ..dates import find_dates
from ..recurrence.zones import local_of, zone_of
from ..types import DateSpan, Span
from ..when import When
from .line import Line
from .tongues import CUE, DAILY, Tongue, tongues
from .types import FoundIntention, Manner

_SURE: Final = 0.9  # as an ask in English
_COARSE: Final = 0.6  # a week, a month: whoever confirms it names the day
_IMPORTANCE: Final = 0.6  # of an ask
_DENIED: Final = re.compile(r"[\s,]*(?:nicht|pas|no|non|não|niet)\b", re.IGNORECASE)
_BYDAY: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_FINE: Final = {Precision.HOUR, Precision.MINUTE, Precision.SECOND}


class _Time(NamedTuple):
    """A time in the words of an ask: where it stands, and when it comes."""

    start: int
    end: int
    at: int
    precision: Precision
    recurrence: Recurrence | None = None


def asked_elsewhere(line: Line, role: Role, default_hour: int) -> list[FoundIntention]:
    """Return what a sentence in another language asks to be reminded of, one at most."""
    if role not in {Role.USER, Role.NONE} or not CUE.search(line.low):
        return []
    for tongue in tongues():
        head = tongue.head.search(line.text)
        if head is not None:
            found = _read(line, tongue, head, default_hour)
            return [found] if found else []
    return []


def _read(
    line: Line, tongue: Tongue, head: re.Match[str], default_hour: int
) -> FoundIntention | None:
    tail = tongue.tail.search(line.text, head.end())
    end = tail.start() if tail else len(line.text)
    rest = line.text[head.end() : end]
    if _DENIED.match(rest):
        return None
    verb = None
    if "split" in tongue.head.groupindex and head["split"]:
        verb = tongue.verb.search(rest)
        if verb is None:
            return None  # "kannst du mich" of something else
    told = rest[: verb.start()] if verb else rest
    time = _time(line, tongue, told, default_hour)
    if time is None or time.at <= line.said_at:
        return None
    content = _linked(tongue, rest[verb.end() :]) if verb else ""
    content = content or _content(tongue, told, time)
    if not content:
        return None
    place = line.start + head.end()
    exact = time.recurrence is not None or time.precision in {*_FINE, Precision.DAY}
    when = When(
        time.at,
        time.recurrence,
        Span(place + time.start, place + time.end),
        time.precision,
        confident=exact,
    )
    return FoundIntention(
        content=content,
        trigger_type=TriggerType.TIME,
        span=Span(line.start, line.start + len(line.text)),
        manner=Manner.ASK,
        confidence=_SURE if exact else _COARSE,
        importance=_IMPORTANCE,
        when=when,
    )


def _content(tongue: Tongue, rest: str, time: _Time) -> str:
    """Return what is to be done: the words after the time, else those before it, else all."""
    before = tongue.left.sub("", _linked(tongue, rest[: time.start]))
    after = _linked(tongue, rest[time.end :])
    if before and after:
        return _linked(tongue, rest)
    return after or before


def _linked(tongue: Tongue, words: str) -> str:
    """Return words without what links them to the ask."""
    return tongue.lead.sub("", words, count=1).strip(" ,:;–—-\t\n")


def _time(line: Line, tongue: Tongue, rest: str, default_hour: int) -> _Time | None:
    """Find when: a repeat, a date, or a time of the day alone."""
    said = from_us(line.said_at).astimezone(zone_of(line.zone))
    repeat = tongue.every.search(rest)
    if repeat is not None:
        return _repeat(line, tongue, rest, repeat, said, default_hour)
    dates = find_dates(rest, said, languages=(tongue.code,), prefer="future")
    if len(dates) > 1:
        return None  # which of them is not known
    if dates:
        return _of_date(line, tongue, rest, dates[0], default_hour)
    hour = _hour(tongue, rest, 0, len(rest))
    if hour is None:
        return None
    start, end, minutes = hour
    at = _local(said, minutes)
    later = at if at > said.replace(tzinfo=None) else at + timedelta(days=1)
    return _Time(start, end, _instant(line, later), Precision.MINUTE)


def _of_date(
    line: Line, tongue: Tongue, rest: str, date: DateSpan, default_hour: int
) -> _Time | None:
    start, end = date.span.start, date.span.end
    local = local_of(date.start, zone_of(line.zone))
    if date.precision in _FINE:
        part = _part(tongue, rest, end)
        if part is not None and part[1] >= 12 > local.hour:  # "a las 3 de la tarde"
            local, end = local + timedelta(hours=12), part[0]
        return _Time(start, end, _instant(line, local), date.precision)
    hour = _hour(tongue, rest, start, end)
    if hour is not None and date.precision is Precision.DAY:
        first, last, minutes = hour
        moment = local + timedelta(minutes=minutes)
        return _Time(min(start, first), max(end, last), _instant(line, moment), Precision.MINUTE)
    moment = local + timedelta(hours=default_hour)
    return _Time(start, end, _instant(line, moment), date.precision)


def _repeat(
    line: Line,
    tongue: Tongue,
    rest: str,
    repeat: re.Match[str],
    said: datetime,
    default_hour: int,
) -> _Time:
    """Read "jeden Tag" and "jeden Montag", with an hour beside it or the hour of a day."""
    hour = _hour(tongue, rest, repeat.start(), repeat.end())
    start, end, minutes = hour or (repeat.start(), repeat.end(), default_hour * 60)
    first = _local(said, minutes)
    if repeat[DAILY]:
        rule = "FREQ=DAILY"
    else:
        day = next(n for n in range(7) if repeat[f"d{n}"])
        first += timedelta(days=(day - first.weekday()) % 7)
        rule = f"FREQ=WEEKLY;BYDAY={_BYDAY[day]}"
    if first <= said.replace(tzinfo=None):
        first += timedelta(days=1 if repeat[DAILY] else 7)
    recurrence = Recurrence(line.zone, first, rrule=rule)
    start, end = min(start, repeat.start()), max(end, repeat.end())
    return _Time(start, end, _instant(line, first), Precision.MINUTE, recurrence)


def _hour(tongue: Tongue, rest: str, start: int, end: int) -> tuple[int, int, int] | None:
    """Return a time of the day in some words or beside them: its place, and minutes of the day."""
    clock = tongue.clock.search(rest)
    if clock is not None:
        told = clock.groupdict()
        hour = int(told["h"] or told.get("h2") or 0)
        minute = int(told["m"] or told.get("m2") or told.get("n") or 0)
        if hour > 23 or minute > 59:
            return None
        last = clock.end()
        part = _part(tongue, rest, last)
        if part is not None:
            last = part[0]
            hour += 12 if part[1] >= 12 > hour else 0
        return clock.start(), last, hour * 60 + minute
    for words, hour in tongue.parts:
        found = words.search(rest, start)
        if found is not None and not rest[end : found.start()].strip(" ,"):
            return min(start, found.start()), max(end, found.end()), hour * 60
    return None


def _part(tongue: Tongue, rest: str, at: int) -> tuple[int, int] | None:
    """Return where the part of a day ends that stands right after a place, and its hour."""
    for words, hour in tongue.parts:
        found = words.search(rest, at)
        if found is not None and not rest[at : found.start()].strip(" ,"):
            return found.end(), hour
    return None


def _local(said: datetime, minutes: int) -> datetime:
    day = said.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    return day + timedelta(minutes=minutes)


def _instant(line: Line, local: datetime) -> int:
    return to_us(local.replace(tzinfo=zone_of(line.zone)))
