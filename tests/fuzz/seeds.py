"""Beginnings of input, valid ones and pieces of them, that are cut, joined and broken."""

from __future__ import annotations

import json
from random import Random

from hypothesis import strategies as st
from swapping import swapped

_CHATGPT = [
    {
        "title": "Trip",
        "create_time": 1715162400.5,
        "current_node": "b",
        "mapping": {
            "a": {"id": "a", "parent": None, "children": ["b"], "message": None},
            "b": {
                "id": "b",
                "parent": "a",
                "children": [],
                "message": {
                    "author": {"role": "user"},
                    "create_time": 1715162401,
                    "content": {"content_type": "text", "parts": ["I am in Oslo."]},
                },
            },
        },
    }
]
_CLAUDE = [
    {
        "uuid": "u",
        "name": "Trip",
        "created_at": "2026-05-08T10:00:00Z",
        "chat_messages": [
            {"sender": "human", "text": "I am in Oslo.", "created_at": "2026-05-08T10:00:00Z"}
        ],
    }
]
_MEMORY = [{"id": "m", "memory": "Mira likes tea.", "created_at": "2026-05-08", "metadata": {}}]
_ICS = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART;TZID=Europe/Berlin:"
    "20260508T100000\r\nRRULE:FREQ=WEEKLY;BYDAY=MO,-1FR;COUNT=5\r\nSUMMARY:Tea\\, now\r\n"
    "END:VEVENT\r\nEND:VCALENDAR\r\n"
)
_MBOX = (
    "From mira@post.example Fri May  8 10:00:00 2026\nFrom: =?utf-8?b?w6k=?= <a@b.example>\n"
    "Subject: Tea\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html; "
    "charset=latin-1\n\n<p>Tea</p>\n--x--\n\n>From the start\n"
)
WHOLE = [
    *(json.dumps(v).encode() for v in (_CHATGPT, _CLAUDE, _MEMORY, _MEMORY[0])),
    b'{"entityType": "person", "name": "Mira", "observations": ["likes tea"], "type": "entity"}\n',
    b'{"role": "user", "content": "I am in Oslo."}\n{"role": "assistant", "content": "Since?"}\n',
    _ICS.encode(),
    _MBOX.encode(),
    b"---\ntitle: Tea\ntags: [a, b]\ndate: 2026-05-08\n---\n# Tea\n[[Mira]] likes #tea.\n",
    b'text,created_at,tags\n"Mira, likes tea",2026-05-08,a;b\n',
    b"Mira: I was there on May 8, 2026.\nAnn: The day before yesterday at 5pm?\n",
    b"FREQ=MONTHLY;BYDAY=-1FR;BYSETPOS=1;INTERVAL=2;UNTIL=20301231T000000Z",
    b"*/5 2-4 1,15 * MON#2",
    b"Remind me to call Bob on Friday at nine. When I next see Ann, I'll bring her book.",
    b"I used to live in Lyon, but since 2021 I've been working for Acme in Oslo; my wife is Mira.",
    b"<html><body><script>x</script><table><tr><td>a</td></tr></table>&eacute;&#0;</body>",
    b"The password is Tr0ub4dor&3x and the card 4242 4242 4242 4242, mail a@b.example.",
]
PIECES = [
    *(bytes([n]) for n in (0, 9, 10, 13, 34, 44, 58, 91, 92, 93, 123, 125, 128, 255)),
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\\ud800",
    b"1e999",
    b"-1",
    b"null",
    b"NaN",
    b"9" * 40,
    b"[" * 500,
    b'{"a":' * 200,
    b"\r\n ",
    b"BEGIN:VEVENT\r\n",
    b"RRULE:FREQ=SECONDLY;COUNT=999999999\r\n",
    b"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
    b"next Friday at noon",
    b"in 99999999999 years",
    *(
        f" {word} ".encode()
        for word in "last week of May|every second Tuesday|before|until|"
        "3rd|Q3|fortnight|between|ago|vorgestern um halb drei|le 1er mai|pasado mañana".split("|")
    ),
    b"00/00/0000",
    b"2026-13-45T99:99",
    "é漢😀\u2028".encode(),
]


def _broken(whole: bytes, places: list[tuple[int, int, bytes]]) -> bytes:
    data = bytearray(whole)
    for at, length, piece in places:
        start = at % (len(data) + 1)
        data[start : start + length] = piece
    return bytes(data)


def _swapped(whole: bytes, seeds: list[int]) -> bytes:
    for seed in seeds:
        whole = swapped(whole, Random(seed)) or whole
    return whole


_PLACES = st.tuples(
    st.integers(0, 2_000), st.integers(0, 30), st.sampled_from(PIECES) | st.binary(max_size=8)
)
INPUTS = st.one_of(
    st.builds(_broken, st.sampled_from(WHOLE), st.lists(_PLACES, max_size=6)),
    st.lists(st.sampled_from([*WHOLE, *PIECES]), max_size=8).map(b"".join),
    st.builds(_swapped, st.sampled_from(WHOLE), st.lists(st.integers(0, 2**32), max_size=4)),
    st.binary(max_size=200),
)
"""Input of every kind, for every target: a reader meets what was meant for another, too."""
