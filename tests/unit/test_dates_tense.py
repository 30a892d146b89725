"""Dates that may lie on either side, by the tense of their sentence, on sentences of our own.

The reference is Wednesday, 10 May 2023, 15:30 UTC.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from remembrancer.nouns.clock import from_us
from remembrancer.reading.dates import find_dates

NOW = datetime(2023, 5, 10, 15, 30, tzinfo=UTC)
LAST_FRIDAY, FRIDAY = "2023-05-05", "2023-05-12"
LAST_JUNE, JUNE = "2022-06-01", "2023-06-01"


def _dates(text: str) -> list[str]:
    return [from_us(found.start).strftime("%Y-%m-%d") for found in find_dates(text, NOW)]


@pytest.mark.parametrize(
    "text",
    [
        "I won't be there on Friday.",
        "We won’t make it on Friday.",
        "I wont be there on Friday",
        "He will not be there on Friday.",
        "She isn't coming on Friday.",
        "They aren't playing on Friday.",
        "He ain't coming on Friday.",
        "She's coming on Friday.",
        "Nobody's coming on Friday.",
        "He's not flying home on Friday.",
        "I'm really not going on Friday.",
        "They're probably leaving on Friday.",
        "I cannot come on Friday.",
        "I cant come on Friday.",
        "We can't come on Friday.",
        "I shan't be there on Friday.",
        "We're gonna eat out on Friday.",
    ],
)
def test_what_is_denied_or_shortened_is_ahead_all_the_same(text: str) -> None:
    assert _dates(text) == [FRIDAY]


@pytest.mark.parametrize(
    "text",
    [
        "I won on Friday.",
        "We won the cup on Friday.",
        "I wasn't coming on Friday.",
        "They weren't playing on Friday.",
        "She couldn't come on Friday.",
        "He's been working on Friday.",
        "It was going to rain on Friday.",
        "Ann's wedding on Friday was lovely.",
        "Ann's painting on Friday was lovely.",
    ],
)
def test_their_past_neighbours_stay_behind(text: str) -> None:
    assert _dates(text) == [LAST_FRIDAY]


@pytest.mark.parametrize(
    "text",
    [
        "Isn't he coming on Friday?",
        "Aren't you coming on Friday?",
        "Is your sister coming on Friday?",
        "What are you and Ann doing on Friday?",
        "Could you call me on Friday?",
        "Would you help me on Friday?",
        "I'd like to go on Friday.",
        "We would love to join on Friday.",
    ],
)
def test_questions_and_wishes_are_ahead(text: str) -> None:
    assert _dates(text) == [FRIDAY]


@pytest.mark.parametrize(
    "text",
    [
        "Wasn't he coming on Friday?",
        "She said she would come on Friday.",
        "I could see the sea on Friday.",
        "Did you go there on Friday?",
    ],
)
def test_questions_and_reports_of_the_past_stay_behind(text: str) -> None:
    assert _dates(text) == [LAST_FRIDAY]


@pytest.mark.parametrize(
    "text",
    [
        "I have to work on Friday.",
        "She has to work on Friday.",
        "I don't have to work on Friday.",
        "We've got to leave on Friday.",
        "I gotta work on Friday.",
        "He needs to see a doctor on Friday.",
        "It has to be finished on Friday.",
        "I'm supposed to be at work on Friday.",
        "They're scheduled to arrive on Friday.",
        "The call is scheduled for Friday.",
        "I'm about to leave on Friday.",
    ],
)
def test_duties_and_plans_are_ahead(text: str) -> None:
    assert _dates(text) == [FRIDAY]


@pytest.mark.parametrize(
    "text",
    [
        "I had to work on Friday.",
        "I didn't have to work on Friday.",
        "Did your sister have to work on Friday?",
        "I got to work late on Friday.",
        "She was supposed to come on Friday.",
        "The call was scheduled for Friday.",
        "I have to say the party on Friday was great.",
        "I have to admit I left early on Friday.",
    ],
)
def test_duties_and_plans_of_the_past_stay_behind(text: str) -> None:
    assert _dates(text) == [LAST_FRIDAY]


@pytest.mark.parametrize(
    "text",
    [
        "The report will be published on Friday.",
        "The meeting will be held on Friday.",
        "The parcel should get delivered on Friday.",
        "The winners are going to be announced on Friday.",
        "The road is being closed on Friday.",
        "We're getting married on Friday.",
        "I will have finished it by Friday.",
        "It won't be done by Friday.",
    ],
)
def test_a_participle_is_no_past_where_another_verb_tells_the_time(text: str) -> None:
    assert _dates(text) == [FRIDAY]


@pytest.mark.parametrize(
    "text",
    [
        "The report was published on Friday.",
        "The meeting was held on Friday.",
        "It was being closed on Friday.",
        "We got married on Friday.",
        "She had gone on Friday.",
        "I should have gone on Friday.",
        "I may have seen him on Friday.",
        "He must have left on Friday.",
    ],
)
def test_a_participle_of_the_past_stays_behind(text: str) -> None:
    assert _dates(text) == [LAST_FRIDAY]


@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("I won't be in the office in June.", JUNE),
        ("They are getting married in June.", JUNE),
        ("I have to be in Rome in June.", JUNE),
        ("The pool isn't opening in June.", JUNE),
        ("I wasn't in the office in June.", LAST_JUNE),
        ("They got married in June.", LAST_JUNE),
        ("I had to be in Rome in June.", LAST_JUNE),
    ],
)
def test_months_follow_the_same_rules(text: str, month: str) -> None:
    assert _dates(text) == [month]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("The 2nd of May was fun.", "2023-05-02"),
        ("My party, the 3rd of May, was great.", "2023-05-03"),
        ("Photos from the 5th of May", "2023-05-05"),
        ("Dinner on 5 May", "2023-05-05"),
        ("Dinner on May 5", "2023-05-05"),
        ("Week 9 (May 2 - May 4)", "2023-05-02"),
        ("DINNER ON 5 MAY", "2023-05-05"),
        ("The 2nd of April was fun.", "2023-04-02"),
        ("We will meet on 5 May", "2024-05-05"),
        ("I saw May on Friday.", LAST_FRIDAY),
        ("I'm seeing May on Friday.", FRIDAY),
        ("May, I met her on Friday.", LAST_FRIDAY),
    ],
)
def test_may_is_the_month_or_a_name(text: str, day: str) -> None:
    assert _dates(text) == [day]


@pytest.mark.parametrize(
    "text",
    [
        "She may come on Friday.",
        "It may not rain on Friday.",
        "May I come on Friday?",
        "Hello, May we come on Friday?",
        "I MAY COME ON FRIDAY",
        "You may on Friday.",
    ],
)
def test_may_is_the_verb(text: str) -> None:
    assert _dates(text) == [FRIDAY]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("The shop is closed until Friday.", FRIDAY),
        ("My car is in the shop until Friday.", FRIDAY),
        ("I'm off till Friday.", FRIDAY),
        ("He is back by Friday.", FRIDAY),
        ("I was in Rome until Friday.", LAST_FRIDAY),
        ("The shop stayed shut until Friday.", LAST_FRIDAY),
        ("I am at the office on Friday.", LAST_FRIDAY),
    ],
)
def test_what_goes_on_until_a_day_ends_ahead(text: str, day: str) -> None:
    assert _dates(text) == [day]


def test_a_month_in_lower_case_is_told_from_its_verb() -> None:
    assert _dates("remind me on 27 may to call") == ["2023-05-27"]
    assert _dates("those on 5 may be late") == []


def test_a_title_ends_no_sentence() -> None:
    assert _dates("I have an appointment with Dr. Lee on Friday.") == [FRIDAY]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("She turns 6 in June.", JUNE),
        ("There were 20 in June.", LAST_JUNE),
        ("He will be back on the 6th in June.", "2023-06-06"),
    ],
)
def test_a_number_before_in_counts_no_days(text: str, day: str) -> None:
    assert _dates(text) == [day]
