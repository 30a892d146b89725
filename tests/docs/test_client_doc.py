"""The example of docs/client.md, as it stands but for the server's address."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs_kit import ROOT, blocks
from wire_kit import Server


def test_the_example_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [code] = [b.text for b in blocks(ROOT / "docs/client.md") if b.language == "python"]
    with Server(tmp_path) as server:
        exec(code.replace("http://localhost:6381", server.url), {})
    told = capsys.readouterr().out
    assert told.startswith("I moved to Berlin in May.\n")
    assert "Berlin" in told.removeprefix("I moved to Berlin in May.\n")
