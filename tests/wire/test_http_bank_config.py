"""What a bank sets for itself, and that it is acted upon; templates of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from wire_kit import WAIT_S, Server

BANKS = "/v1/default/banks"
DEFAULTS = {
    "audit_log_enabled": True,
    "disposition_skepticism": 3,
    "recall_max_tokens": 4096,
    "recall_include_chunks": False,
    "prime_max_memories": 20,
    "prime_temporal_ratio": 0.5,
    "prime_window_days": 7,
    "reflect_mission": "",
    "retain_chunk_size": None,
}


def _set(server: Server, bank: str, **updates: Any) -> dict[str, Any]:
    return _json(server.client.patch(f"{BANKS}/{bank}/config", json={"updates": updates}))


def _json(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _config(server: Server, bank: str) -> dict[str, Any]:
    return _json(server.client.get(f"{BANKS}/{bank}/config"))


def test_settings_are_set_and_unset(server: Server, bank: str) -> None:
    plain = _config(server, bank)
    assert {k: plain["config"][k] for k in DEFAULTS} == DEFAULTS
    assert (plain["overrides"], plain["inactive"]) == ({}, [])
    changed = _set(server, bank, recall_max_tokens=50, retain_chunk_size=900, prime_window_days=2)
    overrides = {"recall_max_tokens": 50, "retain_chunk_size": 900, "prime_window_days": 2}
    assert changed["overrides"] == overrides
    assert changed["inactive"] == ["retain_chunk_size"]
    assert {k: changed["config"][k] for k in overrides} == overrides
    assert _config(server, bank) == changed
    less = _set(server, bank, recall_max_tokens=None, prime_window_days=1.5)
    assert less["overrides"] == {"retain_chunk_size": 900, "prime_window_days": 1.5}
    assert less["config"]["recall_max_tokens"] == 4096
    assert _json(server.client.delete(f"{BANKS}/{bank}/config")) == plain


def test_profile_and_settings_are_one(server: Server, bank: str) -> None:
    body = {"mission": "Help.", "disposition_empathy": 5, "enable_reranking": False}
    server.client.put(f"{BANKS}/{bank}", json=body)
    found = _config(server, bank)
    assert found["overrides"] == {
        "reflect_mission": "Help.",
        "disposition_empathy": 5,
        "enable_reranking": False,
    }
    assert found["inactive"] == ["enable_reranking"]
    _set(server, bank, reflect_mission="Advise.", disposition_empathy=None)
    profile = _json(server.client.get(f"{BANKS}/{bank}/profile"))
    assert profile["mission"] == "Advise."
    assert profile["disposition"]["empathy"] == 3


@pytest.mark.parametrize(
    ("updates", "field"),
    [
        ({"recall_max_tokens": 0}, "updates.recall_max_tokens"),
        ({"recall_max_tokens": "5"}, "updates.recall_max_tokens"),
        ({"recall_max_tokens": 1.5}, "updates.recall_max_tokens"),
        ({"recall_include_chunks": 1}, "updates.recall_include_chunks"),
        ({"disposition_empathy": 6}, "updates.disposition_empathy"),
        ({"prime_temporal_ratio": 1.01}, "updates.prime_temporal_ratio"),
        ({"mcp_enabled_tools": ["a", 5]}, "updates.mcp_enabled_tools.1"),
        ({"retain_strategies": []}, "updates.retain_strategies"),
        ({"memory_defense": {"text": "x" * 70_000}}, "updates"),
        ({"colour": "red"}, "updates"),
    ],
)
def test_what_cannot_be_is_refused_whole(
    server: Server, bank: str, updates: dict[str, Any], field: str
) -> None:
    body = {"updates": {"prime_max_memories": 5, **updates}}
    refused = server.client.patch(f"{BANKS}/{bank}/config", json=body)
    assert refused.status_code == 422, refused.text
    assert refused.json()["detail"][0]["field"] == field
    assert _config(server, bank)["overrides"] == {}


def test_an_unknown_name_is_told_with_those_there_are(server: Server, bank: str) -> None:
    body = {"updates": {"recall_max_token": 50}}
    refused = server.client.patch(f"{BANKS}/{bank}/config", json=body)
    message = refused.json()["detail"][0]["msg"]
    assert "'recall_max_token'" in message
    assert "recall_max_tokens, " in message


def test_recall_keeps_to_the_banks_settings(server: Server, bank: str) -> None:
    server.retain(bank, *(f"The door of house {n} is red and rather old." for n in range(20)))
    assert len(server.recall(bank, "Which door is red?")) == 20
    _set(server, bank, recall_max_tokens=30)
    assert 1 <= len(server.recall(bank, "Which door is red?")) < 5
    assert len(server.recall(bank, "Which door is red?", max_tokens=4096)) == 20
    server.client.delete(f"{BANKS}/{bank}/config")
    assert len(server.recall(bank, "Which door is red?")) == 20


def test_recall_brings_chunks_when_the_bank_says_so(server: Server, bank: str) -> None:
    server.retain(bank, {"content": "The door is red.", "document_id": "d"})

    def chunks(**more: Any) -> dict[str, Any] | None:
        path = f"{BANKS}/{bank}/memories/recall"
        found: dict[str, Any] | None = _json(
            server.post(path, {"query": "What is red?", **more})
        ).get("chunks")
        return found

    assert chunks() is None
    _set(server, bank, recall_include_chunks=True)
    found = chunks()
    assert found is not None
    assert [c["text"] for c in found.values()] == ["The door is red."]
    assert chunks(include={"entities": None}) == found
    assert chunks(include={"chunks": None}) is None


def test_prime_keeps_to_the_banks_settings(server: Server, bank: str) -> None:
    server.retain(bank, *(f"The door of house {n} is red." for n in range(10)))
    _set(server, bank, prime_max_memories=3)

    def primed(**more: Any) -> int:
        count: int = _json(server.post("/v1/prime", {"entity_id": bank, **more}))["count"]
        return count

    assert primed() == 3
    assert primed(max_memories=5) == 5


def test_another_process_learns_of_a_change(folder: Path, bank: str) -> None:
    with Server(folder) as one, Server(folder) as other:
        one.retain(bank, "The door is red.", "The roof is red.")
        asked = {"entity_id": bank}
        assert _json(other.post("/v1/prime", asked))["count"] == 2
        _set(one, bank, prime_max_memories=1)
        assert _json(one.post("/v1/prime", asked))["count"] == 1
        deadline = time.monotonic() + WAIT_S
        while _json(other.post("/v1/prime", asked))["count"] != 1:
            assert time.monotonic() < deadline
            time.sleep(0.2)


def test_a_template_carries_settings_to_another_bank(server: Server, bank: str) -> None:
    other = f"{bank}-other"
    server.client.put(f"{BANKS}/{bank}", json={"name": "Ada", "mission": "Help."})
    _set(server, bank, recall_max_tokens=50, entity_labels=[{"key": "team"}])
    template = _json(server.client.get(f"{BANKS}/{bank}/export"))
    assert template == {
        "version": "1",
        "bank": {
            "reflect_mission": "Help.",
            "recall_max_tokens": 50,
            "entity_labels": [{"key": "team"}],
        },
        "mental_models": [],
        "directives": [],
    }
    checked = _json(server.post(f"{BANKS}/{other}/import?dry_run=true", template))
    assert (checked["config_applied"], checked["dry_run"]) == (True, True)
    assert server.client.get(f"{BANKS}/{other}/profile").status_code == 404
    _set(server, other, prime_max_memories=4)
    done = _json(server.post(f"{BANKS}/{other}/import", template))
    assert done == {
        "bank_id": other,
        "config_applied": True,
        "mental_models_created": [],
        "mental_models_updated": [],
        "directives_created": [],
        "directives_updated": [],
        "operation_ids": [],
        "dry_run": False,
    }
    assert _config(server, other)["overrides"] == {**template["bank"], "prime_max_memories": 4}


def test_a_template_carries_mental_models_and_directives(server: Server, bank: str) -> None:
    other = f"{bank}-other"
    rule = {"name": "tone", "content": "Be brief.", "priority": 3, "tags": ["x"]}
    server.post(f"{BANKS}/{bank}/directives", rule)
    model = {"id": "m", "name": "M", "source_query": "Who is Ada?", "max_tokens": 300}
    server.post(f"{BANKS}/{bank}/mental-models", model)
    template = _json(server.client.get(f"{BANKS}/{bank}/export"))
    assert template["directives"] == [{**rule, "is_active": True}]
    assert {k: template["mental_models"][0][k] for k in model} == model
    made = _json(server.post(f"{BANKS}/{other}/import", template))
    assert (made["mental_models_created"], made["directives_created"]) == (["m"], ["tone"])
    assert len(made["operation_ids"]) == 1
    template["directives"][0]["content"] = "Be long."
    again = _json(server.post(f"{BANKS}/{other}/import", template))
    assert (again["mental_models_updated"], again["directives_updated"]) == (["m"], ["tone"])
    [kept] = _json(server.client.get(f"{BANKS}/{other}/directives"))["items"]
    assert (kept["content"], kept["tags"]) == ("Be long.", ["x"])


def test_a_template_without_settings_changes_none(server: Server, bank: str) -> None:
    body = {"version": "1", "bank": {"recall_max_tokens": None}, "mental_models": None}
    assert _json(server.post(f"{BANKS}/{bank}/import", body))["config_applied"] is False
    assert _json(server.client.get(f"{BANKS}/{bank}/export")) == {
        "version": "1",
        "mental_models": [],
        "directives": [],
    }


@pytest.mark.parametrize("query", ["", "?dry_run=true"])
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"version": "2"}, "version"),
        ({}, "version"),
        ({"version": "1", "bank": {"colour": "red"}}, "bank"),
        ({"version": "1", "bank": {"recall_max_tokens": 0}}, "bank.recall_max_tokens"),
        ({"version": "1", "mental_models": [{"id": "m"}]}, "mental_models.0.name"),
        ({"version": "1", "directives": [{"name": "d"}]}, "directives.0.content"),
    ],
)
def test_templates_that_cannot_be(
    server: Server, bank: str, query: str, body: dict[str, Any], field: str
) -> None:
    refused = server.post(f"{BANKS}/{bank}/import{query}", body)
    assert refused.status_code == 422, refused.text
    assert refused.json()["detail"][0]["field"] == field
    assert server.client.get(f"{BANKS}/{bank}/profile").status_code == 404


def test_the_schema_of_templates_names_every_setting(server: Server, bank: str) -> None:
    schema = _json(server.client.get("/v1/bank-template-schema"))
    names = schema["$defs"]["BankConfig"]["properties"].keys()
    assert names == _config(server, bank)["config"].keys()
    assert schema["required"] == ["version"]
