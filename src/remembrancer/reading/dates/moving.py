"""Dates that something was moved to or booked for: ahead of the telling, whatever its tense."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from . import words as w

# Beginnings of verbs by which a date is moved: "Monday to Friday" after them is no range.
MOVES: Final = tuple(
    "move moving push pushed postpon reschedul shift switch chang swap delay brought bring".split()
)
# Beginnings of the verbs that move a date, by the preposition before the date: people "moved boxes
# until Friday", and a strike "extended from May to June".
_DEFERS: Final = ("postpon", "reschedul", "rearrang", "rebook", "defer", "adjourn", "delay")
_SHIFTS: Final = ("moved", "moving", "shift", "pushed", "pushing", "switch", "chang", "bump")
_EXTENDS: Final = ("extended", "extending", "prolong")
_BY_PREPOSITION: Final = {
    "to": (*_DEFERS, *_SHIFTS, *_EXTENDS),
    "from": (*_DEFERS, *_SHIFTS),
    **dict.fromkeys(("until", "till", "til"), (*_DEFERS, *_EXTENDS)),
    "for": _DEFERS,
}
_SHORT: Final = {"to": {"move", "moves", "push", "extend"}, "from": {"move", "moves", "push"}}
_PUT: Final = frozenset({"put", "push", "pushed", "pushing"})  # with "off", "back"
_BOOKED: Final = frozenset({"booked", "planned", "scheduled", "arranged", "reserved"})
_BEFORE_DATE: Final = (
    frozenset({"the", ",", "of", "early", "late", "mid", "-", "st", "nd", "rd", "th"})
    | set(w.WEEKDAYS)
    | set(w.MONTHS)
    | set(w.DAY_PARTS)
)
_MOST_BEFORE: Final = 5  # tokens of the date before the one that is asked about
_REACH: Final = 8  # tokens between the verb and the preposition
_ENDS: Final = frozenset({".", "!", "?", ";", ",", "and", "but", "because", "when"})
_PERFECT_REACH: Final = 3
_PAST_BE: Final = frozenset({"was", "were", "wasn", "weren", "had", "hadn"})


def is_moved_to(words: Sequence[str], i: int) -> bool:
    """Return whether the date at token `i` is one that something was moved to or booked for.

    "They had moved it to Friday" is told from later on, and so is "it was booked for Friday".
    """
    k = i - 1
    while k > i - _MOST_BEFORE and k > 0 and (words[k] in _BEFORE_DATE or words[k].isdigit()):
        k -= 1
    if k < 1 or words[k] not in _BY_PREPOSITION:
        return False
    if words[k] == "from" and "to" not in words[i + 1 : i + _MOST_BEFORE]:
        return False
    for j in range(k - 1, max(k - 1 - _REACH, -1), -1):
        if words[j] in _ENDS:
            return False
        told = words[max(j - _PERFECT_REACH, 0) : j]
        if words[k] == "for" and words[j] in _BOOKED:
            return _PAST_BE.isdisjoint(told)
        if _moves(words, j, k):
            return not {"had", "hadn"} & set(told)
    return False


def _moves(words: Sequence[str], j: int, k: int) -> bool:
    """Whether token `j` is a verb that moves a date with the preposition at token `k`."""
    word, preposition = words[j], words[k]
    if word in _PUT and not {"off", "back", "out", "forward"}.isdisjoint(words[j + 1 : k]):
        return preposition != "for"
    short = word in _SHORT.get(preposition, ())
    return short or word.startswith(_BY_PREPOSITION[preposition])
