"""The page on memories in and out: its console examples are played, one after the other."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from cli_kit import Cli
from docs_kit import ROOT, blocks

NUMBERS = re.compile(r"\d[\d,.]*(?= (?:bytes|s\b))")


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "boat.md").write_text("The boat of [[Ben Ode]] is called Heron.\n")
    (folder / "shed.md").write_text("---\ntags: [home]\n---\nRopes lie in the shed.\n")
    (folder / "log.csv").write_text("id,text\n1,The mast is new.\n2,The sail is red.\n")
    (folder / "photo.png").write_bytes(b"\x89PNG")
    monkeypatch.chdir(tmp_path)
    return folder


def test_console_examples_print_what_is_shown(notes: Path) -> None:
    cli = Cli(notes.parent / "data")
    played = 0
    for block in blocks(ROOT / "docs" / "import-export.md"):
        if block.language != "console":
            continue
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            words = shlex.split(command)
            assert words[0] == "remembrancer"
            real = cli.ok(*words[1:]).out
            assert NUMBERS.sub("N", real) == NUMBERS.sub("N", shown), command
            played += 1
    assert played >= 6
