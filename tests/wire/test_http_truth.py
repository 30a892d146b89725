"""What holds, over HTTP and on the command line."""

from __future__ import annotations

import pytest
from wire_kit import Server

ASK = "Where do I live?"


def _moved(server: Server, bank: str) -> None:
    server.retain(bank, {"content": "I live in Lisbon.", "timestamp": "2024-01-01T12:00:00Z"})
    server.retain(bank, {"content": "I moved to Ghent.", "timestamp": "2024-06-01T12:00:00Z"})


def test_recall_marks_what_does_not_hold(server: Server, bank: str) -> None:
    _moved(server, bank)
    new, old = server.recall(bank, ASK)
    assert (new["text"], new["holds"]) == ("I moved to Ghent.", True)
    assert "valid_until" not in new
    assert old["holds"] is False
    assert old["valid_until"] == "2024-06-01T12:00:00Z"
    assert old["superseded_by"] == [new["id"]]
    assert old["facts"][0]["superseded_by"] == [new["id"]]


def test_what_claims_nothing_is_not_marked(server: Server, bank: str) -> None:
    server.retain(bank, "The door squeaks in winter")
    assert "holds" not in server.recall(bank, "door")[0]


def test_as_of_answers_with_what_held_then(server: Server, bank: str) -> None:
    _moved(server, bank)
    found = server.recall(bank, ASK, as_of="2024-03-01T00:00:00Z")
    assert [(r["text"], r["holds"]) for r in found] == [("I live in Lisbon.", True)]


def test_the_timeline_of_a_memory_and_of_a_question(server: Server, bank: str) -> None:
    _moved(server, bank)
    new = server.recall(bank, ASK)[0]
    path = f"/v1/default/banks/{bank}"
    asked = server.client.get(f"{path}/timeline", params={"query": ASK}).json()["values"]
    assert [(v["value"], v["holds"]) for v in asked] == [("lisbon", False), ("ghent", True)]
    assert server.client.get(f"{path}/memories/{new['id']}/timeline").json()["values"] == asked
    then = {"query": ASK, "as_of": "2024-03-01T00:00:00Z"}
    values = server.client.get(f"{path}/timeline", params=then).json()["values"]
    assert [v["holds"] for v in values] == [True, False]


@pytest.mark.parametrize(
    ("path", "params", "status"),
    [
        ("memories/01a22c1a-0e39-7001-9ec3-28ac3ac57b9d/timeline", {}, 404),
        ("memories/nonsense/timeline", {}, 422),
        ("timeline", {"query": ASK, "as_of": "soon"}, 422),
        ("timeline", {}, 422),
    ],
)
def test_bad_timelines(
    server: Server, bank: str, path: str, params: dict[str, str], status: int
) -> None:
    answer = server.client.get(f"/v1/default/banks/{bank}/{path}", params=params)
    assert answer.status_code == status
