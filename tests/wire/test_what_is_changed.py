"""What is corrected, taken out and forgotten, as users meet it over the wire."""

from __future__ import annotations

import pytest
from told_kit import Mind, chat

KEY = "I keep the spare key under the blue pot."


def everywhere(mind: Mind, query: str) -> str:
    """Return all that any reading route says of a bank."""
    told = [
        mind.ask("POST", "/memories/recall", {"query": query, "trace": True}),
        mind.ask("POST", "/reflect", {"query": query}),
        mind.prime(query, format="text"),
        mind.prime(format="text"),
        mind.ask("GET", "/memories/list?state=all"),
        mind.ask("GET", "/documents"),
        mind.ask("GET", "/entities"),
        mind.ask("GET", "/graph"),
        mind.ask("GET", "/tags"),
        mind.ask("GET", f"/v1/memories?entity_id={mind.bank}"),
    ]
    return str(told).replace(query, "")


@pytest.mark.parametrize("way", ["memory", "fact", "document", "bank", "entity"])
def test_what_is_forgotten_is_nowhere(mind: Mind, way: str) -> None:
    mind.retain(
        {"content": "Ottoline hid the brass lantern.", "document_id": "lantern", "tags": ["attic"]}
    )
    mind.retain("The weather was fine.")
    query = "Where is it?"
    assert "Ottoline" in everywhere(mind, query)
    [memory] = [m for m in mind.memories() if "lantern" in m["text"]]
    match way:
        case "memory":
            mind.forget(ids=[memory["id"]])
        case "fact":
            mind.forget(ids=[memory["facts"][0]["id"]])
        case "document":
            mind.ask("DELETE", "/documents/lantern")
        case "bank":
            mind.ask("DELETE", "/memories")
        case "entity":
            mind.forget()
    left = everywhere(mind, query)
    assert not [word for word in ("Ottoline", "lantern", "attic") if word in left]


def test_to_take_out_keeps_it_in_the_history_and_to_forget_does_not(mind: Mind) -> None:
    mind.retain(KEY)
    [memory] = mind.memories()
    path = f"/memories/{memory['id']}"
    mind.ask("PATCH", path, {"state": "invalidated", "reason": "the pot broke"})
    assert mind.texts("Where is the spare key?") == []
    kept = mind.ask("GET", path)
    assert (kept["text"], kept["state"]) == (KEY, "invalidated")
    assert kept["history"][0]["reason"] == "the pot broke"
    mind.ask("PATCH", path, {"state": "valid"})
    assert mind.texts("Where is the spare key?") == [KEY]
    mind.forget(ids=[memory["id"]])
    assert mind.answer("GET", path).status_code == 404


def test_one_fact_that_was_read_wrongly_can_be_put_right(mind: Mind) -> None:
    mind.retain("I bought a canoe and I like the tent.")
    bought, liked = mind.facts()
    [memory] = mind.memories()
    path = f"/memories/{bought['id']}"
    right = "I borrowed a canoe"
    mind.ask("PATCH", path, {"text": right, "reason": "it was lent"})
    assert [fact["text"] for fact in mind.facts()] == [right, liked["text"]]
    shown = mind.ask("GET", path)
    assert shown["source"]["id"] == memory["id"]
    assert shown["history"][0]["previous_text"] == bought["text"]
    mind.ask("PATCH", path, {"state": "invalidated"})
    assert right not in str(mind.recall("What about the canoe?"))
    assert liked["text"] in str(mind.recall("What about the tent?"))


def test_what_is_found_by_its_own_words_can_be_forgotten_by_them(mind: Mind) -> None:
    """There is no forgetting by likeness: the text is looked up, and its id forgotten."""
    mind.retain(KEY, *(f"I keep {thing} under the blue pot." for thing in ("coins", "seeds")))
    found = mind.recall(KEY)
    assert found[0]["text"] == KEY
    mind.forget(ids=[found[0]["id"]])
    left = mind.texts("What is under the blue pot?")
    assert KEY not in left
    assert len(left) == 2
    refused = mind.answer("POST", "/v1/forget", {"entity_id": mind.bank, "query": KEY})
    assert refused.status_code == 400
    assert len(mind.memories()) == 2


def test_another_bank_s_ids_delete_nothing(mind: Mind) -> None:
    mind.retain({"content": KEY, "document_id": "key"})
    [memory] = mind.memories()
    here = mind.bank
    mind.bank = "elsewhere"
    mind.retain({"content": "The lamp is green.", "document_id": "lamp"})
    assert mind.answer("DELETE", "/documents/key").status_code == 404
    assert mind.forget(ids=[memory["id"]])["forgotten_count"] == 0
    assert mind.answer("PATCH", f"/memories/{memory['id']}", {"text": "x"}).status_code == 404
    mind.bank = here
    assert mind.memories() == [memory]


def test_what_cannot_be_stored_is_an_error_and_leaves_nothing(mind: Mind) -> None:
    items = [{"content": KEY}]
    no_bank = mind.answer("POST", "/v1/default/banks/%00/memories", {"items": items})
    assert no_bank.status_code in {400, 422}
    for body in ({"items": [*items, {"content": 5}]}, {"items": []}, {"items": [{"text": KEY}]}):
        assert mind.answer("POST", "/memories", body).status_code == 422
    assert mind.ask("GET", "/memories/list")["total"] == 0


def test_diets_jobs_and_homes_are_told_as_they_are_now(mind: Mind) -> None:
    mind.retain({"content": "I live in Bern.", "timestamp": "2024-01-03T10:00:00Z"})
    mind.retain({"content": "I have moved to Turin.", "timestamp": "2024-06-03T10:00:00Z"})
    found = mind.recall("Where do I live?")
    assert [(each["text"], each["holds"]) for each in found] == [
        ("I have moved to Turin.", True),
        ("I live in Bern.", False),
    ]
    assert found[1]["valid_until"] == "2024-06-03T10:00:00Z"


def test_a_diet_ends_when_what_it_leaves_out_is_eaten_again(mind: Mind) -> None:
    told = (
        ("2024-01-03", "I am a vegetarian."),
        ("2024-01-04", "My sister is a vegetarian."),
        ("2024-03-03", "I had a burger yesterday."),
    )
    for day, text in told:
        mind.retain({"content": text, "timestamp": f"{day}T10:00:00Z"})
    query = "Am I a vegetarian?"
    [diet] = [each for each in mind.recall(query) if each["text"] == told[0][1]]
    assert diet["holds"]  # one meal is no habit
    ended = "2024-06-03T10:00:00Z"
    now = "I had a steak last night and I eat meat now."
    mind.retain({"content": now, "timestamp": ended})
    found = {each["text"]: each for each in mind.recall(query)}
    assert next(iter(found)) == now
    old = found[told[0][1]]
    assert (old["holds"], old["valid_until"]) == (False, ended)
    assert old["superseded_by"] == [found[now]["id"]]
    assert found[told[1][1]]["holds"]


def test_starting_to_use_a_bank_changes_nothing_in_it(mind: Mind) -> None:
    """A client that connects, reads and sets up the bank it already has leaves it as it was."""
    mind.retain({"content": KEY, "document_id": "key", "tags": ["home"]})
    mind.ask("PATCH", "", {"name": "Ines", "mission": "Remember where things are."})
    before = mind.memories(), mind.ask("GET", "/profile")
    for _ in range(2):
        mind.ask("PUT", "", {})
        mind.ask("GET", "/profile")
        mind.prime()
    assert (mind.memories(), mind.ask("GET", "/profile")) == before


def test_several_sessions_on_one_topic_make_one_answer(mind: Mind) -> None:
    for n in range(4):
        turns = (("user", "I play chess on Fridays."), ("assistant", f"Good luck in game {n}!"))
        mind.retain(chat(*turns, document_id=f"session-{n}"))
    assert mind.texts("What do I play? chess").count("I play chess on Fridays.") == 1
    [listed] = [m for m in mind.memories() if "chess" in m["text"]]
    assert listed["proof_count"] == 4


def test_hundreds_of_memories_go_at_once(mind: Mind) -> None:
    """In one transaction, so nobody sees half of it, and its time is that of one."""
    crates = [f"Crate {n} holds {n * 3} lemons." for n in range(300)]
    mind.retain(*({"content": each, "document_id": "c"} for each in crates))
    before = mind.retain("I feed geese.")["revision"]
    done = mind.forget(document_ids=["c"])
    assert done["forgotten_count"] >= 300
    assert done["revision"] == before + 1
    assert [memory["text"] for memory in mind.memories()] == ["I feed geese."]
