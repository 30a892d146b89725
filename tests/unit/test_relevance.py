"""Relevance, its cut-off, the guard of fusion, and what keeps near-duplicates apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import remembrancer
from remembrancer.finding.calibration import (
    KNOWN,
    RELEVANT,
    Calibration,
    Features,
    Logistic,
    calibration_of,
    features,
)
from remembrancer.finding.diversity import EQUAL, NEAR, spread
from remembrancer.finding.fusion import HELD, guarded
from remembrancer.finding.keyword import bm25
from remembrancer.finding.part import build_part
from remembrancer.finding.search import Candidates, Query, search
from remembrancer.finding.state import IndexState
from remembrancer.finding.terms import Analyzer, pack, words
from remembrancer.finding.wording import Wording
from remembrancer.keeping.view import IndexRow
from remembrancer.models.vectors import quantise
from remembrancer.nouns.errors import InvalidInput
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import Layer, Unit
from remembrancer.verbs.recalling.cutoff import FLOOR, checked, cut_off, quotable
from remembrancer.verbs.recalling.explain import explain, explain_cut
from remembrancer.verbs.recalling.recollection import Answer, Arms, Recollection, Timings

ANALYZER = Analyzer()
PLAIN = Calibration(
    Logistic(0.0, np.ones(len(KNOWN))), Logistic(0.0, np.ones(len(RELEVANT))), 0.2, 0.5
)


def row(ids: IdMaker, text: str, vector: np.ndarray | None = None) -> IndexRow:
    stored = quantise(vector[None, :].astype(np.float32))[0] if vector is not None else None
    return IndexRow(
        ids.new(), 0, 0, None, None, 0, 0, None, None, (), pack(ANALYZER.terms(text)), b"",
        stored.codes if stored else None, stored.scale if stored else 0.0, None, 0.0,
    )  # fmt: skip


def found(relevance: list[float], known: float) -> Candidates:
    n = len(relevance)
    ids = np.array([bytes([i + 1] * 16) for i in range(n)], dtype="S16")
    return Candidates(ids, np.ones(n), np.zeros((9, n)), known, np.array(relevance))


def test_the_bundled_model_and_words_alone_are_calibrated_and_others_are_not() -> None:
    for model in ("bge-small-en-v1.5-int8", None):
        calibration = calibration_of(model)
        assert calibration is not None
        assert 0 < calibration.answers < calibration.quotes < 1
    assert calibration_of("openai:some-model") is None


def seen_of(cosine: list[float], rare: float = 0.0, size: int = 100) -> Features:
    n = len(cosine)
    none = np.zeros(n)
    behind = np.array([0.0, *([-0.9] * (n - 1))])
    return features(
        cosine=np.array(cosine),
        window=np.array([9.0 * rare, *([0.0] * (n - 1))]),
        speaker=none,
        role=none,
        time=none,
        length=np.full(n, 0.5),
        words=Wording(rare, 1 - rare, behind, np.array([rare, *none[1:]]), none),
        whole=10.0,
        size=size,
    )


def test_a_closer_text_and_more_of_the_words_make_it_likelier() -> None:
    calibration = calibration_of("bge-small-en-v1.5-int8")
    assert calibration is not None
    seen = seen_of([0.8, 0.5], 1.0)
    assert seen.known.tolist() == pytest.approx([0.8, 0.9, 1.0, 0.0, 0, 0, np.log(100)])
    near, far = calibration.relevant(seen.relevant)
    assert near > 10 * far > 0
    assert calibration.knows(seen, 100) > 0.9
    assert calibration.knows(seen_of([0.5, 0.45, 0.44]), 100) < calibration.answers
    lone = replace(seen, relevant=seen.relevant[:, :1])
    assert calibration.relevant(lone.relevant)[0] == near  # whoever stands beside it


@pytest.mark.parametrize(
    ("cosine", "size", "known"),
    [
        ([0.6, 0.45, 0.44, 0.41], 4, True),  # nearer than the others by far
        ([0.6, 0.45, 0.44, 0.41], 40, False),
        ([0.6, 0.56, 0.55, 0.54], 4, False),  # as near as all of them are
        ([0.5, 0.35, 0.34, 0.33], 4, False),  # far from all
        ([0.64], 1, True),
        ([0.55], 1, False),
    ],
)
def test_of_few_rows_one_that_stands_out_is_an_answer(
    cosine: list[float], size: int, known: bool
) -> None:
    calibration = Calibration(
        Logistic(-9.0, np.zeros(len(KNOWN))), Logistic(0.0, np.ones(len(RELEVANT))), 0.2, 0.5
    )
    assert calibration.knows(seen_of(cosine, size=size), size) == (
        0.5 if known else pytest.approx(1 / (1 + np.exp(9)))
    )


def test_logistic_follows_its_formula() -> None:
    model = Logistic(-1.0, np.array([2.0, 0.5]))
    assert float(model(np.array([1.0, 2.0]))) == pytest.approx(1 / (1 + np.exp(-2.0)))


def test_whole_is_the_score_of_a_text_of_pivot_length_with_every_word_once() -> None:
    ids = IdMaker()
    filler = " ".join(f"filler{i}" for i in range(18))
    rows = [row(ids, f"cello lesson {filler}"), row(ids, "boat")]
    part = build_part(rows, 0)
    terms = ANALYZER.terms("cello lesson")
    asked = bm25([part], [None], 2, terms, "text")
    assert asked.whole == pytest.approx(float(asked.scores[0].max()), rel=1e-6)
    half = bm25([part], [None], 2, terms, "text", dict.fromkeys(terms, 0.5))
    assert half.whole == pytest.approx(asked.whole / 2)
    assert bm25([part], [None], 2, ANALYZER.terms("zither"), "text").whole > 0


def test_common_words_count_less_and_unknown_ones_in_full() -> None:
    year, rare = ANALYZER.weights(ANALYZER.terms("year zitherplayer"))
    assert 0.1 <= year < rare == 1.0
    assert Analyzer("german").weights([1, 2]) == [1.0, 1.0]


def test_search_tells_how_relevant_candidates_are_only_with_a_calibration() -> None:
    ids = IdMaker()
    rows = [row(ids, "cello lesson"), row(ids, "boat"), row(ids, "cello")]
    state = IndexState(1, 1, 0, (build_part(rows, 0),), (None,))
    query = Query(words("cello lesson"), ANALYZER.terms("cello lesson"))
    assert search(state, query).relevance is None
    told = search(state, replace(query, calibration=PLAIN))
    assert told.size == 3
    assert told.relevance is not None
    assert told.known is not None
    assert len(told.relevance) == len(told.ids) == 2
    assert (told.relevance <= told.known).all()
    assert told.only(np.array([False, True])).relevance is not None


@pytest.mark.parametrize(
    ("known", "least", "kept"),
    [
        (0.9, None, 2),  # all but what is hopeless
        (0.1, None, 0),  # nothing is known
        (0.1, 0.0, 3),  # no cut-off
        (0.9, 0.3, 1),
        (0.1, 0.3, 1),
    ],
)
def test_cut_off(known: float, least: float | None, kept: int) -> None:
    candidates = found([0.5, FLOOR, FLOOR / 2], known)
    assert len(cut_off(candidates, least, PLAIN).ids) == kept
    assert len(cut_off(candidates, least, None).ids) == 3  # the model was not measured


def test_answers_in_words_want_more() -> None:
    assert [quotable(known, PLAIN) for known in (None, 0.4, 0.6)] == [True, False, True]
    assert quotable(0.1, None)


@pytest.mark.parametrize("value", [-0.1, 1.5])
def test_a_relevance_is_a_probability(value: float) -> None:
    with pytest.raises(InvalidInput, match="between 0"):
        checked(value)
    assert checked(0.4) == 0.4


def test_the_guard_keeps_what_one_arm_is_sure_of() -> None:
    n = 12
    shared = np.zeros((9, n))
    shared[0] = np.linspace(1, 0.5, n)  # nobody stands out
    shared[2] = 0.1
    shared[2, 9] = 0.3
    order = np.arange(n)
    kept = guarded(order, shared).tolist()
    assert sorted(kept) == order.tolist()
    assert 9 in kept[:HELD]
    assert kept[: HELD - 1] == [0, 1, 2, 3]
    shared[2, 10] = 0.29  # no longer sure
    assert guarded(order, shared).tolist() == order.tolist()


def test_of_near_duplicates_two_stay_ahead() -> None:
    rng = np.random.default_rng(8)
    theme, other = rng.standard_normal(64), rng.standard_normal(64)

    def near(share: float) -> np.ndarray:
        away = rng.standard_normal(64)
        away -= away @ theme / (theme @ theme) * theme
        away *= np.linalg.norm(theme) / np.linalg.norm(away)
        return np.asarray(share * theme + np.sqrt(1 - share**2) * away)

    vectors = [theme, near(0.992), near(0.992), near(0.992), other]
    codes = np.stack([np.round(v / np.abs(v).max() * 127) for v in vectors]).astype(np.int8)
    whole = codes.astype(float) / np.linalg.norm(codes.astype(float), axis=1, keepdims=True)
    cosine = whole @ whole.T
    assert ((cosine[0, 1:4] >= NEAR) & (cosine[0, 1:4] < EQUAL)).all()
    order = spread(codes)
    assert sorted(order) == list(range(5))
    assert order.index(4) < max(order.index(i) for i in (2, 3))
    assert spread(np.repeat(codes[:1], 4, axis=0)) == [0, 1, 2, 3]  # equal ones are folded later
    assert spread(np.zeros((3, 64), dtype=np.int8)) == [0, 1, 2]


def test_an_answer_is_explained_in_words() -> None:
    unit = Unit(bytes(16), Layer.SOURCE, "The dentist is on Friday", 1, 1)
    arms = Arms(3.2, 4.0, 0.71, 0.65, 1, 1, 1.0, 0.4, 1)
    answer = Answer(unit, (), None, 1.2, arms, relevance=0.437)
    told = explain(answer, {"semantic": 2, "bm25": 1})
    for part in (
        "shares words", "BM25 3.20", "cosine 0.71", "speaker", "happened in the time",
        "standing", "2 by meaning, 1 by words", "44 % likely",
    ):  # fmt: skip
        assert part in told
    bare = Answer(unit, (), None, 0.1, Arms(1.0, 1.0, None, None, 0, 0, 0.5))
    assert "not embedded" in explain(bare)
    assert "likely" not in explain(bare)
    times = Timings(0, 0, 0, 0)
    empty = Recollection((), 7, 0, 1, times, known=0.004, cut=7)
    assert explain_cut(empty) == (
        "nothing known: an answer is under 1 % likely; 7 candidates were cut off as not relevant"
    )
    assert explain_cut(Recollection((answer,), 1, 1, 1, times)) is None
    some = Recollection((answer,), 3, 1, 1, times, known=0.9, cut=2)
    assert explain_cut(some) == "2 further candidates were cut off as not relevant"
    one = Recollection((answer,), 2, 1, 1, times, known=0.9, cut=1)
    assert explain_cut(one) == "1 further candidate was cut off as not relevant"


def test_a_bank_knows_when_it_knows_nothing(tmp_path: Path) -> None:
    with remembrancer.open(tmp_path) as memory:
        memory.retain("Ann: My sister Clara plays the cello in Turin.", bank="ann")
        memory.retain("Ann: The deploy failed with ERR_Q42_STALLED again.", bank="ann")
        memory.retain("Ann: 我们谈到了国际邮费计算的问题。", bank="ann")
        memory.retain(
            [{"role": "user", "content": "Always answer me in metric units."}], bank="ann"
        )
        answered = memory.recall("What does Clara play?", bank="ann")
        assert answered[0].text.endswith("cello in Turin.")
        assert answered.known is not None
        assert answered.known > 0.5
        assert answered[0].relevance is not None
        unknown = memory.recall("Which warranty does the dishwasher have?", bank="ann")
        assert len(unknown) == 0
        assert unknown.known is not None
        assert unknown.known < 0.2
        assert unknown.cut_off is not None
        assert unknown.cut_off.startswith("nothing known")
        assert memory.recall("Which warranty?", bank="ann", min_relevance=0)
        told = memory.reflect("Which warranty does the dishwasher have?", bank="ann")
        assert told.text.startswith("Nothing is known")
        # An exact code, and words of a script without spaces, are found by words alone.
        assert "ERR_Q42_STALLED" in memory.recall("ERR_Q42_STALLED", bank="ann")[0].text
        assert "邮费" in memory.recall("国际邮费计算", bank="ann")[0].text
        assert len(memory.recall("XYZZYX", bank="ann")) == 0
        # What holds always comes with a prime, with a cue about anything, and without one.
        for cue in (None, "How far is it to Turin?"):
            primed = memory.prime(bank="ann", cue=cue, max_memories=4, text=True)
            assert "Standing instructions:\n- user: Always answer me in metric" in str(primed.text)
