"""What changes a memory by HEBBS's calls is in the audit log, by REST and by gRPC alike."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from grpc_kit import Client, edge, kind, make
from wire_kit import Server

from remembrancer.faces.grpc import proto


def _log(server: Server, bank: str) -> list[dict[str, Any]]:
    found = server.client.get(f"/v1/default/banks/{bank}/audit-logs", params={"limit": 100})
    assert found.status_code == 200, found.text
    items: list[dict[str, Any]] = found.json()["items"]
    return items


def _told(server: Server, bank: str) -> list[tuple[str, str]]:
    return [(entry["action"], entry["transport"]) for entry in reversed(_log(server, bank))]


@pytest.fixture
def client(server: Server) -> Any:
    with grpc.insecure_channel(server.grpc) as channel:
        yield Client(channel, "default")


def test_grpc_writes_are_logged_and_questions_are_not(
    server: Server, client: Client, bank: str
) -> None:
    one = client.remember("The lamp is lit.", bank).memory_id
    two = client.remember("The lamp is not lit.", bank).memory_id
    client.remember("Lamps.", bank, kind=kind("insight"), edges=[edge(one, "insight_from")])
    client.call("Prime", entity_id=bank)
    client.get(one)
    (pair,) = client.call("ContradictionPrepare", entity_id=bank).candidates
    verdict = make(
        "ContradictionVerdictInput",
        pending_id=pair.pending_id,
        verdict="contradiction",
        confidence=1.0,
    )
    client.call("ContradictionCommit", verdicts=[verdict])
    client.call("ContradictionCommit", verdicts=[verdict])  # nothing is changed again
    client.call("Revise", memory_id=one, content="The lamp was lit.")
    client.call("Forget", memory_ids=[two, bytes(16)])
    client.call("Forget", memory_ids=[two])
    assert _told(server, bank) == [
        ("memory.remember", "grpc"),
        ("memory.remember", "grpc"),
        ("memory.remember", "grpc"),
        ("contradictions.commit", "grpc"),
        ("memory.revise", "grpc"),
        ("memory.forget", "grpc"),
    ]
    entries = _log(server, bank)
    assert entries[0]["metadata"] == {"count": 1, "memory_ids": [two.hex()]}
    assert entries[0]["request"] == {"method": "hebbs.v1/forget"}
    assert entries[-1]["metadata"] == {"memory_id": one.hex()}
    assert "lamp" not in str(entries).lower()
    filtered = server.client.get(
        f"/v1/default/banks/{bank}/audit-logs", params={"transport": "grpc"}
    )
    assert filtered.json()["total"] == 6


def test_insights_that_are_committed_are_logged(server: Server, client: Client, bank: str) -> None:
    for _ in range(5):
        client.remember("The crane is out of order.", bank)
    scope = make("ReflectScope", entity=make("EntityScope", entity_id=bank))
    prepared = client.call("ReflectPrepare", scope=scope)
    insight = make("ProducedInsightInput", content="It breaks.", confidence=1.0, cluster_id=0)
    client.call("ReflectCommit", session_id=prepared.session_id, insights=[insight])
    (first, *_) = _log(server, bank)
    assert (first["action"], first["metadata"]) == ("insights.commit", {"insights": 1})


def test_insights_kept_before_a_commit_fails_are_logged(
    server: Server, client: Client, bank: str
) -> None:
    ids = [client.remember("The crane is out of order.", bank).memory_id for _ in range(5)]
    scope = make("ReflectScope", entity=make("EntityScope", entity_id=bank))
    session = client.call("ReflectPrepare", scope=scope).session_id
    told = [(f"It breaks {n}.", [ids[n].hex()]) for n in range(2)] + [("Lost.", [bytes(16).hex()])]
    insights = [
        make("ProducedInsightInput", content=text, confidence=1.0, source_memory_ids=basis)
        for text, basis in told
    ]
    with pytest.raises(grpc.RpcError):
        client.call("ReflectCommit", session_id=session, insights=insights)
    assert len(client.call("GetInsights", entity_id=bank).insights) == 2
    body = [{"content": c, "confidence": 1.0, "source_memory_ids": b} for c, b in told]
    prepared = server.post("/v1/reflect/prepare", {"entity_id": bank}).json()
    failed = server.post(
        "/v1/reflect/commit", {"session_id": prepared["session_id"], "insights": body}
    )
    assert failed.status_code == 404
    assert _told(server, bank)[5:] == [("insights.commit", "grpc"), ("insights.commit", "http")]
    assert [entry["metadata"] for entry in _log(server, bank)[:2]] == [{"insights": 2}] * 2


def test_a_move_is_logged_in_both_banks(server: Server, client: Client, bank: str) -> None:
    other = f"{bank}-2"
    memory = client.remember("The lamp is lit.", bank).memory_id
    client.remember("Lamps.", bank, kind=kind("insight"), edges=[edge(memory, "insight_from")])
    client.call("Revise", memory_id=memory, entity_id=other)
    assert _told(server, bank)[2:] == [("memory.revise", "grpc")]
    left = _log(server, bank)[0]["metadata"]
    assert (left["memory_id"], left["moved"], left["count"]) == (memory.hex(), "out", 2)
    (arrived,) = _log(server, other)
    assert arrived["metadata"] == {"memory_id": memory.hex(), "moved": "in", "edits": 0}
    done = server.client.put(f"/v1/revise/{memory.hex()}", json={"entity_id": bank})
    assert done.status_code == 200
    assert _told(server, other) == [("memory.revise", "grpc"), ("memory.revise", "http")]
    assert _log(server, other)[0]["metadata"]["moved"] == "out"
    assert _log(server, bank)[0]["metadata"]["moved"] == "in"


def test_a_refused_write_is_not_logged(server: Server, client: Client, bank: str) -> None:
    client.remember("Here.", bank)
    with pytest.raises(grpc.RpcError):
        client.remember("", bank)
    with pytest.raises(grpc.RpcError):
        client.call("Revise", memory_id=bytes(16), content="Nobody's.", entity_id=bank)
    assert _told(server, bank) == [("memory.remember", "grpc")]


def test_intentions_are_logged_as_over_http(server: Server, client: Client, bank: str) -> None:
    stub = client.channel

    def call(method: str, **fields: Any) -> Any:
        (descriptor,) = (
            each
            for each in proto.service("IntentionService", proto.OWN_PACKAGE).methods
            if each.name == method
        )
        request = proto.message(descriptor.input_type.name, proto.OWN_PACKAGE)(bank=bank, **fields)
        done = stub.unary_unary(
            f"/{proto.OWN_PACKAGE}.IntentionService/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=proto.message(
                descriptor.output_type.name, proto.OWN_PACKAGE
            ).FromString,
        )
        return done(request, timeout=30)

    given = proto.message("IntentionInput", proto.OWN_PACKAGE)(
        content="Trim the wick.", trigger_event="dusk"
    )
    made = call("Register", intentions=[given]).intentions[0]
    call("Update", intention_id=made.id, changes={"importance": 0.9})
    event = proto.message("EventInput", proto.OWN_PACKAGE)(id="e1", name="dusk")
    call("PostEvents", events=[event])
    call("Check", mode="peek")
    due = call("Check").due[0]
    call("Ack", occurrence_id=due.occurrence.id, token=due.occurrence.token)
    call("Remove", intention_id=made.id)
    assert _told(server, bank) == [
        ("intentions.create", "grpc"),
        ("intention.update", "grpc"),
        ("events.create", "grpc"),
        ("intentions.check", "grpc"),
        ("occurrence.ack", "grpc"),
        ("intention.delete", "grpc"),
    ]
    assert "wick" not in str(_log(server, bank))


def test_rest_writes_are_logged_in_the_bank_they_changed(server: Server, bank: str) -> None:
    made = server.post("/v1/memories", {"content": "The wick is trimmed.", "entity_id": bank})
    memory = made.json()["memory_id"]
    server.client.put(f"/v1/revise/{memory}", json={"importance": 0.9})
    server.post("/v1/recall", {"cue": "wick", "entity_id": bank})
    server.post("/v1/contradictions/prepare", {"entity_id": bank})
    server.post("/v1/forget", {"memory_ids": [memory]})
    server.post("/v1/forget", {"entity_id": bank})  # there is nothing left
    files = [("files", ("wick.txt", b"The wick again.", "text/plain"))]
    server.client.post("/v1/upload", files=files, data={"entity_id": bank})
    assert _told(server, bank) == [
        ("memory.remember", "http"),
        ("memory.revise", "http"),
        ("memory.forget", "http"),
        ("files.retain", "http"),
    ]
    entries = _log(server, bank)
    assert entries[1]["metadata"]["memory_ids"] == [memory]
    assert "wick" not in str(entries)
