"""mem0's filters: every operator, how they join, and which ids they leave."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.faces.compat.mem0.filters import MAX_CONDITIONS, MAX_DEPTH, Filter
from remembrancer.nouns.errors import InvalidInput

FIELDS = {
    "user_id": "mia",
    "agent_id": "guide",
    "rank": 3,
    "ratio": 0.5,
    "done": True,
    "topic": "Sea Kayaks",
    "labels": ["red", "Blue"],
    "day": "2026-04-05",
    "created_at": "2026-04-05T10:00:00+02:00",
}


@pytest.mark.parametrize(
    ("condition", "passes"),
    [
        ({"rank": 3}, True),
        ({"rank": 4}, False),
        ({"done": True}, True),
        ({"done": 1}, False),
        ({"rank": {"eq": 3}}, True),
        ({"rank": {"ne": 3}}, False),
        ({"missing": {"ne": 3}}, True),
        ({"rank": {"in": [1, 3]}}, True),
        ({"rank": [1, 2]}, False),
        ({"rank": {"nin": [1, 3]}}, False),
        ({"missing": {"nin": [1]}}, True),
        ({"rank": {"gt": 3}}, False),
        ({"rank": {"gte": 3}}, True),
        ({"rank": {"lt": 3.5}}, True),
        ({"rank": {"lte": 2}}, False),
        ({"rank": {"gt": 1, "lt": 4}}, True),
        ({"rank": {"gt": 3, "lt": 4}}, False),
        ({"missing": {"gte": 0}}, False),
        ({"missing": {"lte": 0}}, False),
        ({"topic": {"lte": 0}}, False),
        ({"day": {"gte": "2026-04-05", "lt": "2026-05-01"}}, True),
        ({"created_at": {"lt": "2026-04-05T08:30:00Z"}}, True),
        ({"created_at": {"gt": "2026-04-05T08:30:00Z"}}, False),
        ({"topic": {"contains": "Kayak"}}, True),
        ({"topic": {"contains": "kayak"}}, False),
        ({"topic": {"icontains": "KAYAK"}}, True),
        ({"labels": {"contains": "red"}}, True),
        ({"labels": {"contains": "blue"}}, False),
        ({"labels": {"icontains": "blue"}}, True),
        ({"labels": "red"}, True),
        ({"rank": {"contains": "3"}}, False),
        ({"topic": "*"}, True),
        ({"missing": "*"}, False),
        ({"topic": {"contains": "%"}}, False),
        ({"AND": [{"rank": 3}, {"done": True}]}, True),
        ({"AND": [{"rank": 3}, {"done": False}]}, False),
        ({"OR": [{"rank": 9}, {"done": True}]}, True),
        ({"OR": [{"rank": 9}, {"done": False}]}, False),
        ({"NOT": [{"rank": 9}, {"done": False}]}, True),
        ({"NOT": [{"rank": 9}, {"done": True}]}, False),
        ({"NOT": {"rank": 3}}, False),
        ({"OR": [{"AND": [{"rank": 3}, {"NOT": [{"ratio": 0.5}]}]}, {"ratio": {"gt": 0.4}}]}, True),
        ({"user_id": "mia", "rank": {"gt": 5}}, False),
        ({"user_id": " mia "}, True),
        ({}, True),
    ],
)
def test_a_condition_passes_or_not(condition: dict[str, Any], passes: bool) -> None:
    assert Filter(condition)(FIELDS) is passes


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"user_id": "a"}, {"user_id": {"a"}}),
        ({"user_id": {"eq": "a"}, "rank": 1}, {"user_id": {"a"}}),
        ({"user_id": {"in": ["a", "b"]}}, {"user_id": {"a", "b"}}),
        ({"user_id": "*"}, {}),
        ({"user_id": {"ne": "a"}}, {}),
        ({"AND": [{"user_id": "a"}, {"agent_id": "g"}]}, {"user_id": {"a"}, "agent_id": {"g"}}),
        ({"AND": [{"user_id": "a"}, {"user_id": "b"}]}, {"user_id": set()}),
        ({"OR": [{"user_id": "a"}, {"user_id": "b"}]}, {"user_id": {"a", "b"}}),
        ({"OR": [{"user_id": "a"}, {"agent_id": "g"}]}, {}),
        ({"NOT": [{"user_id": "a"}]}, {}),
        ({"user_id": 7}, {"user_id": {"7"}}),
    ],
)
def test_what_ids_are_left_is_known(value: dict[str, Any], wanted: dict[str, set[str]]) -> None:
    found = Filter(value)
    assert {name: set(ids) for name, ids in found.wanted.items()} == wanted
    assert found.names_entity


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"rank": {"near": 3}}, "filters.rank.near"),
        ({"rank": {}}, "filters.rank"),
        ({"OR": []}, "filters.OR"),
        ({"AND": [3]}, "filters.AND[0]"),
        ({"rank": {"in": 3}}, "filters.rank.in"),
        ({"user_id": " "}, "filters.user_id"),
        ({"user_id": "a\x00b"}, "filters.user_id"),
    ],
)
def test_what_is_no_filter_is_refused_with_its_place(value: dict[str, Any], where: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Filter(value)
    assert refused.value.field == where


def test_depth_and_size_are_bounded() -> None:
    deep: dict[str, Any] = {"rank": 1}
    for _ in range(MAX_DEPTH):
        deep = {"NOT": [deep]}
    with pytest.raises(InvalidInput, match="nested"):
        Filter(deep)
    with pytest.raises(InvalidInput, match="conditions"):
        Filter({"AND": [{"rank": 1}] * (MAX_CONDITIONS + 1)})
