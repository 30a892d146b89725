"""How likely two texts about one thing are to contradict each other; English, by their words.

It only orders what a caller's model is asked about, so it leans towards asking.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from ...finding.stopwords import ENGLISH

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_DENYING = frozenset(
    "no not never none nobody nothing neither nor without cannot cant wont stopped quit "
    "refuses refused lacks denies denied".split()
)
_SHARED = 0.5  # of the content words, for two texts to differ in a value rather than in everything


class Method(StrEnum):
    """What made two texts a candidate."""

    NEGATION = "negation"  # one denies what the other affirms
    VALUE = "value"  # they say another value of the same
    SIMILARITY = "similarity"  # they are about one thing, and nothing more is known


_SCORES = {Method.NEGATION: 1.0, Method.VALUE: 0.8, Method.SIMILARITY: 0.5}


class Verdict(NamedTuple):
    """How likely a contradiction is, 0 to 1, and by what."""

    score: float
    method: Method


def judged(one: str, other: str, similarity: float) -> Verdict | None:
    """Judge two texts; None when they say the same words.

    The score is the similarity times 1 where one text denies and the other does not, .8 where they
    share at least half of their content words and each has one of its own, else .5.

    Args:
        one: a text.
        other: another one.
        similarity: 0 to 1.
    """
    first, second = _words(one), _words(other)
    if first == second:
        return None
    denied = [bool(words & _DENYING) or _contracted(words) for words in (first, second)]
    mine, theirs = _content(first), _content(second)
    if denied[0] != denied[1]:
        method = Method.NEGATION
    elif mine - theirs and theirs - mine and _overlap(mine, theirs) >= _SHARED:
        method = Method.VALUE
    else:
        method = Method.SIMILARITY
    return Verdict(min(1.0, max(0.0, similarity)) * _SCORES[method], method)


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that say what it is about, folded."""
    return _content(_words(text))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.replace("’", "'") for word in _WORD.findall(text.casefold()))


def _contracted(words: frozenset[str]) -> bool:
    return any(word.endswith("n't") for word in words)


def _content(words: frozenset[str]) -> frozenset[str]:
    return words - ENGLISH - _DENYING


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0
