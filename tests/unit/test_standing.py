"""What holds always: read from texts, found in the index, and whom a question is about."""

from __future__ import annotations

import numpy as np
import pytest

from remembrancer.finding.part import build_part, merge_parts
from remembrancer.finding.standing import standing_units
from remembrancer.finding.state import IndexState
from remembrancer.finding.terms import STANDING, Analyzer, pack
from remembrancer.keeping.view import IndexRow
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import Layer, Role, Unit
from remembrancer.reading.standing import holds_always, is_standing
from remembrancer.verbs.recalling.addressed import about_assistant


@pytest.mark.parametrize(
    "text",
    [
        "Always quote prices in euros.",
        "Please never call me before nine.",
        "From now on, answer in Italian.",
        "Add a summary whenever I ask about a meeting.",
        "Thanks! And also, always cite the page.",
        "I prefer trains to planes, can you plan the trip?",
        "I'd rather walk.",
        "I don't like coriander.",
        "Prefers short answers.",
        "Bitte immer auf Deutsch antworten.",
        "Siempre responde en español.",
        "以后请用中文回答。",
    ],
)
def test_holds_always(text: str) -> None:
    assert holds_always(text)


@pytest.mark.parametrize(
    "text",
    [
        "Never mind.",
        "Always happy to help!",
        "I have never been to Rome.",
        "He always takes the tram to work.",
        "Can you show me the tram lines?",
        "Do you prefer tea?",
        "The meeting is on Friday.",
        "",
    ],
)
def test_does_not_hold_always(text: str) -> None:
    assert not holds_always(text)


def test_what_people_tell_each_other_is_no_instruction() -> None:
    def said(role: Role, speaker: str | None) -> Unit:
        text = "Always bring a coat."
        return Unit(bytes(16), Layer.SOURCE, text, 1, 1, role=role, speaker=speaker)

    assert is_standing(said(Role.USER, "Ann"))
    assert is_standing(said(Role.SYSTEM, None))
    assert is_standing(said(Role.NONE, None))
    assert not is_standing(said(Role.NONE, "Ann"))
    assert not is_standing(said(Role.ASSISTANT, None))


def test_standing_units_are_found_nearest_or_newest_first() -> None:
    ids, analyzer = IdMaker(), Analyzer()

    def row(text: str, said: int, codes: list[int], standing: bool) -> IndexRow:
        terms = pack([*analyzer.terms(text), *([STANDING] if standing else [])])
        vector = np.array(codes, dtype=np.int8).tobytes()
        return IndexRow(
            ids.new(), 0, 0, None, None, 1, said, None, None, (), terms, b"", vector, 0.01, None, 0
        )

    rows = [
        row("always tea", 1, [90, 0, 0, 0, 0, 0, 0, 0], True),
        row("tea", 2, [90, 0, 0, 0, 0, 0, 0, 0], False),
        row("always milk", 3, [0, 90, 0, 0, 0, 0, 0, 0], True),
        row("never sugar", 4, [0, 0, 90, 0, 0, 0, 0, 0], True),
    ]
    whole = IndexState(1, 1, 8, (build_part(rows, 8),), (None,))
    assert whole.parts[0].columns.length.tolist() == [2, 1, 2, 2]  # the label is no word of it
    a, _, b, c = (r.unit_id for r in rows)
    assert standing_units(whole, None, 10) == [c, b, a]
    assert standing_units(whole, None, 2) == [c, b]
    assert standing_units(whole, None, 10, until=4) == [b, a]
    like_milk = np.eye(8, dtype=np.float32)[1]
    assert standing_units(whole, like_milk, 1) == [b]
    gone = np.array([False, False, False, True])
    parts = (build_part(rows[:2], 8), merge_parts([build_part(rows[2:], 8)], [gone[2:]]))
    assert standing_units(IndexState(1, 1, 8, parts, (None, None)), None, 10) == [b, a]
    dead = IndexState(1, 1, 8, whole.parts, (gone,))
    assert standing_units(dead, None, 10) == [b, a]
    assert standing_units(IndexState(1, 1, 8), None, 10) == []


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did you recommend for the trip?", True),
        ("Which books have you suggested?", True),
        ("You mentioned a hotel, which was it?", True),
        ("What was your advice about the loan?", True),
        ("Can you suggest some books?", False),
        ("What would you recommend for the trip?", False),
        ("Could you show me what I planned?", False),
        ("What did I tell you about the loan?", False),
    ],
)
def test_whom_a_question_is_about(question: str, expected: bool) -> None:
    assert about_assistant(question) is expected
