"""Which side of a date its preposition means: "since May", "before 4 pm", "2012 or later"."""

from __future__ import annotations

from typing import Final

from ..types import DateRelation
from .context import Context

_BEFORE: Final = DateRelation.BEFORE
_UNTIL: Final = DateRelation.UNTIL
_SINCE: Final = DateRelation.SINCE
_AFTER: Final = DateRelation.AFTER

# What may stand between the preposition and the date.
_FILLERS: Final = frozenset({"the", "around", "about", "on", "at", "in", "of", "year"})
_ONE: Final = {
    **dict.fromkeys(("before", "pre"), _BEFORE),
    **dict.fromkeys(("until", "till", "til", "by"), _UNTIL),
    **dict.fromkeys(("since", "starting", "beginning", "effective"), _SINCE),
    "after": _AFTER,
}
_TWO: Final = {
    ("prior", "to"): _BEFORE,
    **dict.fromkeys((("earlier", "than"), ("older", "than"), ("sooner", "than")), _BEFORE),
    **dict.fromkeys((("later", "than"), ("newer", "than"), ("more", "than")), _AFTER),
    ("up", "to"): _UNTIL,
    ("as", "of"): _SINCE,
    **dict.fromkeys((("starting", "from"), ("beginning", "from")), _SINCE),
    ("early", "as"): _SINCE,
    ("late", "as"): _UNTIL,
}
_PREFIXES: Final = {"pre": _BEFORE, "post": _AFTER}  # "pre-2015"
_NOT: Final = {_BEFORE: _SINCE, _AFTER: _UNTIL}  # "no earlier than May", "not later than May"
_ITSELF: Final = {_BEFORE: _UNTIL, _AFTER: _SINCE}  # "on or before May"
_AFTERWARDS: Final = {"later": _SINCE, "after": _SINCE, "newer": _SINCE}
_AHEAD: Final = {"earlier": _UNTIL, "before": _UNTIL, "older": _UNTIL}
_ENDS: Final = frozenset({"", ".", ",", "!", "?", ";", ")"})
_MOST_FILLERS: Final = 3


def relation_before(c: Context, i: int) -> DateRelation | None:
    """Return what the words right before token `i` say: "no later than", "since the year"."""
    k = i - 1
    for _ in range(_MOST_FILLERS):
        two = _TWO.get((c.word(k - 1), c.word(k)))
        if two is not None:
            denied = c.word(k - 2) in {"no", "not"}
            if denied and c.word(k - 1) == "more":
                return None  # "no more than 3 days from now": of the count
            return _NOT.get(two, two) if denied else two
        if (c.word(k - 1), c.word(k)) == ("or", "on"):
            side = _ONE.get(c.word(k - 2))
            return _ITSELF.get(side) if side else None
        if c.word(k) in {"<", ">", "="}:
            return _compared(c, k)
        if c.word(k) == "-" and c.word(k - 1) in _PREFIXES:
            return _PREFIXES[c.word(k - 1)]
        one = _ONE.get(c.word(k))
        if one is not None:
            beside = one in {_BEFORE, _AFTER} and c.word(k - 1) in {"day", "week", "night"}
            if c.word(k - 1) == "not" and one in {_BEFORE, _UNTIL}:
                return _SINCE  # "not before May", "not until May"
            if beside or c.word(k - 1) in {"never", "not"}:
                return None
            return _ITSELF.get(one, one) if c.word(k - 1) == "or" else one
        if c.word(k) not in _FILLERS:
            return None
        k -= 1
    return None


def _compared(c: Context, k: int) -> DateRelation | None:
    """Return what "<", ">=" and their like that end at token `k` say."""
    equal = c.word(k) == "="
    mark = c.word(k - 1) if equal else c.word(k)
    if mark == "<":
        return _UNTIL if equal else _BEFORE
    return (_SINCE if equal else _AFTER) if mark == ">" else None


def relation_behind(c: Context, j: int) -> tuple[DateRelation, int] | None:
    """Return what the words from token `j` on say, and the token after: "or later", "onwards"."""
    if c.word(j) in {"onward", "onwards"}:
        return _SINCE, j + 1
    if (c.word(j), c.word(j + 1)) in {("and", "on"), ("and", "onward"), ("and", "onwards")}:
        closed = c.word(j + 1) != "on" or c.word(j + 2) in _ENDS
        return (_SINCE, j + 2) if closed else None
    if c.word(j) in {"or", "and"}:
        side = _AFTERWARDS.get(c.word(j + 1)) or _AHEAD.get(c.word(j + 1))
        if c.word(j + 2) == "than":
            return None  # "or later than 2020": of another date
        clear = c.word(j + 1) in {"later", "newer", "earlier", "older"} and c.word(j) == "or"
        if side is not None and (clear or c.word(j + 2) in _ENDS):
            return side, j + 2
    return None


def relation_of(c: Context, i: int, j: int) -> DateRelation:
    """Return which side of the date at tokens `i` to `j` is meant; itself where nothing says so."""
    behind = relation_behind(c, j)
    if behind is not None:
        return behind[0]
    if c.before(i) == "from" and c.word(j) == "on" and c.word(j + 1) in _ENDS:
        return _SINCE
    return relation_before(c, i) or DateRelation.WITHIN
