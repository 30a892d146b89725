"""Passives with "got", states that stand alone, and what others say in other languages."""

from __future__ import annotations

import pytest
from test_slots import claims


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The retro got moved to Thursday.", ["retro: when = thursday"]),
        ("The meeting just got pushed to Friday.", ["meeting: when = friday"]),
        ("The retro got cancelled.", ["not retro: when = "]),
        ("The retro got called off.", ["not retro: when = "]),
        ("The trip to Rome got cancelled.", ["not trip to rome: when = "]),
        ("My rent got raised to 950 euros.", ["self: rent = 950 euro"]),
        ("The price got lowered to 20 euros.", ["self: price = 20 euro"]),
        ("My sister got hired by Google.", ["self's sister: employer = google"]),
        ("I got fired.", ["not self: employer = "]),
        ("The package got delivered on Friday.", []),
        ("The shop got new chairs.", []),
        ("The retro got boring.", []),
    ],
)
def test_got_makes_a_passive(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("I'm single now.", ["not self: partner = ", "self: relationship = single"]),
        ("I'm single and happy.", ["not self: partner = ", "self: relationship = single"]),
        ("I'm divorced now.", ["not self: partner = ", "self: relationship = divorced"]),
        ("I'm not single anymore.", ["not self: relationship = single"]),
        ("I'm engaged now.", ["self: relationship = engaged"]),
        ("I'm unemployed now.", ["not self: employer = "]),
        ("I'm unemployed at the moment.", ["not self: employer = "]),
        ("I'm retired now.", ["not self: employer = "]),
        ("I'm retired from Google.", ["not self: employer = google"]),
        ("We broke up yesterday.", ["not self: partner = ", "self: relationship = single"]),
        ("I am married with two kids.", ["self: relationship = married"]),
        (
            "I'm married to Tom with two kids.",
            ["self: partner = tom", "self: relationship = married"],
        ),
        ("I'm a single parent.", []),
        ("We broke up the band.", []),
        ("I'm engaged in research.", []),
    ],
)
def test_a_state_may_stand_alone_or_with_adverbs(text: str, slots: list[str]) -> None:
    assert claims(text) == slots


@pytest.mark.parametrize(
    "text",
    [
        'Tom sagte: "Ich wohne in Köln."',
        "Tom sagte: „Ja, ich wohne in Köln.“",
        "Er schrieb mir: »Ich wohne in Köln.«",
        "„Ich wohne in Köln“, sagte Tom.",
        "Stell dir vor, ich wohne in Köln.",
        "Angenommen, ich wohne in Köln.",
        "Wenn ich koche, esse ich vegan.",
        "Tom dijo: «Vivo en Madrid.»",
        "Imagínate, vivo en Madrid.",
        "Si vivo en Madrid, trabajo en Acme.",
        "Tom m'a écrit : « J'habite à Lyon. »",
        "Imagine, j'habite à Lyon.",
        "Si j'habite à Lyon, je travaille chez Acme.",
    ],
)
def test_what_others_say_or_is_supposed_is_not_the_speaker_s(text: str) -> None:
    assert claims(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ja, ich wohne jetzt in Köln.", ["self: home = koln"]),
        ("Sí, vivo en Madrid.", ["self: home = madrid"]),
        ("Oui, j'habite à Lyon.", ["self: home = lyon"]),
        ('Mein Lieblingsbuch heißt "Der Zauberberg".', ["self: favorite buch = zauberberg"]),
        ("Mon film préféré est « La Haine ».", ["self: favorite film = haine"]),
    ],
)
def test_titles_in_quotation_marks_are_values(text: str, expected: list[str]) -> None:
    assert claims(text) == expected
