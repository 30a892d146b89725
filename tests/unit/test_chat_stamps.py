"""Chats whose lines carry a time: who said what, and what nobody said."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from remembrancer import AsyncMemory
from remembrancer.faces.library.memory import make_settings
from remembrancer.nouns.clock import from_us
from remembrancer.nouns.memory import Role
from remembrancer.reading.turns import split_turns

FORMS = [
    "[13/05/2024, 09:0{}:11] {}",
    "13/05/2024, 09:0{} - {}",
    "5/13/24, 9:0{} AM - {}",
    "2024-05-13 09:0{} {}",
    "> [13.05.24, 09:0{}:11] {}",
]


def chat(lines: list[str], form: str = FORMS[0]) -> str:
    return "\n".join(form.format(number, line) for number, line in enumerate(lines))


def said(content: str) -> list[tuple[str, str]]:
    """Return who said what; what the program tells is of "system"."""
    return [(turn.speaker or turn.role.name.lower(), turn.text) for turn in split_turns(content)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("sender", "name"),
    [
        ("Carl", "Carl"),
        ("~ Carl", "Carl"),
        ("~\u202fCarl Berg", "Carl Berg"),
        ("~Carl", "Carl"),
        ("@carl", "carl"),
        ("@carl.berg_7", "carl.berg_7"),
        ("+49 170 1234567", "+49 170 1234567"),
        ("+1 (555) 123-4567", "+1 (555) 123-4567"),
        ("\u202a+49 170 1234567\u202c", "+49 170 1234567"),
        ("\u200eCarl", "Carl"),
        ("Carl (work)", "Carl (work)"),
        ("Team Lead 2", "Team Lead 2"),
        ("\N{CHERRY BLOSSOM} Rose", "\N{CHERRY BLOSSOM} Rose"),
    ],
)
def test_a_sender_speaks_however_written(form: str, sender: str, name: str) -> None:
    lines = ["Ann: hi", "Bob: I live in Bonn", f"{sender}: I moved to Rome", "Ann: ok"]
    assert said(chat(lines, form)) == [
        ("Ann", "hi"),
        ("Bob", "I live in Bonn"),
        (name, "I moved to Rome"),
        ("Ann", "ok"),
    ]


@pytest.mark.parametrize("mark", ["\u200e", "\u200f", "\u202a"])
def test_a_direction_mark_before_a_stamp_is_passed_over(mark: str) -> None:
    lines = chat(["Ann: I live in Bonn", "Bob: hello", "Bob: I moved to Rome"]).split("\n")
    content = f"{lines[0]}\n{mark}{lines[1]}\n{mark}{lines[2]}"
    assert said(content) == [
        ("Ann", "I live in Bonn"),
        ("Bob", "hello"),
        ("Bob", "I moved to Rome"),
    ]
    first = split_turns(mark + content)[0]
    assert first.at is not None
    assert from_us(first.at) == datetime(2024, 5, 13, 9, 0, 11, tzinfo=UTC)


@pytest.mark.parametrize("form", FORMS[:4])
@pytest.mark.parametrize(
    "line",
    [
        "Messages and calls are end-to-end encrypted. Tap to learn more.",
        "Bob added Carl",
        "Bob added +49 170 1234567",
        "+49 170 1234567 left",
        "~ Carl joined using this group's invite link",
        'Bob changed the subject from "A" to "B: C"',
        "Error: disk full",
    ],
)
def test_what_the_program_tells_nobody_says(form: str, line: str) -> None:
    told = said(chat([line, "Ann: hi", "Bob: I live in Bonn", line, "Ann: ok", line], form))
    assert told == [
        ("system", line),
        ("Ann", "hi"),
        ("Bob", "I live in Bonn"),
        ("system", line),
        ("Ann", "ok"),
        ("system", line),
    ]


@pytest.mark.parametrize(
    "more",
    [
        "and I like it",
        "@carl: see you there",
        "~ Carl: told me so",
        "+49 170 1234567: my number",
        "Reminder: water the plants",
        "13/05/2024: the day I came",
        "09:30 - 10:30: gym",
        "2024-05-13 09:07 a log in another form",
        "\u200ean aside",
    ],
)
def test_a_line_without_a_stamp_of_the_chat_goes_on_with_the_turn(more: str) -> None:
    content = chat(["Ann: hi", f"Bob: I live in Bonn\n{more}", "Ann: ok"])
    assert said(content)[1] == ("Bob", f"I live in Bonn\n{more}")


@pytest.mark.parametrize(
    "content",
    [
        "@carl: one thing\n@dora: another\n@carl: a third",
        "+49 170 1234567: Ann\n+49 170 7654321: Bob\n+49 170 1234567: Ann again",
        "2024-05-13 09:02 the server started\n2024-05-13 09:03 the server stopped",
        "2024-05-13 09:02 ERROR: disk full\n2024-05-13 09:03 INFO: disk free",
        "2024-05-13 09:02 12345: took a job\n2024-05-13 09:03 12345: done",
    ],
)
def test_a_list_or_a_log_is_no_chat(content: str) -> None:
    assert {who for who, _ in said(content)} == {"none"}


def test_one_line_of_a_chat_is_of_its_sender() -> None:
    [turn] = split_turns(chat(["+49 170 1234567: I moved to Ghent."]))
    assert (turn.speaker, turn.role) == ("+49 170 1234567", Role.NONE)


@pytest.mark.parametrize("sender", ["~ Carl", "+49 170 1234567", "@carl", "\u200eCarl"])
async def test_what_an_unsaved_sender_says_is_not_the_speaker_s_before(
    tmp_path: Path, sender: str
) -> None:
    lines = ["Ann: hi", "Bob: I live in Bonn.", f"{sender}: I moved to Rome.", "Ann: ok"]
    async with AsyncMemory(make_settings(tmp_path, {"embedder": "none"})) as memory:
        await memory.retain(chat(lines))
        told = await memory.history("Where does Bob live: Bonn?")
        assert [(held.subject, held.value, held.holds) for held in told] == [("bob", "bonn", True)]
