"""Cuts a text into sentences."""

from __future__ import annotations

import re

from .types import Span

# A run of enders with closing quotes or brackets, before space or the end; a full-width ender
# wherever it stands; an emoji before a new word; a line break.
_BOUNDARY = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_~]*+(?=\s|$)"
    r"|[。！？｡]++[」』”’）)]*+"
    r"|(?<![\u2600-\u27bf\U0001f300-\U0001faff\ufe0f\u200d])"
    r"[\u2600-\u27bf\U0001f300-\U0001faff\ufe0f\u200d]++(?=\s)"
    r"|\n\s*"
)
_WORD_BEFORE = re.compile(r"[^\s(\[\"“‘]{1,16}$")
_LIST_ITEM = re.compile(r"(?:[-*+•–]|\d{1,3}[.)]|[a-zA-Z][.)])[ \t]|#{1,6}[ \t]|\||>")
_ITEM_NUMBER = re.compile(r"(?:^|\n)[ \t]*(?:\d{1,3}|[a-zA-Z])$")

# Never the end of a sentence: a name or number follows.
_TITLES = frozenset(
    "dr mr mrs ms mx prof rev hon capt col gen lt sgt sen rep gov st mt messrs vs cf fig figs eq "
    "sec ch vol pp e.g i.e eg ie viz approx ca al ft inkl bzw z.b d.h u.a sra sig".split()
)
# The end of a sentence only when the next word looks like a new one.
_MAYBE = frozenset(
    "a.m p.m am pm etc inc ltd co corp bros jr sr ph.d phd m.d b.a m.a b.sc m.sc u.s u.k u.s.a "
    "e.u d.c a.d b.c dept est min max hr hrs mon tue tues wed thu thur thurs fri sat sun jan feb "
    "mar apr jun jul aug sep sept oct nov dec usw jän mär okt dez".split()
)
_NUMBERED = frozenset("no nos nr p art".split())  # before a digit: "No. 5"
# German writes an ordinal with a full stop: "am 3. Januar", "der 2. Platz", "am 3. und 4. Mai".
_MONTHS = frozenset(
    "januar jänner februar märz april mai juni juli august september oktober november dezember "
    "jan jän feb mär apr jun jul aug sep sept okt nov dez".split()
)
_ORDINAL = re.compile(r"(?:^|[\s(])\d{1,2}$")
_BEFORE_ORDINAL = re.compile(
    r"\b(?:der|die|das|den|dem|des|im|vom|zum|zur|beim|jede[rsnm]?)\s+\d{1,2}$", re.IGNORECASE
)
_AFTER_ORDINAL = re.compile(r"\s+(?:und|oder|bis|auf den)\s+(?:zum\s+)?\d")
_STARTERS = frozenset(
    "I I'm I've I'd I'll He She It It's We They You The This That These Those There My Our His Her "
    "Their Your What When Where Why How Who But And So Then If In On At After Before".split()
)
_LONG_LINE = 60  # a line at least this long may be hard-wrapped prose
_TERMINAL = ".!?…:;。！？｡"


def split_sentences(text: str) -> list[Span]:
    """Return the sentences of `text` as ordered, disjoint spans that cover all non-space text."""
    spans: list[Span] = []
    start = _skip_space(text, 0)
    for match in _BOUNDARY.finditer(text):
        end = match.end()
        if match.start() < start or not _ends(text, start, match.start(), end):
            continue
        stop = end if not match.group()[0].isspace() else match.start()
        _append(spans, text, start, stop)
        start = _skip_space(text, end)
    _append(spans, text, start, len(text))
    return spans


def _append(spans: list[Span], text: str, start: int, end: int) -> None:
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        spans.append(Span(start, end))


def _skip_space(text: str, at: int) -> int:
    size = len(text)
    while at < size and text[at].isspace():
        at += 1
    return at


def _ends(text: str, start: int, at: int, end: int) -> bool:
    """Tell whether the boundary mark text[at:end] ends the sentence that began at `start`."""
    mark = text[at]
    if mark == "\n":
        return _line_ends(text, start, at, end)
    after = _first_char(text, end)
    if not after:
        return True
    if mark in "。！？｡":
        return True
    if mark not in ".!?…":
        return after.isupper() or after.isdigit()
    if end - at == 1 and mark == ".":
        return _full_stop_ends(text, start, at, after, end)
    if mark == "…" or text.startswith("..", at):
        return not after.islower()
    # '"Really?" he said' goes on after the closing quote
    return not (after.islower() and text[end - 1] in "\"”’»'")


def _first_char(text: str, end: int) -> str:
    for at in range(end, min(end + 8, len(text))):
        if not text[at].isspace():
            return text[at]
    return ""


def _full_stop_ends(text: str, start: int, at: int, after: str, end: int) -> bool:
    match = _WORD_BEFORE.search(text, max(start, at - 16), at)
    if match is None:
        return True
    word = match.group()
    low = word.lower()
    if low in _TITLES:
        return False
    if (low in _NUMBERED and after.isdigit()) or _is_ordinal(text, start, at, end):
        return False
    if low in _MAYBE:
        if "." in low[:-1] and low not in ("a.m", "p.m"):
            return _next_word(text, end) in _STARTERS
        return after.isupper()
    if len(word) == 1 and word.isalpha() and word.isupper() and word != "I":
        return False  # an initial
    return not (
        len(word) <= 3 and word.isalnum() and _ITEM_NUMBER.search(text, max(0, at - 24), at)
    )


def _is_ordinal(text: str, start: int, at: int, end: int) -> bool:
    """Tell whether a full stop makes a number a German ordinal."""
    if not text[at - 1].isdigit() or not _ORDINAL.search(text, max(start, at - 4), at):
        return False
    word = _next_word(text, end)
    if word.lower() in _MONTHS or _AFTER_ORDINAL.match(text, end):
        return True
    return word[:1].isupper() and _BEFORE_ORDINAL.search(text, max(start, at - 12), at) is not None


def _next_word(text: str, end: int) -> str:
    at = _skip_space(text, end)
    stop = at
    while stop < len(text) and stop - at < 8 and not text[stop].isspace():
        stop += 1
    return text[at:stop].strip(",.!?")


def _line_ends(text: str, start: int, at: int, end: int) -> bool:
    """A line break ends a sentence unless the line looks like hard-wrapped prose."""
    if text.count("\n", at, end) > 1 or end >= len(text):
        return True
    if text[at - 1 : at] in _TERMINAL or _LIST_ITEM.match(text, end):
        return True
    line = text.rfind("\n", start, at) + 1 or start
    if _LIST_ITEM.match(text, line):
        return True
    if text[end].islower():
        return at - line < _LONG_LINE // 3
    return at - line < _LONG_LINE or not text[end].isalpha()
