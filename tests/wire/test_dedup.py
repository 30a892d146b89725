"""What is said again is one memory with more proof, and nothing is lost by it."""

from __future__ import annotations

import json
from typing import Any

from wire_kit import Server


def texts(server: Server, bank: str, query: str, **more: Any) -> list[str]:
    return [r["text"] for r in server.recall(bank, query, **more)]


def test_the_same_text_twice_is_one_answer(server: Server, bank: str) -> None:
    first = server.retain(bank, "I like sailing")
    again = server.retain(bank, "I really like sailing!")
    assert first["document_ids"] != again["document_ids"]
    assert len(texts(server, bank, "sailing")) == 1
    assert server.post("/v1/prime", {"entity_id": bank}).json()["count"] == 1
    cue = {"entity_id": bank, "similarity_cue": "sailing"}
    assert server.post("/v1/prime", cue).json()["count"] == 1


def test_what_differs_in_a_word_that_counts_stays_apart(server: Server, bank: str) -> None:
    said = ["I like sailing", "I don't like sailing", "I liked sailing", "He likes sailing"]
    said += ["I like sailing with 2 dogs", "I like sailing with 3 dogs"]
    for text in said:
        server.retain(bank, text)
    assert sorted(texts(server, bank, "sailing")) == sorted(said)


def test_another_speaker_tag_or_day_stays_apart(server: Server, bank: str) -> None:
    server.retain(
        bank,
        "Ann: I like sailing today\nBob: Me too.",
        "Bob: I like sailing today\nAnn: Me too.",
        {"content": "I like sailing today", "tags": ["private"]},
        {"content": "I like sailing today", "timestamp": "2024-05-03T09:30:00Z"},
        {"content": "I like sailing today", "timestamp": "2024-05-03T20:30:00Z"},
        {"content": "I like sailing today", "timestamp": "2024-05-04T09:30:00Z"},
    )
    found = [t for t in texts(server, bank, "sailing today") if "sailing" in t]
    assert len(found) == 5


def test_forgetting_one_leaves_the_other(server: Server, bank: str) -> None:
    server.retain(bank, {"content": "I like sailing", "document_id": "a"})
    server.retain(bank, {"content": "I like sailing", "document_id": "b"})
    [found] = server.recall(bank, "sailing")
    server.post("/v1/forget", {"entity_id": bank, "ids": [found["id"]]})
    [left] = server.recall(bank, "sailing")
    assert left["id"] != found["id"]
    assert {found["document_id"], left["document_id"]} == {"a", "b"}


def test_repeats_do_not_crowd_out_what_is_new(server: Server, bank: str) -> None:
    items = [{"content": "The nightly backup of the shop has ended", "document_id": "log"}] * 30
    server.retain(bank, *items)
    server.retain(bank, "I keep the backup disk of the shop in Oslo", "The shop is in Bergen")
    found = texts(server, bank, "backup of the shop")
    assert len(found) == len(set(found)) == 3
    primed = server.post("/v1/prime", {"entity_id": bank, "max_memories": 3}).json()
    assert primed["count"] == 3


def test_a_conversation_sent_again_as_another_is_one(server: Server, bank: str) -> None:
    turns = [
        {"role": "user", "content": "My sister Clara bought a boat."},
        {"role": "assistant", "content": "How nice! Which colour has it got?"},
        {"role": "user", "content": "It is painted green and white."},
    ]
    for name in ("one", "two"):
        server.retain(bank, {"content": json.dumps(turns), "document_id": name})
    found = texts(server, bank, "Clara boat green colour")
    assert len(found) == len(set(found)) == 3


def test_it_means_something_else_after_other_words(server: Server, bank: str) -> None:
    for what in ("boat", "fence"):
        turns = [f"Ann: My sister Clara has a {what}.", "Bob: It is painted green and white."]
        server.retain(bank, {"content": "\n".join(turns), "document_id": what})
    found = texts(server, bank, "painted green and white")
    assert found.count("It is painted green and white.") == 2


def test_new_facts_that_were_known_are_counted(server: Server, bank: str) -> None:
    assert server.retain(bank, "I like sailing. I own a boat.")["duplicates_count"] == 0
    again = server.retain(bank, "I like sailing. I own a car.", "I own a car.")
    assert (again["facts_count"], again["duplicates_count"]) == (3, 2)
    whole = server.retain(bank, {"content": "I own a bike.", "document_id": "d"})
    assert whole["duplicates_count"] == 0
