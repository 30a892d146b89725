"""Where a value ends before another clause, and the items of a list of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from .. import lexicon as lex
from ..tokens import Tokens
from ..verbs_lexicon import BASES, FINITE, S_FORMS, VERB_FORMS

# words with a comma between them, and whether the second is written small
Pauses = Mapping[tuple[str, str], bool]

_JOINING = frozenset("and or nor".split())
_SUBJECTS = frozenset("i we he she they".split())
_EITHER_CASE = frozenset("it you".split())
_CONTRACTED = frozenset("'s 're 'm 've 'll 'd".split())
_ARTICLES = frozenset("a an the".split())
_APPOSED = _ARTICLES | frozenset("my our his her their its your".split())
_DETERMINERS = _APPOSED | frozenset("this that these those each every".split())
# after these a clause belongs to the thing: "the editor she wrote", "all he owns"
_DEFINING = _DETERMINERS | frozenset("all any some no what whatever how where who which".split())
_ET_CETERA = frozenset("etc more others".split())
_NO_ITEMS = _ET_CETERA | frozenset("not never rather none nothing".split())
_ORDERS = frozenset("don't please let's".split())
_ORDERED = frozenset("me it that us them him her forget call use".split())
_LONGEST_ITEM = 5
_SUBJECT_WORDS = 5  # of a noun phrase before its verb


def pauses(tokens: Tokens, low: int, high: int) -> Pauses:
    """Return which words stand with a comma between them."""
    lows, raws = tokens.lows, tokens.raws
    return {
        (lows[i - 1], lows[i]): raws[i] == lows[i]
        for i in range(low + 1, high)
        if "," in tokens.gap(i)
    }


def clipped(words: list[str], breaks: Pauses) -> list[str]:
    """Return words up to a comma before another clause ("blue, | the sky is grey") or a remark."""
    for i in range(1, len(words)):
        small = breaks.get((words[i - 1], words[i]))
        if small is not None and (_opens_clause(words, i, small=small) or _is_apposed(words, i)):
            return words[:i]
    return words


def before_clause(words: list[str], breaks: Pauses, *, many: bool) -> list[str]:
    """Return a value without a clause right after it: "Berlin | I met Tom".

    A name goes on after a comma ("Rome, Italy"), a remark on it ("Rome, the capital") does not;
    the values of a list (`many`) may have articles.
    """
    for i in range(1, len(words)):
        if (words[i - 1], words[i]) in breaks:
            if not many and words[i] in _DETERMINERS:
                return words[:i]
        elif _subject_at(words, i) and _DEFINING.isdisjoint(words[:i]):
            return words[:i]
    return words


def _opens_clause(words: Sequence[str], at: int, *, small: bool) -> bool:
    """Tell whether a subject with its verb begins at `at`; `small`: with no capital."""
    if words[at] in lex.PRONOUNS:
        return _subject_at(words, at)
    if words[at] in _JOINING:
        return False
    after = words[at + 1] if at + 1 < len(words) else ""
    if words[at] in ("now", "so", "then") and after in lex.PRONOUNS:
        return _subject_at(words, at + 1)
    if small and words[at] in BASES | _ORDERS and after in _ORDERED:
        return True  # "…, call me there"
    phrase = words[at] in _DETERMINERS
    verbs = S_FORMS if phrase else frozenset[str]() if small else FINITE
    last = at + (_SUBJECT_WORDS if phrase else 1)
    for i in range(at + 1, min(last + 1, len(words) - 1)):
        if words[i] in _JOINING:
            return False
        if (words[i] in verbs or words[i] in lex.STRONG_VERBS) and words[i + 1] not in _JOINING:
            return True
    return False


def _is_apposed(words: Sequence[str], at: int) -> bool:
    """Tell a remark ("Rome, the capital") from an item of a list, and from a day ("the 5th")."""
    rest = words[at + 1 :]
    if words[at] not in _APPOSED or not rest or rest[0][0].isdigit():
        return False
    return _JOINING.isdisjoint(rest)


def _subject_at(words: Sequence[str], at: int) -> bool:
    """Tell whether a bare pronoun with its finite verb stands at `at`."""
    word, i = words[at], at + 1
    if word not in _SUBJECTS and word not in _EITHER_CASE:
        return False
    while i < len(words) and words[i] in lex.ADVERBS and words[i] not in VERB_FORMS:
        i += 1
    if i >= len(words):
        return False
    verb = words[i]
    if verb in lex.STRONG_VERBS or verb in _CONTRACTED or verb.endswith("n't"):
        return True
    if word in _EITHER_CASE:
        return False
    return verb in FINITE or (word not in ("he", "she") and verb in VERB_FORMS)


def items(words: list[str], breaks: Pauses, adjuncts: frozenset[str]) -> list[list[str]]:
    """Return the items of "nuts, shellfish and eggs", up to what is none.

    What stands after the only comma of a list without "and" may be a remark or a name that is
    spoken to, so it is left out unless it is written small.
    """
    if len(words) > 1 and words[0] in ("both", "either"):
        words = words[1:]
    found: list[list[str]] = []
    joined = False
    for part, after in _parts(words, breaks):
        if found and _has_aim(found[-1]):
            break
        if found and not _is_item(part, adjuncts):
            joined = joined or part[0] in _ET_CETERA
            break
        small = bool(found) and breaks.get((found[-1][-1], part[0]), False)
        found.append(part)
        joined = joined or after or (small and not _is_remark(part))
    return found if joined or len(found) > 2 else found[:1]


def _parts(words: list[str], breaks: Pauses) -> list[tuple[list[str], bool]]:
    """Return the parts between commas and "and", each with whether an "and" is before it."""
    parts: list[tuple[list[str], bool]] = []
    part: list[str] = []
    after = False
    for i, word in enumerate(words):
        joint = word in _JOINING
        parted = joint or (i > 0 and (words[i - 1], word) in breaks)
        if parted and part:
            parts.append((part, after))
            part, after = [], False
        if joint:
            after = True
        else:
            part.append(word)
    return [*parts, (part, after)] if part else parts


def _has_aim(part: Sequence[str]) -> bool:
    """Tell whether an infinitive stands in a part: "meditation to relax" and more to be done."""
    return any(a == "to" and b in BASES for a, b in pairwise(part))


def _is_item(part: Sequence[str], adjuncts: frozenset[str]) -> bool:
    first = part[0]
    if first in lex.PRONOUNS or first in S_FORMS or first in adjuncts or first in _NO_ITEMS:
        return False
    size = next((i for i, word in enumerate(part) if i and word in adjuncts), len(part))
    return size <= _LONGEST_ITEM and not _opens_clause(part, 0, small=False)


def _is_remark(part: Sequence[str]) -> bool:
    """Tell "mostly", "thanks" from a thing."""
    word = part[0]
    said = word in lex.ADVERBS or word in lex.INTERJECTIONS or word in lex.STOP
    return said or word in _ARTICLES or word.endswith("ly")
