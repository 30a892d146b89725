"""Times over the wire: when it was said, when it happened, and what that is by now."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hebbs_rows_kit import Hands
from told_kit import Mind, chat

from remembrancer.nouns.clock import from_us


def moment(text: str | None) -> datetime:
    assert text is not None
    return datetime.fromisoformat(text)


def test_a_transcript_without_times_is_of_now_and_one_with_times_of_these(mind: Mind) -> None:
    before = datetime.now(UTC)
    mind.retain(chat(("user", "I paid the plumber."), ("user", "I fed the geese.")))
    after = datetime.now(UTC)
    said = [moment(memory["mentioned_at"]) for memory in mind.memories()]
    assert len(said) == 2
    assert all(before <= at <= after for at in said)
    told = [
        {
            "role": "user",
            "content": "I saw the dentist yesterday.",
            "timestamp": "2025-02-03T10:00:00Z",
        },
        {"role": "user", "content": "I paid the rent today.", "timestamp": "2025-03-01T10:00:00Z"},
    ]
    mind.retain({"content": json.dumps(told), "timestamp": "2025-06-01T00:00:00Z"})
    days = {fact["text"]: fact["occurred_start"] for fact in mind.facts()}
    assert days["I saw the dentist yesterday."] == "2025-02-02T00:00:00Z"
    assert days["I paid the rent today."] == "2025-03-01T00:00:00Z"


def test_what_was_ahead_is_past_once_it_is_over(mind: Mind) -> None:
    mind.retain({"content": "The regatta is on 9 May.", "timestamp": "2026-04-01T10:00:00Z"})

    def told(now: str) -> str:
        asked = {"query": "When is the regatta?", "query_timestamp": now}
        return str(mind.ask("POST", "/reflect", asked)["text"])

    assert "(2026-05-09)" in told("2026-04-20T10:00:00Z")
    assert "(2026-05-09, past)" in told("2026-05-20T10:00:00Z")
    # A prime says the day, and nothing that changes by itself.
    texts = {
        mind.prime("regatta", now=now, format="text")["text"]
        for now in ("2026-04-20T10:00:00Z", "2026-05-20T10:00:00Z")
    }
    assert texts == {"Known:\n- The regatta is on 9 May. (2026-05-09)"}


def test_now_decides_what_last_month_was(mind: Mind) -> None:
    for month, what in ((4, "beans"), (7, "plums")):
        said = {"content": f"I picked {what} today.", "timestamp": f"2024-0{month}-10T10:00:00Z"}
        mind.retain(said)
    for month, what in ((5, "beans"), (8, "plums")):
        now = f"2024-0{month}-12T10:00:00Z"
        found = mind.recall("What did I pick last month?", query_timestamp=now)
        assert what in found[0]["text"]


def test_a_year_is_a_year_and_no_day(mind: Mind) -> None:
    mind.retain({"content": "In 2033 we will open a mill.", "timestamp": "2026-02-01T10:00:00Z"})
    [found] = mind.recall("When do we open a mill?")
    interval = ("2033-01-01T00:00:00Z", "2034-01-01T00:00:00Z")
    assert (found["occurred_start"], found["occurred_end"]) == interval
    assert "(planned, 2033-01-01 to 2033-12-31)" in mind.prime("mill", format="text")["text"]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("2026-07-04T00:00:00", "2026-07-04T00:00:00Z"),
        ("2026-07-04", "2026-07-04T00:00:00Z"),
        ("2026-07-04T00:00:00+09:00", "2026-07-04T00:00:00+09:00"),
    ],
)
def test_a_time_without_a_zone_is_utc_and_each_time_has_one(
    mind: Mind, given: str, shown: str
) -> None:
    mind.retain({"content": "We bought a kiln today.", "timestamp": given})
    [found] = mind.recall("What did we buy? A kiln")
    assert found["mentioned_at"] == shown
    assert moment(found["occurred_start"]).tzinfo is not None


def test_what_begins_begins_when_it_was_said_and_not_when_it_is_read(mind: Mind) -> None:
    said = "2021-02-10T08:30:00Z"
    mind.retain({"content": "I started at Veldhuis.", "timestamp": said})
    [fact] = mind.facts()
    assert fact["valid_from"] == said
    mind.retain({"content": "I started at Molen yesterday.", "timestamp": "2023-02-10T08:30:00Z"})
    begun = {fact["text"]: fact["valid_from"] for fact in mind.facts()}
    assert begun["I started at Molen yesterday."] == "2023-02-09T00:00:00Z"


def test_what_one_person_changes_leaves_the_others_as_they_were(mind: Mind) -> None:
    for pair in (("Ann", "Bob"), ("Cleo", "Dora")):
        lines = "\n".join(f"{who}: I live in Bern." for who in pair)
        mind.retain({"content": lines, "timestamp": "2021-02-10T08:30:00Z"})
    moved = "Ann: I live in Turin now.\nBob: I am still here, and I work at a bank."
    mind.retain({"content": moved, "timestamp": "2022-02-10T08:30:00Z"})
    ended = {
        (fact["subject"], fact["text"]) for fact in mind.facts() if fact["valid_until"] is not None
    }
    assert ended == {("Ann", "I live in Bern.")}


def intention(mind: Mind, **fields: Any) -> dict[str, Any]:
    answer = mind.answer("POST", "/intentions", {"content": "Water the figs.", **fields})
    assert answer.status_code in {200, 201}, answer.text
    made: dict[str, Any] = answer.json()
    return made


def test_nine_o_clock_stays_nine_o_clock_over_a_clock_change(mind: Mind) -> None:
    """Whatever the zone of the host is, clocks in Lisbon go forward on 28 March 2027."""
    at = datetime(2027, 3, 26, 9, tzinfo=UTC)
    made = intention(
        mind,
        triggerAt=int(at.timestamp() * 1000),
        zone="Europe/Lisbon",
        recurrence={"rrule": "FREQ=DAILY"},
    )
    assert made["zone"] == "Europe/Lisbon"
    coming = mind.ask("GET", f"/intentions/{made['id']}/preview?limit=4")["next"]
    hours = [from_us(at * 1000).strftime("%d %H:%M") for at in coming]
    assert hours == ["26 09:00", "27 09:00", "28 08:00", "29 08:00"]


@pytest.fixture
def ahead(mind: Mind) -> Iterator[Hands]:
    """The clock of the server, which can be put forward until the test ends."""
    clock = mind.served.clock
    assert isinstance(clock, Hands)
    yield clock
    clock.ahead_us = 0


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def test_in_a_minute_is_sixty_seconds_from_now(mind: Mind) -> None:
    before = now_ms()
    made = intention(mind, at="in 1 minute")
    assert before + 60_000 <= made["triggerAt"] <= now_ms() + 60_000
    assert mind.ask("POST", "/intentions/check", {"mode": "lease"})["items"] == []


def test_a_snooze_moves_one_occurrence_and_not_the_rule(mind: Mind, ahead: Hands) -> None:
    start = now_ms() + 3_600_000
    made = intention(mind, triggerAt=start, recurrence={"rrule": "FREQ=DAILY"})
    ahead.ahead_us = 3_700_000_000
    [due] = mind.ask("POST", "/intentions/check", {"mode": "lease"})["items"]
    occurrence, token = due["occurrence"]["id"], due["occurrence"]["token"]
    body = {"token": token, "seconds": 600}
    snoozed = mind.ask("POST", f"/occurrences/{occurrence}/snooze", body)
    assert snoozed["state"] == "snoozed"
    kept = mind.ask("GET", f"/intentions/{made['id']}")
    assert kept["recurrence"] == made["recurrence"]
    assert kept["triggerAt"] == start
    coming = mind.ask("GET", f"/intentions/{made['id']}/preview?limit=2")["next"]
    assert coming == [start + 86_400_000, start + 2 * 86_400_000]
