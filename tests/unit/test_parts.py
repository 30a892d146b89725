"""What the claims of one fact say apart from each other."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from remembrancer.keeping.parts import hull, parts, together
from remembrancer.nouns.memory import Claim, Role, Stance
from remembrancer.reading.dates import find_dates
from remembrancer.reading.facts import read_statements

NOW = datetime(2024, 6, 12, tzinfo=UTC)


def said(text: str) -> list[list[str]]:
    """Return the attributes that the first fact of a text tells, by what ends together."""
    found = read_statements(
        text, speaker=None, role=Role.USER, known=(), dates=lambda t: find_dates(t, NOW)
    )
    told = next(statement.claims for statement in found if statement.claims)
    claims = [Claim(f"{c.subject}\n{c.slot}", c.value, c.stance, 0) for c in told]
    return [[told[at].slot for at in part] for part in parts(claims)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Rome.", [["home"]]),
        ("I live in Rome and work at Google.", [["home"], ["employer"]]),
        ("Ich wohne in Rom und arbeite bei Siemens.", [["home"], ["employer"]]),
        ("My sister Mia lives in Rome and has a cat.", [["home"], ["pet"]]),
        ("I'm allergic to nuts and shellfish.", [["allergy"], ["allergy"]]),
        ("I use Vim and Git.", [["uses", "thing:vim"], ["uses", "thing:git"]]),
        ("I love tea and hate coffee.", [["likes:tea"], ["likes:coffee"]]),
        ("Alex is my manager and lives in Rome.", [["manager"], ["home"]]),
        ("I drink coffee and live in Rome.", [["does:drink", "thing:coffee"], ["home"]]),
    ],
)
def test_what_is_said_of_several_attributes_ends_apart(
    text: str, expected: list[list[str]]
) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My editor is Helix.", [["editor", "thing:helix"]]),
        ("I use Helix as my editor.", [["uses", "thing:helix", "editor"]]),
        ("I'm married to Ann.", [["partner", "relationship"]]),
        ("I left Google.", [["home", "employer"]]),
        ("I eat meat.", [["does:eat", "takes:meat", "thing:meat"]]),
        ("I gave up meat.", [["thing:meat", "takes:meat"]]),
        ("I quit smoking.", [["does:smoke", "takes:tobacco"]]),
        ("I gave up my vegan diet.", [["diet", "follows:vegan"]]),
        ("I'm lactose-free.", [["diet", "follows:dairy-free", "takes:dairy"]]),
    ],
)
def test_what_says_one_thing_ends_together(text: str, expected: list[list[str]]) -> None:
    found = said(text)
    assert [sorted(part) for part in found] == [sorted(part) for part in expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm vegetarian and live in Rome.", ["diet", "home"]),
        ("I live in Rome and eat meat.", ["home", "does:eat"]),
        ("I moved to Rome and gave up meat.", ["home", "takes:meat"]),
        ("I drive a Golf and live in Rome.", ["car", "home"]),
        ("I eat beef and drink wine.", ["does:eat", "does:drink"]),
    ],
)
def test_a_diet_or_a_thing_belongs_to_what_tells_of_it(text: str, expected: list[str]) -> None:
    assert [part[0] for part in said(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I switched from Vim to Helix.", [["uses", "thing:helix"]]),
        ("I stopped using Vim and moved to Rome.", [["home"]]),
        ("I left Google and joined SAP.", [["employer"]]),
        ("I used to live in Rome but now live in Berlin.", [["home"]]),
        ("I used to live in Rome.", []),
    ],
)
def test_a_denial_counts_where_nothing_is_said_to_hold(
    text: str, expected: list[list[str]]
) -> None:
    assert said(text) == expected


def test_the_same_attribute_of_others_is_another_part() -> None:
    claims = [Claim(f"{who}\nhome", "rome", Stance.HOLDS, 0) for who in ("self", "ann")]
    assert parts(claims) == [[0], [1]]


def test_a_part_holds_while_all_of_it_does_and_a_fact_while_any_part_does() -> None:
    assert together([(1, 5), (2, None), (None, 4)]) == (2, 4)
    assert hull([(1, 5), (2, 9)]) == (1, 9)
    assert hull([(1, 5), (2, None)]) == (1, None)
    assert hull([]) == together([]) == (None, None)
