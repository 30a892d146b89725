"""A few rounds of faults; `make faults` plays hundreds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # its modules are a program of their own, too

from plan import POSTGRES, SQLITE, plan
from stage import Stage, play_rounds, staged

_ROUNDS = 2  # times `prove`


def test_a_seed_draws_the_same_round_and_each_fault_gets_its_share() -> None:
    drawn = [plan(seed, SQLITE) for seed in range(100)]
    assert [p.digest for p in drawn] == [plan(seed, SQLITE).digest for seed in range(100)]
    assert len({p.digest for p in drawn}) == 100
    assert {fault for p in drawn for fault in p.faults} == set(SQLITE)


@pytest.fixture(scope="module")
def sqlite() -> Iterator[Stage]:
    with staged("sqlite") as stage:
        yield stage


def test_nothing_is_lost_half_early_twice_or_stuck(sqlite: Stage, prove: int, record) -> None:
    rounds = _ROUNDS * prove
    report = play_rounds(sqlite, range(1, 1 + rounds))
    assert not report.wrong, report.details
    assert report.counts["acknowledged"] > 10 * rounds
    assert report.faults.total() >= 2 * rounds
    record({k: v for k, v in report.figures().items() if isinstance(v, int)})


def test_nor_on_postgres(prove: int) -> None:
    with staged("postgres") as stage:
        report = play_rounds(stage, range(1, 1 + prove))
    assert not report.wrong, report.details
    assert set(report.faults) <= set(POSTGRES)
