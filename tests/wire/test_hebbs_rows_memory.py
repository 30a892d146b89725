"""HEBBS's own tests of its engine, row by row, for two tenants: what is done with memories.

The test id is the row's name; the rest of the table is in `test_hebbs_rows_house.py`. Where its
engine gives an error for a temporal recall without an entity, this one recalls over all entities of
the tenant.

Prime: prime_thirty, prime_five_of_fifty, prime_with_a_cue, prime_no_duplicates_of_20,
prime_no_duplicates_of_50, prime_empty_entity, prime_reinforces, prime_of_no_other_entity,
prime_unknown_entity, prime_fifty_on_disk, prime_combines. Remember: importance_below_0,
importance_above_1, content_of_64_kib, content_a_byte_longer. Recall: top_k_is_clamped,
recall_counts_each_use, reinforcement_survives_restart, score_is_monotone, score_is_bounded,
strategies_are_joined, strategies_tell_a_memory_once, strategies_fail_alone,
temporal_without_entity, causal_seed_missing, similarity_of_one_entity, causal_of_one_entity,
analogical_of_one_entity. Revise: revise_keeps_a_snapshot, snapshots_are_not_found, revise_chain,
snapshots_are_pruned, revise_merges, revise_replaces, revise_resets_decay, revise_nothing. Forget:
forget_by_id, forget_by_entity, forget_tombstones, forget_cascades, forget_is_idempotent,
forget_in_batches, forget_outlives_compaction. Decay: decay_half, decay_quarter, decay_zero,
decay_capped.
"""

from __future__ import annotations

import itertools

import grpc
import pytest
from grpc_kit import edge, kind_of, make, refused, strategy
from hebbs_rows_kit import ROOM, Pair, Row, ids_of, texts_of

from remembrancer.finding.composite import ScoringWeights, composite
from remembrancer.finding.decay import decayed
from remembrancer.nouns.clock import DAY_US
from remembrancer.verbs import criteria

INVALID, MISSING = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
NO_ID = bytes(16)
OTHER = "hall"
ROWS: dict[str, Row] = {}


def row(test: Row) -> Row:
    ROWS[test.__name__] = test
    return test


@row
def prime_thirty(pair: Pair) -> None:
    pair.room(30)
    primed = pair.prime(similarity_cue="Thing 3 of the room.")
    assert (primed.temporal_count, primed.similarity_count) == (10, 10)
    plain = pair.prime()
    assert (plain.temporal_count, plain.similarity_count) == (20, 0)


@row
def prime_five_of_fifty(pair: Pair) -> None:
    pair.room(50)
    for cue in ({}, {"similarity_cue": "Thing 3 of the room."}):
        assert len(pair.prime(max_memories=5, **cue).results) == 5


@row
def prime_with_a_cue(pair: Pair) -> None:
    pair.room(12)
    primed = pair.prime(similarity_cue="Thing 0 of the room.", max_memories=4)
    assert (primed.temporal_count, primed.similarity_count) == (2, 2)
    assert texts_of(primed)[0] == "Thing 0 of the room."


def _no_duplicates(pair: Pair, count: int) -> None:
    mine = {made.memory_id for made in pair.room(count)}
    for most in (5, 20, 50):
        primed = pair.prime(similarity_cue="Thing 1 of the room.", max_memories=most)
        ids = ids_of(primed)
        assert len(ids) == len(set(ids)) == min(most, count)
        assert set(ids) <= mine


@row
def prime_no_duplicates_of_20(pair: Pair) -> None:
    _no_duplicates(pair, 20)


@row
def prime_no_duplicates_of_50(pair: Pair) -> None:
    _no_duplicates(pair, 50)


@row
def prime_empty_entity(pair: Pair) -> None:
    for entity in ("", "  "):
        with refused(INVALID, "entity_id must not be empty"):
            pair.prime(entity)


@row
def prime_reinforces(pair: Pair) -> None:
    [made] = pair.room(1)
    assert [r.memory.access_count for r in pair.prime().results] == [0]
    pair.served.settle()
    assert pair.one.get(made.memory_id).access_count == 1


@row
def prime_of_no_other_entity(pair: Pair) -> None:
    for n in range(15):
        for entity in (ROOM, OTHER):
            pair.one.remember(f"Thing {n} of the {entity}.", entity)
    for entity, cue in itertools.product((ROOM, OTHER), ({}, {"similarity_cue": "of the room"})):
        primed = pair.prime(entity, max_memories=50, **cue)
        assert {r.memory.entity_id for r in primed.results} == {entity}
        assert len(primed.results) == 15


@row
def prime_unknown_entity(pair: Pair) -> None:
    pair.room(3)
    primed = pair.prime("unknown", similarity_cue="Thing")
    assert (len(primed.results), primed.temporal_count, primed.similarity_count) == (0, 0, 0)


@row
def prime_fifty_on_disk(pair: Pair) -> None:
    pair.room(50)
    pair.served.settle()
    assert pair.prime().temporal_count == 20


@row
def prime_combines(pair: Pair) -> None:
    pair.room(6)
    primed = pair.prime(similarity_cue="Thing 0 of the room.", max_memories=4)
    kinds = [result.strategy_details[0].strategy_type for result in primed.results]
    assert sorted(kinds) == [1, 1, 2, 2]


@row
def importance_below_0(pair: Pair) -> None:
    with refused(INVALID, "importance"):
        pair.one.remember("Too little.", ROOM, importance=-0.1)


@row
def importance_above_1(pair: Pair) -> None:
    with refused(INVALID, "importance"):
        pair.one.remember("Too much.", ROOM, importance=1.1)


@row
def content_of_64_kib(pair: Pair) -> None:
    made = pair.one.remember("a" * 65_536, ROOM)
    assert len(pair.one.get(made.memory_id).content) == 65_536


@row
def content_a_byte_longer(pair: Pair) -> None:
    with refused(INVALID, "65537 bytes"):
        pair.one.remember("a" * 65_537, ROOM)


@row
def top_k_is_clamped(pair: Pair) -> None:
    mine = [made.memory_id for made in pair.room(3)]
    assert ids_of(pair.recall("", "temporal", top_k=5_000)) == mine[::-1]


@row
def recall_counts_each_use(pair: Pair) -> None:
    [made] = pair.room(1)
    for used in range(3):
        [found] = pair.recall(made.content, "similarity").results
        assert found.memory.access_count == used
        pair.served.settle()


@row
def reinforcement_survives_restart(pair: Pair) -> None:
    [made] = pair.room(1)
    before = [result.score for result in pair.prime().results]
    for _ in range(4):
        pair.prime()
    pair.served.settle()
    assert pair.one.get(made.memory_id).access_count == 5
    # log2(6) / log2(101) = .3882, of which a tenth counts.
    [after] = [result.score for result in pair.prime().results]
    assert after - before[0] == pytest.approx(0.0388, abs=0.001)


@row
def score_is_monotone(pair: Pair) -> None:
    steps = (0.0, 0.2, 0.5, 0.9, 1.0)

    def of(relevance: float, freshness: float, importance: float, used: float) -> float:
        return composite(
            ScoringWeights(),
            relevance=relevance,
            age_us=int((1 - freshness) * 30 * DAY_US),
            importance=importance,
            access_count=int(used * 100),
        )

    for values in itertools.product(steps, repeat=4):
        for place, more in itertools.product(range(4), steps):
            if more > values[place]:
                raised = [*values[:place], more, *values[place + 1 :]]
                assert of(*raised) > of(*values)


@row
def score_is_bounded(pair: Pair) -> None:
    weights = ScoringWeights(0.3, 0.9, 0.4, 0.2)
    for relevance, age, importance, used in itertools.product(
        (-1.0, 0.5, 2.0), (-DAY_US, DAY_US, 90 * DAY_US), (-1.0, 0.5, 2.0), (0, 50, 10_000)
    ):
        score = composite(
            weights, relevance=relevance, age_us=age, importance=importance, access_count=used
        )
        assert 0 <= score <= 0.3 + 0.9 + 0.4 + 0.2 + 1e-9


@row
def strategies_are_joined(pair: Pair) -> None:
    mine = [made.memory_id for made in pair.room(6)]
    asked = [
        strategy("temporal", entity_id=ROOM, top_k=2),
        strategy("similarity", entity_id=ROOM, top_k=1),
    ]
    found = pair.one.call("Recall", cue="Thing 0 of the room.", strategies=asked)
    assert set(ids_of(found)) == {mine[0], mine[4], mine[5]}


@row
def strategies_tell_a_memory_once(pair: Pair) -> None:
    pair.room(4)
    found = pair.recall("Thing 0 of the room.", "temporal", "similarity", "analogical")
    ids = ids_of(found)
    assert len(ids) == len(set(ids)) == 4
    for result in found.results:
        assert sorted(d.strategy_type for d in result.strategy_details) == [1, 2, 4]


@row
def strategies_fail_alone(pair: Pair) -> None:
    mine = [made.memory_id for made in pair.room(2)]
    asked = [strategy("causal", seed_memory_id=NO_ID), strategy("temporal", entity_id=ROOM)]
    found = pair.one.call("Recall", cue="", strategies=asked)
    assert ids_of(found) == mine[::-1]
    assert [error.strategy for error in found.strategy_errors] == [3]


@row
def temporal_without_entity(pair: Pair) -> None:
    mine = [pair.one.remember("Here.", ROOM), pair.one.remember("There.", OTHER)]
    found = pair.recall("", "temporal", entity=None)
    assert ids_of(found) == [made.memory_id for made in reversed(mine)]
    assert len(found.strategy_errors) == 0


@row
def causal_seed_missing(pair: Pair) -> None:
    theirs = pair.two.call("Prime", entity_id=ROOM, reinforce=False).results[0].memory.memory_id
    for seed in (NO_ID, theirs):
        found = pair.one.call(
            "Recall", cue="", strategies=[strategy("causal", seed_memory_id=seed)]
        )
        assert len(found.results) == 0
        assert [error.strategy for error in found.strategy_errors] == [3]


def _two_entities(pair: Pair) -> set[bytes]:
    """Remember the same of two entities, each with a link; return the ids of the room's."""
    mine = set()
    for entity in (ROOM, OTHER):
        first = pair.one.remember("The pipe burst.", entity, context={"part": "pipe"})
        ties = [edge(first.memory_id, "caused_by")]
        second = pair.one.remember("The floor is wet.", entity, edges=ties)
        if entity == ROOM:
            mine = {first.memory_id, second.memory_id}
    return mine


@row
def similarity_of_one_entity(pair: Pair) -> None:
    assert set(ids_of(pair.recall("The pipe burst.", "similarity"))) == set()
    mine = _two_entities(pair)
    assert set(ids_of(pair.recall("The pipe burst.", "similarity"))) == mine


@row
def causal_of_one_entity(pair: Pair) -> None:
    mine = _two_entities(pair)
    found = pair.recall("The pipe burst.", "causal")
    assert texts_of(found) == ["The floor is wet."]
    assert set(ids_of(found)) < mine


@row
def analogical_of_one_entity(pair: Pair) -> None:
    mine = _two_entities(pair)
    found = pair.recall("The pipe burst.", "analogical", cue_context={"part": "tap"})
    assert set(ids_of(found)) == mine


def _revised(pair: Pair, times: int, **policy: int) -> bytes:
    if policy:
        pair.one.call("SetPolicy", **policy)
    made = pair.one.remember("State 0.", ROOM)
    for number in range(1, times + 1):
        pair.one.call("Revise", memory_id=made.memory_id, content=f"State {number}.")
    return bytes(made.memory_id)


@row
def revise_keeps_a_snapshot(pair: Pair) -> None:
    told = pair.one.get(_revised(pair, 1))
    assert [each.content for each in told.revised_from] == ["State 0."]
    assert (kind_of(told), told.logical_clock) == ("revision", 1)


@row
def snapshots_are_not_found(pair: Pair) -> None:
    memory_id = _revised(pair, 3)
    for found in (
        pair.recall("State 0.", "similarity"),
        pair.recall("", "temporal"),
        pair.prime(similarity_cue="State 0."),
    ):
        assert (ids_of(found), texts_of(found)) == ([memory_id], ["State 3."])
    assert pair.one.call("Check").memory_count == 1


@row
def revise_chain(pair: Pair) -> None:
    told = pair.one.get(_revised(pair, 4))
    assert [each.content for each in told.revised_from] == [f"State {n}." for n in (3, 2, 1, 0)]
    assert told.logical_clock == 4


@row
def snapshots_are_pruned(pair: Pair) -> None:
    told = pair.one.get(_revised(pair, 5, max_snapshots_per_memory=2))
    assert [each.content for each in told.revised_from] == ["State 4.", "State 3."]


@row
def revise_merges(pair: Pair) -> None:
    made = pair.one.remember("In a context.", ROOM, context={"a": 1, "b": 1})
    told = pair.one.call("Revise", memory_id=made.memory_id, context={"b": 2, "c": 3}).memory
    assert dict(told.context.items()) == {"a": 1, "b": 2, "c": 3}


@row
def revise_replaces(pair: Pair) -> None:
    made = pair.one.remember("In a context.", ROOM, context={"a": 1, "b": 1})
    told = pair.one.call("Revise", memory_id=made.memory_id, context={"c": 3}, context_mode=2)
    assert dict(told.memory.context.items()) == {"c": 3}


@row
def revise_resets_decay(pair: Pair) -> None:
    made = pair.one.remember("Fading.", ROOM, importance=0.8)
    pair.hands.ahead_us = 30 * DAY_US
    assert pair.one.get(made.memory_id).decay_score == pytest.approx(0.4, abs=1e-3)
    told = pair.one.call("Revise", memory_id=made.memory_id, content="Fresh.").memory
    assert told.decay_score == pytest.approx(0.8, abs=1e-3)
    assert told.created_at == made.created_at


@row
def revise_nothing(pair: Pair) -> None:
    [made] = pair.room(1)
    with refused(INVALID, "at least one revisable field"):
        pair.one.call("Revise", memory_id=made.memory_id)


@row
def forget_by_id(pair: Pair) -> None:
    gone, kept = pair.room(2)
    assert pair.one.call("Forget", memory_ids=[gone.memory_id]).forgotten_count == 1
    assert ids_of(pair.prime()) == [kept.memory_id]
    with refused(MISSING):
        pair.one.get(gone.memory_id)


@row
def forget_by_entity(pair: Pair) -> None:
    pair.room(7)
    kept = pair.one.remember("Of the hall.", OTHER)
    assert pair.one.call("Forget", entity_id=ROOM).forgotten_count == 7
    assert len(pair.prime().results) == 0
    assert ids_of(pair.prime(OTHER)) == [kept.memory_id]


@row
def forget_tombstones(pair: Pair) -> None:
    mine = [made.memory_id for made in pair.room(3)]
    told = pair.one.call("Forget", entity_id=ROOM)
    assert told.tombstone_count == 3
    assert sorted(told.erased_ids) == sorted(mine)


@row
def forget_cascades(pair: Pair) -> None:
    memory_id = _revised(pair, 3)
    told = pair.one.call("Forget", memory_ids=[memory_id])
    assert (told.forgotten_count, told.cascade_count) == (1, 3)


@row
def forget_is_idempotent(pair: Pair) -> None:
    [made] = pair.room(1)
    counts = [
        pair.one.call("Forget", memory_ids=[made.memory_id, NO_ID]).forgotten_count
        for _ in range(3)
    ]
    assert counts == [1, 0, 0]


@row
def forget_in_batches(pair: Pair) -> None:
    for entity in (ROOM, OTHER):
        for n in range(4):
            pair.one.remember(f"Thing {n} of the {entity}.", entity, importance=0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(criteria, "MOST", 4)
        first, second, third = [pair.one.call("Forget", decay_score_floor=0.5) for _ in range(3)]
    assert (first.forgotten_count, first.truncated) == (4, True)
    assert (second.forgotten_count, second.truncated) == (4, False)
    assert (third.forgotten_count, third.truncated) == (0, False)


@row
def forget_outlives_compaction(pair: Pair) -> None:
    gone, kept = pair.room(2)
    pair.recall(gone.content, "similarity")
    pair.one.call("Forget", memory_ids=[gone.memory_id])
    pair.served.run(pair.served.app.store.sweep(pair.hands.now_us()))
    pair.served.settle()
    for found in (
        pair.recall(gone.content, "similarity"),
        pair.recall("", "temporal"),
        pair.prime(similarity_cue=gone.content),
    ):
        assert ids_of(found) == [kept.memory_id]


def _decayed(pair: Pair, days: int, importance: float) -> float:
    """Return what a memory that nobody used is worth after so many days."""
    made = pair.one.remember("Fading.", ROOM, importance=importance)
    pair.hands.ahead_us = days * DAY_US
    return float(pair.one.get(made.memory_id).decay_score)


@row
def decay_half(pair: Pair) -> None:
    assert _decayed(pair, 30, 1.0) == pytest.approx(0.5, abs=1e-3)


@row
def decay_quarter(pair: Pair) -> None:
    assert _decayed(pair, 60, 1.0) == pytest.approx(0.25, abs=1e-3)


@row
def decay_zero(pair: Pair) -> None:
    assert _decayed(pair, 1, 0.0) == 0


@row
def decay_capped(pair: Pair) -> None:
    worth = [
        decayed(0.6, age_us=0, access_count=used, half_life_us=DAY_US)
        for used in (0, 50, 100, 1_000_000)
    ]
    assert worth == sorted(worth)
    assert worth[-1] == worth[-2] == pytest.approx(1.2)
    weights = make("ScoringWeights", w_reinforcement=1.0, reinforcement_cap=1)
    pair.room(1)
    for used in (0.0, 1.0, 1.0):
        [result] = pair.prime(scoring_weights=weights).results
        assert result.score == pytest.approx(used)
        pair.served.settle()


@pytest.mark.parametrize("name", ROWS)
def test_row(pair: Pair, name: str) -> None:
    ROWS[name](pair)


def test_no_row_is_missing() -> None:
    assert len(ROWS) == 47
    assert all(name in (__doc__ or "") for name in ROWS)
