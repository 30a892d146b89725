"""Reads who is whose partner where the verb alone does not tell: "Tom and I broke up"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ...nouns.memory import Stance
from .. import lexicon as lex
from ..clauses import Kind
from ..types import DateRelation, SlotClaim
from .attributes import Owner
from .named import is_named
from .predicates import Predicate, Said
from .table import Table
from .values import trimmed

# What two do with each other, and what stands before the other where one is told of alone.
_EACH_OTHER = {
    "dating": (),
    "seeing": (),
    "engaged": ("to",),
    "married": ("to",),
    "together": ("with",),
    "up": ("with",),
    "separated": ("from",),
    "divorced": ("from",),
}
_OPEN = frozenset("dating seeing together".split())  # these may be of another: "seeing a therapist"
_PARTING = frozenset("broke broken split".split())
_OBJECTS = lex.POSSESSIVES | frozenset("a an the this that it".split())
_LEFT = frozenset("dumped divorced left".split())
_SOMEBODY = frozenset("someone somebody".split())
_REASONS = frozenset("after because for over when since".split())
_MOST_BEFORE = 3  # words up to the one that tells: "got back together"


def with_other(predicate: Predicate, said: Said) -> Predicate:
    """Return "Anna and I got married" as "I got married to Anna"."""
    clause, tokens = said.clause, said.tokens
    names = tokens.raws[clause.first : clause.verb]
    names = names[: next((i for i, raw in enumerate(names) if raw == "I"), 0) - 1]
    if clause.kind is not Kind.SPEAKER or not names or not all(n[:1].isupper() for n in names):
        return predicate
    lows = [name.lower() for name in names]
    if not lex.POSSESSIVES.isdisjoint(lows) or "and" in lows:
        return predicate
    core = predicate.core
    at = next((i for i, w in enumerate(core[:_MOST_BEFORE]) if w in _EACH_OTHER), -1)
    if at < 0 or (core[at] == "up") != (core[0] in _PARTING):
        return predicate
    before = _EACH_OTHER[core[at]]
    after = core[at + 1] if at + 1 < len(core) else ""
    if after and (after in before or after in _OBJECTS):
        return predicate
    if core[at] in _OPEN and after and after not in lex.ADVERBS:
        return predicate
    place = predicate.words.index(core[at]) + 1
    return replace(
        predicate,
        core=_inserted(core, at + 1, [*before, *lows]),
        words=_inserted(predicate.words, place, [*before, *lows]),
        raws=_inserted(predicate.raws, place, [*before, *names]),
    )


def _inserted(words: Sequence[str], at: int, more: Sequence[str]) -> list[str]:
    return [*words[:at], *more, *words[at:]]


def is_courted(kept: Sequence[str], predicate: Predicate) -> bool:
    """Tell "seeing Tom" from "seeing errors in the log", "seeing Tom on Friday"."""
    date = predicate.date
    if date is not None and date.relation is not DateRelation.SINCE:
        return False
    return is_named(kept[0], predicate) or kept[0] in _SOMEBODY


def left_by(predicate: Predicate, owner: Owner, table: Table) -> Iterator[SlotClaim]:
    """Read "Tom broke up with me", "my wife left me": the speaker has that partner no more."""
    core = trimmed(predicate.core)
    if not owner.proper or predicate.denied or predicate.had or "me" not in core[:4]:
        return
    at = core.index("me")
    told = core[:at]
    broke = told[0] in _PARTING and told[1:] == ["up", "with"]
    left = len(told) == 1 and told[0] in _LEFT
    if not (broke or left) or (core[at + 1 :] and core[at + 1] not in _REASONS):
        return
    noun = owner.kin[1] if owner.kin is not None else ""
    of_partner = table.aliases.get(noun, noun) == "partner"
    if noun in lex.KIN and not of_partner:
        return  # "my dad left me"
    made = SlotClaim(
        owner.speaker,
        "partner",
        "" if of_partner else owner.key,
        Stance.DENIED,
        news=True,
        loose=True,
        event=True,
        date=predicate.date,
    )
    yield made
    if told[0] != "left" or of_partner:
        value = "divorced" if told[0] == "divorced" else "single"
        yield replace(made, slot="relationship", value=value, stance=Stance.HOLDS, loose=False)


def no_longer_single(claims: Iterable[SlotClaim]) -> Iterator[SlotClaim]:
    """Yield what follows of who has a partner and of whom nothing else is told."""
    told = [*claims]
    settled = {claim.subject for claim in told if claim.slot == "relationship"}
    for claim in told:
        new = claim.slot == "partner" and claim.stance is Stance.HOLDS and claim.value
        if new and claim.subject not in settled:
            denied = replace(claim, slot="relationship", value="single", stance=Stance.DENIED)
            yield replace(denied, loose=False)
