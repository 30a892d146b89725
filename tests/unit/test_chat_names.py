"""Names beside roles, and short exchanges: who says what in a chat as text."""

from __future__ import annotations

import pytest

from remembrancer.nouns.memory import Role
from remembrancer.reading.format_chat import chat_turns


def said(content: str) -> list[tuple[str, str]] | None:
    turns = chat_turns(content, Role.USER)
    return None if turns is None else [(t.speaker or t.role.name, t.text) for t in turns]


def test_a_name_that_talks_with_a_role_says_its_own_words() -> None:
    chat = "Ann: My dentist is Dr. Otto.\nAssistant: Noted.\nAnn: I moved.\nAssistant: Lovely."
    assert said(chat) == [
        ("Ann", "My dentist is Dr. Otto."),
        ("ASSISTANT", "Noted."),
        ("Ann", "I moved."),
        ("ASSISTANT", "Lovely."),
    ]
    order = "Customer: It is late.\nAgent: My name is Tom.\nCustomer: Ok.\nAgent: Bye."
    assert said(order) == [
        ("USER", "It is late."),
        ("Agent", "My name is Tom."),
        ("USER", "Ok."),
        ("Agent", "Bye."),
    ]


def test_a_growing_chat_stays_one() -> None:
    lines = ["Ann: I have a cat.", "Assistant: Nice.", "Assistant: Its name?", "Ann: Mio."]
    for count in range(2, 5):
        found = said("\n".join(lines[:count]))
        assert found is not None
        assert found[0] == ("Ann", "I have a cat.")
        assert len(found) == count


@pytest.mark.parametrize(
    "words", ["Pasta: 200 g.\nSauce: a lot.", "Ann: hi there.\nBob: hello.\nAnn: bye now."]
)
def test_labels_in_what_a_role_says_are_its_words(words: str) -> None:
    chat = f"User: Go on.\nAssistant: Sure.\n{words}\nUser: Thanks.\nAssistant: Welcome."
    found = said(chat)
    assert found is not None
    assert [who for who, _ in found] == ["USER", "ASSISTANT"] * 2
    assert found[1] == ("ASSISTANT", f"Sure.\n{words}")


@pytest.mark.parametrize(
    ("chat", "names"),
    [
        ("小明: 我住在北京。\n小红: 我住在上海。", ["小明", "小红"]),
        ("太郎: 東京に住んでいます。\n花子: いいですね。", ["太郎", "花子"]),
        ("Ann: I live in Ghent.\nBob: Great!", ["Ann", "Bob"]),
        ("Ann: Wonderful!\nBob: My boat is ready.", ["Ann", "Bob"]),
    ],
)
def test_a_short_exchange_is_a_chat(chat: str, names: list[str]) -> None:
    found = said(chat)
    assert found is not None
    assert [who for who, _ in found] == names


@pytest.mark.parametrize(
    "text", ["Berlin: great!\nLondon: too big.", "Hair: Brown.\nEyes: Blue and green.", "Ja: ja!"]
)
def test_a_list_of_labels_is_none(text: str) -> None:
    assert said(text) is None
