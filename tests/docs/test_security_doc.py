"""The page on security: its commands run in one shell, and answer what is shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from docs_kit import ROOT, blocks
from wire_kit import Server

PAUSE = "\x1e"
PAGE = ROOT / "docs" / "security.md"


def holds(shown: Any, real: Any) -> bool:
    """Return whether an answer has all keys that are shown, with their values but for ids."""
    if isinstance(shown, dict):
        return all(key in real and holds(value, real[key]) for key, value in shown.items())
    if isinstance(shown, str) and (shown.startswith("rmb_") or shown.count("-") == 4):
        return isinstance(real, str) and len(real) == len(shown)
    return bool(shown == real)


def jq(folder: Path) -> None:
    """Make a stand-in for jq, which need not be installed: it prints one key of a file."""
    code = "import json, sys; print(json.load(open(sys.argv[3]))[sys.argv[2][1:]])"
    folder.mkdir()
    (folder / "jq").write_text(f"#!/bin/sh\nexec {sys.executable} -c '{code}' \"$@\"\n")
    (folder / "jq").chmod(0o755)


def test_the_page_runs_as_it_stands(tmp_path: Path) -> None:
    shells = [block for block in blocks(PAGE) if block.language == "sh"]
    assert len(shells) >= 6
    with Server(tmp_path / "data") as server:
        script = f"\nprintf '{PAUSE}'\n".join(block.text for block in shells)
        jq(tmp_path / "bin")
        path = os.pathsep.join(
            [str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
        )
        kept = {k: v for k, v in os.environ.items() if not k.startswith("REMEMBRANCER_")}
        done = subprocess.run(
            ["bash", "-euc", script.replace("http://localhost:6381", server.url)],
            cwd=tmp_path,
            env=kept | {"PATH": path, "REMEMBRANCER_EMBEDDER": "none"},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    answers = done.stdout.split(PAUSE)
    compared = 0
    for block, said in zip(shells, answers, strict=True):
        if block.answer is not None and block.answer.language == "json":
            assert holds(json.loads(block.answer.text), json.loads(said)), (block.line, said)
            compared += 1
    assert compared >= 5
