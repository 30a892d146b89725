"""The table of slots: `slots.toml` read and compiled, and what a bank adds to it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from .intake import Intake, intake_of, spelled_diets

_VALUE = r"(?P<v>.+)"
_TAIL = r"(?:$| )"
# what may follow a verb of which nothing else is said: "single now", but not "single parents"
_ALONE = (
    r"(?:$|(?:now|again|anymore|still|already|currently|today|lately|recently|nowadays|finally"
    r"|instead|too|though|right now|at the moment|at present|at last|these days|and|but|so|or"
    r"|because|since|after|until|while|once|for)(?:$| ))"
)
LANGUAGES = ("de", "fr", "es")


@dataclass(frozen=True, slots=True)
class Pattern:
    """What may stand after a verb, and what it says. `perfect`: only after "have"."""

    family: str
    rest: re.Pattern[str]
    holds: bool
    event: bool
    perfect: bool
    many: bool
    loose: bool
    of: str  # whose slots it is about: "person", "thing" or "any"
    place: bool  # the value is a place or an organisation, not a common noun
    fixed: str | None  # the value, where the words themselves are it
    object: bool  # the value is a part of the slot, and `fixed` the value


@dataclass(frozen=True, slots=True)
class ForeignPattern:
    """A whole clause in another language. The group `s` is a third person, `a` an attribute."""

    family: str
    clause: re.Pattern[str]
    holds: bool
    event: bool
    many: bool
    loose: bool
    fixed: str | None
    object: bool


@dataclass(frozen=True, slots=True)
class Foreign:
    """One language: words that mark it, cues, and patterns."""

    marks: frozenset[str]
    news: re.Pattern[str]
    denial: re.Pattern[str]
    past: re.Pattern[str]
    supposed: re.Pattern[str]
    joints: re.Pattern[str]
    drop: re.Pattern[str]
    patterns: tuple[ForeignPattern, ...]


@dataclass(frozen=True, slots=True)
class CustomSlot:
    """A slot that a bank adds.

    `nouns` are attributes ("blood sugar" in "my blood sugar is 5.4"); `phrases` are predicates with
    `{value}` in them ("am mentored by {value}"), said of the speaker or of a third person.
    """

    name: str
    nouns: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    many: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """All that reading slots needs to know."""

    verbs: Mapping[str, tuple[Pattern, ...]]
    attributes: frozenset[str]
    favourites: frozenset[str]
    aliases: Mapping[str, str]
    people: frozenset[str]
    many: frozenset[str]
    states: Mapping[str, str]
    words: Mapping[str, frozenset[str]]
    intake: Intake
    loose: frozenset[str] = frozenset()
    foreign: Mapping[str, Foreign] = field(default_factory=dict)

    def extended(self, slots: Sequence[CustomSlot]) -> Table:
        """Return the table with more slots."""
        if not slots:
            return self
        verbs, aliases = dict(self.verbs), dict(self.aliases)
        attributes, many = set(self.attributes), set(self.many)
        for slot in slots:
            name = slot.name.lower()
            if slot.many:
                many.add(name)
            for noun in slot.nouns:
                aliases[noun.lower()] = name
            attributes.add(name)
            for phrase in slot.phrases:
                first, _, rest = phrase.lower().partition(" ")
                if first in ("am", "is", "are", "be"):
                    first, _, rest = rest.partition(" ")
                text = re.escape(rest).replace(r"\{value\}", _VALUE)
                pattern = _pattern(name, text, {"many": slot.many}, holds=True, event=False)
                for verb in _forms(first):
                    verbs[verb] = (*verbs.get(verb, ()), pattern)
        return replace(
            self,
            verbs=verbs,
            aliases=aliases,
            attributes=frozenset(attributes),
            many=frozenset(many),
        )


@cache
def standard() -> Table:
    """Return the table that every bank begins with."""
    data, intake = _toml("slots.toml"), _toml("intake.toml")
    spelled = spelled_diets(intake)
    diets = "|".join(sorted(map(re.escape, spelled), key=lambda d: (-len(d), d)))
    verbs: dict[str, tuple[Pattern, ...]] = {}
    foreign: dict[str, list[ForeignPattern]] = {language: [] for language in LANGUAGES}
    for family in data["family"]:
        name = family["name"]
        for key, holds, event in (
            ("holds", True, False),
            ("event", True, True),
            ("deny", False, False),
        ):
            for line in family.get(key, ()):
                words, _, rest = line.replace("{D}", f"(?:{diets})").partition(" > ")
                pattern = _pattern(name, rest, family, holds=holds, event=event)
                for word in words.split():
                    verb = word.removesuffix("*")
                    made = pattern if verb == word else replace(pattern, perfect=True)
                    verbs[verb] = (*verbs.get(verb, ()), made)
            for language in LANGUAGES:
                for told in family.get(f"{language}_{key}", ()):
                    line = told.replace("{D}", f"(?:{diets})")
                    foreign[language].append(_foreign(name, line, family, holds, event))
    words = {name: _words(value) for name, value in data["words"].items()} | {"diets": spelled}
    return Table(
        verbs=verbs,
        attributes=_words(data["attributes"]["single"]),
        favourites=_words(data["attributes"]["favourite"]),
        aliases={k: v for v, names in data["aliases"].items() for k in names},
        people=_words(data["attributes"]["people"]),
        many=_words(data["attributes"]["many"]),
        loose=_words(data["attributes"]["loose"]),
        states={w: group.split()[0] for group in data["states"]["groups"] for w in group.split()},
        words=words,
        intake=intake_of(intake),
        foreign={
            language: _language(data["language"][language], tuple(foreign[language]))
            for language in LANGUAGES
        },
    )


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def custom_slots(told: Iterable[Mapping[str, Any]]) -> tuple[CustomSlot, ...]:
    """Return the slots of a bank's settings, which were checked when they were set."""
    return tuple(
        CustomSlot(
            str(each["name"]),
            tuple(each.get("nouns") or ()),
            tuple(each.get("phrases") or ()),
            each.get("values") == "multi",
        )
        for each in told
    )


def _pattern(
    name: str, rest: str, family: Mapping[str, Any], *, holds: bool, event: bool
) -> Pattern:
    rest, fixed = _parted(rest)
    return Pattern(
        name,
        re.compile(rest.replace("{V}", _VALUE) + (_TAIL if rest else _ALONE)),
        holds,
        event,
        False,
        bool(family.get("many")),
        bool(family.get("loose")),
        str(family.get("of", "person")),
        bool(family.get("place")),
        fixed,
        bool(family.get("object")),
    )


def _foreign(
    name: str, line: str, family: Mapping[str, Any], holds: bool, event: bool
) -> ForeignPattern:
    line, fixed = _parted(line)
    text = line.replace("{V}", _VALUE).replace("{S}", r"(?P<s>[^,;]{2,40}?)")
    text = text.replace("{A}", r"(?P<a>[^,;]{2,50}?)")
    return ForeignPattern(
        name,
        re.compile(f"^{text}$"),
        holds,
        event,
        bool(family.get("many")),
        bool(family.get("loose")),
        fixed,
        bool(family.get("object")),
    )


def _parted(line: str) -> tuple[str, str | None]:
    """Return a line without the value that it stands for, and that value."""
    words, sign, fixed = f" {line}".partition(" = ")
    return words.strip(), fixed if sign else None


def _language(told: Mapping[str, str], patterns: tuple[ForeignPattern, ...]) -> Foreign:
    return Foreign(
        _words(told["marks"]),
        re.compile(told["news"]),
        re.compile(told["denial"]),
        re.compile(told["past"]),
        re.compile(told["supposed"]),
        re.compile(told["joints"]),
        re.compile(told["drop"]),
        patterns,
    )


def _forms(verb: str) -> tuple[str, ...]:
    if verb.endswith(("s", "x", "ch", "sh")):
        return (verb, f"{verb}es")
    return (verb, f"{verb}s")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())
