"""Whose attributes the turns of named speakers tell."""

from __future__ import annotations

import pytest
from test_slots import claims

from remembrancer.nouns.memory import Role


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tom is my boss.", ["ann: boss = tom"]),
        ("Mia is our manager.", ["ann: manager = mia"]),
        ("Dana is my dentist.", ["ann: dentist = dana"]),
        ("Tom used to be my boss.", ["once ann: boss = tom"]),
        ("Tom is no longer my boss.", ["not ann: boss = tom"]),
        ("My boss is now Mia.", ["ann: boss = mia"]),
        ("My landlord raised my rent to 950 euros.", ["ann: rent = 950 euro"]),
        ("My sister changed my password to sesame.", ["ann: password = sesame"]),
        ("Tom changed our budget to 900 euros.", ["ann: budget = 900 euro"]),
        ("I raised my budget to 900 euros.", ["ann: budget = 900 euro"]),
        ("My dog Rex died.", ["not ann: pet = dog rex"]),
        ("Our old cat Luna passed away.", ["not ann: pet = cat luna"]),
        ("Rex died.", ["not ann: pet = rex"]),
    ],
)
def test_my_and_our_are_the_named_speaker_s(text: str, expected: list[str]) -> None:
    assert claims(text, Role.NONE, speaker="Ann") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tom is the boss.", ["self: boss = tom"]),
        ("Tom is the owner of the shop.", ["shop: owner = tom"]),
        ("Tom moved the meeting to Thursday.", ["meeting: when = thursday"]),
        ("Tom moved his meeting to Thursday.", ["tom's meeting: when = thursday"]),
        ("Tom's dog died.", ["not tom: pet = dog"]),
        ("My sister's old dog died.", ["not ann's sister: pet = dog"]),
    ],
)
def test_what_is_others_or_all_s_stays_theirs(text: str, expected: list[str]) -> None:
    assert claims(text, Role.NONE, speaker="Ann") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tom is my boss.", ["self: boss = tom"]),
        ("My dog Rex died.", ["not self: pet = dog rex"]),
        ("My landlord raised my rent to 950 euros.", ["self: rent = 950 euro"]),
    ],
)
def test_a_user_stays_without_a_name(text: str, expected: list[str]) -> None:
    assert claims(text) == expected
    assert claims(text, Role.USER, speaker="user") == expected
