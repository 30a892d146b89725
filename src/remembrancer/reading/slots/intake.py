"""What somebody eats, drinks and smokes: what a diet leaves out, and what such a habit ends.

A diet says of classes of food that they are not taken, and "I eat meat now" says of one that it is:
both are claims about `takes:CLASS` with the value "yes" or "no". So a habit ends the diet that
excludes it, whatever each is called, and a diet the habit; time decides, as of all claims. Which
words name what stands in `intake.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...nouns.folding import fold_name
from ...nouns.memory import Stance
from ..types import SlotClaim

DIET = "diet"
TAKES = "takes:"  # slots of classes: whether one takes what belongs to it
FOLLOWS = "follows:"  # slots of diets, so that two spellings of one are one
_DOES = "does:"
_YES, _NO = "yes", "no"
_PARTS = re.compile(r" (?:and|or|nor|und|oder|et|ou|ni|y|o|e) |, ?|/")
_LEADING = re.compile(
    r"^(?:(?:a )?(?:lot|lots|plenty|bit) of |both |no |zero |any |some |more |de la |de l'|del? "
    r"|du |des |d'|l'|la |le |les |el |los |las |auch |solo )+"
)
_NONE = re.compile(r"^(?:no|zero) ")


@dataclass(frozen=True, slots=True)
class Takes:
    """A verb of taking. `leaves`: it says that one does not. `bare` is what is meant without an
    object; `names`: it then has this as its object.
    """

    classes: frozenset[str]
    leaves: bool
    bare: str
    names: bool


@dataclass(frozen=True, slots=True)
class Intake:
    """The words of `intake.toml`, folded.

    `whole` names classes, `parts` what belongs to them: "meat" and "beef". `takers` are nouns of
    persons: their verb, and whether they do not.
    """

    verbs: Mapping[str, Takes]
    whole: Mapping[str, tuple[str, ...]]
    parts: Mapping[str, tuple[str, ...]]
    diets: Mapping[str, str]
    without: Mapping[str, tuple[str, ...]]
    takers: Mapping[str, tuple[str, bool]]


def intake_of(told: Mapping[str, Any]) -> Intake:
    """Read the section [intake] of the table of slots."""
    whole: dict[str, tuple[str, ...]] = {}
    parts: dict[str, tuple[str, ...]] = {}
    for name, names in told["classes"].items():
        for words, found in ((names["all"], whole), (names["some"], parts)):
            for word in listed(words):
                found[word] = (*found.get(word, ()), name)
    for word in listed(told["everything"]):
        parts[word] = tuple(told["food"].split())
    verbs: dict[str, Takes] = {}
    for verb in told["verbs"]:
        takes = Takes(
            frozenset(verb["takes"].split()),
            bool(verb.get("leaves")),
            str(verb.get("bare", "")),
            bool(verb.get("names")),
        )
        verbs |= dict.fromkeys(verb["words"].split(), takes)
    diets = {word: name for name, diet in told["diets"].items() for word in listed(diet["names"])}
    without = {name: tuple(diet["without"].split()) for name, diet in told["diets"].items()}
    takers = {
        word: (taker["verb"], bool(taker.get("leaves")))
        for taker in told["takers"]
        for word in listed(taker["names"])
    }
    return Intake(verbs, whole, parts, diets, without, takers)


def listed(text: str) -> list[str]:
    """Return the names of a list with commas, folded."""
    return [fold_name(part) for part in text.replace("\n", " ").split(",") if part.strip()]


def spelled_diets(told: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of diets as they are written in small letters."""
    return frozenset(
        part.strip()
        for diet in told["diets"].values()
        for part in diet["names"].replace("\n", " ").split(",")
    )


def with_intake(
    claims: Iterable[SlotClaim], intake: Intake, things: Callable[[], str] | None = None
) -> Iterator[SlotClaim]:
    """Return claims, each with what it says of classes of food, drink and smoke.

    `things` tells all that stands after the verb, where a claim has only the first of a list.
    """
    for claim in claims:
        if claim.slot == DIET and claim.value:
            yield claim
            yield from _of_diet(claim, intake)
        elif claim.slot.startswith(_DOES):
            verb = intake.verbs.get(claim.slot.removeprefix(_DOES))
            if verb is None:
                yield claim
                continue
            named = claim
            if not claim.value and verb.names:
                named = replace(claim, value=verb.bare)
            yield named
            whole = things() if things is not None and claim.value else named.value
            yield from _of_habit(replace(named, value=whole), verb, intake)
        else:
            yield claim


def _of_diet(claim: SlotClaim, intake: Intake) -> Iterator[SlotClaim]:
    name = intake.diets.get(claim.value)
    if name is None:
        return
    yield _about(claim, FOLLOWS + name, _YES, claim.stance)
    if claim.stance is Stance.HOLDS:
        for left_out in intake.without[name]:
            yield _about(claim, TAKES + left_out, _NO, Stance.HOLDS)


def _of_habit(claim: SlotClaim, verb: Takes, intake: Intake) -> Iterator[SlotClaim]:
    if verb.leaves and claim.stance is not Stance.HOLDS:
        return  # "I don't avoid gluten": whether one eats it is not said
    left = verb.leaves or claim.stance is Stance.DENIED
    stance = Stance.HOLDS if left else claim.stance
    for name in _classes(claim.value, intake, whole=left) if claim.value else [verb.bare]:
        if name in verb.classes:
            yield _about(claim, TAKES + name, _NO if left else _YES, stance)


def given_up(what: str, claim: SlotClaim, intake: Intake) -> Iterator[SlotClaim]:
    """Return what follows where `claim` tells that something was given up: "gave up meat"."""
    for name in _classes(what, intake, whole=True):
        yield _about(claim, TAKES + name, _NO, Stance.HOLDS)


def _classes(value: str, intake: Intake, *, whole: bool) -> list[str]:
    """Return the classes that a value lists, or also those of which it lists a part."""
    found: dict[str, None] = {}
    for part in _PARTS.split(value):
        bare = _LEADING.sub("", part.strip())
        words = bare.split()
        known = [intake.whole.get(w) or intake.parts.get(w) for w in words]
        names = words if len(words) > 1 and all(known) else [bare]  # "meat, fish" without its comma
        for name in names:
            found |= dict.fromkeys(intake.whole.get(name, ()))
            if not whole:
                found |= dict.fromkeys(intake.parts.get(name, ()))
    return list(found)


def of_taker(claim: SlotClaim, value: str, intake: Intake) -> SlotClaim | None:
    """Return the habit that "a smoker", "a teetotaller" names, None for anything else."""
    verb, leaves = intake.takers.get(fold_name(value), ("", False))
    if not verb:
        return None
    stance = claim.stance
    if leaves:
        if stance is not Stance.HOLDS:
            return None
        stance = Stance.DENIED
    return replace(claim, slot=_DOES + verb, value="", stance=stance, many=True)


def none_of(value: str) -> str | None:
    """Return what "no meat" is none of, None for anything else."""
    match = _NONE.match(value)
    return value[match.end() :] if match else None


def without_exceptions(told: Sequence[Sequence[SlotClaim]]) -> list[tuple[SlotClaim, ...]]:
    """Return the claims of the statements of one turn without what they themselves except.

    "I'm vegetarian, but I eat fish" says of fish that it is eaten, and the diet does not end.
    """
    eaten = {
        (claim.subject, claim.slot)
        for claims in told
        for claim in claims
        if claim.slot.startswith(TAKES) and claim.value == _YES and claim.stance is Stance.HOLDS
    }
    return [
        tuple(c for c in claims if (c.subject, c.slot) not in eaten or not _implied(c, claims))
        for claims in told
    ]


def _implied(claim: SlotClaim, claims: Sequence[SlotClaim]) -> bool:
    """Tell whether a claim only follows from a diet."""
    diet = any(c.slot == DIET and c.subject == claim.subject for c in claims)
    return diet and claim.slot.startswith(TAKES) and claim.value == _NO


def _about(claim: SlotClaim, slot: str, value: str, stance: Stance) -> SlotClaim:
    return replace(claim, slot=slot, value=value, stance=stance, many=False, loose=False)
