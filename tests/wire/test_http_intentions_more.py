"""Events and calendars over HTTP, and what survives a restart and a second process."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from test_http_intentions import Bank, now_ms
from wire_kit import LATER, Server

CALENDAR = {"Content-Type": "text/calendar"}


@pytest.fixture
def b(server: Server, bank: str) -> Bank:
    return Bank(server, bank)


def load(b: Bank, text: str, **query: Any) -> Any:
    answer = b.server.client.post(
        f"{b.path}/intentions/ics", content=text.encode(), headers=CALENDAR, params=query
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_an_event_is_kept_once_and_fires_at_once(b: Bank) -> None:
    logs = b.remind("logs", triggerEvent="deploy", where={"ok": True})
    one = {"id": "e1", "name": "deploy", "time": "2026-05-08T10:00:00+02:00", "payload": {"ok": 1}}
    told = b.call("/events", one)
    assert told["items"][0] | {"received_at": 0} == {
        "id": "e1", "name": "deploy", "time": 1778227200000, "received_at": 0, "payload": {"ok": 1},
    }  # fmt: skip
    assert (told["new_ids"], told["occurrences"]) == (["e1"], [])
    assert b.call("/events", one)["new_ids"] == []
    several = {"items": [{"name": "login"}, {"name": "deploy", "payload": {"ok": True}}]}
    told = b.call("/events", several)
    assert len(told["new_ids"]) == 2
    assert [o["intention_id"] for o in told["occurrences"]] == [logs["id"]]
    [item] = b.check()
    assert item["occurrence"]["data"]["payload"] == {"ok": True}
    assert [e["id"] for e in b.get("/events", name="deploy", limit=1)["items"]] == ["e1"]
    assert len(b.get("/events", since=now_ms() - 60_000)["items"]) == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": 5}, "name"),
        ({"name": "x", "time": "soon"}, "time"),
        ({"name": "x", "time": 1e99}, "time"),
        ({"name": "x", "payload": [1]}, "payload"),
        ({"items": [{"name": "x"}, {"name": ""}]}, "items.1.name"),
    ],
)
def test_a_bad_event_is_named(b: Bank, body: Any, field: str) -> None:
    found = b.call("/events", body, 422)["detail"][0]["field"]
    assert found.startswith(field)
    assert b.get("/events")["items"] == []


def test_looking_back_and_composite_conditions(b: Bank) -> None:
    b.call("/events", {"name": "deploy"})
    b.remind("logs", triggerEvent="deploy", lookBackSeconds=60)
    b.remind(
        "call",
        condition={
            "all": [{"event": "pricing"}, {"time": {"before": now_ms() + 60_000}}],
        },
        importance=0.9,
    )
    assert b.due() == ["logs"]
    told = b.call("/events", {"name": "pricing"})
    assert len(told["occurrences"]) == 1
    assert b.due() == ["call"]


def test_a_calendar_out_and_in_again(b: Bank, server: Server) -> None:
    made = [
        b.remind("once", triggerAt=now_ms() + 60_000, zone="Asia/Tokyo"),
        b.remind("daily", at="every day at 8", zone="Europe/Berlin"),
        b.remind("logs", triggerEvent="deploy", tierRank=2),
    ]
    answer = b.server.client.get(f"{b.path}/intentions.ics")
    assert answer.headers["Content-Type"] == "text/calendar; charset=utf-8"
    text = answer.text
    assert made[0]["id"] in text
    other = Bank(server, "copy-" + b.path.rpartition("-")[2])
    done = load(other, text)
    assert (done["new_count"], done["known_count"], done["skipped"]) == (3, 0, [])
    assert [i["content"] for i in done["items"]] == ["once", "daily", "logs"]
    for one, two in zip(made, done["items"], strict=True):
        assert one["id"] == two["id"]
        path = f"/intentions/{one['id']}/preview"
        # A calendar tells times to the second.
        assert [t // 1000 for t in b.get(path)["next"]] == [
            t // 1000 for t in other.get(path)["next"]
        ]
    again = load(other, text)
    assert (again["new_count"], again["known_count"]) == (0, 3)
    low = b.server.client.get(f"{b.path}/intentions.ics", params={"maxTierRank": 1})
    assert "deploy" not in low.text


def test_calendars_that_cannot_be_read(b: Bank) -> None:
    path = f"{b.path}/intentions/ics"
    assert b.server.client.post(path, content=b"x", headers=CALENDAR).status_code == 422
    assert b.server.client.post(path, json={}).status_code == 415
    entry = "BEGIN:VEVENT\nUID:a\nSUMMARY:x\nDTSTART:20200101T000000Z\nEND:VEVENT"
    done = load(b, f"BEGIN:VCALENDAR\n{entry}\nEND:VCALENDAR", zone="Europe/Berlin")
    assert done["items"] == []
    assert done["skipped"] == [{"uid": "a", "reason": "it is over"}]
    bad = b.server.client.post(path, content=b"x", headers=CALENDAR, params={"zone": "Mars"})
    assert bad.json()["detail"][0]["field"] == "zone"


def test_what_was_registered_and_leased_survives_a_kill(folder: Path) -> None:
    with Server(folder) as first:
        bank = Bank(first, "ann")
        bank.remind("leased", importance=0.9)
        bank.remind("later", triggerAt=now_ms() + 1_000_000)
        assert bank.due(lease_seconds=600) == ["leased"]
        first.kill()
    with Server(folder, LATER) as second:  # an hour later
        bank = Bank(second, "ann")
        assert bank.due(mode="peek") == ["leased", "later"]
        late = bank.check()
        assert [i["occurrence"]["late"] for i in late] == [True, True]
        assert bank.due() == []


def test_two_servers_on_one_folder_hand_each_over_once(folder: Path) -> None:
    with Server(folder) as first, Server(folder) as second:
        banks = [Bank(each, "ann") for each in (first, second)]
        for n in range(20):
            banks[n % 2].remind(f"n{n}")
        got: list[str] = []
        deadline = time.monotonic() + 30
        while len(got) < 20 and time.monotonic() < deadline:
            for bank in banks:
                got += bank.due(mode="consume", limit=3)
        assert sorted(got) == sorted(f"n{n}" for n in range(20))
        assert banks[0].due() == []


def test_a_new_time_is_waited_for_and_comes(b: Bank) -> None:
    at = now_ms() - 500
    call = b.remind("call Bob", triggerAt=at)
    [due] = b.check()
    later = now_ms() + 1_500
    assert b.patch(call["id"], {"triggerAt": later})["nextDue"] == later
    assert b.check() == []
    lease = {"token": due["occurrence"]["token"]}
    b.call(f"/occurrences/{due['occurrence']['id']}/ack", lease, 409)
    time.sleep(max(0, later - now_ms()) / 1_000)
    [due] = b.check()
    assert due["occurrence"]["due_at"] == later
    b.patch(call["id"], {"triggerAt": at})  # it has been due then before
    [due] = b.check()
    assert due["occurrence"]["due_at"] == at
    answer = b.call(f"/occurrences/{due['occurrence']['id']}/ack", {})
    assert answer["intention"]["state"] == "done"


def test_a_new_zone_or_start_moves_what_a_rule_makes(b: Bank) -> None:
    rule = {"rrule": "FREQ=DAILY", "start": "2096-12-10T09:00"}
    made = b.remind("stand up", zone="Europe/Berlin", recurrence=rule)
    path = f"/intentions/{made['id']}/preview"
    hour = 3_600_000
    changed = b.patch(made["id"], {"zone": "America/New_York"})
    assert changed["recurrence"]["zone"] == "America/New_York"
    assert changed["nextDue"] == changed["triggerAt"] == made["nextDue"] + 6 * hour
    start = made["nextDue"] + 3 * 24 * hour
    changed = b.patch(made["id"], {"triggerAt": start})
    assert changed["recurrence"]["start"] == "2096-12-13T03:00:00"
    assert [changed["nextDue"], start + 24 * hour] == b.get(path, limit=2)["next"]
    same = {name: changed[name] for name in ("triggerAt", "zone")}
    for body in ({"importance": 0.9}, same):
        again = b.patch(made["id"], body)
        assert again["nextDue"] == start
        assert again["recurrence"] == changed["recurrence"]
