"""Hides from a text what the speaker did not say himself, character by character."""

from __future__ import annotations

import re
from typing import Final

from ..injected import find_injected

_HIDDEN: Final = "\u00a4"  # a sign that no rule looks for and that ends no sentence
_MOST_QUOTED: Final = 400  # characters: a lone quotation mark does not swallow the text
_QUOTED: Final = re.compile(
    rf"```.*?(?:```|\Z)|`[^`\n]{{1,{_MOST_QUOTED}}}`"
    rf"|\"[^\"\n]{{1,{_MOST_QUOTED}}}\"|“[^”\n]{{1,{_MOST_QUOTED}}}”"
    rf"|«[^»\n]{{1,{_MOST_QUOTED}}}»|„[^“”\n]{{1,{_MOST_QUOTED}}}[“”]"
    rf"|(?<![\w'])'[^'\n]{{1,{_MOST_QUOTED}}}'(?!\w)|(?<!\w)‘[^’\n]{{1,{_MOST_QUOTED}}}’(?!\w)"
    r"|^[ \t]*>[^\n]*$",
    re.DOTALL | re.MULTILINE,
)


def mask(text: str) -> str:
    """Return a text of the same length with quotations, code and injected blocks hidden."""
    masked = text
    if any(sign in text for sign in "\"“«„'‘`>"):
        masked = _QUOTED.sub(_hide, text)
    for span in find_injected(text):
        masked = masked[: span.start] + _hidden(masked[span.start : span.end]) + masked[span.end :]
    return masked


def is_hidden(text: str) -> bool:
    """Tell whether a masked text holds nothing that was said."""
    return not text.replace(_HIDDEN, "").strip(" \t\n.,;:!?")


def _hide(match: re.Match[str]) -> str:
    return _hidden(match.group())


def _hidden(text: str) -> str:
    return "".join(char if char == "\n" else _HIDDEN for char in text)
