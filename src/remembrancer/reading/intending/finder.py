"""`find_intentions`: sentences that ask to be reminded, or commit to something later."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from ...nouns.intention import TriggerType
from ...nouns.memory import Role
from ..recurrence.zones import zone_of
from ..sentences import split_sentences
from ..types import Span
from ..when import When
from . import lexicon as lex
from .content import content_of
from .elsewhere import asked_elsewhere
from .heads import Head, read_head
from .line import Line, is_coarse
from .masking import is_hidden, mask
from .offsets import set_back, zone_of_offset
from .openings import after_head, go_on, next_ask, read_opening, region_end, trailing_condition
from .triggers import Opening, Trigger, choose, fits, in_the_morning
from .types import UNSURE, FoundIntention, Manner

_MOST_CHARS: Final = 1_000  # of a sentence; longer ones are no request
_IMPORTANCE: Final = {  # commitments weigh .5 at least, wishes .7 of .6
    Manner.ASK: 0.6,
    Manner.ORDER: 0.6,
    Manner.PROMISE: 0.6,
    Manner.DUTY: 0.5,
    Manner.WISH: 0.42,
}
_NOTE: Final = re.compile(r"(?:note|reminder|memo)")
# Words of a time that could not be read, at the edges of what is to be done.
_LEFT_OVER: Final = re.compile(
    r"^(?:and|or|&|until|till|til|except|excluding)\b|^(?:no|sorry|actually|rather|i mean),"
    r"|^(?:starting|beginning|ending) (?:at|on|from|in|today|tomorrow|next|\d)"
    r"|^(?:the )?\d{1,2}(?:st|nd|rd|th)?(?:,| and| or| &) (?:the )?\d"
    r"|\bat \d{1,2} (?:and|or|&) (?:at )?\d{1,2}$"
)
# Days that a repeat leaves out, said apart from it: "every day to run, but not on Sundays".
_SPARED: Final = re.compile(
    r"\b(?:except|excluding|but|not|never)(?: for)?(?: on| the)* "
    r"(?:weekends?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b"
)
# A step whose end is no known time: "two weeks | before the trip".
_STEP_LEFT: Final = re.compile(
    r"\b(?:an?|\d+|[a-z]+) (?:minute|min|hour|day|week|month|year)s?(?: just)?$"
)
_IS: Final = re.compile(r"\b(?:is|are|will)\b")  # an announcement rather than a thing to do


def find_intentions(
    text: str,
    *,
    said_at: int,
    role: Role = Role.USER,
    zone: str | None = None,
    offset_min: int | None = None,
    default_hour: int = 9,
) -> list[FoundIntention]:
    """Return the intentions of a turn, in order.

    Found are asks to be reminded, orders for later, promises, duties of the speaker and wishes that
    name a time to come, an event or a topic. What has no trigger that can fire is none; nor are
    questions, quotations, suppositions, what is over, and what others have to do. In other
    languages asks alone are read, see `elsewhere`. Pure and deterministic; no text raises.

    Args:
        text: what one speaker said; pasted and quoted parts of it are passed over.
        said_at: when, in microseconds.
        role: who spoke; of an assistant only promises are taken, of systems and tools nothing.
        zone: the speaker's IANA zone.
        offset_min: minutes east of UTC, for want of a zone.
        default_hour: the hour of a day that names none.

    Raises:
        InvalidInput: the zone is not known.
    """
    if role not in {Role.USER, Role.NONE, Role.ASSISTANT}:
        return []
    lacking = 0
    if zone is None:
        zone, lacking = zone_of_offset(offset_min or 0, said_at)
    zone_of(zone)
    found = _read(text, said_at + lacking * 60_000_000, role, zone, default_hour)
    return [set_back(one, _words(text, one), lacking) for one in found]


def _words(text: str, found: FoundIntention) -> str:
    when = found.when
    return text[when.span.start : when.span.end] if when else ""


def _read(
    text: str, said_at: int, role: Role, zone: str, default_hour: int
) -> list[FoundIntention]:
    masked = mask(text)
    found: list[FoundIntention] = []
    last: Line | None = None
    for span in split_sentences(masked):
        part = masked[span.start : span.end]
        if span.end - span.start > _MOST_CHARS or is_hidden(part):
            last = None
            continue
        line = Line(part, text[span.start : span.end], span.start, said_at, zone, default_hour)
        found += _read_line(line, role, last) or asked_elsewhere(line, role, default_hour)
        last = line
    return found


def _read_line(line: Line, role: Role, last: Line | None) -> list[FoundIntention]:
    low = line.low
    if not lex.CUE.search(low) and not (last and "remind" in low):
        return []
    if lex.UNREAL.search(low):
        return []
    found: list[FoundIntention] = []
    done = 0
    ordered = False
    asked: Head | None = None
    for start, free in line.starts():
        if start < done:
            continue
        opening = read_opening(line, start)
        conditional = opening.condition is not None
        head = read_head(line, opening.main, role, conditional=conditional)
        if head is None and asked is not None and done:
            head, opening = go_on(line, asked, opening, found[-1].when)
        if head is None or (head.placed and not (free or conditional or ordered)):
            continue
        ordered = head.manner in {Manner.ASK, Manner.ORDER}
        body, direct = after_head(line, head)
        end = region_end(line, body)
        asked = head if head.manner is Manner.ASK else None
        end = next_ask(line, body, end) if asked else end
        several = _complete(line, head, opening, (body, end), direct, role, last)
        if several:
            found += several
            done = end
    return found


def _complete(
    line: Line,
    head: Head,
    opening: Opening,
    region: tuple[int, int],
    direct: Trigger | None,
    role: Role,
    last: Line | None,
) -> list[FoundIntention]:
    """Join a head with its trigger and its content; one for each of several times in a row."""
    body, end = region
    body_end = end
    trailing = trailing_condition(line, head, body, end)
    whens = line.whens_in(body, trailing.start if trailing else end)
    trigger = choose(line, head, opening, direct, trailing, whens, last, end)
    if trigger is None or not fits(line, head, trigger, role):
        return []
    if trailing is not None and trigger.condition is trailing:
        body_end = trailing.start
    if trigger.beforehand:
        body_end = body
    elif trigger.cut is not None:
        body_end = trigger.cut
    content = content_of(line, head, body, body_end, trigger, opening)
    if not content:
        return []
    each = [replace(trigger, when=when) for when in (trigger.when, *trigger.more)]
    found = [_found(line, head, in_the_morning(line, head, one), content, role) for one in each]
    return [one for one in found if one is not None]


def _found(
    line: Line, head: Head, trigger: Trigger, content: str, role: Role
) -> FoundIntention | None:
    confidence = head.confidence
    when, condition = trigger.when, trigger.condition
    left_over = _LEFT_OVER.search(content.lower()) is not None
    stepped = condition is not None and condition.word in {"before", "after"}
    left_over = left_over or (stepped and _STEP_LEFT.search(content.lower()) is not None)
    left_over = left_over or _is_spared(line, head, when)
    if not trigger.sure or left_over or (_NOTE.match(line.low, head.start) and _IS.search(content)):
        confidence = min(confidence, UNSURE)
    if when is not None:
        if is_coarse(when):
            confidence = min(confidence, 0.6)
        elif not when.confident:
            confidence -= 0.1
        if lex.PAST_TIMES.search(line.low) and head.manner is not Manner.ASK:
            confidence -= 0.1
        span = Span(when.span.start + line.start, when.span.end + line.start)
        when = replace(when, span=span)
    elif head.manner is Manner.ORDER and role is Role.USER:
        confidence = max(confidence, 0.8)
    elif head.manner is Manner.ORDER:
        confidence = 0.6  # a recipe or a manual speaks like this, too
    if confidence < 0.5:
        return None
    importance = _IMPORTANCE[head.manner] + 0.2 * bool(lex.URGENT.search(line.low))
    kind = TriggerType.TIME
    if condition is not None:
        kind = TriggerType.EVENT if condition.event else TriggerType.CONTEXT
    return FoundIntention(
        content=content,
        trigger_type=kind,
        span=Span(line.start, line.start + len(line.text)),
        manner=head.manner,
        confidence=round(confidence, 2),
        importance=round(min(importance, 1.0), 2),
        when=when,
        event=condition.event if condition else None,
        cue=condition.cue if condition else None,
    )


def _is_spared(line: Line, head: Head, when: When | None) -> bool:
    """Whether a repeat is told to leave out days that its own words do not."""
    if when is None or when.recurrence is None:
        return False
    said = (found.start() for found in _SPARED.finditer(line.low, head.start))
    return any(not when.span.start <= start < when.span.end for start in said)
