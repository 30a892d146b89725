"""Memories over HTTP, one by one: list, look at, correct, take out, bring back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from wire_kit import Server

KEYS = {
    "id", "text", "context", "date", "fact_type", "document_id", "mentioned_at", "occurred_start",
    "occurred_end", "entities", "chunk_id", "proof_count", "tags", "metadata", "consolidated_at",
    "consolidation_failed_at", "state", "invalidation_reason", "invalidated_at", "edited_at",
    "updated_at", "source_memory_ids",
}  # fmt: skip
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Bank:
    """A bank of the server, with short calls."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.name = name
        self.path = f"/v1/default/banks/{name}"

    def list(self, **params: Any) -> dict[str, Any]:
        answer = self.server.client.get(f"{self.path}/memories/list", params=params)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def texts(self, **params: Any) -> list[str]:
        return [item["text"] for item in self.list(**params)["items"]]

    def get(self, memory_id: str, tail: str = "") -> Any:
        answer = self.server.client.get(f"{self.path}/memories/{memory_id}{tail}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def patch(self, memory_id: str, status: int = 200, **change: Any) -> Any:
        answer = self.server.client.patch(f"{self.path}/memories/{memory_id}", json=change)
        assert answer.status_code == status, answer.text
        return answer.json()

    def one(self, text: str) -> str:
        """Return the id of the only memory that holds a text."""
        [item] = self.list(q=text)["items"]
        found: str = item["id"]
        return found

    def recalled(self, query: str) -> list[str]:
        return [each["text"] for each in self.server.recall(self.name, query)]


@pytest.fixture
def box(server: Server, bank: str) -> Bank:
    return Bank(server, bank)


TALK = """Mia: What did you plant this spring?
Leo: I planted turnips behind the shed.
Mia: They grow fast there, I hope?
Leo: Yes, the soil is rich this year."""


def test_a_listed_memory_has_every_key_and_the_facts_read_from_it(box: Bank) -> None:
    box.server.retain(
        box.name,
        {
            "content": "My friend Nora moved to Bergen in May 2021. It was raining.",
            "context": "letters",
            "document_id": "letter 1",
            "metadata": {"folder": "inbox"},
            "tags": ["home"],
            "timestamp": "2024-02-03T10:00:00+02:00",
        },
    )
    found = box.list()
    assert (found["total"], found["limit"], found["offset"]) == (1, 100, 0)
    [item] = found["items"]
    assert item.keys() >= KEYS
    assert item["text"] == "My friend Nora moved to Bergen in May 2021. It was raining."
    assert (item["fact_type"], item["layer"], item["state"]) == ("world", "source", "valid")
    assert (item["context"], item["metadata"]) == ("letters", {"folder": "inbox"})
    assert (item["document_id"], item["tags"]) == ("letter 1", ["home"])
    assert item["chunk_id"] == f"{box.name}_letter 1_0"
    assert item["mentioned_at"] == "2024-02-03T10:00:00+02:00"
    assert item["occurred_start"].startswith("2021-05-01")
    assert item["date"] == item["occurred_start"]
    assert set(item["entities"].split(", ")) >= {"Nora", "Bergen"}
    assert (item["proof_count"], item["same_ids"], item["source_memory_ids"]) == (1, [], [])
    for empty in ("consolidated_at", "consolidation_failed_at", "invalidation_reason",
                  "invalidated_at", "edited_at"):  # fmt: skip
        assert item[empty] is None
    [moved] = [f for f in item["facts"] if "Bergen" in f["text"]]
    assert item["text"][moved["start"] : moved["end"]] == moved["text"]
    assert moved["negated"] is False


@pytest.mark.both_stores
def test_filters_narrow_the_list(box: Bank) -> None:
    retain = box.server.retain
    retain(box.name, {"content": "I keep otters in a pond", "tags": ["a"], "document_id": "d1",
                      "timestamp": "2024-01-01T00:00:00Z"})  # fmt: skip
    retain(box.name, {"content": "user: Tell me of OWLS\nassistant: Owls hunt at night, said Iris",
                      "tags": ["a", "b"], "document_id": "d2",
                      "timestamp": "2024-01-02T00:00:00Z"})  # fmt: skip
    retain(box.name, {"content": "Herons wait", "timestamp": "2024-01-03T00:00:00Z"})
    owls = ["Owls hunt at night, said Iris", "Tell me of OWLS"]
    assert box.texts() == ["Herons wait", *owls, "I keep otters in a pond"]
    assert box.texts(q="owls") == owls
    assert box.texts(type="experience") == owls[:1]
    assert box.texts(type="observation") == []
    assert box.texts(document_id="d2") == owls
    assert box.texts(document_id="none") == []
    assert box.texts(tags=["a", "b"]) == ["Herons wait", *owls, "I keep otters in a pond"]
    assert box.texts(tags=["a", "b"], tags_match="any_strict") == [*owls, "I keep otters in a pond"]
    assert box.texts(tags=["a", "b"], tags_match="all") == ["Herons wait", *owls]
    assert box.texts(tags=["a", "b"], tags_match="all_strict") == owls
    assert box.texts(tags="a", tags_match="exact") == ["I keep otters in a pond"]
    assert box.texts(tags_match="exact") == ["Herons wait"]
    page = box.list(limit=2, offset=1)
    assert ([i["text"] for i in page["items"]], page["total"]) == (owls, 4)
    assert box.list(offset=50) == {"items": [], "total": 4, "limit": 100, "offset": 50}
    facts = box.list(layer="fact", q="otters")["items"]
    assert [f["layer"] for f in facts] == ["fact"]
    assert facts[0]["source_id"] == box.one("otters")
    entities = box.server.client.get(f"{box.path}/entities").json()["items"]
    [iris] = [e["id"] for e in entities if e["canonical_name"] == "Iris"]
    assert box.texts(entity_id=iris) == owls[:1]


@pytest.mark.both_stores
def test_a_time_narrows_and_orders_the_list(box: Bank) -> None:
    for text, day in (("I met Ada on 3 May 2023", "05"), ("Bo is tall", "07"), ("Cy sings", "06")):
        box.server.retain(box.name, {"content": text, "timestamp": f"2024-01-{day}T00:00:00Z"})
    ada, bo, cy = "I met Ada on 3 May 2023", "Bo is tall", "Cy sings"
    assert box.texts(time_field="created_at") == [cy, bo, ada]
    assert box.texts(time_field="mentioned_at", start_date="2024-01-06") == [bo, cy]
    assert box.texts(time_field="mentioned_at", end_date="2024-01-06T00:00:00Z") == [ada]
    assert box.texts(time_field="occurred_start") == [ada]
    assert box.texts(end_date="2024-02-01") == []  # by when they were made
    page = box.list(time_field="mentioned_at", start_date="2024-01-06", limit=1, offset=1)
    assert ([i["text"] for i in page["items"]], page["total"]) == ([cy], 2)


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"time_field": "said_at"}, "time_field"),
        ({"start_date": "soon"}, "start_date"),
        ({"end_date": "later"}, "end_date"),
        ({"start_date": "2024-02-01", "end_date": "2024-01-01"}, "start_date"),
        ({"type": "opinion"}, "type"),
        ({"state": "gone"}, "state"),
        ({"limit": 0}, "limit"),
        ({"offset": -1}, "offset"),
        ({"tags_match": "most"}, "tags_match"),
        ({"layer": "chunk"}, "layer"),
        ({"entity_id": "not an id"}, "entity_id"),
    ],
)
def test_wrong_filters_are_refused(box: Bank, params: dict[str, Any], field: str) -> None:
    answer = box.server.client.get(f"{box.path}/memories/list", params=params)
    assert answer.status_code == 422
    [fault] = answer.json()["detail"]
    assert field in fault["msg"]
    assert fault["loc"] == ["query", field]


def test_parameters_that_do_nothing_are_told(box: Bank) -> None:
    answer = box.server.client.get(
        f"{box.path}/memories/list", params={"consolidation_state": "pending", "page": 2}
    )
    assert answer.status_code == 200
    assert answer.headers["X-Ignored-Params"] == "consolidation_state, page"


@pytest.mark.both_stores
def test_what_says_the_same_is_shown_once_with_its_proof(box: Bank) -> None:
    for name in ("mon", "tue", "wed"):
        box.server.retain(
            box.name, {"content": "Ida: My cat is called Pudding.", "document_id": name}
        )
    [item] = box.list()["items"]
    assert item["proof_count"] == 3
    shown = box.list(duplicates="show")
    assert shown["total"] == 3
    ids = [i["id"] for i in shown["items"]]
    assert item["id"] == min(ids)
    assert sorted([item["id"], *item["same_ids"]]) == sorted(ids)
    assert box.get(ids[0])["proof_count"] == 3
    assert [i["id"] for i in box.list(document_id="wed")["items"]] == [max(ids)]
    box.patch(item["id"], state="invalidated", reason="it was a dog")
    assert box.list()["total"] == 0
    assert box.recalled("What is the cat called?") == []
    assert box.list(state="invalidated")["items"][0]["proof_count"] == 3
    box.patch(ids[0], state="valid")
    assert box.list()["items"][0]["proof_count"] == 3


def test_a_memory_is_found_by_any_spelling_of_its_id(box: Bank) -> None:
    box.server.retain(box.name, {"content": TALK, "document_id": "garden"})
    memory_id = box.one("turnips")
    number = UUID(memory_id).int
    ulid = "".join(CROCKFORD[number >> 5 * n & 31] for n in reversed(range(26)))
    found = box.get(memory_id)
    assert found["type"] == "world"
    assert isinstance(found["entities"], list)
    assert found == box.get(UUID(memory_id).hex) == box.get(ulid.lower())
    [fact] = found["facts"]
    alone = box.get(fact["id"])
    assert alone["source"]["id"] == alone["source_id"] == memory_id
    assert found["text"][alone["start"] : alone["end"]] == alone["text"]
    assert alone["layer"] == "fact"
    garden = box.server.client.get(f"{box.path}/documents/garden").json()
    assert garden["original_text"][found["start"] : found["end"]] == found["text"]


def test_a_memory_of_another_bank_is_not_there(box: Bank) -> None:
    box.server.retain(box.name, TALK)
    memory_id = box.one("turnips")
    other = Bank(box.server, f"{box.name}-other")
    box.server.retain(other.name, "something")
    client = box.server.client
    assert client.get(f"{other.path}/memories/{memory_id}").status_code == 404
    assert client.get(f"{other.path}/memories/{memory_id}/history").status_code == 404
    assert client.delete(f"{other.path}/memories/{memory_id}/observations").status_code == 404
    other.patch(memory_id, 404, text="mine now")
    other.patch(memory_id, 404, state="invalidated")
    told = box.server.post("/v1/forget", {"entity_id": other.name, "memory_ids": [memory_id]})
    assert told.json()["forgotten_count"] == 0
    assert box.texts(q="turnips") == ["I planted turnips behind the shed."]
    wrong = client.get(f"{box.path}/memories/not-an-id")
    assert wrong.status_code == 422
    assert wrong.json()["detail"][0]["loc"] == ["path", "memory_id"]


@pytest.mark.both_stores
def test_a_corrected_text_replaces_the_old_one_everywhere(box: Bank) -> None:
    box.server.retain(box.name, {"content": TALK, "document_id": "garden"})
    memory_id = box.one("turnips")
    old_fact = box.get(memory_id)["facts"][0]["id"]
    told = box.patch(memory_id, text="I planted Swedish leeks in April 2022.", reason="misheard")
    assert told["text"] == "I planted Swedish leeks in April 2022."
    assert told["occurred_start"].startswith("2022-04-01")
    assert told["edited_at"] is not None
    [fact] = told["facts"]
    assert "leeks" in fact["text"]
    assert fact["id"] != old_fact
    assert box.server.client.get(f"{box.path}/memories/{old_fact}").status_code == 404
    assert box.recalled("Who planted leeks?")[0] == told["text"]
    assert box.texts(q="turnips") == []
    # The windows of the turns after it hold the new words, and not the old ones.
    best = box.server.recall(box.name, "leeks")
    assert {"They grow fast there, I hope?", "Yes, the soil is rich this year."} <= {
        each["text"] for each in best if each["scores"].get("keyword") is not None
    }
    assert all(
        each["scores"].get("keyword") in (None, 0)
        for each in box.server.recall(box.name, "turnips")
    )
    [entry] = box.get(memory_id, "/history")
    assert entry["previous_text"] == "I planted turnips behind the shed."
    assert (entry["action"], entry["reason"]) == ("edit", "misheard")
    assert entry["changed_at"] == told["edited_at"]
    assert box.get(old := box.one("grow fast"), "/history") == [], old
    box.patch(memory_id, text=told["text"], reason="misheard")
    assert len(box.get(memory_id, "/history")) == 1


def test_facts_that_are_still_said_keep_their_ids(box: Bank) -> None:
    box.server.retain(box.name, "Ole: I sold the boat in June. I bought a tandem in July.")
    memory_id = box.one("tandem")
    before = {f["text"]: f["id"] for f in box.get(memory_id)["facts"]}
    told = box.patch(memory_id, text="I sold the boat in June. I bought a canoe in July.")
    after = {f["text"]: f["id"] for f in told["facts"]}
    [kept] = before.keys() & after.keys()
    assert "boat" in kept
    assert before[kept] == after[kept]
    assert len(after) == 2


def test_what_is_told_of_a_memory_is_changed_and_cleared(box: Bank) -> None:
    box.server.retain(box.name, {"content": "Per: I ran a race in May 2020.", "context": "sport"})
    memory_id = box.one("race")
    told = box.patch(
        memory_id,
        context="health",
        fact_type="experience",
        occurred_start="2020-05-17",
        occurred_end="2020-05-17T12:30:00Z",
    )
    assert (told["context"], told["type"]) == ("health", "experience")
    assert told["occurred_start"] == "2020-05-17T00:00:00Z"
    assert told["occurred_end"] == "2020-05-17T12:30:00Z"
    assert box.texts(type="experience") == [told["text"]]
    assert box.list(layer="fact")["items"][0]["fact_type"] == "experience"
    told = box.patch(memory_id, context="", occurred_start="", occurred_end="")
    assert (told["context"], told["occurred_start"], told["occurred_end"]) == (None, None, None)
    assert told["date"] == told["mentioned_at"]
    newest, first = box.get(memory_id, "/history")
    assert newest["previous"]["context"] == "health"
    assert newest["previous"]["occurred_start"] == "2020-05-17T00:00:00Z"
    assert first["previous"]["fact_type"] == "world"
    assert first["previous_text"] is None
    told = box.patch(memory_id, text="I ran a race in May 2019.")
    assert told["occurred_start"] is None  # people cleared it


@pytest.mark.both_stores
def test_entities_are_replaced_and_detached(box: Bank) -> None:
    box.server.retain(box.name, "Tia: I met Marek at the harbour of Gdansk.")
    memory_id = box.one("harbour")
    assert {"Marek", "Gdansk"} <= set(box.get(memory_id)["entities"])
    told = box.patch(memory_id, entities=["Gdansk", "Baltic Sea"])
    assert sorted(told["entities"]) == ["Baltic Sea", "Gdansk"]
    assert box.list(q="harbour")["items"][0]["entities"] in (
        "Baltic Sea, Gdansk",
        "Gdansk, Baltic Sea",
    )
    names = {e["canonical_name"] for e in
             box.server.client.get(f"{box.path}/entities").json()["items"]}  # fmt: skip
    assert "Baltic Sea" in names
    assert "Marek" not in names
    box.patch(memory_id, entities=["gdansk", "Baltic Sea"])
    assert len(box.get(memory_id, "/history")) == 1
    told = box.patch(memory_id, text="I met Marek at the harbour of Gdansk in winter.")
    assert "Marek" not in told["entities"]
    assert box.patch(memory_id, entities=[])["entities"] == []


@pytest.mark.both_stores
def test_an_invalid_memory_is_kept_and_neither_recalled_nor_primed(box: Bank) -> None:
    box.server.retain(box.name, {"content": TALK, "document_id": "garden"})
    memory_id = box.one("turnips")
    told = box.patch(memory_id, state="invalidated", reason="a joke")
    assert (told["state"], told["invalidation_reason"]) == ("invalidated", "a joke")
    assert told["invalidated_at"] is not None
    assert {f["state"] for f in told["facts"]} == {"invalidated"}
    assert "I planted turnips behind the shed." not in box.recalled("turnips behind the shed")
    primed = box.server.post("/v1/prime", {"entity_id": box.name, "similarity_cue": "turnips"})
    assert primed.status_code == 200, primed.text
    assert "turnips" not in primed.text
    assert box.texts(q="turnips") == []
    assert box.list(state="invalidated")["items"][0]["id"] == memory_id
    assert box.texts(state="all", q="turnips") == ["I planted turnips behind the shed."]
    assert box.list(layer="fact", q="turnips")["total"] == 0
    box.patch(memory_id, state="invalidated", reason="a joke")
    assert len(box.get(memory_id, "/history")) == 1
    told = box.patch(memory_id, state="valid")
    assert (told["state"], told["invalidated_at"]) == ("valid", None)
    assert {f["state"] for f in told["facts"]} == {"valid"}
    assert box.recalled("turnips behind the shed")[0] == "I planted turnips behind the shed."
    actions = [entry["action"] for entry in box.get(memory_id, "/history")]
    assert actions == ["revive", "invalidate"]


def test_one_fact_is_corrected_or_taken_out_alone(box: Bank) -> None:
    box.server.retain(box.name, "Ulf: I sold my van in March. I rent a flat in Malmo.")
    memory_id = box.one("van")
    facts = {("van" in f["text"]): f["id"] for f in box.get(memory_id)["facts"]}
    box.patch(facts[True], text="I gave my van away in March.")
    box.patch(facts[False], state="invalidated", reason="no longer")
    found = box.get(memory_id)
    assert found["state"] == "valid"
    assert {f["text"]: f["state"] for f in found["facts"]} == {
        "I gave my van away in March.": "valid",
        "I rent a flat in Malmo.": "invalidated",
    }
    [recalled] = box.server.recall(box.name, "van")
    assert [f["text"] for f in recalled["facts"]] == ["I gave my van away in March."]
    assert box.get(facts[True], "/history")[0]["previous_text"] == "I sold my van in March."
    # A fact that was taken out on its own stays out when its source comes back.
    box.patch(memory_id, state="invalidated")
    box.patch(memory_id, state="valid")
    assert box.get(facts[False])["state"] == "invalidated"
    assert box.get(facts[True])["state"] == "valid"


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({}, ""),
        ({"reason": "alone"}, ""),
        ({"text": "  "}, "text"),
        ({"text": "x" * 20_001}, "text"),
        ({"text": 7}, "text"),
        ({"fact_type": "observation"}, "fact_type"),
        ({"state": "gone"}, "state"),
        ({"occurred_start": "soon"}, "occurred_start"),
        ({"occurred_start": "2024-02-01", "occurred_end": "2024-01-01"}, "occurred_end"),
        ({"entities": [""]}, "entities.0"),
        ({"entities": "Ann"}, "entities"),
        ({"resolve_entities": "no", "text": "x"}, "resolve_entities"),
    ],
)
def test_wrong_changes_are_refused(box: Bank, wrong: dict[str, Any], field: str) -> None:
    box.server.retain(box.name, "Ann sings")
    memory_id = box.one("sings")
    before = box.get(memory_id)
    fault = box.patch(memory_id, 422, **wrong)["detail"][0]
    assert (fault["field"] or "") == field
    assert box.get(memory_id) == before


def test_a_forgotten_memory_takes_its_history_with_it(box: Bank) -> None:
    box.server.retain(box.name, "Ann: The code is 4711, keep it.")
    memory_id = box.one("4711")
    box.patch(memory_id, text="The code is 4712, keep it.")
    box.server.post("/v1/forget", {"entity_id": box.name, "memory_ids": [memory_id]})
    for tail in ("", "/history"):
        assert box.server.client.get(f"{box.path}/memories/{memory_id}{tail}").status_code == 404
    box.patch(memory_id, 404, text="The code is 4711 again.")
    assert box.list(state="all", layer="all")["total"] == 0
    assert box.recalled("What is the code, 4711 or 4712?") == []


def test_a_memory_without_observations_has_none_to_clear(box: Bank) -> None:
    box.server.retain(box.name, "Ann sings")
    answer = box.server.client.delete(f"{box.path}/memories/{box.one('sings')}/observations")
    assert answer.json() == {"deleted_count": 0}
