"""Links that follow from rows, against slow and plain re-computation."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from test_search import DIM, make_row, state_of, unit

from remembrancer.finding.links import (
    DAY_US,
    count_links,
    entity_links,
    indexed,
    semantic_links,
    temporal_links,
)
from remembrancer.finding.state import advance
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import Link, LinkType

HOUR_US = 3_600_000_000


def new_ids(n: int) -> list[bytes]:
    ids = IdMaker()
    return [ids.new() for _ in range(n)]


def as_set(edges) -> set[tuple[int, int]]:
    return set(zip(edges.source.tolist(), edges.target.tolist(), strict=True))


def test_temporal_weight_falls_with_the_hours() -> None:
    ids = new_ids(4)
    times = [0, 6 * HOUR_US, 20 * HOUR_US, 60 * HOUR_US]
    found = temporal_links(ids, [0] * 4, times)
    weights = dict(zip(zip(found.source, found.target, strict=True), found.weight, strict=True))
    assert weights == {
        (0, 1): pytest.approx(0.75), (1, 0): pytest.approx(0.75),
        (0, 2): pytest.approx(0.3), (2, 0): pytest.approx(0.3),
        (1, 2): pytest.approx(1 - 14 / 24), (2, 1): pytest.approx(1 - 14 / 24),
    }  # fmt: skip


def test_temporal_links_stay_within_a_kind_and_a_day() -> None:
    ids = new_ids(4)
    found = temporal_links(ids, [0, 1, 0, 0], [0, 0, DAY_US, 2 * DAY_US + 1])
    assert as_set(found) == {(0, 2), (2, 0)}


@pytest.mark.parametrize("fan", [1, 3, 20])
def test_temporal_links_are_the_nearest(fan: int) -> None:
    rng = np.random.default_rng(fan)
    n = 120
    ids, kinds = new_ids(n), rng.integers(0, 2, n)
    times = rng.choice(10 * DAY_US, n, replace=False)
    found = temporal_links(ids, kinds, times, fan=fan)
    for i in range(n):
        near = [j for j in range(n) if j != i and kinds[j] == kinds[i]]
        near = [j for j in near if abs(times[j] - times[i]) <= DAY_US]
        near.sort(key=lambda j: abs(times[j] - times[i]))
        assert found.target[found.source == i].tolist() == near[:fan]


@pytest.mark.parametrize("fan", [2, 20])
def test_semantic_links_are_the_most_alike(fan: int) -> None:
    rng = np.random.default_rng(1)
    vectors = np.concatenate([unit(rng, 300), np.zeros((1, DIM), np.float32)])
    ids = new_ids(len(vectors))
    found = semantic_links(ids, vectors, floor=0.25, fan=fan)
    cosine = np.round(vectors @ vectors.T, 5)
    for i in range(len(vectors)):
        near = [j for j in np.argsort(-cosine[i], kind="stable") if j != i and cosine[i, j] >= 0.25]
        assert found.target[found.source == i].tolist() == near[:fan]
    assert found.weight.max() <= 1
    assert not (found.source == 300).any()


def test_semantic_links_do_not_depend_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(2)
    base = unit(rng, 4)
    vectors = base[rng.integers(0, 4, 60)]  # many that are equally alike
    ids = new_ids(60)
    mixed = rng.permutation(60)
    one = semantic_links(ids, vectors, fan=5).links(ids, LinkType.SEMANTIC)
    turned = [ids[i] for i in mixed]
    other = semantic_links(turned, vectors[mixed], fan=5).links(turned, LinkType.SEMANTIC)
    ends = {(link.source, link.target) for link in one}
    assert ends == {(link.source, link.target) for link in other}
    assert len(one) == 300


def test_entity_links_name_their_entity_and_weigh_what_is_shared() -> None:
    ids = new_ids(4)
    edges, names = entity_links(ids, [("Ann", "Oslo"), ("Ann",), ("Oslo", "Ann"), ("Rome",)])
    found = set(zip(edges.source.tolist(), edges.target.tolist(), names, strict=True))
    ann = {(i, j, "Ann") for i, j in permutations((0, 1, 2), 2)}
    assert found == ann | {(0, 2, "Oslo"), (2, 0, "Oslo")}
    weight = {(i, j): w for i, j, w in zip(*edges, strict=True)}
    assert weight[0, 2] == pytest.approx(math.tanh(1.0))
    assert weight[0, 1] == pytest.approx(math.tanh(0.5))


def test_a_common_entity_links_each_unit_to_a_few_near_ones() -> None:
    edges, names = entity_links(new_ids(50), [("Ann",)] * 50, fan=4)
    assert len(names) == 200
    assert np.bincount(edges.source).tolist() == [4] * 50
    assert sorted(edges.target[edges.source == 25].tolist()) == [23, 24, 26, 27]
    assert sorted(edges.target[edges.source == 49].tolist()) == [45, 46, 47, 48]


def test_pairs_are_undirected_and_once() -> None:
    ids = new_ids(3)
    pairs = temporal_links(ids, [0] * 3, [0, HOUR_US, 2 * HOUR_US]).pairs()
    assert [pairs.source.tolist(), pairs.target.tolist()] == [[0, 0, 1], [1, 2, 2]]
    assert temporal_links(ids, [0] * 3, [0, 1, 2], fan=1).links(ids, LinkType.TEMPORAL)[0] == Link(
        ids[0], ids[1], LinkType.TEMPORAL, pytest.approx(1)
    )


def test_counts_are_those_of_the_links() -> None:
    rng = np.random.default_rng(3)
    n = 300
    ids, kinds, times = new_ids(n), rng.integers(0, 2, n), rng.integers(0, 20 * DAY_US, n)
    vectors = unit(rng, n)
    vectors[:100] = vectors[0] + 0.05 * vectors[:100]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    entities = [(f"E{i % 40}", *(["Ann"] if i < 60 else [])) for i in range(n)]
    mentions = [sum(name in e for e in entities) for name in {x for e in entities for x in e}]
    counts = count_links(kinds, times, vectors, mentions)
    temporal, semantic = temporal_links(ids, kinds, times), semantic_links(ids, vectors)
    for kind in (0, 1):
        assert counts.temporal[kind] == (kinds[temporal.source] == kind).sum()
        assert counts.semantic[kind] == (kinds[semantic.source] == kind).sum()
    assert counts.entity == len(entity_links(ids, entities)[1])
    assert not counts.estimated


def test_many_rows_are_counted_on_a_sample() -> None:
    rng = np.random.default_rng(4)
    n = 800
    vectors = unit(rng, n)
    vectors[::2] = vectors[0]
    exact = count_links([0] * n, [0] * n, vectors, [])
    rough = count_links([0] * n, [0] * n, vectors, [], exact_rows=200)
    assert exact.semantic[0] == 400 * 20
    assert rough.estimated
    assert rough.semantic[0] == pytest.approx(exact.semantic[0], rel=0.1)


def test_an_index_gives_its_live_units_in_id_order() -> None:
    rng = np.random.default_rng(5)
    ids = IdMaker()
    vectors = unit(rng, 130)
    rows = [
        make_row(ids, "boat", v, kind=i % 2, mentioned_at=i, occurred_start=9 if i == 7 else None)
        for i, v in enumerate(vectors)
    ]
    rows.append(make_row(ids, "bare"))
    state = state_of(rows[1::2])
    for i, start in enumerate((0, 100)):
        state = advance(state, 2 + i, [], rows[start : start + 100 : 2])
    state = advance(state, 9, [rows[3].unit_id], [])
    kept = [r for i, r in enumerate(rows) if i != 3]
    found = indexed(state)
    assert found.ids == [r.unit_id for r in kept]
    assert found.kinds.tolist() == [r.kind for r in kept]
    assert found.times.tolist() == [r.occurred_start or r.mentioned_at for r in kept]
    wanted = np.concatenate([np.delete(vectors, 3, axis=0), np.zeros((1, DIM))])
    assert len(found.vectors) == len(kept)
    assert found.vectors[np.arange(len(kept))] == pytest.approx(wanted, abs=0.01)


def test_nothing_has_no_links() -> None:
    nothing = np.empty((0, DIM), np.float32)
    assert len(temporal_links([], [], []).source) == 0
    assert len(semantic_links([], nothing).pairs().source) == 0
    assert entity_links([], [])[1] == []
    counts = count_links([], [], nothing, [])
    assert (dict(counts.temporal), dict(counts.semantic), counts.entity) == ({}, {}, 0)
