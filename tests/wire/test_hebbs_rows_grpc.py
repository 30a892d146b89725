"""HEBBS's own tests over gRPC, row by row, for two tenants: the test id is the row's name.

All rows are here. Remember: remember_basic, remember_empty_content, remember_invalid_importance,
remember_default_importance, remember_with_context. Get: get_after_remember, get_not_found,
get_invalid_id_length. Recall: recall_similarity, recall_temporal, recall_empty_cue,
recall_no_strategies. Prime: prime_basic, prime_empty_entity. Revise: revise_content,
revise_importance, revise_not_found. Forget: forget_by_id, forget_empty_criteria. Health:
health_check, health_reflects_memory_count. Others: insights_empty, lifecycle, bulk,
metrics_increment.
"""

from __future__ import annotations

import grpc
import pytest
from grpc_kit import kind_of, refused
from hebbs_rows_kit import ROOM, Pair, Row, ids_of, texts_of

import remembrancer

INVALID, MISSING = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
NO_ID = bytes(16)
ROWS: dict[str, Row] = {}


def row(test: Row) -> Row:
    ROWS[test.__name__] = test
    return test


@row
def remember_basic(pair: Pair) -> None:
    made = pair.one.remember("The lamp stands by the door.", ROOM, importance=0.8)
    assert made.content == "The lamp stands by the door."
    assert made.importance == pytest.approx(0.8, abs=0.01)
    assert (made.entity_id, len(made.memory_id), kind_of(made)) == (ROOM, 16, "episode")
    assert made.created_at > 0


@row
def remember_empty_content(pair: Pair) -> None:
    with refused(INVALID, "content must not be empty"):
        pair.one.remember("", ROOM)


@row
def remember_invalid_importance(pair: Pair) -> None:
    with refused(INVALID, "importance"):
        pair.one.remember("Too much of it.", ROOM, importance=2.0)


@row
def remember_default_importance(pair: Pair) -> None:
    assert pair.one.remember("Of no special weight.", ROOM).importance == 0.5


@row
def remember_with_context(pair: Pair) -> None:
    made = pair.one.remember("In a context.", ROOM, context={"colour": "red", "count": 5})
    assert dict(made.context.items()) == {"colour": "red", "count": 5.0}


@row
def get_after_remember(pair: Pair) -> None:
    made = pair.one.remember("To be got.", ROOM)
    assert pair.one.get(made.memory_id).content == "To be got."
    with refused(MISSING):
        pair.two.get(made.memory_id)


@row
def get_not_found(pair: Pair) -> None:
    with refused(MISSING):
        pair.one.get(NO_ID)


@row
def get_invalid_id_length(pair: Pair) -> None:
    with refused(INVALID, "16 bytes"):
        pair.one.get(bytes(8))


@row
def recall_similarity(pair: Pair) -> None:
    mine = {made.memory_id for made in pair.room(5)}
    for entity in (ROOM, None):
        found = pair.recall("The room of another.", "similarity", entity=entity, top_k=3)
        assert 1 <= len(found.results) <= 3
        assert all(result.score > 0 for result in found.results)
        assert set(ids_of(found)) < mine


@row
def recall_temporal(pair: Pair) -> None:
    mine = [made.memory_id for made in pair.room(3)]
    for entity in (ROOM, None):
        assert ids_of(pair.recall("a cue", "temporal", entity=entity)) == mine[::-1]


@row
def recall_empty_cue(pair: Pair) -> None:
    with refused(INVALID, "cue must not be empty"):
        pair.recall("", "similarity")


@row
def recall_no_strategies(pair: Pair) -> None:
    with refused(INVALID, "at least one strategy"):
        pair.recall("a cue")


@row
def prime_basic(pair: Pair) -> None:
    mine = {made.memory_id for made in pair.room(5)}
    primed = pair.prime(max_memories=10, similarity_cue="The room of another.")
    assert set(ids_of(primed)) == mine
    assert primed.temporal_count + primed.similarity_count == 5
    plain = pair.prime(max_memories=10)
    assert (plain.temporal_count, plain.similarity_count) == (5, 0)


@row
def prime_empty_entity(pair: Pair) -> None:
    with refused(INVALID, "invalid input for prime: entity_id must not be empty"):
        pair.prime("")


@row
def revise_content(pair: Pair) -> None:
    made = pair.one.remember("As it was.", ROOM)
    revised = pair.one.call("Revise", memory_id=made.memory_id, content="As it is.").memory
    assert (revised.content, revised.memory_id) == ("As it is.", made.memory_id)
    assert revised.updated_at >= revised.created_at
    assert kind_of(revised) == "revision"


@row
def revise_importance(pair: Pair) -> None:
    made = pair.one.remember("As it was.", ROOM)
    revised = pair.one.call("Revise", memory_id=made.memory_id, importance=0.9).memory
    assert revised.importance == pytest.approx(0.9)


@row
def revise_not_found(pair: Pair) -> None:
    made = pair.one.remember("Of the one.", ROOM)
    for client, memory_id in ((pair.one, NO_ID), (pair.two, made.memory_id)):
        with refused(MISSING):
            client.call("Revise", memory_id=memory_id, content="x")
    assert pair.one.get(made.memory_id).content == "Of the one."


@row
def forget_by_id(pair: Pair) -> None:
    made = pair.one.remember("To be forgotten.", ROOM)
    assert pair.two.call("Forget", memory_ids=[made.memory_id]).forgotten_count == 0
    gone = pair.one.call("Forget", memory_ids=[made.memory_id])
    assert gone.forgotten_count == 1
    assert gone.tombstone_count >= 1
    with refused(MISSING):
        pair.one.get(made.memory_id)


@row
def forget_empty_criteria(pair: Pair) -> None:
    with refused(INVALID, "at least one"):
        pair.one.call("Forget")


@row
def health_check(pair: Pair) -> None:
    told = pair.one.call("Check")
    assert (told.status, told.version) == (1, remembrancer.__version__)


@row
def health_reflects_memory_count(pair: Pair) -> None:
    assert pair.one.call("Check").memory_count == 0
    pair.room(3)
    assert pair.one.call("Check").memory_count == 3


@row
def insights_empty(pair: Pair) -> None:
    pair.room(3)
    for named in ({}, {"entity_id": ROOM}):
        assert len(pair.one.call("GetInsights", **named).insights) == 0


@row
def lifecycle(pair: Pair) -> None:
    made = pair.one.remember("The lamp is off.", ROOM)
    assert pair.one.get(made.memory_id).content == "The lamp is off."
    pair.one.call("Revise", memory_id=made.memory_id, content="The lamp is on.")
    assert texts_of(pair.recall("The lamp is on.", "similarity")) == ["The lamp is on."]
    assert texts_of(pair.prime()) == ["The lamp is on."]
    assert pair.one.call("Forget", memory_ids=[made.memory_id]).forgotten_count == 1
    with refused(MISSING):
        pair.one.get(made.memory_id)
    assert len(pair.recall("The lamp is on.", "similarity").results) == 0


@row
def bulk(pair: Pair) -> None:
    mine = {made.memory_id for made in pair.room(20)}
    found = pair.recall("Thing 7 of the room.", "similarity", top_k=10)
    assert len(found.results) <= 10
    assert set(ids_of(found)) < mine
    scores = [result.score for result in found.results]
    assert scores == sorted(scores, reverse=True)
    assert found.results[0].memory.content == "Thing 7 of the room."


@row
def metrics_increment(pair: Pair) -> None:
    def figures() -> tuple[str, dict[str, float]]:
        key = pair.served.key("default", "cross_tenant")
        text = pair.served.ask(key, "GET", "/v1/metrics").text
        lines = (line.rpartition(" ") for line in text.splitlines() if line[0] != "#")
        return text, {name: float(value) for name, _, value in lines}

    _, before = figures()
    pair.one.remember("To be counted.", ROOM)
    with refused(INVALID):
        pair.one.remember("", ROOM)
    pair.prime()
    text, after = figures()
    assert "# TYPE hebbs_operation_duration_seconds histogram" in text
    counted = "hebbs_operation_duration_seconds_count"
    for name, more in (
        (f'{counted}{{operation="remember",status="ok"}}', 1),
        (f'{counted}{{operation="remember",status="error"}}', 1),
        (f'{counted}{{operation="prime",status="ok"}}', 1),
        ('hebbs_errors_total{operation="remember",error_type="INVALID_ARGUMENT"}', 1),
        ("hebbs_memory_count", 1),
        ("hebbs_grpc_requests_total", 3),
        ("hebbs_active_subscriptions", 0),
    ):
        assert after[name] - before.get(name, 0) == more, name


@pytest.mark.parametrize("name", ROWS)
def test_row(pair: Pair, name: str) -> None:
    ROWS[name](pair)


def test_no_row_is_missing() -> None:
    assert len(ROWS) == 25
    assert all(name in (__doc__ or "") for name in ROWS)
