"""Reads which animals somebody has, and which no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...nouns.folding import fold_name
from ...nouns.memory import Stance
from .. import lexicon as lex
from ..types import SlotClaim
from .attributes import Owner
from .named import is_named
from .predicates import Predicate
from .table import Table
from .values import ARTICLES

_HAVING = frozenset("have has had own owns got adopted bought keep keeps".split())
_NAMED = frozenset("named called".split())
_DIED = frozenset("died passed".split())
_GONE = frozenset("gave sold lost rehomed".split())
_PARTICLES = frozenset("up down out off away back over".split())
_GETTING = frozenset("had got bought".split())
_OTHERWISE = frozenset("chicken fish duck goat sheep pig cow rabbit mouse".split())
_ADJECTIVES = frozenset("new old little small big black white brown grey rescue pet young".split())


def pets(predicate: Predicate, owner: Owner, table: Table) -> Iterator[SlotClaim]:
    """Read which animals somebody has, and which no more."""
    words, animals = predicate.core, table.words["animals"]
    if predicate.verb in _DIED or words[:3] == ["ran", "away"]:
        named = [w for w in (*owner.words, *predicate.subject_named) if w in animals]
        known = animals | lex.KIN | _ADJECTIVES
        names = [w for w in owner.words if w not in known]
        if named or (owner.proper and names):
            value = " ".join(dict.fromkeys([*named, *names]))
            yield _pet(_keeper(owner, animals), value, Stance.DENIED, predicate)
        return
    if predicate.verb in _NAMED and predicate.is_copula and len(words) > 1:
        kind = next((w for w in owner.words if w in animals), None)
        if kind is not None:
            yield _pet(_keeper(owner, animals), f"{kind} {words[1]}", Stance.HOLDS, predicate)
        return
    if not owner.personal:
        return
    at = next((i for i, w in enumerate(words[1:], 1) if w in animals), 0)
    if not at or at > 4 or any(w not in ARTICLES and w not in _ADJECTIVES for w in words[1:at]):
        return
    if not _is_kept(words, at, predicate, table):
        return
    if predicate.verb in _HAVING:
        name = ""
        if words[at + 1 : at + 2] and words[at + 1] in _NAMED and len(words) > at + 2:
            name = words[at + 2]
        elif words[1] not in ("a", "an", "any") and words[at + 1 : at + 2]:
            name = words[at + 1] if is_named(words[at + 1], predicate) else ""
        stance = predicate.stance
        yield _pet(owner.key, f"{words[at]} {name}".strip(), stance, predicate)
    elif predicate.verb in _GONE:
        name = words[at + 1] if at + 1 < len(words) and is_named(words[at + 1], predicate) else ""
        yield _pet(owner.key, f"{words[at]} {name}".strip(), Stance.DENIED, predicate)


def _is_kept(words: Sequence[str], at: int, predicate: Predicate, table: Table) -> bool:
    """Tell a pet from food, a device, a compound: "had chicken", "bought a mouse", "dog food"."""
    after = words[at + 1] if at + 1 < len(words) else ""
    if words[at] == "chat":  # a cat in French alone
        return False
    named = after in _NAMED or is_named(after, predicate)
    ends = table.words["adjuncts"] | lex.PREPOSITIONS | lex.CONJUNCTIONS | lex.ADVERBS | _PARTICLES
    if after and not (named or after in ends or after in lex.PRONOUNS):
        return False
    if named or "pet" in words[:at] or predicate.verb in _GONE:
        return True
    if at == 1 and words[at] in table.words["animals"]:
        return False
    return words[at] not in _OTHERWISE or predicate.verb not in _GETTING


def _keeper(owner: Owner, animals: frozenset[str]) -> str:
    whose, _, last = owner.key.rpartition("'s ")
    return whose if whose and last.split()[-1] in animals else owner.speaker


def _pet(key: str, value: str, stance: Stance, predicate: Predicate) -> SlotClaim:
    event = stance is Stance.DENIED
    return SlotClaim(
        key,
        "pet",
        fold_name(value),
        stance,
        news=predicate.news or event,
        loose=True,
        many=True,
        event=event,
        date=predicate.date,
    )
