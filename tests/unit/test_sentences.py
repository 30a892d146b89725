from __future__ import annotations

import pytest

from remembrancer.reading.sentences import split_sentences

CASES = [
    ("I moved to Rome. It rains.", ["I moved to Rome.", "It rains."]),
    ("Dr. Anna Schmidt met Mr. Bo.", ["Dr. Anna Schmidt met Mr. Bo."]),
    ("Use tools, e.g. Vim or Emacs. Fine.", ["Use tools, e.g. Vim or Emacs.", "Fine."]),
    ("We met at 9 a.m. on Friday.", ["We met at 9 a.m. on Friday."]),
    ("We met at 9 a.m. Then we ate.", ["We met at 9 a.m.", "Then we ate."]),
    ("She joined the U.S. Army. He left.", ["She joined the U.S. Army.", "He left."]),
    ("It is room No. 5 upstairs.", ["It is room No. 5 upstairs."]),
    ("Pi is 3.14 or so. Yes.", ["Pi is 3.14 or so.", "Yes."]),
    ("Well... he said no. Ok", ["Well... he said no.", "Ok"]),
    ("I saw it yesterday… It was red.", ["I saw it yesterday…", "It was red."]),
    ("See https://a.example/x.y?z=1. Bye.", ["See https://a.example/x.y?z=1.", "Bye."]),
    ("Mail me at a.b@c.example. Thanks!", ["Mail me at a.b@c.example.", "Thanks!"]),
    ('"Really?" he said. "Yes!"', ['"Really?" he said.', '"Yes!"']),
    ("He said “No.” Then he left.", ["He said “No.”", "Then he left."]),
    ("Great!!! Love it 😀 Let's go", ["Great!!!", "Love it 😀", "Let's go"]),
    ("我住在北京。你呢？很好！", ["我住在北京。", "你呢？", "很好！"]),
    ("- buy milk\n- call Bob\n1. first", ["- buy milk", "- call Bob", "1. first"]),
    ("i went home. it was late", ["i went home.", "it was late"]),
    ("J. R. Smith wrote it. Good.", ["J. R. Smith wrote it.", "Good."]),
    ("one\n\ntwo", ["one", "two"]),
    ("Ich ziehe am 3. Januar um. Gut.", ["Ich ziehe am 3. Januar um.", "Gut."]),
    ("Am 3. und 4. Mai, am 5. Okt. auch.", ["Am 3. und 4. Mai, am 5. Okt. auch."]),
    ("Im 19. Jahrhundert. Als der 2. Sohn.", ["Im 19. Jahrhundert.", "Als der 2. Sohn."]),
    ("We are 3. May we come?", ["We are 3.", "May we come?"]),
    ("My cat is 3. Bob is 4.", ["My cat is 3.", "Bob is 4."]),
    (
        "This long line of prose was wrapped by a mail program of the old\nkind. Next.",
        ["This long line of prose was wrapped by a mail program of the old\nkind.", "Next."],
    ),
    ("", []),
    (" \n ", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[s.start : s.end] for s in split_sentences(text)] == expected
