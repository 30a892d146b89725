"""Words and terms of the keyword arm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.finding.terms import Analyzer, hash_term, pack, unpack_many, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann's cello, and/or BOATS!", ["ann", "cello", "and", "or", "boats"]),
        ("Café Zoë", ["cafe", "zoe"]),
        ("It costs 1,200.50 euros", ["it", "costs", "1200.50", "euros"]),
        ("flight UA123 to room_101", ["flight", "ua123", "to", "room", "101"]),
        ("東京に行く", ["東京", "京に", "に行", "行く"]),
        ("我 love 北京", ["我", "love", "北京"]),
        ("Привет, мир", ["привет", "мир"]),
        ("!!! …", []),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_terms_are_stemmed_and_stop_words_left_out() -> None:
    analyzer = Analyzer()
    assert analyzer.terms("She was running to the shops") == analyzer.terms("runs shop")
    assert analyzer.terms("to be or not to be") == []


def test_other_languages_keep_their_own_stems() -> None:
    assert Analyzer("spanish").terms("corriendo") == [hash_term("corr")]


@given(st.text())
def test_any_text_has_words(text: str) -> None:
    assert all(word and word == word.strip() for word in words(text))


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=20), max_size=8))
def test_packing_keeps_counts(rows: list[list[int]]) -> None:
    hashes, numbers, counts = unpack_many([pack(row) for row in rows])
    for i, row in enumerate(rows):
        mine = {int(h): int(c) for h, n, c in zip(hashes, numbers, counts, strict=True) if n == i}
        assert mine == {term: row.count(term) for term in row}
