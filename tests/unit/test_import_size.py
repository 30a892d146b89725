"""An import of any length is read a piece at a time: its memory does not grow with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

MEGABYTE = 1_000_000
MOST_MB = 300

_RUN = """
import asyncio, re, sys
from pathlib import Path
from remembrancer.app import App
from remembrancer.nouns.memory import BankRef
from remembrancer.settings import Settings
from remembrancer.verbs.transferring.take import Take

async def main(folder, file, dry_run):
    app = await App.open(Settings(data=folder, embedder="none"), background=False)
    take = Take(app.store, app.retain, app.calendars)
    report = await take(BankRef("default", "bank"), Path(file), dry_run=dry_run)
    await app.close()
    peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())
    print(report.documents, report.left_count, int(peak[1]) / 1000)

asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3] == "dry"))
"""


def conversation(number: int) -> dict[str, object]:
    """A conversation of about 20 kB."""
    mapping: dict[str, object] = {}
    for turn in range(40):
        said = f"In town {number} we counted {turn} lamps on the pier. " * 8
        mapping[f"n{turn}"] = {
            "parent": f"n{turn - 1}" if turn else None,
            "message": {
                "author": {"role": "assistant" if turn % 2 else "user"},
                "create_time": 1_700_000_000 + number * 100 + turn,
                "content": {"content_type": "text", "parts": [said]},
            },
        }
    own = {"conversation_id": f"c{number}", "title": f"Town {number}", "current_node": "n39"}
    return {**own, "mapping": mapping}


def export(path: Path, size: int) -> int:
    """Write an export of at least a size; return how many conversations it has."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        while file.tell() < size:
            file.write(("," if count else "") + json.dumps(conversation(count)))
            count += 1
        file.write("]")
    return count


def run(folder: Path, file: Path, how: str) -> tuple[int, int, float]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("REMEMBRANCER_")}
    done = subprocess.run(
        [sys.executable, "-c", _RUN, str(folder), str(file), how],
        env=kept,
        capture_output=True,
        text=True,
        check=False,
        timeout=1_800,
    )
    assert done.returncode == 0, done.stderr
    documents, left, peak = done.stdout.split()
    return int(documents), int(left), float(peak)


def test_the_memory_of_an_import_does_not_grow_with_it(
    tmp_path: Path, prove: int, record: Callable[[dict[str, float]], None]
) -> None:
    size = 100 * MEGABYTE if prove > 1 else 3 * MEGABYTE
    wanted = export(tmp_path / "conversations.json", size)
    read, left, peak = run(tmp_path / "data", tmp_path / "conversations.json", "dry")
    assert (read, left) == (wanted, 0)
    assert peak < MOST_MB
    wanted = export(tmp_path / "conversations.json", size // 50)
    taken, left, kept_peak = run(tmp_path / "data", tmp_path / "conversations.json", "take")
    assert (taken, left) == (wanted, 0)
    assert kept_peak < MOST_MB
    record({"read_mb": size / MEGABYTE, "read_peak_mb": peak, "import_peak_mb": kept_peak})
