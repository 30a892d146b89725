"""Reads attributes: "my rent is 900 euros", "the retro was moved to Thursday", "Ann is a nurse"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...nouns.folding import fold_name
from ...nouns.memory import Stance
from .. import lexicon as lex
from ..types import SELF, SlotClaim
from ..verbs_lexicon import ING_FORMS, PARTICIPLES
from .intake import of_taker
from .predicates import Predicate
from .table import Table
from .values import (
    ARTICLES,
    amount,
    counts,
    cut,
    has_number,
    is_number,
    is_time,
    is_timely,
    lemma,
    singular,
    spelled,
    trimmed,
)

_NEW = frozenset("new current latest present newest actual".split())
_OLD = frozenset("old former previous ex prior last".split())
_FAVOURITE = frozenset("favorite favourite preferred go-to fave".split())
_OF = frozenset("of for".split())
_MEANT_AS = frozenset("primary main default usual".split())
_EVALUATIVE = frozenset(
    """too very really so pretty quite great good bad nice important fine ok okay going getting
    being terrible amazing wonderful awful awesome lovely cool perfect high low big small
    huge tiny long short hard easy due there here about like not never always sometimes
    changing wrong right late early better worse interesting boring annoying fun expensive
    overdue unpaid dead missing empty full available unavailable online offline safe
    tough rough brutal stressful crazy insane ridiculous fantastic excellent superb brilliant
    horrible dreadful tricky hectic demanding challenging exhausting tiring frustrating confusing
    overwhelming relaxing rewarding exciting impressive incredible unbelievable outrageous absurd
    decent solid acceptable reasonable adorable gorgeous stunning ugly weird strange funny slow fast
    cheap busy ready unknown unclear what that when where why how because if to""".split()
)
_CHANGES = frozenset(
    """moved pushed rescheduled postponed shifted changed raised increased lowered reduced
    dropped rose went fell grew bumped set updated switched renamed extended delayed
    upgraded downgraded cut adjusted brought slipped reset doubled climbed decreased
    swapped replaced reassigned transferred migrated corrected revised""".split()
)
_TO = frozenset("to until till".split())
_WHOLLY = frozenset("strict strictly fully completely totally lifelong".split())
_WAYS = frozenset("back up down forward out over again from earlier later".split())
_PLANNED = frozenset("scheduled planned due booked slated set fixed confirmed held taught".split())
_CANCELLED = frozenset("cancelled canceled scrapped".split())
_PREPOSITIONS = frozenset("in at on for by near inside".split())
_WHERE = frozenset("in at on near".split())
_TIMED = frozenset("in on at by from to until till for before after during since".split())
_VALUE_END = frozenset(
    "because since when while but although though so which who where if until with".split()
)
_HAPPENS = frozenset(
    """happens happen takes take occurs occur starts start begins begin meets meet opens open
    closes close leaves leave departs depart arrives arrive ends end finishes finish""".split()
)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose attributes a clause is about.

    `key` is the subject. `phrase` names the attribute or the thing, where a person is not meant;
    `slot` is the attribute's name, None for a thing, whose slots go by kinds of values. `old`: a
    former one is meant. `proper`: a name without an article, of a person or of a thing. `kin`:
    whose person it is, and which ("my boss"). `speaker`: whose "my" and "our" are.
    """

    key: str
    personal: bool = False
    phrase: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    slot: str | None = None
    people: bool = False
    new: bool = False
    old: bool = False
    proper: bool = False
    kin: tuple[str, str] | None = None
    speaker: str = SELF

    @classmethod
    def of(cls, whose: str, words: Sequence[str], table: Table) -> Owner:
        """Return the owner for "my rent", "Dana's office": an attribute or a thing of somebody."""
        words = _former(trimmed([*words]) or list(words))
        phrase = [w for w in words if w not in _NEW and w not in _OLD] or list(words)
        new = bool(_NEW.intersection(words[:2]))
        old = bool(_OLD.intersection(words[:1]))
        if any(w in _OF for w in phrase[1:-1]):
            return cls._split(whose, phrase, table, new=new, old=old)
        slot = _slot(phrase, table)
        if slot is not None:
            people = _is_person(phrase[-1], table)
            return cls(whose, False, tuple(phrase), tuple(words), slot, people, new, old)
        key = " ".join(phrase) if whose == SELF else f"{whose}'s {' '.join(phrase)}"
        return cls(fold_name(key), False, tuple(phrase), tuple(words), None, False, new, old)

    @classmethod
    def thing(cls, words: Sequence[str], table: Table) -> Owner:
        """Return the owner for "the deadline", "the owner of the billing service"."""
        words = trimmed([w for w in words if w not in ARTICLES and w not in ("this", "that")])
        new = bool(_NEW.intersection(words[:1]))
        old = bool(_OLD.intersection(words[:1]))
        phrase = [w for w in words if w not in _NEW and w not in _OLD] or list(words)
        return cls._split(SELF, phrase, table, new=new, old=old)

    @classmethod
    def _split(cls, whose: str, phrase: list[str], table: Table, *, new: bool, old: bool) -> Owner:
        at = next((i for i, w in enumerate(phrase) if w in _OF and 0 < i < len(phrase) - 1), 0)
        if at:
            slot = _slot(phrase[:at], table)
            if slot is not None:
                rest = [w for w in phrase[at + 1 :] if w not in ARTICLES]
                people = phrase[at - 1] in table.people
                key = fold_name(" ".join(rest) or whose)
                return cls(key, False, tuple(phrase), tuple(phrase), slot, people, new, old)
        if "'s" in phrase[1:-1]:
            at = phrase.index("'s")
            slot = _slot(phrase[at + 1 :], table)
            if slot is not None:
                key = fold_name(" ".join(phrase[:at]))
                people = phrase[-1] in table.people
                return cls(key, False, tuple(phrase), tuple(phrase), slot, people, new, old)
        slot = _slot(phrase[-1:], table)
        if slot is not None and at == 0:
            key = fold_name(" ".join(phrase[:-1])) if len(phrase) > 1 else whose
            people = phrase[-1] in table.people
            return cls(key, False, tuple(phrase), tuple(phrase), slot, people, new, old)
        key = fold_name(" ".join(w for w in phrase if w not in ARTICLES or w == "s"))
        return cls(key, False, tuple(phrase), tuple(phrase), None, False, new, old)


def _is_person(noun: str, table: Table) -> bool:
    return table.aliases.get(noun, noun) in table.people


def _former(words: list[str]) -> list[str]:
    """Return "ex-wife" in two words, and "ex" as a former partner."""
    if words[-1:] == ["ex"]:
        return [*words, "partner"]
    if words and words[0].startswith("ex-"):
        return ["ex", words[0].removeprefix("ex-"), *words[1:]]
    return words


def _slot(phrase: Sequence[str], table: Table) -> str | None:
    """Return the name of the attribute that a phrase is, or None."""
    words = [w for w in phrase if w != "'s"]
    if not words:
        return None
    whole = " ".join(words)
    if whole in table.aliases:
        return table.aliases[whole]
    last = table.aliases.get(words[-1], words[-1])
    if words[0] in _FAVOURITE and 1 < len(words) < 5 and "to" not in words:
        return " ".join(["favorite", *words[1:-1], singular(last)])
    if words[0] in _MEANT_AS and len(words) > 1:
        return " ".join([*words[:-1], last])
    for size in (2, 1):
        tail = " ".join(words[-size:])
        if len(words) > size and tail in table.aliases:
            return " ".join([*words[:-size], table.aliases[tail]])
    if last in table.attributes and last not in ("number", "player"):
        return " ".join([*words[:-1], last])
    return None


def _claim(
    owner: Owner,
    predicate: Predicate,
    slot: str,
    value: str,
    *,
    stance: Stance | None = None,
    news: bool = False,
    event: bool = False,
    key: str | None = None,
    loose: bool = False,
    many: bool = False,
) -> SlotClaim:
    told = stance if stance is not None else predicate.stance
    if owner.old and told is Stance.HOLDS:
        told = Stance.HELD
    return SlotClaim(
        owner.key if key is None else key,
        slot,
        fold_name(value) if value else "",
        told,
        news=news or predicate.news or owner.new,
        event=event,
        date=predicate.date if event else None,
        loose=loose,
        many=many,
    )


def typed(
    owner: Owner, predicate: Predicate, words: Sequence[str], table: Table, *, news: bool = False
) -> Iterator[SlotClaim]:
    """Return what a value says of an attribute, or of a thing by the kind of value it is."""
    kept = cut(words, _VALUE_END)
    where = bool(kept) and kept[0] in _WHERE
    while kept and kept[0] in _PREPOSITIONS:
        kept = kept[1:]
    kept = trimmed(kept)
    if not kept:
        return
    time = is_time(kept, table) and (words[0] == "in" or not counts(kept, table))
    number = None if time else amount(kept)
    time = time and (owner.slot is not None or is_timely(kept, table))
    if number is not None and not number[1] and owner.slot is None and words[0] == "at":
        time = not owner.personal or owner.proper
    if owner.slot is not None:
        claim = _attribute(owner, predicate, kept, table, number=number, news=news, where=where)
        if claim is not None:
            yield claim
            if owner.slot.split()[-1] in _TOOLS and claim.stance is not Stance.DENIED:
                yield _claim(owner, predicate, f"thing:{claim.value}", "yes", news=news)
        return
    if time and kept[0] in PARTICIPLES and not is_time(kept[:1], table):
        return  # "delivered on Friday" does not tell when the thing is
    if time:
        yield _claim(owner, predicate, "when", spelled(kept), news=news, loose=True)
    elif number is not None:
        if owner.personal and number[1] in ("", "year", "yr"):
            yield _claim(owner, predicate, "age", number[0], news=news)
        elif not owner.personal:
            yield _claim(owner, predicate, f"n:{number[1]}", number[0], news=news)
    elif where and not owner.personal:
        yield _claim(owner, predicate, "where", spelled(kept), news=news, loose=True)
    elif len(kept) == 1 and kept[0] in table.states:
        yield _claim(owner, predicate, f"state:{table.states[kept[0]]}", kept[0], news=news)


_TOOLS = frozenset("editor browser car laptop computer database language ide app tool os".split())


_SPELLED = frozenset(
    "address phone email password pin code zip username handle url hostname id".split()
)


def _attribute(
    owner: Owner,
    predicate: Predicate,
    kept: list[str],
    table: Table,
    *,
    number: tuple[str, str, int] | None,
    news: bool,
    where: bool,
) -> SlotClaim | None:
    slot = owner.slot or ""
    if slot.split()[-1] in _SPELLED:
        number = None
    many, loose = slot in table.many, slot.split()[-1] in table.loose
    if number is not None:
        value = f"{number[0]} {number[1]}".strip()
        return _claim(owner, predicate, slot, value, news=news)
    named = any(
        r[:1].isupper() and w == kept[0]
        for r, w in zip(predicate.raws, predicate.words, strict=True)
    )
    done = kept[0] in PARTICIPLES and (len(kept) == 1 or kept[1] in _PREPOSITIONS)
    if done and not named and slot.split()[0] != "favorite":
        return None  # "my rent is paid (on the 5th)"
    if (kept[0] in _EVALUATIVE and not named) or (kept[0] in ING_FORMS and len(kept) > 1):
        return None
    if owner.people:
        raws = [r for r, w in zip(predicate.raws, predicate.words, strict=True) if w in kept]
        if not any(r[:1].isupper() for r in raws):
            return None
        kept = cut(kept, frozenset("in on at from who".split()))
    elif where and not loose and not has_number(kept) and not is_time(kept, table):
        return None
    if kept[-1] in lex.PRONOUNS:
        return None
    return _claim(owner, predicate, slot, spelled(kept), news=news, many=many, loose=loose)


def copula(predicate: Predicate, owner: Owner, table: Table) -> Iterator[SlotClaim]:
    """Read what something is, or when or where."""
    words = predicate.words
    if owner.slot is not None or not owner.personal or owner.proper:
        found = list(_happening(predicate, owner, table))
        if found:
            yield from found
            return
    if not predicate.is_copula:
        return
    if predicate.verb in _CANCELLED or words[:2] == ["called", "off"]:
        yield _claim(owner, predicate, "when", "", stance=Stance.DENIED, news=True, event=True)
        return
    if predicate.was and not predicate.past:
        return
    if owner.kin is not None:
        found = list(_kin(predicate, owner, table))
        if found:
            yield from found
            return
    if predicate.verb == "due" and owner.slot is not None and is_time(words[1:], table):
        whole = fold_name(" ".join(owner.phrase))  # "the rent is due on Friday" is no rent
        value = spelled(trimmed([w for w in words[1:] if w not in _WHERE]))
        yield _claim(owner, predicate, "when:due", value, loose=True, key=whole)
        return
    if predicate.verb in _PLANNED:
        yield from typed(owner, predicate, words[1:], table)
        return
    if owner.personal:
        yield from _being(predicate, owner, table)
    state = len(words) == 1 and words[0] in table.states
    placed = owner.proper and words[0] in _PREPOSITIONS
    if not owner.personal or is_number(words[0]) or placed or state:
        yield from typed(owner, predicate, words, table)


def _kin(predicate: Predicate, owner: Owner, table: Table) -> Iterator[SlotClaim]:
    """Read "my boss is Ann": who somebody is of whom there is one."""
    whose, noun = owner.kin or ("", "")
    slot = table.aliases.get(noun, noun)
    if slot not in table.people and slot not in table.attributes:
        return
    words = predicate.words
    if words[0] in ("called", "named"):
        words = words[1:]
    raws = predicate.raws[len(predicate.words) - len(words) :]
    names = [w for w, r in zip(words, raws, strict=True) if r[:1].isupper()]
    if names and words[: len(names)] == names:
        new = owner.new or predicate.news or bool(_NEW.intersection(predicate.subject_named))
        old = bool(_OLD.intersection(predicate.subject_named))
        stance = Stance.HELD if old else predicate.stance
        yield SlotClaim(whose, slot, fold_name(" ".join(names)), stance, news=new)


def _happening(predicate: Predicate, owner: Owner, table: Table) -> Iterator[SlotClaim]:
    """Read "the course starts on Monday"."""
    rest = predicate.words[1:]
    if rest[:1] == ["place"]:
        rest = rest[1:]
    told = predicate.verb in _HAPPENS and rest[:1] and rest[0] in ("on", "at", "in", "every")
    if told and is_time(rest, table):
        how = lemma(predicate.verb)
        slot = "when" if how in ("happen", "take", "occur", "meet") else f"when:{how}"
        key = owner.key
        if owner.slot is not None:  # "the gym opens at nine" is about the gym
            key = fold_name(" ".join(owner.phrase))
        value = spelled(trimmed(rest[1:]))
        yield _claim(owner, predicate, slot, value, loose=True, key=key)


def _being(predicate: Predicate, owner: Owner, table: Table) -> Iterator[SlotClaim]:
    """Read what a person is: a diet, a profession, somebody's manager, the owner of something."""
    kept = trimmed(cut(predicate.core, _VALUE_END))
    if not kept:
        return
    ends = "at in for with from on now by again"
    heading = kept[0] in ("head", "vp", "chief", "director")
    noun = cut(kept, frozenset((ends if heading else f"{ends} of and").split()))
    while len(noun) > 1 and noun[0] in _WHOLLY:
        kept, noun = kept[1:], noun[1:]
    if len(noun) == 1:
        taker = of_taker(_claim(owner, predicate, "", ""), noun[0], table.intake)
        if taker is not None:
            yield taker
            return
    if kept[0] in table.words["diets"] and len(noun) == 1:
        yield _claim(owner, predicate, "diet", noun[0])
        return
    first = predicate.core[0]
    if noun[0] == "such":
        return  # "such an inspiring writer"
    role = noun[-1] in table.words["professions"] or noun[0] in ("head", "vp", "chief")
    role = role and not (noun[0] in ING_FORMS and not ARTICLES.isdisjoint(noun))  # "seeing a nurse"
    if first in (*lex.POSSESSIVES, "the") or (first in ("a", "an") and not role):
        mine = owner.speaker if first in lex.POSSESSIVES else SELF
        whose = Owner.thing(kept, table) if first == "the" else Owner.of(mine, kept, table)
        if whose.slot is not None and whose.people and owner.proper and predicate.stance:
            made = _claim(whose, predicate, whose.slot, owner.key)
            yield made
            return
    if role and len(noun) <= 5:
        yield _claim(owner, predicate, "role", spelled(noun))
        at = [i for i, w in enumerate(kept) if w in ("at", "for") and i >= len(noun)]
        if at:
            firm = cut(kept[at[0] + 1 :], frozenset("in on as and".split()))
            if firm and not firm[0][0].isdigit() and firm[0] not in ARTICLES:
                yield _claim(owner, predicate, "employer", spelled(firm), loose=True)


def change(predicate: Predicate, owner: Owner, table: Table) -> Iterator[SlotClaim]:
    """Read a change: "went up to 980", "was moved to Thursday", "I changed my email to …"."""
    words = predicate.words
    if words[:2] == ["called", "off"] or (words[0] in _CANCELLED and not predicate.is_copula):
        rest = words[2:] if words[0] == "called" else words[1:]
        thing = _object(rest, owner, table)
        if thing is not None:
            yield _claim(thing, predicate, "when", "", stance=Stance.DENIED, news=True, event=True)
        return
    if words[0] not in _CHANGES or predicate.denied or predicate.past:
        return
    at = _to(words)
    if at < 0:
        return
    value = words[at + 1 :]
    middle = list(words[1 : words.index("from") if "from" in words[:at] else at])
    while middle and middle[-1] in _WAYS:
        middle.pop()
    while middle and middle[0] in _WAYS:
        middle = middle[1:]
    target = owner
    if owner.personal and not (owner.proper and not middle):
        found = _object(middle, owner, table)
        if found is None:
            return
        target = found
    elif middle:
        return
    if target.personal and not is_time(value, table):
        return
    yield from typed(target, predicate, value, table, news=True)


def _to(words: Sequence[str]) -> int:
    """Return where the last "to" before the value stands, or -1."""
    for i in range(1, len(words) - 1):
        if words[i] in _TO and words[i - 1] != "from":
            return i
    return -1


def _object(words: Sequence[str], owner: Owner, table: Table) -> Owner | None:
    """Return the owner that an object is: "my email", "the meeting", "Dana's desk"."""
    if not words:
        return None
    if words[0] in lex.POSSESSIVES:
        return Owner.of(owner.speaker, words[1:], table)
    if words[0] in ("his", "her", "their") and owner.proper:
        return Owner.of(owner.key, words[1:], table)
    if "'s" in words[1:-1]:
        at = words.index("'s")
        whose = fold_name(" ".join(w for w in words[:at] if w not in ARTICLES))
        return Owner.of(whose, words[at + 1 :], table)
    if words[0] in ("the", "this", "that"):
        return Owner.thing(words[1:], table)
    return None


def schedule(predicate: Predicate, owner: Owner, table: Table) -> Iterator[SlotClaim]:
    """Read when something will be; nothing else that is to come is a value yet."""
    if owner.personal or predicate.denied:
        return
    found = list(_happening(predicate, owner, table))
    words = _times(_appointed(predicate.words), owner, table)
    if not found and words:
        found = [
            claim
            for claim in typed(owner, predicate, words, table)
            if claim.slot == "when" or owner.slot is not None
        ]
    yield from found


def _appointed(words: Sequence[str]) -> Sequence[str]:
    """Return what stands after "be", "take place", "be planned", "be moved to"."""
    if words[:2] == ["going", "to"]:
        words = words[2:]
    if words[:1] == ["be"]:
        words = words[1:]
    first = words[0] if words else ""
    if first in _CHANGES and first not in _PLANNED:
        at = _to(words)
        return words[at + 1 :] if at > 0 else ()
    if first in _PLANNED or first in _HAPPENS:
        return words[2:] if words[1:2] == ["place"] else words[1:]
    return words


def _times(words: Sequence[str], owner: Owner, table: Table) -> list[str]:
    """Return the words of times, with what tells where left out; none after anything else."""
    starts = [i for i, word in enumerate(words) if not i or word in _TIMED]
    parts = [list(words[i:j]) for i, j in pairwise([*starts, len(words)])]
    timely = [is_time(part, table) for part in parts]
    if not parts or not (timely[0] or (owner.slot is None and parts[0][0] in _PREPOSITIONS)):
        return []
    if not any(timely):
        return []
    bare = [len(part) == 2 and is_number(part[1]) for part in parts]  # "at 9"
    return [w for part, t, b in zip(parts, timely, bare, strict=True) if t or b for w in part]
