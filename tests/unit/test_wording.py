"""What the words of a question tell: how telling they are, which candidate has them, slips."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import remembrancer
from remembrancer.finding.part import Part, build_part
from remembrancer.finding.slips import slips
from remembrancer.finding.spelling import respelt
from remembrancer.finding.telling import telling
from remembrancer.finding.terms import Analyzer, pack
from remembrancer.finding.wording import wording
from remembrancer.keeping.view import IndexRow
from remembrancer.nouns.ids import IdMaker

ANALYZER = Analyzer()


def part_of(*texts: str) -> Part:
    ids = IdMaker()
    rows = [
        IndexRow(
            ids.new(), 0, 0, None, None, 0, 0, None, None, (), pack(ANALYZER.terms(text)), b"",
            None, 0.0, None, 0.0,
        )
        for text in texts
    ]  # fmt: skip
    return build_part(rows, 0)


def term(word: str) -> int:
    return ANALYZER.terms_of([word])[0]


def test_a_rare_word_tells_more_than_a_common_one_and_than_what_is_wanted_of_a_topic() -> None:
    words = ("zymurgy", "trombone", "river", "people")
    weights = [telling(word, word) for word in words]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] == 1.0
    assert telling("strategy", "strategi") < telling("trombone", "trombon") / 2
    assert set(Analyzer("german").telling(["ofen", "haus"]).values()) == {1.0}


def test_slips_of_the_hand() -> None:
    near = slips("cello")
    assert {"celo", "clelo", "celloo", "cellow"} <= near
    assert "cello" not in near
    assert "jello" not in near  # the first letter stays
    assert "cells" not in near  # another letter in a short word makes another word
    assert "trambone" in slips("trombone")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("zitter", "zither"),
        ("zithr", "zither"),
        ("ztiher", "zither"),
        ("accordoin", "accordion"),
        ("zither", None),  # it is there
        ("theremin", None),  # nothing is near
        ("mango", None),  # a word of its own
    ],
)
def test_a_mistyped_word_stands_for_the_one_that_the_bank_has(word: str, meant: str | None) -> None:
    part = part_of("zither and accordion", "a manga from the shelf", "the zither again")
    found = respelt([part], [None], ANALYZER.doubtful([word]), ANALYZER.neighbours)
    assert found == ({} if meant is None else {term(word): term(meant)})


def test_what_no_live_row_has_is_not_meant() -> None:
    part = part_of("zither", "boat")
    dead = np.array([term("zither") in ANALYZER.terms(t) for t in ("zither", "boat")])
    doubtful = ANALYZER.doubtful(["zithr"])
    assert respelt([part], [dead], doubtful, ANALYZER.neighbours) == {}
    assert Analyzer("german").doubtful(["zithr"]) == {}


def test_wording_of_candidates() -> None:
    part = part_of("zither lessons in the barn", "zither strings", "barn owls")
    telling_words = ANALYZER.telling(["zither", "strings", "barn", "theremin"])
    told = wording([part], [None], 3, telling_words, [np.arange(3)], np.array([1, 0, 2]))
    assert told.missing == 1.0  # theremin
    assert 0 < told.rare <= 1.0
    assert told.behind[0] == 0.0  # zither and strings
    assert told.behind[2] < told.behind[0]
    assert told.novel[0] == told.rare
    assert 0 < told.novel[1] < told.rare  # of barn, since zither was said before
    assert told.novel[2] == 0.0
    assert told.exclusive[0] > told.exclusive[2] > 0
    empty = wording([part], [None], 3, {}, [np.arange(3)], np.arange(3))
    assert (empty.rare, empty.missing) == (0.0, 0.0)


def test_wording_does_not_depend_on_how_rows_are_spread() -> None:
    texts = ("zither lessons", "zither strings", "barn owls", "a barn with a zither")
    words = ANALYZER.telling(["zither", "barn", "owls"])
    whole = wording([part_of(*texts)], [None], 4, words, [np.arange(4)], np.arange(4))
    parts = [part_of(*texts[:1]), part_of(*texts[1:])]
    split = wording(parts, [None, None], 4, words, [np.arange(1), np.arange(3)], np.arange(4))
    for one, other in zip(
        (whole.behind, whole.novel, whole.exclusive),
        (split.behind, split.novel, split.exclusive),
        strict=True,
    ):
        assert one.tolist() == other.tolist()
    assert (whole.rare, whole.missing) == (split.rare, split.missing)


FEW = {
    "hive": "We keep our bees in a meadow behind the mill.",
    "oboe": "Sunita plays the oboe in a wind quintet.",
    "roof": "The roof of the chapel was repaired in spring.",
    "soup": "My grandfather cooks lentil soup every Friday.",
    "ferry": "The last ferry to the island leaves at half past nine.",
}


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("Which instrument does Sunita play?", "oboe"),
        ("Where are the beehives?", "hive"),
        ("When does the boat to the island depart?", "ferry"),
        ("What does grandpa make to eat on Fridays?", "soup"),
        ("lentl soup", "soup"),
        ("How do I renew a passport?", None),
        ("Which laptop should I buy?", None),
        ("Kubernetes ingress timeout", None),
        ("Who won the chess tournament in Oslo?", None),
    ],
)
def test_a_small_bank_answers_paraphrases_and_nothing_else(
    few: remembrancer.Memory, question: str, key: str | None
) -> None:
    found = few.recall(question, bank="few")
    assert [a.memory.metadata["key"] for a in found[:1]] == ([key] if key else [])


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[remembrancer.Memory]:
    with remembrancer.open(tmp_path_factory.mktemp("few")) as memory:
        for key, text in FEW.items():
            memory.retain(text, bank="few", metadata={"key": key})
        yield memory
