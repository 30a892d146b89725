"""What is forgotten by HEBBS's calls is gone from every byte of the data folder.

Rows that are in PostgreSQL are gone from every column of every table: what its files may hold for a
while is told in docs/postgres.md.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_kit import Client, make
from wire_kit import Server

from stores_kit import bytes_of

WORDS = ("zanzibarite", "quoddamverse", "wimberquill", "threnobolt", "vasculight", "omberfang")
"""Words that stand in what is forgotten, and nowhere else."""
KEPT = "gratefulness"


@pytest.fixture
def running(folder: Path) -> Iterator[Server]:
    with Server(folder) as server:
        yield server


def found(folder: Path) -> dict[str, list[str]]:
    """Return which words stand in which files and tables, in any case and as UTF-16 too."""
    places: dict[str, list[str]] = {}
    for name, data in bytes_of(folder):
        for word in (*WORDS, KEPT):
            if word.encode() in data.lower() or word.encode("utf-16-le") in data.lower():
                places.setdefault(word, []).append(name)
    return places


def filler(server: Server, entity: str) -> None:
    """Retain enough for index files to be written."""
    turns = [
        {"role": "user", "content": f"Line {n}: {KEPT} for the day, and the weather of it."}
        for n in range(2_100)
    ]
    server.retain(entity, {"content": json.dumps(turns), "document_id": "log"})


def swept(folder: Path) -> dict[str, list[str]]:
    """Wait for the sweep that forgetting has queued; return where words still are."""
    deadline = time.monotonic() + 60
    while set(places := found(folder)) - {KEPT} and time.monotonic() < deadline:
        time.sleep(0.1)
    return places


def test_by_either_wire_no_byte_is_left(running: Server, folder: Path) -> None:
    entity = "ledger"
    with grpc.insecure_channel(running.grpc) as channel:
        client = Client(channel, "default")
        plain = client.remember(f"The {WORDS[0]} is sold.", entity).memory_id
        client.call("Revise", memory_id=plain, content=f"The {WORDS[0]} is not sold.")
        context = {"note": WORDS[1]}
        rich = client.remember(f"About the {WORDS[0]}.", entity, context=context).memory_id
        old = client.remember(f"The fee of {WORDS[2]} is nine.", entity).memory_id
        new = client.remember(f"The fee of {WORDS[2]} is ten.", entity).memory_id
        # A stream that was fed with it, and holds a push of it.
        stream = client.subscribe(entity_id=entity, confidence_threshold=0.9)
        number = next(stream).subscription_id
        client.call("Feed", subscription_id=number, text=f"The {WORDS[0]} is not sold.")
        # What models are asked about it, and what they say.
        client.call("ReflectPrepare")
        (pair,) = (
            pair
            for pair in client.call("ContradictionPrepare", entity_id=entity).candidates
            if {pair.memory_id_a, pair.memory_id_b} == {old.hex(), new.hex()}
        )
        told = make(
            "ContradictionVerdictInput",
            pending_id=pair.pending_id,
            verdict="revision",
            confidence=1.0,
            reasoning=f"Both are of the {WORDS[2]}.",
        )
        client.call("ContradictionCommit", verdicts=[told])
        # Over HTTP: a queued document, a file, and what was recalled of them.
        queued = running.post(
            f"/v1/default/banks/{entity}/memories",
            {
                "async": True,
                "items": [{"content": f"I saw the {WORDS[3]} on Monday.", "document_id": "q"}],
            },
        ).json()
        assert running.finished(entity, queued["operation_id"])["status"] == "completed"
        files = [("files", ("f.txt", f"The {WORDS[4]} is blue.".encode(), "text/plain"))]
        sent: dict[str, Any] = running.client.post(
            "/v1/upload", files=files, data={"entity_id": entity}
        ).json()
        assert running.finished(entity, sent["files"][0]["operation_id"])["status"] == "completed"
        kept = running.post(
            "/v1/memories", {"content": f"The {WORDS[5]} is red.", "entity_id": entity}
        ).json()["memory_id"]
        running.post("/v1/prime", {"entity_id": entity, "similarity_cue": WORDS[0]})
        filler(running, entity)
        running.post("/v1/recall", {"cue": WORDS[0], "entity_id": entity})
        assert any(path.is_file() for path in (folder / "index").rglob("*"))
        assert set(found(folder)) >= {*WORDS[:1], *WORDS[2:4], *WORDS[5:], KEPT}

        assert client.call("Forget", memory_ids=[plain, rich, old]).forgotten_count == 3
        rest = running.post("/v1/forget", {"memory_ids": [new.hex(), kept]}).json()
        assert rest["forgotten_count"] == 2
        documents = {"entity_id": entity, "document_ids": ["q", "f.txt"]}
        assert sorted(running.post("/v1/forget", documents).json()["document_ids"]) == [
            "f.txt",
            "q",
        ]
        places = swept(folder)
        assert set(places) == {KEPT}, places
        found_still = running.post("/v1/recall", {"cue": WORDS[0], "entity_id": entity}).json()
        assert not any(w in r["content"] for r in found_still["results"] for w in WORDS)
        client.call("CloseSubscription", subscription_id=number)
        list(stream)
    assert set(found(folder)) == {KEPT}


def test_what_a_policy_forgets_is_gone_as_well(running: Server, folder: Path) -> None:
    with grpc.insecure_channel(running.grpc) as channel:
        client = Client(channel, "default")
        client.remember(f"The {WORDS[0]} of no worth.", "ledger", importance=0.0)
        client.remember(f"Much {KEPT}.", "ledger", importance=1.0)
        told = client.call("SetPolicy", auto_forget_threshold=0.5)
        assert (told.applied, told.policy.auto_forget, told.running) == (True, True, False)
        client.call("SetPolicy", run=True)
        deadline = time.monotonic() + 60
        while not (state := client.call("SetPolicy")).HasField("last_run"):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert (state.last_run.forgotten_count, state.last_run.below_threshold_count) == (1, 1)
        assert (state.last_run.examined_count, state.last_run.entity_count) == (2, 1)
        shown = running.client.get("/v1/policy").json()
        assert shown["last_run"]["forgotten_count"] == 1
        assert (shown["auto_forget"], shown["auto_forget_threshold"]) == (True, 0.5)
        receipts = running.client.get("/v1/policy/receipts?entity_id=ledger").json()
        assert receipts["total"] == 1
        assert [m["reason"] for m in receipts["receipts"][0]["memories"]] == ["below_threshold"]
    assert set(swept(folder)) == {KEPT}
