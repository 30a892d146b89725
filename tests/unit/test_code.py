"""Which lines are program text, in no fence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.reading.code import find_code

PROGRAMS = {
    "javascript": "import { Mill } from './mill';\n\nconst mill = new Mill('Larch');\n"
    "mill.open(() => {\n  console.log(mill.Miller);\n});",
    "c": "#include <stdio.h>\n\nint main(void) {\n    /* Greets Anna. */\n    return 0;\n}",
    "shell": 'Larch="$1"\nif [ -z "$Larch" ]; then\n    exit_with(1)\nfi\nfor f in (a b); do\ndone',
    "config": 'server = "Larch"\nport = 8080\nhosts = ["Anna", "Berta"]',
}


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_program_is_found_between_sentences(language: str) -> None:
    code = PROGRAMS[language]
    text = f"I wrote this with Clara in Bern.\n\n{code}\n\nShe liked it.\nSo did I."
    [block] = find_code(text)
    assert text[block.start : block.end] == code


@pytest.mark.parametrize(
    "text",
    [
        "I bought:\napples;\npears;\nplums;\nand I like Bern.",
        "We met Clara;\nwe went to Bern;\nwe saw Otto;",
        "Boss = Clara Weber\nCity = Bern\nTeam = Blue",
        "If you come to Bern:\nFor the weekend:\nWith Otto:",
        "- milk (two),\n- eggs (six),\n- flour (one),",
        "Dear Ann,\n\nI moved (finally).\n\nBest,\nBob",
        "Ann: I am done;\nBob: so am I;\nAnn: bye;",
        "x = 1\n\nOne line alone is none.",
    ],
)
def test_what_people_write_is_none(text: str) -> None:
    assert find_code(text) == []


@given(st.lists(st.sampled_from(["x = f(1)", "}", "// a", "Ann lives in Bern.", "", "go();"])))
def test_blocks_are_in_order_and_within_the_text(lines: list[str]) -> None:
    text = "\n".join(lines)
    ends = [0]
    for block in find_code(text):
        assert ends[-1] <= block.start < block.end <= len(text)
        assert text[block.start : block.end].count("\n") >= 2
        ends.append(block.end)
