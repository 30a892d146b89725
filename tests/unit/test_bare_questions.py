"""Texts that only ask, what they take for granted, and where recall puts them."""

from __future__ import annotations

from pathlib import Path

import pytest

from remembrancer import AsyncMemory
from remembrancer.faces.library.memory import make_settings
from remembrancer.reading.bare_questions import asks_for_questions, taken_for_granted

ASKED = "Who is Wilhelmina?"


@pytest.mark.parametrize(
    ("text", "granted"),
    [
        (ASKED, set()),
        ("who is wilhelmina", set()),
        ("Wilhelmina?", set()),
        ("Do you remember anything about Wilhelmina?", set()),
        ("Hey Bo, where do you go?", set()),
        ("Wow! That's great. What do you cook?", set()),
        ("What did you say about Wilhelmina?", {"wilhelmina"}),
        ("How did you get into rock climbing?", {"get", "rock", "climbing"}),
        ("What got you into rowing?", {"got", "rowing"}),
        ("Can you tell me where I live?", set()),
        ("Any plans for the weekend?", set()),
        ("Where did I put my gloves?", {"glove"}),
        ("How was your walk to Keswick?", {"walk", "keswick"}),
        ("What was the name of the inn I slept in?", {"slept"}),
        ("When does the 9:15 ferry leave?", {"9", "15"}),
        ("Wer ist Wilhelmina?", set()),
        ("Weißt du, wer Wilhelmina ist?", set()),
        ("Wo ist mein Schlüssel?", {"schlüssel"}),
        ("Où est-ce que j'habite ?", set()),
        ("¿Quién es Wilhelmina?", set()),
        ("Chi è Wilhelmina?", set()),
        ("海蒂是谁？", set()),
        ("ハイディは誰ですか？", set()),
        ("Кто такая Хайди?", set()),
    ],
)
def test_what_only_asks(text: str, granted: set[str]) -> None:
    assert taken_for_granted(text) == frozenset(granted)


@pytest.mark.parametrize(
    "text",
    [
        "Wilhelmina is my aunt.",
        "Did you know I got the job?",
        "Did you hear that Wilhelmina moved to Hull?",
        "Did you hear Wilhelmina moved to Hull?",
        "I moved to Hull, can you help me find a flat?",
        "Congrats on the new boat! Where is it?",
        "Do you remember when I sailed to Hull?",
        "You live in Hull, right?",
        "When I was small, where did we live?",
        "What is important to me is quiet",
        "Can you draft a letter to the harbour office?",
        "What a day!",
        "Thanks!",
        "Wusstest du, dass ich umgezogen bin?",
        "¿Sabías que me mudé a Lima?",
        "Est-ce que tu sais que j'ai déménagé ?",
        "我搬到了北京，你知道吗？",
        "Where is it? " * 40,
    ],
)
def test_what_says_something(text: str) -> None:
    assert taken_for_granted(text) is None


@pytest.mark.parametrize(
    "query",
    [
        "What did I ask about Wilhelmina?",
        "Which questions did I have?",
        "Was habe ich gefragt?",
        "Qu'est-ce que j'ai demandé ?",
    ],
)
def test_a_query_about_what_was_asked(query: str) -> None:
    assert asks_for_questions(query)
    assert not asks_for_questions(ASKED)


async def recalled(memory: AsyncMemory, query: str, least: float | None = None) -> list[str]:
    return [each.text for each in await memory.recall(query, min_relevance=least)]


async def test_a_question_is_no_answer_to_a_question(tmp_path: Path) -> None:
    async with AsyncMemory(make_settings(tmp_path, {"embedder": "bge-small"})) as memory:
        await memory.retain(ASKED, document="asked")
        answers = await memory.recall(ASKED)
        assert list(answers) == []
        assert answers.cut_off == "nothing known: 1 candidate only asks"
        assert await recalled(memory, ASKED, 0) == [ASKED]
        assert await recalled(memory, "What did I ask about Wilhelmina?") == [ASKED]
        told = "Wilhelmina keeps bees near Hull."
        await memory.retain(told, document="told")
        assert await recalled(memory, ASKED) == [told]
        assert await recalled(memory, ASKED, 0) == [told, ASKED]
        assert (await memory.recall(ASKED)).cut_off == "1 candidate only asks"
        across = await memory.recall(ASKED, banks=["default"], min_relevance=0)
        assert [each.text for each in across] == [told, ASKED]


async def test_what_a_question_takes_for_granted_is_told_until_it_is_asked(tmp_path: Path) -> None:
    walk = "How was your walk to Keswick?"
    async with AsyncMemory(make_settings(tmp_path, {"embedder": "none"})) as memory:
        await memory.retain(walk)
        await memory.retain("I like to walk.", document="other")
        assert (await recalled(memory, "Who went to Keswick?", 0))[0] == walk
        assert (await recalled(memory, "A walk to Keswick?", 0))[-1] == walk
