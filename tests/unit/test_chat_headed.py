"""Chats as they come from a window: who and when above the words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from remembrancer.nouns.clock import to_us
from remembrancer.reading.turns import split_turns


def said(content: str) -> list[tuple[str | None, str]]:
    turns = split_turns(content)
    for turn in turns:
        assert turn.text in content[turn.start : turn.end]
    return [(turn.speaker, turn.text) for turn in turns]


@pytest.mark.parametrize(
    "content",
    [
        "Ann Lee  9:02 AM\nI moved to Rome.\nBob  9:05 AM\nReally?\n",
        "Ann Lee — Today at 9:02 AM\nI moved to Rome.\nBob — Today at 9:05 AM\nReally?",
        "Ann Lee — 12/05/2023 9:02 AM\nI moved to Rome.\nBob — 12/05/2023 9:05 AM\nReally?",
        "[9:02 AM] Ann Lee\nI moved to Rome.\n\n[9:05 AM] Bob\nReally?",
        "Ann Lee, [12.05.2023 09:02]\nI moved to Rome.\n\nBob, [12.05.2023 09:05]\nReally?",
        "Ann Lee\n  9:02 AM\nI moved to Rome.\nBob\n  9:05 AM\nReally?",
        "Ann Lee\t09:02\nI moved to Rome.\nBob\t09:05\nReally?",
    ],
)
def test_each_has_its_speaker_and_words(content: str) -> None:
    assert said(content) == [("Ann Lee", "I moved to Rome."), ("Bob", "Really?")]


def test_lines_of_a_time_alone_go_on_with_who_spoke_last() -> None:
    chat = "Ann Lee  9:02 AM\nTwo things.\n9:03\nI moved.\nanna.l_7  9:05 AM\nMe too:\nPlan: A\n"
    assert said(chat) == [
        ("Ann Lee", "Two things."),
        ("Ann Lee", "I moved."),
        ("anna.l_7", "Me too:\nPlan: A"),
    ]


def test_one_message_alone_is_of_whom_it_names_when_a_person_speaks() -> None:
    assert said("Ann Lee  9:02 AM\nI moved to Rome.") == [("Ann Lee", "I moved to Rome.")]
    assert said("Central Station  9:02 AM\nPlatform 4") == [
        (None, "Central Station  9:02 AM\nPlatform 4")
    ]


def test_a_full_date_is_the_time_of_a_turn() -> None:
    first, second = split_turns(
        "Ann, [13.05.2023 09:02]\nI am in.\nBob, [13.05.2023 09:03]\nI, too"
    )
    assert first.at == to_us(datetime(2023, 5, 13, 9, 2, tzinfo=UTC))
    assert second.at == to_us(datetime(2023, 5, 13, 9, 3, tzinfo=UTC))
    assert [t.at for t in split_turns("Ann  9:02 AM\nI am here.\nAnn  9:03 AM\nBye")] == [
        None,
        None,
    ]


@pytest.mark.parametrize(
    "content",
    [
        "Opening  9:00\nCoffee and a welcome\nKeynote  10:00\nEngines of the past",
        "Monday  9:00\nGym\nTuesday  10:00\nSwimming",
        "Lunch\n12:30\nThe canteen is open.",
        "Our day:\n\nAnn  9:00\nI wash up\nBob  10:00\nI cook",
        "```\nAnn  9:02 AM\nI moved.\nBob  9:05 AM\nI stay.\n```",
    ],
)
def test_timetables_code_and_what_stands_within_a_text_are_no_chat(content: str) -> None:
    assert {speaker for speaker, _ in said(content)} == {None}
