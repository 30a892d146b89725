"""A dry run shows what would be read, and stores nothing."""

from __future__ import annotations

from typing import Any

import pytest
from wire_kit import Server


def dry_run(server: Server, bank: str, **body: Any) -> Any:
    answer = server.post(f"/v1/default/banks/{bank}/memories/dry-run-extract", body)
    assert answer.status_code == 200, answer.text
    return answer


def test_facts_are_shown_and_nothing_is_stored(server: Server, bank: str) -> None:
    content = "I met Clara yesterday, and I bought a canoe. How are you?"
    answer = dry_run(server, bank, content=content, timestamp="2024-05-03T09:30:00+02:00")
    assert answer.json() == {
        "facts": [
            {
                "text": "I met Clara yesterday",
                "fact_type": "world",
                "occurred_start": "2024-05-02T00:00:00+02:00",
                "occurred_end": "2024-05-03T00:00:00+02:00",
                "entities": ["Clara"],
            },
            {"text": "I bought a canoe.", "fact_type": "world", "entities": []},
        ],
        "usage": {
            "input_tokens": 0,
            "output_tokens": 0,
            "total_tokens": 0,
            "cached_tokens": 0,
            "thoughts_tokens": 0,
        },
    }
    assert bank not in [b["bank_id"] for b in server.banks()]


def test_it_shows_what_retain_stores(server: Server, bank: str) -> None:
    content = (
        "User: I sold my boat because my knee hurts.\nAssistant: I booked a doctor for Friday."
    )
    shown = dry_run(server, bank, content=content).json()["facts"]
    assert [(f["text"], f["fact_type"]) for f in shown] == [
        ("I sold my boat", "world"),
        ("my knee hurts.", "world"),
        ("I booked a doctor for Friday.", "experience"),
    ]
    assert server.retain(bank, content)["facts_count"] == 3


def test_what_only_a_language_model_could_follow_is_named(server: Server, bank: str) -> None:
    answer = dry_run(
        server, bank, content="I own a canoe.", context="a note", retain_mission="m", agent_name="n"
    )
    assert answer.headers["X-Ignored-Params"] == "retain_mission, agent_name"
    assert [f["text"] for f in answer.json()["facts"]] == ["I own a canoe."]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "content"),
        ({"content": ""}, "content"),
        ({"content": " \u0000"}, "content"),
        ({"content": 5}, "content"),
        ({"content": "x", "timestamp": "soon"}, "timestamp"),
        ({"content": "x", "context": "y" * 10_001}, "context"),
    ],
)
def test_wrong_input_is_refused(server: Server, bank: str, body: Any, field: str) -> None:
    answer = server.post(f"/v1/default/banks/{bank}/memories/dry-run-extract", body)
    assert answer.status_code in (400, 422)
    assert field in answer.text
