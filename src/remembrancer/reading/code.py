"""Finds program text that stands in no fence: no fact and no name is read from it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .types import Span

_FEWEST = 3  # lines that a block must have, so that one odd line is none
_PLAIN_WITHIN = 8  # lines of other text, comments mostly, that a block may hold in a row
_LONGEST = 400  # characters of a line that is read
_LINE = re.compile(r"[^\n]*\n?")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_COMMENT = re.compile(r"\s*(?://|/\*|\*/|\*\s|#(?!\s*include)|--\s|\"\"\"|''')")
_SIGNS = re.compile(r"[()=<>\[\]{}_\"]|\w(?:::|\.)\w")  # with ";" at the end
_ENDINGS = ("{", "}", "=>", "(", "[", "),", "],", "):", ")]:")
_CONTROL = re.compile(r"\s*(?:if|elif|for|while|with|except|def|async def|class|case)\b")
_WHOLE = re.compile(
    r"\s*(?:"
    r"(?:from\s+[\w.]+\s+)?import\s+[\w.*{][\w.*{}, ]*+|#\s*include\s*[<\"].*"
    r"|package\s+[\w.]+|using\s+[\w.:]+|(?:async\s+)?def\s+\w+\(.*"
    r"|(?:else|try|finally|do|then|begin|fi|done|end)\s*:?"
    r"|return(?:\s[\w.\[\](){}'\",+*/<>=! -]*+)?|raise\s+\w+\(.*|@\w[\w.]*(?:\(.*\))?"
    r"|(?:const|let|var|val)\s+\w+\s*(?::[^=]*+)?=.*"
    # an assignment of something that words alone are not
    r"|[A-Za-z_][\w.\[\]'\"]*+\s*(?::[\w.\[\], |]*+)?(?:[-+*/%|&]|//|:)?=(?!=)\s*+"
    r"(?:[\w.]*+[\[({'\"].*|\w++\.\w.*|-?\d[\w.]*|None|True|False|null|nil|true|false|new\s.*)"
    r"|[a-z_][\w.]*\([^()]*\)"
    r")"
)


def find_code(text: str) -> list[Span]:
    """Return the blocks of program text in `text`, in order.

    A block is at least three lines that read as code, with the blank lines and comments between
    them.
    """
    spans: list[Span] = []
    start = end = -1
    code = plain = 0
    for line, kind in _lines(text):
        if kind == "code":
            start = line.start if start < 0 else start
            end, code, plain = line.end, code + 1, 0
        elif start >= 0 and kind == "plain":
            plain += 1
            if plain > min(_PLAIN_WITHIN, code):
                if code >= _FEWEST:
                    spans.append(Span(start, end))
                start, code, plain = -1, 0, 0
    if code >= _FEWEST:
        spans.append(Span(start, end))
    return spans


def _lines(text: str) -> Iterator[tuple[Span, str]]:
    at = 0
    while at < len(text):
        match = _LINE.match(text, at)
        stop = match.end() if match else len(text)
        line = text[at:stop].rstrip()
        if line:
            yield Span(at, at + len(line)), _kind(line)
        at = stop


def _kind(line: str) -> str:
    """Tell whether a line reads as code, as a comment, which may be anything, or as plain text."""
    if _COMMENT.match(line):
        return "comment"
    if len(line) > _LONGEST or _ITEM.match(line):
        return "plain"
    reads = (
        line.endswith(_ENDINGS)
        or (line[-1] == ";" and _SIGNS.search(line) is not None)
        or (line[-1] == ":" and _CONTROL.match(line) and _SIGNS.search(line) is not None)
        or _WHOLE.fullmatch(line) is not None
    )
    return "code" if reads else "plain"
