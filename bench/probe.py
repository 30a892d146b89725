"""What is measured in a fresh process: resident memory after recalls, and the first answer."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path


def rss_after_recalls(folder: Path, embedder: str, bank: str, questions: Sequence[str]) -> float:
    """Open a store in a fresh process, ask, and return its resident memory in MB."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.probe", folder, embedder, bank],
        input="\n".join(questions).encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return float(json.loads(done.stdout.splitlines()[-1])["rss_mb"])


def first_answer_s(folder: Path, embedder: str, bank: str, question: str) -> float:
    """Return the seconds from starting a process to its first answer."""
    started = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "bench.probe", folder, embedder, bank],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the probe has no pipes")
        process.stdin.write(question.encode())
        process.stdin.close()
        told = process.stdout.readline()
        seconds = time.perf_counter() - started
        process.stdout.read()
    if not told.startswith(b"answered"):
        raise RuntimeError("the probe found nothing")
    return seconds


def main(argv: Sequence[str]) -> None:
    """Ask the questions on standard input, a line each; say when the first is answered."""
    folder, embedder, bank = argv
    import remembrancer  # noqa: PLC0415 - its cost is part of what is measured

    with remembrancer.open(folder, embedder=embedder) as memory:
        for number, line in enumerate(sys.stdin):
            answers = memory.recall(line.strip(), bank=bank)
            if number == 0:
                print("answered" if len(answers) else "nothing", flush=True)
        from .server import rss_mb  # noqa: PLC0415 - not part of what is measured

        print(json.dumps({"rss_mb": rss_mb()}))


if __name__ == "__main__":
    main(sys.argv[1:])
