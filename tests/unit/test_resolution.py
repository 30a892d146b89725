"""What a name may mean among known ones, and which names are never one."""

from __future__ import annotations

import pytest

from remembrancer.nouns.folding import fold_name
from remembrancer.reading.nicknames import GIVEN, stand_for
from remembrancer.reading.resolution import Known, choose, order, person


def meant(name: str, *known: str, kind: str = "", kinds: str = "") -> str | None:
    """Return which of some known names a name means, all of them looked at."""
    found = [Known(bytes([n]), each, fold_name(each), kinds) for n, each in enumerate(known)]
    folded = fold_name(name)
    one = next((k for k in found if k.folded == folded), None)
    mine = person(folded, kind)
    if one is None and mine is not None:
        one = choose(mine, kind, found)
    return None if one is None else one.name


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("MARTA ruiz", "Marta Ruiz"),
        ("Marta\u00a0 Ruiz ", "Marta Ruiz"),
        ("Márta Ruíz", "Marta Ruiz"),
        ("Marta Ruiz's", "Marta Ruiz"),
        ("Marta Ruiz’s", "Marta Ruiz"),
        ("the Globe Inn", "Globe Inn"),
        ("Ｇｌｏｂｅ Inn", "Globe Inn"),
        ("Łukasz", "Lukasz"),
        ("Weißkopf", "WEISSKOPF"),
        ("Niamh O’Dea", "Niamh O'Dea"),
        ("The Joneses'", "joneses"),
    ],
)
def test_spellings_of_one_name_are_one(name: str, other: str) -> None:
    assert fold_name(name) == fold_name(other)
    assert meant(name, other) == other


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Gate 7", "Gate 8"),
        ("Suite 210", "Suite 211"),
        ("Flight LX318", "Flight LX319"),
        ("2019 budget", "2020 budget"),
        ("node-01", "node-02"),
        ("Zoya", "Zoyaa"),
        ("Oman", "Roman"),
        ("Dr. Keller", "Dr. Kell"),
        ("Jon Baker", "Joe Baker"),
        ("Laura Stone", "Peter Stone"),
        ("Alpine Visa", "Alpine Debit"),
        ("P. Marsh", "B. Marsh"),
        ("A. Marsh", "Alan Marsh"),
        ("A", "B"),
        ("Windows", "Window"),
        ("Ann", "Annika"),
        ("Eva", "Evangeline"),
        ("Mr. Frost", "Mrs. Frost"),
        ("й", "и"),
        ("バラ", "ハラ"),
    ],
)
def test_different_names_are_never_one(name: str, other: str) -> None:
    assert meant(name, other) is None
    assert meant(other, name) is None


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("Bob Marsh", ["Robert Marsh"], "Robert Marsh"),
        ("Robert Marsh", ["Bob Marsh"], "Bob Marsh"),
        ("Liz", ["Elizabeth"], None),  # bare names: neither is known to be a person
        ("Liz", ["Elizabeth Marsh"], "Elizabeth Marsh"),
        ("Pepe", ["José Ruiz"], "José Ruiz"),
        ("Uli Kern", ["Ulrich Kern"], "Ulrich Kern"),
        ("Bob Marsh", ["Robert Kern"], None),
        ("Bob Marsh", ["Rob Marsh"], None),  # both may be Robert; nobody says that they are one
        ("Bob", ["Robert Marsh", "Bob Kern"], None),
        ("Alex Kern", ["Alexander Kern", "Alexandra Kern"], None),
        ("Alex Kern", ["Alexandra Kern"], "Alexandra Kern"),
        ("Maria", ["Maria Lopez"], "Maria Lopez"),
        ("Maria", ["Maria de la Cruz"], "Maria de la Cruz"),
        ("Maria", ["Maria Lopez", "Maria Garcia"], None),
        ("Maria", ["Maria", "Maria Lopez"], "Maria"),
        ("Maria", ["Mariana Lopez"], None),
        ("Lopez", ["Maria Lopez"], None),
        ("Maria L.", ["Maria Lopez"], None),
        ("Maria", ["Maria Lopez Street"], None),
        ("Maria", ["Maria 2"], None),
        ("Maria", ["Maria of Castile"], None),
        ("Delta", ["Delta Dawn"], None),  # no given name
        ("Berlin", ["Berlin Wall"], None),
        ("Room", ["Room 101"], None),
        ("Dr.", ["Dr. Keller"], None),
    ],
)
def test_people_by_nickname_and_first_name(
    name: str, known: list[str], expected: str | None
) -> None:
    assert meant(name, *known) == expected
    assert meant(name, *reversed(known)) == expected


def test_kinds_allow_and_forbid() -> None:
    assert meant("Maria", "Maria Lopez", kind="PERSON") == "Maria Lopez"
    assert meant("Maria", "Maria Lopez", kind="organization") is None
    assert meant("Maria", "Maria Lopez", kinds="organization") is None
    assert meant("Bob Marsh", "Robert Marsh", kinds="PRODUCT") is None
    assert meant("Liz", "Elizabeth", kind="person") == "Elizabeth"
    assert meant("Elizabeth", "Liz", kinds="PERSON") == "Liz"
    assert meant("Tunde", "Tunde Okafor") is None
    assert meant("Tunde", "Tunde Okafor", kinds="person") == "Tunde Okafor"


def test_one_entity_under_two_names_is_one() -> None:
    name = person("maria")
    known = [Known(b"1", "Maria Lopez", "maria lopez"), Known(b"1", "Maria Lopez", "maria l.")]
    assert name is not None
    assert choose(name, "", known) == known[1]


def test_names_are_decided_in_an_order_of_their_own() -> None:
    names = dict.fromkeys(["bob", "maria", "robert", "bob marsh", "robert marsh"], "")
    expected = ["robert marsh", "bob marsh", "maria", "robert", "bob"]
    assert order(names) == expected
    assert order(dict.fromkeys(reversed(names), "")) == expected


def test_the_table_of_nicknames() -> None:
    assert {"bob", "rob", "bobby"} <= stand_for("robert")
    assert stand_for("bob") == {"robert"}
    assert {"anna", "maria", "moritz"} <= GIVEN
    assert GIVEN.isdisjoint({"paris", "victoria", "chase", "april"})
    assert all(name == fold_name(name) for name in GIVEN)
    assert all(name in stand_for(other) for name in GIVEN for other in stand_for(name))


@pytest.mark.parametrize("name", ["", " ", "the", "'s", "s'", "’s", "The The", "ʼ"])
def test_a_fold_is_empty_for_a_blank_name_only(name: str) -> None:
    assert bool(fold_name(name)) == bool(name.strip())
