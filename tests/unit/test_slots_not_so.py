"""What nearly came about, was over by then, or is still to come sets no value."""

from __future__ import annotations

import pytest
from test_slots import claims


@pytest.mark.parametrize(
    "text",
    [
        "I nearly moved to Berlin.",
        "I almost joined Google.",
        "We nearly broke up.",
        "Tom almost became a nurse.",
        "I was almost hired by Google.",
        "I nearly stopped smoking.",
        "I'm almost vegan.",
        "My dog almost died.",
        "The kitchen is nearly finished.",
        "The meeting was almost cancelled.",
        "The meeting was nearly moved to Thursday.",
    ],
)
def test_what_nearly_came_about_did_not(text: str) -> None:
    assert claims(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My rent is almost 900 euros.", ["self: rent = 900 euro"]),
        ("My rent went up to almost 900 euros.", ["self: rent = 900 euro"]),
        ("I'm nearly 40.", ["self: age = 40"]),
        ("The team has nearly twenty engineers.", ["team: n:have:engineer = 20"]),
        ("I almost never eat meat.", ["not self: does:eat = meat"]),
        ("I almost always drive a Tesla.", ["self: car = tesla"]),
        ("I moved to Rome and nearly joined Google.", ["self: home = rome"]),
    ],
)
def test_almost_of_an_amount_or_of_always_is_so(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I had lived in Berlin for years before that.",
        "I'd lived in Berlin for years.",
        "I had worked at Google for ten years by then.",
        "I hadn't worked at Google before that.",
        "I had been vegan for years before that.",
        "I'd been vegan for years.",
        "I had moved to Berlin by then.",
        "I had quit my job.",
        "I had been smoking for years.",
        "We had upgraded to Django 5.",
        "Tom had been my boss for years.",
    ],
)
def test_what_had_been_so_may_be_over(text: str) -> None:
    assert claims(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I had worked at Google from 2010 to 2014.", ["once self: employer = google"]),
        ("I've lived in Berlin since 2010.", ["self: home = berlin"]),
        ("I've been vegan for years.", ["self: diet = vegan"]),
        ("I have moved to Berlin.", ["self: home = berlin"]),
        ("I had a dog named Rex.", ["self: pet = dog rex"]),
        ("My dog had died.", ["not self: pet = dog"]),
    ],
)
def test_what_has_been_so_is_so(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "My rent will be 950 euros from May.",
        "My salary will be 60k from January.",
        "My address will be 12 Elm Street from June.",
        "My office will be in Berlin from May 3.",
        "The price will rise to 20 euros in May.",
        "The rent will go up to 950 euros on 1 May.",
        "The ticket will be 20 euros from May 3.",
        "The shop will be closed on Friday.",
        "The password will be sesame from Monday.",
    ],
)
def test_what_is_to_come_is_no_value_yet(text: str) -> None:
    assert claims(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The meeting will be on Thursday.", ["meeting: when = thursday"]),
        ("The meeting will be on Friday at 5pm.", ["meeting: when = friday at 5pm"]),
        ("The meeting will be at 9 on Friday.", ["meeting: when = 9 on friday"]),
        ("The meeting will be in Room 4 on Friday.", ["meeting: when = friday"]),
        ("The meeting will take place on Friday.", ["meeting: when = friday"]),
        ("The meeting will be held on Friday.", ["meeting: when = friday"]),
        ("The course is taught on Mondays.", ["course: when = mondays"]),
        ("The party is going to be at 8pm.", ["party: when = 8pm"]),
        ("The retro will be moved to Thursday.", ["retro: when = thursday"]),
        ("The train will arrive at 5pm.", ["train: when:arrive = 5pm"]),
        ("The deadline will be on 3 June.", ["self: deadline = 3 june"]),
        ("The deadline is going to be moved to Friday.", ["self: deadline = friday"]),
        ("My bedtime will be 10pm.", ["self: bedtime = 10pm"]),
    ],
)
def test_when_something_will_be_is_known_before(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "If I lived in Rome I would be happy.",
        "If I work at Google I earn 5000 euros.",
        "If it rains, I stay home.",
        "Unless I move, I work at Acme.",
    ],
)
def test_what_is_supposed_is_not_so(text: str) -> None:
    assert claims(text) == []


def test_a_polite_if_supposes_nothing() -> None:
    assert claims("If I remember correctly, I moved to Bonn.") == ["self: home = bonn"]
