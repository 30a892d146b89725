"""Tells what is asserted from what is wished, planned, supposed or quoted."""

from __future__ import annotations

from collections.abc import Sequence

from ..nouns.memory import Modality
from . import lexicon as lex
from .tokens import Tokens
from .verbs_lexicon import BASES, ING_FORMS, PARTICIPLES

_REPORTING = frozenset("said says told tells claims claimed thinks believes".split())
# report only with a clause after them: "suggested that we …", but "suggested a book"
_REPORTING_CLAUSE = frozenset(
    "mentioned explained suggested announced reported admitted recommended asked".split()
)
_CLAUSE_STARTS = frozenset("that i he she they we it there if".split())
_WISHES = frozenset(
    "want wants wanted wanting wanna hope hopes hoping hoped wish wishes wished".split()
)
_LIKING = frozenset("like love prefer hate".split())
_PLANS = frozenset("plan plans planned planning intend intends intending aim aiming".split())
_KNOWING = frozenset(
    "see know knows wonder wondering ask asked check tell sure idk unsure verify "
    "determine decide out understand".split()
)
_HEDGES = frozenset("maybe perhaps possibly".split())


def read_modality(
    tokens: Tokens, low: int, at: int, high: int, group: Sequence[str], *, of_speaker: bool
) -> Modality:
    """Return how the clause of words [low, high) is meant.

    Args:
        tokens: the words of the sentence.
        low: the first word of the clause.
        at: its main verb, or the predicate after "be".
        high: where it ends.
        group: its auxiliaries, in order.
        of_speaker: whether its subject is the speaker ("I told her" reports nothing).
    """
    words = tokens.lows
    main = words[at] if at < high else ""
    after = words[at + 1] if at + 1 < high else ""
    if _is_condition(words, low, high):
        return Modality.HYPOTHETICAL
    if main in _REPORTING and not (main == "told" and of_speaker):
        return Modality.QUOTED
    if main in _REPORTING_CLAUSE and after in _CLAUSE_STARTS:
        return Modality.QUOTED
    if main in _WISHES:
        return Modality.WISHED
    if group and group[-1] in ("would", "'d") and main in _LIKING:
        return Modality.WISHED
    planned = _planned(words, at, high, group, main, after)
    if planned is not None:
        return planned
    if words[low] in _HEDGES or (at > low and _HEDGES.intersection(words[low:at])):
        return Modality.HYPOTHETICAL
    return Modality.ASSERTED


def _is_condition(words: list[str], low: int, high: int) -> bool:
    for i in range(low, high):
        if words[i] in ("if", "unless") and (i == 0 or words[i - 1] not in _KNOWING | {"as"}):
            return True
    return False


def _planned(
    words: list[str], at: int, high: int, group: Sequence[str], main: str, after: str
) -> Modality | None:
    """Tell plans and mere possibilities by the auxiliaries and the main verb."""
    aux = group[0] if group else ""
    if "gonna" in group or aux in ("will", "'ll", "won't", "wont", "shall"):
        return Modality.PLANNED
    if aux in ("would", "wouldn't", "could", "might", "may", "should", "shouldn't", "mightn't"):
        return Modality.HYPOTHETICAL
    if aux == "'d" and main in BASES and main not in PARTICIPLES:
        return Modality.HYPOTHETICAL
    if main in _PLANS and after in ("to", "on", "a", "my", "our"):
        return Modality.PLANNED
    if not group or "been" in group or "not" in group:
        return None
    if main == "about" and after == "to":
        return Modality.PLANNED
    future = not lex.FUTURE.isdisjoint(words[at:high]) or "this weekend" in " ".join(words[at:high])
    if main == "going" and after == "to" and (future or words[at + 2 : at + 3] != []):
        target = words[at + 2] if at + 2 < high else ""
        verb_next = target in BASES or target == "be" or target in ("have", "do")
        return Modality.PLANNED if verb_next or future else None
    if main in ING_FORMS and future and aux in lex.BE | {"'s"}:
        return Modality.PLANNED
    return None
