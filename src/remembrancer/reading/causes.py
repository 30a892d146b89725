"""Finds which statements of a turn say that one thing came of another.

Precision goes before recall: a link needs a word that says so ("because", "that's why") right
between two statements, or a cause that is named again ("due to the storm").
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..nouns.memory import Modality
from . import lexicon as lex
from .clauses import Clause
from .tokens import Tokens
from .types import Statement
from .verbs_lexicon import BASES, PARTICIPLES, PAST_FORMS, S_FORMS

MOST_CAUSES = 2  # of one statement

_RESULTS = tuple(
    tuple(phrase.split())
    for phrase in (
        "that 's why",
        "that is why",
        "this is why",
        "which is why",
        "because of that",
        "because of this",
        "for that reason",
        "for this reason",
        "as a result",
        "as a consequence",
        "consequently",
        "therefore",
        "hence",
        "thus",
    )
)
_CAUSES = ("because", "since")
# before "because" these take in what stands before them, or leave open whether it is the cause
_UNSURE = frozenset(
    "not just only even maybe perhaps possibly probably or if than especially partly".split()
)
_PRESENT = (BASES | S_FORMS) - PAST_FORMS
_STATIVE = frozenset(
    "am is are 'm 're 's don't doesn't isn't aren't can't cannot do does can".split()
)
_PERFECT = lex.HAVE | {"been"}
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LEADS_TO = re.compile(
    r"(?:this|that|it|which)\s+(?:(?:has|had|really|eventually|in turn|also)\s+){0,2}"
    r"(?:caused|causes|led to|leads to|resulted in|forced|prevented|made (?:me|us|him|her|them))\b",
    re.IGNORECASE,
)
_OWING = re.compile(r"\b(?:due to|because of|as a result of|caused by|owing to)\s+", re.IGNORECASE)
_OWING_WORDS = 4
_OWING_END = frozenset("and but so which that who when while i we he she they in on at to".split())


def result_phrase(tokens: Tokens, at: int) -> int:
    """Return how many words from `at` say that a result follows ("that's why"); 0 for none."""
    return next((len(p) for p in _RESULTS if tuple(tokens.lows[at : at + len(p)]) == p), 0)


def phrase_before(tokens: Tokens, at: int) -> int:
    """Return how many words right before `at` say "because" or "that's why"; 0 for none."""
    if at and tokens.lows[at - 1] in _CAUSES:
        return 1
    return next(
        (len(p) for p in _RESULTS if at >= len(p) and tuple(tokens.lows[at - len(p) : at]) == p), 0
    )


def gives_cause(tokens: Tokens, at: int, clause: Clause | None, main: Clause | None) -> bool:
    """Tell whether word `at` opens a clause that says why.

    Args:
        tokens: the words of the sentence.
        at: "because" or "since"; any other word gives none.
        clause: the clause right after it.
        main: the clause that it would explain, when it is known.
    """
    word = tokens.lows[at]
    if clause is None or word not in _CAUSES or (at and tokens.lows[at - 1] in _UNSURE):
        return False
    if word == "because":
        return True
    # "since" is of time after "I have lived here", and before what happened once
    if main is not None and not _PERFECT.isdisjoint(main.group):
        return False
    verb = tokens.lows[clause.main] if clause.main < len(tokens) else ""
    if clause.group:
        owns = clause.group[0] in ("have", "has") and verb not in PARTICIPLES
        return owns or (clause.group[0] in _STATIVE and _PERFECT.isdisjoint(clause.group[1:]))
    return verb in _PRESENT and verb != "last"  # "since we last met"


def find_causes(text: str, statements: Sequence[Statement]) -> list[tuple[int, int]]:
    """Return (effect, cause) pairs of numbers of `statements`, at most `MOST_CAUSES` an effect.

    Args:
        text: the turn.
        statements: what was read from it, in order.
    """
    pairs: list[tuple[int, int]] = []
    for second in range(1, len(statements)):
        pair = _between(text, statements, second)
        if pair is not None and sum(effect == pair[0] for effect, _ in pairs) < MOST_CAUSES:
            pairs.append(pair)
    return pairs


def _between(text: str, statements: Sequence[Statement], second: int) -> tuple[int, int] | None:
    """Return the pair of a statement and the one before it, if one came of the other."""
    first = second - 1
    a, b = statements[first], statements[second]
    if Modality.QUOTED in (a.modality, b.modality):
        return None
    gap = text[a.span.end : b.span.start]
    words = [w.lower().replace("’", "'") for w in _WORD.findall(gap)]
    joint = " ".join(words)
    same_sentence = not any(mark in gap for mark in ".!?\n") and a.text[-1] not in ".!?"
    if joint in _CAUSES and same_sentence:
        return first, second
    if same_sentence and not words and _opened_by_cause(text, a.span.start):
        return second, first
    if joint in _RESULT_JOINTS or (joint in ("so", "and so") and same_sentence):
        return second, first
    if not words and _LEADS_TO.match(b.text):
        return second, first
    if not words and (_names_cause(b.text, a.text)):
        return second, first
    return None


_RESULT_JOINTS = frozenset(
    f"{lead}{' '.join(p)}".replace(" 's", "'s") for p in _RESULTS for lead in ("", "and ", "so ")
)


def _opened_by_cause(text: str, at: int) -> bool:
    before = _WORD.findall(text[max(0, at - 12) : at])
    return bool(before) and before[-1].lower() in _CAUSES and text[at - 1].isspace()


def _names_cause(effect: str, other: str) -> bool:
    """Tell whether what `effect` is said to be due to is what `other` tells of."""
    match = _OWING.search(effect)
    if match is None:
        return False
    named: list[str] = []
    for word in _WORD.findall(effect[match.end() :])[: _OWING_WORDS + 1]:
        if word.lower() in _OWING_END:
            break
        named.append(word.lower())
    content = {word for word in named if word not in lex.STOP}
    return bool(content) and content <= {w.lower() for w in _WORD.findall(other)}
