"""Places, versions and cars: what is a name of one, and what is something else."""

from __future__ import annotations

import pytest
from test_slots import claims


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved to Berlin in 2024.", ["self: home = berlin"]),
        ("We moved to Ghent in 2024 and love it.", ["self: home = ghent"]),
        ("I moved to Rome in 2024 for work.", ["self: home = rome"]),
        ("We moved to Ghent on 3 May.", ["self: home = ghent"]),
        ("We moved to Ghent 2 years ago.", ["self: home = ghent"]),
        ("We moved to Ghent almost 2 years ago.", ["self: home = ghent"]),
        ("We moved to Ghent with 2 kids.", ["self: home = ghent"]),
        ("We moved to room 5.", []),
        ("I moved to Apartment 12.", []),
        ("We upgraded to Django in 5 minutes.", []),
    ],
)
def test_a_date_or_a_number_is_no_version(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We moved to Python 3.12.", ["self: version:python = 3.12"]),
        ("We moved to Debian 12 in 2024.", ["self: version:debian = 12"]),
        ("We upgraded Django to 5.0 in 2023.", ["self: version:django = 5.0"]),
        ("We upgraded to SQL Server 2019 in 2020.", ["self: version:sql server = 2019"]),
        ("We use Office 2019.", ["self: version:office = 2019"]),
        ("We migrated from Postgres 14 to Postgres 16.", ["self: version:postgres = 16"]),
        ("I updated my phone to Android 14.", ["self: version:android = 14"]),
        ("We upgraded the build server to Debian 12.", ["build server: version:debian = 12"]),
        ("The server runs Debian 12 since 2023.", ["server: version:debian = 12"]),
    ],
)
def test_a_number_after_a_name_is_its_version(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved to New York City.", ["self: home = new york city"]),
        ("I live in Mexico City now.", ["self: home = mexico city"]),
        ("I live in Salt Lake City now.", ["self: home = salt lake city"]),
        ("I don't live in Kansas City anymore.", ["not self: home = kansas city"]),
        ("I live in East Village.", ["self: home = east village"]),
        ("I live on Oak Street.", ["self: home = oak street"]),
        ("i live in berlin", ["self: home = berlin"]),
        ("I work at Home Depot.", ["self: employer = home depot"]),
        ("I live in the city.", []),
        ("I live in hope.", []),
        ("I moved to a bigger flat.", []),
        ("I live on a farm.", []),
        ("I live on ramen and coffee.", []),
        ("I live in sweatpants.", []),
        ("I live in poverty.", []),
        ("I moved to Linux.", ["self: uses = linux"]),
        ("Tom moved to Windows.", ["tom: uses = windows"]),
        ("I moved from Emacs to vim.", ["not self: uses = emacs", "self: uses = vim"]),
    ],
)
def test_a_home_is_a_place_with_a_name(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I drive a Tesla.", "tesla"),
        ("i drive a tesla now.", "tesla"),
        ("I drive my old Volvo to work.", "volvo"),
        ("I drive the new Volvo.", "volvo"),
        ("I drive a company car.", "company car"),
        ("I drive Volvos.", "volvos"),
        ("I'm driving a red Mazda now.", "red mazda"),
        ("I drive a Tesla Model 3.", "tesla model 3"),
        ("I drive my dad's old Volvo.", "dad 's old volvo"),
    ],
)
def test_what_is_driven_is_a_car(text: str, expected: str) -> None:
    assert claims(text) == [f"self: car = {expected}"]


@pytest.mark.parametrize(
    "text",
    [
        "I drive to work every day.",
        "I drive my kids to school.",
        "I drive the kids to school.",
        "I drive my wife crazy.",
        "I drive my passengers home.",
        "I drive Tom to school.",
        "I drive Tom home.",
        "I drive home at 6.",
        "I drive my car to work.",
        "I drive an hour to work.",
        "I drive a lot.",
        "I drive too fast.",
        "I drive through Berlin every day.",
        "I'm driving to Berlin.",
        "Tom drives to work.",
    ],
)
def test_ways_and_passengers_are_no_cars(text: str) -> None:
    assert not [claim for claim in claims(text) if ": car" in claim]
