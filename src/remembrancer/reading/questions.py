"""Tells questions from statements, with and without a question mark."""

from __future__ import annotations

from . import lexicon as lex
from .tokens import Tokens

_QUESTION_TAIL = frozenset("what how why where who which when any".split())
_ASKED_ABOUT = lex.PRONOUNS | lex.OTHER_DETERMINERS | lex.POSSESSIVES | {"there"}


def is_question(tokens: Tokens, low: int, high: int) -> bool:
    """Tell whether the words from `low` begin like a question."""
    word = tokens.lows[low]
    after = tokens.lows[low + 1] if low + 1 < high else ""
    if word == "when":  # "When I was young, I …" is no question; "when did I" is
        return after in lex.INVERTING or after == "'s"
    if word in lex.WH_WORDS:
        return True
    if word in lex.INVERTING:
        return word not in ("may", "gonna") or after in lex.PRONOUNS
    return word in ("any", "anyone") and high - low < 5


def declarative_part(tokens: Tokens, asked: bool) -> int:
    """Return how many words come before the question in "I moved to Rome, can you …?".

    All of them when there is no question; 0 when the sentence is one (`asked`) from the start.
    """
    words, size = tokens.lows, len(tokens)
    for at in range(2, size - 1):
        word = words[at]
        joint = word in ("and", "but", "so", "or")
        if not joint and not (word in lex.INVERTING or (asked and word in _QUESTION_TAIL)):
            continue
        if not joint and not any(char in ",;-–—" for char in tokens.gap(at)):
            continue
        start = at + 1 if joint else at
        if words[start] in ("and", "but", "so"):
            start += 1
        if start + 1 >= size:
            break
        if words[start] in lex.INVERTING:
            after = words[start + 1]
            if after in ("you", "i", "we") or (asked and after in _ASKED_ABOUT):
                return at
        elif asked and words[start] in _QUESTION_TAIL:
            return at
    return 0 if asked else size
