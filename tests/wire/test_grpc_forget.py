"""Forget over gRPC: by id, by entity, by criteria, and what the receipt says."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from grpc_kit import Client, edge, kind, new_tenant, refused, strategy
from wire_kit import Server


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with grpc.insecure_channel(server.grpc) as channel:
        yield Client(channel, new_tenant())


def texts(client: Client, entity: str) -> list[str]:
    config = strategy("temporal", entity_id=entity)
    found = client.call("Recall", cue="", strategies=[config], top_k=1_000, reinforce=False)
    return sorted(result.memory.content for result in found.results)


def used(client: Client, memory_id: bytes) -> Any:
    """Count a use of the memory's whole entity and return it once that is kept."""
    entity = client.get(memory_id).entity_id
    client.call("Prime", entity_id=entity)
    deadline = time.monotonic() + 20
    while client.get(memory_id).access_count == 0 and time.monotonic() < deadline:
        time.sleep(0.02)
    return client.get(memory_id)


def test_by_id_it_is_gone_and_named_in_the_receipt(client: Client) -> None:
    made = client.remember("To be forgotten.", "one")
    client.call("Revise", memory_id=made.memory_id, content="Soon to be forgotten.")
    told = client.call("Forget", memory_ids=[made.memory_id, bytes(16), made.memory_id])
    assert (told.forgotten_count, told.tombstone_count, told.truncated) == (1, 1, False)
    assert told.cascade_count == 1  # what it was before the revision
    assert list(told.erased_ids) == [made.memory_id]
    with refused(grpc.StatusCode.NOT_FOUND):
        client.get(made.memory_id)
    assert client.call("Forget", memory_ids=[made.memory_id]).forgotten_count == 0


def test_by_entity_all_of_it_is_gone_and_nothing_else(client: Client) -> None:
    for number in range(5):
        client.remember(f"Of the leaver {number}.", "leaver")
    client.remember("Of the stayer.", "stayer")
    client.remember("Of nobody.")
    assert client.call("Forget", entity_id="leaver").forgotten_count == 5
    assert client.call("Forget", entity_id="leaver").forgotten_count == 0
    assert len(client.call("Prime", entity_id="leaver", max_memories=50).results) == 0
    assert texts(client, "stayer") == ["Of the stayer."]
    assert texts(client, "") == ["Of nobody.", "Of the stayer."]


def test_more_than_one_step_is_forgotten_in_one_call(server: Server, client: Client) -> None:
    entity = new_tenant()
    turns = [{"role": "user", "content": f"Line {number} of the log."} for number in range(1_001)]
    server.retain(entity, {"content": json.dumps(turns)})
    told = client.call("Forget", entity_id=entity, tenant_id="default")
    assert told.forgotten_count == 1_001
    assert not told.truncated
    assert told.tombstone_count == told.forgotten_count + told.cascade_count
    primed = client.call("Prime", entity_id=entity, tenant_id="default")
    assert len(primed.results) == 0


def test_an_insight_goes_with_what_it_rests_on(client: Client) -> None:
    one = client.remember("The sources of a thought.", "one")
    thought = client.remember(
        "A thought.", "one", kind=kind("insight"), edges=[edge(one.memory_id, "insight_from")]
    )
    told = client.call("Forget", memory_ids=[one.memory_id])
    assert (told.forgotten_count, told.cascade_count, told.tombstone_count) == (1, 1, 2)
    assert sorted(told.erased_ids) == sorted([one.memory_id, thought.memory_id])
    assert texts(client, "one") == []


def test_ids_and_an_entity_must_both_hold(client: Client) -> None:
    made = client.remember("Here.", "here")
    told = client.call("Forget", memory_ids=[made.memory_id], entity_id="there")
    assert told.forgotten_count == 0
    assert texts(client, "here") == ["Here."]


def test_what_was_not_used_since_is_forgotten(client: Client) -> None:
    old = client.remember("Used long ago.", "old")
    new = client.remember("Used just now.", "new")
    seen = used(client, new.memory_id)
    assert old.last_accessed_at < seen.last_accessed_at
    told = client.call("Forget", staleness_threshold_us=seen.last_accessed_at)
    assert told.forgotten_count == 1
    assert texts(client, "") == ["Used just now."]


def test_what_was_used_too_seldom_is_forgotten(client: Client) -> None:
    client.remember("Never used.", "never")
    often = client.remember("Used.", "used")
    used(client, often.memory_id)
    assert client.call("Forget", access_count_floor=1).forgotten_count == 1
    assert texts(client, "") == ["Used."]


def test_a_kind_is_forgotten(client: Client) -> None:
    plain = client.remember("Plain.", "one")
    revised = client.remember("To be revised.", "one")
    client.call("Revise", memory_id=revised.memory_id, content="Revised.")
    client.remember(
        "Derived.", "one", kind=kind("insight"), edges=[edge(plain.memory_id, "insight_from")]
    )
    for name, left in (
        ("revision", ["Derived.", "Plain."]),
        ("document", ["Derived.", "Plain."]),
        ("insight", ["Plain."]),
        ("episode", []),
    ):
        client.call("Forget", entity_id="one", memory_kind=kind(name))
        assert texts(client, "one") == left


def test_what_has_decayed_below_a_floor_is_forgotten(client: Client) -> None:
    client.remember("Of little worth.", "one", importance=0.1)
    client.remember("Of great worth.", "one", importance=0.9)
    assert client.call("Forget", entity_id="one", decay_score_floor=0.5).forgotten_count == 1
    assert texts(client, "one") == ["Of great worth."]


def test_all_criteria_must_hold(client: Client) -> None:
    client.remember("Low in one.", "one", importance=0.1)
    client.remember("Low in two.", "two", importance=0.1)
    told = client.call(
        "Forget", entity_id="one", decay_score_floor=0.5, memory_kind=kind("revision")
    )
    assert told.forgotten_count == 0
    assert client.call("Forget", entity_id="one", decay_score_floor=0.5).forgotten_count == 1
    assert texts(client, "two") == ["Low in two."]


def test_no_criterion_is_invalid(client: Client) -> None:
    with refused(grpc.StatusCode.INVALID_ARGUMENT, "invalid input for forget: at least one"):
        client.call("Forget")
    with refused(grpc.StatusCode.INVALID_ARGUMENT, "16 bytes"):
        client.call("Forget", memory_ids=[b"short"])
