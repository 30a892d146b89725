"""Contradictions in two steps, over both wires: pairs, verdicts, and what they lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import grpc
import pytest
from grpc_kit import Client, kind, make, new_tenant, refused
from wire_kit import Server

INVALID, ABORTED = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.ABORTED
OLD, NEW = "The ferry leaves pier four at nine.", "The ferry leaves pier four at ten."
NONE = (0, 0, 0)


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with grpc.insecure_channel(server.grpc) as channel:
        yield Client(channel, new_tenant())


def told(client: Client, *texts: str, entity: str = "port") -> list[bytes]:
    return [client.remember(text, entity).memory_id for text in texts]


def pairs(client: Client, **fields: Any) -> list[Any]:
    return list(client.call("ContradictionPrepare", **fields).candidates)


def verdict(pair: Any, judgement: str, confidence: float = 0.9, **more: Any) -> Any:
    name = pair if isinstance(pair, str) else pair.pending_id
    return make(
        "ContradictionVerdictInput",
        pending_id=name,
        verdict=judgement,
        confidence=confidence,
        **more,
    )


def commit(client: Client, *verdicts: Any) -> tuple[int, int, int]:
    done = client.call("ContradictionCommit", verdicts=list(verdicts))
    return done.contradictions_confirmed, done.revisions_created, done.dismissed


def edges(server: Server, client: Client, memory_id: bytes) -> list[tuple[str, str, float]]:
    """Return the links that lead from a memory; read as the tenant of the test."""
    found = server.client.get(
        f"/v1/workspaces/{client.tenant}/memories/{memory_id.hex()}/edges"
    ).json()
    return [(e["edge_type"], e["target_id"], e["confidence"]) for e in found["outgoing"]]


def test_where_nothing_is_there_is_nothing_to_settle(client: Client) -> None:
    assert pairs(client) == []
    assert commit(client) == NONE


def test_pairs_come_likeliest_first_and_the_same_each_time(client: Client) -> None:
    old, new = told(client, OLD, NEW)
    told(client, "The ferry never leaves pier four at nine.", entity="quay")
    told(client, "Marble is heavy.", "Nobody sails at night.")
    one, other = told(client, "The ferry leaves pier four at nine.", "It rained.", entity="quay")
    found = pairs(client)
    assert found == pairs(client)
    (first, second) = found
    assert (first.classifier_method, first.entity_id) == ("negation", "quay")
    assert (second.classifier_method, second.entity_id) == ("value", "port")
    assert first.classifier_score > second.classifier_score > 0
    assert (second.memory_id_a, second.memory_id_b) == (old.hex(), new.hex())
    assert (second.content_a_snippet, second.content_b_snippet) == (OLD, NEW)
    assert 0.5 <= second.similarity <= 1
    assert second.created_at == client.get(new).created_at
    assert first.memory_id_b == one.hex() != other.hex()
    assert pairs(client, entity_id="port") == [second]
    assert pairs(client, max_candidates=1) == [first]
    assert pairs(Client(client.channel, new_tenant())) == []


def test_a_contradiction_is_linked_and_both_stay(server: Server, client: Client) -> None:
    old, new = told(client, OLD, NEW)
    (pair,) = pairs(client)
    assert commit(client, verdict(pair, "contradiction", 0.75)) == (1, 0, 0)
    assert edges(server, client, new) == [("contradicts", old.hex(), 0.75)]
    assert commit(client, verdict(pair, "contradiction", 0.75)) == (1, 0, 0)  # a lost answer
    assert edges(server, client, new) == [("contradicts", old.hex(), 0.75)]
    assert pairs(client) == []
    with refused(ABORTED, "settled as 'contradiction'"):
        commit(client, verdict(pair, "dismiss"))


def test_a_revision_supersedes_and_forgetting_it_reopens(server: Server, client: Client) -> None:
    old, new = told(client, OLD, NEW)
    (pair,) = pairs(client)
    assert commit(client, verdict(pair, "revision")) == (0, 1, 0)
    assert edges(server, client, new) == [("supersedes", old.hex(), 0.9)]
    assert pairs(client) == []
    third = client.remember("The ferry leaves pier four at noon.", "port").memory_id
    (open_pair,) = pairs(client)  # the one that holds no more is not asked about
    assert (open_pair.memory_id_a, open_pair.memory_id_b) == (new.hex(), third.hex())
    assert commit(client, verdict(pair, "revision")) == (0, 1, 0)
    assert client.call("Forget", memory_ids=[new]).forgotten_count == 1
    (again,) = pairs(client)
    assert (again.memory_id_a, again.memory_id_b) == (old.hex(), third.hex())


def test_what_was_dismissed_comes_back_only_when_it_was_changed(client: Client) -> None:
    _, new = told(client, OLD, NEW)
    (pair,) = pairs(client)
    assert commit(client, verdict(pair, " Dismiss ")) == (0, 0, 1)
    assert pairs(client) == []
    client.call("Revise", memory_id=new, content="The ferry leaves pier four at eleven.")
    (changed,) = pairs(client)
    assert changed.pending_id != pair.pending_id


@pytest.mark.parametrize("change", ["revise", "forget", "move"])
def test_what_changed_meanwhile_is_not_settled(client: Client, change: str) -> None:
    _, new = told(client, OLD, NEW)
    told(client, "The inn serves no eel on Sundays.", "The inn serves eel on Sundays.")
    found = pairs(client)
    assert len(found) == 2
    match change:
        case "revise":
            client.call("Revise", memory_id=new, importance=0.9)
        case "forget":
            client.call("Forget", memory_ids=[new])
        case "move":
            client.call("Revise", memory_id=new, entity_id="quay")
    with refused(ABORTED, "prepare again"):
        commit(client, *(verdict(pair, "contradiction") for pair in found))
    # Nothing of the other pair was written either.
    assert [p.content_b_snippet for p in pairs(client, entity_id="port")] == [
        "The inn serves eel on Sundays.",
        *([NEW.replace("ten", "ten")] if change == "revise" else []),
    ]


def test_another_tenants_pair_reads_as_gone(client: Client) -> None:
    told(client, OLD, NEW)
    (pair,) = pairs(client)
    with refused(ABORTED, "prepare again"):
        commit(Client(client.channel, new_tenant()), verdict(pair, "dismiss"))


@pytest.mark.parametrize(
    ("name", "judgement", "confidence", "text"),
    [
        ("", "dismiss", 0.5, "pending_id"),
        ("ab" * 39, "dismiss", 0.5, "pending_id"),
        ("zz" * 40, "dismiss", 0.5, "pending_id"),
        ("ab" * 40, "dismiss", 0.5, "pending_id"),
        ("ab" * 16 + "cd" * 24, "maybe", 0.5, "contradiction, revision, dismiss"),
        ("ab" * 16 + "cd" * 24, "dismiss", 1.5, "confidence"),
        ("ab" * 16 + "cd" * 24, "dismiss", float("nan"), "confidence"),
    ],
)
def test_a_verdict_that_cannot_be_taken_is_refused(
    client: Client, name: str, judgement: str, confidence: float, text: str
) -> None:
    with refused(INVALID, text):
        commit(client, verdict(name, judgement, confidence))


def test_two_verdicts_on_one_pair_must_agree(client: Client) -> None:
    told(client, OLD, NEW)
    (pair,) = pairs(client)
    with refused(INVALID, "two different verdicts"):
        commit(client, verdict(pair, "dismiss"), verdict(pair, "revision"))
    assert commit(client, verdict(pair, "dismiss"), verdict(pair, "dismiss")) == (0, 0, 1)


def test_insights_and_their_sources_are_no_pair(client: Client) -> None:
    told(client, OLD)
    client.remember(NEW, "port", kind=kind("insight"))
    assert pairs(client) == []


@pytest.fixture
def post(server: Server) -> Callable[..., Any]:
    def send(path: str, body: Any, status: int = 200) -> Any:
        answer = server.post(f"/v1/contradictions/{path}", body)
        assert answer.status_code == status, answer.text
        return answer.json()

    return send


def test_the_same_over_rest(server: Server, post: Callable[..., Any]) -> None:
    entity = f"port-{uuid4()}"
    ids = [
        server.post("/v1/memories", {"content": text, "entity_id": entity}).json()["memory_id"]
        for text in (OLD, NEW)
    ]
    assert server.client.post("/v1/contradictions/prepare").status_code == 200  # no body
    (pair,) = post("prepare", {"entity_id": entity})
    assert [pair["memory_id_a"], pair["memory_id_b"]] == ids
    assert (pair["entity_id"], pair["classifier_method"]) == (entity, "value")
    nothing = {"contradictions_confirmed": 0, "revisions_created": 0, "dismissed": 0}
    assert post("commit", {"verdicts": []}) == post("commit", []) == nothing
    told = {"pending_id": pair["pending_id"], "verdict": "revision", "confidence": 1}
    assert post("commit", [told])["revisions_created"] == 1
    assert post("commit", {"verdicts": [told]})["revisions_created"] == 1
    late = post("commit", [told | {"verdict": "dismiss"}], 409)
    assert (late["error_code"], late["details"][0]["field"]) == ("conflict", "verdicts.verdict")
    assert post("prepare", {"max_candidates": 0}, 400)["details"][0]["field"] == "max_candidates"
    assert post("commit", {}, 400)["details"][0]["field"] == "verdicts"
