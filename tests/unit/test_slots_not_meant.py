"""What looks like a value of somebody and is none: food, clubs, what is left behind, aims."""

from __future__ import annotations

import pytest
from test_slots import claims

from remembrancer.reading.slots import Context


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
        ("I work at the hospital in Bonn.", ["self: employer = hospital"]),
        ("I live in a small flat in Bonn.", ["self: home = bonn"]),
        ("I'm not allergic to anything.", ["not self: allergy = "]),
        ("I sold my Golf and bought a Volvo.", ["not self: car = golf"]),
        ("I sold my guitar.", []),
        ("I love pasta, especially with basil.", ["self: likes:pasta = likes"]),
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The concert is amazing tonight.", []),
        ("The beaches are great for soaking up the sun.", []),
        ("The park is a good spot for a morning workout.", []),
        ("The retro is early on Monday.", ["retro: when = early on monday"]),
        ("The call is half past nine on Monday.", ["call: when = half past 9 on monday"]),
        ("The retro is in two weeks on Tuesday.", ["retro: when = 2 weeks on tuesday"]),
        # an amount with a date beside it
        ("My goal is 12 books by March 1.", ["self: goal = 12 book"]),
        ("I raised my word count to 1500 words by April 9.", ["word count: n:word = 1500"]),
        ("I started surfing five years ago.", ["self: does:surf = "]),
        ("My son turns 6 in May.", ["self's son: n:turn: = 6"]),
        ("The series is one of my favourites.", []),
        ("The rent is due on the 5th.", ["rent: when:due = 5th"]),
        ("The report is due on Friday.", ["report: when = friday"]),
        # how something fares
        ("My rent is paid.", []),
        ("My rent is overdue.", []),
        ("My salary is paid on the 25th.", []),
        ("My phone is dead.", []),
        ("My phone is broken.", []),
        ("My password is hidden in the drawer.", []),
        ("My favorite drink is mixed.", ["self: favorite drink = mixed"]),
        # praise and blame
        ("My phone is tough.", []),
        ("Rowling is such an inspiring writer.", []),
        ("I work as a team with Ann.", ["self: does:work = "]),
    ],
)
def test_only_a_time_tells_when(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


def test_it_is_monday_tells_which_day_it_is() -> None:
    context = Context()
    assert claims("The retro is planned.", context=context) == []
    assert claims("It's Monday.", context=context) == []
    assert claims("It's on Monday.", context=context) == ["retro: when = monday"]
    assert claims("It's Tuesday.", context=context) == ["retro: when = tuesday"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I'm using Flask 2.3.1, Python 3.11, and SQLite 3.39.",
            ["version:flask = 2.3.1", "version:python = 3.11", "version:sqlite = 3.39"],
        ),
        ("I'm using Jinja templates and Bootstrap 5.3.", ["version:bootstrap = 5.3"]),
        ("I use python 3.12.", ["version:python = 3.12"]),
        ("I use tea to relax and sleep.", ["uses = tea"]),
        ("I use voice chat to talk to my team.", ["uses = voice chat"]),
    ],
)
def test_what_is_used_ends_before_something_else(text: str, expected: list[str]) -> None:
    assert claims(text) == [f"self: {one}" for one in expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm a nurse and my wife is a teacher.", ["self: role = nurse"]),
        ("I'm head of marketing and sales.", ["self: role = head of marketing and sales"]),
        ("We've been married for 10 years.", ["self: relationship = married"]),
        ("I moved to near Bonn.", []),
        ("My favourite colour used to be red, now it's blue.", ["once self: favorite color = red"]),
        ("My phone number is 555-1234, call me there.", ["self: phone = 555-1234"]),
        ("My wifi password is hunter2, don't forget it.", ["self: wifi password = hunter2"]),
    ],
)
def test_a_value_ends_where_something_else_is_said(text: str, expected: list[str]) -> None:
    assert claims(text) == expected
