"""Weekdays of what the present tense tells: "it is on Friday", "we have a test on Friday"."""

from __future__ import annotations

from typing import Final

from .tense import Words, is_present_be, tense_at

_NOT: Final = frozenset({"not", "'", "’", "t"})
_STATES: Final = frozenset(
    {"free", "available", "busy", "off", "away", "out", "back", "here", "there", "home", "closed"}
    | {"open"}
)
_STARTS: Final = frozenset(
    {"leaves", "departs", "arrives", "lands", "starts", "begins", "ends", "opens", "closes"}
    | {"airs", "happens"}
)
_OUR_STARTS: Final = frozenset({"leave", "depart", "arrive", "land", "start", "begin", "fly"})
_WE: Final = frozenset({"i", "we", "they"})
_HAVE: Final = frozenset({"have", "has", "ve"})
_OWNED: Final = frozenset(  # what "have" must stand before to be no auxiliary
    {"a", "an", "no", "my", "our", "another", "the", "some", "two", "three", "time", "plans"}
    | {"school", "work", "class", "classes", "guests", "practice", "training"}
)
_OTHERS: Final = frozenset(  # words behind which a date belongs to something else
    {"of", "from", "about", "that", "which", "who", "for", "because", "and", "but", "or", "after"}
    | {",", ".", "!", "?", ";", ":"}
)
_HOURS: Final = frozenset({"at", ":", "am", "pm", "noon", "midnight", "o", "clock", "'"})
_REACH: Final = 5  # tokens
_HAD_REACH: Final = 7
_DID: Final = frozenset({"did", "didn", "used", "had", "hadn"})


def is_scheduled(words: Words, i: int) -> bool:
    """Return whether the weekday at token `i` is one for which something stands in a calendar.

    It is so where "on" binds the day to a verb of the present; what merely stands with such a verb
    ("I'm sorry about the mess on Friday") is not.
    """
    if i < 2 or words[i - 1] != "on" or words[i + 1 : i + 2] in (["'"], ["’"]):
        return False
    k = i - 2
    while k > i - 2 - _REACH and k > 0 and (words[k] in _HOURS or words[k].isdigit()):
        k -= 1
    return _is_so(words, k) or _begins(words, k) or _is_had(words, k)


def _is_so(words: Words, k: int) -> bool:
    """Whether "is", or "is free", ends at token `k`: "Are you free"."""
    while k > 0 and words[k] in _NOT:
        k -= 1
    if words[k] not in _STATES:
        return is_present_be(words, k)
    near = range(max(k - _REACH, 0), k)
    return any(is_present_be(words, j) for j in near) and all(_is_open(words, j) for j in near)


def _begins(words: Words, k: int) -> bool:
    """Whether "leaves", or "leaves from Oslo", ends at token `k`."""
    for j in range(k, max(k - _REACH, 0), -1):
        if words[j] in _STARTS:
            return words[j - 1] not in {"the", "a", "my"}
        if words[j] in _OUR_STARTS and words[j - 1] in _WE:
            return _DID.isdisjoint(words[max(j - _REACH, 0) : j])
        if not _is_open(words, j) and words[j] != "from":
            return False
    return False


def _is_had(words: Words, k: int) -> bool:
    """Whether "have an exam" ends at token `k`: "did you have a good time" does not."""
    for j in range(k, max(k - _HAD_REACH, -1), -1):
        if words[j] in _HAVE:
            return words[j + 1] in _OWNED and _DID.isdisjoint(words[max(j - _REACH, 0) : j])
        if not _is_open(words, j):
            return False
    return False


def _is_open(words: Words, j: int) -> bool:
    """Whether a date behind token `j` may still belong to a verb before it."""
    return words[j] not in _OTHERS and tense_at(words, j) is None
