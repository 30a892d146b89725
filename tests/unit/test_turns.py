from __future__ import annotations

import json

import pytest

from remembrancer.nouns.memory import Role
from remembrancer.reading.turns import split_turns

MARCH_1_1022 = 1_709_288_520_000_000  # 2024-03-01T10:22Z


def _who(content: str) -> list[tuple[str | None, Role, str]]:
    return [(turn.speaker, turn.role, turn.text) for turn in split_turns(content)]


# JSON


def test_list_of_messages() -> None:
    content = '[ {"role": "user", "content": "hi"},\n {"role":"assistant","content":"yo"} ]'
    turns = split_turns(content)
    assert [(t.role, t.text) for t in turns] == [(Role.USER, "hi"), (Role.ASSISTANT, "yo")]
    assert [json.loads(content[t.start : t.end])["content"] for t in turns] == ["hi", "yo"]


@pytest.mark.parametrize("key", ["messages", "turns", "conversation"])
def test_object_that_holds_the_list(key: str) -> None:
    content = json.dumps({"id": 7, "x": [1], key: [{"speaker": "Ann", "text": "hi"}], "z": {}})
    (turn,) = split_turns(content)
    assert (turn.speaker, turn.role, turn.text) == ("Ann", Role.NONE, "hi")
    assert json.loads(content[turn.start : turn.end]) == {"speaker": "Ann", "text": "hi"}


def test_jsonl() -> None:
    content = '{"from":"human","message":"a"}\n\n{"from":"Bo","message":"b"}\n'
    assert _who(content) == [(None, Role.USER, "a"), ("Bo", Role.NONE, "b")]


def test_content_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image", "url": "u"}, {"text": "b"}, "c"]
    assert _who(json.dumps([{"role": "user", "content": parts}])) == [(None, Role.USER, "a\nb\nc")]


def test_a_role_message_takes_its_speaker_from_name() -> None:
    content = json.dumps([{"role": "user", "name": "Luca", "content": "x"}])
    assert _who(content) == [("Luca", Role.USER, "x")]


@pytest.mark.parametrize(
    ("said", "at", "offset"),
    [
        ("2024-03-01T10:22:00Z", MARCH_1_1022, 0),
        ("2024-03-01T12:22:00+02:00", MARCH_1_1022, 120),
        ("2024-03-01 10:22", MARCH_1_1022, None),
        (1_709_288_520, MARCH_1_1022, None),
        (1_709_288_520_000, MARCH_1_1022, None),
        ("1709288520", MARCH_1_1022, None),
        ("10:22", None, None),
        (True, None, None),
        ("yesterday", None, None),
    ],
)
def test_times(said: object, at: int | None, offset: int | None) -> None:
    content = json.dumps([{"role": "user", "content": "x", "timestamp": said}])
    (turn,) = split_turns(content)
    assert (turn.at, turn.offset_min) == (at, offset)


def test_ids_and_empty_messages() -> None:
    content = json.dumps(
        [
            {"role": "user", "content": "x", "dia_id": "D1:1"},
            {"role": "assistant", "content": None},
            {"role": "user", "content": "  ", "id": 3},
            {"role": "user", "content": "y", "id": 4},
        ]
    )
    assert [turn.name for turn in split_turns(content)] == ["D1:1", "4"]


def test_items_beside_messages_are_not_lost() -> None:
    content = json.dumps([{"role": "user", "content": "x"}, {"event": "joined"}])
    assert [turn.text for turn in split_turns(content)] == ["x", '{"event": "joined"}']


@pytest.mark.parametrize(
    "content",
    [
        '[{"role": "user", "content": "hi"}, {"role": "us',
        '{"a": 1}',
        "[1, 2, 3]",
        "[" * 100_000,
        "{",
        "[" + "9" * 5000 + "]",
    ],
)
def test_broken_or_other_json_is_plain_text(content: str) -> None:
    assert "".join(turn.text for turn in split_turns(content)) == content


def test_escapes_are_undone_and_cleaned() -> None:
    content = '[{"role":"user","content":"Caf\\u00e9 \\ud83d\\ude00\\u0000 \\ud800"}]'
    assert _who(content) == [(None, Role.USER, "Café 😀")]


# Chat as text


def test_chat_lines_with_continuations() -> None:
    content = "Ann: Hi!\nBob: Hello.\nStill Bob\n\nand again\nAnn: bye"
    assert _who(content) == [
        ("Ann", Role.NONE, "Hi!"),
        ("Bob", Role.NONE, "Hello.\nStill Bob\n\nand again"),
        ("Ann", Role.NONE, "bye"),
    ]
    for turn in split_turns(content):
        assert content[turn.end - len(turn.text) : turn.end] == turn.text


def test_roles_in_chat_lines() -> None:
    content = "User: I like tea\nAI: Ingredients:\nNote: hot water\nHuman: ok"
    assert [role for _, role, _ in _who(content)] == [Role.USER, Role.ASSISTANT, Role.USER]


def test_a_long_turn_keeps_its_speaker() -> None:
    content = "Ann: hi\nBob: " + "He talks on. " * 400 + "\n\n" + "And on. " * 300 + "\nAnn: ok"
    assert [speaker for speaker, _, _ in _who(content)] == ["Ann", "Bob", "Ann"]


@pytest.mark.parametrize(
    ("stamp", "at"),
    [
        ("[2024-03-01 10:22] {}: ", MARCH_1_1022),
        ("[2024-03-01T10:22:00Z] {}: ", MARCH_1_1022),
        ("01/03/24, 10:22 - {}: ", MARCH_1_1022),
        ("[01.03.24, 10:22:00] {}: ", MARCH_1_1022),
        ("3/1/24, 10:22 AM - {}: ", MARCH_1_1022),
        ("10:22 - {}: ", None),
        ("[10:22] {}: ", None),
    ],
)
def test_stamps_before_names(stamp: str, at: int | None) -> None:
    content = "\n".join(stamp.format(name) + "Words here" for name in ("Ann", "Bob", "Ann"))
    turns = split_turns(content)
    assert [(t.speaker, t.text, t.at) for t in turns] == [
        (name, "Words here", at) for name in ("Ann", "Bob", "Ann")
    ]


def test_the_order_of_an_export_settles_day_and_month() -> None:
    content = "02/01/24, 10:00 - Ann: a\n02/13/24, 10:00 - Bob: b"
    first, second = split_turns(content)
    assert first.at is not None
    assert second.at is not None
    assert second.at - first.at == 12 * 86_400_000_000


def test_markdown_chat() -> None:
    assert _who("**Ann:** Hi.\n\n**Bob:** Hello.\n\n**Ann:** Bye.")[1] == (
        "Bob",
        Role.NONE,
        "Hello.",
    )
    assert _who("### User\nHi\n\n### Assistant\n## Answer\n\nText: yes") == [
        (None, Role.USER, "Hi"),
        (None, Role.ASSISTANT, "## Answer\n\nText: yes"),
    ]
    assert [s for s, _, _ in _who("> Ann: hi\n> Bob: yes\n> Ann: so")] == ["Ann", "Bob", "Ann"]


def test_prose_before_a_chat() -> None:
    content = "We talked today.\n\nAnn: Hi\nBob: Yes\nAnn: Bye"
    assert [s for s, _, _ in _who(content)] == [None, "Ann", "Bob", "Ann"]


@pytest.mark.parametrize(
    "content",
    [
        "Name: John Smith\nCity: Paris\nOccupation: Baker",
        "Note: buy milk\nTODO: call Bob\nNote: buy eggs",
        "Ingredients: flour\nMethod: mix\nIngredients: eggs",
        "From: Ann\nTo: Bob\nSubject: Hello there.",
        "host: localhost\nport: 80\nhost: other",
        "Step 1: mix.\nStep 2: bake.\nStep 1: again.",
        "https://a.example\nhttp://b.example",
        "10:30 we met\n11:00 we ate",
        "# Title: a\n\n# Other: b",
        "```\nAnn: x\nBob: y\nAnn: z\n```",
        "Warning: hot\nWarning: cold",
        "A: Paris\nB: Rome\nC: Oslo",
        "I said one thing: it is late.\nHe said another: it is early.",
        "Ann: only one line",
    ],
)
def test_what_is_no_chat(content: str) -> None:
    assert all(speaker is None and role is Role.NONE for speaker, role, _ in _who(content))


# Prose


def test_paragraphs() -> None:
    content = "First one.\nSame.\n\n\nSecond."
    assert _who(content) == [
        (None, Role.NONE, "First one.\nSame."),
        (None, Role.NONE, "Second."),
    ]


def test_a_heading_stays_with_its_paragraph() -> None:
    assert [t for _, _, t in _who("# One\n\n## Sub\n\ntext\n\nmore\n# Two\nb")] == [
        "# One\n\n## Sub\n\ntext",
        "more",
        "# Two\nb",
    ]


def test_fenced_code_is_one_turn() -> None:
    code = "```py\nx = 1\n\n# no heading\n\ny = 2\n```"
    assert [t for _, _, t in _who(f"before\n{code}\nafter")] == ["before", code, "after"]


def test_an_unclosed_fence_is_plain() -> None:
    assert [t for _, _, t in _who("```\na\n\nb")] == ["```\na", "b"]


def test_lists_stay_together_up_to_the_limit() -> None:
    assert len(_who("\n\n".join(f"- item {i}" for i in range(10)))) == 1
    assert len(_who("\n\n".join(f"- item {i} " + "word " * 30 for i in range(10)))) > 2


def test_default_role() -> None:
    (turn,) = split_turns("I like tea.", default_role=Role.USER)
    assert (turn.role, turn.start, turn.end) == (Role.USER, 0, 11)


def test_nothing() -> None:
    assert split_turns("") == split_turns(" \n\n ") == []


@pytest.mark.parametrize(
    ("content", "speaker", "text"),
    [
        ("Ann: I moved to Berlin.", "Ann", "I moved to Berlin."),
        ("User: where is my bike?", None, "where is my bike?"),
        ("Paris: capital of France.", None, "Paris: capital of France."),
        ("Note: I moved to Berlin.", None, "Note: I moved to Berlin."),
        ("Breaking News: we won.", None, "Breaking News: we won."),
        ("Hello.\nAnn: I moved.", None, "Hello.\nAnn: I moved."),
    ],
)
def test_one_line_is_a_turn_only_when_a_person_speaks(
    content: str, speaker: str | None, text: str
) -> None:
    (turn,) = split_turns(content)
    assert (turn.speaker, turn.text) == (speaker, text)
