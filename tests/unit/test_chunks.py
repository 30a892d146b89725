from __future__ import annotations

import json

from remembrancer.reading.chunks import passage_range, place, split_chunks
from remembrancer.reading.passages import split_passages
from remembrancer.reading.turns import split_turns


def _check(content: str, limit: int = 3000) -> list[int]:
    """Every passage lies in one chunk, at the place told; chunks join to the content."""
    turns = split_turns(content)
    chunks = split_chunks(content, turns, limit)
    assert "".join(content[c.start : c.end] for c in chunks) == content
    for turn in turns:
        for passage in split_passages(turn.text):
            where = passage_range(content, turn, passage)
            spot = place(chunks, where.start, where.end)
            chunk = content[chunks[spot.chunk].start : chunks[spot.chunk].end]
            assert chunk[spot.start : spot.end] == content[where.start : where.end]
    return [c.end - c.start for c in chunks]


def test_short_content_is_one_chunk() -> None:
    assert _check("Just one line.") == [14]


def test_empty_content_has_none() -> None:
    assert split_chunks("", []) == []


def test_chunks_begin_at_turns() -> None:
    content = "\n".join(f"{'Ann' if i % 2 else 'Bob'}: {'word ' * 60}" for i in range(40))
    sizes = _check(content)
    assert len(sizes) > 3
    assert max(sizes) <= 3000
    chunks = split_chunks(content, split_turns(content))
    assert all(content[c.start : c.start + 4] in ("Ann:", "Bob:") for c in chunks)


def test_a_long_turn_is_cut_between_its_passages() -> None:
    content = "Ann: hi there\nBob: " + "This sentence is said again. " * 600 + "\nAnn: bye"
    sizes = _check(content)
    assert max(sizes) <= 6000
    turns = split_turns(content)
    assert [turn.speaker for turn in turns] == ["Ann", "Bob", "Ann"]


def test_a_json_message_stays_whole_whatever_its_size() -> None:
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "long\n" * 4000},
        {"role": "user", "content": "bye"},
    ]
    content = json.dumps(messages)
    assert max(_check(content)) > 6000


def test_what_lies_between_turns_is_bounded_too() -> None:
    content = json.dumps({"meta": "x" * 50_000, "messages": [{"role": "user", "content": "hi"}]})
    assert max(_check(content)) <= 6000


def test_text_without_spaces_is_bounded() -> None:
    assert max(_check("y" * 100_000)) <= 6000


def test_place_cuts_a_range_at_its_chunk() -> None:
    content = "a" * 10_000
    chunks = split_chunks(content, split_turns(content))
    spot = place(chunks, 0, 10_000)
    assert (spot.chunk, spot.start, spot.end) == (0, 0, chunks[0].end)


def test_a_text_in_pieces_is_read_whole() -> None:
    text = ["Look at ", {"type": "link", "text": "https://x.example/a"}, ", it is ", ""]
    text.append({"type": "bold", "text": "mine"})
    messages = [{"from": "Ann", "text": text}, {"from": "Ben", "text": ["So", "what?"]}]
    turns = split_turns(json.dumps({"messages": messages}))
    assert [turn.text for turn in turns] == ["Look at https://x.example/a, it is mine", "So\nwhat?"]


def test_a_piece_of_no_known_kind_is_left_out() -> None:
    odd = [{"type": ["bold"], "text": "no"}, {"type": {}, "text": "no"}, {"text": "Yes."}]
    [turn] = split_turns(json.dumps([{"role": "user", "content": odd}]))
    assert turn.text == "Yes."
