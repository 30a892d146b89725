"""Entities over HTTP: listing, one in detail, the graph, merging, splitting, renaming."""

from __future__ import annotations

from typing import Any

import pytest
from wire_kit import Server

NOBODY = "0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10"


class Bank:
    """The entities of one bank."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.name = name
        self.url = f"/v1/default/banks/{name}/entities"

    def say(self, *texts: str, **more: Any) -> list[str]:
        """Retain texts, each a document of its own; return the ids of their memories."""
        return [self.server.retain(self.name, {"content": t, **more})["unit_ids"][0] for t in texts]

    def get(self, path: str = "", **query: Any) -> Any:
        answer = self.server.client.get(f"{self.url}{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def ids(self) -> dict[str, str]:
        return {each["canonical_name"]: each["id"] for each in self.get()["items"]}

    def send(self, path: str, body: Any, method: str = "POST", status: int = 200) -> Any:
        answer = self.server.client.request(method, f"{self.url}{path}", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def patch(self, entity_id: str, status: int = 200, **body: Any) -> Any:
        return self.send(f"/{entity_id}", body, "PATCH", status)

    def audit(self, action: str) -> dict[str, Any]:
        """Return the metadata of the newest entry of an action."""
        url = f"/v1/default/banks/{self.name}/audit-logs"
        answer = self.server.client.get(url, params={"action": action})
        metadata: dict[str, Any] = answer.json()["items"][0]["metadata"]
        return metadata


@pytest.fixture
def entities(server: Server, bank: str) -> Bank:
    return Bank(server, bank)


def test_entities_are_listed_and_shown(entities: Bank) -> None:
    first, second = entities.say(
        "We met Robert Ekman in Lisbon.",
        "I saw Bob Ekman again.",
        timestamp="2026-03-01T10:00:00+01:00",
    )
    entities.say("Nothing else.", entities=[{"text": "Zoë Quay", "type": "PERSON"}, {"text": "Q"}])
    page = entities.get(limit=50)
    assert page.keys() == {"items", "total", "limit", "offset"}
    assert (page["total"], page["limit"], page["offset"]) == (4, 50, 0)
    robert = page["items"][0]
    assert robert.keys() == {
        "id", "canonical_name", "mention_count", "first_seen", "last_seen", "metadata",
    }  # fmt: skip
    assert robert["canonical_name"] == "Robert Ekman"
    assert robert["first_seen"].startswith("2026-03-01T09:00:00")
    assert robert["metadata"] == {"kind": "thing", "aliases": []}
    [zoe] = entities.get(q="ZOE")["items"]
    assert (zoe["canonical_name"], zoe["metadata"]["kind"]) == ("Zoë Quay", "PERSON")
    assert entities.get(q="zoe", offset=1)["items"] == []
    assert entities.get(q="zoe", offset=1)["total"] == 1
    assert [e["canonical_name"] for e in entities.get(limit=1, offset=1)["items"]] != [
        "Robert Ekman"
    ]

    detail = entities.get(f"/{robert['id']}")
    assert detail.keys() == {*robert, "observations", "aliases", "kind", "memories"}
    assert detail["observations"] == []
    assert [m["id"] for m in detail["memories"]] == [second, first]
    assert detail["memories"][0]["mentioned_at"] == "2026-03-01T10:00:00+01:00"


@pytest.mark.parametrize("spelled", ["graphs", "x", NOBODY])
def test_an_unknown_entity_is_not_found(entities: Bank, spelled: str) -> None:
    entities.say("We met Robert Ekman in Lisbon.")
    answer = entities.server.client.get(f"{entities.url}/{spelled}")
    assert answer.status_code == 404
    assert "detail" in answer.json()


def test_a_bank_without_entities(entities: Bank) -> None:
    assert entities.get() == {"items": [], "total": 0, "limit": 100, "offset": 0}
    assert entities.get("/graph") == {
        "nodes": [], "edges": [], "total_entities": 0, "total_edges": 0, "limit": 1000,
    }  # fmt: skip
    answer = entities.server.client.get(entities.url, params={"limit": 0})
    assert answer.status_code == 422


def test_regenerating_is_gone(entities: Bank) -> None:
    assert "detail" in entities.send(f"/{NOBODY}/regenerate", None, status=410)


def test_the_graph_shows_who_is_mentioned_together(entities: Bank) -> None:
    entities.say(
        "In Lisbon we met Robert Ekman.", "Then Robert Ekman left Lisbon.", "I called Otto Quay."
    )
    entities.say("They saw Otto Quay near Lisbon.")
    graph = entities.get("/graph")
    ids = entities.ids()
    assert (graph["total_entities"], graph["total_edges"], graph["limit"]) == (3, 2, 1000)
    nodes = {node["data"]["label"]: node["data"] for node in graph["nodes"]}
    assert {name: node["id"] for name, node in nodes.items()} == ids
    edges = [edge["data"] for edge in graph["edges"]]
    assert {(e["source"], e["target"]) for e in edges} == {
        tuple(sorted((ids["Lisbon"], ids[name]))) for name in ("Robert Ekman", "Otto Quay")
    }
    assert [e["weight"] for e in edges] == [2, 1]
    assert [e["data"]["weight"] for e in entities.get("/graph", min_count=2)["edges"]] == [2]
    small = entities.get("/graph", limit=1)
    assert (len(small["nodes"]), small["edges"], small["total_entities"]) == (1, [], 3)


def test_merge_and_undo_by_what_the_audit_log_keeps(entities: Bank) -> None:
    entities.say("We met Robert Ekman.", "We also met Robertino.")
    named = [{"text": "Robertino"}, {"text": "Lisbon"}]
    [mine] = entities.say("Yesterday Robertino sang in Lisbon.", entities=named)
    ids = entities.ids()
    merged = entities.send(f"/{ids['Robert Ekman']}/merge", {"from": [ids["Robertino"]]})
    assert merged["canonical_name"] == "Robert Ekman"
    assert merged["aliases"] == merged["metadata"]["aliases"] == ["Robertino"]
    assert len(merged["memories"]) == 3
    assert "Robertino" not in entities.ids()
    entities.say("Again Robertino sang.")
    assert len(entities.get(f"/{ids['Robert Ekman']}")["memories"]) == 4
    found = entities.server.recall(entities.name, "Who sang in Lisbon yesterday?")[0]
    assert found["id"] == mine
    assert found["entities"] == ["Robert Ekman", "Lisbon"]

    [told] = entities.audit("entity.merge")["merged"]
    assert (told["entity_id"], told["truncated"], len(told["unit_ids"])) == (
        ids["Robertino"],
        False,
        2,
    )
    back = entities.send(
        f"/{ids['Robert Ekman']}/split", {"name": "Robertino", "memory_ids": told["unit_ids"]}
    )
    assert back["canonical_name"] == "Robertino"
    assert {m["id"].replace("-", "") for m in back["memories"]} == set(told["unit_ids"])
    assert entities.get(f"/{ids['Robert Ekman']}")["aliases"] == []
    assert entities.audit("entity.split")["to"] == back["id"]


def test_rename_and_aliases(entities: Bank) -> None:
    entities.say("We met Robert Ekman.", "We met Otto Quay.")
    ids = entities.ids()
    found = entities.patch(ids["Robert Ekman"], name="Roberto Ekman")
    assert (found["canonical_name"], found["aliases"]) == ("Roberto Ekman", ["Robert Ekman"])
    again = {"name": "Roberto Ekman", "aliases": ["The Baker"], "kind": "PERSON"}
    for _ in range(2):
        found = entities.patch(ids["Robert Ekman"], **again)
        assert (found["aliases"], found["kind"]) == (["The Baker"], "PERSON")
    entities.say("Later came the baker.", entities=[{"text": "baker"}])
    assert set(entities.ids()) == {"Roberto Ekman", "Otto Quay"}
    told = entities.audit("entity.update")
    assert "Baker" not in str(told)
    assert told["entity_id"] == ids["Robert Ekman"]
    refused = entities.patch(ids["Otto Quay"], 409, name="the  BAKER")
    assert "merge" in refused["detail"]
    assert entities.ids() == {"Roberto Ekman": ids["Robert Ekman"], "Otto Quay": ids["Otto Quay"]}


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("/merge", {}, 422, "from"),
        ("/merge", {"from": []}, 422, "from"),
        ("/merge", {"from": ["x"]}, 422, "from"),
        ("/merge", {"from": ["SELF"]}, 422, "from"),
        ("/merge", {"from": [NOBODY]}, 404, None),
        ("/split", {"name": " ", "memory_ids": [NOBODY]}, 422, "name"),
        ("/split", {"name": "robert EKMAN", "memory_ids": [NOBODY]}, 422, "name"),
        ("/split", {"name": "Bo", "memory_ids": [NOBODY]}, 404, None),
        ("/split", {"name": "Bo", "memory_ids": []}, 422, "memory_ids"),
        ("", {}, 422, "name"),
        ("", {"name": ""}, 422, "name"),
        ("", {"name": "n" * 257}, 422, "name"),
        ("", {"aliases": ["a", " "]}, 422, "aliases"),
        ("", {"aliases": [str(n) for n in range(101)]}, 422, "aliases"),
        ("", {"kind": ""}, 422, "kind"),
    ],
)
def test_bad_input_is_refused(
    entities: Bank, path: str, body: dict[str, Any], status: int, field: str | None
) -> None:
    entities.say("We met Robert Ekman.")
    before = entities.get()
    [entity_id] = entities.ids().values()
    if body.get("from") == ["SELF"]:
        body = {"from": [entity_id]}
    refused = entities.send(f"/{entity_id}{path}", body, "POST" if path else "PATCH", status)
    if field is not None:
        assert refused["detail"][0]["field"] == field
    assert entities.get() == before


def test_names_are_taken_as_they_are_when_asked(entities: Bank) -> None:
    entities.say("We met Robert Ekman.")
    entities.say("We met Bob Ekman.", resolve_entities=False)
    assert set(entities.ids()) == {"Robert Ekman", "Bob Ekman"}
    entities.say("We met ROBERT EKMAN and Maria Quay.", resolve_entities=False)
    assert set(entities.ids()) == {"Robert Ekman", "Bob Ekman", "Maria Quay"}


def test_retaining_the_same_twice_makes_no_second_entity(entities: Bank) -> None:
    entities.say("We had met Robert Ekman in Lisbon before.")
    item = {"content": "We met Robert Ekman in Lisbon.", "document_id": "trip"}
    for _ in range(2):
        entities.server.retain(entities.name, item)
    entities.server.retain(entities.name, {**item, "content": "We met Bob Ekman in LISBON."})
    assert set(entities.ids()) == {"Robert Ekman", "Lisbon"}
    graph = entities.get("/graph")
    assert [edge["data"]["weight"] for edge in graph["edges"]] == [2]


def test_what_overlaps_makes_one_entity_and_one_edge(entities: Bank) -> None:
    both = "We met Robert Ekman in Lisbon."
    items = [
        {"content": f"{both} It rained."},
        {"content": f"{both} Then it snowed."},
        {
            "content": "ROBERT  EKMAN left.",
            "entities": [{"text": "robert ekman"}, {"text": "lisbon"}],
        },
    ]
    for _ in range(2):  # inside one request, and against what is there
        for item in items:
            item["document_id"] = item["content"][-9:]
        entities.server.retain(entities.name, *items)
    assert set(entities.ids()) == {"Robert Ekman", "Lisbon"}
    graph = entities.get("/graph")
    assert [edge["data"]["weight"] for edge in graph["edges"]] == [3]
