"""The library's retain: how a document is put again, and what the answer says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
