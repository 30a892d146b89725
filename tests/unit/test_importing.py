"""The parsers of other programs' exports: what is taken, what is left, and why."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from remembrancer.reading.importing import json_stream
from remembrancer.reading.importing.detect import PARSERS, Format, format_of
from remembrancer.reading.importing.json_stream import BrokenJson, values
from remembrancer.reading.importing.types import (
    File,
    Item,
    Left,
    Taken,
    TakenCalendar,
    TakenNode,
    TakenRelation,
)

CHATGPT = [
    {
        "title": "Trip",
        "create_time": 1_714_550_400.5,
        "conversation_id": "c-1",
        "current_node": "n4",
        "mapping": {
            "root": {"parent": None, "message": None},
            "n1": {
                "parent": "root",
                "message": {
                    "author": {"role": "system"},
                    "content": {"content_type": "text", "parts": [""]},
                    "metadata": {"is_visually_hidden_from_conversation": True},
                },
            },
            "n2": {
                "parent": "n1",
                "message": {
                    "author": {"role": "user"},
                    "create_time": 1_714_550_401.0,
                    "content": {"content_type": "text", "parts": ["We go to Oslo in June."]},
                },
            },
            "n3": {
                "parent": "n2",
                "message": {
                    "author": {"role": "assistant"},
                    "content": {"content_type": "text", "parts": ["An older answer."]},
                },
            },
            "n4": {
                "parent": "n2",
                "message": {
                    "author": {"role": "assistant"},
                    "create_time": 1_714_550_402.0,
                    "content": {"content_type": "text", "parts": ["Oslo is light in June."]},
                },
            },
        },
    }
]
CLAUDE = [
    {
        "uuid": "u-1",
        "name": "Bread",
        "created_at": "2026-03-01T08:00:00Z",
        "chat_messages": [
            {
                "sender": "human",
                "text": "My starter is called Rye.",
                "created_at": "2026-03-01T08:00:01Z",
            },
            {
                "sender": "assistant",
                "content": [{"type": "text", "text": "A fine name."}, {"type": "tool_use"}],
                "files": [{"file_name": "loaf.png"}],
            },
        ],
    }
]
MEM0 = {
    "results": [
        {
            "id": "m-1",
            "memory": "Likes rye bread",
            "user_id": "ann",
            "created_at": "2026-01-02T03:04:05+01:00",
            "categories": ["food"],
            "metadata": {"channel": "mail"},
        }
    ],
    "relations": [{"source": "ann", "relationship": "likes", "target": "bread"}],
}
GRAPH = (
    '{"type":"entity","name":"Ann","entityType":"person","observations":["Bakes on Sundays"]}\n'
    "not json\n"
    '{"type":"relation","from":"Ann","to":"Oslo","relationType":"visits"}\n'
)
HEBBS = (
    '{"memory_id":"h1","content":"The valve sticks","importance":0.8,"kind":"EPISODE",'
    '"created_at":1714550400000000}\n'
    '{"memory_id":"h2","content":"Valves stick","importance":0.5,"kind":"INSIGHT"}\n'
)
NOTE = (
    "---\ntags: [home, food]\ndate: 2026-02-03\naliases:\n  - Loaf\nmood: 'calm'\n---\n"
    "Baked with [[People/Ben Ode|Ben]] #sunday\n\n```\n[[Not Linked]] #nottag\n```\n"
)
MBOX = (
    b"From ann@example.org Mon May  4 10:00:00 2026\n"
    b"From: Ann Ek <ann@example.org>\nTo: Ben <ben@example.org>\n"
    b"Subject: The boat\nDate: Mon, 4 May 2026 10:00:00 +0200\nMessage-ID: <1@example.org>\n\n"
    b"The boat leaves at nine.\n>From the north pier.\n\n"
    b"From ben@example.org Mon May  4 11:00:00 2026\n"
    b"From: ben@example.org\nSubject: Re\nMIME-Version: 1.0\n"
    b'Content-Type: multipart/mixed; boundary="b"\n\n'
    b"--b\nContent-Type: text/html\n\n<p>I bring <b>rope</b>.</p>\n"
    b"--b\nContent-Type: image/png\nContent-Disposition: attachment\n\nxx\n--b--\n"
)
ICS = (
    b"BEGIN:VCALENDAR\r\nX-WR-TIMEZONE:Europe/Oslo\r\nBEGIN:VTIMEZONE\r\nEND:VTIMEZONE\r\n"
    b"BEGIN:VTODO\r\nUID:a\r\nSUMMARY:Oil the hinge\r\nBEGIN:VALARM\r\nEND:VALARM\r\nEND:VTODO\r\n"
    b"END:VCALENDAR\r\n"
)


def file(path: str, data: bytes | str | object) -> File:
    told = data if isinstance(data, bytes) else data.encode() if isinstance(data, str) else None
    held = told if told is not None else json.dumps(data).encode()
    return File(path, len(held), lambda: io.BytesIO(held))


def parse(path: str, data: bytes | str | object) -> tuple[Format | None, list[Item]]:
    given = file(path, data)
    found = format_of(given)
    return found, list(PARSERS[found](given)) if found is not None else []


def taken(items: list[Item]) -> list[Taken]:
    return [item for item in items if isinstance(item, Taken)]


def left(items: list[Item]) -> dict[str, int]:
    return {item.why: item.count for item in items if isinstance(item, Left)}


def test_of_a_chatgpt_conversation_the_shown_branch_is_taken() -> None:
    found, items = parse("conversations.json", CHATGPT)
    [one] = taken(items)
    assert found is Format.CHATGPT
    assert one.name == "chatgpt/c-1"
    messages = json.loads(one.passages[0].text)
    assert [m["content"] for m in messages] == ["We go to Oslo in June.", "Oslo is light in June."]
    assert messages[0]["timestamp"] == "2024-05-01T08:00:01Z"
    assert (one.passages[0].note, one.metadata) == ("Trip", {"title": "Trip"})
    assert left(items) == {
        "hidden in the conversation": 1,
        "of a branch that is not shown (edited or answered anew)": 1,
    }


def test_of_a_claude_conversation_words_are_taken_and_files_are_left() -> None:
    found, items = parse("conversations.json", CLAUDE)
    [one] = taken(items)
    assert found is Format.CLAUDE
    assert one.name == "claude/u-1"
    told = [(m["role"], m["content"]) for m in json.loads(one.passages[0].text)]
    assert told == [("user", "My starter is called Rye."), ("assistant", "A fine name.")]
    assert left(items) == {"a file": 1}


@pytest.mark.parametrize("odd", [5, [], {}, {"a": []}, True, None, "x"])
@pytest.mark.parametrize("chat", [CHATGPT, CLAUDE])
def test_no_value_in_the_place_of_another_breaks_a_conversation(chat: Any, odd: Any) -> None:
    for number in range(len(list(places(chat)))):
        other = json.loads(json.dumps(chat))
        container, key = list(places(other))[number]
        container[key] = odd
        for kind in (Format.CHATGPT, Format.CLAUDE):
            data = json.dumps(other).encode()
            list(PARSERS[kind](File("a.json", len(data), lambda: io.BytesIO(data), at=1)))  # noqa: B023


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a JSON value: what holds it, and its key."""
    keys = value if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def test_of_mem0_memories_are_taken_with_time_and_tags() -> None:
    found, items = parse("memories.json", MEM0)
    [one] = taken(items)
    assert found is Format.MEM0
    assert one.name == "mem0/m-1"
    assert (one.passages[0].text, one.passages[0].offset_min) == ("Likes rye bread", 60)
    assert one.tags == ("food", "mem0")
    assert one.metadata["channel"] == "mail"
    assert left(items) == {"a relation of the graph": 1}


def test_of_the_reference_server_entities_and_relations_are_taken() -> None:
    found, items = parse("memory.jsonl", GRAPH)
    assert found is Format.MCP
    assert items[0] == TakenNode("Ann", "person", ("Bakes on Sundays",))
    assert items[2] == TakenRelation("Ann", "Oslo", "visits")
    assert left(items) == {"it is no entity and no relation": 1}


def test_of_hebbs_what_was_derived_is_left() -> None:
    found, items = parse("export.jsonl", HEBBS)
    assert found is Format.HEBBS
    assert [t.name for t in taken(items)] == ["hebbs/h1"]
    assert taken(items)[0].passages[0].at == 1_714_550_400_000_000
    assert len(left(items)) == 1


def test_of_hindsight_documents_are_taken() -> None:
    listed = {"items": [{"id": "d-1", "original_text": "Owls nest late.", "tags": ["birds"]}]}
    found, items = parse("documents.json", listed)
    assert found is Format.HINDSIGHT
    assert [(t.name, t.tags) for t in taken(items)] == [("hindsight/d-1", ("birds", "hindsight"))]


def test_notes_have_front_matter_links_and_tags() -> None:
    found, items = parse("Days/loaf.md", NOTE)
    [one] = taken(items)
    assert found is Format.MARKDOWN
    assert one.name == "Days/loaf.md"
    assert one.tags == ("home", "food", "sunday")
    assert one.passages[0].entities == ("Ben Ode", "Loaf")
    assert one.metadata == {"mood": "calm"}
    assert one.passages[0].text.startswith("Baked with [[People/Ben Ode|Ben]]")
    assert one.passages[0].at == 1_770_076_800_000_000


def test_tables_need_a_column_of_text() -> None:
    _, items = parse("a.csv", "id;text;date;place\n7;Ferry is late;2026-05-01;Oslo\n8;;;\n")
    [one] = taken(items)
    assert (one.name, one.metadata) == ("a.csv/7", {"place": "Oslo"})
    assert left(items) == {"it holds no text": 1}
    _, items = parse("b.csv", "x,y\n1,2\n")
    assert taken(items) == []
    assert len(items) == 1


def test_the_messages_of_a_telegram_chat_are_one_document() -> None:
    link = ["See ", {"type": "link", "text": "https://x.example"}]
    chat = {
        "name": "Ann",
        "messages": [
            {"id": 1, "date": "2026-03-01T10:00:00", "from": "Ann", "text": "I moved to Ghent."},
            {"id": 2, "date": "2026-03-01T10:01:00", "from": "Ben", "text": link},
        ],
    }
    _, items = parse("result.json", chat)
    [one] = taken(items)
    [passage] = one.passages
    assert [message["from"] for message in json.loads(passage.text)] == ["Ann", "Ben"]


def test_messages_are_taken_together_by_conversation() -> None:
    lines = [
        {"role": "user", "content": f"Line {n}", "conversation_id": f"c{n // 2}"} for n in range(3)
    ]
    _, items = parse("log.jsonl", "\n".join(json.dumps(line) for line in lines))
    assert [(t.name, len(json.loads(t.passages[0].text))) for t in taken(items)] == [
        ("log.jsonl/c0/0", 2),
        ("log.jsonl/c1/0", 1),
    ]


def test_mails_are_taken_without_attachments() -> None:
    found, items = parse("in.mbox", MBOX)
    first, second = taken(items)
    assert found is Format.MBOX
    assert first.name == "mail/1@example.org"
    assert first.passages[0].text == "The boat\n\nThe boat leaves at nine.\nFrom the north pier."
    assert first.passages[0].offset_min == 120
    assert first.passages[0].note == "mail from Ann Ek to Ben"
    assert "I bring rope." in second.passages[0].text
    assert left(items) == {"an attachment": 1}


def test_calendars_come_in_bounded_parts() -> None:
    found, items = parse("c.ics", ICS)
    [one] = [item for item in items if isinstance(item, TakenCalendar)]
    assert found is Format.ICS
    assert len(one.entries) == 1
    assert b"Europe/Oslo" in one.text()
    assert one.text().endswith(b"END:VTODO\r\nEND:VCALENDAR\r\n")
    assert left(items) == {"neither a to-do nor an event": 1}


@pytest.mark.parametrize("word", [b"END: bring rope", b"BEGIN:VTODO at home", b"END:VCALENDAR"])
def test_a_folded_line_and_a_mark_at_the_start_end_no_entry(word: bytes) -> None:
    data = ICS.replace(b"Oil the hinge", b"Oil the\r\n " + word)
    _, items = parse("c.ics", b"\xef\xbb\xbf" + data)
    [one] = [item for item in items if isinstance(item, TakenCalendar)]
    assert len(one.entries) == 1
    assert word in one.text()


@pytest.mark.parametrize("path", ["a.csv", "a.md", "a.jsonl", "conversations.json"])
def test_what_is_no_utf8_is_left_and_told(path: str) -> None:
    texts = {
        "a.csv": "content\nMüller",
        "a.md": "Müller",
        "a.jsonl": '{"content": "Müller"}\n',
        "conversations.json": json.dumps(CHATGPT, ensure_ascii=False).replace("Oslo", "Müller"),
    }
    given = file(path, texts[path].encode("latin-1"))
    kind = format_of(given)
    items = list(PARSERS[kind](given)) if kind is not None else []
    assert taken(items) == []
    assert all(isinstance(item, Left) for item in items)
    assert kind is None or items


def test_a_date_that_cannot_be_read_is_kept_as_it_stands() -> None:
    _, rows = parse("a.csv", "content,date\nOne,sometime in spring\nTwo,2026-02-03\n")
    assert [t.metadata for t in taken(rows)] == [{"date": "sometime in spring"}, {}]
    _, notes = parse("a.md", "---\ndate: sometime in spring\n---\nOne\n")
    assert taken(notes)[0].metadata == {"date": "sometime in spring"}


def test_conversations_that_alternate_lose_no_message() -> None:
    lines = [
        {"role": "user", "content": f"Line {n}", "conversation_id": f"c{n % 2}"} for n in range(5)
    ]
    _, items = parse("log.jsonl", "\n".join(json.dumps(line) for line in lines))
    assert len({t.name for t in taken(items)}) == 5
    assert left(items) == {}


def test_what_an_assistant_says_to_a_tool_is_left() -> None:
    chats = json.loads(json.dumps(CHATGPT))
    last = chats[0]["mapping"]["n4"]["message"]
    last["recipient"] = "dalle.text2im"
    _, items = parse("conversations.json", chats)
    assert left(items)["said to a tool"] == 1
    assert "light in June" not in str(taken(items))
    last["recipient"] = "all"
    assert "light in June" in str(taken(parse("conversations.json", chats)[1]))


def test_a_document_of_a_project_has_its_own_date() -> None:
    project = {"uuid": "p", "created_at": "2022-01-01T00:00:00Z", "prompt_template": "", "docs": [
        {"uuid": "d", "content": "I broke my arm today.", "created_at": "2024-02-02T00:00:00Z"},
        {"uuid": "e", "content": "I bake."},
    ]}  # fmt: skip
    _, items = parse("projects.json", [project])
    first, second = taken(items)
    assert second.passages[0].at is not None
    assert first.passages[0].at is not None
    assert first.passages[0].at > second.passages[0].at


def test_a_mail_whose_plain_part_is_blank_has_the_text_of_its_html() -> None:
    mail = MBOX[: MBOX.index(b"From ben@")].replace(
        b"\n\nThe boat leaves at nine.\n>From the north pier.",
        b'\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary="b"\n\n'
        b"--b\nContent-Type: text/plain\n\n \n--b\nContent-Type: text/html\n\n<p>At nine.</p>\n"
        b"--b--",
    )
    [one] = taken(parse("in.mbox", mail)[1])
    assert one.passages[0].text == "The boat\n\nAt nine."


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("conversations.json", json.dumps(CHATGPT)[:-400]),
        ("memories.json", '{"results": [{"memory": "Kept"}, {"memory'),
        ("x.json", '[{"content": "Kept"} {"content": "Lost"}]'),
    ],
)
def test_what_is_cut_off_is_told(path: str, data: str) -> None:
    given = file(path, data)
    shape: Callable[..., list[Item]] = lambda kind: list(PARSERS[kind](given))  # noqa: E731
    kind = {"conversations.json": Format.CHATGPT, "memories.json": Format.MEM0}.get(path)
    items = shape(kind or Format.JSONL)
    assert isinstance(items[-1], Left) or len(taken(items)) == 1
    assert any(isinstance(item, Left) for item in items)


def test_nothing_is_read_into_unknown_files() -> None:
    for path, data in (("a.bin", b"\0\1"), ("a.json", b"not json"), ("b.json", b"[1, 2]")):
        assert parse(path, data)[0] is None


def test_json_is_read_a_value_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_READ", 7)  # so that values lie across reads
    told = {"a": [{"x": "é" * 20}, 12.5, "end"], "b": {"c": [1]}, "d": []}
    text = json.dumps(told, ensure_ascii=False, indent=1).encode()
    assert [tuple(v) for v in values(io.BytesIO(text))] == [
        ("a", {"x": "é" * 20}, True),
        ("a", 12.5, True),
        ("a", "end", True),
        ("b", {"c": [1]}, False),
    ]
    monkeypatch.setattr(json_stream, "MAX_RECORD_BYTES", 100)
    for long in ("a" * 1_000, '\\"]' * 99, [["]", {'"}': "\\"}] * 40] * 3, {"é": "[" * 200}):
        for text in (
            json.dumps([1.5, long, {"x": "y"}]),
            json.dumps({"m": [1.5, long, {"x": "y"}]}),
        ):
            told = [value for _, value, _ in values(io.BytesIO(text.encode()))]
            assert told == [1.5, None, {"x": "y"}]
    for cut in (b'["' + b"a" * 200, b"[[" + b'"a",' * 100, b'["' + b"a" * 100 + b'\\"]'):
        with pytest.raises(BrokenJson, match="breaks off"):
            list(values(io.BytesIO(cut)))
    chats = file("conversations.json", json.dumps([{"mapping": "x" * 200}, {"mapping": {}}]))
    assert format_of(chats) is Format.CHATGPT
    [first, _] = PARSERS[Format.CHATGPT](chats)
    assert isinstance(first, Left)
    assert "longer than" in first.why
    with pytest.raises(BrokenJson, match="longer"):
        list(values(io.BytesIO(b'{"m": "' + b"a" * 200 + b'"}')))
    assert list(json_stream.objects(io.BytesIO(b'"' + b"a" * 200 + b'"\n{"x":1}\n'))) == [
        (1, None),
        (2, {"x": 1}),
    ]


def test_a_folder_of_its_own_name_is_no_file(tmp_path: Path) -> None:
    assert format_of(file("notes", b"BEGIN:VCALENDAR\r\n")) is Format.ICS
    assert format_of(file("inbox", b"From a@b Mon\n")) is Format.MBOX
    assert not list(tmp_path.iterdir())
