"""Reads turns from a chat as its window shows it: who and when on one line, the words below.

So it comes when it is copied from Slack ("Ann Lee  9:02 AM"), Discord ("Ann — Today at 9:02 AM"),
Teams ("[9:02 AM] Ann Lee") or Telegram ("Ann Lee, [12.05.2023 09:02]"), or with the time on a line
of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..nouns.memory import Role
from .format_chat import NAME, PERSON, may_speak
from .markup import find_fences
from .roles import role_of
from .stamps import CLOCK, DATE, read_stamps
from .types import Turn

_WHEN = rf"(?:(?:Today|Yesterday)(?:,| at)? |(?P<date>{DATE}),? (?:at )?)?(?P<clock>{CLOCK})"
_WHO = rf"(?P<name>{NAME}?|[^\W\d_][\w.]{{1,31}})"  # a name, or what one is called by
_AFTER = re.compile(  # Slack, Discord, Telegram, and the time on the line below
    rf"{_WHO}(?:(?:,? \[|[ \xa0]{{2,}}|\t+|[ \xa0]+[—–][ \xa0]+)|[ \t]*\n[ \t]*)"
    rf"{_WHEN}\]?:?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_BEFORE = re.compile(rf"\[{_WHEN}\] {_WHO}[ \t]*$", re.IGNORECASE | re.MULTILINE)  # Teams
_AGAIN = re.compile(rf"\[?{_WHEN}\]?[ \t]*$", re.IGNORECASE | re.MULTILINE)  # the same goes on
_LINE = re.compile(r"^[ \t]*(?=\S)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Head:
    """A line that begins a turn; `name` is empty where the one before goes on."""

    start: int
    end: int
    name: str
    stamp: tuple[str | None, str | None, str | None]


def headed_turns(content: str) -> list[Turn] | None:
    """Return the turns of a copied chat, or None when `content` does not read as one.

    It begins with such a line, words stand below most of them, and somebody speaks again or most
    speak as people do: in a timetable they do not. A turn has a time when its line holds a full
    date.
    """
    heads = list(_heads(content))
    if not heads or not heads[0].name or content[: heads[0].start].strip():
        return None
    ends = [head.start for head in heads[1:]] + [len(content)]
    texts = [content[head.end : end] for head, end in zip(heads, ends, strict=True)]
    named = [(head.name, text) for head, text in zip(heads, texts, strict=True) if head.name]
    said = sum(1 for _, text in named if text.strip())
    again = len({name for name, _ in named}) < len(named)
    personal = sum(1 for _, text in named if PERSON.search(text))
    if 2 * said <= len(named) or not (again or 2 * personal >= len(named)):
        return None
    times = read_stamps([head.stamp for head in heads])
    turns: list[Turn] = []
    name = ""
    for head, text, at in zip(heads, texts, times, strict=True):
        name = head.name or name
        if not text.strip():
            continue
        role = role_of(name) or Role.NONE
        turns.append(
            Turn(
                text=text.strip(),
                start=head.start,
                end=head.end + len(text.rstrip()),
                speaker=None if role else name,
                role=role,
                at=at,
            )
        )
    return turns


def _heads(content: str) -> Iterator[_Head]:
    """Yield the lines that begin a turn, outside code."""
    fences = find_fences(content)
    fence = done = 0
    for line in _LINE.finditer(content):
        at = line.end()
        while fence < len(fences) and fences[fence].end <= at:
            fence += 1
        inside = fence < len(fences) and fences[fence].start <= at
        if inside or at < done:
            continue
        match = _AFTER.match(content, at) or _BEFORE.match(content, at)
        name = match["name"].strip() if match else ""
        if match is not None and not may_speak(name, stamped=" " not in name):
            match = None
        if match is None:
            match, name = _AGAIN.match(content, at), ""
        if match is not None:
            done = match.end()
            yield _Head(line.start(), done, name, (match["date"], match["clock"], None))
