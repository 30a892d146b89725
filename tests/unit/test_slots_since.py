"""Since when a value holds: in the past, and from a day to come."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from retain_kit import REF, item, opened, stored
from test_slots import claims

from remembrancer.nouns.clock import DAY_US, from_us, to_us

THEN = to_us(datetime(2024, 1, 8, 9, tzinfo=UTC))
RENT = "My rent is 900 euros."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My rent is 950 euros since March.", ["self: rent = 950 euro"]),
        ("My rent is 950 euros from March on.", ["self: rent = 950 euro"]),
        ("My rent is 950 euros as of 1 March.", ["self: rent = 950 euro"]),
        ("My rent is 950 euros effective 1 March.", ["self: rent = 950 euro"]),
        ("Starting 1 March my rent is 950 euros.", ["self: rent = 950 euro"]),
        ("Starting next month I work at Bosch.", ["self: employer = bosch"]),
        ("I live from March on in Berlin.", ["self: home = berlin"]),
        ("The retro is from Monday to Tuesday.", ["retro: when = from monday to tuesday"]),
    ],
)
def test_since_when_is_no_part_of_the_value(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


def spans(folder: Path, *told: tuple[str, int], backwards: bool = False) -> list[list[str | None]]:
    """Return from and until when the fact of each text holds, which is told on a day from then."""

    async def main() -> list[list[str | None]]:
        async with opened(folder) as app:
            for n in sorted(range(len(told)), reverse=backwards):
                text, day = told[n]
                await app.retain(REF, [item(text, f"d{n}", timestamp=THEN + day * DAY_US)])
            units = [(await stored(app, f"d{n}")).facts[0] for n in range(len(told))]
            times = [(unit.valid_from, unit.valid_until) for unit in units]
            return [[None if us is None else str(from_us(us).date()) for us in t] for t in times]

    return asyncio.run(main())


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    ("told", "begins"),
    [
        ("My rent is 950 euros since 1 January 2024.", "2024-01-08"),
        ("My rent has been 950 euros since 10 January.", "2024-01-10"),
        ("From 1 May my rent is 950 euros.", "2024-05-01"),
        ("Starting 1 May my rent is 950 euros.", "2024-05-01"),
        ("My rent is 950 euros as of 1 May.", "2024-05-01"),
        ("My rent is 950 euros from May on.", "2024-05-01"),
    ],
)
def test_a_value_begins_when_its_text_says(
    tmp_path: Path, told: str, begins: str, backwards: bool
) -> None:
    found = spans(tmp_path, (RENT, 0), (told, 10), backwards=backwards)
    assert found[0] == ["2024-01-08", begins]
    assert found[1] == [begins if begins > "2024-01-08" else "2024-01-01", None]


@pytest.mark.parametrize("backwards", [False, True])
def test_what_is_told_of_a_day_to_come_is_told_anew(tmp_path: Path, backwards: bool) -> None:
    found = spans(
        tmp_path,
        ("From 1 May my rent is 950 euros.", 0),
        ("From 1 May my rent is 970 euros.", 10),
        (RENT, 20),
        ("My rent is 990 euros.", 200),
        backwards=backwards,
    )
    assert found == [
        ["2024-05-01", "2024-05-01"],
        ["2024-05-01", "2024-07-26"],
        ["2024-01-28", "2024-05-01"],
        ["2024-07-26", None],
    ]


def test_a_job_from_next_month_leaves_the_present_one(tmp_path: Path) -> None:
    found = spans(tmp_path, ("I work at Siemens.", 0), ("Starting next month I work at Bosch.", 3))
    assert found == [["2024-01-08", "2024-02-01"], ["2024-02-01", None]]
