"""Reads one English clause: its subject, whether it denies, and how it is meant."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..nouns.memory import Modality, Polarity
from . import lexicon as lex
from .modality import read_modality
from .names import KnownNames
from .tokens import Tokens
from .verbs_lexicon import BASES, FINITE, ING_FORMS, PARTICIPLES, VERB_FORMS

_NP_WORDS = 7  # from a determiner to its verb
_HIDDEN_SPEAKER = frozenset(
    """went got bought saw met took found came flew drove ate spent won lost began felt joined
    finished started moved visited adopted signed watched tried attended graduated booked ordered
    planted painted baked cooked hiked learned ran rode wrote sold taught made had gave built quit
    broke""".split()
)
_PREDICATES = frozenset("a an the not been so very really my our your".split())
_DEMONSTRATIVES = frozenset("this that these those each every some both all".split())


class Kind(Enum):
    """What a clause's subject is."""

    SPEAKER = 1  # I, we, my car
    PERSON = 2  # a name, or one of the speaker's people
    THING = 3  # a noun phrase
    PRONOUN = 4  # he, she, it, this
    YOU = 5


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause as read. `subject` is None for the speaker and for a bare pronoun."""

    kind: Kind
    subject: str | None
    first: int  # word at which the subject begins
    verb: int  # word after the subject, adverbs skipped
    main: int  # the main verb, or the predicate after "be"
    group: tuple[str, ...]  # auxiliaries
    polarity: Polarity
    modality: Modality


@dataclass(frozen=True, slots=True)
class _Subject:
    kind: Kind
    text: str | None
    after: int
    plural: bool = False


def read_clause(
    tokens: Tokens, low: int, high: int, known: KnownNames, *, implied: bool = False
) -> Clause | None:
    """Read the clause whose subject begins at word `low`; None when it has no subject and verb.

    With `implied`, a clause that begins with its verb ("Went to Rome last week") is the speaker's.
    """
    subject = _subject(tokens, low, high, known)
    if subject is None and implied:
        subject = _implied(tokens, low, high)
    if subject is None:
        return None
    at, denied, group = subject.after, False, list[str]()
    words = tokens.lows
    while at < high:
        word = words[at]
        if word == "no" and words[at + 1 : at + 2] == ["longer"]:
            denied, at = True, at + 2
        elif word in lex.NEGATORS or word.endswith("n't"):
            denied = denied or words[at + 1 : at + 2] not in (["only"], ["just"])
            if word in lex.AUXILIARIES:
                group.append(word)
            at += 1
        elif word in lex.AUXILIARIES:
            group.append(word)
            at += 1
        elif word in lex.ADVERBS and word not in BASES:
            at += 1
        else:
            break
    if not _has_verb(words, at, high, subject, group):
        return None
    if at < high and group and words[at] == "no":
        denied = True
    if denied and words[at : at + 1] == ["wait"]:
        denied = False  # "can't wait" is no denial
    polarity = Polarity.NEGATED if denied else Polarity.AFFIRMED
    modality = read_modality(tokens, low, at, high, group, of_speaker=subject.kind is Kind.SPEAKER)
    return Clause(
        subject.kind, subject.text, low, subject.after, at, tuple(group), polarity, modality
    )


def _has_verb(words: list[str], at: int, high: int, subject: _Subject, group: list[str]) -> bool:
    if group:
        return at < high
    if at >= high:
        return False
    verb = words[at]
    if subject.kind in (Kind.SPEAKER, Kind.YOU) or subject.plural:
        return verb in VERB_FORMS or (len(verb) > 4 and verb.endswith("ed"))
    return verb in FINITE or (subject.kind is Kind.PRONOUN and verb in VERB_FORMS)


def _subject(tokens: Tokens, at: int, high: int, known: KnownNames) -> _Subject | None:
    if at >= high:
        return None
    word = tokens.lows[at]
    if word in lex.FIRST_PERSON:
        if at + 1 < high and tokens.gap(at + 1).strip():
            return None  # "I, for one" and lists
        return _Subject(Kind.SPEAKER, None, at + 1, plural=True)
    with_others = _and_i(tokens, at, high)
    if with_others:
        return _Subject(Kind.SPEAKER, None, with_others, plural=True)
    if word in ("you", "y'all"):
        return _Subject(Kind.YOU, None, at + 1, plural=True)
    users = at + (word == "the")
    if tokens.lows[users : users + 2] == ["user", "'s"]:
        verb = _verb_after(tokens, users + 3, high)
        if verb > 0 and not _is_predicate(tokens.lows[users + 2]):
            return _Subject(Kind.PERSON, "user", verb, tokens.lows[verb - 1].endswith("s"))
    if word == "user" or (word == "the" and tokens.lows[at + 1 : at + 2] == ["user"]):
        return _Subject(Kind.PERSON, "user", at + 1 + (word == "the"))
    if word in lex.POSSESSIVES:
        return _own(tokens, at, high)
    if (
        word in _DEMONSTRATIVES
        and tokens.lows[at + 1 : at + 2]
        and (tokens.lows[at + 1] not in FINITE)
    ):
        noun = _phrase(tokens, at, high)
        if noun is not None:
            return noun
    if word in lex.BARE_PRONOUNS:
        return _Subject(Kind.PRONOUN, None, at + 1, plural=word in ("they", "these", "those"))
    if word in lex.OTHER_DETERMINERS:
        return _phrase(tokens, at, high)
    return _named(tokens, at, high, known)


def _and_i(tokens: Tokens, at: int, high: int) -> int:
    """Return the word after "my wife and I" or "Anna and I", or 0."""
    if tokens.lows[at] in lex.POSSESSIVES or tokens.raws[at][0].isupper():
        for i in range(at + 1, min(at + 5, high - 1)):
            if tokens.gap(i).strip():
                return 0
            if tokens.lows[i] == "and" and tokens.lows[i + 1] == "i":
                return i + 2 if tokens.lows[i - 1] not in VERB_FORMS else 0
    return 0


def _implied(tokens: Tokens, at: int, high: int) -> _Subject | None:
    start = at
    while at < high and tokens.lows[at] in ("just", "finally", "recently", "also", "already"):
        at += 1
    if at >= high or high - at < 4:
        return None
    word, after = tokens.lows[at], tokens.lows[at + 1]
    if word in _HIDDEN_SPEAKER and after not in lex.PRONOUNS and after != "it":
        return _Subject(Kind.SPEAKER, None, start, plural=True)
    if (
        word == "gonna"
        or (word == "been" and after in ING_FORMS)
        or (word in ("planning", "going") and after == "to")
    ):
        return _Subject(Kind.SPEAKER, None, at, plural=True)
    return None


def _verb_after(tokens: Tokens, at: int, high: int) -> int:
    """Return where the verb of a noun phrase that goes on at `at` stands, or -1.

    A form of be, have, do or a modal is taken at once; another form only when no verb follows it,
    since "show" and "works" may be nouns.
    """
    words = tokens.lows
    for i in range(at, min(high, at + _NP_WORDS)):
        word = words[i]
        if word in lex.STRONG_VERBS or word.endswith("n't"):
            return i
        if word == "'s":
            if words[i + 1 : i + 2] and _is_predicate(words[i + 1]):
                return i
            continue
        if tokens.gap(i).strip() not in ("", '"', "“", "”") and words[i - 1] not in lex.TITLES:
            return -1
        after = words[i + 1] if i + 1 < high else ""
        if word in ("got", "gets") and after in PARTICIPLES:
            return i  # "the retro got moved"
        if word in FINITE and not (
            after in lex.STRONG_VERBS or after in FINITE or after.endswith("n't")
        ):
            return i
        if (
            word in BASES
            and words[i - 1].endswith("s")
            and not (after in lex.STRONG_VERBS or after in FINITE or words[i - 1].endswith("ss"))
        ):
            return i
        if word in lex.PRONOUNS or word in ("who", "that", "which", "and", "or", "but", "if"):
            return -1
    return -1


def _is_predicate(word: str) -> bool:
    return word in _PREDICATES or word in ING_FORMS


def _undenied(words: list[str], low: int, verb: int) -> int:
    """Return where the noun phrase before a verb ends: before "no longer" and "never"."""
    if words[verb - 2 : verb] == ["no", "longer"] and verb - 2 > low:
        return verb - 2
    return verb - 1 if words[verb - 1] == "never" and verb - 1 > low else verb


def _own(tokens: Tokens, at: int, high: int) -> _Subject | None:
    """Read "my sister", "my coworker Dana", "my car": whose the clause is."""
    verb = _verb_after(tokens, at + 2, high)
    if verb < 0:
        return None
    words = tokens.lows
    verb = _undenied(words, at + 1, verb)
    plural = words[verb - 1].endswith("s") or words[verb - 1] in ("kids", "children", "parents")
    for i in range(at + 1, verb):
        if words[i] not in lex.KIN:
            continue
        stop = i + 1
        while stop < verb and tokens.raws[stop][0].isupper():
            stop += 1
        if stop > i + 1 and words[stop - 1] not in lex.CALENDAR:
            name = tokens.text[tokens.starts[i + 1] : tokens.ends[stop - 1]]
            return _Subject(Kind.PERSON, name, verb, plural)
        if words[i + 1] == "'s" and not lex.KIN.isdisjoint(words[i + 2 : verb]):
            continue  # "my sister's dog" is about the dog, "my sister's birthday" about her
        if i + 1 < verb and words[i + 1] in ("and", "&"):
            return _Subject(Kind.SPEAKER, None, verb, plural=True)
        return _Subject(Kind.PERSON, tokens.text[tokens.starts[at] : tokens.ends[i]], verb, plural)
    return _Subject(Kind.SPEAKER, None, verb, plural)


def _phrase(tokens: Tokens, at: int, high: int) -> _Subject | None:
    verb = _verb_after(tokens, at + 2, high) if at + 2 < high else -1
    if (
        verb < 0
        or tokens.lows[at + 1] in lex.AUXILIARIES
        or tokens.lows[verb - 1]
        in (
            "'s",
            "lot",
            "bit",
        )
    ):
        return None
    verb = _undenied(tokens.lows, at + 1, verb)
    text = tokens.text[tokens.starts[at] : tokens.ends[verb - 1]]
    if tokens.raws[at + 1][0].islower():  # not "The Alchemist"
        text = text[0].lower() + text[1:]
    return _Subject(Kind.THING, text, verb, tokens.lows[verb - 1][-1:] == "s")


def _named(tokens: Tokens, at: int, high: int, known: KnownNames) -> _Subject | None:
    """Read a name, or a capitalised word that has a verb after it, as the subject."""
    raw, low = tokens.raws[at], tokens.lows[at]
    if not raw[0].isupper():
        return None
    match = known.match(tokens.lows, at) if len(known) else None
    if match is not None:
        stop, text = at + match[1], match[0]
    else:
        if low in lex.COMMON or low in BASES or low in ING_FORMS or low in FINITE:
            return None
        stop = at + 1
        while stop < high and tokens.raws[stop][0].isupper() and not tokens.gap(stop).strip(". "):
            stop += 1
        text = tokens.text[tokens.starts[at] : tokens.ends[stop - 1]]
    if stop >= high:
        return None
    if tokens.lows[stop] == "'s":
        if _is_predicate(tokens.lows[stop + 1] if stop + 1 < high else ""):
            return _Subject(Kind.PERSON, text, stop)
        verb = _verb_after(tokens, stop + 2, high)
        if verb < 0:
            return None
        verb = _undenied(tokens.lows, stop + 1, verb)
        plural = tokens.lows[verb - 1].endswith("s")
        if lex.KIN.isdisjoint(tokens.lows[stop + 1 : verb]):
            return _Subject(Kind.PERSON, text, verb, plural)
        whole = tokens.text[tokens.starts[at] : tokens.ends[verb - 1]]
        return _Subject(Kind.PERSON, whole, verb, plural)
    if tokens.gap(stop).strip():
        return None
    verb = stop + 2 if tokens.lows[stop : stop + 2] == ["no", "longer"] else stop
    while verb < high and tokens.lows[verb] in lex.ADVERBS and tokens.lows[verb] not in BASES:
        verb += 1
    if verb >= high:
        return None
    word = tokens.lows[verb]
    if not (word in lex.STRONG_VERBS or word in FINITE or word.endswith("n't")):
        return None
    return _Subject(Kind.PERSON, text, stop)
