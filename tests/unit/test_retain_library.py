"""The library's retain: how a document is put again, and what the answer says."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import remembrancer


def test_a_document_is_appended_to(tmp_path: Path) -> None:
    with remembrancer.open(tmp_path, embedder="hash:64") as memory:
        memory.retain("Ann likes figs.", document="d")
        done = memory.retain("Bob likes plums.", document="d", update_mode="append")
        assert (done.sources, done.chunks, done.chunks_read, done.chunks_kept) == (1, 2, 1, 1)
        assert done.coverage == 1.0
        assert {a.text for a in memory.recall("Who likes what?")} == {
            "Ann likes figs.",
            "Bob likes plums.",
        }
        with pytest.raises(remembrancer.InvalidInput, match="choose replace, append"):
            memory.retain("x", document="d", update_mode="add")


def test_a_console_of_another_encoding_shows_what_it_can(tmp_path: Path) -> None:
    with remembrancer.open(tmp_path, embedder="hash:64") as memory:
        memory.retain("Ann drinks tea in the café 🙂.", document="d")
    command = [sys.executable, "-m", "remembrancer", "recall", "Who drinks tea?"]
    done = subprocess.run(
        [*command, "--data", str(tmp_path), "--embedder", "hash:64"],
        env={**os.environ, "PYTHONIOENCODING": "cp949", "PYTHONUTF8": "0"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"Ann drinks tea" in done.stdout


def test_messages_are_kept_in_whatever_way_they_are_given(tmp_path: Path) -> None:
    said = datetime(2026, 6, 9, 18, tzinfo=UTC)
    message = {"role": "user", "content": "I have a cat.", "timestamp": said}
    with remembrancer.open(tmp_path, embedder="hash:64") as memory:
        for bank, content in (("one", message), ("several", [message]), ("made", iter([message]))):
            memory.retain(content, bank=bank)  # type: ignore[arg-type]
            [found] = memory.recall("cat", bank=bank, min_relevance=0)
            assert (found.text, found.memory.said_at) == ("I have a cat.", said)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"content": b"abc"}, "content must be a text or a list of messages, and not a value"),
        ({"content": 5}, "content must be a text or a list of messages"),
        ({"content": ["a", "b"]}, r"content\[0\] must be a message such as"),
        ({"content": [{"role": "user", "content": {1}}]}, "content holds a value of the type set"),
        ({"timestamp": "2026-01-01"}, "timestamp must be a datetime, and not a value of the type"),
        ({"bank": 5}, "bank must be text, and not of the type int"),
    ],
)
def test_what_is_not_taken_is_named(tmp_path: Path, given: dict[str, Any], told: str) -> None:
    with remembrancer.open(tmp_path, embedder="hash:64") as memory:
        with pytest.raises(remembrancer.InvalidInput, match=told):
            memory.retain(**{"content": "Ann has a cat.", **given})
        assert memory.status().banks == ()


def test_a_question_that_is_none_is_named(tmp_path: Path) -> None:
    with remembrancer.open(tmp_path, embedder="hash:64") as memory:
        for ask in (memory.recall, memory.reflect):
            with pytest.raises(remembrancer.InvalidInput, match="question must be text"):
                ask(None)
            with pytest.raises(remembrancer.InvalidInput, match="now must be a datetime"):
                ask("Who?", now="2026-01-01")
        with pytest.raises(remembrancer.InvalidInput, match="as_of must be a datetime"):
            memory.history("Who?", as_of=5)


def test_answers_show_what_they_hold(tmp_path: Path) -> None:
    with remembrancer.open(tmp_path, embedder="hash:64") as memory:
        memory.retain("Ann has a cat.")
        shown = repr(memory.recall("cat", min_relevance=0))
        assert shown.startswith("Answers([Found(memory=Memory(")
        assert "Ann has a cat." in shown
