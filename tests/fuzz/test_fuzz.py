"""The fuzzer finds what is planted, and goes on after it; the targets take what it makes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import seeds
import targets
from children import Run, run_all
from judging import Judge, shared_counts

import made
from remembrancer.nouns.errors import InvalidInput

INPUTS = 12  # for each target; `make fuzz` feeds them for longer


def planted(data: bytes) -> None:
    """Break in four ways, by the first byte."""
    kind = data[0] % 8 if data else 7
    if kind == 0:
        raise InvalidInput("as it should be")
    if kind == 1:
        raise ValueError("planted")
    if kind == 2:
        bytearray(3 << 30)
    if kind == 3:
        {}[data]
    if kind == 4 and len(data) == 1:
        time.sleep(3600)
    if kind == 5 and len(data) == 1:
        while True:
            pass


def feed(feed_: Callable[[bytes], None], *_: object) -> None:
    for byte in (7, 0, 1, 2, 3, 1, 6):
        feed_(bytes([byte]) * 3)
        feed_(bytes([byte]) * 2)


def test_what_is_planted_is_found_and_its_smallest_input_kept(tmp_path: Path) -> None:
    run = Run("planted", planted, tmp_path, seconds=1)
    run_all([run], feed, seed=1, jobs=1)
    assert run.told() == {
        "inputs": 14,
        "taken": 4,
        "refused": 2,
        "faults": 3,
        "slowest_ms": run.told()["slowest_ms"],
    }
    kinds = "".join(run.faults())
    assert all(kind in kinds for kind in ("ValueError: planted", "MemoryError", "KeyError"))
    kept = [p.read_bytes() for p in run.broken.iterdir() if p.suffix != ".txt"]
    assert sorted(kept) == [b"\1\1", b"\2\2", b"\3\3"]
    # The next run begins with them.
    again = Run("planted", planted, tmp_path, seconds=1)

    def known(feed_: Callable[[bytes], None], _time: float, _seed: int, *at: Path) -> None:
        for each in at[0].iterdir():
            feed_(each.read_bytes())

    run_all([again], known, seed=1, jobs=1)
    assert (again.told()["inputs"], again.told()["faults"]) == (3, 3)


def test_a_target_that_dies_or_hangs_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judging.SLOW_S", 0.2)
    slow = Run("slow", planted, tmp_path, seconds=0.1)
    stuck = Run("stuck", planted, tmp_path, seconds=0.1)
    dies = Run("dies", lambda _: sys.exit(3), tmp_path, seconds=0)
    run_all([slow], lambda told, *_: told(b"\5"), seed=1, jobs=1)
    monkeypatch.setattr("children._GRACE_S", 0.5)
    run_all([stuck], lambda told, *_: told(b"\4"), seed=1, jobs=1)
    monkeypatch.undo()
    run_all([dies], lambda told, *_: told(b""), seed=1, jobs=1)
    assert "more than" in slow.faults()[0]
    assert "ended with -9" in stuck.faults()[0]
    assert "ended with 1" in dies.faults()[0]
    assert [each.told()["faults"] for each in (slow, stuck, dies)] == [1, 1, 1]


@pytest.mark.parametrize("name", targets.TARGETS)
def test_targets_take_or_refuse_what_is_made(name: str, tmp_path: Path, prove: int) -> None:
    counts = shared_counts()
    judge = Judge(targets.TARGETS[name], tmp_path, counts)
    for whole in seeds.WHOLE:
        judge.feed(whole)
    made.feed_many(judge.feed, INPUTS * prove, number=7)
    assert [p.read_text() for p in tmp_path.glob("*.txt")] == []
    assert counts[0] >= len(seeds.WHOLE) + INPUTS
    assert counts[1] + counts[2] == counts[0]
