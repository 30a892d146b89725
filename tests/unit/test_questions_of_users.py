"""Questions about the user, and about all that is known of somebody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import remembrancer
from remembrancer.verbs.recalling.users import about_all, as_user

CHAT = """User: I live in Porto with my dog Rex.
Assistant: Lovely!
User: I work at Acme as a nurse.
Assistant: Great.
User: I like climbing and jazz.
Assistant: Nice.
User: Can you help me plan a trip to Japan?
Assistant: Sure, when?"""
NOTES = "The user works at Acme.\n\nThe user likes jazz.\n\nBob likes chess.\n\nThe user has a dog."


@pytest.fixture(scope="module")
def chatting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[remembrancer.Memory]:
    with remembrancer.open(tmp_path_factory.mktemp("chat")) as memory:
        memory.retain(CHAT, bank="chat")
        yield memory


@pytest.mark.parametrize(
    ("question", "own"),
    [
        ("Where does the user work?", "Where do I work?"),
        ("What is the user's dog called?", "What is my dog called?"),
        ("Is the user allergic to nuts?", "am I allergic to nuts?"),
        ("What has the user said of Rome?", "What have I said of Rome?"),
        ("When will the user move?", "When will I move?"),
        ("What do you know about the user?", "What do you know about me?"),
        ("List what the user likes", "List what I likes"),
        ("user's favourite food", "my favourite food"),
        ("user preferences", "my preferences"),
        ("The user is a nurse, isn't she?", "I am a nurse, isn't she?"),
    ],
)
def test_a_question_about_the_user_is_put_as_they_would(question: str, own: str) -> None:
    assert as_user(question) == own


@pytest.mark.parametrize(
    "question",
    [
        "Which framework renders the user interface?",
        "How long is the user ID?",
        "user stories of sprint 3",
        "What do users say of the price?",
        "Where do I work?",
        "Who is a power user?",
    ],
)
def test_other_questions_stay_as_they_are(question: str) -> None:
    assert as_user(question) == question


@pytest.mark.parametrize(
    "question",
    [
        "What do you know about me?",
        "Tell me everything you remember about me",
        "Summarize what I told you so far.",
        "Tell me about myself",
        "Who am I?",
        "What have I told you?",
        "my preferences",
        "What do you remember about me?\nand some context in a line of its own",
    ],
)
def test_a_question_about_all_is_known(question: str) -> None:
    assert about_all(question)


@pytest.mark.parametrize(
    "question",
    [
        "What do you know about my dog?",
        "Tell me about the trip to Rome",
        "Who am I meeting on Friday?",
        "What did I tell you about Rome?",
        "What do you remember about me and Bob in Rome?",
        "Summarize the meeting.",
    ],
)
def test_a_question_with_a_topic_is_about_that(question: str) -> None:
    assert not about_all(question)


def test_chats_and_notes_answer_questions_about_the_user(tmp_path: Path) -> None:
    with remembrancer.open(tmp_path) as memory:
        memory.retain(CHAT, bank="chat")
        memory.retain(NOTES, bank="notes")

        def first(question: str, bank: str) -> str:
            return memory.recall(question, bank=bank)[0].text

        assert first("Where does the user work?", "chat") == "I work at Acme as a nurse."
        assert first("What does the user like?", "chat") == "I like climbing and jazz."
        assert first("Where does the user work?", "notes") == "The user works at Acme."
        assert "I work at Acme" in memory.reflect("Where does the user work?", bank="chat").text
        both = memory.recall("Where does the user work?", banks=["chat", "notes"])
        assert {"I work at Acme as a nurse.", "The user works at Acme."} <= {
            a.text for a in both[:3]
        }


def test_all_that_is_known_comes_before_small_talk(tmp_path: Path) -> None:
    with remembrancer.open(tmp_path) as memory:
        memory.retain(CHAT, bank="chat")
        for question in ("What do you know about me?", "What do you know about the user?"):
            found = [answer.text for answer in memory.recall(question, bank="chat", limit=3)]
            told = ["I work at Acme as a nurse.", "I like climbing and jazz."]
            assert set(found) == {*told, "I live in Porto with my dog Rex."}
            text = memory.reflect(question, bank="chat").text
            assert all(each in text for each in told)
            assert "Great." not in text


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is my job?", "I work at Acme as a nurse."),
        ("Where is the user employed?", "I work at Acme as a nurse."),
        ("Do I have any pets?", "I live in Porto with my dog Rex."),
        ("What are my hobbies?", "I like climbing and jazz."),
        ("Where is my home?", "I live in Porto with my dog Rex."),
    ],
)
def test_what_is_asked_in_other_words_is_found(
    chatting: remembrancer.Memory, question: str, answer: str
) -> None:
    assert chatting.recall(question, bank="chat")[0].text == answer


@pytest.mark.parametrize(
    "question",
    ["What is my phone number?", "Do I have kids?", "Who is my spouse?", "Which car do I drive?"],
)
def test_what_was_never_told_stays_unknown(chatting: remembrancer.Memory, question: str) -> None:
    assert not chatting.recall(question, bank="chat")


def test_a_word_that_the_bank_has_stands_for_itself(tmp_path: Path) -> None:
    with remembrancer.open(tmp_path, embedder="none") as memory:
        memory.retain("Ann: My job is fun.", bank="b")
        memory.retain("Ann: I work out at the gym. Work, work, work.", bank="b")
        assert memory.recall("What is my job?", bank="b")[0].text == "My job is fun."
