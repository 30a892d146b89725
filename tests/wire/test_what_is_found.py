"""What recall and prime find, what they leave out, and how much they say."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from told_kit import Mind, chat

import remembrancer
from remembrancer.finding.composite import ScoringWeights

CODE = "QV_881_HALT"


def test_a_code_is_found_among_much_that_is_alike(mind: Mind) -> None:
    alike = [f"The deploy of service {n} went fine on node {n * 7}." for n in range(120)]
    mind.retain(*alike, f"The nightly job stopped with {CODE} on node 3.")
    assert CODE in mind.texts(CODE)[0]
    assert CODE in mind.texts(f"why {CODE.lower()}?")[0]


def test_nothing_alike_is_an_empty_answer_that_says_so(mind: Mind) -> None:
    mind.retain("The lamp in the hall is green.", "I feed the geese in the morning.")
    for query in ("zzvvxx", "Which warranty does the dishwasher have?"):
        assert mind.recall(query) == []
        assert mind.ask("POST", "/reflect", {"query": query})["text"].startswith("Nothing is known")


def test_a_question_that_was_asked_before_is_no_answer(mind: Mind) -> None:
    query = "Who is Ottilie?"
    mind.retain(
        chat(("user", query), ("assistant", "I don't know yet."), document_id="first"),
        {"content": "The lamp in the hall is green."},
    )
    assert query not in mind.texts(query, cut_off=True)
    assert mind.texts(query)[-1] == query
    reflected = mind.ask("POST", "/reflect", {"query": query})["text"]
    assert reflected == f"Nothing is known about “{query}”."
    assert query in mind.texts("What did I ask about Ottilie?", cut_off=True)
    told = "Ottilie mends clocks in Bergen."
    mind.retain(told)
    found = mind.texts(query, cut_off=True)
    assert (found[0], query in found) == (told, False)
    found = mind.texts(query)
    assert (found[0], found[-1]) == (told, query)


def test_what_was_said_around_a_result_comes_along(mind: Mind) -> None:
    said = ("We left at six.", "Ottilie drove the red van.", "Nobody spoke.", "It was dark.")
    mind.retain(chat(*(("user", line) for line in said), document_id="van"), "Vans are loud.")
    query = "Who drove the red van?"
    assert "neighbours" not in mind.recall(query)[0]
    [found] = mind.recall(query, neighbours=1, min_relevance=0.9)
    near = found["neighbours"]
    assert [each["text"] for each in near["before"]] == [said[0]]
    assert [each["text"] for each in near["after"]] == [said[2]]
    assert (near["after"][0]["role"], near["after"][0]["turn"]) == ("user", 2)
    mind.forget(ids=[near["after"][0]["id"]])
    [found] = mind.recall(query, neighbours=1, min_relevance=0.9)
    assert found["neighbours"]["after"] == []
    refused = mind.answer("POST", "/memories/recall", {"query": query, "neighbours": 11})
    assert refused.status_code == 422
    assert "neighbours" in refused.text


def test_a_bank_without_memories_answers_with_none(mind: Mind) -> None:
    assert mind.recall("Who am I?") == []
    assert mind.prime("Who am I?", format="text")["text"] == ""
    assert mind.ask("GET", "/memories/list")["items"] == []
    assert mind.ask("GET", "/entities")["items"] == []
    assert mind.ask("POST", "/reflect", {"query": "Who am I?"})["text"].startswith("Nothing")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("昨天我们讨论了货运保险的费用。", "货运保险"),
        ("来週の水曜日に健康診断があります。", "健康診断"),
        ("다음 주에 치과에 갑니다.", "치과에"),
        ("พรุ่งนี้ฉันจะไปตลาดน้ำ", "ตลาดน้ำ"),
    ],
)
def test_words_of_scripts_without_spaces_are_found(mind: Mind, text: str, query: str) -> None:
    mind.retain(text, "今天天气很好。", "猫が好きです。", "날씨가 좋아요.", "ฉันชอบแมว")
    assert mind.texts(query)[0] == text


@pytest.mark.parametrize(
    "bank", ["9c1e-44d0", "a:b-c", 'x "y" (z)*', "room_1%", "-x", "NOT a OR b"]
)
def test_signs_in_names_are_names(mind: Mind, bank: str) -> None:
    mind.bank = quote(bank, safe="")
    mind.retain({"content": "The lamp is green.", "document_id": "a-b (c)", "tags": ["x-1", "a*"]})
    assert mind.texts("lamp", tags=["x-1"]) == ["The lamp is green."]
    assert mind.texts("lamp", tags=["a*"]) == ["The lamp is green."]
    assert mind.texts("lamp", tags=["aa"], tags_match="all_strict") == []
    assert mind.ask("GET", "/documents/a-b%20%28c%29")["id"] == "a-b (c)"
    for query in ('lamp-post "green" OR -lamp', "lamp* NEAR green", "(lamp"):
        assert mind.texts(query) == ["The lamp is green."]


def test_what_is_written_under_a_name_is_read_under_it_and_no_other(mind: Mind) -> None:
    for bank in ("team_a", "teamXa", "team%25"):
        mind.bank = bank
        mind.retain(f"The lamp of {bank} is green.")
    for bank in ("team_a", "teamXa", "team%25"):
        mind.bank = bank
        assert len(mind.memories()) == 1
        assert mind.texts("Which lamp is green?") == [f"The lamp of {bank} is green."]
        mind.bank = unquote(bank)
        assert mind.prime()["count"] == 1
    mind.bank = "team"
    assert mind.recall("Which lamp is green?") == []


def test_however_the_new_is_weighted_what_answers_is_not_lost(tmp_path: Path) -> None:
    with remembrancer.open(tmp_path) as memory:
        memory.retain("My locker code is 4471.", timestamp=datetime(2024, 1, 1, tzinfo=UTC))
        for n in range(40):
            memory.retain(f"I watered plant number {n} today.")
        cue = "What is my locker code?"
        for recency in (0.0, 1.0, 1_000.0):
            weights = ScoringWeights(0.0, recency, 0.0, 0.0)
            primed = memory.prime(cue=cue, max_memories=10, weights=weights)
            assert "My locker code is 4471." in [each.text for each in primed.memories]
            assert len(primed.memories) == 10
        assert memory.recall(cue)[0].text == "My locker code is 4471."
        with pytest.raises(remembrancer.InvalidInput):
            memory.prime(cue=cue, weights=ScoringWeights(0.0, -1.0, 0.0, 0.0))


def test_a_prime_of_many_memories_stays_within_its_budget(mind: Mind) -> None:
    notes = [
        f"Note {n}: lamp number {n} in the hall is green and was cleaned by the harbour crew."
        for n in range(300)
    ]
    mind.retain(*notes)
    whole = mind.prime(format="text")
    assert whole["count"] == 20
    assert len(whole["text"].encode()) < 8_000
    for tokens in (50, 400):
        told = mind.prime("lamp 7", format="text", max_memories=200, max_tokens=tokens)["text"]
        assert 0 < len(told.encode()) <= tokens * 4


def test_what_was_told_is_there_before_anybody_searches(mind: Mind) -> None:
    mind.retain("My hero is Grace Oduya because she built a school.", "I feed geese.")
    told = mind.prime("Whom do I look up to, and for what reason?", format="text")["text"]
    assert "Grace Oduya because she built a school" in told
    assert "Grace Oduya" in mind.prime(format="text")["text"]


def test_a_very_long_question_is_answered(mind: Mind) -> None:
    mind.retain("The boiler was serviced by Hanna in spring.", "I feed geese.")
    filler = " ".join(f"By the way, number {n} is on my list." for n in range(180))
    query = f"{filler} Who serviced the boiler?"
    assert 6_000 < len(query) < 8_000
    assert "Hanna" in mind.texts(query, min_scores={"keyword": 0})[0]
