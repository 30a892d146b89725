"""Values of attributes: cleaned for comparison, and what kind of value one is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .. import lexicon as lex
from ..verbs_lexicon import BASES
from .table import Table

_NUMBERS = {
    word: str(n)
    for n, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen twenty""".split()
    )
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "dozen": "12", "hundred": "100"}
_DIGITS = re.compile(r"-?\d[\d.,:/\-]*")
_AMOUNT = re.compile(r"^(-?\d[\d.,]*)([a-z%°]{0,4})$")
_DASHES = re.compile(r"^-+(?!\d)|-+$")  # a dash before a digit is its sign
VERSION = re.compile(r"^v?\d{1,4}(?:\.\d+)*(?:[-.][a-z0-9]+)?$")
CLOCK = re.compile(r"^\d{1,2}(?:[:.]\d\d)?(?:am|pm|h|uhr)$|^\d{1,2}:\d\d$|^\d{1,2}h\d\d$")
_DATE = re.compile(
    r"^\d{4}-\d\d?-\d\d?$|^\d\d?/\d\d?(?:/\d{2,4})?$|^\d\d?\.\d\d?\.\d{2,4}$"
    r"|^\d{1,2}(?:st|nd|rd|th)$"
)
ARTICLES = frozenset(
    "a an the my our his her their its some any der die das den dem ein eine einen einem einer le "
    "la les l un une des du el los las una unos unas il lo".split()
)
_HEDGES = frozenset(
    "about around roughly approximately almost nearly only just over under exactly at least up "
    "currently now still like".split()
)
_TAIL = frozenset(
    "now again anymore instead too actually today currently nowadays though please already ok okay "
    "well still jetzt wieder maintenant ahora".split()
)
_TAILS = (
    ["these", "days"],
    ["any", "more"],
    ["any", "longer"],
    ["at", "the", "moment"],
    ["right", "now"],
    ["at", "present"],
    ["as", "well"],
    ["for", "now"],
    ["from", "now", "on"],
    ["a", "lot"],
    ["so", "much"],
    ["very", "much"],
    ["at", "all"],
    ["for", "good"],
    ["for", "sure"],
    ["of", "all", "time"],
    ["this", "year"],
    ["after", "all"],
)
_NOT = frozenset(["not", "rather", "nicht", "sondern"])
_OF_CLOCKS = frozenset("am pm a p h uhr o'clock clock sharp st nd rd th".split())
_BEFORE_TIME = frozenset(
    """this that next last every each other early late mid end middle beginning first second third
    fourth fifth same following coming weekday planned scheduled due fixed set moved held back
    sometime either both half quarter past day days week weeks weekend month months year
    years""".split()
)
_NO_UNITS = frozenset("a an per each every".split()) | lex.PREPOSITIONS


def trimmed(words: Sequence[str]) -> list[str]:
    """Return words without cues at the end and articles at the beginning."""
    kept = cut(words, _NOT)
    again = True
    while kept and again:
        again = False
        if kept[-1] in _TAIL:
            kept.pop()
            again = True
        for tail in _TAILS:
            if kept[-len(tail) :] == tail:
                del kept[-len(tail) :]
                again = True
    while len(kept) > 1 and kept[0] in ARTICLES:
        del kept[0]
    return kept


def cut(words: Sequence[str], at: frozenset[str]) -> list[str]:
    """Return the words before the first of `at`, the very first word apart."""
    for i, word in enumerate(words):
        if i and word in at:
            return list(words[:i])
    return list(words)


def spelled(words: Sequence[str]) -> str:
    """Return words as a value: numbers as digits, without thousands' commas."""
    told = [_DASHES.sub("", _NUMBERS.get(word, word)) for word in words]
    return " ".join(re.sub(r"(?<=\d),(?=\d{3}\b)", "", word) for word in told if word)


def amount(words: Sequence[str]) -> tuple[str, str, int] | None:
    """Read an amount at the start of words: the number, its unit, and how many words it takes."""
    at = 0
    while at < len(words) - 1 and words[at] in _HEDGES:
        at += 1
    if at >= len(words):
        return None
    word = _NUMBERS.get(words[at], words[at])
    match = _AMOUNT.match(_DASHES.sub("", word))
    if match is None or CLOCK.match(word) or _DATE.match(word):
        return None
    number, unit = match[1].replace(",", "").rstrip("."), match[2]
    at += 1
    if at < len(words) and words[at] in ("hundred", "thousand", "million", "k", "percent"):
        unit = words[at] if words[at] == "percent" else unit
        number += "" if unit == "percent" else words[at][0]
        at += 1
    if not unit and words[at : at + 1] == ["of"]:
        return None  # "one of my favourites"
    if not unit and at < len(words) and words[at] not in _NO_UNITS and words[at].isalpha():
        unit = singular(words[at])
        at += 1
        if at + 1 < len(words) and words[at] == "of":
            unit += f" {singular(words[at + 1])}"
            at += 2
    return number, unit, at


def singular(word: str) -> str:
    """Return a noun without its plural's ending, near enough to compare it."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def is_time(words: Sequence[str], table: Table) -> bool:
    """Tell whether words name a time: a day, a month, a clock time, a date."""
    days, months = table.words["days"], table.words["months"]
    return any(
        word in days
        or (word in months and word != "may")
        or (word == "may" and any(w[0].isdigit() for w in words))
        or CLOCK.match(word)
        or _DATE.match(word)
        or word == "o'clock"
        for word in words
    )


def counts(words: Sequence[str], table: Table) -> bool:
    """Tell an amount with a date after it from a time: "12 books by May", but "9 am on Friday"."""
    found = amount(words)
    if found is None or not found[1] or found[1] in _OF_CLOCKS | lex.PREPOSITIONS:
        return False
    return not is_time(words[: found[2]], table)


def is_timely(words: Sequence[str], table: Table) -> bool:
    """Tell whether a time begins words: "early on Monday", not "great on Monday"."""
    for i, word in enumerate(words):
        if is_number(word) or is_time([word] if word != "may" else words[i : i + 2], table):
            return True
        if word not in lex.PREPOSITIONS | lex.ADVERBS | ARTICLES | _BEFORE_TIME:
            return False
    return False


def has_number(words: Sequence[str]) -> bool:
    """Tell whether there is a number among words."""
    return any(_DIGITS.match(word) or word in _NUMBERS for word in words)


def is_number(word: str) -> bool:
    """Tell whether a word is a number."""
    return bool(_DIGITS.match(word)) or word in _NUMBERS


def lemma(verb: str) -> str:
    """Return the base of a regular present form."""
    if verb in BASES:
        return verb
    for ending, endings in (("ing", ("", "e")), ("es", ("", "e")), ("s", ("",))):
        if verb.endswith(ending):
            stem = verb[: -len(ending)]
            for tail in endings:
                if stem + tail in BASES:
                    return stem + tail
            if ending == "ing" and len(stem) > 3 and stem[-1] == stem[-2] and stem[:-1] in BASES:
                return stem[:-1]
    if verb.endswith("ies") and verb[:-3] + "y" in BASES:
        return verb[:-3] + "y"
    return verb
