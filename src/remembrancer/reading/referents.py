"""Tells whom "he" or "she" means, when only one person can be meant."""

from __future__ import annotations

from dataclasses import dataclass

from . import lexicon as lex
from .clauses import Clause, Kind
from .tokens import Tokens

_HE = frozenset(
    """dad father son brother husband boyfriend grandpa grandfather uncle nephew father-in-law
    brother-in-law stepdad stepson godfather godson landlord""".split()
)
_SHE = frozenset(
    """mom mum mother daughter sister wife girlfriend grandma grandmother granny nana aunt niece
    mother-in-law sister-in-law stepmom stepdaughter godmother""".split()
)
_AGAINST = {"he": _SHE, "she": _HE}
_PLACING = frozenset("in at from near".split())  # the name after them is a place's
_OTHERS = frozenset("he she him hers they them".split())
_SEVERAL = frozenset(w for w in lex.KIN if w[-1] == "s" and w[:-1] in lex.KIN) | {
    "children",
    "family",
    "grandparents",
    "in-laws",
}
_AFTER_OBJECT = lex.PREPOSITIONS | lex.SUBORDINATORS | lex.CONJUNCTIONS | lex.ADVERBS | lex.STOP


@dataclass(frozen=True, slots=True)
class _Person:
    name: str
    sentence: int


class Referents:
    """Follows who is spoken of through the sentences of one turn."""

    def __init__(self) -> None:
        self._last: _Person | None = None

    def of(
        self, sentence: int, tokens: Tokens, clause: Clause, upto: int, subject: str | None
    ) -> str | None:
        """Return whom the clause's "he" or "she" means; None for no such pronoun, or any doubt.

        The person must be the subject of the clause before, in the same sentence or the last, and
        the only one that it names.

        Args:
            sentence: its number in the turn; clauses come in order.
            tokens: its words.
            clause: the clause.
            upto: the word at which it ends.
            subject: what its subject is called, for one that is a person.
        """
        last, self._last = self._last, None
        word = tokens.lows[clause.first] if clause.first < len(tokens) else ""
        if clause.kind is Kind.PRONOUN:
            near = last is not None and sentence - last.sentence <= 1
            if last is None or not near or word not in _AGAINST:
                return None
            relation = last.name.split()[-1].lower()
            if relation in _AGAINST[word]:
                return None
            if not _others(tokens, clause.verb, upto):
                self._last = _Person(last.name, sentence)
            return last.name
        named = clause.kind is Kind.PERSON and subject is not None
        if named and subject is not None and not _others(tokens, clause.verb, upto):
            self._last = _Person(subject, sentence)
        return None


def _others(tokens: Tokens, low: int, high: int) -> bool:
    """Tell whether words [low, high) name, or point to, someone else."""
    for at in range(low, high):
        word, raw = tokens.lows[at], tokens.raws[at]
        if (word in lex.KIN and word not in _SEVERAL) or word in _OTHERS:
            return True
        if word == "her" and not _owns(tokens, at, high):
            return True
        name = raw[0].isupper() and word not in lex.COMMON
        if name and tokens.lows[at - 1] not in _PLACING:
            return True
    return False


def _owns(tokens: Tokens, at: int, high: int) -> bool:
    """Tell the "her" of "her job" from that of "called her"."""
    return at + 1 < high and tokens.gap(at + 1) == " " and tokens.lows[at + 1] not in _AFTER_OBJECT
