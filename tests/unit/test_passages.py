from __future__ import annotations

import unicodedata

from remembrancer.reading.passages import count_words, split_passages


def _pieces(text: str, limit: int = 110) -> list[str]:
    return [text[s.start : s.end] for s in split_passages(text, limit)]


def test_short_text_stays_whole_and_is_trimmed() -> None:
    text = "  " + "word " * 149 + "end.\n"
    assert _pieces(text) == [text.strip()]


def test_empty_text_has_none() -> None:
    assert _pieces("") == _pieces(" \n\t ") == []


def test_long_text_is_cut_at_sentence_ends() -> None:
    text = " ".join(f"Sentence number {i} has exactly eight plain words." for i in range(60))
    pieces = _pieces(text)
    assert all(piece.endswith(".") for piece in pieces)
    assert all(len(piece.split()) <= 150 for piece in pieces)
    assert " ".join(pieces) == text
    assert len(pieces) == 5  # 480 words


def test_text_without_sentences_is_cut_at_line_ends() -> None:
    line = "alpha beta gamma delta epsilon zeta eta theta"
    text = "\n".join([line] * 60)
    assert all(piece.startswith("alpha") and piece.endswith("theta") for piece in _pieces(text))


def test_one_endless_line_is_cut_between_words() -> None:
    text = "lorem ipsum " * 300
    pieces = _pieces(text)
    assert {word for piece in pieces for word in piece.split()} == {"lorem", "ipsum"}
    assert max(len(piece.split()) for piece in pieces) <= 150


def test_a_word_without_end_is_cut_by_characters() -> None:
    text = "x" * 1_000_000
    pieces = _pieces(text)
    assert "".join(pieces) == text
    assert max(map(len, pieces)) == 1500


def test_unspaced_scripts_count_two_characters_as_a_word() -> None:
    assert count_words("漢字" * 50) == 51
    sentence = "今日は天気がいいですね。"
    pieces = _pieces(sentence * 100)
    assert all(piece.endswith("。") for piece in pieces)
    assert all(count_words(piece) <= 150 for piece in pieces)


def test_cuts_spare_combining_sequences() -> None:
    text = "e\u0301" * 5000
    pieces = _pieces(text)
    assert len(pieces) > 1
    assert "".join(pieces) == text
    assert not any(unicodedata.combining(piece[0]) for piece in pieces)


def test_wide_gaps_are_not_part_of_a_passage() -> None:
    text = "word " * 100 + " " * 50_000 + "word " * 100
    assert max(map(len, _pieces(text))) < 3000


def test_limit_is_heeded() -> None:
    text = "One two three four. " * 20
    assert max(len(piece.split()) for piece in _pieces(text, 20)) <= 27
