"""Chooses what a clause waits for, and tells whether that makes an intention."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Self

from ...nouns.clock import from_us, to_us
from ...nouns.memory import Precision, Role
from ..dates.context import Context
from ..dates.counts import quantity
from ..recurrence.zones import local_of, zone_of
from ..when import When
from . import lexicon as lex
from .conditions import Condition
from .heads import Head
from .line import Line, is_coarse
from .lists import Listed, read_listed
from .types import Manner

_BEFOREHAND: Final = re.compile(
    r"\b(?:before|earlier|beforehand|in advance|ahead(?: of time)?|prior)(?: please)?[\s.,!?]*$"
)
_DAY_BEFORE: Final = re.compile(
    r"\bthe (day|night|evening|morning|afternoon) before(?: please)?[\s.,!?]*$"
)
_BEFORE_HOURS: Final = {"day": 9, "morning": 9, "afternoon": 15, "evening": 18, "night": 20}
STEP: Final = re.compile(
    r" (?:an?|[a-z]+|\d+) (?:minute|min|hour|day|week|month)s? before |"
    r" the (?:day|night|evening|morning|afternoon) before "
)
_AMOUNT: Final = re.compile(r",? ?(?:an?|[a-z]+|\d+) (?:minute|min|hour|day|week)s? ")
_ANOTHER: Final = re.compile(r"\band (?:then |also |again )?$")
_WAKES: Final = re.compile(r"\b(?:alarm|wake)\b")
_LATE: Final = re.compile(r"evening|afternoon|night|noon|\dp|\bp\.?m")
_OF_USERS: Final = re.compile(r"\b(?:the|a|an|any|each) user\b|\busers\b")
_WHOLE_PART: Final = re.compile(r"(?:in the (?:morning|afternoon|evening)|at (?:night|lunchtime))$")


@dataclass(frozen=True, slots=True)
class Trigger:
    """What was chosen to be waited for; not `sure` where a time may belong to something else."""

    when: When | None = None
    condition: Condition | None = None
    more: tuple[When, ...] = ()  # times of the same in a row
    sure: bool = True
    beforehand: bool = False  # told by how long before
    cut: int | None = None  # where the time begins that it is so long before
    whole: bool = False  # the sentence is what is to be done
    said_in: Line | None = None  # the sentence before, when the time stands there

    @classmethod
    def of(cls, listed: Listed) -> Self:
        """Wait for each of several times."""
        return cls(when=listed.whens[0], more=listed.whens[1:], sure=listed.sure)


@dataclass(frozen=True, slots=True)
class Opening:
    """What stands before a clause: a time, a condition; and where the clause begins."""

    times: Listed | None
    condition: Condition | None
    main: int

    @property
    def when(self) -> When | None:
        """The first time."""
        return self.times.whens[0] if self.times else None


def choose(
    line: Line,
    head: Head,
    opening: Opening,
    direct: Trigger | None,
    trailing: Condition | None,
    whens: list[When],
    last: Line | None,
    end: int,
) -> Trigger | None:
    """Choose what a clause waits for: what stands nearest to the ask comes first."""
    step = STEP.match(line.low, head.end)
    if step is not None and head.manner is Manner.ASK and not (direct and direct.when):
        return _step_from(line, step, end)
    asked_first = opening.condition or (direct.condition if direct else None)
    if asked_first is not None:
        return _of_condition(line, asked_first)
    named = line.repeat_in(head.start, head.end)  # "a daily reminder"
    led = Trigger.of(opening.times) if opening.times else Trigger(when=named) if named else None
    first = direct or led
    if first is not None and first.when is not None:
        other = led.when if direct and led else (whens[-1] if whens else None)
        return _with(line, first, other)
    if trailing is not None:
        return _of_condition(line, trailing)
    if whens:
        return _shifted(line, _last_of(line, whens), end)
    if head.manner is not Manner.ASK or head.confidence < 0.9:
        return None
    return _from_before(line, head, last, end)


def _with(line: Line, first: Trigger, other: When | None) -> Trigger:
    """Add a time that stands apart: "tomorrow … at 3"; a day that is left over makes it unsure."""
    when = first.when
    if when is None or other is None or other is when:
        return first
    joined = line.combine(when, other) or line.combine(other, when)
    if joined is not None and not first.more:
        return replace(first, when=joined)
    # "on Friday to call Ann and on Saturday to call Bob": only one is kept
    joint = _ANOTHER.search(line.low[: other.span.start])
    apart = joint and joint.start() > when.span.end and line.low.startswith(" to ", other.span.end)
    return replace(first, sure=False) if apart else first


def _shifted(line: Line, chosen: Trigger, end: int) -> Trigger:
    """Read "the call at 3 pm 30 minutes before": what follows a time says how long before it."""
    when = chosen.when
    if when is None or when.recurrence is not None or chosen.more:
        return chosen
    rest = line.low[when.span.end : end]
    if not (_BEFOREHAND.search(rest) and _AMOUNT.match(rest)) and not _DAY_BEFORE.search(rest):
        return chosen
    moved = _beforehand(line, when, rest)
    return replace(chosen, when=moved.when, cut=when.span.start) if moved else chosen


def _last_of(line: Line, whens: list[When]) -> Trigger:
    """Choose the last times of a clause, all that stand in a row."""
    for place, when in enumerate(whens[:-1]):
        listed = read_listed(line, when.span.start)
        if listed is not None and listed.end == whens[-1].span.end:
            return replace(Trigger.of(listed), sure=listed.sure and place == 0)
    chosen = whens[-1]
    joined = line.combine(whens[-2], chosen) if len(whens) > 1 else None
    return Trigger(when=joined or chosen, sure=len(whens) == 1 or joined is not None)


def _step_from(line: Line, step: re.Match[str], end: int) -> Trigger | None:
    """Read "two days before my anniversary on May 20": a step from the time that is named."""
    times = [w for w in line.whens if step.end() <= w.span.start and w.span.end <= end]
    if not times or times[-1].recurrence is not None:
        return None
    moved = _beforehand(line, times[-1], step.group())
    return replace(moved, beforehand=False) if moved else None


def _of_condition(line: Line, condition: Condition) -> Trigger:
    """Wait for a condition; one that denies and names a time is looked at when that comes."""
    inside = [w for w in line.whens if condition.start <= w.span.start < condition.end]
    if condition.denied and inside and inside[-1].recurrence is None:
        return Trigger(when=inside[-1], sure=False, whole=True)
    return Trigger(condition=condition)


def _from_before(line: Line, head: Head, last: Line | None, end: int) -> Trigger | None:
    """Take the time from what was said before: "The call is at 3, remind me an hour before"."""
    earlier = [when for when in line.whens if when.span.end <= head.start]
    inside = [w for w in line.whens if head.end <= w.span.start and w.span.end <= end]
    said_in = None
    if not earlier and not inside and last is not None:
        earlier = [when for when in last.whens if when.recurrence is None]
        said_in = last
    candidates = earlier or inside
    if not candidates:
        return None
    when = candidates[-1]
    rest = line.low[head.end : end]
    if not _BEFOREHAND.search(rest):
        once = when.recurrence is None
        return Trigger(when=when, sure=False, said_in=said_in) if once else None
    shifted = _beforehand(line, when, rest)
    return replace(shifted, said_in=said_in) if shifted else None


def _beforehand(line: Line, when: When, rest: str) -> Trigger | None:
    zone = zone_of(line.zone)
    local = local_of(when.at, zone)
    named = _DAY_BEFORE.search(rest)
    if named is not None:
        day = datetime(local.year, local.month, local.day) - timedelta(days=1)
        moment = day + timedelta(hours=_BEFORE_HOURS[named.group(1)])
    else:
        c = Context(rest, from_us(line.said_at).astimezone(zone), "future", day_first=False)
        amount = next((q for q in (quantity(c, i) for i in range(c.size)) if q), None)
        if amount is None or amount[0].unit not in {"minute", "hour", "day", "week"}:
            return None
        moment = local - amount[0].least * timedelta(**{amount[0].unit + "s": 1})
    at = to_us(moment.replace(tzinfo=zone))
    if at <= line.said_at:
        return None
    return Trigger(when=replace(when, at=at, precision=Precision.MINUTE), beforehand=True)


def in_the_morning(line: Line, head: Head, trigger: Trigger) -> Trigger:
    """Let "wake me at 5" be early: an alarm's hour without a half of the day is before noon."""
    when = trigger.when
    if when is None or not _WAKES.search(line.low, head.start, head.end):
        return trigger
    words = line.text[when.span.start : when.span.end]
    early = None if _LATE.search(words.lower()) else line.read(words + " in the morning")
    if early is None or not early.confident:
        return trigger
    zone = zone_of(line.zone)
    if local_of(early.at, zone).hour % 12 != local_of(when.at, zone).hour % 12:
        return trigger  # its hour was said of another day
    return replace(trigger, when=replace(early, span=when.span))


def fits(line: Line, head: Head, trigger: Trigger, role: Role) -> bool:
    """Whether a head and its trigger together make an intention."""
    condition, when = trigger.condition, trigger.when
    if condition is not None:
        return _fits_condition(line, head, condition)
    if when is None:
        return False
    lead = line.low[: when.span.start]
    if head.manner is Manner.ASK:
        # "tell me about the meeting tomorrow" is asked now
        return not (
            head.telling and line.low.startswith(" about", head.end) and head.end < len(lead)
        )
    if head.manner is not Manner.ORDER and _WHOLE_PART.match(
        line.low[when.span.start : when.span.end]
    ):
        return head.manner is Manner.PROMISE  # "I'll read in the evening" is a habit
    if when.recurrence is not None:
        plain = head.manner is Manner.DUTY and head.how in {"need to", "must"}
        timed = when.precision in {Precision.HOUR, Precision.MINUTE}
        return head.manner in {Manner.PROMISE, Manner.ORDER} or (plain and timed)
    if head.manner is Manner.ORDER:
        between = line.low[head.end : when.span.start]
        asks = re.search(r"\b(?:what|how|who|which|where|is|are|was|for|about|of)\b", between)
        return asks is None and role is not Role.ASSISTANT
    if head.manner is Manner.WISH and (is_coarse(when) or lead.endswith("for ")):
        return False
    return not (head.how == "will" and is_coarse(when))


def _fits_condition(line: Line, head: Head, condition: Condition) -> bool:
    word = condition.word
    if head.manner is Manner.WISH:
        return False
    if head.manner is Manner.DUTY:
        return word not in {"if", "whenever", "every", "each", "any", "while", "in"}
    rest = line.low[condition.start : condition.end]
    if head.manner is Manner.ORDER and _OF_USERS.search(rest):
        return False  # what a program is to do
    if head.manner is Manner.ORDER and re.search(r"\b(?:you|you're|your)\b", rest):
        clause = re.sub(r"^\S+ ", "", rest)
        return condition.cue is not None or bool(re.match(lex.YOU_SEE, clause.split("when ")[-1]))
    reach = line.low[head.start : head.end]
    if head.manner is Manner.ASK and word in {"if", "when"}:
        clause = re.sub(r"^(?:if|when)(?: ever)? ", "", rest)
        knows = reach.endswith(("know", "tell me", "tell us", "inform me", "update me"))
        if knows and lex.ASKS_NOW.match(clause) and not lex.YOU_SEE.match(clause):
            return bool(condition.cue)
        if word == "when" and reach.endswith(("tell me", "tell us")) and condition.cue is None:
            return bool(lex.IS_OVER.search(rest)) and not line.asked
        if word == "when" and re.search(r"\b(?:is|are|was|were)$", rest):
            return False
    return True
