"""Recall over gRPC: each strategy, several together, what fails, and how answers are scored."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from grpc_kit import Client, edge, kind_of, make, new_tenant, refused, strategy
from wire_kit import Server

INVALID = grpc.StatusCode.INVALID_ARGUMENT
CAUSED_BY, FOLLOWED_BY = 1, 3


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with grpc.insecure_channel(server.grpc) as channel:
        yield Client(channel, new_tenant())


def texts(found: Any) -> list[str]:
    return [result.memory.content for result in found.results]


def detail_of(result: Any) -> Any:
    (detail,) = result.strategy_details
    return detail


def test_similarity_ranks_by_cosine_and_says_how_far(client: Client) -> None:
    for number in range(5):
        client.remember(f"Plum tree number {number}.", "garden")
    found = client.call(
        "Recall",
        cue="Plum tree number 3.",
        strategies=[strategy("similarity", entity_id="garden")],
        top_k=3,
    )
    assert len(found.results) == 3
    first = found.results[0]
    assert first.memory.content == "Plum tree number 3."
    assert first.relevance == pytest.approx(1, abs=0.01)
    # A new memory of importance .5 and relevance 1: .5 + .2 + .1, as no use was counted yet.
    assert first.score == pytest.approx(0.8, abs=0.01)
    scores = [result.score for result in found.results]
    assert scores == sorted(scores, reverse=True)
    for result in found.results:
        assert detail_of(result).distance == pytest.approx(1 - result.relevance, abs=1e-5)
        assert not detail_of(result).HasField("rank")


def test_temporal_gives_the_newest_first_without_a_cue(client: Client) -> None:
    made = [client.remember(f"Step {number} of the repair.", "boat") for number in range(4)]
    found = client.call("Recall", cue="", strategies=[strategy("temporal", entity_id="boat")])
    assert texts(found) == [memory.content for memory in reversed(made)]
    for rank, (result, memory) in enumerate(zip(found.results, reversed(made), strict=True)):
        detail = detail_of(result)
        assert (detail.rank, detail.timestamp) == (rank, memory.created_at)
        assert detail.relevance == pytest.approx(1 - rank / 4)


@pytest.mark.parametrize("kind", ["similarity", "analogical"])
def test_a_seed_does_not_stand_in_for_a_cue(client: Client, kind: str) -> None:
    seed = client.remember("Watch.", "boat").memory_id
    asked = [strategy(kind, entity_id="boat", seed_memory_id=seed)]
    with refused(INVALID, "cue must not be empty"):
        client.call("Recall", cue="", strategies=asked)
    walk = strategy("causal", entity_id="boat", seed_memory_id=seed)
    with refused(INVALID, "cue must not be empty"):
        client.call("Recall", cue=" ", strategies=[walk, *asked])
    client.call("Recall", cue="", strategies=[walk])


def test_temporal_keeps_to_a_time_range(client: Client) -> None:
    made = [client.remember(f"Watch {number}.", "boat") for number in range(4)]
    span = make("TimeRange", start_us=made[1].created_at, end_us=made[3].created_at)
    found = client.call(
        "Recall", cue="", strategies=[strategy("temporal", entity_id="boat", time_range=span)]
    )
    assert texts(found) == ["Watch 2.", "Watch 1."]
    backwards = make("TimeRange", start_us=2, end_us=1)
    with refused(INVALID, "time_range"):
        client.call("Recall", cue="", strategies=[strategy("temporal", time_range=backwards)])


def test_each_strategy_keeps_to_its_own_number_and_entity(client: Client) -> None:
    for number in range(4):
        client.remember(f"Left {number}.", "left")
        client.remember(f"Right {number}.", "right")
    found = client.call(
        "Recall",
        cue="Left 0.",
        strategies=[
            strategy("temporal", entity_id="right", top_k=2),
            strategy("similarity", entity_id="left", top_k=1),
        ],
    )
    assert sorted(texts(found)) == ["Left 0.", "Right 2.", "Right 3."]


def chain(client: Client, entity: str) -> list[bytes]:
    """Remember four memories, each caused by the one before, and one that hangs on the second."""
    ids: list[bytes] = []
    for number in range(4):
        edges = [edge(ids[-1], "caused_by", 0.8)] if ids else []
        ids.append(client.remember(f"Link {number}.", entity, edges=edges).memory_id)
    side = client.remember("Beside.", entity, edges=[edge(ids[1], "followed_by")])
    return [*ids, side.memory_id]


def test_causal_walks_links_in_both_directions_with_their_depth(client: Client) -> None:
    ids = chain(client, "chain")
    found = client.call(
        "Recall",
        cue="",
        strategies=[strategy("causal", seed_memory_id=ids[1])],
        scoring_weights=make("ScoringWeights", w_relevance=1.0),
    )
    reached = {r.memory.content: detail_of(r) for r in found.results}
    assert {text: d.depth for text, d in reached.items()} == {
        "Link 0.": 1, "Link 2.": 1, "Beside.": 1, "Link 3.": 2,
    }  # fmt: skip
    assert reached["Beside."].relevance == 1
    assert reached["Link 2."].relevance == pytest.approx(0.8)
    assert reached["Link 3."].relevance == pytest.approx(0.64 / 2)
    assert reached["Link 2."].causal_edge_type == CAUSED_BY
    assert reached["Beside."].causal_edge_type == FOLLOWED_BY
    assert {d.seed_id for d in reached.values()} == {ids[1]}
    assert texts(found)[0] == "Beside."


def test_causal_keeps_to_a_depth_and_to_edge_types(client: Client) -> None:
    ids = chain(client, "chain")
    near = client.call(
        "Recall", cue="", strategies=[strategy("causal", seed_memory_id=ids[0], max_depth=1)]
    )
    assert texts(near) == ["Link 1."]
    by_cause = client.call(
        "Recall",
        cue="",
        strategies=[strategy("causal", seed_memory_id=ids[1], edge_types=[CAUSED_BY])],
    )
    assert sorted(texts(by_cause)) == ["Link 0.", "Link 2.", "Link 3."]


@pytest.mark.parametrize("spelled", [False, True])
def test_causal_begins_where_the_cue_points(client: Client, spelled: bool) -> None:
    ids = chain(client, "chain")
    cue = ids[3].hex() if spelled else "Link 3."
    found = client.call(
        "Recall", cue=cue, strategies=[strategy("causal", entity_id="chain", max_depth=1)]
    )
    assert texts(found) == ["Link 2."]


def test_causal_without_a_beginning_says_so_and_the_others_answer(client: Client) -> None:
    client.remember("Only this.", "one")
    found = client.call(
        "Recall",
        cue="Only this.",
        strategies=[
            strategy("causal", seed_memory_id=bytes(16)),
            strategy("similarity", entity_id="one"),
        ],
    )
    assert texts(found) == ["Only this."]
    (error,) = found.strategy_errors
    assert error.strategy == 3
    assert "no memory" in error.message


def test_analogical_weighs_shape_against_meaning(client: Client) -> None:
    client.remember("The pump failed.", "plant", context={"part": "pump", "hours": 12})
    client.remember("A poem about rust.", "plant", context={"metre": "iambic"})
    found = client.call(
        "Recall",
        cue="Something else entirely.",
        cue_context={"part": "valve", "hours": 3, "kind": "episode"},
        strategies=[strategy("analogical", entity_id="plant", analogical_alpha=0.0)],
        scoring_weights=make("ScoringWeights", w_relevance=1.0),
    )
    assert texts(found)[0] == "The pump failed."
    detail = detail_of(found.results[0])
    # Two of three names in common, of one type each, the same kind, the same entity.
    assert detail.structural_similarity == pytest.approx(0.4 * 2 / 3 + 0.3 + 0.2 + 0.1)
    assert detail.relevance == pytest.approx(detail.structural_similarity)
    assert detail.HasField("embedding_similarity")


def test_a_memory_found_twice_is_told_once_with_both_reasons(client: Client) -> None:
    client.remember("Twice found.", "one")
    found = client.call(
        "Recall",
        cue="Twice found.",
        strategies=[strategy("temporal", entity_id="one"), strategy("similarity", entity_id="one")],
    )
    (result,) = found.results
    assert [detail.strategy_type for detail in result.strategy_details] == [2, 1]


def test_one_text_is_told_once(client: Client) -> None:
    for importance in (0.2, 0.9, 0.4):
        client.remember("The same words.", "one", importance=importance)
    found = client.call("Recall", cue="", strategies=[strategy("temporal", entity_id="one")])
    assert texts(found) == ["The same words."]


def test_without_an_entity_all_of_the_tenant_are_asked(client: Client) -> None:
    client.remember("In the first.", "first")
    client.remember("In the second.", "second")
    client.remember("In none.")
    found = client.call("Recall", cue="In none.", strategies=[strategy("similarity")])
    assert texts(found)[0] == "In none."
    assert len(found.results) == 3
    newest = client.call("Recall", cue="", strategies=[strategy("temporal")], top_k=2)
    assert sorted(texts(newest)) == ["In none.", "In the second."]


def test_weights_decide_and_nought_is_the_default_age(client: Client) -> None:
    client.remember("Of little weight.", "one", importance=0.1)
    client.remember("Of great weight.", "one", importance=0.9)
    for weights, best in (
        ({"w_importance": 1.0}, "Of great weight."),
        ({"w_relevance": 1.0}, "Of little weight."),
    ):
        found = client.call(
            "Recall",
            cue="Of little weight.",
            strategies=[strategy("similarity", entity_id="one")],
            scoring_weights=make("ScoringWeights", **weights),
        )
        assert texts(found)[0] == best
    recent = client.call(
        "Recall",
        cue="x",
        strategies=[strategy("similarity", entity_id="one")],
        scoring_weights=make("ScoringWeights", w_recency=1.0),
    )
    assert all(0.99 < result.score <= 1 for result in recent.results)


def test_a_recall_counts_a_use_unless_told_not_to(client: Client) -> None:
    made = client.remember("Counted.", "one")
    ask = [strategy("temporal", entity_id="one")]
    client.call("Recall", cue="", strategies=ask, reinforce=False)
    told = client.call("Recall", cue="", strategies=ask)
    assert told.results[0].memory.access_count == 0
    deadline = time.monotonic() + 20
    while client.get(made.memory_id).access_count == 0 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert client.get(made.memory_id).access_count == 1


def test_a_forgotten_memory_is_reached_by_nothing(client: Client) -> None:
    ids = chain(client, "chain")
    client.call("Forget", memory_ids=[ids[1]])
    for config, left in (
        (strategy("similarity", entity_id="chain"), 4),
        (strategy("temporal", entity_id="chain"), 4),
        (strategy("causal", seed_memory_id=ids[0]), 0),
    ):
        found = client.call("Recall", cue="Link 1.", strategies=[config])
        assert len(found.results) == left
        assert "Link 1." not in texts(found)


def test_an_insight_is_recalled_with_its_kind(client: Client) -> None:
    one = client.remember("Seen on Monday.", "one")
    client.remember("Often seen.", "one", kind=2, edges=[edge(one.memory_id, "insight_from")])
    found = client.call("Recall", cue="", strategies=[strategy("temporal", entity_id="one")])
    assert [kind_of(r.memory) for r in found.results] == ["insight", "episode"]
    assert list(found.results[0].memory.source_memory_ids) == [one.memory_id]


@pytest.mark.parametrize(
    ("cue", "strategies", "text"),
    [
        ("", ["similarity"], "invalid input for recall: cue must not be empty"),
        ("", ["temporal", "analogical"], "cue must not be empty"),
        ("", ["causal"], "cue must not be empty"),
        ("a question", [], "at least one strategy"),
        ("x" * 65_537, ["similarity"], "65536"),
        ("a question", ["unspecified_strategy"], "strategy_type"),
    ],
)
def test_what_cannot_be_recalled_is_invalid(
    client: Client, cue: str, strategies: list[str], text: str
) -> None:
    with refused(INVALID, text):
        client.call("Recall", cue=cue, strategies=[strategy(name) for name in strategies])


def test_more_than_a_thousand_is_a_thousand(client: Client) -> None:
    client.remember("One of few.", "one")
    found = client.call(
        "Recall", cue="", strategies=[strategy("temporal", entity_id="one")], top_k=4_000_000_000
    )
    assert len(found.results) == 1
    none = client.call("Recall", cue="", strategies=[strategy("temporal")], top_k=0)
    assert len(none.results) == 0


def test_without_an_embedder_meaning_fails_and_time_answers(folder: Any) -> None:
    with (
        Server(folder, embedder="none") as server,
        grpc.insecure_channel(server.grpc) as channel,
    ):
        client = Client(channel, new_tenant())
        client.remember("Kept without a vector.", "one")
        found = client.call(
            "Recall",
            cue="vector",
            strategies=[
                strategy("similarity", entity_id="one"),
                strategy("temporal", entity_id="one"),
            ],
        )
        assert texts(found) == ["Kept without a vector."]
        assert [error.message for error in found.strategy_errors] == ["no embedder is configured"]
        stream = client.subscribe(entity_id="one")
        number = next(stream).subscription_id
        with refused(grpc.StatusCode.UNAVAILABLE, "no embedder is configured"):
            client.call("Feed", subscription_id=number, text="vector")
        stream.cancel()
