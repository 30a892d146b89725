"""Import: how fast a long export is taken into a bank, and how much memory that takes.

The export is one JSON array of conversations in the shape of ChatGPT's, made, of the size asked
for. `remembrancer import` takes it in a process of its own with the stand-in embedder, so that the
time is that of reading, linking and storing; the memory is the most that the process ever held.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import made, report
from .made_store import EMBEDDER
from .metrics import Figures
from .server import COMMAND

MEGABYTE = 1_000_000
BANK = "taken"
_TURNS = 40  # of a conversation
_SAMPLED_S = 0.2


def conversation(number: int) -> dict[str, Any]:
    """Return one conversation as an export spells it: nodes that name their parent."""
    began = made.said_at(number).timestamp()
    mapping: dict[str, Any] = {}
    for turn, said in enumerate(made.document(BANK, number, _TURNS)):
        mapping[f"n{turn}"] = {
            "parent": f"n{turn - 1}" if turn else None,
            "message": {
                "author": {"role": "assistant" if turn % 2 else "user"},
                "create_time": began + 60 * turn,
                "content": {"content_type": "text", "parts": [said["content"]]},
            },
        }
    head = {"conversation_id": f"c{number}", "title": f"Day {number}", "create_time": began}
    return {**head, "current_node": f"n{_TURNS - 1}", "mapping": mapping}


def export(path: Path, size: int) -> int:
    """Write an export of at least `size` bytes; return how many conversations it has."""
    count = 0
    with path.open("w", encoding="utf-8") as file, report.progress() as bars:
        task = bars.add_task("make the export", total=size)
        file.write("[")
        while file.tell() < size:
            file.write(("," if count else "") + json.dumps(conversation(count)))
            count += 1
            bars.update(task, completed=file.tell())
        file.write("]")
    return count


def take(folder: Path, file: Path, embedder: str) -> Figures:
    """Import the file; return seconds, conversations taken, and the process's most memory, MB."""
    env = os.environ | {"REMEMBRANCER_DATA": str(folder), "REMEMBRANCER_EMBEDDER": embedder}
    started = time.perf_counter()
    peak = 0.0
    with (
        tempfile.TemporaryFile() as told,
        subprocess.Popen(
            [COMMAND, "import", file, "--bank", BANK, "--json"], env=env, stdout=told
        ) as process,
    ):
        while process.poll() is None:
            peak = max(peak, _peak_mb(process.pid))
            time.sleep(_SAMPLED_S)
        seconds = time.perf_counter() - started
        told.seek(0)
        if process.returncode:
            raise RuntimeError(f"the import ended with {process.returncode}")
        documents = json.load(told)["documents"]
    return {"documents": documents, "s": seconds, "peak_mb": peak}


def _peak_mb(pid: int) -> float:
    try:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0.0
    return int(found[1]) / 1000 if found else 0.0


def run(folder: Path, megabytes: float, embedder: str) -> Figures:
    """Make an export, and take it twice: the second time all of it is there already."""
    file = folder / "conversations.json"
    conversations = export(file, int(megabytes * MEGABYTE))
    size = file.stat().st_size / MEGABYTE
    figures: Figures = {"import.mb": size, "import.conversations": conversations}
    for name in ("import", "import.again"):
        found = take(folder / "data", file, embedder)
        figures |= {
            f"{name}.taken": found["documents"],
            f"{name}.s": found["s"],
            f"{name}.mb_per_s": size / found["s"],
            f"{name}.peak_mb": found["peak_mb"],
        }
    kept = sum(f.stat().st_size for f in (folder / "data").rglob("*") if f.is_file())
    figures["import.store_mb"] = kept / MEGABYTE
    return figures


def main(argv: Sequence[str] | None = None) -> Figures:
    """Run from the command line."""
    parser = report.parser(
        "imports", __doc__ or "", "python -m bench.imports --megabytes 100 --json imports.json"
    )
    parser.add_argument("--megabytes", type=_size, default=10.0, help="of the export")
    parser.add_argument("--embedder", default=EMBEDDER, help="as the setting of that name")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        figures = run(Path(folder), options.megabytes, options.embedder)
    report.show("import", figures)
    report.write(options.json, figures)
    return figures


def _size(text: str) -> float:
    if not (size := float(text)) > 0:
        raise argparse.ArgumentTypeError("an export has at least some bytes")
    return size


if __name__ == "__main__":
    main()
