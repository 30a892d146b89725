"""mem0's classes over a folder of ours: both styles of call, scopes, dates, what is erased."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

import remembrancer
from remembrancer.compat.mem0 import AsyncMemory, Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.from_config(settings(tmp_path)) as opened:
        yield opened


def settings(folder: Path) -> dict[str, Any]:
    ours = {"data": str(folder), "embedder": "hash:64"}
    return {"llm": {"provider": "none-of-ours"}, "remembrancer": ours}


def texts(found: dict[str, Any]) -> list[str]:
    return [each["memory"] for each in found["results"]]


def test_what_add_takes_and_answers(memory: Memory) -> None:
    told = memory.add(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "name": "Mia", "content": "The canoe is green."},
            {"role": "assistant", "content": [{"type": "text", "text": "A fine colour."}]},
            {"role": "user", "content": None},
        ],
        user_id="mia",
        agent_id="guide",
        metadata={"trip": {"year": 2026}, "ok": True},
    )
    assert [(e["memory"], e["event"], e["role"]) for e in told["results"]] == [
        ("The canoe is green.", "ADD", "user"),
        ("A fine colour.", "ADD", "assistant"),
    ]
    assert told["results"][0]["actor_id"] == "Mia"
    one = memory.get(told["results"][0]["id"])
    assert one is not None
    assert one["metadata"] == {"trip": {"year": 2026}, "ok": True}
    assert (one["user_id"], one["agent_id"]) == ("mia", "guide")
    assert "run_id" not in one
    assert texts(memory.add("One text.", user_id="mia", infer=False)) == ["One text."]
    assert texts(memory.add({"role": "user", "content": "One message."}, run_id="r")) == [
        "One message."
    ]
    assert memory.add([{"role": "system", "content": "x"}], user_id="mia") == {"results": []}


def test_both_styles_of_call_find_the_same(memory: Memory) -> None:
    for number in range(4):
        memory.add(f"Paddle number {number} is red.", user_id="mia", run_id=f"r{number % 2}")
    old = memory.search("red paddle", user_id="mia", run_id="r1", limit=10)
    new = memory.search("red paddle", filters={"user_id": "mia", "run_id": "r1"}, top_k=10)
    assert old == new
    assert sorted(texts(old)) == ["Paddle number 1 is red.", "Paddle number 3 is red."]
    assert all(0 <= each["score"] <= 1 for each in old["results"])
    assert (
        memory.get_all(user_id="mia", limit=3)["results"]
        == (memory.get_all(filters={"user_id": "mia"}, top_k=3)["results"])
    )
    assert len(memory.search("red paddle", user_id="mia", limit=1)["results"]) == 1
    assert memory.search("red paddle", user_id="mia", threshold=1.0)["results"] == []


def test_scopes_are_exact(memory: Memory) -> None:
    memory.add("The tent leaks.", user_id="mia", agent_id="guide")
    memory.add("The tent is dry.", user_id="mia2")
    memory.add("The tent is new.", agent_id="guide")
    memory.add("The tent is lost.", user_id="100%", run_id="mia")
    for scope, expected in [
        ({"user_id": "mia"}, ["The tent leaks."]),
        ({"user_id": "mia2"}, ["The tent is dry."]),
        ({"agent_id": "guide"}, ["The tent is new.", "The tent leaks."]),
        ({"run_id": "mia"}, ["The tent is lost."]),
        ({"user_id": "1%"}, []),
        ({"user_id": "100_"}, []),
        ({"user_id": "100%"}, ["The tent is lost."]),
        (
            {"OR": [{"user_id": "mia"}, {"user_id": "mia2"}]},
            ["The tent is dry.", "The tent leaks."],
        ),
        ({"user_id": "*"}, ["The tent is dry.", "The tent is lost.", "The tent leaks."]),
        ({"AND": [{"agent_id": "guide"}, {"NOT": [{"user_id": "mia"}]}]}, ["The tent is new."]),
    ]:
        assert sorted(texts(memory.search("tent", filters=scope))) == expected, scope
        assert sorted(texts(memory.get_all(filters=scope))) == expected, scope


def test_one_users_words_do_not_replace_anothers(memory: Memory) -> None:
    memory.add("I live in Oslo.", user_id="mia")
    memory.add("I live in Lima.", user_id="jon")
    assert texts(memory.search("Where do I live?", user_id="mia")) == ["I live in Oslo."]


def test_a_rare_match_is_found_behind_many_others(memory: Memory) -> None:
    lines = [{"role": "user", "content": f"Knot {n} holds a rope."} for n in range(120)]
    memory.add(lines, user_id="mia", metadata={"kind": "common"})
    memory.add("The bowline holds, mostly.", user_id="mia", metadata={"kind": "rare", "rank": 9})
    for condition in ({"kind": "rare"}, {"rank": {"gt": 5}}, {"kind": {"icontains": "RAR"}}):
        found = memory.search("which knot holds a rope", filters={"user_id": "mia", **condition})
        assert texts(found) == ["The bowline holds, mostly."]
        listed = memory.get_all(filters={"user_id": "mia", **condition})
        assert texts(listed) == ["The bowline holds, mostly."]


def test_update_changes_text_and_metadata_and_keeps_a_history(memory: Memory) -> None:
    made = memory.add("The lamp is in the shed.", user_id="mia", metadata={"a": 1, "b": 2})
    memory_id = made["results"][0]["id"]
    memory.update(memory_id, "The lamp is in the attic.")
    memory.update(memory_id, data="The lamp is in the hall.", metadata={"b": 3, "user_id": "jon"})
    shown = memory.get(memory_id)
    assert shown is not None
    assert (shown["memory"], shown["metadata"]) == ("The lamp is in the hall.", {"a": 1, "b": 3})
    assert shown["user_id"] == "mia"
    told = memory.history(memory_id)
    assert [(h["event"], h["old_memory"], h["new_memory"]) for h in told] == [
        ("ADD", None, "The lamp is in the shed."),
        ("UPDATE", "The lamp is in the shed.", "The lamp is in the attic."),
        ("UPDATE", "The lamp is in the attic.", "The lamp is in the hall."),
    ]
    assert texts(memory.search("lamp", filters={"user_id": "mia", "b": 3})) == [shown["memory"]]
    assert memory.search("lamp", filters={"user_id": "mia", "b": 2})["results"] == []


def test_what_expired_is_hidden_unless_asked_for(memory: Memory) -> None:
    past = memory.add("Low tide at six.", user_id="mia", expiration_date="2001-02-03")
    memory.add("High tide at noon.", user_id="mia", expiration_date=date(2999, 1, 1))
    assert texts(memory.search("tide", user_id="mia")) == ["High tide at noon."]
    assert texts(memory.get_all(user_id="mia")) == ["High tide at noon."]
    assert len(memory.get_all(user_id="mia", show_expired=True)["results"]) == 2
    assert len(memory.search("tide", user_id="mia", show_expired=True)["results"]) == 2
    memory.update(past["results"][0]["id"], expiration_date=None)
    assert len(memory.get_all(user_id="mia")["results"]) == 2


@pytest.mark.parametrize(
    "said", [1_767_225_600, "2026-01-01T00:00:00Z", datetime(2026, 1, 1, tzinfo=UTC)]
)
def test_a_timestamp_is_when_it_was_said(memory: Memory, said: Any) -> None:
    made = memory.add("Snow fell.", user_id="mia", timestamp=said)
    shown = memory.get(made["results"][0]["id"])
    assert shown is not None
    assert shown["created_at"].startswith("2026-01-01T00:00:00")


def test_delete_erases_one_and_delete_all_a_scope(memory: Memory, tmp_path: Path) -> None:
    chat = [
        {"role": "user", "content": "Quokka biscuits are in the jar."},
        {"role": "user", "content": "The jar is on the shelf."},
    ]
    first, second = memory.add(chat, user_id="mia", run_id="r")["results"]
    memory.add("The shelf is oak.", user_id="mia")
    memory.add("The shelf is pine.", user_id="jon")
    memory.delete(first["id"])
    assert memory.get(first["id"]) is None
    assert memory.history(first["id"]) == []
    with pytest.raises(ValueError, match="not found"):
        memory.delete(first["id"])
    assert sorted(texts(memory.get_all(user_id="mia"))) == [
        "The jar is on the shelf.",
        "The shelf is oak.",
    ]
    memory.delete_all(user_id="mia", run_id="r")
    assert memory.get(second["id"]) is None
    assert texts(memory.get_all(user_id="mia")) == ["The shelf is oak."]
    memory.delete_all(user_id="mia")
    assert memory.get_all(user_id="mia")["results"] == []
    assert texts(memory.get_all(user_id="jon")) == ["The shelf is pine."]


def test_delete_all_takes_more_than_a_page(memory: Memory) -> None:
    for part in range(3):
        lines = [{"role": "user", "content": f"Buoy {part}-{n} floats."} for n in range(250)]
        memory.add(lines, agent_id="guide")
    assert len(memory.get_all(agent_id="guide", limit=1_000)["results"]) == 750
    memory.delete_all(agent_id="guide")
    assert memory.get_all(agent_id="guide")["results"] == []


def test_reset_leaves_what_is_not_mem0s(tmp_path: Path) -> None:
    with remembrancer.open(tmp_path, embedder="hash:64") as ours:
        memory = Memory(memory=ours)
        memory.add("The oar broke.", user_id="mia")
        ours.retain("The mast broke.", bank="other")
        kept = ours.retain("The keel broke.", bank="other").ids[0]
        assert memory.get(kept) is None  # not mem0's
        memory.reset()
        assert memory.get_all(user_id="mia")["results"] == []
        assert len(ours.recall("What broke?", bank="other")) == 2


def test_bad_input_is_a_value_error_and_names_the_field(memory: Memory) -> None:
    for call, field in [
        (lambda: memory.add("x"), "user_id"),
        (lambda: memory.add("x", user_id=" "), "user_id"),
        (lambda: memory.add(3, user_id="mia"), "messages"),
        (lambda: memory.add("x", user_id="mia", expiration_date="soon"), "expiration_date"),
        (lambda: memory.add("x", user_id="mia", timestamp="soon"), "timestamp"),
        (lambda: memory.add("x", user_id="mia", metadata={"n": float("nan")}), "metadata"),
        (lambda: memory.add("x", user_id="mia", metadata={"n": "y" * 20_000}), "metadata"),
        (lambda: memory.search("x"), "filters"),
        (lambda: memory.search("  ", user_id="mia"), "query"),
        (lambda: memory.search("x", user_id="mia", top_k=0), "top_k"),
        (lambda: memory.get_all(filters={"rank": 3}), "filters"),
        (memory.delete_all, "user_id"),
        (lambda: memory.update("no-id"), "text"),
        (lambda: memory.update("no-id", "x"), "memory_id"),
    ]:
        with pytest.raises(ValueError) as refused:  # noqa: PT011 - any message
            call()
        assert isinstance(refused.value, remembrancer.RemembrancerError)
        assert refused.value.field == field
    assert memory.get("no-id") is None


def test_the_async_class_does_the_same(tmp_path: Path) -> None:
    async def use() -> None:
        memory = await AsyncMemory.from_config(settings(tmp_path))
        made = await memory.add("The hull is blue.", user_id="mia")
        found = await memory.search("hull", user_id="mia")
        assert [each["id"] for each in found["results"]] == [made["results"][0]["id"]]
        await memory.close()
        async with AsyncMemory(settings(tmp_path)) as again:
            listed = await again.get_all(filters={"user_id": "mia"})
            assert json.loads(json.dumps(listed)) == listed
            assert texts(listed) == ["The hull is blue."]

    asyncio.run(use())
