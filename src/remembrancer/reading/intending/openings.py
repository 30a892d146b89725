"""Reads what stands around the head of a clause: times and conditions before and after it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from ...nouns.memory import Role
from ..types import Span
from ..when import When
from . import lexicon as lex
from .conditions import Condition, opens_condition, read_condition
from .heads import Head, read_head
from .line import Line
from .lists import Listed, on_day_before, read_listed
from .triggers import Opening, Trigger
from .types import Manner

_CONNECTIVE: Final = re.compile(
    r"\s*(?:please\s+)?(?:(?:to|about|abt|re|of|that|regarding|concerning|for|on)\s+(?:please\s+)?"
    r"|[:,—–-]+\s*)"
    r"(?:(?:i|we)(?: also)? (?:need|have|ought|want|got) to |(?:i|we) (?:should|must) |to )?"
)
_CUT: Final = re.compile(
    r"\s*(?:;|—|–|\s-\s|,? because\b|,? since i\b|,? so that\b|,? otherwise\b|, or else\b"
    r"|,? so (?:i|we)\b"
    r"|, (?:thanks|thank you|thx|please|ok|okay|will you|would you|could you|can you|alright"
    r"|right)\b"
    r"|,? and (?:i|i'll|i'm|we|then i|please|(?:also |then )?remind|at \d+)\b|,? but\b|, which\b"
    r"|, it's\b|, i\b"
    r"|\.\.\."
    r"|\)|[.!?](?:\s|$))"
)
_DOUBT: Final = re.compile(
    r"\b(?:(?:ask|asking|wonder|tell)(?: [\w'-]+){0,2}|(?:see|check|checking|know|find out|verify"
    r"|confirm|decide|sure|figure out|whether|unsure|remember)) $"
)
_AFTER_VERBS: Final = re.compile(r"\b(?:look|looks|looking|named?|go|goes|going|chase|ask) $")
_TO_DO: Final = re.compile(r"\s+(to|that|about)\s+([a-z'-]+)")
_EVEN: Final = re.compile(r"\b(?:even|as|only|like|what|especially|particularly|except|than) $")
_FOR: Final = re.compile(r"for ((?:[a-z0-9]+ ){1,3}?(?:minute|min|hour|day|week)s?\b)")
_AND: Final = re.compile(r"(?:,| and|, and) (?:then |also |again )?$")
_MOST_TRIES: Final = 6  # joints and conditions looked at: bounds the cost of an endless list
_MAIN: Final = re.compile(
    r"\b(?:please|remind me|remind us|let me know|don't let me forget|tell me|ping me|notify me"
    r"|ask me"
    r"|alert me|nudge me|text me|email me|i need to|i have to|i must|i should|i've got to|i gotta"
    r"|make sure|don't forget|remember to|can you|could you|would you|i'll)\b"
)


def read_opening(line: Line, at: int) -> Opening:
    """Read the time and the condition that stand before a clause."""
    times: Listed | None = None
    condition: Condition | None = None
    main = at
    for _ in range(2):
        led = read_listed(line, main) if times is None else None
        if led is not None:
            times, main = led, line.open(line.skip(led.end))
            continue
        if condition is None and opens_condition(line, main) is not None:
            split = _split(line, main)
            if split is None:
                break
            condition, main = split
            continue
        break
    return Opening(times, condition, main)


def _split(line: Line, at: int) -> tuple[Condition, int] | None:
    """Split "when the build ends, tell me" into the condition and where the main clause begins."""
    low = line.low
    marks = [(m.start(), m.end()) for m in re.finditer(r",\s+(?:then\s+)?", low) if m.start() > at]
    main = _MAIN.search(low, at)
    if main is not None:
        marks.append((main.start(), main.start()))
    marks += [(m.start(), m.end()) for m in re.finditer(r"\s+then\s+", low) if m.start() > at]
    marks.sort()
    for end, mark in marks[:_MOST_TRIES]:
        begin = line.open(mark)
        head = read_head(line, begin, Role.USER, conditional=True)
        promise = read_head(line, begin, Role.ASSISTANT, conditional=True)
        if head is None and promise is None:
            continue
        own = head is not None and head.manner is not Manner.ORDER
        yours = promise is not None and head is None
        condition = read_condition(line, at, end, asked=own, yours=yours)
        return (condition, begin) if condition else None
    return None


def after_head(line: Line, head: Head) -> tuple[int, Trigger | None]:
    """Read what follows "remind me", time or condition, and "to"; return where content begins."""
    at = head.end
    direct: Trigger | None = None
    if head.manner in {Manner.DUTY, Manner.WISH, Manner.ORDER} or head.how == "will":
        return at, None
    for _ in range(2):
        at = line.skip(at)
        for lead in ("please ", "for ", "again "):
            if line.low.startswith(lead, at) and (lead != "for " or line.when_at(at + 4)):
                at += len(lead)
        listed = read_listed(line, at) or _set_for(line, head, at)
        if listed is not None:
            direct, at = _joined(line, direct, listed), listed.end
            continue
        if direct is None and opens_condition(line, at) is not None:
            stop = _condition_end(line, at)
            condition = read_condition(line, at, stop, asked=True)
            if condition is not None:
                direct, at = Trigger(condition=condition), max(condition.end, at + 1)
                continue
        break
    connective = _CONNECTIVE.match(line.low, at)
    return (connective.end() if connective else line.skip(at)), direct


def next_ask(line: Line, body: int, end: int) -> int:
    """Return where another ask begins within a clause: "to call Ann and at 10 to call Bob"."""
    if not line.low[:body].endswith(("to ", "about ", "that ")):
        return end
    for when in line.whens:
        begin = when.span.start
        if body < begin < end and line.low.startswith(" to ", when.span.end):
            joint = _AND.search(line.low, body, begin)
            if joint is not None:
                return joint.start()
    return end


def go_on(
    line: Line, asked: Head, opening: Opening, before: When | None
) -> tuple[Head | None, Opening]:
    """Read "and at 10 to call Bob" as the same ask once more, an hour alone on the same day."""
    main, times = opening.main, opening.times
    if times is None or before is None or not line.low.startswith("to ", main):
        return None, opening
    head = replace(asked, start=main, end=main, whole=None)
    told = [on_day_before(line, [before], when) for when in times.whens]
    whens = tuple(when or times.whens[n] for n, when in enumerate(told))
    sure = times.sure and None not in told
    return head, replace(opening, times=replace(times, whens=whens, sure=sure))


def _joined(line: Line, direct: Trigger | None, listed: Listed) -> Trigger:
    """Join a time with the one before it; where they do not go together the day is kept."""
    if direct is None or direct.when is None:
        return Trigger.of(listed)
    second = listed.whens[0]
    alone = not direct.more and len(listed.whens) == 1
    both = line.combine(direct.when, second) if alone else None
    if both is not None:
        return Trigger(when=both)
    kept = Trigger.of(listed) if second.dated and not direct.when.dated else direct
    return replace(kept, sure=False)


def _set_for(line: Line, head: Head, at: int) -> Listed | None:
    """Read "for 25 minutes" after "set a timer" as the time when it ends."""
    match = _FOR.match(line.low, at)
    if match is None or not re.search(r"timer|alarm|reminder", line.low[head.start : head.end]):
        return None
    when = line.read("in " + match.group(1))
    if when is None:
        return None
    return Listed((replace(when, span=Span(at, match.end())),), match.end())


def _condition_end(line: Line, at: int) -> int:
    """Return where a condition in the middle ends: at a comma, or before "to" and a verb."""
    end = region_end(line, at)
    comma = line.low.find(",", at, end)
    end = comma if comma > 0 else end
    for match in _TO_DO.finditer(line.low, at, end):
        if match.group(1) == "that" or match.group(2) in lex.VERBS:
            return match.start()
    return end


def trailing_condition(line: Line, head: Head, body: int, end: int) -> Condition | None:
    """Read the condition that ends a clause: "… when I get home"."""
    yours = head.manner is Manner.PROMISE  # "when you get home" is the other's doing
    if head.manner is Manner.WISH:
        return None
    tries = 0
    for match in re.finditer(r"(?:^|\s|,\s)(?=[a-z])", line.low[body:end]):
        at = body + match.end()
        opener = opens_condition(line, at)
        if opener is None or (opener.start() > 0 and line.low[at - 1].isalnum()):
            continue
        tries += 1
        if tries > _MOST_TRIES:
            return None
        word = opener.group()
        if _EVEN.search(line.low, 0, at) or (
            word == "after" and _AFTER_VERBS.search(line.low, 0, at)
        ):
            continue
        if word in {"while", "in case"} or (word == "on" and head.manner is not Manner.ASK):
            continue
        before = line.low[head.end : at]
        if word in {"if", "when"} and _DOUBT.search(before):
            continue
        if word.startswith("if") and head.manner is Manner.DUTY:
            continue
        found = read_condition(line, at, end, asked=head.manner is Manner.ASK, yours=yours)
        if found is not None:
            return found
    return None


def region_end(line: Line, at: int) -> int:
    """Return where what belongs to a clause ends."""
    cut = _CUT.search(line.low, at)
    return cut.start() if cut else len(line.low)
