"""Counts of a bank: of memories, links, tags and times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from wire_kit import Server

BANKS = "/v1/default/banks"
REQUIRED = {
    "bank_id": str,
    "total_nodes": int,
    "total_links": int,
    "total_documents": int,
    "nodes_by_fact_type": dict,
    "links_by_link_type": dict,
    "links_by_fact_type": dict,
    "links_breakdown": dict,
    "pending_operations": int,
    "failed_operations": int,
}


def _get(server: Server, path: str, **query: Any) -> dict[str, Any]:
    answer = server.client.get(f"{BANKS}/{path}", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_bank_is_counted(server: Server, bank: str) -> None:
    server.retain(
        bank,
        {"content": "Alice works at Google in Paris.", "document_id": "one"},
        {"content": "Alice works at Google in Paris.", "document_id": "two"},
        {"content": "Alice flew to Rome yesterday.", "document_id": "two"},
    )
    stats = _get(server, f"{bank}/stats")
    assert {k: type(stats[k]) for k in REQUIRED} == REQUIRED
    assert stats["bank_id"] == bank
    assert stats["total_documents"] == 2
    assert stats["sources"] == 3
    assert 0 < stats["distinct_facts"] < stats["facts"]
    assert stats["total_nodes"] == stats["sources"] + stats["facts"]
    assert stats["nodes_by_fact_type"] == {"world": stats["total_nodes"]}
    assert stats["total_observations"] == 0
    assert stats["links_by_link_type"]["temporal"] > 0
    assert stats["links_by_link_type"]["entity"] > 0
    assert stats["total_links"] == sum(stats["links_by_link_type"].values())
    by_type = stats["links_breakdown"]["world"]
    assert stats["links_by_fact_type"] == {"world": sum(by_type.values())}
    assert stats["last_memory_write_at"] <= datetime.now(UTC).isoformat()
    assert _get(server, f"{bank}/stats") == _get(server, f"{bank}/stats", refresh="true") == stats


def test_counts_follow_the_bank(server: Server, bank: str) -> None:
    done = server.retain(bank, {"content": "The door is red.", "document_id": "d"})
    first = _get(server, f"{bank}/stats")
    assert first["total_nodes"] == len(done["unit_ids"])
    server.client.delete(f"{BANKS}/{bank}/documents/d")
    assert _get(server, f"{bank}/stats")["total_nodes"] == 0


def test_operations_are_counted(server: Server, bank: str) -> None:
    queued = server.retain(bank, "The door is red.", **{"async": True})
    server.finished(bank, queued["operation_id"])
    stats = _get(server, f"{bank}/stats")
    assert stats["operations_by_status"] == {"completed": 1}
    assert stats["pending_operations"] == stats["failed_operations"] == 0


@pytest.mark.parametrize(
    ("period", "trunc", "length", "step"),
    [
        ("1h", "minute", timedelta(hours=1), timedelta(minutes=1)),
        ("12h", "hour", timedelta(hours=12), timedelta(hours=1)),
        ("1d", "hour", timedelta(days=1), timedelta(hours=1)),
        ("7d", "day", timedelta(days=7), timedelta(days=1)),
        ("30d", "day", timedelta(days=30), timedelta(days=1)),
        ("90d", "day", timedelta(days=90), timedelta(days=1)),
    ],
)
def test_buckets_have_no_gaps(
    server: Server, bank: str, period: str, trunc: str, length: timedelta, step: timedelta
) -> None:
    done = server.retain(bank, "The door is red.")
    series = _get(server, f"{bank}/stats/memories-timeseries", period=period)
    head = {"bank_id": bank, "period": period, "trunc": trunc, "time_field": "created_at"}
    assert {k: series[k] for k in head} == head
    times = [datetime.fromisoformat(b["time"]) for b in series["buckets"]]
    assert {b - a for a, b in pairwise(times)} == {step}
    assert len(times) == length // step + 1
    assert times[-1] <= datetime.now(UTC) < times[-1] + 2 * step
    assert sum(b["world"] for b in series["buckets"]) == len(done["unit_ids"])
    assert sum(b["world"] for b in series["buckets"][-2:]) == len(done["unit_ids"])
    assert all(b["experience"] == b["observation"] == 0 for b in series["buckets"])


def test_the_time_counted_can_be_chosen(server: Server, bank: str) -> None:
    said = datetime.now(UTC) - timedelta(days=3)
    server.retain(bank, {"content": "I saw Bob yesterday.", "timestamp": said.isoformat()})
    path = f"{bank}/stats/memories-timeseries"

    def full(field: str) -> list[str]:
        buckets = _get(server, path, time_field=field)["buckets"]
        return [b["time"][:10] for b in buckets if b["world"]]

    assert full("created_at") == [datetime.now(UTC).date().isoformat()]
    assert full("mentioned_at") == [said.date().isoformat()]
    assert full("occurred_start") == [(said - timedelta(days=1)).date().isoformat()]


@pytest.mark.parametrize("query", ["period=2d", "period=", "time_field=updated_at"])
def test_series_that_cannot_be(server: Server, bank: str, query: str) -> None:
    answer = server.client.get(f"{BANKS}/{bank}/stats/memories-timeseries?{query}")
    assert answer.status_code == 422


def test_tags_are_listed(server: Server, bank: str) -> None:
    server.retain(
        bank,
        {"content": "Alice works at Google.", "tags": ["user:alice", "work"]},
        {"content": "Alice likes tea.", "tags": ["user:alice"]},
        {"content": "Bob likes tea.", "tags": ["User:Bob"]},
        {"content": "Nobody likes this."},
    )
    assert _get(server, f"{bank}/tags") == {
        "items": [
            {"tag": "user:alice", "count": 2},
            {"tag": "User:Bob", "count": 1},
            {"tag": "work", "count": 1},
        ],
        "total": 3,
        "limit": 100,
        "offset": 0,
    }
    page = _get(server, f"{bank}/tags", limit=1, offset=2)
    assert (page["items"], page["total"]) == ([{"tag": "work", "count": 1}], 3)
    matching = _get(server, f"{bank}/tags", q="user:*")
    assert [i["tag"] for i in matching["items"]] == ["user:alice", "User:Bob"]
    assert [i["tag"] for i in _get(server, f"{bank}/tags", q="WORK")["items"]] == ["work"]
    assert _get(server, f"{bank}/tags", q="w%")["total"] == 0
    assert _get(server, f"{bank}/tags", source="mental_models")["total"] == 0
    assert server.client.get(f"{BANKS}/{bank}/tags?source=other").status_code == 422
