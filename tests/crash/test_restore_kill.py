"""A restore that is killed leaves no copy behind once the folder is used again."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import remembrancer

VICTIM = Path(__file__).with_name("restore_victim.py")
SECRET = "The brass key hangs in the boathouse."


@pytest.mark.parametrize("step", ["_checked", "sync"])
def test_a_killed_restore_leaves_no_copy(tmp_path: Path, step: str) -> None:
    with remembrancer.open(tmp_path / "data", embedder="none") as memory:
        memory.retain(SECRET)
    copy, folder = tmp_path / "data" / "memory.db", tmp_path / "anew"
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(VICTIM), str(copy), str(folder), step],
            capture_output=True,
            check=False,
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert len(list(folder.glob("*.part"))) == 1  # the second removed the first's
    with remembrancer.open(folder, embedder="none"):
        assert list(folder.glob("*.part*")) == []
    for path in folder.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()
