"""Builds without a guard are caught by rounds of faults."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # its modules are a program of their own, too

from plan import POWER, RACE, STALL
from stage import Stage, play_rounds, staged


@pytest.fixture(scope="module")
def sqlite() -> Iterator[Stage]:
    with staged("sqlite") as stage:
        yield stage


@pytest.mark.parametrize(
    ("guard", "fault", "found"),
    [
        ("no-fsync", POWER, "lost"),
        ("no-fencing", STALL, "lost"),
        ("no-revision-check", RACE, "lost"),
    ],
)
def test_a_build_without_a_guard_is_caught(
    sqlite: Stage, guard: str, fault: str, found: str
) -> None:
    report = play_rounds(sqlite, range(1, 3), fault, (guard,), say=lambda line: None)
    assert report.found[found], report.table(guard)
