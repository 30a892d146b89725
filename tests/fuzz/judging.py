"""Feed a target one input after another, count what becomes of them, and keep what breaks it."""

from __future__ import annotations

import hashlib
import resource
import signal
import time
import traceback
from collections.abc import Callable
from multiprocessing.sharedctypes import RawArray
from pathlib import Path
from types import FrameType
from typing import Any

from remembrancer.nouns.errors import RemembrancerError

MEMORY_BYTES = 2 << 30
SLOW_S = 5.0
"""Of processor time, for inputs of a few kilobytes: more is a fault, and ends the input."""

_MORE_S = 120  # of processor time than it is to run for

COUNTS = ("inputs", "taken", "refused", "slowest")


class TooSlow(BaseException):
    """An input that took longer than it may; not an `Exception`, which a target may catch."""


def shared_counts() -> Any:
    """Return room for counts that a process shares with its children."""
    return RawArray("d", len(COUNTS))


class Judge:
    """Feeds one target. What breaks it is in `folder`: the input, and beside it what happened."""

    def __init__(self, target: Callable[[bytes], None], folder: Path, counts: Any) -> None:
        self._target = target
        self._folder = folder
        self._counts = counts

    def limit(self, seconds: float) -> None:
        """Bound memory and processor time of this process, and have it end slow inputs."""
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        most = round(seconds) + _MORE_S
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        signal.signal(signal.SIGVTALRM, _give_up)

    def feed(self, data: bytes) -> None:
        """Give the target an input. A fault is kept, and the next input may come."""
        counts = self._counts
        counts[0] += 1
        began = time.process_time()
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, SLOW_S)
            try:
                self._target(data)
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            counts[1] += 1
        except RemembrancerError:
            counts[2] += 1
        except (Exception, TooSlow) as error:
            self._keep(data, error)
        counts[3] = max(counts[3], time.process_time() - began)

    def _keep(self, data: bytes, error: BaseException) -> None:
        """Write the smallest input for each place and kind of fault."""
        frames = traceback.extract_tb(error.__traceback__)
        ours = [f for f in frames if "remembrancer" in f.filename] or frames
        # Where it was when time ran out is chance: of one target all slow inputs are one fault.
        where = "" if isinstance(error, TooSlow) else f"{ours[-1].filename}:{ours[-1].lineno}"
        kind = f"{type(error).__name__} {where}"
        path = self._folder / hashlib.sha1(kind.encode(), usedforsecurity=False).hexdigest()[:12]
        if path.exists() and path.stat().st_size <= len(data):
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        told = "".join(traceback.format_exception(error)[-8:])
        path.with_suffix(".txt").write_text(told, encoding="utf-8", errors="replace")


def _give_up(_number: int, _frame: FrameType | None) -> None:
    raise TooSlow(f"more than {SLOW_S:.0f} s of processor time")
