"""The bench of dates: what it counts, and that our own sentences without dates stay so."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench import dates

SAID = "2023-05-10T15:30:00"


def row(text: str, place: str = "", *values: dict[str, Any], said: str = SAID) -> dict[str, Any]:
    results = [{"text": place, "values": list(values)}] if values else []
    return {"input": text, "reference": said, "results": results}


def day(value: str) -> dict[str, Any]:
    return {"type": "date", "value": value}


def span(start: str | None, end: str | None) -> dict[str, Any]:
    sides = {"start": start, "end": end}
    return {"type": "daterange", **{k: v for k, v in sides.items() if v is not None}}


def figures(tmp_path: Path, *rows: dict[str, Any]) -> dict[str, float]:
    file, undated, out = tmp_path / "d.jsonl", tmp_path / "u.jsonl", tmp_path / "f.json"
    file.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    undated.write_text('{"text": "The gate is open."}\n', encoding="utf-8")
    dates.main([str(file), "--undated", str(undated), "--json", str(out), "--wrong"])
    found: dict[str, float] = json.loads(out.read_text(encoding="utf-8"))
    return found


def test_what_is_resolved_and_what_is_a_false_alarm(tmp_path: Path) -> None:
    found = figures(
        tmp_path,
        row("We met on 3 May 2021.", "3 May 2021", day("2021-05-03")),
        row("We met on 4 May 2021.", "4 May 2021", day("2021-05-05")),  # given wrongly
        row("We left Tuesday.", "Tuesday", day("2023-05-09"), day("2023-05-16")),
        row("Lunch is at noon.", "noon", {"type": "time", "value": "12:00:00"}),
        row("I swam for two hours.", "two hours", {"type": "duration", "value": "7200"}),
        row("Nobody came."),
        row("Nobody came in 2019."),
        row("Nobody came in 2019.", "2019", span("2019-01-01", "2020-01-01")),  # twice: once
    )
    assert (found["resolved.n"], found["resolved"]) == (2, 0.5)
    assert (found["either.n"], found["either"]) == (1, 1)
    assert (found["times.n"], found["times"]) == (1, 1)
    assert (found["false_positive.file.n"], found["false_positive.file"]) == (2, 0.5)
    assert (found["false_positive.own.n"], found["false_positive.own"]) == (1, 0)
    assert found["false_positive"] == pytest.approx(1 / 3, abs=1e-6)
    assert found["ms_per_turn"] > 0


@pytest.mark.parametrize(
    ("text", "place", "value"),
    [
        ("It ran from 2017 to 2019.", "from 2017 to 2019", span("2017-01-01", "2019-01-01")),
        ("before 2018 it was a barn", "before 2018", span(None, "2018-01-01")),
        ("after 2018 it was a barn", "after 2018", span("2019-01-01", None)),
        ("after 4 May 2018 it rained", "after 4 May 2018", span("2018-05-04", None)),
        ("since 2018 it is a school", "since 2018", span("2018-01-01", None)),
        ("we sail in three months", "in three months", day("2023-08-10")),
        ("this morning it rained", "this morning",
         {"type": "datetimerange", "start": "2023-05-10 08:00:00", "end": "2023-05-10 12:00:00"}),
    ],
)  # fmt: skip
def test_intervals_are_compared_in_the_file_s_spelling(
    tmp_path: Path, text: str, place: str, value: dict[str, Any]
) -> None:
    assert figures(tmp_path, row(text, place, value))["resolved"] == 1


def test_hardly_a_sentence_of_our_own_without_a_date_has_one() -> None:
    texts = [json.loads(line)["text"] for line in dates.UNDATED.read_text("utf-8").splitlines()]
    alarms = [text for text in texts if dates.read(text, SAID)]
    assert len(texts) > 300
    assert len(alarms) <= 0.02 * len(texts), alarms
