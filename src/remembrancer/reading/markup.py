"""Finds the parts of a text that are not prose: code, tables, pasted memory blocks."""

from __future__ import annotations

import re
from bisect import bisect_right

from .types import Span

_FENCE = re.compile(r"^[ \t]{0,3}(?:>[ \t]?)?(`{3,}|~{3,})[ \t]*([^\n`]*)$", re.MULTILINE)
_MAX_FENCE = 8
_INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t)[^\n]*(?:\n|$))+")
_TABLE = re.compile(r"^[ \t]*\|?[^|\n]*\|[^|\n]*\|[^\n]*$", re.MULTILINE)
_MEMORY_TAG = re.compile(
    r"<\s?([a-z][\w-]{0,40}(?:memor|context|recall|retriev|knowledge|system|document|history)[\w-]{0,40}"
    r"|(?:memor|context|recall|retriev|knowledge|system|document|history)[\w-]{0,40})(?:\s[^<>\n]{0,200})?>",
    re.IGNORECASE,
)
_RECALLED = re.compile(
    r"^[#*\[> \t]{0,16}"
    r"(?:(?:relevant|recalled|retrieved|related|known|stored|saved|previous|past|long-term|user|"
    r"injected|your|existing|background)[ \t]+){0,3}"
    r"(?:(?:memories|memory|recollections)\b[^.!?\n]{0,60}[:\]]"
    r"|(?:relevant|recalled|retrieved|stored|saved|injected)[ \t]+"
    r"(?:context|facts|information|knowledge)\b[^.!?\n]{0,60}[:\]]"
    r"|(?:here(?:'s| is| are)|this is)[ \t]+(?:what|everything|the things|things|some things)[ \t]+"
    r"(?:I|we|you)[ \t]+(?:remember|recall|know|have stored)\b[^.!?\n]{0,60}:"
    r"|(?:what|things)[ \t]+I[ \t]+(?:remember|recall|know)\b[^.!?\n]{0,60}:)"
    r"[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_LIST_LINE = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]")


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

    These are code (fenced or indented), table rows, and blocks that were recalled from a memory
    and pasted in (tagged, or a list under a heading such as "Relevant memories:").
    """
    spans = find_fences(text)
    if "    " in text or "\t" in text:
        spans += [
            Span(m.start(), m.end())
            for m in _INDENTED.finditer(text)
            if not _LIST_LINE.match(m.group())
        ]
    if "|" in text:
        spans += [Span(m.start(), m.end()) for m in _TABLE.finditer(text)]
    if "<" in text:
        spans += _tagged(text)
    if ":" in text or "]" in text:
        spans += _recalled(text)
    if len(spans) > 1:
        spans.sort(key=lambda span: span.start)
    return spans


def _tagged(text: str) -> list[Span]:
    spans: list[Span] = []
    folded = text.lower() if text.isascii() else text
    at = 0
    while (match := _MEMORY_TAG.search(text, at)) is not None:
        tag = match.group(1).lower() if text.isascii() else match.group(1)
        close = folded.find(f"</{tag}", match.end())
        # without its closing tag the block runs to the end: nothing after it can be trusted
        end = len(text) if close < 0 else close + len(tag) + 3
        spans.append(Span(match.start(), end))
        at = end
    return spans


def _recalled(text: str) -> list[Span]:
    spans: list[Span] = []
    for match in _RECALLED.finditer(text):
        if not spans or match.start() >= spans[-1].end:
            spans.append(Span(match.start(), _list_end(text, match.end())))
    return spans


def _list_end(text: str, at: int) -> int:
    """Return where the block under a heading line that ends at `at` is over.

    The block is the lines up to the first blank one, and any list items after it.
    """
    size = len(text)
    seen_blank = seen_text = False
    while at < size:
        stop = text.find("\n", at + 1)
        stop = size if stop < 0 else stop
        line = text[at + 1 : stop]
        if not line.strip():
            seen_blank = seen_text
        elif seen_blank and not _LIST_LINE.match(line):
            return at
        else:
            seen_text = True
        at = stop
    return size
