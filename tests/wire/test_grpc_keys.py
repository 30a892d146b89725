"""API keys over gRPC: who calls, for which tenant, what it may do, and how often."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from grpc_kit import Client, edge, make, refused, strategy
from wire_kit import Server

UNKNOWN, DENIED = grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED
MASTER = "hb_of-the-settings-alone"

Make = Callable[..., Client]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("guarded"), api_key=MASTER) as server:
        yield server


@pytest.fixture
def channel(guarded: Server) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(guarded.grpc) as channel:
        yield channel


@pytest.fixture
def keyed(guarded: Server, channel: grpc.Channel) -> Make:
    """Return a function that makes a key and returns a client with it, which names no tenant."""

    def make_key(tenant: str = "default", **fields: Any) -> Client:
        made = guarded.post(
            "/v1/keys",
            {"name": "a test", "tenant": tenant, **fields},
            headers={"Authorization": f"Bearer {MASTER}"},
        )
        assert made.status_code in {200, 201}, made.text
        return Client(channel, "", f"Bearer {made.json()['key']}")

    return make_key


def test_without_a_key_or_with_a_wrong_one_nothing_is_answered(channel: grpc.Channel) -> None:
    with refused(UNKNOWN, "missing authorization metadata"):
        Client(channel, "").call("Prime", entity_id="one")
    for key in ("Bearer hb_none", "hb_none", "Bearer "):
        with refused(UNKNOWN):
            Client(channel, "", key).call("Prime", entity_id="one")
        with refused(UNKNOWN):
            next(Client(channel, "", key).subscribe())


def test_health_needs_no_key_but_counts_for_those_who_have_one(
    keyed: Make, channel: grpc.Channel
) -> None:
    mine = keyed(tenant="counted")
    mine.remember("One of mine.", "one")
    keyed(tenant="counted-too").remember("One of theirs.", "one")
    nobody = Client(channel, "").call("Check")
    assert (nobody.status, nobody.memory_count) == (1, 0)
    assert mine.call("Check").memory_count == 1


def test_a_key_is_taken_with_and_without_bearer(keyed: Make, channel: grpc.Channel) -> None:
    full = keyed()
    bare = Client(channel, "", full.metadata[0][1].removeprefix("Bearer "))
    assert bare.remember("Bare.", "one").content == "Bare."


def test_the_tenant_is_the_keys_whatever_the_request_says(keyed: Make) -> None:
    one, two = keyed(tenant="one"), keyed(tenant="two")
    made = one.remember("Of tenant one.", "shared", tenant_id="two")
    assert one.get(made.memory_id).content == "Of tenant one."
    for tenant in ("", "one"):
        with refused(grpc.StatusCode.NOT_FOUND):
            two.call("Get", memory_id=made.memory_id, tenant_id=tenant)
    crossing = keyed(permissions=["read", "cross_tenant"])
    assert crossing.call("Get", memory_id=made.memory_id, tenant_id="one").memory.content


def test_each_call_needs_its_permission_and_none_implies_another(keyed: Make) -> None:
    clients = {name: keyed(permissions=[name]) for name in ("read", "write", "admin")}
    calls: dict[str, list[tuple[str, dict[str, Any]]]] = {
        "read": [
            ("Prime", {"entity_id": "one"}),
            ("GetInsights", {}),
            ("Recall", {"cue": "", "strategies": [strategy("temporal")]}),
            ("CloseSubscription", {"subscription_id": 1}),
        ],
        "write": [("Remember", {"content": "x"}), ("Forget", {"memory_ids": [bytes(16)]})],
        "admin": [("SetPolicy", {}), ("Reflect", {"scope": make("ReflectScope")})],
    }
    for needed, mine in calls.items():
        for method, fields in mine:
            for name, client in clients.items():
                if name == needed:
                    client.call(method, **fields)
                else:
                    with refused(DENIED, f"insufficient permissions: requires {needed}"):
                        client.call(method, **fields)


def test_a_reader_leaves_no_trace(keyed: Make) -> None:
    writer, reader = keyed(tenant="traces"), keyed(tenant="traces", permissions=["read"])
    made = writer.remember("Looked at.", "one")
    reader.call("Prime", entity_id="one")
    reader.call("Recall", cue="", strategies=[strategy("temporal", entity_id="one")])
    writer.call("Prime", entity_id="one")
    deadline = time.monotonic() + 20
    while not reader.get(made.memory_id).access_count and time.monotonic() < deadline:
        time.sleep(0.02)
    assert reader.get(made.memory_id).access_count == 1


def test_a_key_for_some_entities_reaches_no_others(keyed: Make) -> None:
    whole = keyed(tenant="shop", permissions=["read", "write", "admin"])
    some = keyed(tenant="shop", permissions=["read", "write", "admin"], banks=["customer-*"])
    hidden = whole.remember("The margin is thin.", "staff")
    loose = whole.remember("Of nobody.")
    seen = some.remember("Likes blue.", "customer-1")
    for method, fields in (
        ("Prime", {"entity_id": "staff"}),
        ("Remember", {"content": "x", "entity_id": "staff"}),
        ("Remember", {"content": "x"}),
        ("Forget", {"entity_id": "staff"}),
        ("Revise", {"memory_id": seen.memory_id, "entity_id": "staff"}),
        ("GetInsights", {"entity_id": "staff"}),
        ("Recall", {"cue": "x", "strategies": [strategy("similarity", entity_id="staff")]}),
    ):
        with refused(DENIED, "this key reaches"):
            some.call(method, **fields)
    for memory in (hidden, loose):
        with refused(grpc.StatusCode.NOT_FOUND):
            some.get(memory.memory_id)
        with refused(grpc.StatusCode.NOT_FOUND):
            some.call("Revise", memory_id=memory.memory_id, content="x")
        assert some.call("Forget", memory_ids=[memory.memory_id]).forgotten_count == 0
        lost = some.call(
            "Recall", cue="", strategies=[strategy("causal", seed_memory_id=memory.memory_id)]
        )
        assert lost.strategy_errors[0].strategy == 3
        with refused(grpc.StatusCode.NOT_FOUND):
            some.remember("x", "customer-1", edges=[edge(memory.memory_id, "related_to")])
    found = some.call("Recall", cue="", strategies=[strategy("temporal")])
    assert [r.memory.content for r in found.results] == ["Likes blue."]
    assert some.call("Forget", access_count_floor=1_000).forgotten_count == 1
    assert whole.get(hidden.memory_id).content == "The margin is thin."
    assert whole.get(loose.memory_id).content == "Of nobody."


def test_a_key_for_some_entities_leaves_the_policy_alone(keyed: Make) -> None:
    powers = ["read", "write", "admin"]
    whole = keyed(tenant="mill", permissions=powers)
    some = keyed(tenant="mill", permissions=powers, banks=["customer-*"])
    hidden = whole.remember("The margin is thin.", "staff")
    for fields in ({"max_age_days": 1e-7}, {"run": True}, {"max_age_days": 1e-7, "run": True}):
        with refused(DENIED, "this key reaches banks named customer-* alone"):
            some.call("SetPolicy", **fields)
    assert some.call("SetPolicy").policy.max_age_days == 0
    assert whole.get(hidden.memory_id).content == "The margin is thin."
    every = keyed(tenant="mill", permissions=powers, banks=["*"])
    assert every.call("SetPolicy", max_memories=7).policy.max_memories == 7


def test_only_memories_that_a_key_reaches_are_counted(keyed: Make) -> None:
    whole = keyed(tenant="barn")
    some = keyed(tenant="barn", banks=["customer-*"])
    assert some.call("Check").memory_count == 0
    for entity in ("staff", "customer-1", "customer-2", None):
        whole.remember("Counted.", entity)
    assert whole.call("Check").memory_count == 4
    assert some.call("Check").memory_count == 2


def test_a_key_that_is_used_up_is_told_when_to_come_again(keyed: Make) -> None:
    slow = keyed(rates={"read": {"per_second": 0.001, "burst": 2}})
    for _ in range(2):
        slow.call("Prime", entity_id="one")
    with refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "rate limit exceeded, retry after"):
        slow.call("Prime", entity_id="one")
    assert slow.remember("Writing is counted by itself.", "one").content
