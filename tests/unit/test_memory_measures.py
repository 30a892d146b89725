"""What is measured of memories: decay, likeness in shape, clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.finding.decay import decayed
from remembrancer.nouns.clock import DAY_US
from remembrancer.verbs.recalling.analogy import Shape, structural
from remembrancer.verbs.recalling.origins import Origin
from remembrancer.verbs.reflecting.clusters import clusters

MONTH = 30.0 * DAY_US


@pytest.mark.parametrize(
    ("importance", "days", "uses", "worth"),
    [
        (0.8, 0, 0, 0.8),
        (0.8, 30, 0, 0.4),
        (0.8, 60, 0, 0.2),
        (0.0, 0, 50, 0.0),
        (0.5, 0, 100, 1.0),
        (0.5, 0, 1_000, 1.0),
        (0.5, -5, 0, 0.5),
    ],
)
def test_a_memory_decays_by_half_a_month_and_counts_up_to_twice_when_used(
    importance: float, days: int, uses: int, worth: float
) -> None:
    found = decayed(importance, age_us=days * DAY_US, access_count=uses, half_life_us=MONTH)
    assert found == pytest.approx(worth)


@given(st.integers(0, 4_000), st.integers(0, 4_000), st.integers(0, 200))
def test_decay_never_rises_with_age(one: int, other: int, uses: int) -> None:
    def worth(days: int) -> float:
        return decayed(1, age_us=days * DAY_US, access_count=uses, half_life_us=MONTH)

    assert worth(max(one, other)) <= worth(min(one, other))


@pytest.mark.parametrize(
    ("wanted", "found", "alike"),
    [
        (Shape({"a": 1}, Origin.READ, "x"), Shape({"a": 2}, Origin.READ, "x"), 1.0),
        (Shape({"a": 1}, Origin.READ, "x"), Shape({"b": 2}, Origin.DERIVED, "y"), 0.0),
        (Shape({"a": 1}), Shape({"a": "1"}), 0.4 + 0.15),
        (Shape({"a": 1, "b": True}), Shape({"a": 1.5, "c": None}), 0.4 / 3 + 0.3 + 0.15),
        (Shape({}), Shape({}), 0.5),
        (Shape({}), Shape({"a": 1}), 0.15),
        (Shape({"a": True}), Shape({"a": 1}), 0.4 + 0.15),
        (Shape({"a": []}), Shape({"a": [1]}), 0.4 + 0.3 + 0.15),
    ],
)
def test_shapes_are_as_alike_as_their_names_types_kinds_and_banks(
    wanted: Shape, found: Shape, alike: float
) -> None:
    assert structural(wanted, found) == pytest.approx(alike)
    assert structural(found, wanted) == pytest.approx(alike)


def test_rows_that_point_one_way_are_a_cluster() -> None:
    axes = np.eye(8, dtype=np.float32)
    near = axes[0] * 0.95 + axes[3] * np.float32(np.sqrt(1 - 0.95**2))
    rows = np.stack([axes[1], axes[0], axes[2], near, axes[0], axes[1], axes[0], axes[1]])
    assert clusters(rows) == [[1, 3, 4, 6], [0, 5, 7]]
    assert clusters(rows, least=4) == [[1, 3, 4, 6]]
    assert clusters(rows[:0]) == []
