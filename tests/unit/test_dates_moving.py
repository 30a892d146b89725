"""Dates that something is moved to or booked for, on sentences of our own.

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
        "The party was moved to Friday.",
        "They moved my interview with the bank to Friday.",
        "Move the call to Friday.",
        "The deadline was extended to Friday.",
        "She extended her stay until Friday.",
        "The game has been postponed until Friday.",
        "They put the meeting off till Friday.",
        "The trial got pushed back to Friday.",
        "They pushed it out until Friday.",
        "Our dinner was rescheduled for Friday.",
        "The show was changed to Friday night.",
        "My slot got bumped to Friday.",
        "They shifted the release to Friday, May 12.",
        "I booked a table for Friday.",
        "We've planned a picnic for Friday.",
        "The talk has been scheduled for Friday.",
    ],
)
def test_what_is_moved_or_booked_is_ahead(text: str) -> None:
    assert _dates(text) == [FRIDAY]


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Berlin on Friday.",
        "I moved house on Friday.",
        "We moved boxes until Friday.",
        "They pushed hard until Friday.",
        "We stayed until Friday.",
        "He worked on it till Friday.",
        "They postponed the trip on Friday.",
        "They delayed the flight on Friday.",
        "The meeting was moved, and he left on Friday.",
        "We had moved the party to Friday.",
        "The party had been moved to Friday.",
        "I booked a table on Friday.",
        "The room was booked for Friday.",
        "They waved to Friday.",
    ],
)
def test_what_happened_on_a_date_is_behind(text: str) -> None:
    assert _dates(text) == [LAST_FRIDAY]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("The launch was delayed till June.", ["2023-06-01"]),
        ("Our wedding was moved to June.", ["2023-06-01"]),
        ("The exam was moved to the 20th.", ["2023-05-20"]),
        ("The exam was moved to the 3rd of June.", ["2023-06-03"]),
        ("The vote was put off to early June.", ["2023-06-01"]),
        ("The hike was moved to the weekend.", ["2023-05-13"]),
        ("The call was moved from Thursday to Friday.", ["2023-05-11"]),
        ("The fair was moved from June 3 to June 10.", ["2023-06-03"]),
        ("The strike extended from April to June.", ["2023-04-01"]),
        ("The file was moved to the 20th folder.", []),
        ("We moved to the 3rd floor.", []),
        ("She talked to June.", []),
    ],
)
def test_other_dates_that_something_is_moved_to(text: str, days: list[str]) -> None:
    assert _dates(text) == days


def test_what_was_moved_can_have_been_moved_on_a_date() -> None:
    assert _dates("On Monday they moved the party to Friday.") == ["2023-05-08", FRIDAY]
