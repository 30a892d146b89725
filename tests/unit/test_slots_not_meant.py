"""What looks like a value of somebody and is none: food, clubs, what is left behind, aims."""

from __future__ import annotations

import pytest
from test_slots import claims


@pytest.mark.parametrize(
    "text",
    [
        "I had chicken for lunch.",
        "I got a chicken sandwich.",
        "I bought a chicken at the store.",
        "I had fish yesterday.",
        "I bought a mouse from Logitech.",
        "I got a new mouse and keyboard.",
        "I have a mouse problem in the kitchen.",
    ],
)
def test_what_is_eaten_or_plugged_in_is_no_pet(text: str) -> None:
    assert not [claim for claim in claims(text) if ": pet = " in claim]


@pytest.mark.parametrize(
    ("text", "pet"),
    [
        ("I have a pet mouse.", "mouse"),
        ("I have a chicken.", "chicken"),
        ("I adopted a rabbit from the shelter.", "rabbit"),
        ("I got a dog named Rex.", "dog rex"),
        ("I have a dog who barks.", "dog"),
    ],
)
def test_a_pet_is_kept(text: str, pet: str) -> None:
    assert claims(text) == [f"self: pet = {pet}"]


@pytest.mark.parametrize(
    "text",
    [
        "I joined a gym.",
        "I joined the Chess Club.",
        "I joined the Discord server.",
        "I joined a Zoom call.",
        "I joined Tom for lunch.",
        "I started with chapter 3.",
        "I left for Paris.",
        "I left at 5.",
        "I left early.",
        "I left the party early.",
        "I left my keys at home.",
        "My wife and I just left for our European vacation!",
    ],
)
def test_who_joins_or_leaves_something_keeps_job_and_home(text: str) -> None:
    assert claims(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I joined Google.", ["self: employer = google"]),
        ("I started at Google.", ["self: employer = google"]),
        ("I left Google.", ["not self: home = google", "not self: employer = google"]),
        ("i left google", ["not self: home = google", "not self: employer = google"]),
        ("I left the company.", ["not self: employer = "]),
        ("I left my job at Acme.", ["not self: employer = acme"]),
    ],
)
def test_who_joins_or_leaves_a_firm_does_not(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I took two days off to prevent burnout and maintain focus.", []),
        ("I'm trying to set up Flask and use the debugger.", []),
        ("I used to live in Bonn and work at Acme.", ["once self: home = bonn"]),
        ("I'm trying to eat less sugar and avoid stress.", []),
        ("I rely on it for my lifestyle and road trips.", ["self: does:rely = "]),
        ("I go to work and drink coffee.", ["self: does:drink = coffee"]),
    ],
)
def test_what_is_aimed_at_is_not_done(text: str, expected: list[str]) -> None:
    assert claims(text) == expected
