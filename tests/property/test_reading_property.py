from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.nouns.memory import Role
from remembrancer.reading.chunks import passage_range, place, split_chunks
from remembrancer.reading.facts import read_statements
from remembrancer.reading.format_plain import plain_turns
from remembrancer.reading.names import find_names
from remembrancer.reading.passages import split_passages
from remembrancer.reading.sentences import split_sentences
from remembrancer.reading.turns import split_turns
from remembrancer.reading.types import Span

PIECES = [
    "Ann: ",
    "Bob: ",
    "\n",
    "\n\n",
    " ",
    "I went to Rome",
    ". ",
    "? ",
    "! ",
    "my sister ",
    "is ",
    "don't ",
    "and I ",
    ", ",
    '"',
    "“",
    "”",
    "```",
    "# ",
    "- ",
    "1. ",
    "> ",
    "**",
    "[2024-03-01 10:22] ",
    "01/03/24, 10:22 - ",
    "{",
    "}",
    "[",
    "]",
    '"role": "user"',
    "|",
    "    ",
    "\t",
    "é",
    "e\u0301",
    "漢字。",
    "😀",
    "<memory>",
    "</memory>",
    "Relevant memories:",
    "İ's ",
    "Dr. ",
    "Anna Schmidt ",
    "'s ",
    "’ll ",
    "x" * 300,
    "word " * 60,
    "Said so. " * 40,
    "\u200d",
    "\u2028",
    "{{x}}",
    "if ",
    "User: ",
    "AI: ",
]
TEXTS = st.text(max_size=300) | st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def _check(text: str, spans: Sequence[Span]) -> None:
    at = 0
    for span in spans:
        assert at <= span.start < span.end <= len(text)
        assert not text[at : span.start].strip()
        at = span.end
    assert not text[at:].strip()


@given(TEXTS)
def test_sentences_cover_the_text(text: str) -> None:
    _check(text, split_sentences(text))


@given(TEXTS, st.integers(5, 120))
def test_passages_cover_the_text(text: str, limit: int) -> None:
    _check(text, split_passages(text, limit))


@given(TEXTS)
def test_turns_and_chunks(content: str) -> None:
    turns = split_turns(content)
    chunks = split_chunks(content, turns, 200)
    assert "".join(content[c.start : c.end] for c in chunks) == content
    at = 0
    for turn in turns:
        assert at <= turn.start < turn.end <= len(content)
        assert turn.text == turn.text.strip() != ""
        at = turn.end
        for passage in split_passages(turn.text):
            where = passage_range(content, turn, passage)
            spot = place(chunks, where.start, where.end)
            chunk = chunks[spot.chunk]
            assert chunk.start + spot.start == where.start
            assert chunk.start + spot.end == where.end


@given(TEXTS)
def test_prose_is_covered_by_its_turns(text: str) -> None:
    turns = plain_turns(text, 0, len(text), Role.NONE)
    _check(text, [Span(turn.start, turn.end) for turn in turns])
    assert all(text[turn.start : turn.end] == turn.text for turn in turns)


@given(st.lists(TEXTS, max_size=5))
def test_json_messages_come_back(texts: list[str]) -> None:
    content = json.dumps([{"speaker": "Ann", "text": f"x {text} y"} for text in texts])
    turns = split_turns(content)
    if texts:
        assert [turn.speaker for turn in turns] == ["Ann"] * len(texts)
        for turn in turns:
            assert json.loads(content[turn.start : turn.end])["speaker"] == "Ann"


@given(TEXTS, st.sampled_from(list(Role)), st.none() | st.just("Ann"))
@settings(max_examples=200)
def test_statements_stand_in_the_text(text: str, role: Role, speaker: str | None) -> None:
    found = read_statements(
        text, speaker=speaker, role=role, known=["Anna Schmidt", "é"], dates=lambda _: []
    )
    at = 0
    for statement in found:
        assert at <= statement.span.start < statement.span.end <= len(text)
        assert text[statement.span.start : statement.span.end] == statement.text
        at = statement.span.end
    if role in (Role.SYSTEM, Role.TOOL):
        assert not found


@given(TEXTS)
def test_names_stand_in_the_text(text: str) -> None:
    at = 0
    for name, span in find_names(text, ["Anna Schmidt", "x"]):
        assert at <= span.start < span.end <= len(text)
        assert name == "Anna Schmidt" or name.lower() == text[span.start : span.end].lower()
        at = span.end
