"""Cuts out what is to be done, word for word."""

from __future__ import annotations

import re
from typing import Final

from .heads import Head
from .lexicon import VERBS
from .line import Line
from .triggers import STEP, Opening, Trigger

_ENDING: Final = re.compile(
    r"(?:[\s.,;:!?)(—–-]|\b(?:please|thanks|thank you|thx|pls|plz|ty|cheers|too|again|ok|okay"
    r"|at the latest|latest|sharp"
    r"|by|at|on|for|around|from|starting|and|or|no later than|then|the|exactly|every)$)+$"
)
_TO_DO: Final = re.compile(r"\bto (?=[a-z])")
_REMIND_TO: Final = re.compile(r"remind (?:me|us) (?:to|about|of) ")
_REMIND: Final = re.compile(r"remind(?:ing)? (?:me|us)|let (?:me|us)")


def content_of(
    line: Line, head: Head, body: int, end: int, trigger: Trigger, opening: Opening
) -> str:
    """Return what is to be done, word for word, without the time or condition at its edges."""
    if trigger.whole:
        return line.original.strip().rstrip(" .!?")
    start = body
    step = STEP.match(line.low, head.end)
    if step is not None:
        tasks = _TO_DO.finditer(line.low, step.end(), end)
        task = next((t.end() for t in tasks if line.low[t.end() :].split()[:1][0] in VERBS), 0)
        start = max(start, step.end(), task)
    if head.whole is not None and not _goes_on(line, head, body):
        start = head.whole
        if body >= end or not _text(line, body, end):
            end = max(head.end, start)
    start, end = _trim(line, start, end)
    if start < end and not line.low.startswith(("which ", "who ", "where "), start):
        return line.original[start:end]
    when = trigger.when
    earlier = trigger.said_in is not None or (when is not None and when.span.end <= head.start)
    if earlier and opening.when is None:  # "The call is at 3, remind me"
        said = trigger.said_in or line
        low, high = _trim(said, 0, head.start if said is line else len(said.low))
        if low < high:
            return said.original[low:high]
    condition = trigger.condition
    if condition is not None:
        return line.original[condition.start : condition.end]
    verb = _REMIND.search(line.low, head.start)
    low = verb.start() if verb else head.start
    return line.original[low:].rstrip(" .!?")


def _goes_on(line: Line, head: Head, body: int) -> bool:
    """Whether "to" or "about" told what is to be done: "tell me to …", "ping me about …"."""
    between = line.low[head.end : body]
    reach = line.low[head.start : head.end]
    if re.search(r"\b(?:ask|tell) (?:me|us)$", reach):
        return between.rstrip().endswith("to")
    return bool(re.search(r"\b(?:to|about|that|of)\s*$|[:—–]\s*$", between))


def _text(line: Line, start: int, end: int) -> str:
    low, high = _trim(line, start, end)
    return line.original[low:high]


def _trim(line: Line, start: int, end: int) -> tuple[int, int]:
    """Take times, fillers and signs off both edges of a range."""
    changed = True
    while changed and start < end:
        changed = False
        for when in line.whens:
            if line.names_a_thing(when):
                continue
            if when.span.end >= end and start <= when.span.start < end:
                end, changed = when.span.start, True
            if when.span.start <= start < when.span.end <= end:
                start, changed = line.skip(when.span.end), True
        ending = _ENDING.search(line.low[start:end])
        if ending is not None and ending.group():
            end, changed = start + ending.start(), True
        while start < end and line.low[start] in " ,:;-—–.":
            start, changed = start + 1, True
        again = _REMIND_TO.match(line.low, start, end)
        if again is not None:  # "Todo: remind me to …"
            start, changed = again.end(), True
        if line.low.startswith(("to ", "please "), start):
            start, changed = line.low.index(" ", start) + 1, True
    return start, end
