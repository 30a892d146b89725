"""Weekdays of what the present tense tells, on sentences of our own.

The reference is Wednesday, 10 May 2023, 15:30 UTC.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from remembrancer.nouns.clock import from_us
from remembrancer.reading.dates import find_dates

NOW = datetime(2023, 5, 10, 15, 30, tzinfo=UTC)
LAST_FRIDAY, FRIDAY = "2023-05-05", "2023-05-12"


def _dates(text: str) -> list[str]:
    return [from_us(found.start).strftime("%Y-%m-%d") for found in find_dates(text, NOW)]


@pytest.mark.parametrize(
    "text",
    [
        "The concert is on Friday.",
        "The talks are on Friday.",
        "The concert isn't on Friday.",
        "Dinner is at 7 on Friday.",
        "She said the concert is on Friday.",
        "The concert is on Friday, as I was told.",
        "Are you free on Friday?",
        "Is Ann busy on Friday?",
        "I'm off on Friday.",
        "We're not home on Friday.",
        "The shop is closed on Friday.",
        "My flight leaves on Friday.",
        "Our train departs from Oslo on Friday.",
        "School starts at 8:15 on Friday.",
        "We leave on Friday.",
        "I have an exam on Friday.",
        "She has a job interview on Friday.",
        "I have no class on Friday.",
        "We have a call with the bank on Friday.",
        "Do you have time on Friday?",
        "See you on Friday.",
        "It's on Friday.",
        "He's away on Friday.",
    ],
)
def test_what_stands_in_a_calendar_is_ahead(text: str) -> None:
    assert _dates(text)[-1] == FRIDAY


@pytest.mark.parametrize(
    "text",
    [
        "The concert was on Friday.",
        "Were you free on Friday?",
        "The shop was closed on Friday.",
        "My flight left on Friday.",
        "The leaves on Friday were red.",
        "We had to leave on Friday.",
        "Did they leave on Friday?",
        "I had an exam on Friday.",
        "Did you have a good time on Friday?",
        "I have seen him on Friday.",
        "I have a photo of the game on Friday.",
        "I am sorry about the mess on Friday.",
        "Here are the notes from Friday.",
        "It is the photo that Ann took on Friday.",
        "We ate at Ann's on Friday.",
        "They were at my mum's home on Friday.",
        "Dinner with Ana on Friday",
    ],
)
def test_what_only_stands_with_the_present_is_behind(text: str) -> None:
    assert _dates(text) == [LAST_FRIDAY]


def test_a_day_of_the_year_stays_the_nearest() -> None:
    assert _dates("The concert is on 7 May.") == ["2023-05-07"]
