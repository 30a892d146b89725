"""A process for each target, a few at a time; whatever it dies of is told, and it goes on."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judging import COUNTS, Judge, shared_counts

_GRACE_S = 600.0  # until a process is taken for stuck: others may need the machine
_POLL_S = 0.05
_MOST_DEATHS = 5

Engine = Callable[[Callable[[bytes], None], float, int, Path, Path], None]
"""Feeds for so many seconds from a seed; corpus and a folder for what it finds are its own."""


@dataclass
class Run:
    """What became of one target."""

    name: str
    target: Callable[[bytes], None]
    folder: Path
    seconds: float
    counts: Any = field(default_factory=shared_counts)
    deaths: list[str] = field(default_factory=list)
    spent: float = 0.0

    @property
    def corpus(self) -> Path:
        """Where inputs are kept that reached something new."""
        return self.folder / "corpus" / self.name.replace(" ", "-")

    @property
    def broken(self) -> Path:
        """Where inputs are kept that broke the target."""
        return self.folder / "faults" / self.name.replace(" ", "-")

    @property
    def log(self) -> Path:
        """What the process printed."""
        return self.folder / "logs" / f"{self.name.replace(' ', '-')}.txt"

    def faults(self) -> list[str]:
        """Return each fault as it was told, and what the target's processes died of."""
        texts = sorted(self.broken.glob("*.txt")) if self.broken.is_dir() else []
        return [each.read_text(errors="replace") for each in texts] + self.deaths

    def told(self) -> dict[str, Any]:
        """Return the counts by name."""
        counted = dict(zip(COUNTS, self.counts, strict=True))
        slowest = round(counted.pop("slowest") * 1e3)
        whole = {name: int(number) for name, number in counted.items()}
        return {**whole, "faults": len(self.faults()), "slowest_ms": slowest}


def run_all(runs: list[Run], engine: Engine, seed: int, jobs: int) -> None:
    """Run each, `jobs` at a time. One whose process dies is started again for the rest."""
    waiting = list(runs)
    going: dict[int, tuple[Run, float]] = {}
    for run in runs:
        _begin(run)
    while waiting or going:
        while waiting and len(going) < jobs:
            run = waiting.pop(0)
            going[_start(run, engine, seed + len(run.deaths))] = run, time.monotonic()
        for pid, (run, since) in list(going.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            took = time.monotonic() - since
            if not ended and took > 3 * run.seconds + _GRACE_S:
                os.kill(pid, signal.SIGKILL)
                continue
            if not ended:
                continue
            del going[pid]
            run.spent += took
            code = os.waitstatus_to_exitcode(status)
            if code != 0:
                run.deaths.append(f"its process ended with {code}: see {run.log}")
                if run.spent < run.seconds and len(run.deaths) < _MOST_DEATHS:
                    waiting.insert(0, run)
        time.sleep(_POLL_S)


def _begin(run: Run) -> None:
    """Make its folders; what broke it in an earlier run is tried again as what is known."""
    run.corpus.mkdir(parents=True, exist_ok=True)
    run.broken.mkdir(parents=True, exist_ok=True)
    run.log.parent.mkdir(parents=True, exist_ok=True)
    for each in run.broken.iterdir():
        if each.suffix == ".txt":
            each.unlink()
        else:
            each.rename(run.corpus / each.name)


def _start(run: Run, engine: Engine, seed: int) -> int:
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        log = os.open(run.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        judge = Judge(run.target, run.broken, run.counts)
        judge.limit(run.seconds)
        engine(judge.feed, run.seconds - run.spent, seed, run.corpus, run.broken)
        code = 0
    except BaseException:  # nothing of the parent's may run in the child
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)
