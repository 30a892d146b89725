"""An incremental backup that is killed at any step leaves the earlier ones whole."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

VICTIM = Path(__file__).with_name("backup_victim.py")


def test_a_killed_backup_leaves_the_others_whole(tmp_path: Path, record: Any) -> None:
    done = subprocess.run(
        [sys.executable, str(VICTIM), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    attempts = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(attempts) > 12
    assert [each["killed"] for each in attempts] == [True] * (len(attempts) - 1) + [False]
    before: dict[str, int] = {}
    whole = 0
    for each in attempts:
        assert each["damaged"] == []
        assert each["strays"] == []
        new = {name: rows for name, rows in each["backups"].items() if name not in before}
        assert {**before, **new} == each["backups"]
        # Killed after its name was there it is whole; before, it is not there.
        assert list(new.values()) in ([], [each["most"]])
        whole += each["killed"] and bool(new)
        before = each["backups"]
    assert before
    assert 0 < whole < len(attempts) - 1
    record({"kills": len(attempts) - 1, "whole_at_the_kill": whole, "lost": 0})
