"""Reads what somebody does, has, keeps and uses: habits, pets, amounts, versions, who owns what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...nouns.folding import fold_name
from ...nouns.memory import Stance
from .. import lexicon as lex
from ..types import SlotClaim
from ..verbs_lexicon import BASES, ING_FORMS, PARTICIPLES, PAST_FORMS, S_FORMS
from .attributes import Owner
from .intake import given_up, none_of
from .named import is_named
from .predicates import Predicate
from .table import Table
from .values import ARTICLES, CLOCK, VERSION, amount, cut, lemma, singular, spelled, trimmed

_NO_HABITS = frozenset(
    """be have do think know want need see say hope feel mean guess believe understand seem look let
    make get go come tell ask try keep remember forget wonder suppose expect agree appreciate
    wish thank love like hate enjoy prefer find leave happen become quit stop start begin move live
    own bring give put call turn join mention notice miss plan matter depend sound appear show help
    consider decide intend recommend suggest report lose own""".split()
)
_HELD = frozenset("have has own owns".split())
_OWNING = {
    **dict.fromkeys("own owns owned maintain maintains maintained".split(), "owner"),
    **dict.fromkeys(
        "lead leads leading manage manages handles handle led managed handled".split(), "lead"
    ),
    **dict.fromkeys("inherited".split(), "owner"),
}
_RUNNING = frozenset(
    "use uses using run runs running upgraded updated migrated downgraded on at".split()
)
_USING = frozenset("use uses using run runs running".split())
_PARTING = frozenset("and or with for".split())
_SWITCHED = frozenset("switched migrated transitioned converted changed moved swapped".split())
_BEFORE_VERSION = frozenset("to version on at from".split())
_COUNTING = frozenset("in since by until till during before after within at with for of".split())
_POINTING = frozenset("this that it them these those what how all".split())
_RECENT = frozenset("recently just yesterday ago last once".split())
_PARTICLES = frozenset("up down out off away back over".split())
_LONGEST_USE = 3  # words of what something is used as, where that is no known attribute
_LONGEST_HELD = 3  # words of what somebody has
# what a thing does as a rule, for all who deal with it
_SERVICES = frozenset(
    "accept allow charge deliver include offer provide require sell serve stock support".split()
)
_ABSTAINED = frozenset("gave given quit dropped ditched".split())
_GIVEN_UP = frozenset("dropped ditched abandoned sold replaced quit uninstalled".split())


def things(predicate: Predicate, owner: Owner, table: Table) -> Iterator[SlotClaim]:
    """Read who owns what, what was switched or given up, and amounts."""
    for read in (_ownership, _preference, _waking, _switch, _given_up, _amount):
        found = list(read(predicate, owner, table))
        if found:
            yield from found
            return


def versions(predicate: Predicate, owner: Owner, table: Table) -> Iterator[SlotClaim]:
    """Read which version of something is used."""
    words = predicate.words
    upgrade = words[0] in ("upgraded", "updated", "migrated", "downgraded", "moved", "switched")
    if words[0] not in _RUNNING and not upgrade and words[0] != "version":
        return
    to = words.index("to") if upgrade and "to" in words[:-1] else 0
    numbers = _numbers(predicate)
    if not upgrade and words[0] in _USING:
        yield from _used_versions(predicate, numbers, owner, table)
        return
    at = next((i for i in numbers if i > to), next(iter(numbers), 0))
    calendar = table.words["days"] | table.words["months"]
    if not at or not calendar.isdisjoint(words[1:at]):
        return
    new = _named(words[to + 1 : at]) if 0 < to < at else []
    name = new or _named(words[1:at])
    if name and name[-1] in table.words["rooms"]:
        return  # "moved to room 5"
    if not name:
        if owner.personal and not owner.proper:
            return
        told = "version" in words[:at] or "." in words[at]
        if words[0] not in ("on", "at", "version", "upgraded", "updated", "downgraded", "running"):
            return
        if not told and words[0] in ("on", "at"):
            return
        yield _stated(owner.key, "version", words[at], predicate, news=upgrade)
        return
    key = owner.key
    thing = _named(words[2:to])
    if new and thing and words[1] == "the":
        key = fold_name(" ".join(thing))
    yield _stated(key, f"version:{fold_name(' '.join(name))}", words[at], predicate, news=upgrade)


def _used_versions(
    predicate: Predicate, numbers: Sequence[int], owner: Owner, table: Table
) -> Iterator[SlotClaim]:
    """Read "use Flask 2.3.1, Python 3.11 and SQLite 3.39"."""
    calendar = table.words["days"] | table.words["months"]
    begin = 1
    for at in numbers:
        part = predicate.words[begin:at]
        begin = at + 1
        joint = next((i for i in reversed(range(len(part))) if part[i] in _PARTING), -1)
        name = _named(part[joint + 1 :])
        listed = joint >= 0 or at != numbers[0]
        named = any(is_named(word, predicate) for word in name)
        if name and (named or not listed) and calendar.isdisjoint(name):
            slot = f"version:{fold_name(' '.join(name))}"
            yield _stated(owner.key, slot, predicate.words[at], predicate, news=False)


def _numbers(predicate: Predicate) -> list[int]:
    """Return where versions stand: "Django 5", "SQL Server 2019", not "in 2024"."""
    words, rest = predicate.words, iter(predicate.core)
    left = next(rest, None)
    dated: list[bool] = []
    for word in words:
        dated.append(word != left)
        left = left if dated[-1] else next(rest, None)
    dated += [False]
    return [
        i
        for i, word in enumerate(words)
        if i
        and VERSION.match(word)
        and not (i > 1 and words[i - 1] in _COUNTING)
        and not (dated[i] and (dated[i - 1] or dated[i + 1]))
    ]


def _named(words: Sequence[str]) -> list[str]:
    """Return the words of a name before its version."""
    return [w for w in words if w not in ARTICLES | _BEFORE_VERSION and not VERSION.match(w)]


def _stated(
    key: str, slot: str, value: str, predicate: Predicate, *, news: bool, event: bool = False
) -> SlotClaim:
    return SlotClaim(
        key,
        slot,
        value.removeprefix("v") if slot.startswith("version") else value,
        predicate.stance,
        news=news or predicate.news,
        event=event,
        date=predicate.date if event else None,
    )


def _preference(predicate: Predicate, owner: Owner, table: Table) -> Iterator[SlotClaim]:
    """Read "prefer tea to coffee", "prefer aisle seats"."""
    words = predicate.core
    if words[0] not in ("prefer", "prefers") or not owner.personal or predicate.denied:
        return
    at = next((i for i, w in enumerate(words) if i > 1 and w in ("to", "over")), 0)
    if at:
        one = fold_name(spelled(trimmed(words[1:at])))
        other = fold_name(spelled(trimmed(cut(words[at + 1 :], table.words["adjuncts"]))))
        if one and other:
            pair = ", ".join(sorted((one, other)))
            yield _stated(owner.key, f"prefers:{pair}", one, predicate, news=False)
        return
    kept = trimmed(cut(words[1:], table.words["adjuncts"]))
    if len(kept) > 1 and kept[0] not in ("to", "not"):
        slot = f"prefers:{singular(kept[-1])}"
        yield _stated(owner.key, slot, fold_name(" ".join(kept[:-1])), predicate, news=False)


def _waking(predicate: Predicate, owner: Owner, _: Table) -> Iterator[SlotClaim]:
    """Read "wake up at 6am": what one does once a day has one time."""
    words = predicate.words
    if not owner.personal or lemma(words[0]) not in ("wake", "sleep", "rise") or predicate.denied:
        return
    at = words.index("at") if "at" in words else 0
    time = words[at + 1] if at and at + 1 < len(words) else ""
    if CLOCK.match(time) and (words[0] in BASES or words[0] in S_FORMS):
        yield _stated(owner.key, f"when:{lemma(words[0])}", time, predicate, news=False)


def _ownership(predicate: Predicate, owner: Owner, table: Table) -> Iterator[SlotClaim]:
    words = predicate.words
    slot = _OWNING.get(words[0])
    rest = words[1:]
    event = words[0] in ("inherited",)
    if words[:2] in (["took", "over"], ["taken", "over"]):
        slot, rest, event = "owner", words[2:], True
    elif words[:2] == ["responsible", "for"] or words[:3] == ["in", "charge", "of"]:
        slot, rest = "owner", words[2:] if words[0] == "responsible" else words[3:]
    if slot is None:
        return
    if predicate.is_copula and rest[:1] == ["by"] and not owner.personal:
        name = trimmed(cut(rest[1:], frozenset("from in since because and".split())))
        if name:
            yield _stated(owner.key, slot, fold_name(" ".join(name)), predicate, news=False)
        return
    if not owner.personal or rest[:1] in (["a"], ["an"], ["my"], ["two"], ["his"], ["her"]):
        return
    if not event and (words[0] in PAST_FORMS and words[0] not in S_FORMS):
        return
    thing = cut(rest, frozenset("from for since because when after and in".split()))
    thing = [w for w in thing if w not in ARTICLES]
    if thing and not thing[0][0].isdigit():
        key = fold_name(" ".join(trimmed(thing)))
        if table.attributes.isdisjoint(thing) or len(thing) > 1:
            yield _stated(key, slot, owner.key, predicate, news=event, event=event)


def _switch(predicate: Predicate, owner: Owner, table: Table) -> Iterator[SlotClaim]:
    words = predicate.core
    if words[0] not in _SWITCHED or "to" not in words[1:-1] or predicate.is_copula:
        return
    to = words.index("to")
    new = trimmed(cut(words[to + 1 :], table.words["adjuncts"]))
    if not new or new[0] in lex.PRONOUNS | lex.PREPOSITIONS or new[0] in BASES:
        return
    rooms = table.words["rooms"] | table.words["not_homes"]
    if words[0] == "moved" and (new[0] in rooms or new[-1] in rooms):
        return  # "moved to a bigger flat"
    if "from" in words[1:to]:
        old = trimmed(words[words.index("from") + 1 : to])
        yield from _dropped(owner, old, predicate)
        old_name = fold_name(spelled(old))
        uses = SlotClaim(
            owner.key, "uses", old_name, Stance.DENIED, news=True, many=True, event=True
        )
        yield uses
    elif words[1:to] and words[1] not in ("over", "back"):
        yield from _exchanged(words[1:to], new, predicate, owner, table)
        return
    name = fold_name(spelled(new))
    uses = SlotClaim(owner.key, "uses", name, Stance.HOLDS, news=True, many=True, event=True)
    yield uses
    yield from used_as(uses, predicate, owner, table)
    yield SlotClaim(owner.key, f"thing:{name}", "yes", Stance.HOLDS, news=True, event=True)


def _exchanged(
    what: list[str], new: list[str], predicate: Predicate, owner: Owner, table: Table
) -> Iterator[SlotClaim]:
    """Read what was switched: "switched banks to", "switched our hosting provider to"."""
    if what[0] in lex.POSSESSIVES or what[0] == "the":
        what = what[1:]
    if not what or predicate.denied:
        return
    attribute = Owner.of(owner.key, [*what[:-1], singular(what[-1])], table)
    if attribute.slot is not None:
        yield _stated(
            attribute.key, attribute.slot, fold_name(spelled(new)), predicate, news=True, event=True
        )


def used_as(
    claim: SlotClaim, predicate: Predicate, owner: Owner, table: Table
) -> Iterator[SlotClaim]:
    """Read what something is used as: "use Helix as my editor"."""
    words = predicate.core
    at = next((i for i, w in enumerate(words[:-2]) if w in ("as", "for")), 0)
    if at and words[at + 1] in ("my", "our", "the", "his", "her", "their"):
        attribute = Owner.of(owner.key, trimmed(words[at + 2 :]), table)
        slot = attribute.slot
        if slot is None and words[at] == "as" and 0 < len(attribute.phrase) <= _LONGEST_USE:
            slot = " ".join(attribute.phrase)
        if slot is not None:
            yield replace(claim, slot=slot, many=False, loose=False)


def _given_up(predicate: Predicate, owner: Owner, table: Table) -> Iterator[SlotClaim]:
    words = predicate.core
    rest: Sequence[str] = ()
    if words[:2] == ["gave", "up"] or words[:2] == ["given", "up"]:
        rest = words[2:]
    elif words[:3] == ["got", "rid", "of"]:
        rest = words[3:]
    elif words[0] in _GIVEN_UP:
        rest = words[1:]
    if not rest or not owner.personal or predicate.denied:
        return
    if rest[0] in ("my", "our", "his", "her", "their", "the"):
        mine = Owner.of(owner.key, trimmed(cut(rest[1:], table.words["adjuncts"])), table)
        if mine.slot is not None:
            yield SlotClaim(
                mine.key, mine.slot, "", Stance.DENIED, news=True, event=True, date=predicate.date
            )
    old = trimmed(cut(rest, table.words["adjuncts"]))
    if old and old[0] not in lex.PRONOUNS:
        for dropped in _dropped(owner, old, predicate):
            yield dropped
            if words[0] in _ABSTAINED:
                yield from given_up(fold_name(spelled(old)), dropped, table.intake)


def _dropped(owner: Owner, old: Sequence[str], predicate: Predicate) -> Iterator[SlotClaim]:
    name = fold_name(spelled(old))
    if name:
        yield SlotClaim(
            owner.key,
            f"thing:{name}",
            "yes",
            Stance.DENIED,
            news=True,
            event=True,
            date=predicate.date,
        )


def _amount(predicate: Predicate, owner: Owner, _: Table) -> Iterator[SlotClaim]:
    """Read "weighs 84 kg", "has nine engineers", "turned 35"."""
    words = predicate.words
    verb = words[0]
    rest = [w for w in words[1:] if w != "$"]
    if verb == "turned" and owner.personal and rest and rest[0].isdigit():
        yield _stated(owner.key, "age", rest[0], predicate, news=True, event=True)
        return
    if predicate.is_copula and verb not in ING_FORMS:
        return
    if (verb in PAST_FORMS or verb in PARTICIPLES) and verb not in BASES and not predicate.denied:
        return
    if predicate.was:
        return
    found = amount(rest)
    if found is None or rest[found[2] :][:1] == ["ago"]:
        return
    number, unit = found[:2]
    base = lemma(verb) if verb not in ("has", "have", "'s") else "have"
    slot = {"weigh": "weight", "earn": "salary", "cost": "price"}.get(base)
    value = number if slot is None else f"{number} {unit}".strip()
    key = owner.key
    if owner.slot is not None:  # "the Pro plan costs": the whole phrase is the thing
        key = fold_name(" ".join(w for w in owner.phrase if w not in ARTICLES))
    yield _stated(key, slot or f"n:{base}:{unit}", value, predicate, news=False)


def _held(predicate: Predicate, owner: Owner) -> Iterator[SlotClaim]:
    """Read "have a car", "don't own a boat anymore": what somebody has until it is denied."""
    words = predicate.core[1:]
    if predicate.perfect or predicate.was or words[:1] not in (["a"], ["an"]):
        return
    kept = trimmed(words)
    if 0 < len(kept) <= _LONGEST_HELD and not any(
        w in lex.PRONOUNS | lex.PREPOSITIONS for w in kept
    ):
        value = fold_name(spelled(kept))
        yield SlotClaim(
            owner.key, "does:have", value, predicate.stance, news=predicate.news, many=True
        )


def habit(predicate: Predicate, owner: Owner, table: Table) -> Iterator[SlotClaim]:
    """Read what somebody does as a rule: only its denial ends it."""
    verb = predicate.verb
    service = not owner.personal and owner.slot is None and lemma(verb) in _SERVICES
    if not owner.personal and not service:
        return
    if verb in _HELD:
        yield from _held(predicate, owner)
        return
    ongoing = verb in ING_FORMS and (predicate.is_copula or predicate.habitual)
    present = verb in BASES or verb in S_FORMS
    if not (ongoing or (present and not predicate.is_copula) or predicate.past):
        return
    if predicate.was and not predicate.past:
        return
    base = lemma(verb)
    if base in _NO_HABITS or any(w in lex.MODALS for w in predicate.group):
        return
    if predicate.perfect and not predicate.habitual and (predicate.denied or not ongoing):
        return  # "haven't read it yet", "have read it" are of once; "have quit smoking" is not
    if not ongoing and not _RECENT.isdisjoint((*predicate.before, *predicate.words)):
        return
    kept = trimmed(cut(["", *predicate.core[1:]], table.words["adjuncts"])[1:])
    if not kept and predicate.core[1:2] and predicate.core[1] in _POINTING:
        return
    if len(kept) > 4 or any(w in lex.PRONOUNS or w in _POINTING for w in kept):
        return
    value = fold_name(spelled([singular(w) for w in kept])) if kept else ""
    stance = predicate.stance
    nothing = none_of(value) if stance is Stance.HOLDS else None
    if nothing is not None:
        value, stance = nothing, Stance.DENIED
    made = SlotClaim(owner.key, f"does:{base}", value, stance, news=predicate.news, many=True)
    yield made
    named = value and not service
    if named and made.stance is Stance.HOLDS and value not in lex.PREPOSITIONS | _PARTICLES:
        yield SlotClaim(owner.key, f"thing:{value}", "yes", Stance.HOLDS, news=predicate.news)
