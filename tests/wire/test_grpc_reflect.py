"""ReflectService over gRPC: clusters, insights in two steps, and what is refused."""

from __future__ import annotations

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


def of_entity(entity: str, **fields: Any) -> Any:
    return make("ReflectScope", entity=make("EntityScope", entity_id=entity, **fields))


def seen(client: Client, entity: str, times: int = 4) -> list[bytes]:
    """Remember one thing several times, and two others once."""
    ids = [
        client.remember("The crane is out of order.", entity, importance=0.4).memory_id
        for _ in range(times)
    ]
    client.remember("The cook is from Genoa.", entity)
    client.remember("A parcel came by boat.", entity)
    return ids


def commit(client: Client, session: str, *insights: Any) -> int:
    told = client.call("ReflectCommit", session_id=session, insights=list(insights))
    return int(told.insights_created)


def test_reflect_counts_clusters_and_makes_nothing_up(client: Client) -> None:
    seen(client, "dock")
    told = client.call("Reflect", scope=of_entity("dock"))
    assert (told.clusters_found, told.memories_processed) == (1, 6)
    assert (told.insights_created, told.clusters_processed) == (0, 0)
    assert len(client.call("GetInsights", entity_id="dock").insights) == 0


def test_with_fewer_than_five_memories_there_is_nothing_to_reflect_on(client: Client) -> None:
    for _ in range(4):
        client.remember("The crane is out of order.", "dock")
    assert client.call("Reflect", scope=of_entity("dock")).memories_processed == 0


def test_reflect_keeps_to_a_scope(client: Client) -> None:
    seen(client, "dock")
    seen(client, "yard")
    everywhere = make("ReflectScope", **{"global": make("GlobalScope")})
    assert client.call("Reflect", scope=everywhere).clusters_found == 2
    late = of_entity("dock", since_us=1 << 62)
    assert client.call("Reflect", scope=late).clusters_found == 0
    with refused(INVALID, "entity_id"):
        client.call("Reflect", scope=of_entity(""))


def test_a_prepared_cluster_becomes_an_insight_with_its_sources(client: Client) -> None:
    ids = seen(client, "dock")
    prepared = client.call("ReflectPrepare", scope=of_entity("dock"))
    assert len(prepared.session_id) == 26
    assert (prepared.memories_processed, prepared.existing_insight_count) == (6, 0)
    (cluster,) = prepared.clusters
    assert cluster.member_count == 4
    assert sorted(cluster.memory_ids) == sorted(each.hex() for each in ids)
    assert {m.content for m in cluster.memories} == {"The crane is out of order."}
    assert cluster.memory_ids[0] in cluster.proposal_user_prompt
    insight = make(
        "ProducedInsightInput",
        content="The crane breaks down often.",
        confidence=0.8,
        source_memory_ids=list(cluster.memory_ids[:2]),
        tags=["machines"],
        cluster_id=0,
    )
    assert commit(client, prepared.session_id, insight) == 1
    (made,) = client.call("GetInsights", entity_id="dock").insights
    assert made.content == "The crane breaks down often."
    assert kind_of(made) == "insight"
    assert made.importance == pytest.approx(0.7 * 0.4 + 0.3 * 0.8)
    assert sorted(m.hex() for m in made.source_memory_ids) == sorted(cluster.memory_ids[:2])
    assert made.context["reflect_confidence"] == pytest.approx(0.8)
    assert list(made.context["reflect_tags"]) == ["machines"]
    assert made.context["reflect_source_count"] == 2
    # Done again, as after a lost answer, it comes to the same.
    assert commit(client, prepared.session_id, insight) == 1
    assert len(client.call("GetInsights", entity_id="dock").insights) == 1
    again = client.call("ReflectPrepare", scope=of_entity("dock"))
    assert again.existing_insight_count == 1
    client.call("Forget", memory_ids=[bytes.fromhex(cluster.memory_ids[0])])
    assert len(client.call("GetInsights", entity_id="dock").insights) == 0


def test_an_insight_without_sources_rests_on_its_cluster(client: Client) -> None:
    ids = seen(client, "dock")
    prepared = client.call("ReflectPrepare", scope=of_entity("dock"))
    insight = make("ProducedInsightInput", content="All of it.", confidence=1.0, cluster_id=0)
    commit(client, prepared.session_id, insight)
    (made,) = client.call("GetInsights").insights
    assert sorted(made.source_memory_ids) == sorted(ids)


@pytest.mark.parametrize(
    ("fields", "status", "text"),
    [
        ({"content": ""}, INVALID, "content"),
        ({"confidence": 1.5}, INVALID, "confidence"),
        ({"source_memory_ids": []}, INVALID, "source_memory_ids"),
        ({"source_memory_ids": ["zz"]}, INVALID, "source_memory_ids"),
        ({"source_memory_ids": ["00" * 16]}, grpc.StatusCode.NOT_FOUND, "memories that are there"),
    ],
)
def test_an_insight_that_cannot_be_kept_is_refused(
    client: Client, fields: dict[str, Any], status: grpc.StatusCode, text: str
) -> None:
    ids = seen(client, "dock")
    prepared = client.call("ReflectPrepare", scope=of_entity("dock"))
    whole = {"content": "x", "confidence": 0.5, "source_memory_ids": [ids[0].hex()], **fields}
    with refused(status, text):
        commit(client, prepared.session_id, make("ProducedInsightInput", **whole))
    assert len(client.call("GetInsights").insights) == 0


def test_a_session_belongs_to_its_tenant(client: Client) -> None:
    ids = seen(client, "dock")
    prepared = client.call("ReflectPrepare", scope=of_entity("dock"))
    other = Client(client.channel, new_tenant())
    insight = make(
        "ProducedInsightInput", content="x", confidence=0.5, source_memory_ids=[ids[0].hex()]
    )
    with refused(grpc.StatusCode.NOT_FOUND, "session"):
        commit(other, prepared.session_id, insight)
    with refused(grpc.StatusCode.NOT_FOUND, "session"):
        commit(client, "0" * 26, insight)


def test_insights_come_by_importance_and_no_more_than_asked_for(client: Client) -> None:
    one = client.remember("A source.", "one")
    for importance in (0.3, 0.9, 0.6):
        client.remember(
            f"Worth {importance}.",
            "one",
            importance=importance,
            kind=kind("insight"),
            edges=[edge(one.memory_id, "insight_from")],
        )
    told = client.call("GetInsights", entity_id="one", max_results=2)
    assert [each.content for each in told.insights] == ["Worth 0.9.", "Worth 0.6."]
    told = client.call("GetInsights", min_confidence=0.5)
    assert [each.content for each in told.insights] == ["Worth 0.9.", "Worth 0.6."]
    assert len(client.call("GetInsights", entity_id="two").insights) == 0
