"""MemoryService over gRPC: remember, get, revise, prime, policy; two tenants."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from grpc_kit import Client, edge, kind, kind_of, make, new_tenant, refused
from wire_kit import Server

INVALID = grpc.StatusCode.INVALID_ARGUMENT


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with grpc.insecure_channel(server.grpc) as channel:
        yield Client(channel, new_tenant())


def test_remember_keeps_one_memory_as_it_was_told(client: Client) -> None:
    before = time.time_ns() // 1000
    made = client.remember(
        "The harbour closes at six.",
        "pilot",
        importance=0.8,
        context={"source": "radio", "channel": 16, "sure": True, "seen": None, "at": [1, {"x": 2}]},
    )
    assert len(made.memory_id) == 16
    assert made.content == "The harbour closes at six."
    assert made.importance == pytest.approx(0.8)
    assert made.entity_id == "pilot"
    assert kind_of(made) == "episode"
    assert before <= made.created_at == made.updated_at == made.last_accessed_at
    assert (made.access_count, made.logical_clock) == (0, 0)
    assert made.decay_score == pytest.approx(0.8, abs=1e-4)
    assert list(made.embedding) == []
    told = client.get(made.memory_id)
    told.ClearField("decay_score")
    made.ClearField("decay_score")
    assert told == made
    assert told.context["channel"] == 16.0
    assert told.context["sure"] is True
    assert told.context["seen"] is None
    assert told.context["at"][1]["x"] == 2.0


def test_what_is_not_told_has_its_default(client: Client) -> None:
    made = client.remember("A gull sat on the mast.")
    assert made.importance == 0.5
    assert not made.HasField("context")
    assert not made.HasField("entity_id")
    assert not client.get(made.memory_id).HasField("entity_id")


def test_a_memory_without_an_entity_is_no_bank_that_others_can_name(
    server: Server, client: Client
) -> None:
    client.remember("Nobody in particular said this.", tenant_id="default")
    listed = server.client.get("/v1/default/banks").json()["banks"]
    assert all("\x1f" not in bank["bank_id"] for bank in listed)
    with refused(INVALID, "entity_id"):
        client.remember("An entity of the house.", "\x1funnamed")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"content": ""}, "invalid input for remember: content must not be empty"),
        ({"content": " \n"}, "content must not be empty"),
        ({"content": "\u00e9" * 32_769}, "65538 bytes"),
        ({"content": "a", "importance": 2.0}, "importance"),
        ({"content": "a", "importance": -0.1}, "importance"),
        ({"content": "a", "importance": float("nan")}, "importance"),
        ({"content": "a", "context": {"x": "y" * 16_384}}, "16384"),
        ({"content": "a", "context": {"x": float("inf")}}, "finite"),
        ({"content": "a", "entity_id": "x" * 257}, "entity_id"),
        ({"content": "a", "edges": [("short", b"123", "caused_by")]}, "16 bytes"),
        ({"content": "a", "edges": [("entity", bytes(16), "has_entity")]}, "edge_type"),
    ],
)
def test_what_cannot_be_remembered_is_invalid(
    client: Client, fields: dict[str, Any], text: str
) -> None:
    if "edges" in fields:
        fields = {**fields, "edges": [edge(t, k) for _, t, k in fields["edges"]]}
    with refused(INVALID, text):
        client.call("Remember", **fields)


def test_content_of_64_kib_is_kept_whole(client: Client) -> None:
    text = "tide " * 13_107 + "x"
    assert len(text) == 65_536
    assert client.get(client.remember(text, "long").memory_id).content == text


def test_an_edge_to_a_memory_that_is_not_there_is_not_found(client: Client) -> None:
    with refused(grpc.StatusCode.NOT_FOUND, "link"):
        client.remember("Linked to nothing.", "pilot", edges=[edge(b"x" * 16, "related_to")])


def test_an_insight_that_is_remembered_names_its_sources(client: Client) -> None:
    one = client.remember("The ferry was late on Monday.", "pilot")
    two = client.remember("The ferry was late on Tuesday.", "pilot")
    made = client.remember(
        "The ferry is often late.",
        "pilot",
        kind=kind("insight"),
        edges=[edge(each.memory_id, "insight_from") for each in (one, two)],
    )
    assert kind_of(made) == "insight"
    assert sorted(made.source_memory_ids) == sorted([one.memory_id, two.memory_id])


def test_get_refuses_what_is_no_id_and_does_not_find_what_is_not_there(client: Client) -> None:
    with refused(INVALID, "invalid input for get: memory_id must be 16 bytes"):
        client.get(b"12345678")
    with refused(grpc.StatusCode.NOT_FOUND):
        client.get(bytes(16))


def test_an_embedding_is_shown_when_asked_for(client: Client) -> None:
    made = client.remember("The buoy is red.", "pilot")
    found = client.call("Get", memory_id=made.memory_id, embeddings=True).memory
    assert len(found.embedding) == 64
    assert sum(x * x for x in found.embedding) == pytest.approx(1, abs=0.02)


def test_revise_changes_a_memory_in_place_and_keeps_what_it_was(client: Client) -> None:
    made = client.remember("The lock opens at nine.", "canal", context={"a": 1, "b": 2})
    revised = client.call(
        "Revise",
        memory_id=made.memory_id,
        content="The lock opens at ten.",
        importance=0.9,
        context={"b": 3},
    ).memory
    assert revised.memory_id == made.memory_id
    assert revised.content == "The lock opens at ten."
    assert revised.importance == pytest.approx(0.9)
    assert dict(revised.context.items()) == {"a": 1.0, "b": 3.0}
    assert kind_of(revised) == "revision"
    assert revised.logical_clock == 1
    assert revised.created_at == made.created_at
    assert revised.updated_at > made.updated_at
    assert revised.decay_score == pytest.approx(0.9, abs=1e-4)
    (earlier,) = client.get(made.memory_id).revised_from
    assert earlier.content == "The lock opens at nine."
    assert earlier.importance == 0.5
    assert dict(earlier.context.items()) == {"a": 1.0, "b": 2.0}
    found = client.call(
        "Recall",
        cue="The lock opens at ten.",
        strategies=[make("RecallStrategyConfig", strategy_type=1, entity_id="canal")],
    )
    assert found.results[0].relevance == pytest.approx(1, abs=0.01)


def test_revise_replaces_a_context_when_told_to(client: Client) -> None:
    made = client.remember("The bridge is green.", "canal", context={"a": 1, "b": 2})
    revised = client.call("Revise", memory_id=made.memory_id, context={"c": 3}, context_mode=2)
    assert dict(revised.memory.context.items()) == {"c": 3.0}
    emptied = client.call("Revise", memory_id=made.memory_id, context={}, context_mode=2)
    assert not emptied.memory.HasField("context")


def test_the_same_revision_twice_is_made_once(client: Client) -> None:
    made = client.remember("The weir is low.", "canal")
    for _ in range(2):
        revised = client.call("Revise", memory_id=made.memory_id, content="The weir is high.")
    assert revised.memory.logical_clock == 1
    assert len(revised.memory.revised_from) == 1


def test_revise_adds_edges_and_keeps_those_there_are(client: Client) -> None:
    made = client.remember("Rain fell all night.", "canal")
    after = client.remember(
        "The towpath flooded.", "canal", edges=[edge(made.memory_id, "caused_by")]
    )
    third = client.remember("The lock was shut.", "canal")
    client.call("Revise", memory_id=after.memory_id, content="The whole towpath flooded.")
    client.call(
        "Revise", memory_id=after.memory_id, edges=[edge(third.memory_id, "related_to", 0.5)]
    )
    found = client.call(
        "Recall",
        cue="",
        strategies=[make("RecallStrategyConfig", strategy_type=3, seed_memory_id=after.memory_id)],
    )
    assert {r.memory.content for r in found.results} == {
        "Rain fell all night.",
        "The lock was shut.",
    }


def test_a_revision_moves_a_memory_to_another_entity(client: Client) -> None:
    made = client.remember("Ana likes tea.", "ana", context={"k": 1})
    client.call("Revise", memory_id=made.memory_id, content="Ana likes green tea.")
    moved = client.call("Revise", memory_id=made.memory_id, entity_id="ben").memory
    assert (moved.memory_id, moved.entity_id) == (made.memory_id, "ben")
    assert (moved.content, moved.created_at) == ("Ana likes green tea.", made.created_at)
    assert kind_of(moved) == "revision"
    assert [each.content for each in moved.revised_from] == ["Ana likes tea."]
    for entity, count in (("ana", 0), ("ben", 1)):
        found = client.call(
            "Recall",
            cue="",
            strategies=[make("RecallStrategyConfig", strategy_type=2, entity_id=entity)],
        )
        assert len(found.results) == count


def test_revise_refuses_nothing_at_all_and_does_not_find_what_is_not_there(client: Client) -> None:
    made = client.remember("The dock is dry.", "canal")
    with refused(INVALID, "at least one revisable field must be provided"):
        client.call("Revise", memory_id=made.memory_id)
    with refused(INVALID, "content must not be empty"):
        client.call("Revise", memory_id=made.memory_id, content="")
    with refused(grpc.StatusCode.NOT_FOUND):
        client.call("Revise", memory_id=bytes(16), content="x")


def test_a_policy_bounds_the_earlier_states_that_are_kept(client: Client) -> None:
    assert client.call("SetPolicy", max_snapshots_per_memory=2).applied
    made = client.remember("State 0.", "canal")
    for number in range(1, 5):
        client.call("Revise", memory_id=made.memory_id, content=f"State {number}.")
    told = client.get(made.memory_id)
    assert [each.content for each in told.revised_from] == ["State 3.", "State 2."]
    assert told.logical_clock == 4


def test_a_policy_is_changed_in_parts_and_checked(client: Client) -> None:
    assert client.call("SetPolicy").applied
    assert client.call("SetPolicy", decay_half_life_days=1.0, auto_forget_threshold=0.2).applied
    for fields in ({"decay_half_life_days": 0.0}, {"auto_forget_threshold": float("nan")}):
        with refused(INVALID, "invalid input for set_policy"):
            client.call("SetPolicy", **fields)


def test_prime_blends_and_counts(client: Client) -> None:
    for number in range(5):
        client.remember(f"Session note number {number}.", "customer", context={"n": number})
    told = client.call(
        "Prime", entity_id="customer", max_memories=4, similarity_cue="Session note number 1."
    )
    assert len(told.results) == told.temporal_count + told.similarity_count == 4
    assert all(len(result.strategy_details) == 1 for result in told.results)
    by_text = {result.memory.content: result for result in told.results}
    assert by_text["Session note number 1."].relevance == pytest.approx(1, abs=0.01)
    assert by_text["Session note number 1."].memory.context["n"] == 1.0
    for result in told.results:
        assert result.memory.entity_id == "customer"
        assert result.memory.access_count == 0
        (detail,) = result.strategy_details
        if detail.strategy_type == 2:
            assert detail.HasField("rank")
            assert detail.timestamp == result.memory.created_at
        else:
            assert detail.distance == pytest.approx(1 - result.relevance, abs=1e-5)


def test_prime_counts_a_use_unless_told_not_to(client: Client) -> None:
    made = client.remember("Used once.", "customer")
    client.call("Prime", entity_id="customer", reinforce=False)
    client.call("Prime", entity_id="customer")
    deadline = time.monotonic() + 20
    while client.get(made.memory_id).access_count == 0 and time.monotonic() < deadline:
        time.sleep(0.02)
    told = client.get(made.memory_id)
    assert told.access_count == 1
    assert told.last_accessed_at > made.created_at


def test_prime_of_nobody_is_empty_and_without_an_entity_invalid(client: Client) -> None:
    told = client.call("Prime", entity_id="nobody")
    assert (len(told.results), told.temporal_count, told.similarity_count) == (0, 0, 0)
    assert len(client.call("Prime", entity_id="nobody", max_memories=0).results) == 0
    with refused(INVALID, "invalid input for prime: entity_id must not be empty"):
        client.call("Prime", entity_id="")
    weights = make("ScoringWeights", w_relevance=-1.0)
    with refused(INVALID, "w_relevance"):
        client.call("Prime", entity_id="nobody", scoring_weights=weights)


def test_prime_keeps_to_an_order_and_a_budget(client: Client) -> None:
    for number in range(4):
        client.remember(f"Entry {number} of the diary.", "diary", importance=number / 4)
    blocks = client.call("Prime", entity_id="diary", order="blocks")
    assert [r.memory.content[6] for r in blocks.results] == ["0", "1", "2", "3"]
    by_score = client.call("Prime", entity_id="diary", order="score")
    assert [r.memory.content[6] for r in by_score.results] == ["3", "2", "1", "0"]
    short = client.call("Prime", entity_id="diary", max_tokens=12)
    assert 0 < len(short.results) < 4
    for fields, text in (({"order": "size"}, "order must be"), ({"format": "xml"}, "format must")):
        with refused(INVALID, f"invalid input for prime: {text}"):
            client.call("Prime", entity_id="diary", **fields)


def test_prime_ages_from_the_time_it_is_given(client: Client) -> None:
    made = client.remember("Said this spring.", "diary")
    weights = make("ScoringWeights", w_recency=1.0)
    fifteen_days = 15 * 86_400_000_000
    for later, score in ((0, 1.0), (fifteen_days, 0.5), (2 * fifteen_days, 0.0)):
        told = client.call(
            "Prime",
            entity_id="diary",
            now_us=made.created_at + later,
            scoring_weights=weights,
            reinforce=False,
        )
        assert told.results[0].score == pytest.approx(score, abs=1e-6)


def test_prime_gives_a_text_and_embeddings_when_asked_for(client: Client) -> None:
    client.remember("The attic is dry.", "house")
    plain = client.call("Prime", entity_id="house")
    assert not plain.HasField("text")
    assert len(plain.results[0].memory.embedding) == 0
    told = client.call("Prime", entity_id="house", format="text", embeddings=True)
    assert "The attic is dry." in told.text
    assert len(told.results[0].memory.embedding) == 64


def test_prime_tells_what_is_due(server: Server, client: Client, bank: str) -> None:
    made = server.post(
        f"/v1/default/banks/{bank}/intentions",
        {"content": "Water the ferns.", "triggerAt": 1_700_000_000_000, "importance": 0.7},
    )
    assert made.status_code in {200, 201}, made.text
    told = client.call("Prime", entity_id=bank, tenant_id="default")
    (due,) = told.due
    assert due.content == "Water the ferns."
    assert len(due.intention_id) == len(due.occurrence_id) == 16
    assert due.due_at == 1_700_000_000_000_000
    assert due.importance == pytest.approx(0.7)
    assert due.late_us > 0


def test_what_is_retained_over_http_is_primed_and_shown_over_grpc(
    server: Server, client: Client, bank: str
) -> None:
    server.retain(bank, {"content": "Ana moved to Lisbon in May.", "metadata": {"k": "v"}})
    told = client.call("Prime", entity_id=bank, tenant_id="default")
    (result,) = told.results
    assert result.memory.content == "Ana moved to Lisbon in May."
    assert kind_of(result.memory) == "document"
    with refused(INVALID, "part of a document"):
        client.call(
            "Revise",
            memory_id=result.memory.memory_id,
            entity_id=f"{bank}-b",
            tenant_id="default",
        )


def test_two_tenants_see_nothing_of_each_other(server: Server) -> None:
    with grpc.insecure_channel(server.grpc) as channel:
        one, two = Client(channel, new_tenant()), Client(channel, new_tenant())
        mine = one.remember("The vault code is in the blue folder.", "shared")
        theirs = two.remember("The vault is empty.", "shared")
        for client, own in ((one, mine), (two, theirs)):
            primed = client.call("Prime", entity_id="shared", similarity_cue="vault")
            assert [r.memory.memory_id for r in primed.results] == [own.memory_id]
            assert primed.temporal_count + primed.similarity_count == 1
            for strategies in ([make("RecallStrategyConfig", strategy_type=n)] for n in (1, 2)):
                found = client.call("Recall", cue="vault", strategies=strategies)
                assert [r.memory.memory_id for r in found.results] == [own.memory_id]
        for method, fields in (
            ("Get", {}),
            ("Revise", {"content": "Taken over."}),
        ):
            with refused(grpc.StatusCode.NOT_FOUND):
                two.call(method, memory_id=mine.memory_id, **fields)
        assert two.call("Forget", memory_ids=[mine.memory_id]).forgotten_count == 0
        with refused(grpc.StatusCode.NOT_FOUND):
            two.remember("Linked across.", "shared", edges=[edge(mine.memory_id, "related_to")])
        assert two.call("Forget", entity_id="shared").forgotten_count == 1
        assert one.get(mine.memory_id).content == "The vault code is in the blue folder."
