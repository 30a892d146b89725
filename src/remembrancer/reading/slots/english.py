"""Reads slots from an English clause: whose, which, and the value that holds or does no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...nouns.folding import fold_name
from ...nouns.memory import Modality, Stance
from .. import lexicon as lex
from ..clauses import Kind
from ..types import SELF, DateRelation, SlotClaim
from ..verbs_lexicon import BASES, ING_FORMS, PARTICIPLES, PAST_FORMS, S_FORMS
from .attributes import Owner, change, copula, schedule
from .habits import habit, things, used_as, versions
from .intake import with_intake
from .named import is_car, is_firm, is_left, is_named, is_no_place
from .parting import Pauses, before_clause, items, pauses
from .partners import is_courted, left_by, no_longer_single, with_other
from .pets import pets
from .predicates import Predicate, Said, clipped, predicates, shifted
from .table import Pattern, Table
from .values import cut, spelled, trimmed

_IT = frozenset("it them that this those".split())
_WHOSE = frozenset("his her their its your".split())
_PLACE_END = frozenset(
    """with because since where which who when as for but so while if until though although and
    during after before without near to from right""".split()
)
_WORK_END = _PLACE_END | {"in", "on", "at", "alongside"}
_JOINING = frozenset("and or nor".split())
_SELDOM = frozenset(
    "rarely seldom occasionally sometimes barely scarcely mostly mainly almost".split()
)
_NO_PLACE = lex.CONJUNCTIONS | lex.SUBORDINATORS | lex.PREPOSITIONS  # "married for two years"
_TOGETHER = frozenset("team group pair couple unit whole".split())
_OTHERS = frozenset("me us".split())
_SHORT = 4  # letters of "need", which is no participle
_LIKE_END = frozenset(
    "because when while but although though since if so until as than especially".split()
)


@dataclass(slots=True)
class Context:
    """What was said before by whoever speaks: what "it" and a correction mean; `pauses`: now."""

    topic: Owner | None = None
    liked: str | None = None
    last: tuple[SlotClaim, ...] = ()
    pauses: Pauses = field(default_factory=dict)


def read_english(said: Said, context: Context, table: Table) -> list[SlotClaim]:
    """Return the claims of one clause, in order; `context` is brought up to it."""
    clause = said.clause
    if clause.modality not in (Modality.ASSERTED, Modality.PLANNED):
        return []
    owner = _owner(said, context, table)
    if owner is None:
        return []
    found: list[SlotClaim] = []
    context.pauses = pauses(said.tokens, clause.verb, said.high)
    for whole in predicates(said):
        if whole.missed:
            continue
        predicate = with_other(clipped(whole, context.pauses), said)
        if clause.modality is Modality.PLANNED:
            found += schedule(predicate, owner, table)
            continue
        claims = _read(predicate, owner, context, table)
        if clause.kind is Kind.PRONOUN:  # "it's a classic" says nothing of what "it" may be
            claims = (c for c in claims if c.news or _told_of(c, context, predicate))
        if _SELDOM.isdisjoint((*predicate.before, *predicate.words)):
            claims = with_intake(claims, table.intake, _things(predicate, table))
        found += dict.fromkeys(_begun(claim, predicate) for claim in claims)
    found += no_longer_single(found)
    if owner.phrase:
        context.topic = owner
    if found:
        context.last = tuple(found)
    return found


def _begun(claim: SlotClaim, predicate: Predicate) -> SlotClaim:
    """Return a claim with since when it holds, unless that is its value: when something is."""
    date = predicate.date
    if claim.date is not None or date is None or claim.slot.startswith("when"):
        return claim
    return replace(claim, date=date) if date.relation is DateRelation.SINCE else claim


def _told_of(claim: SlotClaim, context: Context, predicate: Predicate) -> bool:
    """Tell whether "it" is surely what a claim is about: a time, an amount, or what it is not."""
    if claim.slot == "when":  # "it's Monday" tells which day it is
        return predicate.words[0] in lex.PREPOSITIONS or claim.slot in {
            c.slot for c in context.last
        }
    denied = (c for c in context.last if c.stance is Stance.DENIED)
    about = any((c.subject, c.slot) == (claim.subject, claim.slot) for c in denied)
    return about or claim.slot.startswith(("when:", "n:"))


def _things(predicate: Predicate, table: Table) -> Callable[[], str]:
    """Return what tells all that a verb names after it: "meat and fish"."""

    def named() -> str:
        ends = table.words["adjuncts"] - _JOINING
        return fold_name(spelled(trimmed(cut(["", *predicate.core[1:]], ends)[1:])))

    return named


def _read(
    predicate: Predicate, owner: Owner, context: Context, table: Table
) -> Iterator[SlotClaim]:
    before = 0
    left = list(left_by(predicate, owner, table))
    if left:
        yield from left
        return
    if predicate.had:  # what was moved or raised by then may have been so again since
        yield from _families(predicate, owner, context, table)
        yield from pets(predicate, owner, table)
        return
    for claim in versions(predicate, owner, table):
        before += 1
        yield claim
    if before:
        return
    for claim in _families(predicate, owner, context, table):
        before += 1
        yield claim
    for claim in pets(predicate, owner, table):
        before += 1
        yield claim
    if before:
        return
    follows = predicate.words[1] if predicate.core[1:2] == predicate.words[1:2] != [] else ""
    passive = follows in PARTICIPLES or (follows.endswith("ed") and len(follows) > _SHORT)
    if predicate.verb in ("got", "gotten", "get", "gets") and passive:
        yield from _read(shifted(predicate), owner, context, table)  # "got promoted to"
        return
    for read in (change, copula, things):
        for claim in read(predicate, owner, table):
            before += 1
            yield claim
        if before:
            return
    yield from habit(predicate, owner, table)


def _families(
    predicate: Predicate, owner: Owner, context: Context, table: Table
) -> Iterator[SlotClaim]:
    rest = " ".join(predicate.core[1:])
    done: set[str] = set()
    for pattern in table.verbs.get(predicate.verb, ()):
        if pattern.family in done or (pattern.of == "person" and not owner.personal):
            continue
        match = pattern.rest.match(rest)
        if match is None or not _in_tense(pattern, predicate):
            continue
        if predicate.verb == "seeing" and "partner" not in done and pattern.family != "partner":
            continue
        groups = match.groupdict()
        if pattern.fixed is not None and not pattern.object and pattern.fixed != "d":
            words = pattern.fixed.split()
        else:
            words = (groups.get("v") or groups.get("d") or "").split()
        if words and words[0] in _IT and not pattern.object:
            continue  # "rely on it for road trips"
        for part in _listed(words, pattern, context.pauses, table):
            claim = _family(pattern, part, predicate, owner, context, table)
            if claim is None:
                continue
            done.add(pattern.family)
            yield claim
            if pattern.family in ("uses", "car") and claim.value:
                slot = f"thing:{claim.value}"
                yield replace(claim, slot=slot, value="yes", many=False, loose=False)
                yield from used_as(claim, predicate, owner, table)


def _listed(words: list[str], pattern: Pattern, breaks: Pauses, table: Table) -> list[list[str]]:
    """Return the values that words are, without a clause after them."""
    if pattern.object:
        return [words]
    words = before_clause(words, breaks, many=pattern.many)
    if not pattern.many or not pattern.holds:
        return [words]
    return items(words, breaks, table.words["adjuncts"] - _JOINING)


def _family(
    pattern: Pattern,
    words: list[str],
    predicate: Predicate,
    owner: Owner,
    context: Context,
    table: Table,
) -> SlotClaim | None:
    stance = predicate.stance
    if not pattern.holds:
        if predicate.denied or predicate.past:
            return None
        stance = Stance.DENIED
    news = predicate.news or pattern.event or not pattern.holds
    made = SlotClaim(
        owner.key,
        pattern.family,
        "",
        stance,
        news=news,
        loose=pattern.loose,
        many=pattern.many,
        event=pattern.event or not pattern.holds,
        date=predicate.date,
    )
    if pattern.object:
        return _liking(made, words, pattern, predicate, context)
    if not words:
        return made if pattern.fixed == "" or not pattern.holds else None
    if pattern.fixed is not None and pattern.fixed != "d":
        return replace(made, value=pattern.fixed)
    if pattern.place:
        return _placed(made, words, predicate, table)
    kept = trimmed(cut(words, _WORK_END if pattern.family == "role" else _LIKE_END))
    kept = [w for w in kept if w not in ("their", "our")] if pattern.family == "role" else kept
    if pattern.family in ("uses", "allergy", "car", "study"):
        kept = trimmed(cut(words, table.words["adjuncts"]))
        kin = table.words["animals"] | lex.KIN
        if predicate.verb == "adopted" and kept and kept[-1] in kin:
            return None
    if not kept or kept[0] in _IT or kept[0] in ING_FORMS or _counted(pattern, kept):
        return None
    if pattern.family == "car" and not is_car(kept, words, predicate, sold=not pattern.holds):
        return None
    if pattern.family == "role" and kept[-1] in _TOGETHER:
        return None  # "work as a team"
    if pattern.family == "role" and kept[-1] in table.words["diets"]:
        return replace(made, slot="diet", value=kept[-1])
    nothing = stance is Stance.DENIED and kept in (["anything"], ["any"])
    return replace(made, value="" if nothing else fold_name(spelled(kept)))


def _counted(pattern: Pattern, kept: Sequence[str]) -> bool:
    return pattern.family in ("uses", "car", "role") and kept[0][0].isdigit()


def _liking(
    made: SlotClaim,
    words: list[str],
    pattern: Pattern,
    predicate: Predicate,
    context: Context,
) -> SlotClaim | None:
    kept = trimmed(cut(words, _LIKE_END))
    if not kept or kept[0] in ("to", "that", "how", "it", "you", "when"):
        if kept[:1] == ["it"] and len(kept) == 1 and context.liked:
            kept = context.liked.split()
        elif kept[:1] == ["to"] and len(kept) > 1:
            kept = kept[1:]
        else:
            return None
    if kept[0] in _IT and context.liked:
        kept = context.liked.split()
    liked = fold_name(" ".join(kept))
    context.liked = liked
    value = pattern.fixed or "likes"
    stance = made.stance
    if predicate.verb == "stand":
        if stance is not Stance.DENIED:
            return None
        stance = Stance.HOLDS
    elif stance is Stance.DENIED and value == "likes":
        value, stance = "dislikes", Stance.HOLDS
    return replace(made, slot=f"likes:{liked}", value=value, stance=stance)


def _placed(
    made: SlotClaim, words: list[str], predicate: Predicate, table: Table
) -> SlotClaim | None:
    """Read a place or an organisation; a common noun ("a bigger flat") is none."""
    on = predicate.core[-len(words) - 1] == "on"
    home = made.slot != "employer"  # "at the hospital in Bonn" is in no flat
    if home and "in" in words[1:] and words[0] in ("a", "an", "the", "my", "our"):
        words = words[words.index("in") + 1 :]
    kept = cut(words, _WORK_END if made.slot == "employer" else _PLACE_END)
    kept = trimmed(kept)
    while len(kept) > 1 and kept[-1] in lex.ADVERBS and not is_named(kept[-1], predicate):
        kept.pop()  # "moved to Berlin almost two years ago"
    if not kept or kept[0] in _NO_PLACE or kept[0] in _OTHERS:
        return None
    first = words[0]
    named = is_named(kept[0], predicate)
    if kept[-1] in table.words["diets"] or kept[0] == "being":
        return None
    if is_no_place(kept, predicate, table, home=home):
        return None
    if predicate.verb == "seeing" and not is_courted(kept, predicate):
        return None
    if made.slot == "employer" and kept[-1] in lex.KIN and not named:
        return None
    if made.slot == "home" and on and not named:  # "live on ramen", but "on Oak Street"
        return None
    joined = made.slot == "employer" and made.event and made.stance is Stance.HOLDS
    if joined and not is_firm(kept, words, predicate, table):
        return None
    if not is_left(kept, first, predicate):
        return None
    common = first in ("a", "an", "the", "my", "our", "another")
    if common and not named and (joined or made.slot != "employer"):
        return None
    if made.stance is not Stance.DENIED and not named and kept[0] in lex.PRONOUNS:
        return None
    return replace(made, value=fold_name(spelled(kept)))


def _in_tense(pattern: Pattern, predicate: Predicate) -> bool:
    """Tell whether the form of the verb says what the pattern is about."""
    verb, date = predicate.verb, predicate.date
    ended = date is not None and (date.last is not None or date.relation is DateRelation.UNTIL)
    if pattern.perfect and predicate.perfect and not predicate.was:
        return True
    if pattern.perfect and (ended or not predicate.perfect):
        predicate.past = ended
        return ended
    if predicate.had:
        return False
    if predicate.was and not predicate.denied and not pattern.event and pattern.holds:
        return False
    if pattern.event or not pattern.holds:
        formed = verb in BASES or verb in S_FORMS or verb in ING_FORMS
        return not formed or verb in PAST_FORMS or verb in PARTICIPLES
    return True


def _owner(said: Said, context: Context, table: Table) -> Owner | None:
    """Return whose slots the clause is about; None when that is not known."""
    speaker = fold_name(said.speaker) if said.speaker and said.speaker != "user" else SELF
    owner = _meant(said, speaker, context, table)
    return None if owner is None else replace(owner, speaker=speaker)


def _meant(said: Said, speaker: str, context: Context, table: Table) -> Owner | None:
    tokens, clause = said.tokens, said.clause
    words = tokens.lows[clause.first : clause.verb]
    while words and (
        words[-1] in lex.ADVERBS or words[-1] in lex.AUXILIARIES or words[-2:] == ["no", "longer"]
    ):
        words = words[:-2] if words[-1] == "longer" else words[:-1]
    if clause.kind is Kind.SPEAKER:
        if words and words[0] in lex.POSSESSIVES and "i" not in words:
            return Owner.of(speaker, words[1:], table)
        return Owner(speaker, personal=True, words=tuple(words))
    if clause.kind is Kind.PERSON:
        return _person(said, words, speaker, table)
    if clause.kind is Kind.THING:
        if words[:1] and words[0] in _WHOSE:
            return None  # "her name": whose is not known here
        return Owner.thing(words, table)
    if clause.kind is Kind.PRONOUN and words in (["it"], ["that"]):
        return context.topic
    return None


def _person(said: Said, words: list[str], speaker: str, table: Table) -> Owner | None:
    subject = said.subject
    if subject is None:
        return None
    key = fold_name(subject)
    if key == "user":
        key = SELF
    for prefix in ("user's ", "my ", "our "):
        if key.startswith(prefix):
            key = f"{speaker}'s {key.removeprefix(prefix)}"
    if "'s" in words:
        at = words.index("'s")
        if words[:at] == ["user"] or words[:at] == ["the", "user"]:
            return Owner.of(SELF, words[at + 1 :], table)
        if words[0] in lex.POSSESSIVES or not lex.KIN.isdisjoint(words[at + 1 :]):
            whose = fold_name(" ".join(w for w in words[:at] if w not in lex.POSSESSIVES))
            whose = f"{speaker}'s {whose}" if words[0] in lex.POSSESSIVES else whose
            named = said.tokens.raws[said.clause.first : said.clause.first + at]
            proper = [r for r in named if r[:1].isupper() and r.lower() not in lex.POSSESSIVES]
            if words[0] in lex.POSSESSIVES and proper:
                whose = fold_name(" ".join(proper))
            return Owner.of(whose, words[at + 1 :], table)
        return Owner.of(key, words[at + 1 :], table)
    phrase = tuple(w for w in words if w not in lex.POSSESSIVES)
    if words[:1] and words[0] in lex.POSSESSIVES and len(words) > 2:
        last = said.tokens.raws[said.clause.first + len(words) - 1]
        if words[-1] not in lex.KIN and not last[:1].isupper():
            return Owner.of(speaker, words[1:], table)  # "my dentist appointment"
    kin = (speaker, phrase[-1]) if words[:1] and words[0] in lex.POSSESSIVES else None
    return Owner(key, personal=True, phrase=(), words=phrase, proper=True, kin=kin)
