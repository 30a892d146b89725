"""Facts that callers extracted themselves: as they hand them in, and as they are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...nouns.errors import InvalidInput, TooLarge
from ...nouns.memory import Unit
from ...nouns.text import clean
from ...reading.asking.grounding import MAX_CHARS
from ...reading.types import Span

GIVEN_BY = "caller"
"""What facts that a caller handed in have for `model_facts.READ_BY`."""

MOST_FACTS = 1_000  # of one item
TEXT_CHARS = MAX_CHARS
QUOTE_CHARS = 2_000
MOST_NAMES = 20  # of one fact
NAME_CHARS = 100

_TOLD = "given"  # in a fact's attributes: what was handed in beside its text


@dataclass(frozen=True, slots=True)
class GivenFact:
    """A fact as a caller hands it in.

    `quote` are words of the content that state it; None: it is looked for. `entities` are the names
    in it. `occurred_start` and `occurred_end` (microseconds) are when it happened, by a date that
    the content tells; None: as the content tells it.
    """

    text: str
    quote: str | None = None
    entities: tuple[str, ...] = ()
    occurred_start: int | None = None
    occurred_end: int | None = None


@dataclass(frozen=True, slots=True)
class PlacedFact:
    """A fact that was found to stand in a source: at `span` of its text."""

    given: GivenFact
    span: Span


@dataclass(frozen=True, slots=True)
class RefusedFact:
    """A fact that does not stand in what was handed in with it: which, and why.

    `item` is the number of the item in the request, `fact` that of the fact in the item.
    """

    item: int
    fact: int
    reason: str


def checked(facts: Sequence[GivenFact], where: str) -> tuple[GivenFact, ...]:
    """Return facts cleaned, or refuse them all; `where` names their field.

    Raises:
        InvalidInput, TooLarge: one is empty, too long, or ends before it begins.
    """
    if len(facts) > MOST_FACTS:
        raise TooLarge(
            f"{where} holds {len(facts)} facts; the limit is {MOST_FACTS} an item: "
            "split the item into several",
            field=where,
            limit=MOST_FACTS,
        )
    return tuple(_checked(each, f"{where}[{number}]") for number, each in enumerate(facts))


def _checked(fact: GivenFact, where: str) -> GivenFact:
    text = " ".join(clean(fact.text).split())
    if not text:
        raise InvalidInput(f"{where}.text is empty: say the fact", field=f"{where}.text", limit=1)
    _bounded(text, TEXT_CHARS, f"{where}.text")
    quote = clean(fact.quote).strip() if fact.quote is not None else ""
    _bounded(quote, QUOTE_CHARS, f"{where}.quote")
    names = tuple(dict.fromkeys(name for each in fact.entities if (name := clean(each).strip())))
    if len(names) > MOST_NAMES:
        raise TooLarge(
            f"{where}.entities holds {len(names)} names; the limit is {MOST_NAMES}",
            field=f"{where}.entities",
            limit=MOST_NAMES,
        )
    for name in names:
        _bounded(name, NAME_CHARS, f"{where}.entities")
    start, end = fact.occurred_start, fact.occurred_end
    if end is not None and (start is None or end < start):
        raise InvalidInput(
            f"{where}.occurred_end needs an occurred_start before it",
            field=f"{where}.occurred_end",
        )
    return replace(fact, text=text, quote=quote or None, entities=names)


def _bounded(text: str, most: int, where: str) -> None:
    if len(text) > most:
        raise TooLarge(
            f"{where} has {len(text)} characters; the limit is {most}", field=where, limit=most
        )


def told_of(given: GivenFact) -> Mapping[str, Any]:
    """Return what a kept fact's attributes say of how it was handed in."""
    told: dict[str, Any] = {"entities": list(given.entities)}
    if given.occurred_start is not None:
        told["occurred"] = [given.occurred_start, given.occurred_end]
    return {_TOLD: told}


def is_given(fact: Unit) -> bool:
    """Tell whether a caller handed a fact in."""
    return fact.attributes is not None and _TOLD in fact.attributes


def given_of(fact: Unit, source: str) -> GivenFact:
    """Return a kept fact as it could be handed in again, with the text of its source."""
    told = (fact.attributes or {}).get(_TOLD) or {}
    start, end = told.get("occurred") or (None, None)
    said = source[fact.start : fact.end]
    quote = said if 0 < len(said) <= QUOTE_CHARS else None
    return GivenFact(fact.text, quote, tuple(told.get("entities", ())), start, end)


def stays(facts: Sequence[Unit], placed: Sequence[PlacedFact]) -> bool:
    """Tell whether the facts kept of a source are just those that are handed in for it now."""
    old = [(f.text, f.start, f.end, _plain(f.attributes or {})) for f in facts]
    new = [(p.given.text, p.span.start, p.span.end, _plain(told_of(p.given))) for p in placed]
    return sorted(old) == sorted(new)


def _plain(attributes: Mapping[str, Any]) -> str:
    return repr(attributes.get(_TOLD))
