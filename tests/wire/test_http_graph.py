"""The graph over HTTP: nodes, and the links between them."""

from __future__ import annotations

from typing import Any

import pytest
from wire_kit import Server


def graph(server: Server, bank: str, **params: Any) -> dict[str, Any]:
    answer = server.client.get(f"/v1/default/banks/{bank}/graph", params=params)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def edges(found: dict[str, Any]) -> dict[tuple[str, str, str, str | None], float]:
    """Return the weights of links by the texts they join, in order, type and entity."""
    texts = {n["data"]["id"]: n["data"]["text"] for n in found["nodes"]}
    made = {}
    for each in (e["data"] for e in found["edges"]):
        one, other = sorted([texts[each["source"]], texts[each["target"]]])
        made[one, other, each["linkType"], each["entityName"]] = each["weight"]
    return made


def test_a_graph_of_an_empty_bank_is_empty(server: Server, bank: str) -> None:
    assert graph(server, bank) == {
        "nodes": [], "edges": [], "table_rows": [], "total_units": 0, "limit": 1000,
    }  # fmt: skip


def test_links_are_derived_from_time_meaning_and_entities(server: Server, bank: str) -> None:
    one = "we met Marek in Gdansk"
    for day, text, tag in (
        ("2024-03-01T08:00:00Z", one, "first"),
        ("2024-03-01T20:00:00Z", "the rain came", "first"),
        ("2024-03-09T08:00:00Z", one, "second"),
        ("2024-04-01T08:00:00Z", "a plain answer", "first"),
    ):
        server.retain(bank, {"content": text, "timestamp": day, "tags": [tag]})
    found = graph(server, bank)
    assert found["total_units"] == len(found["nodes"]) == len(found["table_rows"]) == 4
    made = edges(found)
    assert made["the rain came", one, "temporal", None] == pytest.approx(0.5, abs=1e-3)
    assert made[one, one, "entity", "Marek"] == made[one, one, "entity", "Gdansk"]
    assert made[one, one, "entity", "Marek"] == pytest.approx(0.7616, abs=1e-3)  # tanh(2 / 2)
    assert made[one, one, "semantic", None] == pytest.approx(1, abs=1e-2)
    assert (one, one, "temporal", None) not in made  # eight days apart
    assert len(made) == len(found["edges"])
    each = found["edges"][0]["data"]
    assert each.keys() == {"id", "source", "target", "linkType", "weight", "entityName",
                           "color", "lineStyle"}  # fmt: skip
    node = found["nodes"][0]["data"]
    assert node["label"] == node["text"] == "a plain answer"
    assert found["table_rows"][0]["id"] == node["id"]
    assert len({e["data"]["id"] for e in found["edges"]}) == len(found["edges"])


def test_a_graph_is_narrowed(server: Server, bank: str) -> None:
    server.retain(bank, {"content": "I keep bees", "tags": ["a"], "document_id": "x_1"})
    server.retain(bank, {"content": "assistant: You keep ants", "tags": ["a", "b"]})

    def texts(**params: Any) -> list[str]:
        return [n["data"]["text"] for n in graph(server, bank, **params)["nodes"]]

    assert texts() == ["You keep ants", "I keep bees"]
    assert texts(type="world") == ["I keep bees"]
    assert texts(q="ANTS") == ["You keep ants"]
    assert texts(tags=["a", "b"]) == ["You keep ants"]
    assert texts(tags=["a", "b"], tags_match="any") == ["You keep ants", "I keep bees"]
    assert texts(document_id="x_1") == texts(chunk_id=f"{bank}_x_1_0") == ["I keep bees"]
    assert texts(chunk_id=f"{bank}_x_1_1") == []
    narrow = graph(server, bank, limit=1)
    assert (len(narrow["nodes"]), narrow["total_units"], narrow["limit"]) == (1, 2, 1)
    for wrong in ({"limit": 2001}, {"type": "x"}, {"tags_match": "x"}):
        answer = server.client.get(f"/v1/default/banks/{bank}/graph", params=wrong)
        assert answer.status_code == 422
    answer = server.client.get(f"/v1/default/banks/{bank}/graph", params={"chunk_id": "x"})
    assert answer.status_code == 404


def test_a_memory_shows_the_links_of_its_facts(server: Server, bank: str) -> None:
    text = "I moved to Ghent because I found a job there."
    server.retain(bank, {"content": f"Ida: {text}"})
    [node] = graph(server, bank)["nodes"]
    memory = server.client.get(f"/v1/default/banks/{bank}/memories/{node['data']['id']}").json()
    ids = {fact["id"] for fact in memory["facts"]}
    [link] = memory["links"]
    assert link["type"] == "caused_by"
    assert {link["source"], link["target"]} <= ids
