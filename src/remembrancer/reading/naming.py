"""Who finds the names in a text: the rules alone, or with them what a recogniser finds beside.

A recogniser is a model of named entities that the user installed (see `installed_spacy`). The rules
come first: where both find something the name is theirs, and the recogniser adds only what kind of
thing it is. Its own finds are doubted: of small models up to a third is wrong in chats.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from ..nouns.folding import fold_name
from .lexicon import CALENDAR, NAME_JOINERS, TITLES
from .markup import TEMPLATE, find_not_prose
from .names import (
    KnownNames,
    begins_sentence,
    find_masked,
    find_names,
    is_no_name,
    is_shouted,
    opens_only,
)
from .nicknames import GIVEN
from .resolution import PERSON, person
from .sentences import split_sentences
from .types import Span

# OntoNotes' labels (of English pipelines), and WikiNER's (of most others); others are not taken.
KINDS = {
    "PERSON": PERSON,
    "PER": PERSON,
    "NORP": "group",
    "ORG": "organization",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "PRODUCT": "product",
    "WORK_OF_ART": "work",
    "LAW": "law",
    "EVENT": "event",
    "LANGUAGE": "language",
}
PIECE = 1_000  # characters handed to a recogniser at once
_MAX_NAME = 80  # characters
_MAX_WORDS = 10
_WORD = re.compile(r"\w+(?:[’'&.\-]\w+)*")
_POSSESSIVE = re.compile(r"(?:'s|’s|'|’)\Z")
_ARTICLES = frozenset(("the", "a", "an"))
_INFORMAL = frozenset("lemme gimme gotta dunno brb omw ttyl thx pls".split())
_ENDS = ("\n", ". ", "! ", "? ", " ")  # where a long text is cut, the best first

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Named:
    """A name in a text. `kind` is what it names, such as `person`; empty: nobody can tell."""

    name: str
    span: Span
    kind: str = ""


class NameFinder(Protocol):
    """Finds the names in a text."""

    def find(self, text: str, known: KnownNames, hidden: Sequence[Span] = ()) -> list[Named]:
        """Return the names in `text`, ordered and disjoint; the same for the same arguments.

        Args:
            text: verbatim; spans are into it.
            known: names to look out for, returned as they are known.
            hidden: what nobody told; a name there may be returned all the same.
        """


class Recognised(NamedTuple):
    """A range of characters, end exclusive, and the label that a model gave it."""

    start: int
    end: int
    label: str


class Recogniser(Protocol):
    """Marks the named entities in up to `PIECE` characters, in order and disjoint; may raise."""

    def __call__(self, text: str) -> Sequence[Recognised]:
        """Return what is named in `text`, alone: the same for the same text."""


class RuleNames:
    """The rules alone; see `names.find_names`."""

    def find(self, text: str, known: KnownNames, hidden: Sequence[Span] = ()) -> list[Named]:  # noqa: ARG002
        """See `NameFinder`."""
        return [Named(name, span) for name, span in find_names(text, known)]


class RecognisedNames:
    """The rules, and a recogniser beside them. When it fails, the rules alone: logged once."""

    def __init__(self, recognise: Recogniser) -> None:
        self._recognise = recognise
        self._rules = RuleNames()
        self._failed = False

    def find(self, text: str, known: KnownNames, hidden: Sequence[Span] = ()) -> list[Named]:
        """See `NameFinder`."""
        own = self._rules.find(text, known)
        try:
            return _joined(text, own, self._recognised(text, hidden))
        except Exception:
            if not self._failed:
                self._failed = True
                log.exception("recognising names failed; the rules read alone. This is said once")
            return own

    def _recognised(self, text: str, hidden: Sequence[Span]) -> list[Recognised]:
        """Return what is recognised outside of what nobody told and what is no prose."""
        blocks = _merged([*hidden, *find_not_prose(text)])
        closed = _merged([*blocks, *find_masked(text), *_forms(text)])
        starts = [span.start for span in closed]
        found = []
        for piece in pieces(text, blocks):
            for start, end, label in self._recognise(text[piece.start : piece.end]):
                there = Recognised(piece.start + start, piece.start + end, label)
                at = bisect_right(starts, there.end - 1) - 1
                if at < 0 or closed[at].end <= there.start:
                    found.append(there)
        return found


def pieces(text: str, without: Sequence[Span]) -> Iterator[Span]:
    """Cut what lies between some spans, ordered and disjoint, into pieces of `PIECE` at most.

    A piece ends with a line or a sentence where that can be, else with a word.
    """
    at = 0
    for span in (*without, Span(len(text), len(text))):
        while at < span.start:
            end = min(span.start, at + PIECE)
            if end < span.start:
                half = at + PIECE // 2
                cuts = ((text.rfind(sign, half, end), len(sign)) for sign in _ENDS)
                end = next((cut + size for cut, size in cuts if cut >= 0), end)
            if any(char.isalpha() for char in text[at:end]):
                yield Span(at, end)
            at = end
        at = max(at, span.end)


def _joined(text: str, own: Sequence[Named], recognised: Sequence[Recognised]) -> list[Named]:
    """Return the rules' names, with their kinds, and those that were recognised elsewhere."""
    names = list(own)
    starts = [name.span.start for name in own]
    lines: dict[int, bool] = {}
    for found in recognised:
        kind = KINDS.get(found.label)
        span = _trimmed(text, found) if kind else None
        if kind is None or span is None:
            continue
        at = bisect_right(starts, span.end - 1) - 1
        if at < 0 or own[at].span.end <= span.start:
            if _is_name(text, span, kind) and not is_shouted(text, span, lines):
                name = text[span.start : span.end]
                names.append(Named(name, span, _sure(name, kind)))
        elif _same(text, own[at].span, span):
            mine = own[at].span
            names[at] = replace(own[at], kind=_sure(text[mine.start : mine.end], kind))
    names.sort(key=lambda name: name.span.start)
    return names


def _trimmed(text: str, found: Recognised) -> Span | None:
    """Return the span of a name without what only stands around it; None when nothing is left."""
    words = [
        (found.start + match.start(), found.start + match.end(), match.group())
        for match in _WORD.finditer(text[found.start : found.end])
    ]
    opens = bool(words) and begins_sentence(text, words[0][0])
    while words and (words[0][2].lower() in _ARTICLES or (opens and opens_only(words[0][2]))):
        del words[0]
    name = text[words[0][0] : words[-1][1]] if words else ""
    if not name or "\n" in name or len(name) > _MAX_NAME or len(words) > _MAX_WORDS:
        return None
    owner = _POSSESSIVE.search(name)
    return Span(words[0][0], words[-1][1] - (len(owner.group()) if owner else 0))


def _same(text: str, own: Span, found: Span) -> bool:
    """Tell whether two spans that overlap name one thing: one may have a title before it."""
    if own.end != found.end:
        return False
    before = text[min(own.start, found.start) : max(own.start, found.start)]
    return all(word.lower() in TITLES | _ARTICLES for word in _WORD.findall(before))


def _is_name(text: str, span: Span, kind: str) -> bool:
    """Tell whether what was recognised, and what the rules left alone, may be a name."""
    name = text[span.start : span.end]
    words = _WORD.findall(name)
    given = fold_name(words[0]) in GIVEN
    if not any(char.isalpha() for char in name) or _INFORMAL.intersection(map(str.lower, words)):
        return False
    if all(is_no_name(word) or word.lower() in CALENDAR for word in words):
        return False
    if name == name.lower():
        return (given or _may_be_small(words, kind)) and _writes_small(text, span)
    if len(words) == 1:
        # at the start of a sentence a capital tells nothing; given names the rules find there
        tells = kind != PERSON and not opens_only(name)
        return tells or not begins_sentence(text, span.start)
    return not words[0][0].islower() and not words[-1][0].islower()


def _may_be_small(words: Sequence[str], kind: str) -> bool:
    """Tell whether words that are all small may be a name, though no given one."""
    if kind == PERSON or (len(words) == 1 and opens_only(words[0])):
        return False
    if kind == "place":  # "new york", "good hope"
        return not is_no_name(words[-1])
    return not any(is_no_name(word) for word in words if word not in NAME_JOINERS)


def _writes_small(text: str, span: Span) -> bool:
    """Tell whether a sentence is written without capitals, so that small letters tell nothing."""
    low = max(0, span.start - PIECE)
    low = max(low, *(text.rfind(sign, low, span.start) + 1 for sign in ".!?\n"))
    ends = [at for sign in ".!?\n" if (at := text.find(sign, span.end, span.end + PIECE)) >= 0]
    words = _WORD.findall(text[low : min(ends, default=span.end + PIECE)])
    return all(word == word.lower() or word.partition("'")[0] == "I" for word in words)


def _sure(name: str, kind: str) -> str:
    """Return a kind that can be relied on, or none.

    Kinds take part in telling which names are one person (see `resolution`), and models mistake
    unusual names: only who has a given name or a title is a person, and nobody who may be one is
    something else.
    """
    words = fold_name(name).split(" ")
    titled = words[0].rstrip(".") in TITLES
    if kind == PERSON:
        return PERSON if titled or words[0] in GIVEN else ""
    return "" if words[0] in GIVEN and person(" ".join(words)) is not None else kind


def _forms(text: str) -> list[Span]:
    """Return the sentences that are forms to be filled in."""
    if TEMPLATE.search(text) is None:
        return []
    return [s for s in split_sentences(text) if TEMPLATE.search(text, s.start, s.end)]


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Return the same characters as spans that are ordered and disjoint."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: span.start):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        elif span.end > span.start:
            merged.append(span)
    return merged
