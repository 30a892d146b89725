"""Finds what a memory gave back: blocks of recollections that were pasted into a prompt.

Taken up again as memories they would be found beside, and soon before, what they repeat, and each
turn would paste them anew. They stay in the document, and no memory is made of them. So only what
is plainly such a block counts: tagged or fenced as memories from its beginning to its end, a list
under a heading that says so, or the text of a prime.
"""

from __future__ import annotations

import re

from .types import Span

_FEWEST_WORDS = 3  # "<memory>2048 MB</memory>" is a figure
_KINDS = r"memor(?:y|ies)|recollections?|recall(?:ed)?|retriev(?:ed|al)"
_TAG = re.compile(
    rf"<\s?((?:[a-z]+[-_ ]){{0,3}}(?:{_KINDS})(?:[-_ ][a-z]+){{0,3}})(?:\s[^<>\n]{{0,200}})?>",
    re.IGNORECASE,
)
_FENCE = re.compile(
    r"^[ \t]*(?:\[|[-=*#~]{2,40}[ \t]*\[?)[ \t]*(?:begin|start|start of)?[ \t]*"
    rf"[^\]\n=*#~/]{{0,40}}\b(?:{_KINDS})\b[^\]\n=*#~]{{0,40}}?[ \t]*"
    r"(?:\]|:?[ \t]*[-=*#~]{2,40})[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
FENCE_END = re.compile(
    r"^[ \t]*(?:\[[ \t]*(?:/|end\b)[^\]\n]{0,80}\]"
    r"|[-=*#~]{2,40}[ \t]*\[?(?:/|end\b)[^\n]{0,80})[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(
    r"^[#*\[> \t]{0,16}(?:here[ \t]+(?:are|is)[ \t]+(?:some[ \t]+|the[ \t]+)?)?"
    r"(?:(?:relevant|recalled|retrieved|stored|saved|injected|long-term)[ \t]+){1,2}"
    r"(?:memor(?:y|ies)|recollections|context|facts)\b[^.!?\n]{0,60}[:\]][ \t*\]]{0,4}$",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]|[ \t]{2,}\S")
# The titles of a prime's text, each over a line of its section: see `verbs/priming/text.py`.
_PRIMED = re.compile(
    r"^(?:Standing instructions:\n- \S[^:\n]{0,80}: "
    r"|Known:\n- [^\n]*\((?:[^()\n]{0,40} )?\d{4}-\d\d-\d\d[^()\n]{0,40}\)$"
    r"|(?:Recently said|Due):\n- \[\d{4}-\d\d-\d\d[^\]\n]{0,10}\] )",
    re.MULTILINE,
)
_HINTS = re.compile(r"memor|recoll|recall|retriev|relevant|stored|saved|injected", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")


def may_recall(text: str) -> bool:
    """Tell whether a block of recollections may begin in `text`; soon told, for most texts."""
    return _HINTS.search(text) is not None or _PRIMED.search(text) is not None


def find_recalled(text: str) -> list[Span]:
    """Return the blocks of recollections in `text`, in order and apart."""
    spans = [_items(text, match) for match in _PRIMED.finditer(text)]
    if _HINTS.search(text):
        spans += _tagged(text)
        spans += _fenced(text)
        spans += [_items(text, match) for match in _HEADING.finditer(text)]
    found: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        elif span.end > span.start:
            found.append(span)
    return found


def _tagged(text: str) -> list[Span]:
    spans: list[Span] = []
    folded = text.lower() if text.isascii() else text
    unclosed: set[str] = set()
    at = 0
    while (match := _TAG.search(text, at)) is not None:
        tag = match.group(1).lower() if text.isascii() else match.group(1)
        close = -1 if tag in unclosed else folded.find(f"</{tag}", match.end())
        at = match.end()
        if close < 0:
            unclosed.add(tag)
            continue
        # Recollections that hold such a block themselves end with the last of as many ends.
        within = folded.count(f"<{tag}>", match.end(), close)
        while within > 0:
            further = folded.find(f"</{tag}", close + 1)
            if further < 0:
                break
            within += folded.count(f"<{tag}>", close, further) - 1
            close = further
        end = folded.find(">", close)
        end = close + len(tag) + 2 if end < 0 else end + 1
        if _told(text, match.end(), close):
            spans.append(Span(match.start(), end))
        at = end
    return spans


def _fenced(text: str) -> list[Span]:
    spans: list[Span] = []
    at = 0
    while (match := _FENCE.search(text, at)) is not None:
        close = FENCE_END.search(text, match.end())
        if close is None:
            break
        if _told(text, match.end(), close.start()):
            spans.append(Span(match.start(), close.end()))
        at = close.end()
    return spans


def _items(text: str, match: re.Match[str]) -> Span:
    """Return a heading with the list under it; an empty span when there is no list."""
    at = text.find("\n", match.start())
    end = match.start()
    while 0 <= at < len(text):
        stop = text.find("\n", at + 1)
        stop = len(text) if stop < 0 else stop
        line = text[at + 1 : stop]
        if _ITEM.match(line):
            end = stop
        elif line.strip() or end > match.start():
            break
        at = stop
    return Span(match.start(), end)


def _told(text: str, start: int, end: int) -> bool:
    words = _WORD.finditer(text, start, end)
    return sum(1 for _, _ in zip(words, range(_FEWEST_WORDS), strict=False)) == _FEWEST_WORDS
