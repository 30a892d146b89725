"""docs/migrate: scripts written for other systems run after the change that the page shows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from docs_kit import ROOT, Block, blocks
from wire_kit import Server

PAGES = sorted((ROOT / "docs" / "migrate").glob("*.md"))
SERVED = "http://localhost:6381"
ELSEWHERE = "import os; os.mkdir('after'); os.chdir('after')"


def originals(path: Path) -> list[tuple[Block, dict[str, str]]]:
    """Return each script of a page with the lines that change, old to new."""
    changes: dict[str, str] = {}
    found = []
    for block in blocks(path):
        if block.language == "diff":
            lines = block.text.splitlines()
            assert [line[0] for line in lines] == ["-", "+"] * (len(lines) // 2)
            changes = {o[1:]: n[1:] for o, n in zip(lines[::2], lines[1::2], strict=True)}
        elif block.mark.startswith("original"):
            found.append((block, changes))
    return found


SCRIPTS = [
    pytest.param(path, *each, id=f"{path.stem}-{number}")
    for path in PAGES
    for number, each in enumerate(originals(path))
]


@pytest.mark.parametrize(("path", "block", "changes"), SCRIPTS)
def test_a_script_runs_after_its_change(
    path: Path, block: Block, changes: dict[str, str], tmp_path: Path
) -> None:
    lines = block.text.splitlines()
    assert changes
    assert changes.keys() <= set(lines)
    changed = "\n".join(changes.get(line, line) for line in lines)
    assert block.answer is not None
    shown = block.answer.text
    if "runs" in block.mark:  # then it says the same before, too
        assert run(f"{block.text}\n{ELSEWHERE}\n{changed}", tmp_path) == shown + shown
    elif SERVED in changed:
        with Server(tmp_path / "data") as server:
            assert run(changed.replace(SERVED, server.url), tmp_path) == shown
    else:
        assert run(changed, tmp_path) == shown


def test_there_is_a_page_with_a_script_for_each() -> None:
    assert {path.stem for path in PAGES if originals(path)} >= {
        "anthropic",
        "langgraph",
        "mem0",
        "openai-agents",
    }


def run(code: str, folder: Path) -> str:
    """Run a script in a folder of its own and return what it prints."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("REMEMBRANCER_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**kept, "HOME": str(folder), "REMEMBRANCER_EMBEDDER": "hash:64"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
