"""The search over an index state: arms, fusion, filters, and independence of the spread."""

from __future__ import annotations

import numpy as np
import pytest

from remembrancer.finding import scan
from remembrancer.finding.diversity import _products
from remembrancer.finding.keyword import best, bm25
from remembrancer.finding.part import BOTH, build_part, merge_parts, sign_bits
from remembrancer.finding.search import (
    Arm,
    Query,
    Search,
    Weights,
    named_speakers,
    scaled,
    search,
    shares,
)
from remembrancer.finding.segment import open_part, write_part
from remembrancer.finding.similar import cosines_of, most_similar
from remembrancer.finding.state import IndexState, advance
from remembrancer.finding.tagging import AllOf, AnyOf, NoneOf, TagFilter, TagMatch, TagNode
from remembrancer.finding.terms import Analyzer, pack, words
from remembrancer.keeping.view import IndexRow
from remembrancer.models.vectors import quantise
from remembrancer.nouns.errors import Corrupt
from remembrancer.nouns.ids import IdMaker

ANALYZER = Analyzer()
DIM = 64


def make_row(ids: IdMaker, text: str, vector: np.ndarray | None = None, **columns) -> IndexRow:
    stored = quantise(vector[None, :].astype(np.float32))[0] if vector is not None else None
    values = {
        "unit_id": ids.new(), "layer": 0, "kind": 0, "source_id": None, "speaker": None,
        "role": 0, "mentioned_at": 0, "occurred_start": None, "occurred_end": None, "tags": (),
        "terms": pack(ANALYZER.terms(text)), "window_terms": b"",
        "codes": stored.codes if stored else None, "scale": stored.scale if stored else 0.0,
        "window_codes": None, "window_scale": 0.0,
    }  # fmt: skip
    return IndexRow(**{**values, **columns})


def state_of(rows: list[IndexRow], dim: int = DIM) -> IndexState:
    return IndexState(1, 1, dim, (build_part(rows, dim),), (None,))


def leaf(tag: str) -> TagFilter:
    return TagFilter((tag,), TagMatch.ANY_STRICT)


def unit(rng: np.random.Generator, n: int | None = None) -> np.ndarray:
    v = rng.standard_normal((n or 1, DIM)).astype(np.float32)
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    return v if n else v[0]


def test_bm25_follows_the_formula() -> None:
    ids = IdMaker()
    rows = [make_row(ids, t) for t in ("cello lesson", "cello cello shop", "garden")]
    state = state_of(rows)
    score = bm25(state.parts, state.dead, 3, ANALYZER.terms("cello"), "text").scores[0]
    idf = np.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    expected = [
        idf * tf * 2.5 / (tf + 1.5 * (0.25 + 0.75 * length / 20))
        for tf, length in ((1, 2), (2, 3), (0, 1))
    ]
    assert score == pytest.approx(expected, rel=1e-6)


def test_dead_rows_do_not_count_in_document_frequency() -> None:
    ids = IdMaker()
    rows = [make_row(ids, "cello"), make_row(ids, "cello"), make_row(ids, "boat")]
    kept = advance(state_of(rows), 2, [rows[0].unit_id], [])
    fresh = state_of(rows[1:])
    terms = ANALYZER.terms("cello")
    one = bm25(kept.parts, kept.dead, kept.live, terms, "text").scores[0]
    other = bm25(fresh.parts, fresh.dead, fresh.live, terms, "text").scores[0]
    assert one[1:] == pytest.approx(other)


@pytest.mark.parametrize("n", [10, 63, 64, 65, 1000, 5000])
def test_best_takes_exactly_the_top_with_ties(n: int) -> None:
    rng = np.random.default_rng(n)
    scores = rng.integers(0, 40, n).astype(np.float32)
    split = [scores[: n // 3], scores[n // 3 :]]
    rows = best(split, [None, None], 50)
    got = sorted([*split[0][rows[0]], *split[1][rows[1]]], reverse=True)
    positive = sorted(scores[scores > 0].tolist(), reverse=True)
    edge = positive[min(50, len(positive)) - 1]
    assert got == [s for s in positive if s >= edge]


@pytest.mark.parametrize("dim", [8, 64, 100, 384, 1536])
def test_hamming_counts_differing_signs(dim: int) -> None:
    rng = np.random.default_rng(dim)
    vectors = rng.standard_normal((300, dim)).astype(np.float32)
    query = rng.standard_normal(dim).astype(np.float32)
    got = scan.hamming(sign_bits(vectors).T, sign_bits(query[None, :])[0])
    assert got.tolist() == ((vectors > 0) != (query > 0)).sum(axis=1).tolist()


def test_opposite_vectors_are_farthest() -> None:
    vectors = np.ones((2, 384), dtype=np.float32)
    vectors[1] = -1
    got = scan.hamming(sign_bits(vectors).T, sign_bits(vectors[:1])[0])
    assert got.tolist() == [0, 384]


def test_nearest_is_the_same_however_rows_are_spread() -> None:
    rng = np.random.default_rng(3)
    ids = IdMaker()
    rows = [make_row(ids, "x", v) for v in unit(rng, 3000)]
    one = build_part(rows, DIM)
    many = [build_part(rows[i::4], DIM) for i in range(4)]
    bits = sign_bits(unit(rng)[None, :])[0]
    whole = scan.nearest([one], [None], BOTH, bits, count=100)
    spread = scan.nearest(many, [None] * 4, BOTH, bits, count=100)
    expected = set(one.ids[whole[0]].tolist())
    assert {i for p, r in zip(many, spread, strict=True) for i in p.ids[r].tolist()} == expected
    assert 100 <= len(expected) < 500


def test_most_similar_is_exact_for_small_banks() -> None:
    rng = np.random.default_rng(4)
    ids = IdMaker()
    vectors = unit(rng, 500)
    rows = [make_row(ids, "x", v) for v in vectors]
    query = unit(rng)
    got = most_similar(state_of(rows), query, 10)
    order = np.argsort(-(vectors @ query))[:10]
    assert [i for i, _ in got] == [rows[o].unit_id for o in order]
    assert [c for _, c in got] == pytest.approx((vectors @ query)[order].tolist(), abs=0.01)
    some = [rows[3].unit_id, b"\xff" * 16]
    assert cosines_of(state_of(rows), query, some) == {
        rows[3].unit_id: pytest.approx(float(vectors[3] @ query), abs=0.01)
    }


def test_fusion_adds_scaled_arms_and_bonuses() -> None:
    rng = np.random.default_rng(5)
    ids = IdMaker()
    query = unit(rng)
    rows = [
        make_row(ids, "cello lesson", query, speaker="Ann", role=1),
        make_row(ids, "boat", unit(rng), speaker="Bob"),
        make_row(ids, "garden", unit(rng), speaker="Bob"),
    ]
    found = search(
        state_of(rows), Query(words("When does Ann play?"), ANALYZER.terms("cello"), query, role=1)
    )
    w = Weights()
    said = w.length * np.log(1 + 2) / np.log(1 + 30)  # two words of thirty
    full = w.text + w.window + w.vector + w.window_vector + w.speaker + w.role + said
    assert found.id_list()[0] == rows[0].unit_id
    assert found.score[0] == pytest.approx(full)


def test_time_prefers_what_happened_then() -> None:
    ids = IdMaker()
    rows = [
        make_row(ids, "cello", mentioned_at=100),
        make_row(ids, "cello", mentioned_at=900, occurred_start=400, occurred_end=500),
        make_row(ids, "cello", mentioned_at=450),
    ]
    found = search(
        state_of(rows, 0), Query(words("x"), ANALYZER.terms("cello"), since=400, until=500)
    )
    assert found.id_list() == [rows[1].unit_id, rows[2].unit_id, rows[0].unit_id]
    assert found.arms[Arm.TIME].tolist() == [1.0, 0.5, 0.0]


def test_a_unit_without_vector_is_found_by_its_words() -> None:
    rng = np.random.default_rng(6)
    ids = IdMaker()
    rows = [make_row(ids, "boat", unit(rng)), make_row(ids, "cello")]
    found = search(state_of(rows), Query(words("x"), ANALYZER.terms("cello"), unit(rng)))
    assert rows[1].unit_id in found.id_list()
    assert np.isnan(found.arms[Arm.VECTOR, found.id_list().index(rows[1].unit_id)])


def test_an_empty_index_has_no_answers() -> None:
    assert search(IndexState(0, 0, 0), Query(words("x"), [1])).id_list() == []


@pytest.mark.parametrize(
    ("match", "tags", "expected"),
    [
        (TagMatch.ANY, ("a",), {0, 1, 3}),
        (TagMatch.ALL, ("a", "b"), {1, 3}),
        (TagMatch.ANY_STRICT, ("a",), {0, 1}),
        (TagMatch.ALL_STRICT, ("a", "b"), {1}),
        (TagMatch.EXACT, ("a",), {0}),
        (TagMatch.ANY_STRICT, ("z",), set()),
    ],
)
def test_tag_filters(match: TagMatch, tags: tuple[str, ...], expected: set[int]) -> None:
    ids = IdMaker()
    rows = [make_row(ids, "cello", tags=t) for t in (("a",), ("a", "b"), ("b", "c"), ())]
    query = Query(words("x"), ANALYZER.terms("cello"), tags=TagFilter(tags, match))
    found = search(state_of(rows, 0), query)
    assert {[r.unit_id for r in rows].index(i) for i in found.id_list()} == expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (AllOf([]), {0, 1, 2, 3}),
        (AnyOf([]), set()),
        (NoneOf(leaf("a")), {2, 3}),
        (AllOf([leaf("b"), NoneOf(leaf("c"))]), {1}),
        (AnyOf([leaf("a"), leaf("c")]), {0, 1, 2}),
        (AllOf([AnyOf([leaf("a"), leaf("c")]), leaf("b")]), {1, 2}),
        (NoneOf(AnyOf([leaf("a"), leaf("b")])), {3}),
    ],
)
def test_tag_trees(node: TagNode, expected: set[int]) -> None:
    ids = IdMaker()
    rows = [make_row(ids, "cello", tags=t) for t in (("a",), ("a", "b"), ("b", "c"), ())]
    dead = np.zeros(4, dtype=bool)
    state = IndexState(1, 1, 0, (build_part(rows, 0),), (dead,))
    found = search(state, Query(words("x"), ANALYZER.terms("cello"), tags=node))
    assert {[r.unit_id for r in rows].index(i) for i in found.id_list()} == expected
    assert not dead.any()


def test_extra_candidates_are_scored_where_the_filters_let_them_through() -> None:
    ids = IdMaker()
    rows = [make_row(ids, t, kind=k) for t, k in (("cello", 0), ("boat", 0), ("boat", 1))]
    state = advance(state_of(rows, 0), 2, [], [make_row(ids, "boat"), make_row(ids, "garden")])
    query = Query(words("x"), ANALYZER.terms("cello"), kinds=[0])
    assert search(state, query).id_list() == [rows[0].unit_id]
    extra = [rows[1].unit_id, rows[2].unit_id, state.fresh_rows[0].unit_id, bytes(16)]
    found = search(state, query, extra=extra)
    assert found.id_list() == [rows[0].unit_id, rows[1].unit_id, state.fresh_rows[0].unit_id]
    assert found.score[0] > found.score[1] == found.score[2]
    assert found.only(found.arms[Arm.TEXT] > 0).id_list() == [rows[0].unit_id]


def test_a_search_is_asked_again_with_further_candidates() -> None:
    rng = np.random.default_rng(12)
    ids = IdMaker()
    rows = [make_row(ids, "cello" if n < 3 else "boat", unit(rng)) for n in range(40)]
    state = advance(state_of(rows[:30]), 2, [], rows[30:])
    vector = unit(rng)
    looking = Search(state, Query(words("x"), ANALYZER.terms("cello"), vector))
    first = looking.found(1)
    missing = [r.unit_id for r in rows if r.unit_id not in set(first.id_list())]
    extra = [missing[9], missing[-1], missing[0], missing[9]]
    again = looking.found(1, extra)
    assert set(again.id_list()) == {*first.id_list(), *extra}
    whole = search(state, Query(words("x"), ANALYZER.terms("cello"), vector))
    place = {unit_id: n for n, unit_id in enumerate(whole.id_list())}
    for n, unit_id in enumerate(again.id_list()):
        assert again.arms[:, n].tolist() == whole.arms[:, place[unit_id]].tolist()
    alone = looking.scored(extra, 1)
    order = [unit_id for unit_id in again.id_list() if unit_id in extra]
    assert sorted(alone.id_list()) == sorted(order)
    for n, unit_id in enumerate(alone.id_list()):
        assert alone.score[n] == again.score[again.id_list().index(unit_id)]
    assert alone.score.tolist() == sorted(alone.score, reverse=True)
    assert looking.found(1, first.id_list()) is looking.found(1)
    assert looking.found(1).id_list() == first.id_list()


@pytest.mark.parametrize(("count", "dim"), [(0, 8), (1, 8), (40, 384), (40, 1024), (7, 50_000)])
def test_products_of_pieces_are_those_of_the_whole(count: int, dim: int) -> None:
    values = np.random.default_rng(dim).integers(-127, 128, (count, dim)).astype(np.float32)
    exact = values.astype(np.int64) @ values.astype(np.int64).T
    assert np.allclose(_products(values), exact, rtol=1e-6, atol=0 if dim <= 1_024 else 1e3)


def test_shares_add_up_to_the_score() -> None:
    rng = np.random.default_rng(9)
    ids = IdMaker()
    rows = [make_row(ids, t, unit(rng), role=1) for t in ("cello", "cello boat", "garden")]
    weights = Weights(text=0.5, role=0.3)
    query = Query(words("x"), ANALYZER.terms("cello boat"), unit(rng), role=1, weights=weights)
    found = search(state_of(rows), query)
    parts = shares(found.arms, weights)
    assert parts.shape == found.arms.shape
    assert parts.sum(0) == pytest.approx(found.score)
    assert parts[Arm.ROLE].tolist() == [0.3] * 3


def test_kinds_filter() -> None:
    ids = IdMaker()
    rows = [make_row(ids, "cello", kind=k) for k in (0, 1, 2)]
    found = search(state_of(rows, 0), Query(words("x"), ANALYZER.terms("cello"), kinds=[1]))
    assert found.id_list() == [rows[1].unit_id]


def test_merging_keeps_everything_but_the_dead() -> None:
    rng = np.random.default_rng(7)
    ids = IdMaker()
    rows = [
        make_row(ids, f"cello word{i % 7}", unit(rng), speaker=f"S{i % 3}", tags=(f"t{i % 2}",))
        for i in range(60)
    ]
    parts = [build_part(rows[1::2], DIM), build_part(rows[::2], DIM)]
    dead = np.zeros(30, dtype=bool)
    dead[:10] = True
    merged = merge_parts(parts, [dead, None])
    fresh = build_part([r for r in rows if r not in rows[1:20:2]], DIM)
    assert merged.ids.tolist() == fresh.ids.tolist()
    assert merged.speakers == fresh.speakers
    for name in ("bits", "more_bits", "codes", "scales"):
        assert np.array_equal(getattr(merged, name), getattr(fresh, name))
    for name in ("text", "window", "tags", "columns"):
        for one, other in zip(getattr(merged, name), getattr(fresh, name), strict=True):
            assert np.array_equal(one, other)


def test_a_segment_reads_back_as_written(tmp_path) -> None:
    rng = np.random.default_rng(8)
    ids = IdMaker()
    part = build_part([make_row(ids, "cello", unit(rng), tags=("a",)) for _ in range(9)], DIM)
    write_part(tmp_path / "one.seg", part)
    again = open_part(tmp_path / "one.seg")
    assert again.ids.tolist() == part.ids.tolist()
    assert np.array_equal(again.codes, part.codes)
    assert np.array_equal(again.text.weights, part.text.weights)


@pytest.mark.parametrize("damage", ["cut", "magic", "header", "missing", "empty"])
def test_a_damaged_segment_is_refused(tmp_path, damage: str) -> None:
    path = tmp_path / "one.seg"
    write_part(path, build_part([make_row(IdMaker(), "cello")], 0))
    data = bytearray(path.read_bytes())
    if damage == "cut":
        data = data[:-64]
    elif damage == "magic":
        data[0] ^= 1
    elif damage == "header":
        data[20] ^= 0xFF
    elif damage == "empty":
        data = bytearray()
    path.write_bytes(data)
    if damage == "missing":
        path.unlink()
    with pytest.raises(Corrupt):
        open_part(path)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did Ann say?", {"Ann Lee"}),
        ("what did ann lee say", {"Ann Lee"}),
        ("What did Li say?", {"Li"}),
        ("Is there an annex?", set()),
        ("What did Zoë say?", {"Zoe"}),
    ],
)
def test_named_speakers(question: str, expected: set[str]) -> None:
    assert named_speakers(words(question), ["Ann Lee", "Li", "Zoe"]) == expected


def test_scaled_handles_equal_and_missing_values() -> None:
    nan = float("nan")
    rows = np.array([[2.0, 2.0, 2.0], [nan, nan, nan], [1.0, nan, 3.0]])
    assert scaled(rows).tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert scaled(np.empty((4, 0))).shape == (4, 0)
