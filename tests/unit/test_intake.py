"""What somebody eats, drinks and smokes, and which diet that ends."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from remembrancer import AsyncMemory
from remembrancer.faces.library.memory import make_settings
from remembrancer.nouns.memory import Role
from remembrancer.reading.dates import find_dates
from remembrancer.reading.facts import read_statements

NOW = datetime(2024, 6, 12, tzinfo=UTC)


def taken(text: str) -> dict[str, str]:
    """Return which classes somebody takes, with whose it is before those of others."""
    found: dict[str, str] = {}
    for statement in read_statements(
        text, speaker=None, role=Role.USER, known=(), dates=lambda t: find_dates(t, NOW)
    ):
        for claim in statement.claims:
            name, _, kind = claim.slot.partition(":")
            if name == "takes":
                whose = "" if claim.subject == "self" else f"{claim.subject} "
                found[whose + kind] = {1: "", 3: "once "}[claim.stance] + claim.value
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am a pescatarian.", {"meat": "no"}),
        ("I'm strictly kosher.", {"pork": "no", "seafood": "no"}),
        ("I eat meat now.", {"meat": "yes"}),
        ("I had a kebab and I eat lamb again.", {"meat": "yes"}),
        ("I've gone back to eating fish.", {"fish": "yes"}),
        ("I started eating bacon again.", {"meat": "yes", "pork": "yes"}),
        ("I used to eat eggs.", {"eggs": "once yes"}),
        ("I eat no fish.", {"fish": "no"}),
        ("I eat fish and cheese now.", {"fish": "yes", "dairy": "yes"}),
        ("I don't eat meat, fish or eggs.", {"meat": "no", "fish": "no", "eggs": "no"}),
        ("I've quit smoking.", {"tobacco": "no"}),
        ("I avoid gluten.", {"gluten": "no"}),
        ("I gave up meat.", {"meat": "no"}),
        ("Tobias eats cheese again.", {"tobias dairy": "yes"}),
        ("My aunt quit smoking.", {"self's aunt tobacco": "no"}),
        ("I don't drink.", {"alcohol": "no"}),
        ("I drink beer again.", {"alcohol": "yes"}),
        ("I'm a non-smoker.", {"tobacco": "no"}),
        ("I am no longer a smoker.", {"tobacco": "no"}),
        ("Ich esse jetzt wieder Fisch.", {"fish": "yes"}),
        ("Ich habe aufgehört zu rauchen.", {"tobacco": "no"}),
        ("Je mange de nouveau de la viande.", {"meat": "yes"}),
        ("Je ne bois plus.", {"alcohol": "no"}),
        ("Ahora como pescado.", {"fish": "yes"}),
        ("He dejado de fumar.", {"tobacco": "no"}),
    ],
)
def test_a_class_is_taken_or_left(text: str, expected: dict[str, str]) -> None:
    assert taken(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I had a burger yesterday.",
        "I ate fish last night.",
        "I want to eat meat again.",
        "If I ate meat, I would feel ill.",
        "Should I eat fish?",
        "I eat meat substitutes.",
        "I eat vegan cheese.",
        "I rarely eat meat.",
        "I don't eat beef.",
        "I gave up beer.",
        "I drink coffee.",
        "I cook meat for my dogs.",
        "I went back to work.",
    ],
)
def test_what_is_no_such_habit_says_nothing(text: str) -> None:
    assert taken(text) == {}


def test_what_the_same_turn_excepts_does_not_end_its_diet() -> None:
    found = taken("I'm a vegetarian. I do eat fish though.")
    assert found == {"meat": "no", "seafood": "no", "fish": "yes"}


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I'm vegetarian.", "I'm not vegetarian any more."),
        ("I'm vegan.", "I gave up being vegan."),
        ("I'm vegan.", "I quit my vegan diet."),
        ("I'm a vegetarian.", "I eat fish again."),
        ("I'm gluten-free.", "I eat gluten now."),
        ("I don't drink.", "I drink wine again."),
        ("I quit smoking.", "I smoke again."),
        ("I eat chicken.", "I became a vegetarian."),
        ("Ich bin Vegetarierin.", "Ich esse wieder Fleisch."),
        ("Je suis végétarienne.", "J'ai arrêté d'être végétarien."),
        ("Soy vegano.", "Como queso otra vez."),
        ("Ich bin Nichtraucher.", "Ich rauche wieder."),
    ],
)
async def test_the_later_one_ends_the_earlier(tmp_path: Path, first: str, then: str) -> None:
    async with AsyncMemory(make_settings(tmp_path, {"embedder": "none"})) as memory:
        await memory.retain(then, timestamp=datetime(2024, 6, 1, tzinfo=UTC), document="then")
        await memory.retain(first, timestamp=datetime(2024, 1, 1, tzinfo=UTC), document="first")
        told = await memory.recall(first, min_relevance=0)
        [old] = [each for each in told if each.text == first]
        [new] = [each for each in told if each.text == then]
        assert (old.holds, old.superseded_by, new.holds) == (False, (new.id,), True)
        asked = datetime(2024, 3, 1, tzinfo=UTC)
        [before] = await memory.recall(first, min_relevance=0, as_of=asked)
        assert (before.text, before.holds) == (first, True)
