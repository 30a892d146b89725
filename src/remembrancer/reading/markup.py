"""Finds the parts of a text that no fact may be read from: code, tables, what was pasted in."""

from __future__ import annotations

import re
from bisect import bisect_right

from .injected import find_injected
from .types import Span

_FENCE = re.compile(r"^[ \t]{0,3}(?:>[ \t]?)?(`{3,}|~{3,})[ \t]*([^\n`]*)$", re.MULTILINE)
_MAX_FENCE = 8
_INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t)[^\n]*(?:\n|$))+")
_TABLE = re.compile(r"^[ \t]*\|?[^|\n]*\|[^|\n]*\|[^\n]*$", re.MULTILINE)
_LIST_LINE = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]")
_NOTICE = re.compile(
    r"^[^\w\n]*This message was deleted\b[^\n]*$|<This message was edited>", re.MULTILINE
)
TEMPLATE = re.compile(
    r"\{\{|\}\}|\$\{|<[a-z_]+>|\[(?:[A-Z_]{3,}|your [^\]]*|insert [^\]]*"
    r"|(?:First |Last |Full )?Name|Date|Time|City|Country|Company|Email|Phone|Address|Title)\]"
)
"""Stands in a sentence that is a form to be filled in: "Dear [Name]", "{{city}}"."""


def find_fences(text: str) -> list[Span]:
    """Return the fenced code blocks of `text`, fence lines included; an unclosed one is none."""
    if "```" not in text and "~~~" not in text:
        return []
    lines = list(_FENCE.finditer(text))
    closers: dict[tuple[str, int], list[int]] = {}
    for number, line in enumerate(lines):
        if not line.group(2).strip():
            mark = line.group(1)
            closers.setdefault((mark[0], min(len(mark), _MAX_FENCE)), []).append(number)
    spans: list[Span] = []
    number = 0
    while number < len(lines):
        mark = lines[number].group(1)
        close = _next_closer(closers, mark, number)
        if close is not None:
            spans.append(Span(lines[number].start(), lines[close].end()))
            number = close
        number += 1
    return spans


def _next_closer(closers: dict[tuple[str, int], list[int]], mark: str, after: int) -> int | None:
    best: int | None = None
    for length in range(min(len(mark), _MAX_FENCE), _MAX_FENCE + 1):
        numbers = closers.get((mark[0], length), [])
        at = bisect_right(numbers, after)
        if at < len(numbers) and (best is None or numbers[at] < best):
            best = numbers[at]
    return best


def find_not_prose(text: str) -> list[Span]:
    """Return the spans no fact may be read from, in order; they may overlap.

    These are code (fenced or indented), table rows, and what was pasted or printed rather than
    said (see `injected`), and what a messenger puts in the place of a message.
    """
    spans = find_fences(text)
    if "his message was " in text:
        spans += [Span(m.start(), m.end()) for m in _NOTICE.finditer(text)]
    if "    " in text or "\t" in text:
        spans += [
            Span(m.start(), m.end())
            for m in _INDENTED.finditer(text)
            if not _LIST_LINE.match(m.group())
        ]
    if "|" in text:
        spans += [Span(m.start(), m.end()) for m in _TABLE.finditer(text)]
    spans += find_injected(text)
    if len(spans) > 1:
        spans.sort(key=lambda span: span.start)
    return spans
