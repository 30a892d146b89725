"""Tells the names of places, organisations and cars from common words."""

from __future__ import annotations

from collections.abc import Sequence

from .. import lexicon as lex
from .predicates import Predicate
from .table import Table
from .values import ARTICLES, has_number, singular

_MEASURES = frozenset("lot bit while hour mile way little".split())
_NO_NAMES = frozenset("early late home town work school class bed dinner lunch".split())
_ANY_CAR = frozenset("car vehicle".split())
_AWAY = frozenset("to from into for".split())


def is_named(word: str, predicate: Predicate) -> bool:
    """Tell whether a word is written as a name."""
    pairs = zip(predicate.raws, predicate.words, strict=True)
    return any(raw[:1].isupper() for raw, low in pairs if low == word)


def is_no_place(kept: Sequence[str], predicate: Predicate, table: Table, *, home: bool) -> bool:
    """Tell whether words name no place or organisation: "the city", but "Mexico City" does."""
    common = table.words["not_homes" if home else "not_employers"]
    if home and kept[0] in table.words["systems"] | table.words["rooms"]:
        return True
    return kept[0][0].isdigit() or any(
        word in common and not is_named(word, predicate) for word in (kept[0], kept[-1])
    )


def is_firm(kept: Sequence[str], words: Sequence[str], predicate: Predicate, table: Table) -> bool:
    """Tell whether what is joined is a firm: "Acme", not "the Chess Club", "Tom for lunch"."""
    after = words[words.index(kept[-1]) + 1 :][:1] if kept[-1] in words else []
    together = table.words["joined"]
    return is_named(kept[0], predicate) and kept[-1] not in together and after != ["for"]


def is_left(kept: Sequence[str], first: str, predicate: Predicate) -> bool:
    """Tell whether what is left is a place or a firm: "google", not "early", "my keys"."""
    if predicate.verb not in ("left", "leaving") or is_named(kept[0], predicate):
        return True
    common = lex.ADVERBS | lex.PREPOSITIONS | _NO_NAMES
    return len(kept) == 1 and kept[0] == first and kept[0] not in common


def is_car(
    kept: Sequence[str], words: Sequence[str], predicate: Predicate, *, sold: bool = False
) -> bool:
    """Tell whether what is driven is a car: "a Tesla", not "my kids", "home", "to work".

    What is `sold` is one only where it has a name: "my Golf", not "my guitar".

    `kept` are those of `words`, which end what is said of the verb, that may be its name.
    """
    lead = predicate.core[1 : len(predicate.core) - len(words)] or words[:1]
    named = any(is_named(word, predicate) for word in kept)
    pairs = zip(kept, [*kept[1:], ""], strict=True)
    if sold and not is_named(kept[0], predicate):
        return False
    if any(word in lex.KIN and after != "'s" for word, after in pairs) or kept[0] in _MEASURES:
        return False
    if lead[0] in ("a", "an"):
        return True
    if lead[0] in ARTICLES:
        several = any(singular(word) != word for word in kept)  # "my passengers"
        return named or (kept[-1] not in _ANY_CAR and not several)
    whole = all(is_named(word, predicate) or has_number([word]) for word in kept)
    return whole and _AWAY.isdisjoint(words[len(kept) : len(kept) + 1])  # "drive Tom to work"
